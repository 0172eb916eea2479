// The card of a number: its printed terms add up to what is printed, forwards and backwards, for every point of every
// kind of model; a link of any cell brings it back.

import { describe, expect, test } from "vitest";
import { init } from "../src/learn/init";
import { Random } from "../src/learn/random";
import { slots, type Architecture } from "../src/model/architecture";
import { place_of, read_cell, written_cell } from "../src/model/cells";
import { counted } from "../src/model/counted";
import { read } from "../src/model/edits";
import { Model } from "../src/model/model";
import { at, pulls, type Passed } from "../src/model/pulls";
import type { Cell, Numbers } from "../src/model/trace";
import { read_printed, summed } from "../src/page/digits";
import { foremost, made } from "../src/page/made";
import type { View } from "../src/panels/panel";

const plain: Architecture = {
  vocabulary: 7, outputs: 7, context: 6, width: 4, blocks: 2, heads: 2, head_width: 2, feed_forward: 5, activation: "gelu",
  norm: "layer", norm_place: "pre", norm_epsilon: 1e-5, final_norm: true, positions: "learned", causal: true, residual: true,
  attention: "on", output_projection: true, biases: ["attention", "projection", "feed_forward", "norm", "read_out"],
  tied_embedding: false, score_scale: "head", dropout: 0, read_position: null, embedding_init: 1, linear_init: "fan_in",
};
const SWITCHES: Record<string, Partial<Architecture>> = {
  plain: {},
  "post norms": { norm_place: "post" },
  "post norms, no feed-forward": { norm_place: "post", feed_forward: 0 },
  "post norms, no attention": { norm_place: "post", attention: "off", final_norm: false },
  "root mean square": { norm: "rms", activation: "relu", score_scale: "width" },
  "no norms, tied": { norm: "none", final_norm: false, tied_embedding: true, biases: ["read_out"], activation: "tanh" },
  "rotary positions": { positions: "rotary", head_width: 4 },
  sinusoids: { positions: "sinusoidal", biases: [] },
  "no positions, sees all": { positions: "none", causal: false },
  "mean attention": { attention: "mean" },
  "no attention": { attention: "off" },
  "no feed-forward": { feed_forward: 0, norm: "none", final_norm: false, blocks: 1, heads: 1, width: 2 },
  "no residual": { residual: false, norm: "none", final_norm: false },
  "no output projection": { output_projection: false },
  "nothing but a table": { attention: "off", feed_forward: 0 },
  "one answer": { outputs: 5, read_position: 5, causal: false },
};

/** A model on an input, its gradients, and the view a card is made from. */
function passed(a: Architecture, seed: number, edits = ""): { view: View; passed: Passed; after: Record<string, Numbers>; gradient: Float32Array } {
  const random = new Random(seed, 9);
  const params = init(a, seed).map((each) => each + 0.2 * random.normal());
  const tokens = Int32Array.from({ length: a.context }, () => random.below(a.vocabulary));
  const changes = read(edits).map((edit) => ({ edit }));
  const model = new Model(a, 1, a.context);
  model.forward(params, tokens);
  const before = edits ? model.trace() : null;
  model.forward(params, tokens, changes);
  const trace = model.trace();
  const targets = counted(Int32Array.from([...tokens, 1]), a, a.context, 1);
  model.lossGradient(targets);
  model.backward();
  const run = { architecture: a, slots: slots(a) };
  const view = { run, params, trace, before, params_before: null, edits } as unknown as View;
  const gradients = model.gradients(0, true);
  const unmasked = edits.includes("attention");
  return {
    view, after: model.gradients(), gradient: model.gradient.slice(),
    passed: { architecture: a, slots: slots(a), params, trace, gradients, targets, logit: null, unmasked },
  };
}

function any_cell({ shape }: { shape: readonly number[] }, random: Random): number[] {
  return shape.map((size) => random.below(size));
}

/** What is printed, as whole units of one power of ten. */
function units(texts: string[]): bigint[] {
  const found = texts.map(read_printed);
  const least = Math.min(...found.map((each) => each.power));
  return found.map((each) => each.units * 10n ** BigInt(each.power - least));
}

