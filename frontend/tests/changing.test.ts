// Rows of changes and the other side of a comparison, as the link carries them; what repeats them elsewhere; differences.

import { describe, expect, test } from "vitest";
import type { Architecture } from "../src/model/architecture";
import { slots } from "../src/model/architecture";
import { apart, coarse_to_fine, thinned } from "../src/page/along.svelte";
import { hindrance, row, rows, rows_of, set, texts, with_set } from "../src/page/changes";
import { difference, largest } from "../src/page/differing";
import { model, traced, type Side } from "../src/page/looking";
import { moved } from "../src/page/moving";
import { type Other, read_other, write_other } from "../src/page/other";
import { fromHash } from "../src/page/link";
import { start, toHash } from "../src/page/page";
import { option, phrase } from "../src/page/repeating";
import { turned } from "../src/page/turned";
import type { View } from "../src/panels/panel";

const a: Architecture = {
  vocabulary: 5, outputs: 5, context: 4, width: 3, blocks: 2, heads: 2, head_width: 2, feed_forward: 6, activation: "relu",
  norm: "none", norm_place: "pre", norm_epsilon: 1e-5, final_norm: false, positions: "learned", causal: true, residual: true,
  attention: "on", output_projection: true, biases: [], tied_embedding: false, score_scale: "head", dropout: 0,
  read_position: null, embedding_init: 1, linear_init: "fan_in",
};
const places = slots(a);
const params = Float32Array.from({ length: places.reduce((sum, slot) => sum + slot.size, 0) }, (_, k) => Math.sin(1 + 3 * k));

describe("rows", () => {
  const link = {
    edits: 'zero(mixed, block=0, head=1); patch(out, from="a; b", step=5); add(middle, 1.5, position=0-3)',
    off: "1,3",
    weights: "weights.token[3]=[1.5, -2]; weights.blocks.0.query[1, 0]=0.25",
  };

  test("come back from the link as they were, through its escapes", () => {
    expect(texts(rows(link))).toEqual(link);
    const page = { ...start, ...link, mode: "change" };
    expect(fromHash(toHash(page)).page).toEqual(page);
    expect(texts(rows(fromHash(toHash(page)).page))).toEqual(link);
  });

  test("are one for an edit, one for a weight, and one for all numbers of a token's vector", () => {
    const found = rows(link);
    expect(found.map((each) => each.off)).toEqual([false, true, false, true, false]);
    expect(found.map((each) => each.weights.length)).toEqual([0, 0, 0, 2, 1]);
    expect(found[1].edit).toEqual({ verb: "patch", point: "out", from: "a; b", step: 5 });
  });

  test("keep their places when one is taken away, off or not", () => {
    const found = rows(link);
    expect(texts(found.slice(1))).toEqual({ ...link, edits: 'patch(out, from="a; b", step=5); add(middle, 1.5, position=0-3)', off: "0,2" });
  });

  test("that cannot be read stay, say why, and leave the others in force", () => {
    const found = rows({ edits: "zero(mixd); zero(fed); ) ;", off: "", weights: "token[0, 0]=x; weights.nothing[0]=1" });
    expect(found.map((each) => each.edit?.point ?? each.weights[0]?.name ?? "?")).toEqual(["?", "fed", "?", "?", "nothing"]);
    expect(found[0].problem).toContain("did you mean mixed?");
    expect(found[3].problem).toContain("cannot be read as a weight");
    expect(texts(found).edits).toBe("zero(mixd); zero(fed); )");
  });

  test("say what the model has no place for", () => {
    const why = (text: string, length = 4) => hindrance(row(text), a, places, length);
    expect(why("zero(mixed, head=1)")).toBe("");
    expect(why("zero(mixed, head=2)")).toContain("this model has no head 2; there are 0 to 1");
    expect(why("zero(out, position=3)", 2)).toContain("this input has no position 3; there are 0 to 1");
    expect(why("weights.token[4, 2]=1")).toBe("");
    expect(why("weights.token[5, 0]=1")).toBe("token[5, 0] is not a place of token, which is 5 × 3; places count from 0");
    expect(why("weights.token[1]=1")).toContain("not a place of token");
    expect(why("weights.read_out_bias[0]=1")).toContain("this model has no parameter read_out_bias; it has: token, position,");
  });

  test("of weights: setting one again keeps its place, turns it on, and leaves the rest of the vector", () => {
    const found = with_set(rows(link), [{ name: "token", index: [3, 0], value: 9 }]);
    expect(texts(found).weights).toBe("weights.token[3]=[9, -2]; weights.blocks.0.query[1, 0]=0.25");
    expect(texts(found).off).toBe("1");
    const last = with_set(with_set([], [{ name: "token", index: [3, 1], value: 1 }]), [{ name: "token", index: [3, 0], value: 2 }]);
    expect(texts(last).weights).toBe("weights.token[3]=[2, 1]");
    const more = with_set(found, [{ name: "position", index: [0, 1], value: 1 }]);
    expect(more.map((each) => each.weights[0]?.name)).toEqual([undefined, undefined, undefined, "token", "blocks.0.query", "position"]);
  });

  test("of weights set exactly the numbers they name, in a copy", () => {
    const slot = places.find((each) => each.name === "blocks.1.contract")!;
    const found = set(params, places, rows_of("weights.blocks.1.contract[4, 2]=7")[0].weights);
    expect([...found].flatMap((value, k) => (value === params[k] ? [] : [[k, value]]))).toEqual([[slot.begin + 4 * 3 + 2, 7]]);
    expect(set(params, places, [])).toBe(params);
  });
});

