// Which steps of a training are kept and logged: a function of the settings, as in plan.py, never of the clock.

import type { TaskData, TrainSettings } from "../data/source";

const JUDGING = 0.15; // of the arithmetic of the steps, for all judgements together
const ONE_WINDOW = 0.6; // judging it, of the time of a step on it, as measured: going back is quicker here than forward
const FEWEST = 20; // lines
const MOST = 200;
const EARLY = 200; // steps that are kept one by one, where there is room
const KEPT_BYTES = 16_000_000; // of kept weights
const KEPT = 2_000; // more than a slider has places

export interface Plan {
  kept: Set<number>;
  logged: Set<number>;
  all: boolean; // every line is judged on all windows; else the last one alone, and the others on few
}

/** The plan of a training from a step on. */
export function plan(train: TrainSettings, data: TaskData, parameters: number, from = 0): Plan {
  const parts = [data.fit, data.validation, ...(data.test ? [data.test] : [])];
  const decides = train.schedule === "plateau" || typeof train.stop_after === "number";
  const given = typeof train.log_every === "number" ? train.log_every : null;
  const steps = train.steps - from;
  const whole = parts.reduce((all, part) => all + part.count, 0);
  const few = parts.reduce((all, part) => all + part.few, 0);
  let logged: number[];
  if (given !== null || decides) {
    const every = given ?? Math.max(1, Math.floor(steps / MOST), Math.min(25, Math.floor(steps / 20)));
    logged = [train.steps];
    for (let step = from; step < train.steps; step += every) logged.push(step);
  } else {
    const budget = (JUDGING / ONE_WINDOW) * steps * train.batch - whole; // the last line paid for
    const lines = Math.min(MOST, Math.max(FEWEST, Math.floor(budget / few)));
    logged = spread(from, train.steps, lines + 1);
  }
  const room = Math.max(2, Math.min(KEPT, Math.floor(KEPT_BYTES / (4 * parameters))));
  const judged = room > 2 * logged.length ? logged : []; // what a line tells of can be looked at, where there is room
  const early = Math.min(EARLY, Math.floor((room - judged.length) / 2), steps);
  const kept = new Set([...judged, ...spread(from, train.steps, room - judged.length - early)]);
  for (let k = 0; k < early; k++) kept.add(from + k);
  return { kept, logged: new Set(logged), all: decides };
}

/** At most so many steps, the first and the last among them: half evenly in the logarithm, half evenly over all. */
export function spread(from: number, to: number, most: number): number[] {
  const last = to - from;
  if (last + 1 <= most) return Array.from({ length: last + 1 }, (_, k) => from + k);
  const many = Math.max(most, 2);
  const half = Math.floor(many / 2);
  const found = new Set([from, to]);
  for (let k = 0; k < many - half; k++) found.add(from + Math.round((last * k) / (many - half)));
  for (let k = 0; k < half - 1; k++) found.add(from + Math.round(last ** (k / Math.max(half - 1, 1))));
  for (let k = 1; found.size < many; k++) found.add(from + k); // the two share some steps
  return [...found].sort((a, b) => a - b).slice(0, many - 1).concat(to);
}
