// The Python that gives the numbers of a panel, with `run` and `gf` at hand.

import type { View } from "../panels/panel";
import { readings } from "../task/reading";

/** The input as Python takes it: its text where that is read back to the same tokens, else the ids. */
export function input(view: View): string {
  const { tokens } = view.trace;
  try {
    const reading = readings(view.run.info.task);
    const text = reading.decode(tokens);
    const again = reading.encode(text);
    if (again.length === tokens.length && again.every((token, k) => token === tokens[k])) return literal(text);
  } catch {
    // a text that its own task does not read: by ids
  }
  return `[${[...tokens].join(", ")}]`;
}

/** A text as Python writes it. */
export function literal(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** `run.trace("4 9 +", step=5000)`, of the member and with the edits that are looked at. */
export function traced(view: View, text = input(view)): string {
  const edits = view.edits ? `, edits=${literal(view.edits)}` : "";
  return `run.trace(${text}, step=${view.step}${member(view)}${edits})`;
}

/** `run.weights(step=5000, member=0)`; numbers that were set by hand in the page are in no run. */
export function weighed(view: View, step = view.step): string {
  return `run.weights(step=${step}, member=${view.run.info.places[view.member] ?? 0})`;
}

/** What is said beside a line that cannot know of weights set by hand. */
export function by_hand(view: View): string {
  return view.params_before ? "  # without the weights that were set by hand" : "";
}

/** `, member=3` where it is not the first. */
export function member(view: View): string {
  const place = view.run.info.places[view.member] ?? 0;
  return place ? `, member=${place}` : "";
}