function adds_up(value: string, terms: string[]): void {
  const [whole, ...parts] = units([value, ...terms]);
  expect(parts.reduce((sum, each) => sum + each, 0n), `${terms.join(" + ")} is not ${value}`).toBe(whole);
}

/** Each printed term is its number, to less than one unit of the last digit. */
function true_to(texts: string[], numbers: readonly number[]): void {
  texts.forEach((text, k) => {
    const { units: many, power } = read_printed(text);
    expect(Math.abs(Number(many) * 10 ** power - numbers[k]), `${text} stands for ${numbers[k]}`).toBeLessThan(1.000001 * 10 ** power);
  });
}

function as_shown(rows: readonly { number: number }[], sum: ReturnType<typeof summed>): void {
  const numbers = rows.map((row) => row.number);
  expect(sum.left, `${numbers} leave something of the value`).toBeNull();
  true_to(sum.terms, numbers);
  for (const most of [2, 6]) {
    const { shown, rest } = foremost(numbers, most);
    adds_up(sum.value, [...shown.map((k) => sum.terms[k]), ...(rest.length ? [sum.together(rest)] : [])]);
  }
}

describe.each(Object.entries(SWITCHES))("%s", (_, switched) => {
  const a = { ...plain, ...switched };

  test("printed terms add up to the printed value", () => {
    const random = new Random(3, 1);
    for (let seed = 0; seed < 3; seed++) {
      const { view } = passed(a, seed);
      for (const [name, numbers] of Object.entries(view.trace.points)) {
        for (let k = 0; k < 4; k++) {
          const cell: Cell = { kind: "point", name, index: any_cell(numbers, random) };
          const found = made(cell, view);
          const value = at(numbers, cell.index);
          expect(found.edited).toBe(false);
          if (found.rows.length) as_shown(found.rows, found.sum);
          if (found.operation === "softmax") {
            const [whole, one] = [found.sum.value, found.sum.terms[found.rows.findIndex((row) => row.itself)]].map((text) => Number(read_printed(text).units));
            expect(Math.abs(one / whole - value)).toBeLessThan(1e-3);
          } else true_to([found.sum.value], [value]);
        }
      }
    }
  });

  test("what pulls adds up to the gradient", () => {
    const random = new Random(4, 1);
    for (let seed = 0; seed < 3; seed++) {
      const { passed: given, after, gradient } = passed(a, seed);
      const cells: [Cell, number][] = [];
      for (const [name, numbers] of Object.entries(after)) {
        for (let k = 0; k < 4; k++) {
          const index = any_cell(numbers, random);
          cells.push([{ kind: "point", name, index }, at(numbers, index)]);
        }
      }
      for (const slot of slots(a)) {
        for (let k = 0; k < 4; k++) {
          const index = any_cell(slot, random);
          cells.push([{ kind: "parameter", name: slot.name, index }, gradient[place_of(slot, index)]]);
        }
      }
      for (const [cell, expected] of cells) {
        const found = pulls(cell, given);
        const numbers = found.map((pull) => pull.contribution);
        const size = numbers.reduce((sum, each) => sum + Math.abs(each), 0);
        const total = numbers.reduce((sum, each) => sum + each, 0);
        expect(Math.abs(total - expected), `${written_cell(cell)}: ${total} is not ${expected}`).toBeLessThanOrEqual(1e-6 * size + 1e-9);
        if (Math.abs(expected) > 1e-6) as_shown(numbers.map((number) => ({ number })), summed(expected, numbers));
      }
    }
  });

  test("a link brings any cell back", () => {
    const random = new Random(5, 1);
    const { view } = passed(a, 0);
    const cells: Cell[] = [{ kind: "token", index: [3] }];
    for (const [name, numbers] of Object.entries(view.trace.points)) cells.push({ kind: "point", name, index: any_cell(numbers, random) });
    for (const slot of slots(a)) cells.push({ kind: "parameter", name: slot.name, index: any_cell(slot, random) });
    for (const cell of cells) expect(read_cell(written_cell(cell), a, a.context)).toEqual(cell);
  });
});

