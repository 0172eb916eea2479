// How the members of a run ended: the measure of `learnt` of summary.py, read off the last logged line.

import type { OpenRun } from "../data/open.svelte";

const ERROR = 0.02; // share of wrong answers, and
const EXCESS = 0.02; // nats above the floor, under which a member has learnt its task

export interface End {
  learnt: boolean | null; // null: nobody knows what is left to learn
  diverged: boolean;
  wrong: number | null; // share of wrong answers, where they are counted
  rung: number; // place in the ladder; -1: none is reached
}

/** How a member ended. */
export function end_of(run: OpenRun, member: number): End {
  const last = (name: string): number | undefined => run.column(name, member)?.at(-1);
  const { task } = run.info;
  const rung = run.facts_at(run.last, member)?.rung ?? -1;
  const [accuracy, error, excess] = [last("accuracy"), last("rule_error_answerable"), last("excess")];
  const wrong = accuracy !== undefined ? 1 - accuracy : (error ?? null);
  const diverged = !Number.isFinite(last("validation_loss") ?? last("train_loss") ?? NaN);
  if (diverged || !task.exact) return { learnt: diverged ? false : null, diverged, wrong, rung };
  if (accuracy !== undefined && task.answers === "one") return { learnt: 1 - accuracy < 1e-9, diverged, wrong, rung };
  if (error !== undefined && one_answer(run)) return { learnt: error < ERROR, diverged, wrong, rung };
  return { learnt: (excess ?? NaN) < EXCESS, diverged, wrong, rung };
}

/** Whether wherever there is an answer, one token alone is right. */
function one_answer(run: OpenRun): boolean {
  const examples = run.data?.validation;
  if (!examples || !examples.allowed.length) return false;
  const { outputs } = run.architecture;
  let any = false;
  for (let at = 0; at < examples.answerable.length; at++) {
    if (!examples.answerable[at]) continue;
    any = true;
    let right = 0;
    for (let k = 0; k < outputs; k++) right += examples.allowed[at * outputs + k];
    if (right !== 1) return false;
  }
  return any;
}
