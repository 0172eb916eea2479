// From gradients to steps: the twin of `direction` in optimiser.py, on one flat vector and in place.

import type { TrainSettings } from "../data/source";
import { type Architecture, slots } from "../model/architecture";

/** What the rule remembers from step to step; vectors that a rule does not need have no length. */
export interface Memory {
  count: number; // updates so far
  first: Float32Array; // momentum, or Adam's mean of the gradient
  second: Float32Array; // Adam's mean of its square
}

export class Optimiser {
  readonly memory: Memory;
  readonly update: Float32Array; // the last one: what was added to the parameters
  private readonly decayed: Uint8Array; // 1 for every number that decays

  constructor(
    readonly train: TrainSettings,
    architecture: Architecture,
    memory?: Memory,
  ) {
    const places = slots(architecture);
    const size = places.reduce((all, slot) => all + slot.size, 0);
    const adam = train.optimiser === "adam" || train.optimiser === "adamw";
    this.update = new Float32Array(size);
    this.memory = memory ?? {
      count: 0,
      first: new Float32Array(train.optimiser === "sgd" ? 0 : size),
      second: new Float32Array(adam ? size : 0),
    };
    this.decayed = new Uint8Array(train.optimiser === "adamw" && train.decay > 0 ? size : 0);
    for (const slot of this.decayed.length ? places : []) {
      if (train.decay_on === "all" || slot.shape.length > 1) this.decayed.fill(1, slot.begin, slot.begin + slot.size);
    }
  }

  /** One step: parameters and memory move, the gradient stays as it is. */
  step(params: Float32Array, gradient: Float32Array, rate: number): void {
    const { train, memory, update } = this;
    const scale = this.clipped(gradient);
    memory.count += 1;
    if (train.optimiser === "sgd") {
      for (let k = 0; k < params.length; k++) update[k] = -rate * scale * gradient[k];
    } else if (train.optimiser === "momentum") {
      const { first } = memory;
      for (let k = 0; k < params.length; k++) {
        first[k] = scale * gradient[k] + train.momentum * first[k];
        update[k] = -rate * first[k];
      }
    } else this.adam(params, gradient, rate, scale);
    for (let k = 0; k < params.length; k++) params[k] += update[k];
  }

  private adam(params: Float32Array, gradient: Float32Array, rate: number, scale: number): void {
    const { memory, update, decayed } = this;
    const { first, second } = memory;
    const { beta_1, beta_2, epsilon, decay } = this.train;
    const decays = decayed.length > 0;
    const grown_1 = 1 / (1 - beta_1 ** memory.count); // both means begin at zero, which this makes up for
    const grown_2 = 1 / (1 - beta_2 ** memory.count);
    for (let k = 0; k < params.length; k++) {
      const g = scale * gradient[k];
      const m = (first[k] = beta_1 * first[k] + (1 - beta_1) * g);
      const v = (second[k] = beta_2 * second[k] + (1 - beta_2) * g * g);
      let direction = (m * grown_1) / (Math.sqrt(v * grown_2) + epsilon);
      if (decays && decayed[k]) direction += decay * params[k];
      update[k] = -rate * direction;
    }
  }

  /** Whether a number decays. */
  decays(place: number): boolean {
    return this.decayed[place] === 1;
  }

  /** By what the whole gradient is multiplied so that it is no longer than the settings allow. */
  clipped(gradient: Float32Array): number {
    const most = this.train.clip;
    if (most === null || most === undefined) return 1;
    let square = 0;
    for (let k = 0; k < gradient.length; k++) square += gradient[k] * gradient[k];
    const size = Math.sqrt(square);
    return size < most ? 1 : most / size;
  }
}
