// How far the numbers of a model go over its whole life on one input, so that a scale stays while the clock runs.

import type { OpenRun } from "../data/open.svelte";
import { Model } from "../model/model";
import type { Numbers } from "../model/trace";
import type { View } from "../panels/panel";
import { largest, under } from "./reach";

const LOOKS = 24; // steps of a life that are looked at
const HEAVY = 2_000_000; // products of one pass beyond which only what was seen so far counts

type Reaches = Map<string, number>;
const known = new WeakMap<OpenRun, Map<string, Reaches>>();

/** The largest size of a named point (of one block, where it has blocks), over the life and in what was seen of it. */
export function reach_of(view: View, name: string, block = 0): number {
  const point = view.trace.points[name];
  const at = key(name, point, block);
  const found = reaches(view);
  const here = Math.max(largest(part(point, block)), found.get(at) ?? 0);
  found.set(at, here);
  return here || 1;
}

/** Limits of a plane, alike in both directions, that hold what a function draws of each step that is looked at. */
export function limits_by(view: View, what: string, draw: (points: Record<string, Numbers>, params: Float32Array) => number): number {
  const found = reaches(view);
  let most = found.get(what);
  if (most === undefined) {
    most = 0;
    each_look(view, (points, params) => (most = Math.max(most!, draw(points, params))));
  }
  most = Math.max(most, draw(view.trace.points, view.params));
  found.set(what, most);
  return most || 1;
}

function reaches(view: View): Reaches {
  const { run, member } = view;
  const input = `${member} ${view.trace.tokens.join(",")}`;
  const lives = known.get(run) ?? new Map<string, Reaches>();
  known.set(run, lives);
  let found = lives.get(input);
  if (!found) {
    if (lives.size > 32) lives.clear();
    lives.set(input, (found = new Map()));
    const all = found;
    each_look(view, (points) => {
      for (const [name, point] of Object.entries(points)) {
        for (let block = 0; block < (point.axes[0] === "block" ? point.shape[0] : 1); block++) {
          const at = key(name, point, block);
          all.set(at, Math.max(largest(part(point, block)), all.get(at) ?? 0));
        }
      }
    });
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
