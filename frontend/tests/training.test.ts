// Training by hand: the recipe as a link has it, and a run that grows while it is trained.

import { describe, expect, test } from "vitest";
import { OpenRun } from "../src/data/open.svelte";
import type { RunInfo } from "../src/data/source";
import { TrainedRun } from "../src/data/trained_run.svelte";
import { type Progress, serve } from "../src/learn/protocol";
import { Trainer } from "../src/learn/train";
import { parameters } from "../src/model/architecture";
import { learnt_at, learnt_by } from "../src/page/ends";
import { type Course, OPTIMISERS, type Recipe, SCHEDULES, read, recipe_of, write } from "../src/page/recipe";
import { architecture, data, ladder, task, train } from "./small_task";

const usual: Recipe = recipe_of(train);
const nowhere: Course = { of: "", from: null, set: "", then: [] };

describe("a recipe", () => {
  test("comes back from its text, whatever it says", () => {
    const recipes: [Recipe, Course][] = [
      [usual, { ...nowhere, of: "plus_last_even-18" }],
      [
        { ...usual, seed: 0, rate: 1e-6, steps: 1 },
        { of: "a", from: 2412, set: "weights.token[3, 0]=1.5; weights.token[3, 1]=-2:1", then: [] },
      ],
      [
        { ...usual, seed: 2 ** 31 - 1, rate: 1000, steps: 1e6 },
        { of: "b", from: "here", set: "", then: [[0, 0.1], [100, 0.003]] },
      ],
      ...OPTIMISERS.map((optimiser): [Recipe, Course] => [{ ...usual, optimiser }, nowhere]),
      ...SCHEDULES.map((schedule): [Recipe, Course] => [{ ...usual, schedule }, nowhere]),
    ];
    for (const [recipe, course] of recipes) {
      const found = read(write(recipe, usual, course));
      expect({ ...usual, ...found.recipe }).toEqual(recipe);
      expect(found.course).toEqual(course);
      expect(found.notes).toEqual([]);
    }
    expect(write(usual, usual, { ...nowhere, of: "a" })).toBe("seed:1,of:a"); // what is usual is not written
  });

  test.each([
    ["rate:0", "rate = “0” must be a number from 0.000001 to 1000."],
    ["rate:soon", "rate = “soon” must be"],
    ["rate:", "rate = “” must be"],
    ["seed:1.5", "seed = “1.5” must be a whole number from 0 to 2147483647."],
    ["steps:10000000", "steps = “10000000” must be a whole number from 1 to 1000000."],
    ["optimiser:magic", "optimiser = “magic” is not one of adamw, adam, momentum, sgd."],
    ["constructor:1", "“constructor” is not one of seed, rate,"],
    ["then:0.1", "then = “0.1” must be a rate @ a step, as 0.01@2000."],
    ["set:%", "set = “%” cannot be read."],
  ])("that cannot be used says why: %s", (text, sentence) => {
    const found = read(`seed:7,${text}`);
    expect(found.recipe).toEqual({ seed: 7 });
    expect(found.notes).toHaveLength(1);
    expect(found.notes[0]).toContain(sentence);
  });
});

function base(): OpenRun {
  const info = {
    id: "small", name: "small-1", title: "", status: "finished", parameters: parameters(architecture), members: 1,
    experiment: { name: "small", task: "small", data: {}, architecture, train }, changes: "", seeds: [1], places: [0],
    last_step: 0, steps: [0], kept: 1, notice: "", floor: 0.6, floors: { train: 9, validation: 9 }, ladder, task,
    sentences: [], verdict: "", events: [], facts: [[]], catalogue: [], analyses: [], order: "random", untrainable: "",
    engine: "python", versions: {},
  } as RunInfo;
  const params = new Trainer({ architecture, train, task, ladder, data: data() }).params;
  return new OpenRun(info, { step: [], columns: {} }, { steps: [0], at: () => params }, data());
}

/** A run, and all that its training reports, slice by slice. */
function taught(changes: Partial<Recipe> = {}, most: number | null = null, from?: Pick<Progress, "step" | "params">) {
  const settings = { ...train, ...changes };
  const run = base();
  const { params = null, step = 0 } = from ?? {};
  const origin = { run, params, step, member: 0, edits: "", sha256: from ? "abc" : "" };
  const made = new TrainedRun(origin, settings, { id: "here-1", name: "trained here" }, most);
  const reports: Progress[] = [];
  const work: (() => void)[] = [];
  let now = 0;
  const order = serve({
    post: (report) => reports.push(report as Progress),
    later: (each) => work.push(each),
    now: () => (now += 10), // a look at the clock takes ten milliseconds, so that a slice has few steps
  });
  const start = { architecture, train: settings, task, ladder, data: data(), ...from };
  order({ kind: "start", id: 1, start });
  while (work.length) work.shift()!();
  return { made, reports };
}

