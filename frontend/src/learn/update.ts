// Inside one update: how the batch's gradient, momentum, scaling and decay make a weight's change; and the gradient by
// example. The twin of analyses/path/one_update.py: the training is repeated from where it began, which is exact, as
// the batch of a step depends on the seed and the step alone.

import { type Architecture, slots } from "../model/architecture";
import { Model } from "../model/model";
import { type Start, Trainer } from "./train";

/** The update of all weights that led to a step. */
export class Update {
  readonly rate: number;
  readonly windows: number[][]; // of the batch: tokens, then what should be answered last
  private readonly trainer: Trainer;
  private readonly before: Float32Array;
  private readonly gradients: Float32Array[]; // of each example, as its share of the batch's; none with dropout

  /** Repeats a training up to a step, and takes apart the update that leads to it. */
  constructor(start: Start, readonly step: number) {
    const { architecture: a } = start;
    this.trainer = new Trainer(start);
    this.trainer.run(step - 1 - this.trainer.step);
    this.before = this.trainer.params.slice();
    const { batches, rate } = this.trainer.inside();
    batches.draw(this.trainer.step);
    const [tokens, targets] = [batches.tokens.slice(), batches.targets.slice()];
    this.windows = Array.from({ length: batches.batch }, (_, row) => window_of(tokens, targets, row, a.context));
    this.gradients = a.dropout > 0 ? [] : by_example(a, this.before, tokens, targets);
    this.trainer.run(1);
    this.rate = rate;
  }

  /** Whether it led where the training led that it repeats. */
  agrees(kept: Float32Array): boolean {
    const { params, step } = this.trainer;
    return step === this.step && kept.every((each, k) => each === params[k] || (each !== each && params[k] !== params[k]));
  }

  /** One weight's change, and the parts that sum to it, in the order in which the optimiser makes them. */
  weight(place: number): { change: number; parts: Record<string, number>; pulls: number[] } {
    const { rate } = this;
    const { optimiser, model } = this.trainer.inside();
    const { train, memory } = optimiser;
    const gradient = model.gradient[place];
    const before = this.before[place];
    const change = this.trainer.params[place] - before;
    const parts: Record<string, number> = { gradient: -rate * gradient };
    const scale = optimiser.clipped(model.gradient);
    if (train.clip !== null && train.clip !== undefined) parts.clipping = -rate * (scale - 1) * gradient;
    if (train.optimiser === "momentum") parts.momentum = -rate * (memory.first[place] - scale * gradient);
    if (train.optimiser === "adam" || train.optimiser === "adamw") {
      const mean = memory.first[place] / (1 - train.beta_1 ** memory.count);
      const root = Math.sqrt(memory.second[place] / (1 - train.beta_2 ** memory.count)) + train.epsilon;
      parts.momentum = -rate * (mean - scale * gradient);
      parts.scaling = -rate * (mean / root - mean);
    }
    if (optimiser.decays(place)) parts.decay = -rate * train.decay * before;
    const all = Object.values(parts).reduce((sum, part) => sum + part, 0);
    parts.rounding = change - all;
    return { change, parts, pulls: this.gradients.map((each) => -rate * each[place]) };
  }
}

/** The gradient of each example's share of the loss: the mean is over all predictions of the batch. */
function by_example(a: Architecture, params: Float32Array, tokens: Int32Array, targets: Int32Array): Float32Array[] {
  const model = new Model(a, 1, a.context);
  const all = targets.reduce((many, target) => many + (target < 0 ? 0 : 1), 0);
  const size = slots(a).reduce((sum, slot) => sum + slot.size, 0);
  return Array.from({ length: tokens.length / a.context }, (_, row) => {
    const own = targets.slice(row * a.context, (row + 1) * a.context);
    const many = own.reduce((count, target) => count + (target < 0 ? 0 : 1), 0);
    if (!many) return new Float32Array(size);
    model.answers(params, tokens.slice(row * a.context, (row + 1) * a.context));
    model.lossGradient(own);
    model.backward();
    return model.gradient.map((each) => (each * many) / all);
  });
}

function window_of(tokens: Int32Array, targets: Int32Array, row: number, context: number): number[] {
  const own = targets.subarray(row * context, (row + 1) * context);
  const last = [...own].reverse().find((target) => target >= 0) ?? -1;
  return [...tokens.subarray(row * context, (row + 1) * context), ...(last < 0 ? [] : [last])];
}
