// What a two-dimensional model would answer at every place of the plane: only where there is a plane, never faked.

import type { View } from "../panels/panel";
import { type Theme, place, table } from "./colours";

const SIDE = 64; // places along a side at which the chance is computed; the borders between answers are exact lines

export type Corner = [number, number];

export interface Landscape {
  side: number;
  chance: Float32Array; // of the winner
  regions: { token: number; corners: Corner[]; x: number; y: number }[]; // the winners' realms, and where to write their names
  picture(theme: Theme): ImageData;
}

/** The plane as straight lines: logit = first · x + second · y + bias. */
export interface Lines {
  first: Float64Array;
  second: Float64Array;
  bias: Float64Array;
}

/** The realm of every answer and the winner's chance at each place; null where a norm stands before the read-out, or no numbers are in it. */
export function landscape(view: View, limits: readonly [number, number]): Landscape | null {
  const a = view.run.architecture;
  if (a.width !== 2 || a.final_norm || (a.norm_place === "post" && a.norm !== "none")) return null;
  const lines = read_out(view);
  if (![lines.first, lines.second, lines.bias].every((each) => each.every(Number.isFinite))) return null;
  const chance = chances(lines, limits, view.temperature);
  const regions = Array.from(lines.bias.keys()).flatMap((token) => {
    const corners = realm(lines, token, limits);
    const { area, x, y } = middle(corners);
    return area > 0.004 * (limits[1] - limits[0]) ** 2 ? [{ token, corners, x, y }] : corners.length ? [{ token, corners, x: NaN, y: NaN }] : [];
  });
  return { side: SIDE, chance, regions, picture: (theme) => picture(chance, theme) };
}

/** The read-out as lines over the plane of what is read. */
export function read_out(view: View): Lines {
  const { architecture: a, slots } = view.run;
  const at = (name: string): Float32Array | null => {
    const slot = slots.find((each) => each.name === name);
    return slot ? view.params.subarray(slot.begin, slot.begin + slot.size) : null;
  };
  const [token, matrix, bias] = [at("token"), at("read_out"), at("read_out_bias")];
  const size = a.outputs;
  const column = (feature: number) => Float64Array.from({ length: size }, (_, k) => (a.tied_embedding ? token![2 * k + feature] : matrix![feature * size + k]));
  return { first: column(0), second: column(1), bias: Float64Array.from({ length: size }, (_, k) => bias?.[k] ?? 0) };
}

function chances({ first, second, bias }: Lines, [low, high]: readonly [number, number], temperature: number): Float32Array {
  const found = new Float32Array(SIDE * SIDE);
  const logits = new Float64Array(bias.length);
  for (let i = 0; i < SIDE; i++) {
    const y = high - ((i + 0.5) / SIDE) * (high - low);
    for (let j = 0; j < SIDE; j++) {
      const x = low + ((j + 0.5) / SIDE) * (high - low);
      let top = -Infinity;
      for (let k = 0; k < logits.length; k++) {
        const logit = (first[k] * x + second[k] * y + bias[k]) / temperature;
        logits[k] = logit;
        if (logit > top) top = logit;
      }
      let sum = 0;
      for (let k = 0; k < logits.length; k++) if (logits[k] > top - 12) sum += Math.exp(logits[k] - top);
      found[i * SIDE + j] = 1 / sum;
    }
  }
  return found;
}

/** Where one answer beats all others: the square, cut by a straight line for each of them. */
function realm({ first, second, bias }: Lines, token: number, [low, high]: readonly [number, number]): Corner[] {
  let corners: Corner[] = [[low, low], [high, low], [high, high], [low, high]];
  for (let k = 0; k < bias.length && corners.length; k++) {
    if (k === token) continue;
    const lead = ([x, y]: Corner): number => (first[token] - first[k]) * x + (second[token] - second[k]) * y + bias[token] - bias[k];
    corners = corners.flatMap((here, n) => {
      const next = corners[(n + 1) % corners.length];
      const [a, b] = [lead(here), lead(next)];
      const kept: Corner[] = a >= 0 ? [here] : [];
      if (a >= 0 !== b >= 0) kept.push([here[0] + (a / (a - b)) * (next[0] - here[0]), here[1] + (a / (a - b)) * (next[1] - here[1])]);
      return kept;
    });
  }
  return corners;
}

function middle(corners: Corner[]): { area: number; x: number; y: number } {
  let [area, x, y] = [0, 0, 0];
  corners.forEach(([x0, y0], n) => {
    const [x1, y1] = corners[(n + 1) % corners.length];
    const cross = x0 * y1 - x1 * y0;
    area += cross / 2;
    x += ((x0 + x1) * cross) / 6;
    y += ((y0 + y1) * cross) / 6;
  });
  return { area, x: x / area, y: y / area };
}

function picture(chance: Float32Array, theme: Theme): ImageData {
  const made = new ImageData(SIDE, SIDE);
  const pixels = new Uint32Array(made.data.buffer);
  const colours = new Uint32Array(table("share", theme).buffer);
  for (let k = 0; k < chance.length; k++) pixels[k] = colours[place(0.04 + 0.42 * chance[k])];
  return made;
}
