// Training in a worker: what the page may ask for, what it is told, and the loop between the two.

import { type News, type Start, type Status, Trainer } from "./train";

/** What the page asks for. */
export type Order =
  | { kind: "start"; start: Start; id?: number; steps_per_second?: number | null; paused?: boolean }
  | { kind: "go" }
  | { kind: "pause" }
  | { kind: "step"; steps?: number } // so many, then pause
  | { kind: "speed"; steps_per_second: number | null } // null: as fast as it goes
  | { kind: "rate"; rate: number } // of the settings, from the next step on
  | { kind: "stop" }; // end it here: the last weights are kept and judged

/** What the page is told: some forty times a second while it goes, and whenever something was asked for. */
export interface Progress {
  kind: "progress";
  id: number; // of the training, as it was started with
  status: Status | "paused";
  step: number;
  rate: number; // of the last update
  loss: number; // of the last batch; not a number before the first
  rates: [number, number][]; // the steps after which the rate of the settings was changed, and to what
  steps_per_second: number; // measured over the last second or so; 0 while it rests
  params: Float32Array; // the newest
  news: News;
}

export interface Failed {
  kind: "failed";
  sentence: string;
}

export type Report = Progress | Failed;

/** What the loop needs of where it runs: a worker, the page itself, or a test. */
export interface Host {
  post(report: Report, transfer: ArrayBuffer[]): void;
  later(work: () => void, milliseconds: number): void; // 0: as soon as orders have been heard
  now(): number; // milliseconds
  slice?: number; // milliseconds of steps between two reports; where drawing waits for them, few
}

const SLICE = 22; // milliseconds of steps between two reports
const LOOK = 4; // milliseconds after which the clock is looked at again
const REST = 16; // milliseconds between two looks where the speed is held back
const MEASURED = 1000; // milliseconds over which speed is measured

/** The training of one page: the function takes its orders. */
export function serve(host: Host): (order: Order) => void {
  const long = host.slice ?? SLICE;
  let trainer: Trainer | null = null;
  let id = 0;
  let going = false;
  let asked = 0; // steps still to be taken before it pauses; 0: no end
  let speed: number | null = null;
  let paid = 0; // steps that the held back speed allows by now
  let since = 0; // when that was counted
  let waiting = false; // a slice is on its way
  let some = 1; // steps between two looks at the clock
  let marks: { time: number; step: number }[] = [];

  const tell = (): void => {
    if (!trainer) return;
    const now = host.now();
    marks = going ? [...marks.filter(({ time }) => now - time < MEASURED), { time: now, step: trainer.step }] : [];
    const [first] = marks;
    const fast = first && now > first.time ? ((trainer.step - first.step) / (now - first.time)) * 1000 : 0;
    const news = trainer.take();
    const params = trainer.params.slice();
    const status = trainer.status === "running" && !going ? "paused" : trainer.status;
    const { step, rate_now: rate, loss, rates } = trainer;
    const buffers = [params, ...news.kept.map((each) => each.params)].map((each) => each.buffer as ArrayBuffer);
    host.post({ kind: "progress", id, status, step, rate, loss, rates, steps_per_second: fast, params, news }, buffers);
  };

  /** Steps for a while; then the page is told and heard. */
  const slice = (): void => {
    waiting = false;
    if (!trainer || !going) return;
    const begun = host.now();
    if (speed !== null) paid = Math.min(paid + ((begun - since) / 1000) * speed, Math.max(speed, 1));
    since = begun;
    const room = asked || (speed === null ? Infinity : Math.floor(paid));
    let took = 0;
    for (let now = begun; room > took && now - begun < long && trainer.status === "running"; ) {
      const taken = trainer.run(Math.min(some, room - took));
      took += taken;
      const then = host.now();
      if (taken === some) some = Math.max(1, Math.min(4096, Math.round((some * LOOK) / Math.max(then - now, 0.25))));
      now = then;
    }
    paid = speed === null ? 0 : Math.max(0, paid - took);
    if (asked && (asked -= took) === 0) going = false;
    if (trainer.status !== "running") going = false;
    if (took || !going) tell();
    if (going) again(speed === null || asked ? 0 : REST);
  };

  const again = (milliseconds: number): void => {
    if (waiting) return;
    waiting = true;
    host.later(() => guarded(slice), milliseconds);
  };

  const go = (steps: number): void => {
    if (!trainer || trainer.status !== "running") return;
    going = true;
    asked = steps;
    paid = 1; // the first step comes at once
    since = host.now();
    again(0);
  };

  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (problem) {
      going = false;
      host.post({ kind: "failed", sentence: problem instanceof Error ? problem.message : String(problem) }, []);
    }
  };

  return (order) =>
    guarded(() => {
      if (order.kind === "start") {
        trainer = new Trainer(order.start);
        id = order.id ?? 0;
        going = false;
        marks = [];
        speed = order.steps_per_second ?? null;
        tell();
        if (!order.paused) go(0);
      } else if (order.kind === "speed") speed = order.steps_per_second;
      else if (!trainer) throw new Error(`there is no training to ${order.kind}; begin one with start`);
      else if (order.kind === "go") go(0);
      else if (order.kind === "step") go(order.steps ?? 1);
      else if (order.kind === "rate") trainer.rate = order.rate;
      else {
        going = false;
        if (order.kind === "stop") trainer.stop();
        tell();
      }
    });
}
