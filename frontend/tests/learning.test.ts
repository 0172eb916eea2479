// Learning in the page, by itself: chance, batches, pausing, ending. Against Python: tests/test_page_learning.py.

import { describe, expect, test } from "vitest";
import { Trained } from "../src/data/trained";
import { Batches } from "../src/learn/batches";
import { onward, rung } from "../src/learn/ladder";
import { init } from "../src/learn/init";
import { plan, spread } from "../src/learn/plan";
import { type Host, type Order, type Progress, type Report, serve } from "../src/learn/protocol";
import { Random } from "../src/learn/random";
import { Trainer } from "../src/learn/train";
import { architecture, CONTEXT, data, ladder, task, train } from "./small_task";

const start = (changes = {}) => ({ architecture, train: { ...train, ...changes }, task, ladder, data: data() });

describe("chance", () => {
  test("is the same for the same place, and other for its neighbours", () => {
    const draws = (seed: number, stream: number, place: number) => {
      const random = new Random(seed, stream, place);
      return Array.from({ length: 4 }, () => random.next()).join();
    };
    const all = new Set<string>();
    for (let seed = 0; seed < 6; seed++) for (let k = 0; k < 6; k++) for (let t = 0; t < 6; t++) all.add(draws(seed, k, t));
    expect(all.size).toBe(216);
    expect(draws(3, 1, 2 ** 33)).toBe(draws(3, 1, 2 ** 33));
    expect(draws(3, 1, 2 ** 33)).not.toBe(draws(3, 1, 2 ** 34));
  });

  test("is even, and normal where it should be", () => {
    const random = new Random(5);
    const cells = new Array(10).fill(0);
    for (let k = 0; k < 100_000; k++) cells[random.below(10)] += 1;
    const square = cells.reduce((sum, many) => sum + (many - 10_000) ** 2 / 10_000, 0);
    expect(square).toBeLessThan(34); // of 9 degrees of freedom: once in ten thousand seeds
    let [first, second, fourth] = [0, 0, 0];
    for (let k = 0; k < 100_000; k++) {
      const x = random.normal();
      first += x / 1e5;
      second += x ** 2 / 1e5;
      fourth += x ** 4 / 1e5;
    }
    expect(Math.abs(first)).toBeLessThan(0.013);
    expect(Math.abs(second - 1)).toBeLessThan(0.018);
    expect(Math.abs(fourth - 3)).toBeLessThan(0.13);
  });

  test("of the first weights follows the seed alone", () => {
    expect(init(architecture, 4)).toEqual(init(architecture, 4));
    expect(init(architecture, 4)).not.toEqual(init(architecture, 5));
  });
});

describe("batches", () => {
  const made = (order: "random" | "passes") => new Batches(data(order).train, order, architecture, 0, 7, 8);

  test.each(["random", "passes"] as const)("depend on the step alone (%s)", (order) => {
    const [one, other] = [made(order), made(order)];
    const drawn = (batches: Batches, step: number) => {
      batches.draw(step);
      return [...batches.tokens, ...batches.targets].join();
    };
    const inOrder = [0, 1, 2, 3, 4, 5, 6, 7].map((step) => drawn(one, step));
    for (const step of [5, 0, 7, 2, 2, 6]) expect(drawn(other, step)).toBe(inOrder[step]);
    expect(new Set(inOrder).size).toBe(8);
  });

  test("of passes hold every piece once in each pass", () => {
    const { train: part } = data("passes");
    const batches = made("passes");
    const rows: string[] = [];
    for (let step = 0; step < 5; step++) {
      batches.draw(step);
      for (let row = 0; row < 8; row++) rows.push([...batches.tokens.subarray(row * CONTEXT, (row + 1) * CONTEXT)].join());
    }
    const pieces = [...part.starts].map((begin) => [...part.tokens.subarray(begin, begin + CONTEXT)].join()).sort();
    expect(rows.slice(0, 20).sort()).toEqual(pieces);
    expect(rows.slice(20).sort()).toEqual(pieces);
    expect(rows.slice(0, 20)).not.toEqual(rows.slice(20));
  });
});

