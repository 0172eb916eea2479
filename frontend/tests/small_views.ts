// Views of models that were never trained, of every kind, and as much of the lab as a panel asks for.

import { OpenRun } from "../src/data/open.svelte";
import type { RunInfo } from "../src/data/source";
import { init } from "../src/learn/init";
import { Random } from "../src/learn/random";
import { type Architecture, parameters } from "../src/model/architecture";
import { read } from "../src/model/edits";
import { Model } from "../src/model/model";
import type { Lab } from "../src/page/lab.svelte";
import { type Page, start } from "../src/page/page";
import { spacing } from "../src/page/scale";
import type { View } from "../src/panels/panel";
import { data, ladder, train } from "./small_task";

export const tiny: Architecture = {
  vocabulary: 7, outputs: 7, context: 6, width: 2, blocks: 1, heads: 1, head_width: 2, feed_forward: 5, activation: "relu",
  norm: "none", norm_place: "pre", norm_epsilon: 1e-5, final_norm: false, positions: "learned", causal: true, residual: true,
  attention: "on", output_projection: false, biases: ["feed_forward", "read_out"], tied_embedding: false, score_scale: "head",
  dropout: 0, read_position: null, embedding_init: 1, linear_init: "fan_in",
};
const wide: Partial<Architecture> = { width: 8, heads: 2, head_width: 4, blocks: 2, output_projection: true, norm: "layer", biases: ["feed_forward", "norm", "read_out"] };

/** What can be switched, by what is unusual about it. */
export const KINDS: Record<string, Partial<Architecture>> = {
  tiny: {},
  "tiny, projected, two heads": { heads: 2, output_projection: true },
  "tiny, tied, a final norm": { tied_embedding: true, norm: "rms", final_norm: true, biases: [] },
  "pre norms": { ...wide, final_norm: true },
  "post norms, one answer": { ...wide, norm_place: "post", positions: "sinusoidal", causal: false, read_position: 0, outputs: 5 },
  "root mean square, rotary, tied": { ...wide, norm: "rms", positions: "rotary", tied_embedding: true, final_norm: true, biases: [] },
  "no feed-forward": { ...wide, feed_forward: 0 },
  "no attention": { attention: "off" },
  "mean attention": { ...wide, attention: "mean" },
  "nothing but a table": { attention: "off", feed_forward: 0 },
  "one feature": { width: 1, heads: 1, head_width: 1 },
};
export const STEPS = [0, 10, 200];

/** A run of three kept steps, the last of which may be broken. */
export function run_of(change: Partial<Architecture>, broken = false): OpenRun {
  const a = { ...tiny, ...change };
  const words = Array.from({ length: a.vocabulary }, (_, k) => (k === 3 ? "“<b>”" : `w${k}`));
  const one = a.read_position !== null && a.read_position !== undefined;
  const info = {
    id: "small", name: "small", title: "", status: "finished", parameters: parameters(a), members: 1, places: [0], seeds: [1], steps: STEPS, last_step: 200, kept: 3, floor: 1,
    floors: { validation: 1 }, ladder, experiment: { name: "small", task: "small", data: {}, architecture: a, train: { ...train, steps: 200 } }, analyses: [], facts: [[]], events: [],
    catalogue: [{ name: "loss", kind: "figures", section: "learn", title: "How much was learned", why_not: null, command: "glassformer figures small loss" }],
    task: {
      answers: one ? "one" : "next", measure: "rule_error", exact: true, skip: 0, kinds: [], vocabulary: words, words, outputs: words.slice(0, a.outputs), groups: {}, showcase: [""],
      reading: { kind: "spaces" }, truth: { kind: "unknown" },
    },
  } as unknown as RunInfo;
  const metrics = {
    step: STEPS,
    columns: { validation_loss: [[2.5], [2.2], [1.9]], train_loss: [[2.6], [2.2], [null]], excess: [[1.5], [1.2], [0.9]], rate: [[0], [0.03], [0.01]], "gradient.all": [[1], [0.5], [0.1]], "gradient.embedding": [[0.5], [0.2], [0.05]] },
  };
  const at = (step: number): Float32Array => {
    const random = new Random(9, step);
    return init(a, 3).map((each) => (broken && step === 200 ? NaN : each + 0.4 * random.normal()));
  };
  return new OpenRun(info, metrics, { steps: STEPS, at }, { ...data(), validation: data().validation });
}

/** What is seen of a run at a step, on an input as long as it takes, with edits. */
export function view_of(run: OpenRun, step: number, { edits = "", temperature = 1, seed = 5 } = {}): View {
  const { architecture: a } = run;
  const random = new Random(seed, 7);
  const tokens = Int32Array.from({ length: a.context }, () => random.below(a.vocabulary));
  const params = run.weights.at(step, 0);
  const model = new Model(a, 1, a.context);
  model.forward(params, tokens);
  const before = edits ? model.trace() : null;
  model.forward(params, tokens, read(edits).map((edit) => ({ edit })));
  return { run, member: 0, step, params, trace: model.trace(), before, params_before: null, edits, temperature, which: "a" };
}

/** As much of a lab as panels ask for. */
export function lab_of(view: View, page: Partial<Page> = {}): Lab {
  const { run } = view;
  return {
    page: { ...start, ...page }, run, view, theme: "light", playing: false, position: 0, block: 0, head: 0, member: 0, step: view.step, index: 0,
    spacing: spacing(run.metrics.step, [2.5, 2.2, 1.9], 200), source: { analysis: () => Promise.reject(new Error("none")) },
    predicting: { on: false, hides: () => false }, select() {}, explain() {},
    changing: { look: ({ step, tokens }: { step: number; tokens: Int32Array }) => ({ architecture: run.architecture, params: run.weights.at(step, 0), tokens, edits: [], untouched: null }) },
  } as unknown as Lab;
}
