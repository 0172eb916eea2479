// What the parity with Python (tests/test_page_model.py) does not see: dropout, weights set by hand, refusals, copies.

import { expect, test } from "vitest";
import { erf } from "../src/model/activation";
import { type Architecture, parameters, part, slots } from "../src/model/architecture";
import { check } from "../src/model/editing";
import { parse, python_number, read_weights, written_weights } from "../src/model/edits";
import { point } from "../src/model/glossary";
import { Model } from "../src/model/model";

const PLUS: Architecture = {
  vocabulary: 12, outputs: 12, context: 8, width: 2, blocks: 1, heads: 1, head_width: 2, feed_forward: 32,
  activation: "relu", norm: "none", norm_place: "pre", norm_epsilon: 1e-5, final_norm: false, positions: "learned",
  causal: true, residual: true, attention: "on", output_projection: false, biases: ["feed_forward", "norm", "read_out"],
  tied_embedding: false, score_scale: "head", dropout: 0, read_position: null, embedding_init: 0.5,
  linear_init: "fan_in",
};
const DEEP: Architecture = {
  ...PLUS, vocabulary: 5, outputs: 5, context: 6, width: 4, blocks: 2, heads: 2, feed_forward: 6, norm: "layer",
  output_projection: true, activation: "tanh",
};