describe("a training", () => {
  test("learns, keeps and logs what it plans", () => {
    const trainer = new Trainer(start());
    trainer.run(1e9);
    const { kept, lines, facts } = trainer.take();
    expect(trainer.status).toBe("finished");
    expect(kept.map(({ step }) => step)).toEqual(Array.from({ length: 301 }, (_, k) => k));
    const [first, last] = [lines[0], lines[lines.length - 1]];
    expect([first.step, last.step]).toEqual([0, 300]);
    expect(last.rule_error_answerable).toBe(0);
    expect(last.validation_loss as number).toBeLessThan(0.85 * (first.validation_loss as number));
    expect((last.judged as Record<string, number>).validation).toBe(40);
    expect((first.judged as Record<string, number>).validation).toBe(20);
    expect(facts.map(({ step }) => step)).toEqual(lines.map(({ step }) => step));
    expect(facts[facts.length - 1].looks?.at).toBe("answer");
  });

  test("gives the same bits however it is cut", () => {
    const [whole, cut] = [new Trainer(start({ steps: 120 })), new Trainer(start({ steps: 120 }))];
    whole.run(120);
    const parts = [];
    for (const some of [1, 1, 7, 50, 3, 200]) {
      cut.run(some);
      parts.push(cut.take());
    }
    const all = whole.take();
    expect(cut.params).toEqual(whole.params);
    expect(parts.flatMap(({ lines }) => lines)).toEqual(all.lines);
    expect(parts.flatMap(({ kept }) => kept)).toEqual(all.kept);
  });

  test("draws its dropout from the step, too", () => {
    const dropping = { ...start({ steps: 40 }), architecture: { ...architecture, dropout: 0.2 } };
    const [one, other] = [new Trainer(dropping), new Trainer(dropping)];
    one.run(40);
    for (let k = 0; k < 8; k++) other.run(5);
    expect(one.params).toEqual(other.params);
    expect(one.params).not.toEqual(new Trainer(start({ steps: 40 })).params);
  });

  test("goes on from given weights, and counts on from their step", () => {
    const params = init(architecture, 9);
    const trainer = new Trainer({ ...start(), params, step: 250 });
    expect(trainer.params).toEqual(params);
    expect(trainer.run(1e9)).toBe(50);
    const { kept, lines } = trainer.take();
    expect([kept[0].step, kept[kept.length - 1].step, lines[0].step]).toEqual([250, 300, 250]);
    expect(kept[0].params).toEqual(params);
    expect(params).toEqual(init(architecture, 9)); // what was given is left alone
  });

  test("of one step is a training, and one of none is refused", () => {
    const trainer = new Trainer(start({ steps: 1 }));
    expect(trainer.run(10)).toBe(1);
    const { kept, lines } = trainer.take();
    expect([trainer.status, kept.length, lines.length]).toEqual(["finished", 2, 2]);
    expect(() => new Trainer({ ...start(), params: init(architecture, 9), step: 300 })).toThrow(
      "steps = 300 leaves nothing to train after step 300; make it larger",
    );
  });

  test("that loses its numbers says so and stops", () => {
    const trainer = new Trainer(start({ optimiser: "sgd", rate: 1e30 }));
    const taken = trainer.run(1000);
    expect(trainer.status).toBe("diverged");
    expect(taken).toBeLessThan(20);
    const { lines, facts, kept } = trainer.take();
    expect(lines[lines.length - 1].validation_loss).toBeNaN();
    expect(facts[facts.length - 1].loss).toBeNull();
    expect(kept[kept.length - 1].step).toBe(trainer.step);
    expect(trainer.run(5)).toBe(0);
  });

  test("stopped by hand keeps and judges its last step once", () => {
    const trainer = new Trainer(start());
    trainer.run(123);
    const run = new Trained();
    const tell = () => run.add(progress(trainer));
    tell();
    trainer.stop();
    tell();
    expect(trainer.status).toBe("stopped");
    expect(run.steps.filter((step) => step === 123)).toEqual([123]);
    expect(run.metrics.step.filter((step) => step === 123)).toEqual([123]);
    expect(run.metrics.columns["judged.validation"][run.metrics.step.length - 1]).toEqual([40]);
    expect(run.weights.at(123, 0)).toEqual(trainer.params);
  });

  test("whose rate is changed by hand remembers when", () => {
    const trainer = new Trainer(start({ schedule: "constant", warmup: 0 }));
    trainer.run(10);
    trainer.rate = 0.001;
    trainer.run(1);
    expect(trainer.rates).toEqual([[10, 0.001]]);
    expect(trainer.rate_now).toBeCloseTo(0.001, 8);
    expect(() => (trainer.rate = -1)).toThrow("rate = -1 is not a number above 0");
  });

  test("on a plateau lowers its rate, and stops where it is told to", () => {
    const still = { optimiser: "sgd", rate: 1e-30, schedule: "plateau", warmup: 0, log_every: 10, patience: 2, drop: 0.5 };
    const trainer = new Trainer(start(still));
    trainer.run(61); // judged at 0, 10, …, 60: all alike, so the rate falls at 20, 40 and 60
    expect(trainer.rate_now).toBeCloseTo(1.25e-31, 36);
    const tired = new Trainer(start({ ...still, stop_after: 3 }));
    tired.run(1e9);
    expect([tired.status, tired.step]).toEqual(["stopped early", 30]);
  });
});

function progress(trainer: Trainer): Progress {
  const { status, step, rates, rate, loss, params } = trainer;
  return { kind: "progress", id: 0, status, step, rates, rate, loss, steps_per_second: 0, params, news: trainer.take() };
}

