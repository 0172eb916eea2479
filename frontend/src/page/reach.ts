// Reaching into flat arrays.

import type { Numbers } from "../model/trace";

export function row_of(data: Float32Array, width: number, k: number): number[] {
  return Array.from(data.subarray(k * width, (k + 1) * width));
}

/** The part of an array under the first indices, without a copy. */
export function under({ data, shape }: Numbers, ...first: number[]): Float32Array {
  let size = data.length;
  let begin = 0;
  first.forEach((index, axis) => {
    size /= shape[axis];
    begin += index * size;
  });
  return data.subarray(begin, begin + size);
}

/** One less the other where they are alike, else the one alone. */
export function less(one: Float32Array, other: Float32Array | null | undefined): Float32Array {
  return other && other.length === one.length ? one.map((value, k) => value - other[k]) : one;
}

/** The largest size of some numbers; what is none does not count. */
export function largest(data: ArrayLike<number>): number {
  let most = 0;
  for (let k = 0; k < data.length; k++) {
    const size = Math.abs(data[k]);
    if (size > most && size < Infinity) most = size;
  }
  return most;
}

/** 0, 1, 2, … as texts. */
export function counted(many: number): string[] {
  return Array.from({ length: many }, (_, k) => String(k));
}
