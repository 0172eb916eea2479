// How steps are spaced along the clock, as along the axes of the figures (analyses/_scale.py): evenly, by their logarithm
// where learning would lack room, or half by time and half by what was learnt.

export interface Spacing {
  place(step: number): number; // 0 to 1
  step(place: number): number; // back again, any number between
}

const ENOUGH = 0.2; // of the width for nine tenths of what is learnt
const [BEGUN, DONE] = [0.02, 0.9]; // shares of all that the loss gains
const STRAIGHT = 0.4; // of a decade: the beginning of a logarithmic axis, where it is not logarithmic
const GROWING = 200; // of a training that goes on, the axis is straight up to this part of its length

/** The spacing of a training from its logged losses; while it grows it is spaced by plan, so that nothing moves. */
export function spacing(at: readonly number[], loss: readonly number[], last: number, growing = false): Spacing {
  const end = Math.max(last, 1);
  if (growing) return logarithmic(end, Math.max(1, end / GROWING));
  const known = at.flatMap((step, k) => (Number.isFinite(loss[k]) && step <= end ? [{ step, loss: loss[k] }] : []));
  const fall = known.length ? known[0].loss - Math.min(...known.map((each) => each.loss)) : 0;
  if (!(fall > 0)) return even(end);
  let least = Infinity;
  const gained = known.map((each) => (known[0].loss - (least = Math.min(least, each.loss))) / fall);
  const reached = (share: number): number => gained.findIndex((each) => each >= share);
  const first = Math.max(known[reached(BEGUN)].step, 1);
  const ends = [known[Math.max(reached(1 - DONE) - 1, 0)].step, known[reached(DONE)].step];
  const roomy = (each: Spacing): boolean => each.place(ends[1]) - each.place(ends[0]) >= ENOUGH;
  const learnt = (): Spacing => {
    const [steps, places] = [known.map((each) => each.step), known.map((each, k) => (each.step / end + gained[k]) / 2)];
    if (steps[steps.length - 1] < end) [steps, places].forEach((list, k) => list.push(k ? 1 : end));
    return { place: (step) => between(step, steps, places), step: (place) => between(place, places, steps) };
  };
  return [even(end), logarithmic(end, first)].find(roomy) ?? learnt();
}

function even(last: number): Spacing {
  return { place: (step) => step / last, step: (place) => place * last };
}

function logarithmic(last: number, first: number): Spacing {
  const length = 1 + Math.log10(last / first) / STRAIGHT;
  return {
    place: (step) => (step < first ? step / first : 1 + Math.log10(step / first) / STRAIGHT) / length,
    step: (place) => (place * length < 1 ? place * length : 10 ** ((place * length - 1) * STRAIGHT)) * first,
  };
}

function between(x: number, from: readonly number[], to: readonly number[]): number {
  if (x <= from[0]) return to[0];
  for (let k = 1; k < from.length; k++) {
    if (x <= from[k]) {
      const share = from[k] > from[k - 1] ? (x - from[k - 1]) / (from[k] - from[k - 1]) : 1;
      return to[k - 1] + share * (to[k] - to[k - 1]);
    }
  }
  return to[to.length - 1];
}

/** Round numbers of steps that stand at least so far apart. */
export function ticks(spacing: Spacing, last: number, apart: number): number[] {
  const found: number[] = [0];
  const candidates: number[] = [];
  for (let size = 1; size <= last; size *= 10) for (const k of [1, 2, 5]) candidates.push(k * size);
  const even = 10 ** Math.floor(Math.log10(Math.max(last, 1)));
  for (let k = 1; k * even < last; k++) candidates.push(k * even);
  const fits = (step: number) => found.every((other) => Math.abs(spacing.place(other) - spacing.place(step)) >= apart);
  found.push(last);
  for (const step of candidates.sort((a, b) => a - b).filter((each) => each < last)) if (fits(step)) found.push(step);
  return found.sort((a, b) => a - b);
}

/** The room to the right of a curve along the clock, in which the rungs of the ladder have their names. */
export function margin(wide: number, ladder: readonly { name: string; reachable: boolean }[]): number {
  const longest = Math.max(...ladder.map((rung) => (rung.reachable ? rung.name.length : 0)), 1);
  return wide < 700 ? 8 : 26 + 6.3 * Math.min(30, longest);
}
