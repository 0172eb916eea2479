// What the model says comes next, at a temperature.

import type { Architecture } from "../model/architecture";
import type { Trace } from "../model/trace";

/** The chance of every answer after a position; a model with one answer gives it where it is read. */
export function next_chances(trace: Trace, a: Architecture, position: number, temperature: number): Float32Array {
  const { data, shape } = trace.points.logits;
  const size = shape[shape.length - 1];
  const at = read_at(a, trace.tokens.length, position);
  const logits = data.subarray(at * size, (at + 1) * size);
  const found = new Float32Array(size);
  let top = -Infinity;
  for (const each of logits) top = Math.max(top, each);
  let sum = 0;
  for (let k = 0; k < size; k++) sum += found[k] = Math.exp((logits[k] - top) / temperature);
  for (let k = 0; k < size; k++) found[k] /= sum;
  return found;
}

/** The place of the largest chance; -1 where the chances are no numbers. */
export function likeliest(chances: Float32Array): number {
  return chances.indexOf(chances.reduce((most, each) => Math.max(most, each), 0));
}

/** Where the answer after a position is read: there, or at the one place where a model with one answer is read. */
export function read_at(a: Architecture, length: number, position: number): number {
  return a.read_position === null || a.read_position === undefined ? position : Math.min(a.read_position, length - 1);
}
