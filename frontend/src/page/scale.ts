// How steps are spaced along the clock: half by time, half by what was learnt, so that learning has room wherever it
// happens. The figures do the same (analyses/_scale.py).

export interface Spacing {
  place(step: number): number; // 0 to 1
  step(place: number): number; // back again, any number between
}

/** The spacing of a training from its logged losses. */
export function spacing(at: readonly number[], loss: readonly number[], last: number): Spacing {
  const end = Math.max(last, 1);
  const steps = [0];
  const places = [0];
  const known = loss.filter(Number.isFinite);
  const first = known[0] ?? 0;
  const fall = first - Math.min(...known, first);
  let least = first;
  at.forEach((step, k) => {
    if (Number.isFinite(loss[k])) least = Math.min(least, loss[k]);
    if (step <= steps[steps.length - 1] || step > end) return;
    const learnt = fall > 0 ? (first - least) / fall : step / end;
    steps.push(step);
    places.push((step / end + learnt) / 2);
  });
  const top = places[places.length - 1];
  if (steps[steps.length - 1] < end) {
    steps.push(end);
    places.push(Math.max(1, top));
  }
  const whole = places[places.length - 1] || 1;
  for (let k = 0; k < places.length; k++) places[k] /= whole;
  return {
    place: (step) => between(step, steps, places),
    step: (place) => between(place, places, steps),
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