describe("what repeats a change elsewhere", () => {
  const say = (text: string) => phrase(row(text), ["nought", "one", "two", "three", "four"]);

  test("reads as a sentence", () => {
    expect(say("zero(mixed, block=0, head=0)")).toBe("zero · mixed · block 0 · head 0");
    expect(say("scale(attended, -0.5, position=[0-2, 4])")).toBe("scale · attended · × −0.5 · position 0–2, 4");
    expect(say('patch(out, from="a b", step=-1, run="r", member=2, block=1)')).toBe("patch · out · from “a b” · last step · run r · member 2 · block 1");
    expect(say("weights.token[3, 1]=-0.25")).toBe("token three · feature 1 = −0.250");
    expect(say("weights.token[3]=[1, 2, 3, 4]")).toBe("token three · 4 features set");
  });

  test("is one word of a shell, whatever stands in it", () => {
    expect(option([row(`patch(out, from="it's")`), row("weights.token[0, 0]=1")])).toBe(`--edit 'patch(out, from="it'\\''s")'`);
  });
});

describe("the other side", () => {
  const sides: Other[] = [
    {}, { step: 200 }, { step: -1 }, { back: -10 }, { member: 3 }, { edits: "a" }, { edits: "b" }, { input: "4, 9: + edits,step:3" },
    { run: "plus_last_even-18", member: 1, step: 0, edits: "b", input: "" },
  ];

  test("comes back from the link as it was, whatever its input holds", () => {
    for (const other of sides) {
      expect(read_other(write_other(other))).toEqual(other);
      const page = { ...start, b: write_other(other) };
      expect(fromHash(toHash(page)).page.b).toBe(page.b);
    }
    expect(write_other({ step: 200 })).toBe("step:200");
    expect(write_other({ edits: "a" })).toBe("edits");
  });

  test("leaves out what it cannot read, with a sentence, and keeps the rest", () => {
    for (const wrong of ["step:x", "step:-2", "member:-1", "members:1", "edits:c", "step:1e3", "run:", "toString:1"]) {
      const { page, notes } = fromHash(`#v1&b=back:2,${wrong}`);
      expect(page.b).toBe("back:2");
      expect(notes).toEqual([expect.stringContaining(`b = “${wrong}” in the link is not used: it is not one of step:200`)]);
    }
  });
});

