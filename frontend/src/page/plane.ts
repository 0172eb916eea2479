// The plane on which vectors are drawn: the features themselves where there are two, else a stated projection that stays
// the same for the whole life of a run, so that what moves is the model.

import type { OpenRun } from "../data/open.svelte";
import type { View } from "../panels/panel";
import { limits_by } from "./life";
import { under } from "./reach";

export interface Projection {
  project(vector: ArrayLike<number>): [number, number];
  x: string;
  y: string;
  stated: string; // the share of the variance that is kept, or "" where nothing is lost
}

export const FEATURES: Projection = { project: (v) => [v[0], v[1]], x: "feature 0", y: "feature 1", stated: "" };
const planes = new WeakMap<OpenRun, Map<string, Projection>>();
const LEAP = 1.4;
const limits = new WeakMap<OpenRun, Map<string, readonly [number, number]>>();

/** The plane of the residual stream: of the token embeddings of the last step, the two directions in which they vary
 * most; of a run that grows they are found anew each time its age has doubled. */
export function plane_of(run: OpenRun, member: number): Projection {
  const a = run.architecture;
  if (a.width === 1) return { project: (v) => [v[0], 0], x: "feature 0", y: "", stated: "" };
  if (a.width === 2) return FEATURES;
  const known = planes.get(run) ?? new Map<string, Projection>();
  planes.set(run, known);
  const key = run.status === "running" ? `${member} ${Math.floor(Math.log2(run.last + 1))}` : String(member);
  let found = known.get(key);
  if (!found) {
    const table = run.weights.at(run.last, member).subarray(0, a.vocabulary * a.width);
    known.set(key, (found = principal(table, a.vocabulary, a.width)));
  }
  return found;
}

/** The first two principal directions of some rows, by power iteration. */
export function principal(table: Float32Array, rows: number, width: number): Projection {
  const mean = new Float64Array(width);
  for (let i = 0; i < rows; i++) for (let j = 0; j < width; j++) mean[j] += table[i * width + j] / rows;
  const covariance = new Float64Array(width * width);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < width; j++) {
      const d = table[i * width + j] - mean[j];
      for (let k = 0; k < width; k++) covariance[j * width + k] += d * (table[i * width + k] - mean[k]);
    }
  }
  let total = 0;
  for (let j = 0; j < width; j++) total += covariance[j * width + j];
  const directions: Float64Array[] = [];
  let kept = 0;
  for (let d = 0; d < 2; d++) {
    let v = Float64Array.from({ length: width }, (_, k) => Math.cos(1 + k * (d + 1)));
    let size = 0;
    for (let round = 0; round < 100; round++) {
      const next = new Float64Array(width);
      for (let j = 0; j < width; j++) for (let k = 0; k < width; k++) next[j] += covariance[j * width + k] * v[k];
      for (const other of directions) {
        const along = next.reduce((sum, x, k) => sum + x * other[k], 0);
        for (let k = 0; k < width; k++) next[k] -= along * other[k];
      }
      size = Math.hypot(...next);
      if (!(size > 0)) break;
      v = next.map((x) => x / size);
    }
    directions.push(v);
    kept += size;
  }
  const along = (vector: ArrayLike<number>, d: Float64Array): number => {
    let sum = 0;
    for (let k = 0; k < width; k++) sum += vector[k] * d[k];
    return sum;
  };
  return {
    project: (vector) => [along(vector, directions[0]), along(vector, directions[1])],
    x: "direction 0",
    y: "direction 1",
    stated: total > 0 ? `${Math.round((100 * kept) / total)} %` : "0 %",
  };
}

/** Limits that hold for the whole life of the run on this input: of the stream, or of the vectors of a head. */
export function limits_of(view: View, what: "embedding" | "stream" | "heads" | "values", plane: Projection, block = 0, head = 0): readonly [number, number] {
  const a = view.run.architecture;
  const key = `${what} ${view.member} ${block} ${head} ${view.trace.tokens.join(",")}`;
  let reach = 0;
  const see = (values: Float32Array, width: number): void => {
    for (let k = 0; k + width <= values.length; k += width) {
      for (const each of plane.project(values.subarray(k, k + width))) if (Number.isFinite(each)) reach = Math.max(reach, Math.abs(each));
    }
  };
  const most = limits_by(view, key, (points, params) => {
    reach = 0;
    if (what === "embedding") {
      see(params.subarray(0, a.vocabulary * a.width), a.width);
      see(points.embedded.data, a.width);
    } else if (what === "stream") {
      for (const name of ["embedded", "middle", "out"]) if (points[name]) see(points[name].data, a.width);
    } else {
      for (const name of what === "heads" ? ["query", "key"] : ["value", "mixed"]) see(under(points[name], block, head), a.head_width);
    }
    return reach;
  });
  // the same pair for the same limits, so that nothing is drawn anew for their sake
  const known = limits.get(view.run) ?? new Map<string, readonly [number, number]>();
  limits.set(view.run, known);
  // while a run grows its limits do in leaps, so that between them only the model moves
  const edge = view.run.status === "running" ? LEAP ** Math.ceil(Math.log(most * 1.05) / Math.log(LEAP)) : most * 1.12;
  let found = known.get(key);
  if (found?.[1] !== edge) known.set(key, (found = [-edge, edge]));
  return found;
}
