// What the page asks of a model, and the answer; the same in a worker and without one.

import type { Architecture } from "../model/architecture";
import { Model } from "../model/model";
import type { Trace } from "../model/trace";

export interface Look {
  architecture: Architecture;
  params: Float32Array;
  tokens: Int32Array;
  edits: string[];
}

export interface Seen {
  trace: Trace;
  before: Trace | null; // without the edits, where there are any
}

const models = new Map<string, Model>();

/** A model with room for one input, made once for each shape. */
function model(a: Architecture, length: number): Model {
  const key = `${JSON.stringify(a)} ${length}`;
  let found = models.get(key);
  if (!found) {
    if (models.size > 8) models.clear();
    models.set(key, (found = new Model(a, 1, length)));
  }
  return found;
}

export function look({ architecture, params, tokens }: Look): Seen {
  const made = model(architecture, tokens.length);
  made.forward(params, tokens);
  return { trace: made.trace(), before: null };
}
