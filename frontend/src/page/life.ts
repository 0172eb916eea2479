// How far the numbers of a model go over its whole life on one input, so that a scale stays while the clock runs.

import type { OpenRun } from "../data/open.svelte";
import { Model } from "../model/model";
import type { Numbers } from "../model/trace";
import type { View } from "../panels/panel";
import { largest, under } from "./reach";

const LOOKS = 24; // steps of a life that are looked at
const HEAVY = 2_000_000; // products of one pass beyond which only what was seen so far counts
const [WILD, HUGE] = [1000, 1e5]; // times the usual size, and in itself: a training that broke, and no scale for the rest of it

type Reaches = Map<string, number>;
const known = new WeakMap<OpenRun, Map<string, Reaches>>();

/** The largest size of a named point (of one block, where it has blocks), over the life and in what was seen of it. */
export function reach_of(view: View, name: string, block = 0): number {
  const point = view.trace.points[name];
  return grown(view, reaches(view), key(name, point, block), largest(part(point, block)));
}

/** Limits of a plane, alike in both directions, that hold what a function draws of each step that is looked at. */
export function limits_by(view: View, what: string, draw: (points: Record<string, Numbers>, params: Float32Array) => number): number {
  const found = reaches(view);
  if (!found.has(what)) {
    const sizes: number[] = [];
    each_look(view, (points, params) => sizes.push(draw(points, params)));
    found.set(what, usual(sizes));
  }
  return grown(view, found, what, draw(view.trace.points, view.params));
}

/** What was known so far, or more if the view shows more; a view without changes that shows wildly more is broken. */
function grown(view: View, found: Reaches, what: string, here: number): number {
  const before = found.get(what) ?? 0;
  if (here > before && (!before || view.before || !wild(here, before))) found.set(what, here);
  return found.get(what) || 1;
}

function wild(size: number, usually: number): boolean {
  return size > HUGE && size > WILD * usually;
}

/** The largest of some sizes, but for wild ones. */
function usual(sizes: number[]): number {
  const sorted = sizes.filter((size) => size > 0).sort((one, other) => one - other);
  const middle = sorted[sorted.length >> 1] ?? 0;
  return sorted.filter((size) => !wild(size, middle)).pop() ?? 0;
}

function reaches(view: View): Reaches {
  const { run, member } = view;
  const input = `${member} ${view.trace.tokens.join(",")}`;
  const lives = known.get(run) ?? new Map<string, Reaches>();
  known.set(run, lives);
  let found = lives.get(input);
  if (!found) {
    if (lives.size > 32) lives.clear();
    const sizes = new Map<string, number[]>();
    each_look(view, (points) => {
      for (const [name, point] of Object.entries(points)) {
        for (let block = 0; block < (point.axes[0] === "block" ? point.shape[0] : 1); block++) {
          const at = key(name, point, block);
          sizes.set(at, [...(sizes.get(at) ?? []), largest(part(point, block))]);
        }
      }
    });
    lives.set(input, (found = new Map([...sizes].map(([at, all]) => [at, usual(all)]))));
  }
  return found;
}

function each_look(view: View, see: (points: Record<string, Numbers>, params: Float32Array) => void): void {
  const { run, member, trace } = view;
  if (run.info.parameters * trace.tokens.length > HEAVY) return;
  const model = new Model(run.architecture, 1, trace.tokens.length);
  const count = Math.min(LOOKS, run.steps.length);
  for (let k = 0; k < count; k++) {
    const step = run.steps[Math.round((k / Math.max(count - 1, 1)) * (run.steps.length - 1))];
    const params = run.weights.at(step, member);
    model.forward(params, trace.tokens);
    see(model.trace().points, params);
  }
}

function part(point: Numbers, block: number): Float32Array {
  return point.axes[0] === "block" ? under(point, block) : point.data;
}

function key(name: string, point: Numbers, block: number): string {
  return point.axes[0] === "block" ? `${name} ${block}` : name;
}
