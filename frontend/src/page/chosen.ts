// What is chosen on the page, brought within what the model has: the one selection that every panel marks.

import type { View } from "../panels/panel";
import { truth } from "../task/truth";
import { read_at } from "./chances";
import type { Page } from "./page";

export interface Chosen {
  position: number;
  block: number;
  head: number;
  neuron: number; // -1: none
  answer: number; // an output; where none is chosen, the likeliest after the position
  tensor: string; // a parameter's name
  point: string; // `middle 0`: a named point, and its block where it has one
  analysis: string; // an embedded one
}

/** The selection of a page, as it applies to a view. */
export function chosen(page: Page, view: View): Chosen {
  const { architecture: a, info, slots } = view.run;
  const position = position_of(page.position, view);
  return {
    position,
    block: Math.max(0, Math.min(page.block, a.blocks - 1)),
    head: Math.min(page.head, a.heads - 1),
    neuron: Math.min(page.neuron, a.feed_forward - 1),
    answer: page.answer >= 0 && page.answer < a.outputs ? page.answer : likeliest(view, position),
    tensor: slots.some((slot) => slot.name === page.tensor) ? page.tensor : slots[0].name,
    point: page.point,
    analysis: info.analyses.includes(page.analysis) ? page.analysis : (info.analyses[0] ?? ""),
  };
}

/** The position that is looked at; -1 is where the answer is read, or where the rule speaks last, or the last one. */
export function position_of(wanted: number, view: View): number {
  const { tokens } = view.trace;
  if (wanted >= 0) return Math.min(wanted, tokens.length - 1);
  const { info, architecture, data } = view.run;
  if (info.task.answers === "one") return read_at(architecture, tokens.length, tokens.length - 1);
  const judge = truth(info.task, architecture, data);
  const asked = judge.known ? judge.constrained(tokens).lastIndexOf(1) : -1;
  return asked < 0 ? tokens.length - 1 : asked;
}

/** The answer with the largest chance after a position. */
export function likeliest(view: View, position: number): number {
  const { data, shape } = view.trace.points.logits;
  const at = read_at(view.run.architecture, view.trace.tokens.length, position) * shape[1];
  let best = 0;
  for (let k = 1; k < shape[1]; k++) if (data[at + k] > data[at + best]) best = k;
  return best;
}
