// Whether the members of a run have learnt their task, and since when: the measure of `learnt` of summary.py, read off
// the logged lines.

import type { OpenRun } from "../data/open.svelte";
import type { Examples } from "../data/source";
import { onward } from "../learn/ladder";

const ERROR = 0.02; // share of wrong answers, and
const EXCESS = 0.02; // nats above the floor, under which a member has learnt its task

export interface End {
  learnt: boolean | null; // null: nobody knows what is left to learn
  diverged: boolean;
  wrong: number | null; // share of wrong answers, where they are counted
  rung: number; // place in the ladder; -1: none is reached
  next: string; // the rung to which it is on the way; "": it stands on one
}

/** How a member ended. */
export function end_of(run: OpenRun, member: number): End {
  const last = (name: string): number | undefined => run.column(name, member)?.at(-1);
  const facts = run.facts_at(run.last, member);
  const { ladder, task } = run.info;
  const rung = facts?.rung ?? -1;
  const on = facts && onward(ladder, rung, facts.loss ?? NaN, task.exact ? (facts.excess ?? NaN) : Infinity);
  const [accuracy, error] = [last("accuracy"), last("rule_error_answerable")];
  const wrong = accuracy !== undefined ? 1 - accuracy : (error ?? null);
  const diverged = !Number.isFinite(last("validation_loss") ?? last("train_loss") ?? NaN);
  const judged = mark(run, member);
  const learnt = diverged ? false : judged && (judged.values.at(-1) ?? NaN) < judged.limit;
  return { learnt, diverged, wrong, rung, next: on?.next.name ?? "" };
}

/** The first logged step from which on a member has learnt its task; null: it has not, or nobody knows. */
export function learnt_at(run: OpenRun, member = 0): number | null {
  const { values, limit } = mark(run, member) ?? { values: [], limit: 0 };
  let k = values.length;
  while (k > 0 && values[k - 1] < limit) k--;
  return k < values.length ? run.metrics.step[k] : null;
}

/** Whether a member has learnt its task by a step: what the last line logged by then says. */
export function learnt_by(run: OpenRun, member: number, step: number): boolean {
  const { values, limit } = mark(run, member) ?? { values: [], limit: 0 };
  let line = values.length - 1;
  while (line >= 0 && run.metrics.step[line] > step) line--;
  return line >= 0 && values[line] < limit;
}

/** By which number a task counts as learnt, at every logged step, and below which limit; null where nobody knows. */
export function mark(run: OpenRun, member: number): { values: number[]; limit: number } | null {
  const { task } = run.info;
  if (!task.exact) return null;
  const [accuracy, error] = [run.column("accuracy", member), run.column("rule_error_answerable", member)];
  if (accuracy && task.answers === "one") return { values: accuracy.map((each) => 1 - each), limit: 1e-9 };
  if (error && one_answer(run)) return { values: error, limit: ERROR };
  return { values: run.column("excess", member) ?? [], limit: EXCESS };
}

const counted = new WeakMap<Examples, boolean>();

/** Whether wherever there is an answer, one token alone is right. */
function one_answer(run: OpenRun): boolean {
  const examples = run.data?.validation;
  if (!examples || !examples.allowed.length) return false;
  let found = counted.get(examples);
  if (found === undefined) counted.set(examples, (found = single(examples, run.architecture.outputs)));
  return found;
}

function single({ answerable, allowed }: Examples, outputs: number): boolean {
  let any = false;
  for (let at = 0; at < answerable.length; at++) {
    if (!answerable[at]) continue;
    any = true;
    let right = 0;
    for (let k = 0; k < outputs; k++) right += allowed[at * outputs + k];
    if (right !== 1) return false;
  }
  return any;
}
