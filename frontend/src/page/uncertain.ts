// How sure a model is: entropy, and what a temperature does to it. The formulas of canonical.py and _uncertain_run.py.

import { type Side, traced } from "./looking";
import type { Trace } from "../model/trace";

/** −Σ p ln p over a stretch of shares, in nats; not a number where one of them is none. */
export function entropy(shares: ArrayLike<number>, begin = 0, many = shares.length): number {
  let sum = 0;
  for (let k = begin; k < begin + many; k++) if (!(shares[k] <= 0)) sum -= shares[k] * Math.log(shares[k]);
  return sum;
}

/** The positions whose answers count: those that are asked; where nothing is, all of them. */
export function places(trace: Trace, targets: Int32Array | null): number[] {
  return [...trace.tokens.keys()].filter((k) => !targets || targets[k] >= 0);
}

/** The Boltzmann law at one place: entropy, mean energy above the likeliest answer's, specific heat, and −ln p of an answer. */
export function canonical(logits: Float32Array, position: number, outputs: number, temperature: number, answer = -1): { entropy: number; energy: number; heat: number; loss: number } {
  const begin = position * outputs;
  let top = -Infinity;
  for (let k = begin; k < begin + outputs; k++) if (logits[k] > top) top = logits[k];
  let [sum, first, second] = [0, 0, 0];
  for (let k = begin; k < begin + outputs; k++) {
    const above = top - logits[k];
    const weight = Math.exp(-above / temperature);
    sum += weight;
    first += weight * above;
    second += weight * above * above;
  }
  const energy = first / sum;
  const free = Math.log(sum);
  return {
    entropy: free + energy / temperature,
    energy,
    heat: (second / sum - energy * energy) / (temperature * temperature),
    loss: answer < 0 ? NaN : free + (top - logits[begin + answer]) / temperature,
  };
}

/** (block, head, query): entropy of the attention. */
export function attention_entropy(trace: Trace): Float32Array {
  const point = trace.points.attention;
  if (!point) return new Float32Array(0);
  const keys = point.shape[3];
  return Float32Array.from({ length: point.data.length / keys }, (_, row) => entropy(point.data, row * keys, keys));
}

export interface Uncertain {
  sides: Side[];
  targets: Int32Array | null;
  temperature: number;
}

/** Entropy of the answers, loss, and entropy of each head's attention, each a mean over an input. */
export function sureness(trace: Trace, targets: Int32Array | null, temperature: number): number[] {
  const { logits } = trace.points;
  const asked = places(trace, targets);
  const found = asked.map((k) => canonical(logits.data, k, logits.shape[1], temperature, targets?.[k] ?? -1));
  const mean = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, each) => sum + each, 0) / values.length;
  const heads = attention_entropy(trace);
  const length = trace.tokens.length;
  return [
    mean(found.map((each) => each.entropy)),
    mean(found.map((each) => each.loss)),
    ...Array.from({ length: heads.length / length }, (_, k) => mean(heads.subarray(k * length, (k + 1) * length))),
  ];
}

/** The same of several models at once. */
export function uncertain({ sides, targets, temperature }: Uncertain): number[][] {
  return sides.map((side) => sureness(traced(side), targets, temperature));
}