describe("edits in a look", () => {
  const tokens = Int32Array.from([1, 4, 0]);
  const side = (...written: string[]): Side => ({ architecture: a, params, tokens, edits: written.map((text) => ({ edit: row(text).edit! })) });
  const bits = (of: Side) => Object.entries(traced(of).points).map(([name, { data }]) => [name, ...new Uint32Array(data.buffer, data.byteOffset, data.length)]);

  test("scaling by 1 and patching from itself change no bit", () => {
    const plain = bits(side());
    for (const point of Object.keys(traced(side()).points)) {
      expect(bits(side(`scale(${point}, 1)`))).toEqual(plain);
      const patched: Side = { ...side(), edits: [{ edit: row(`patch(${point}, step=0)`).edit!, source: { architecture: a, params, tokens: null } }] };
      expect(bits(patched)).toEqual(plain);
    }
  });

  test("patching what enters from another input gives that input's answer", () => {
    const other = Int32Array.from([2, 2, 3]);
    const patched: Side = { ...side(), edits: [{ edit: row('patch(embedded, from="x")').edit!, source: { architecture: a, params, tokens: other } }] };
    expect(traced(patched).points.logits.data).toEqual(traced({ ...side(), tokens: other }).points.logits.data);
    expect(traced(patched).points.logits.data).not.toEqual(traced(side()).points.logits.data);
    expect(model(a, 1, 3)).toBe(model(a, 1, 3));
  });
});

test("moving a token puts it where it was dragged, and leaves what the plane does not show", () => {
  const root = Math.SQRT1_2;
  const plane = { project: (v: ArrayLike<number>): [number, number] => [root * (v[0] + v[2]), v[1]], x: "", y: "", stated: "" };
  const view = { params, run: { architecture: a, slots: places } } as unknown as View;
  const found = set(params, places, moved(view, 2, plane, [4, -1]));
  const [before, after] = [params, found].map((each) => each.subarray(6, 9));
  const [x, y] = plane.project(after);
  expect(x).toBeCloseTo(4, 2);
  expect(y).toBeCloseTo(-1, 2);
  expect(after[0] - after[2]).toBeCloseTo(before[0] - before[2], 2);
  expect(found.subarray(9)).toEqual(params.subarray(9));
});

describe("differences", () => {
  const table = (numbers: number[]) => ({ head: ["block", "token", "feature 0", "feature 1"], rows: [[0, "+", numbers[0], numbers[1]], [1, "7", numbers[2], numbers[3]]] });

  test("are of the numbers, not of what they are numbers of", () => {
    expect(difference(table([1, 2, 3, 4]), table([1, 0, 5, 4]))?.rows).toEqual([[0, "+", 0, 2], [1, "7", -2, 0]]);
    expect(difference(table([1, 2, 3, 4]), { head: ["block"], rows: [] })).toBe(null);
    expect(largest(table([1, 2, 3, 4]), table([1, 0, 9, 4]), 5)).toEqual([
      { name: "block 1 · 7 · feature 0", a: 3, b: 9 },
      { name: "block 0 · + · feature 1", a: 2, b: 0 },
    ]);
  });

  test("of answers are the share of the chances that would have to move", () => {
    expect(apart([0.5, 0.5, 0], [0.25, 0.25, 0.5])).toBeCloseTo(0.5);
    expect(apart([1, 0], [0, 1])).toBe(1);
    expect(apart([1], [0.5, 0.5])).toBeNaN();
  });
});

test("a curve is worked out from coarse to fine, over all steps", () => {
  const steps = Array.from({ length: 1000 }, (_, k) => 3 * k);
  expect(thinned(steps, 5)).toEqual([0, 750, 1500, 2247, 2997]);
  const order = coarse_to_fine(thinned(steps, 400));
  expect([...order].sort((one, other) => one - other)).toEqual(thinned(steps, 400));
  const gap = (some: number[]) => Math.max(...[...some].sort((x, y) => x - y).map((each, k, all) => (k ? each - all[k - 1] : 0)));
  for (const many of [4, 16, 64]) expect(gap(order.slice(0, many + 1))).toBeLessThan((2.6 * 3000) / many);
  expect(coarse_to_fine([])).toEqual([]);
});

test("planes that are turned or mirrored images of one another are drawn alike", () => {
  const points = [[1, 0], [0.5, 2], [-1, 0.3], [0.2, -0.7]] as const;
  const [cos, sin] = [Math.cos(2.1), Math.sin(2.1)];
  for (const mirror of [1, -1]) {
    const other = points.map(([x, y]) => [cos * x - sin * mirror * y, sin * x + cos * mirror * y] as const);
    turned(other, points).forEach(([x, y], k) => {
      expect(x).toBeCloseTo(points[k][0]);
      expect(y).toBeCloseTo(points[k][1]);
    });
  }
});