describe("a run that is trained here", () => {
  test("shows its newest weights, and keeps those that are to be kept", () => {
    const { made, reports } = taught({}, 12);
    const seen: number[] = [];
    for (const report of reports) {
      made.take(report);
      expect(made.last).toBe(report.step);
      expect(made.weights.at(report.step, 0)).toEqual(report.params);
      expect(made.steps).toEqual([...new Set(made.steps)].sort((a, b) => a - b));
      seen.push(report.step);
    }
    expect(made.status).toBe("finished");
    expect(made.steps.length).toBeLessThanOrEqual(12);
    expect([made.steps[0], made.last]).toEqual([0, 300]);
    const passed = seen.filter((step) => !made.steps.includes(step));
    expect(passed.length).toBeGreaterThan(5); // there were steps in between,
    expect(() => made.weights.at(passed[0], 0)).toThrow("was not kept"); // and they gave way
  });

  test("has a line, facts and events for its curve as they come", () => {
    const { made, reports } = taught();
    for (const report of reports) made.take(report);
    const { step, loss } = made.curve(0);
    expect(step[0]).toBe(0);
    expect(step[step.length - 1]).toBe(300);
    expect(loss[loss.length - 1]).toBeLessThan(loss[0] - 0.2);
    expect(made.facts[0].map((each) => each.step)).toEqual(step);
    expect(made.events.map((event) => event.kind)).toContain("rung");
    const best = made.events.find((event) => event.kind === "best")!;
    expect(loss[step.indexOf(best.step)]).toBe(Math.min(...loss));
    // the floor is that of its own windows: log 3 where anything may come, nothing where the rule speaks
    const { truth } = made.data!.validation;
    expect(made.info.floors.validation).toBeCloseTo(-truth.reduce((sum, each) => sum + each, 0) / truth.length, 6);
  });

  test("asks for what is true where nothing was logged, and says meanwhile what was true before", () => {
    const { made, reports } = taught();
    for (const report of reports) made.take(report);
    const asked: number[] = [];
    made.wanted = (step) => asked.push(step);
    const logged = made.facts[0].map((each) => each.step);
    const between = made.steps.find((step) => step > logged[3] && !logged.includes(step))!;
    const before = Math.max(...logged.filter((step) => step < between));
    expect(made.facts_at(between)!.step).toBe(before);
    expect(asked).toEqual([between]);
    made.learnt({ ...made.facts_at(before)!, step: between, loss: 0.5 });
    expect(made.facts_at(between)).toMatchObject({ step: between, loss: 0.5 });
    expect(made.facts_at(logged[2])!.step).toBe(logged[2]);
    expect(asked.slice(1)).toEqual([]);
  });

  test("has learnt its task from the step on after which it is never wrong again", () => {
    const { made, reports } = taught();
    for (const report of reports) made.take(report);
    const errors = made.column("rule_error_answerable", 0)!;
    const since = learnt_at(made);
    const { step } = made.curve(0);
    const last_bad = errors.reduce((last, error, k) => (error < 0.02 ? last : k), -1);
    expect(last_bad).toBeGreaterThan(0);
    expect(since).toBe(step[last_bad + 1] ?? null);
    expect(learnt_by(made, 0, step[last_bad])).toBe(false); // the sentence on top and the headline have one measure
    expect(learnt_by(made, 0, made.last)).toBe(since !== null);
    const { made: short, reports: few } = taught({ steps: 3 });
    for (const report of few) short.take(report);
    expect(learnt_at(short)).toBe(null);
  });

  test("keeps what came before it diverged", () => {
    const { made, reports } = taught({ optimiser: "sgd", schedule: "constant", rate: 1e6 });
    for (const report of reports) made.take(report);
    expect(made.status).toBe("diverged");
    expect(made.events[made.events.length - 1].kind).toBe("diverged");
    expect(made.weights.at(0, 0).every(Number.isFinite)).toBe(true);
    expect(made.curve(0).loss[0]).toBeGreaterThan(0);
    expect(made.metrics.columns.validation_loss.at(-1)).toEqual([null]);
  });

  test("that continues another counts on, and names it", () => {
    const { made: parent, reports: all } = taught({ steps: 40 });
    for (const report of all) parent.take(report);
    const params = parent.weights.at(20, 0);
    const { made, reports } = taught({ steps: 60, rate: 0.001 }, null, { step: 20, params });
    for (const report of reports) made.take(report);
    expect([made.steps[0], made.last]).toEqual([20, 60]);
    expect(made.weights.at(20, 0)).toEqual(params);
    expect(made.info.parent).toEqual({ run: "small-1", step: 20, sha256: "abc", edits: "" });
    expect(made.folder).toBe("small-1-page-from_20");
    const child = new TrainedRun({ ...made.origin, run: parent }, made.train, { id: "here-2", name: "" });
    const before = parent.curve(0);
    const shared = before.step.filter((step) => step <= 20);
    expect(shared.length).toBeGreaterThan(3);
    expect(child.past()).toEqual({ step: shared, loss: before.loss.slice(0, shared.length) });
    expect(child.info.parent!.run).toBe("small-1-page");
    expect(parent.past()).toBe(null);
  });

  test("can be cut off where it is", () => {
    const { made, reports } = taught();
    const middle = reports[Math.floor(reports.length / 2)];
    for (const report of reports.slice(0, reports.indexOf(middle) + 1)) made.take(report);
    made.cut();
    expect(made.status).toBe("stopped");
    expect(made.trained.steps[made.trained.steps.length - 1]).toBe(middle.step); // so that it can be saved
    expect(made.info.last_step).toBe(middle.step);
  });
});

test("planned changes of the rate are those that were made by hand", () => {
  const by_hand = new Trainer({ architecture, train, task, ladder, data: data() });
  by_hand.run(30);
  by_hand.rate = 0.2;
  by_hand.run(25);
  by_hand.rate = 0.004;
  by_hand.run(400);
  const planned = new Trainer({ architecture, train, task, ladder, data: data(), rates: by_hand.rates });
  planned.run(1000);
  expect(planned.params).toEqual(by_hand.params);
  expect(planned.rates).toEqual([[30, 0.2], [55, 0.004]]);
  const plain = new Trainer({ architecture, train, task, ladder, data: data() });
  plain.run(1000);
  expect(plain.params).not.toEqual(by_hand.params);
});
