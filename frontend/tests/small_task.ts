// A task small enough for tests: tokens 0, 1 and 2; after a 2 comes the token before it, else anything.

import type { Examples, Rung, TaskData, TaskInfo, TrainSettings } from "../src/data/source";
import { Random } from "../src/learn/random";
import type { Architecture } from "../src/model/architecture";

export const CONTEXT = 5;

export const architecture: Architecture = {
  vocabulary: 3, outputs: 3, context: CONTEXT, width: 4, blocks: 1, heads: 2, head_width: 2, feed_forward: 6,
  activation: "relu", norm: "none", norm_place: "pre", norm_epsilon: 1e-5, final_norm: false, positions: "learned",
  causal: true, residual: true, attention: "on", output_projection: true, biases: ["feed_forward", "read_out"],
  tied_embedding: false, score_scale: "head", dropout: 0, embedding_init: 0.5, linear_init: "fan_in",
};

export const train: TrainSettings = {
  seed: 1, steps: 300, batch: 8, optimiser: "adamw", rate: 0.03, momentum: 0.9, beta_1: 0.9, beta_2: 0.999,
  epsilon: 1e-8, decay: 0.01, decay_on: "all", clip: null, schedule: "cosine", warmup: 10, final: 0, drop_every: 100,
  drop: 0.5, patience: 2,
};

export const task: TaskInfo = {
  answers: "next", measure: "rule_error", exact: true, skip: 0, kinds: ["0 back", "1 back", "2 back", "3 or more back"],
  vocabulary: ["0", "1", "2"], words: ["0", "1", "2"], outputs: ["0", "1", "2"], groups: { number: [0, 1], sign: [2] }, showcase: ["0 2 0"],
  reading: { kind: "spaces" }, truth: { kind: "unknown" },
};

export const ladder: Rung[] = ["uniform guess", "token frequencies", "last token", "the rule"].map((name, k) => ({
  name, nats: [Math.log(3), 1.05, 0.95, 0.6][k], reachable: true, accuracy: null, also: [],
}));

function drawn(random: Random, many: number): Int32Array {
  const tokens = new Int32Array(many);
  for (let k = 0; k < many; k++) tokens[k] = k > 1 && tokens[k - 1] === 2 ? tokens[k - 2] : random.below(3);
  return tokens;
}

function examples(random: Random, count: number): Examples {
  const places = CONTEXT;
  const windows = new Int32Array(count * (places + 1));
  for (let k = 0; k < count; k++) windows.set(drawn(random, places + 1), k * (places + 1));
  const found: Examples = {
    count, few: Math.ceil(count / 2), places, windows,
    constrained: new Uint8Array(count * places), answerable: new Uint8Array(count * places),
    allowed: new Uint8Array(count * places * 3).fill(1), kind: new Int8Array(count * places).fill(-1),
    source: new Int32Array(count * places).fill(-1), truth: new Float32Array(count * places).fill(-Math.log(3)),
  };
  for (let at = 0; at < count * places; at++) {
    const [window, place] = [Math.floor(at / places), at % places];
    const row = windows.subarray(window * (places + 1), (window + 1) * (places + 1));
    if (place < 1 || row[place] !== 2) continue;
    found.constrained[at] = found.answerable[at] = 1;
    found.allowed.fill(0, at * 3, at * 3 + 3);
    found.allowed[at * 3 + row[place - 1]] = 1;
    [found.kind[at], found.source[at], found.truth[at]] = [1, place - 1, 0];
  }
  return found;
}

export function data(order: "random" | "passes" = "random"): TaskData {
  const random = new Random(3, 9);
  const pieces = 20;
  const each = order === "random" ? 30 : CONTEXT + 1;
  const tokens = Int32Array.from(Array.from({ length: pieces }, () => Array.from(drawn(random, each))).flat());
  return {
    train: {
      tokens,
      starts: Int32Array.from({ length: pieces }, (_, k) => k * each),
      windows: new Int32Array(pieces).fill(each - CONTEXT),
    },
    order,
    validation: examples(random, 40),
    fit: examples(random, 40),
    test: null,
    files: {},
  };
}
