// The learning rate at every step: the twin of `schedule` in optimiser.py.

import type { TrainSettings } from "../data/source";

/** The rate of step t (the first is 0), before a plateau lowers it; a 32-bit number, as Python's is. */
export function rate(train: TrainSettings, t: number): number {
  const warmup = Math.min(train.warmup, Math.floor(train.steps / 2));
  if (t < warmup) {
    const first = train.rate / (warmup + 1); // never quite zero
    return Math.fround((first - train.rate) * (1 - t / warmup) + train.rate);
  }
  return Math.fround(after(train, t - warmup, train.steps - warmup));
}

function after(train: TrainSettings, t: number, steps: number): number {
  if (train.schedule === "cosine") {
    const fallen = 0.5 * (1 + Math.cos((Math.PI * Math.min(t, steps)) / steps));
    return train.rate * ((1 - train.final) * fallen + train.final);
  }
  if (train.schedule === "step") return train.rate * train.drop ** Math.floor(t / train.drop_every);
  return train.rate;
}
