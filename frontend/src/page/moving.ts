// Moving a token's vector in the plane on which it is drawn: what has to be set for it to stand at another place.

import type { WeightEdit } from "../model/edits";
import type { View } from "../panels/panel";
import type { Projection } from "./plane";
import { row_of } from "./reach";

const DIGITS = 4; // that count, of a number set by hand

/** The place of a token's vector in the plane. */
export function spot_of(view: View, token: number, plane: Projection): [number, number] {
  return plane.project(row_of(view.params, view.run.architecture.width, token)); // the first parameter is the token table
}

/** The numbers that put it at another place; what the plane does not show of the vector stays as it is. */
export function moved(view: View, token: number, plane: Projection, to: readonly [number, number]): WeightEdit[] {
  const { width } = view.run.architecture;
  const vector = row_of(view.params, width, token);
  const from = plane.project(vector);
  return vector.flatMap((value, k) => {
    const [x, y] = plane.project(Array.from({ length: width }, (_, j) => (j === k ? 1 : 0))); // the plane's directions are of length 1
    const next = value + (to[0] - from[0]) * x + (to[1] - from[1]) * y;
    return x === 0 && y === 0 ? [] : [{ name: "token", index: [token, k], value: Number(next.toPrecision(DIGITS)) }];
  });
}