describe("a plan", () => {
  test("spreads steps over a life, close together at first", () => {
    const steps = spread(0, 20_000, 500);
    expect(steps.length).toBe(500);
    expect([steps[0], steps[steps.length - 1]]).toEqual([0, 20_000]);
    expect(steps.filter((step) => step <= 30).length).toBeGreaterThan(20);
    const gaps = steps.slice(1).map((step, k) => step - steps[k]);
    expect(Math.min(...gaps)).toBeGreaterThan(0);
    expect(Math.max(...gaps)).toBeLessThan(120);
    expect(spread(7, 9, 500)).toEqual([7, 8, 9]);
  });

  test("keeps the budgets of bytes and of judging", () => {
    const long = { ...train, steps: 20_000 };
    const tiny = plan(long, data(), 250);
    expect(tiny.kept.size).toBeLessThanOrEqual(2_000);
    for (const step of tiny.logged) expect(tiny.kept.has(step)).toBe(true);
    for (let step = 0; step < 200; step++) expect(tiny.kept.has(step)).toBe(true);
    const windows = (tiny.logged.size - 1) * (20 + 20) + 80;
    expect(0.6 * windows).toBeLessThan(0.151 * long.steps * long.batch);
    for (const size of [10_000, 27_747, 400_000]) {
      expect(plan(long, data(), size).kept.size * 4 * size).toBeLessThanOrEqual(16_000_000);
    }
  });
});

test("rungs are reached within a fiftieth of the ladder's height", () => {
  const near = 0.02 * (Math.log(3) - 0.6);
  expect(rung(ladder, 1.5, 1)).toBe(-1);
  expect(rung(ladder, 1.05 + 0.9 * near, 1)).toBe(1);
  expect(rung(ladder, 1.05 + 1.1 * near, 1)).toBe(0);
  expect(rung(ladder, 0.7, 0.9 * near)).toBe(3); // harder windows than usual: hardly any excess on them
  expect(rung(ladder, NaN, NaN)).toBe(-1);
  expect(onward(ladder, 2, 0.63, 0.03)).toEqual({ next: ladder[3], way: expect.closeTo(1 - 0.03 / 0.35) }); // by its excess
  expect(onward(ladder, 0, 1.07, 0.5)).toEqual({ next: ladder[1], way: expect.closeTo(1 - 0.02 / (Math.log(3) - 1.05)) });
  expect([onward(ladder, 2, 0.95 - 0.9 * near, 1), onward(ladder, 3, 0.5, 0), onward(ladder, -1, 2, 1)]).toEqual([null, null, null]);
});

describe("the worker", () => {
  /** A host whose clock moves by itself at each look, and which works when it is told to. */
  function host() {
    const reports: Report[] = [];
    const work: (() => void)[] = [];
    let now = 0;
    const made: Host = {
      post: (report, transfer) => reports.push(structuredClone(report, { transfer })),
      later: (each, milliseconds) => {
        now += milliseconds;
        work.push(each);
      },
      now: () => (now += 6), // a look at it after every step
    };
    const order = serve(made);
    const last = () => reports[reports.length - 1] as Progress;
    return { order: (each: Order) => order(each), reports, last, work: () => work.shift()?.(), idle: () => !work.length };
  }

  test("reports to the end, and what it tells makes a whole run", () => {
    const { order, reports, last, work, idle } = host();
    order({ kind: "start", start: start() });
    while (!idle()) work();
    expect([last().status, last().step]).toEqual(["finished", 300]);
    const run = new Trained();
    for (const report of reports) run.add(report as Progress);
    expect(run.steps).toEqual(Array.from({ length: 301 }, (_, k) => k));
    expect(run.weights.at(300, 0)).toEqual(last().params);
    expect(run.events(ladder, true).map(({ text }) => text)).toContain("reaches: last token");
    const alone = new Trainer(start());
    alone.run(300);
    expect(last().params).toEqual(alone.params);
  });

  test("pauses, takes one step, goes on and stops when told", () => {
    const { order, last, work, idle } = host();
    order({ kind: "start", start: start(), paused: true });
    expect([last().status, last().step, idle()]).toEqual(["paused", 0, true]);
    order({ kind: "step" });
    work();
    expect([last().status, last().step, idle()]).toEqual(["paused", 1, true]);
    order({ kind: "go" });
    work();
    const before = last().step;
    expect([last().status, before > 1]).toEqual(["running", true]);
    order({ kind: "pause" });
    expect(last().status).toBe("paused");
    work();
    expect([last().step, idle()]).toEqual([before, true]);
    order({ kind: "stop" });
    expect(last().status).toBe("stopped");
  });

  test("holds its speed back", () => {
    const { order, last, work } = host();
    order({ kind: "start", start: start(), steps_per_second: 100 });
    for (let k = 0; k < 30; k++) work(); // each rests for 16 ms, and its looks at the clock take some more
    expect(last().step).toBeGreaterThan(60);
    expect(last().step).toBeLessThan(140);
  });

  test("answers what cannot be done with a sentence", () => {
    const { order, reports } = host();
    order({ kind: "go" });
    expect(reports).toEqual([{ kind: "failed", sentence: "there is no training to go; begin one with start" }]);
  });
});
