// What a two-dimensional model would answer at every place of the plane: only where there is a plane, never faked.

import type { View } from "../panels/panel";
import { type Theme, table, place } from "./colours";

const SIDE = 96; // places along a side

export interface Landscape {
  side: number;
  winner: Uint16Array;
  chance: Float32Array;
  regions: { token: number; x: number; y: number }[]; // where to write each winner's name
  picture(theme: Theme): ImageData;
}

/** The winner and its chance at each place; the final norm, where there is one, is applied on the way. */
export function landscape(view: View, [low, high]: readonly [number, number]): Landscape {
  const { architecture: a, slots } = view.run;
  const at = (name: string): Float32Array | null => {
    const slot = slots.find((each) => each.name === name);
    return slot ? view.params.subarray(slot.begin, slot.begin + slot.size) : null;
  };
  const size = a.outputs;
  const token = at("token");
  const matrix = at("read_out");
  const bias = at("read_out_bias");
  const [gain, shift] = [at("norm"), at("norm_bias")];
  const first = new Float64Array(size);
  const second = new Float64Array(size);
  for (let k = 0; k < size; k++) {
    first[k] = a.tied_embedding ? token![2 * k] : matrix![k];
    second[k] = a.tied_embedding ? token![2 * k + 1] : matrix![size + k];
  }
  const winner = new Uint16Array(SIDE * SIDE);
  const chance = new Float32Array(SIDE * SIDE);
  const sums = Array.from({ length: size }, () => [0, 0, 0]);
  const cold = 1 / view.temperature;
  for (let i = 0; i < SIDE; i++) {
    for (let j = 0; j < SIDE; j++) {
      let x = low + ((j + 0.5) / SIDE) * (high - low);
      let y = high - ((i + 0.5) / SIDE) * (high - low);
      const [here_x, here_y] = [x, y];
      if (a.final_norm) {
        if (a.norm === "layer") [x, y] = [(x - y) / 2, (y - x) / 2];
        const scale = 1 / Math.sqrt((x * x + y * y) / 2 + a.norm_epsilon);
        x = x * scale * (gain?.[0] ?? 1) + (shift?.[0] ?? 0);
        y = y * scale * (gain?.[1] ?? 1) + (shift?.[1] ?? 0);
      }
      let best = 0;
      let top = -Infinity;
      for (let k = 0; k < size; k++) {
        const logit = x * first[k] + y * second[k] + (bias ? bias[k] : 0);
        if (logit > top) [top, best] = [logit, k];
      }
      let sum = 0;
      for (let k = 0; k < size; k++) sum += Math.exp((x * first[k] + y * second[k] + (bias ? bias[k] : 0) - top) * cold);
      winner[i * SIDE + j] = best;
      chance[i * SIDE + j] = 1 / sum;
      sums[best][0] += here_x;
      sums[best][1] += here_y;
      sums[best][2] += 1;
    }
  }
  const regions = sums.flatMap(([x, y, n], token) => (n > SIDE * SIDE * 0.006 ? [{ token, x: x / n, y: y / n }] : []));
  return { side: SIDE, winner, chance, regions, picture: (theme) => picture(winner, chance, theme) };
}

function picture(winner: Uint16Array, chance: Float32Array, theme: Theme): ImageData {
  const made = new ImageData(SIDE, SIDE);
  const colours = table("share", theme);
  for (let i = 0; i < SIDE; i++) {
    for (let j = 0; j < SIDE; j++) {
      const k = i * SIDE + j;
      const border = (j + 1 < SIDE && winner[k + 1] !== winner[k]) || (i + 1 < SIDE && winner[k + SIDE] !== winner[k]);
      const from = 4 * place(border ? 0.95 : 0.05 + 0.45 * chance[k]);
      made.data.set(colours.subarray(from, from + 4), 4 * k);
    }
  }
  return made;
}
