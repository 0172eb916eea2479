// What several models say comes next, at once: the numbers of a curve along the clock.

import { next_chances } from "./chances";
import { type Side, traced } from "./looking";

export interface Tell {
  sides: Side[];
  position: number;
  temperature: number;
}

/** The chances of every answer, of each side. */
export function tell({ sides, position, temperature }: Tell): Float32Array[] {
  return sides.map((side) => next_chances(traced(side), side.architecture, Math.min(position, side.tokens.length - 1), temperature));
}
