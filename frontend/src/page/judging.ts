// What several models pay, and how often they are wrong, on the windows that a run is judged by.

import type { Examples, TaskData, TaskInfo } from "../data/source";
import { Judge } from "../learn/judge";
import type { Architecture } from "../model/architecture";
import type { Change } from "../model/editing";
import type { Model } from "../model/model";
import { type Asked, type Side, model } from "./looking";

export interface Judging {
  sides: Omit<Side, "tokens">[]; // of one shape
  task: TaskInfo;
  validation: Examples;
  test: Examples | null;
  all: boolean; // else the few windows that stand for all
}

export interface Judged {
  loss: number; // nats per predicted token, on the validation windows
  error: number; // of the rule where its answer is in view; or the share of wrong answers
}

const NONE = new Int32Array(0);

/** What each side pays. */
export function judge({ sides, task, validation, test, all }: Judging): Judged[] {
  const [{ architecture }] = sides;
  const fit = { ...validation, count: 0, few: 0 }; // how well the training part is known is not asked
  const data: TaskData = { train: { tokens: NONE, starts: NONE, windows: NONE }, order: "random", fit, validation, test, files: {} };
  const judged = new Judge(architecture, task, data);
  return sides.map(({ params, edits }) => {
    const line = judged.line(params, all, edits.length ? (tokens, batch) => changes(edits, tokens, batch, architecture) : null);
    const error = task.measure === "rule_error" ? (line.rule_error_answerable as number) : 1 - (line.accuracy as number);
    return { loss: line.validation_loss as number, error };
  });
}

/** Edits for a batch of windows: a patch takes from the same windows, or from its own input for every one of them. */
function changes(edits: readonly Asked[], tokens: Int32Array, batch: number, a: Architecture): Change[] {
  return edits.map(({ edit, source }, k): Change => {
    if (!source) return { edit };
    const there: Model = model(source.architecture, batch, a.context, k);
    const given = source.tokens ? Int32Array.from({ length: batch * a.context }, (_, at) => source.tokens![at % a.context]) : tokens;
    there.forward(source.params, given);
    return { edit, there };
  });
}