/** Numbers from 0 to below 1, the same ones every time. */
function chance(seed: number): () => number {
  let state = seed + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function drawn(a: Architecture, seed = 1): Float32Array {
  const next = chance(seed);
  return Float32Array.from({ length: parameters(a) }, () => 1.6 * next() - 0.8);
}

const TOKENS = Int32Array.from([0, 1, 2, 3, 4, 0, 4, 4, 1, 2, 2, 3]);
const TARGETS = Int32Array.from([1, 2, -1, 4, 0, 3, 4, -1, 2, 2, 3, 0]);

test("the first experiment has 250 parameters, one after the other", () => {
  expect(parameters(PLUS)).toBe(250);
  const found = slots(PLUS);
  found.reduce((end, slot) => (expect(slot.begin).toBe(end), end + slot.size), 0);
  expect(found.map((slot) => `${slot.name} ${part(slot.name)}`)).toEqual([
    "token embedding", "position positions", "blocks.0.query attention_0", "blocks.0.key attention_0",
    "blocks.0.value attention_0", "blocks.0.expand feed_forward_0", "blocks.0.expand_bias feed_forward_0",
    "blocks.0.contract feed_forward_0", "blocks.0.contract_bias feed_forward_0", "read_out read_out",
    "read_out_bias read_out",
  ]);
});

test("the error function has all digits", () => {
  const table = [ // Abramowitz and Stegun, 7.1
    [0, 0], [0.1, 0.1124629160182849], [0.5, 0.5204998778130465], [1, 0.8427007929497149],
    [2.5, 0.999593047982555], [7, 1],
  ];
  for (const [x, value] of table) {
    expect(erf(x)).toBeCloseTo(value, 14);
    expect(erf(-x)).toBeCloseTo(-value, 14);
  }
  expect(erf(NaN)).toBeNaN();
});

test("dropout leaves out its share, and what grows is handed back", () => {
  const a = { ...DEEP, dropout: 0.3, norm_epsilon: 0.1 }; // a row of which little is left is bent sharply by its norm
  const model = new Model(a, 2, 6);
  const params = drawn(a);
  const loss = (moved: Float32Array) => {
    model.answers(moved, TOKENS, chance(7)); // the same ones are dropped every time
    return model.lossGradient(TARGETS);
  };
  const before = loss(params);
  model.backward();
  const gradient = model.gradient.slice();
  const size = Math.hypot(...gradient);
  const moved = (way: number) => loss(params.map((x, k) => x + (way * gradient[k]) / size));
  expect((moved(0.01) - moved(-0.01)) / 0.02 / size).toBeCloseTo(1, 3);
  model.answers(params, TOKENS);
  expect(Math.abs(model.lossGradient(TARGETS) - before)).toBeGreaterThan(0.01); // without chance nothing is dropped

  const wide = new Model({ ...a, width: 4000, heads: 1, head_width: 4000, attention: "off", feed_forward: 0 }, 1, 1);
  wide.answers(new Float32Array(wide.gradient.length).fill(1), Int32Array.of(0), chance(3));
  const { data } = wide.trace().points.final;
  const kept = data.filter((x) => x !== 0);
  expect(kept.length / 4000).toBeCloseTo(0.7, 1);
  for (const x of kept) expect(x).toBeCloseTo(2 / 0.7, 5);
});

test("a patch from a model gives every example its own", () => {
  const [a, params] = [DEEP, drawn(DEEP)];
  const there = new Model(a, 2, 6);
  there.forward(drawn(a, 5), TOKENS);
  const edit = parse("patch(value, step=3, head=1, key_position=2-4)");
  const together = new Model(a, 2, 6);
  together.forward(params, TOKENS, [{ edit, there }]);
  const alone = new Model(a, 1, 6);
  for (const example of [0, 1]) {
    alone.forward(params, TOKENS.subarray(6 * example, 6 * example + 6), [{ edit, there: there.trace(example) }]);
    expect(alone.trace().points).toEqual(together.trace(example).points);
  }
  expect(() => alone.forward(params, TOKENS.subarray(0, 6), [{ edit, there }])).toThrow("no numbers of this size");
  expect(() => alone.forward(params, TOKENS.subarray(0, 6), [{ edit }])).toThrow("nothing is given to take from");
});

test("a trace is a copy", () => {
  const model = new Model(DEEP, 1, 3);
  model.forward(drawn(DEEP), TOKENS.subarray(0, 3));
  const trace = model.trace();
  const before = structuredClone(trace);
  model.forward(drawn(DEEP, 2), TOKENS.subarray(3, 6));
  expect(trace).toEqual(before);
  expect(model.trace()).not.toEqual(before);
});

test("a diverged model is looked at like any other", () => {
  const model = new Model(DEEP, 1, 6);
  const params = drawn(DEEP);
  params[0] = NaN;
  model.forward(params, TOKENS.subarray(0, 6));
  expect(model.trace().points.logits.data[0]).toBeNaN();
  expect(model.lossGradient(TARGETS.subarray(0, 6))).toBeNaN();
});

test("what does not fit is refused in a sentence", () => {
  expect(() => new Model(PLUS, 1, 9)).toThrow("9 tokens are not between 1 and context = 8");
  expect(() => new Model(PLUS, 1, 2).forward(drawn(PLUS), Int32Array.of(3, 12))).toThrow(
    "token 12 at position 1 is not between 0 and 11",
  );
  expect(() => check(parse("zero(scores, head=1)"), PLUS)).toThrow("this model has no head 1; there is only 0");
  expect(() => check(parse("zero(out, position=7)"), PLUS, 3)).toThrow("this input has no position 7; there are 0");
  const mean: Architecture = { ...PLUS, attention: "mean" };
  expect(() => check(parse("zero(scores)"), mean)).toThrow("this model has no scores; it has: token_embedding");
  expect(() => point("blocks.0.attn.hook_rot_q", PLUS)).toThrow("is called attn.hook_q in TransformerLens");
  expect(() => point("blocks.1.hook_resid_pre", PLUS)).toThrow("this model has no block 1; it has 1, counted from 0");
});

test("weights are written and read", () => {
  const text = "weights.blocks.0.query[1, 0]=0.5; weights.read_out_bias[11]=-3e-05; weights.token[0, 1]=7";
  const found = read_weights(text);
  expect(found[0]).toEqual({ name: "blocks.0.query", index: [1, 0], value: 0.5 });
  expect(written_weights(found)).toBe(text);
  const vector = "weights.token[3]=[0.5, -1, 2]; weights.token[4, 1]=1; weights.token[5, 0]=2";
  expect(read_weights(vector).slice(1, 3)).toEqual([{ name: "token", index: [3, 1], value: -1 }, { name: "token", index: [3, 2], value: 2 }]);
  expect(written_weights(read_weights(vector))).toBe(vector);
  expect(read_weights("  ")).toEqual([]);
  for (const wrong of ["token[0, 1]", "token[a]=1", "token[]=1", "token[-1]=2", "token[0]=x", "[0]=1", "token[0]=[]", "token[0]=[1"]) {
    expect(() => read_weights(`weights.${wrong}`)).toThrow("write it as weights.blocks.0.query[1, 0]=0.5");
  }
  expect(() => read_weights("token[0]=1")).toThrow("'token[0]=1' cannot be read as a weight");
  expect(() => read_weights("weights.token[0]=1e39")).toThrow("1e39 is not a number up to 3.4e+38");
});

test("numbers are written as Python writes them", () => {
  const written = [0, -0, 1, 0.1, 1e-4, 1e-5, 1.5e-7, 1e15, 1e16, 123456789012345680, 1 / 3].map(python_number);
  expect(written).toEqual([
    "0.0", "-0.0", "1.0", "0.1", "0.0001", "1e-05", "1.5e-07", "1000000000000000.0", "1e+16", "1.2345678901234568e+17",
    "0.3333333333333333",
  ]);
});
