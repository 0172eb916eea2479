// Every panel draws every kind of model; what it computes on the way agrees with the model itself.

import { render } from "svelte/server";
import { describe, expect, test } from "vitest";
import { chosen } from "../src/page/chosen";
import { type Label, put } from "../src/page/labels";
import { lens } from "../src/page/lens";
import { start } from "../src/page/page";
import { mean, sides } from "../src/page/paint";
import { attention_entropy, canonical, entropy } from "../src/page/uncertain";
import { votes } from "../src/page/votes";
import type { Panel } from "../src/panels/panel";
import de from "../src/words/de.json";
import en from "../src/words/en.json";
import Given from "./Given.svelte";
import { KINDS, STEPS, lab_of, run_of, view_of } from "./small_views";

const panels = Object.values(import.meta.glob<Panel>("../src/panels/*.svelte", { eager: true })).sort((one, other) => one.about.order - other.about.order);
const named = Object.fromEntries(panels.map((panel) => [panel.about.name, panel.about]));

test("every panel has a place of its own, a title and what to look for", () => {
  expect(panels.length).toBeGreaterThanOrEqual(16);
  for (const key of ["name", "order"] as const) expect(new Set(panels.map(({ about }) => about[key])).size).toBe(panels.length);
  for (const { about } of panels) for (const words of [en, de] as Record<string, string>[]) {
    for (const part of ["title", "look"]) expect(words[`panel.${about.name}.${part}`], `${about.name} ${part}`).toBeTruthy();
  }
});