describe("with edits", () => {
  const edits = [
    "scale(scores, 0.5, block=0); set(attention, 0.25, block=1, head=0)",
    "zero(mixed, head=1); add(hidden_in, 0.3, block=1)",
    "mean(attended, block=0); scale(out, 1.5)",
    "scale(query, 2); zero(key, key_position=2); add(logits, 1, token=3)",
  ];
  test.each(edits)("%s: terms add up to the value before the edit, pulls to the gradient after it", (text) => {
    const random = new Random(6, 1);
    const { view, passed: given, after, gradient } = passed(plain, 5, text);
    let changed = 0;
    for (const [name, numbers] of Object.entries(view.trace.points)) {
      for (let k = 0; k < 12; k++) {
        const cell: Cell = { kind: "point", name, index: any_cell(numbers, random) };
        const found = made(cell, view);
        if (found.rows.length) as_shown(found.rows, found.sum);
        expect(found.value).toBe(at(numbers, cell.index));
        expect(found.untouched).toBe(at(view.before!.points[name], cell.index));
        if (found.edited) changed += 1;
        else if (found.operation !== "softmax") true_to([found.sum.value], [found.value]);
        if (!(name in after)) continue;
        const total = pulls(cell, given).reduce((sum, pull) => sum + pull.contribution, 0);
        expect(Math.abs(total - at(after[name], cell.index)), written_cell(cell)).toBeLessThan(1e-6);
      }
    }
    expect(changed).toBeGreaterThan(2);
    for (const slot of slots(plain)) {
      const index = any_cell(slot, random);
      const total = pulls({ kind: "parameter", name: slot.name, index }, given).reduce((sum, pull) => sum + pull.contribution, 0);
      expect(Math.abs(total - gradient[place_of(slot, index)]), slot.name).toBeLessThan(1e-6);
    }
  });
});

describe("links", () => {
  test.each([
    ["scores", "cell = 'scores' cannot be read; write it as scores[0, 0, 6, 4], blocks.0.query[1, 0] or token[3]"],
    ["scores[0, 0, 9, 1]", "query_position = '9' of scores is not between 0 and 5"],
    ["scores[0, 0, 1]", "cell = scores[0, 0, 1] does not name one place along each of: block, head, query_position, key_position"],
    ["blocks.0.query[1]", "cell = blocks.0.query[1] does not name one place along each of: row, column"],
    ["token[6]", "position = '6' of token is not between 0 and 5"],
    ["token[-1, 0]", "row = '-1' of token is not between 0 and 6"],
    ["score[0, 0, 1, 1]", "nothing called 'score' in this model (did you mean scores?)"],
  ])("%s is answered with a sentence", (text, sentence) => {
    expect(() => read_cell(text, plain, 6)).toThrow(sentence);
  });

  test("Python's way of writing is read, too", () => {
    const cell = read_cell("scores[block=0, head=1, query_position=5, key_position=3]", plain, 6);
    expect(cell).toEqual({ kind: "point", name: "scores", index: [0, 1, 5, 3] });
  });
});

describe("printing", () => {
  test("any sum adds up, whatever its size", () => {
    const random = new Random(7, 1);
    for (let k = 0; k < 3000; k++) {
      const scale = 10 ** (20 * random.uniform() - 12);
      const terms = Array.from({ length: 1 + random.below(40) }, () => Math.fround(scale * random.normal() * 10 ** (-3 * random.uniform())));
      const value = Math.fround(terms.reduce((sum, each) => sum + each, 0));
      as_shown(terms.map((number) => ({ number })), summed(value, terms));
    }
  });

  test("as a person would write it", () => {
    expect(summed(0.995, [1.0998, -0.1048]).terms).toEqual(["1.100", "−0.105"]);
    expect(summed(0, []).value).toBe("0.000");
    expect(summed(-1.5, []).value).toBe("−1.500");
    expect(summed(0.00002345, [0.00002, 0.00000345]).terms).toEqual(["2.000·10⁻⁵", "0.345·10⁻⁵"]);
    expect(summed(1234567, []).value).toBe("1.235·10⁶");
    expect(summed(NaN, [NaN, 1]).value).toBe("not a number");
    expect(summed(Infinity, [Infinity, 1]).terms).toEqual(["∞", "1.000"]);
  });

  test("what the terms leave is said, not spread over them", () => {
    const sum = summed(2, [0.5, 0.5]);
    expect(sum.left).toBe("1.000");
    adds_up(sum.value, [...sum.terms, sum.left!]);
  });
});
