// Edits at work in a model: what they do to the values of a pass, and to the gradients on the way back.

import type { Architecture } from "./architecture";
import { CallError } from "./errors";
import { written, type Edit } from "./edits";
import { axes, is_place, points_of } from "./glossary";
import type { Model, Point } from "./model";
import type { Trace } from "./trace";

/** An edit and, for a patch, the pass that it takes its numbers from: the trace of an input just as long, or a model
 * that has passed over as many inputs, of which each example takes its own. */
export interface Change {
  edit: Edit;
  there?: Trace | Model;
}

/** Change a point that has just been computed, if the edit is about it. */
export function apply(change: Change, point: Point, model: Model): void {
  const { edit } = change;
  if (!touches(edit, point)) return;
  const cells = chosen(edit, point);
  const values = point.values;
  const examples = point.shared ? 1 : model.batch;
  for (let example = 0; example < examples; example++) {
    const begin = example * point.size;
    if (edit.verb === "mean") average(values, begin, cells, point, model.architecture.causal);
    else if (edit.verb === "patch") take(change, values, begin, example, cells, point, model);
    else {
      const amount = edit.amount ?? 0; // of zero
      for (const cell of cells) {
        const at = begin + cell;
        values[at] = edit.verb === "add" ? values[at] + amount : edit.verb === "scale" ? values[at] * amount : amount;
      }
    }
  }
}

/** Make of the gradient after an edit the gradient before it. */
export function hand_back(change: Change, point: Point, model: Model, gradient: Float32Array): void {
  const { edit } = change;
  if (!touches(edit, point) || edit.verb === "add") return;
  const cells = chosen(edit, point);
  const factor = edit.verb === "scale" ? (edit.amount as number) : 0;
  for (let example = 0; example < (point.shared ? 1 : model.batch); example++) {
    const begin = example * point.size;
    const after = edit.verb === "mean" ? gradient.slice(begin, begin + point.size) : gradient;
    for (const cell of cells) gradient[begin + cell] *= factor;
    if (edit.verb !== "mean") continue;
    for (const cell of cells) {
      const { first, many, step } = view(cell, point, model.architecture.causal);
      for (let k = 0; k < many; k++) gradient[begin + first + k * step] += after[cell] / many;
    }
  }
}

/** Whether an edit is about a point, in this block. */
export function touches(edit: Edit, point: { name: string; block: number | null }): boolean {
  if (edit.point !== point.name) return false;
  const blocks = edit.at?.block;
  return point.block === null || !blocks || blocks.includes(point.block);
}

/** Offsets of the numbers that an edit chooses within one example of a point. */
function chosen(edit: Edit, point: Point): number[] {
  let found = [0];
  const names = axes(point.name).slice(point.block === null ? 0 : 1);
  names.forEach((axis, k) => {
    const given = edit.at?.[axis];
    const places = given
      ? given.filter((place) => place < point.shape[k])
      : Array.from({ length: point.shape[k] }, (_, place) => place);
    found = found.flatMap((begin) => places.map((place) => begin + place * point.strides[k]));
  });
  return found;
}

/** The same number at all positions in view of a cell's own: positions are the last axis but one, at every point. */
function view(cell: number, point: Point, causal: boolean): { first: number; many: number; step: number } {
  const axis = point.shape.length - 2;
  const step = point.strides[axis];
  const length = point.shape[axis];
  const place = Math.floor(cell / step) % length;
  return { first: cell - place * step, many: causal ? place + 1 : length, step };
}

function average(values: Float32Array, begin: number, cells: number[], point: Point, causal: boolean): void {
  const before = values.slice(begin, begin + point.size);
  for (const cell of cells) {
    const { first, many, step } = view(cell, point, causal);
    let sum = 0;
    for (let k = 0; k < many; k++) sum += before[first + k * step];
    values[begin + cell] = sum / many;
  }
}

function take(
  change: Change, values: Float32Array, begin: number, example: number, cells: number[], point: Point, model: Model,
): void {
  const { edit, there } = change;
  if (!there) throw new CallError(`${written([edit])}: nothing is given to take from`);
  if (is_model(there)) {
    const source = there.points.find((each) => each.name === point.name && each.block === point.block);
    if (!source || there.batch !== model.batch || source.size !== point.size) throw unfitting(edit);
    for (const cell of cells) values[begin + cell] = source.values[(source.shared ? 0 : example * source.size) + cell];
    return;
  }
  const source = there.points[point.name];
  const from = (point.block ?? 0) * point.size;
  if (!source || source.data.length < from + point.size || there.tokens.length !== model.length) throw unfitting(edit);
  const rank = point.shape.length;
  for (const cell of cells) {
    let [at, along] = [from, 1]; // a trace has the glossary's order, the point its own
    for (let k = rank - 1; k >= 0; k--) {
      at += (Math.floor(cell / point.strides[k]) % point.shape[k]) * along;
      along *= point.shape[k];
    }
    values[begin + cell] = source.data[at];
  }
}

function is_model(there: Trace | Model): there is Model {
  return Array.isArray(there.points);
}

function unfitting(edit: Edit): CallError {
  return new CallError(`${written([edit])}: what it takes from has no numbers of this size there`);
}

/** Refuse an edit that this model has no place for; with a length, also one beyond the positions of such an input. */
export function check(edit: Edit, a: Architecture, length?: number): void {
  const there = sizes(a);
  if (!there[edit.point]) {
    throw new CallError(
      `${written([edit])}: this model has no ${edit.point}; it has: ${Object.keys(there).join(", ")}`,
    );
  }
  for (const [axis, places] of Object.entries(edit.at ?? {})) {
    within(edit, axis, places[places.length - 1], there[edit.point][axis], "this model");
    if (length !== undefined && is_place(axis)) within(edit, axis, places[places.length - 1], length, "this input");
  }
}

function within(edit: Edit, axis: string, last: number, size: number, where: string): void {
  if (last < size) return;
  const there = size > 1 ? `there are 0 to ${size - 1}` : "there is only 0";
  throw new CallError(`${written([edit])}: ${where} has no ${axis} ${last}; ${there}`);
}

/** Every point that a model of these settings has, with the size of each axis; positions fill the context. */
export function sizes(a: Architecture): Record<string, Record<string, number>> {
  const found: Record<string, Record<string, number>> = {};
  const many: Record<string, number> = {
    block: a.blocks, head: a.heads, position: a.context, query_position: a.context, key_position: a.context,
    neuron: a.feed_forward, token: a.outputs,
  };
  for (const name of points_of(a)) {
    const feature = ["query", "key", "value", "mixed"].includes(name) ? a.head_width : a.width;
    found[name] = Object.fromEntries(axes(name).map((axis) => [axis, axis === "feature" ? feature : many[axis]]));
  }
  return found;
}