describe.each(Object.keys(KINDS))("%s", (kind) => {
  const run = run_of(KINDS[kind]);

  test("panels that have nothing to draw say why", () => {
    for (const { about } of panels) {
      const why = about.absent?.(run) ?? null;
      if (why !== null) expect((en as Record<string, string>)[why], about.name).toBeTruthy();
    }
    const a = run.architecture;
    const missing = panels.filter(({ about }) => about.absent?.(run)).map(({ about }) => about.name);
    expect(missing.includes("attention")).toBe(a.attention === "off");
    expect(missing.includes("feed_forward")).toBe(a.feed_forward === 0);
    expect(missing.includes("landscape")).toBe(a.width !== 2);
  });

  test.each(panels.map(({ about }) => about.name))("%s", (name) => {
    const panel = panels.find(({ about }) => about.name === name)!;
    if (panel.about.absent?.(run)) return;
    const edits = run.architecture.attention === "off" ? "scale(embedded, 0.5)" : "zero(attended)";
    const other = view_of(run, STEPS[1]);
    for (const view of [...STEPS.map((step) => view_of(run, step)), view_of(run, 200, { edits, temperature: 0.5 })]) {
      const at = chosen(start, view);
      const { head, rows } = panel.about.table(view, at);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(row.length).toBeLessThanOrEqual(head.length);
      const numbers = rows.flat().filter((cell) => typeof cell === "number");
      expect(numbers.some(Number.isFinite) || name === "analyses").toBe(true);
      expect(panel.about.summary(view, at)).toMatch(/^[\s\S]+[.…]?$/);
      expect(panel.about.summary(view, at)).not.toMatch(/undefined|NaN|\[object/);
      expect(panel.about.python(view, at)).not.toMatch(/undefined|NaN|\[object/);
      const { body } = render(Given, { props: { lab: lab_of(view), panel, view } });
      expect(body.length).toBeGreaterThan(50);
      expect(body).not.toContain("<b>”"); // a token that looks like an element stays a text
      expect(body).not.toMatch(/undefined|(="|>)NaN/);
    }
    const difference = render(Given, { props: { lab: lab_of(other), panel, view: view_of(run, 200), against: other } });
    expect(difference.body.length).toBeGreaterThan(50);
  });
});

test("a diverged model is drawn by every panel", () => {
  const run = run_of(KINDS["pre norms"], true);
  const view = view_of(run, 200);
  for (const panel of panels.filter(({ about }) => !about.absent?.(run))) {
    panel.about.summary(view, chosen(start, view));
    expect(render(Given, { props: { lab: lab_of(view), panel, view } }).body).toBeTruthy();
  }
});

describe("what is computed", () => {
  const kinds = Object.keys(KINDS);

  test.each(kinds)("the last station of the lens says what the model says: %s", (kind) => {
    const view = view_of(run_of(KINDS[kind]), 10);
    const { chances, stations } = lens(view);
    const said = view.trace.points.probabilities.data;
    const last = chances.subarray((stations.length - 1) * said.length);
    said.forEach((chance, k) => expect(last[k]).toBeCloseTo(chance, 5));
  });

  test.each(kinds.filter((kind) => KINDS[kind].feed_forward !== 0))("what neurons add is what the logit loses without them: %s", (kind) => {
    const run = run_of(KINDS[kind]);
    const { architecture: a, slots } = run;
    const view = view_of(run, 10);
    const [position, answer] = [3, 2];
    const block = a.blocks - 1;
    const found = votes(view, block, position, answer);
    // the neurons of the last block, taken out of what is normed or read, with the norms held at their size
    const at = a.read_position ?? position;
    const part = (name: string): Float32Array => {
      const slot = slots.find((each) => each.name === name)!;
      return view.params.subarray(slot.begin, slot.begin + slot.size);
    };
    const contract = part(`blocks.${block}.contract`);
    const hidden = view.trace.points.hidden.data.subarray((block * a.context + at) * a.feed_forward);
    let added = Array.from({ length: a.width }, (_, f) => Array.from({ length: a.feed_forward }, (_, n) => hidden[n] * contract[n * a.width + f]).reduce((x, y) => x + y, 0));
    const held = (gain: Float32Array, x: Float32Array): void => {
      const average = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, each) => sum + each, 0) / a.width;
      const layer = a.norm === "layer";
      const centre = layer ? average(x) : 0;
      const size = Math.sqrt(average(x.map((each) => (each - centre) ** 2)) + a.norm_epsilon);
      const own = layer ? average(added) : 0;
      added = added.map((each, f) => ((each - own) / size) * gain[f]);
    };
    const out = view.trace.points.out.data.subarray((block * a.context + at) * a.width, (block * a.context + at + 1) * a.width);
    if (a.norm !== "none" && a.norm_place === "post") held(part(`blocks.${block}.norm_2`), out);
    if (a.final_norm) held(part("norm"), out);
    const read = (f: number): number => (a.tied_embedding ? part("token")[answer * a.width + f] : part("read_out")[f * a.outputs + answer]);
    expect(found.reduce((sum, vote) => sum + vote, 0)).toBeCloseTo(added.reduce((sum, each, f) => sum + each * read(f), 0), 4);
  });

  test("entropy, energy and heat obey thermodynamics", () => {
    expect(entropy([0.25, 0.25, 0.25, 0.25])).toBeCloseTo(Math.log(4), 12);
    expect(entropy([1, 0, 0])).toBe(0);
    const logits = Float32Array.from([0.3, -1.2, 2.5, 0.1]);
    for (const T of [0.2, 1, 5]) {
      const here = canonical(logits, 0, 4, T, 2);
      const shares = Array.from(logits, (each) => Math.exp(each / T));
      const sum = shares.reduce((x, y) => x + y, 0);
      expect(here.entropy).toBeCloseTo(entropy(shares.map((each) => each / sum)), 10);
      expect(here.loss).toBeCloseTo(-Math.log(shares[2] / sum), 10);
      const nudge = 1e-4 * T; // the heat is what the energy gains with the temperature
      const slope = (canonical(logits, 0, 4, T + nudge).energy - canonical(logits, 0, 4, T - nudge).energy) / (2 * nudge);
      expect(here.heat).toBeCloseTo(slope, 5);
    }
  });

  test("a head that looks at everything in view alike has the entropy of that many", () => {
    const view = view_of(run_of(KINDS["mean attention"]), 10);
    const found = attention_entropy(view.trace);
    found.forEach((each, k) => expect(each).toBeCloseTo(Math.log((k % 6) + 1), 5));
  });

  test("cells that share a pixel have their mean", () => {
    const data = Float32Array.from({ length: 1030 * 2 }, (_, k) => k);
    const matrix = { data, rows: 1030, columns: 2 };
    const { down, across } = sides(matrix);
    expect([down, across]).toEqual([512, 2]);
    const whole = Array.from({ length: down }, (_, i) => mean(matrix, i, 1, down, across));
    expect(whole[0]).toBe((1 + 3 + 5) / 3); // rows 0, 1 and a part of 2
    expect(whole.at(-1)).toBe((2055 + 2057 + 2059) / 3);
    expect(whole.every((value, k) => k === 0 || value > whole[k - 1])).toBe(true);
  });

  test("names beside points cover each other only where there is no room, and keep their sides", () => {
    const same = (x: number): number => x;
    const labels: Label[] = Array.from({ length: 6 }, (_, k) => ({ x: 100, y: 100, text: "word", place: k }));
    const sides: number[] = [];
    const first = put(labels, same, same, 280, sides);
    const box = (each: (typeof first)[number]): number[] => [each.left - (each.anchor === "end" ? 38 : each.anchor === "middle" ? 19 : 0), each.top - 11];
    for (const one of first) for (const other of first) {
      if (one === other) continue;
      const [[a, b], [c, d]] = [box(one), box(other)];
      expect(Math.abs(a - c) >= 38 || Math.abs(b - d) >= 9, `${one.place} ${other.place}`).toBe(true);
    }
    const moved = put(labels.map((label) => ({ ...label, x: label.x + 1 })), same, same, 280, sides);
    moved.forEach((label, k) => expect([label.left - first[k].left, label.top - first[k].top]).toEqual([1, 0]));
    expect(put([{ x: NaN, y: 1, text: "lost" }], same, same, 280, [])).toEqual([]);
  });
});

test("the link chooses what panels show, within what the model has", () => {
  const view = view_of(run_of(KINDS["post norms, one answer"]), 10);
  expect(chosen({ ...start, block: 9, head: 9, neuron: 99, answer: 99, tensor: "none" }, view)).toMatchObject({ position: 0, block: 1, head: 1, neuron: 4, tensor: "token" });
  expect(chosen({ ...start, answer: 3, tensor: "read_out", position: 2 }, view)).toMatchObject({ position: 2, answer: 3, tensor: "read_out" });
  expect(named.weights.python(view, chosen({ ...start, tensor: "read_out" }, view))).toBe('run.weights(step=10, member=0)["read_out"]');
});
