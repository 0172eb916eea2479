// Which answers are right after a position of an input.

import type { View } from "../panels/panel";
import type { Judge } from "../task/truth";
import { next_chances } from "./chances";

/** The answers that the rule allows; where it leaves the token free, or is not known, the one the untouched model gives. */
export function right_answers(view: View, judge: Judge | null, position: number): number[] {
  const { task } = view.run.info;
  const { tokens } = view.trace;
  const place = task.answers === "one" ? tokens.length - 1 : position;
  if (judge?.known && judge.constrained(tokens)[place]) {
    const allowed = judge.allowed(tokens);
    const width = allowed.length / tokens.length;
    return task.outputs.flatMap((_, k) => (allowed[place * width + k] ? [k] : []));
  }
  const chances = next_chances(view.before ?? view.trace, view.run.architecture, position, 1);
  return [chances.indexOf(Math.max(...chances))];
}
