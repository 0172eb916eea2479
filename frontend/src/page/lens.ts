// The logit lens: what would be said if the stream were read out before its end, as in analyses/decide/logit_lens.py.

import { norm, softmax, times, times_turned } from "../model/products";
import type { Numbers } from "../model/trace";
import type { View } from "../panels/panel";
import { type Station, stations } from "./stations";

export interface Lens {
  stations: Station[];
  chances: Float32Array; // (station, position, output)
}

/** The numbers of a point in one block, (position, feature). */
export function at_station({ points }: { points: Record<string, Numbers> }, { point, block }: Station): Float32Array {
  const { data, shape } = points[point];
  if (block === null) return data;
  const size = data.length / shape[0];
  return data.subarray(block * size, (block + 1) * size);
}

export function lens(view: View): Lens {
  const { architecture: a, slots } = view.run;
  const begin = (name: string): number => slots.find((slot) => slot.name === name)?.begin ?? -1;
  const found = stations(a);
  const length = view.trace.tokens.length;
  const rows = { first: 0, step: 1, count: length };
  const logits = new Float32Array(length * a.outputs);
  const chances = new Float32Array(found.length * logits.length);
  const normed = new Float32Array(length * a.width);
  found.forEach((station, s) => {
    let x = at_station(view.trace, station);
    if (a.final_norm && a.norm !== "none") {
      norm(x, view.params, begin("norm"), begin("norm_bias"), normed, a.width, rows, a.norm === "layer", a.norm_epsilon);
      x = normed;
    }
    if (a.tied_embedding) times_turned(x, view.params, begin("token"), begin("read_out_bias"), logits, a.width, a.outputs, rows);
    else times(x, view.params, begin("read_out"), begin("read_out_bias"), logits, a.width, a.outputs, rows);
    const into = chances.subarray(s * logits.length);
    for (let k = 0; k < length; k++) softmax(logits, into, k * a.outputs, a.outputs);
  });
  return { stations: found, chances };
}
