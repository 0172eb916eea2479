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
