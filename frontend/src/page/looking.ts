// What the page asks of a model, and the answer; the same in a worker and without one.

import type { Architecture } from "../model/architecture";
import type { Change } from "../model/editing";
import type { Edit } from "../model/edits";
import { Model } from "../model/model";
import type { Trace } from "../model/trace";

/** What a patch takes from: a model without any edit, on an input of its own or, where that is null, on the same one. */
export interface Source {
  architecture: Architecture;
  params: Float32Array;
  tokens: Int32Array | null;
}

/** An edit and, of a patch, where it takes its numbers from. */
export interface Asked {
  edit: Edit;
  source?: Source;
}

/** One model on one input, with edits. */
export interface Side {
  architecture: Architecture;
  params: Float32Array;
  tokens: Int32Array;
  edits: readonly Asked[];
}

export interface Look extends Side {
  untouched: Float32Array | null; // the parameters before some were set by hand
}

export interface Seen {
  trace: Trace;
  before: Trace | null; // without the changes, where there are any
}

const models = new Map<string, Model>();

/** A model with room for so many inputs of a length, made once for each shape; `which` tells those apart that are needed at
 * the same time. */
export function model(a: Architecture, batch: number, length: number, which = 0): Model {
  const key = `${JSON.stringify(a)} ${batch} ${length} ${which}`;
  let found = models.get(key);
  if (!found) {
    if (models.size > 8) models.clear();
    models.set(key, (found = new Model(a, batch, length)));
  }
  return found;
}

/** A model that has passed over an input, with what its edits changed on the way. */
export function passed({ architecture, params, tokens, edits }: Side): { model: Model; changes: Change[] } {
  const changes = edits.map(({ edit, source }): Change => {
    return source ? { edit, there: traced({ ...source, tokens: source.tokens ?? tokens, edits: [] }) } : { edit };
  });
  const made = model(architecture, 1, tokens.length);
  made.forward(params, tokens, changes);
  return { model: made, changes };
}

/** All that such a pass leaves behind. */
export function traced(side: Side): Trace {
  return passed(side).model.trace();
}

export function look({ untouched, ...side }: Look): Seen {
  const changed = untouched !== null || side.edits.length > 0;
  return { trace: traced(side), before: changed ? traced({ ...side, params: untouched ?? side.params, edits: [] }) : null };
}
