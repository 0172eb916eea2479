// One update taken apart: the parts and the examples sum to what training did, for every optimiser.

import { expect, test } from "vitest";
import type { Examples, TaskData, TaskInfo, TrainSettings } from "../src/data/source";
import { Random } from "../src/learn/random";
import { Trainer, type Start } from "../src/learn/train";
import { Update } from "../src/learn/update";
import { slots, type Architecture } from "../src/model/architecture";

const a: Architecture = {
  vocabulary: 5, outputs: 5, context: 4, width: 3, blocks: 1, heads: 1, head_width: 2, feed_forward: 0, activation: "relu",
  norm: "layer", norm_place: "pre", norm_epsilon: 1e-5, final_norm: true, positions: "learned", causal: true, residual: true,
  attention: "on", output_projection: true, biases: ["read_out"], tied_embedding: false, score_scale: "head", dropout: 0,
  read_position: null, embedding_init: 1, linear_init: "fan_in",
};
const usual: TrainSettings = {
  seed: 3, steps: 60, batch: 4, optimiser: "adamw", rate: 0.05, momentum: 0.9, beta_1: 0.9, beta_2: 0.99, epsilon: 1e-8,
  decay: 0.1, decay_on: "matrices", clip: null, schedule: "constant", warmup: 5, final: 0, drop_every: 10, drop: 0.5, patience: 1,
};

function examples(random: Random, count: number): Examples {
  const windows = Int32Array.from({ length: count * 5 }, () => random.below(5));
  return {
    count, few: count, places: 4, windows, constrained: new Uint8Array(count * 4), answerable: new Uint8Array(count * 4),
    allowed: new Uint8Array(0), kind: new Int8Array(count * 4).fill(-1), source: new Int32Array(count * 4).fill(-1),
    truth: new Float32Array(count * 4).fill(-1.6),
  };
}

function begin(train: Partial<TrainSettings>, more: Partial<Start> = {}): Start {
  const random = new Random(8, 2);
  const text = Int32Array.from({ length: 80 }, (_, k) => (k + random.below(2)) % 5);
  const data: TaskData = {
    train: { tokens: text, starts: Int32Array.of(0), windows: Int32Array.of(70) }, order: "random",
    validation: examples(random, 8), fit: examples(random, 8), test: null, files: {},
  };
  const words = ["a", "b", "c", "d", "e"];
  const task: TaskInfo = {
    answers: "next", measure: "rule_error", exact: false, skip: 1, kinds: [], vocabulary: words, words, outputs: words, groups: {},
    showcase: [], reading: { kind: "spaces" }, truth: { kind: "unknown" },
  };
  const ladder = [1.61, 0.7].map((nats) => ({ name: String(nats), nats, reachable: true, accuracy: null, also: [] }));
  return { architecture: a, train: { ...usual, ...train }, task, ladder, data, ...more };
}

test.each<[string, Partial<TrainSettings>, string[]]>([
  ["adamw", { optimiser: "adamw" }, ["gradient", "momentum", "scaling", "decay"]],
  ["adam with clipping", { optimiser: "adam", clip: 0.05 }, ["gradient", "clipping", "momentum", "scaling"]],
  ["momentum on a cosine", { optimiser: "momentum", schedule: "cosine" }, ["gradient", "momentum"]],
  ["sgd on plateaus", { optimiser: "sgd", schedule: "plateau", log_every: 5 }, ["gradient"]],
])("%s: parts and examples sum to the change", (_, train, parts) => {
  const start = begin(train, { rates: [[20, 0.02]] });
  for (const step of [1, 20, 21, 37]) {
    const trained = new Trainer(start);
    trained.run(step - 1);
    const before = trained.params.slice();
    trained.run(1);
    const update = new Update(start, step);
    expect(update.agrees(trained.params)).toBe(true);
    expect(update.agrees(before)).toBe(false);
    for (const { name, shape, begin: first, size } of slots(a)) {
      for (const place of [first, first + size - 1]) {
        const found = update.weight(place);
        expect(found.change).toBeCloseTo(trained.params[place] - before[place], 9);
        const { rounding, ...told } = found.parts;
        const decayed = parts.includes("decay") && shape.length < 2 ? parts.filter((part) => part !== "decay") : parts;
        expect(Object.keys(told)).toEqual(decayed);
        expect(Math.abs(rounding), name).toBeLessThan(2e-7 * (Math.abs(before[place]) + 1));
        const pulled = found.pulls.reduce((sum, pull) => sum + pull, 0);
        expect(Math.abs(pulled - told.gradient), name).toBeLessThan(1e-7 + 1e-5 * Math.abs(told.gradient));
        expect(found.pulls).toHaveLength(4);
      }
    }
  }
});

test("a training that went on from a kept step is repeated from there", () => {
  const first = new Trainer(begin({}));
  first.run(30);
  const start = begin({ rate: 0.01 }, { params: first.params.slice(), step: 30 });
  const trained = new Trainer(start);
  trained.run(10);
  const update = new Update(start, 40);
  expect(update.agrees(trained.params)).toBe(true);
  expect(update.rate).toBeCloseTo(0.01, 7);
});

test("the examples are the batch's windows", () => {
  const { windows } = new Update(begin({}), 5);
  expect(windows).toHaveLength(4);
  for (const window of windows) {
    expect(window).toHaveLength(5);
    for (const token of window) expect(token).toBeGreaterThanOrEqual(0);
  }
});
