// Training by hand: what the reader chose, the one training that the big button begins and pauses, and many seeds side
// by side. Each has a worker of its own, so that looking never waits for learning.

import { untrack } from "svelte";
import type { OpenRun } from "../data/open.svelte";
import type { Examples } from "../data/source";
import { type Origin, TrainedRun } from "../data/trained_run.svelte";
import type { Report } from "../learn/protocol";
import { read_weights, written_weights } from "../model/edits";
import { t } from "../words/words.svelte";
import { set } from "./changes";
import { learnt_at } from "./ends";
import type { Lab } from "./lab.svelte";
import { write_other } from "./other";
import { type Course, type Recipe, any_seed, read, recipe_of, refused, write } from "./recipe";
import { Tutor } from "./tutor";
import { Lane } from "./work";
import { thousands } from "./written";

export const SPEEDS = [0, 1, 10, 100, 1000] as const; // steps a second; 0: as fast as it goes
export const MANY = 30; // seeds that are trained side by side
export const MOST_MANY = 200;
const MANY_BYTES = 64_000_000; // of the weights that many seeds may keep in all
const MANY_KEPT = [12, 200]; // steps that each of them keeps, at least and at most
const MOST_WORKERS = 4;
const FRESH: Omit<Origin, "run"> = { params: null, step: 0, member: 0, edits: "", sha256: "" };
const NOWHERE: Course = { of: "", from: null, set: "", then: [] };
const SETTLED = 800; // milliseconds before which nothing is said about the time that is left
const HIDDEN = 500; // milliseconds after which a page that draws no frames takes its reports
const OFTEN = 250; // milliseconds between two questions about the newest step, or
const SELDOM = 10; // times what an answer takes, if that is longer

/** One of many seeds; null before its turn. */
export interface Seedling {
  seed: number;
  run: TrainedRun | null;
}

/** A tutor of many seeds, the one it teaches, and its steps a second. */
interface Teaching {
  tutor: Tutor;
  at: Seedling | null;
  fast: number;
}

export class Training {
  recipe: Recipe = $state({ seed: 0, rate: 0.001, steps: 1000, optimiser: "adamw", schedule: "constant" });
  speed = $state(0);
  run: TrainedRun | null = $state.raw(null); // the newest one of the big button
  state: "idle" | "running" | "paused" = $state("idle");
  per_second = $state(0);
  settled = $state(false); // whether it has gone on long enough to say how fast it is
  problems: Partial<Record<keyof Recipe | "many", string>> = $state({}); // what is wrong with a field
  failed = $state(""); // why the training cannot go on
  offered = $state(false); // whether the link shows a run that was trained in another page
  chosen = $state(false); // whether the seed was chosen, by a link or by the reader
  many = $state(MANY);
  crowd: Seedling[] = $state.raw([]);
  crowd_goes = $state(false);
  crowd_speed = $state(0); // steps a second of all of them

  private own_seed = any_seed();
  private then: [number, number][] = []; // changes of the rate that the link asks for
  private course: Course | null = $state.raw(null); // of the link
  private touched = $state(false); // whether the link must tell of the recipe
  private wrote = ""; // what this page put into the link
  private form_of: OpenRun | null = null; // whose settings the form began with
  private count = 0;
  private tutor = new Tutor((report) => this.hear(report));
  private tutors: Teaching[] = [];
  private heard: Report[] = [];
  private knows = new Lane("know");
  private asked = { run: null as TrainedRun | null, step: -1, time: 0, took: 0 };
  private going_since = 0;
  private seconds = new WeakMap<TrainedRun, number>();

  /** The embedded run that everything here is made from. */
  base: OpenRun | null = $derived.by(() => {
    let run = this.lab.run;
    while (run instanceof TrainedRun) run = run.origin.run;
    return run;
  });
  usual: Recipe = $derived.by(() => (this.base ? recipe_of(this.base.info.experiment.train) : this.recipe));
  /** Why nothing can be trained, in English, or "". */
  why_not: string = $derived.by(() => {
    const { base } = this;
    if (!base || !this.lab.further) return "";
    if (base.info.untrainable) return base.info.untrainable;
    return base.data && this.lab.source.can.train.includes("page") ? "" : "What it is trained on is not in this file.";
  });
  /** Seconds until the training ends, at its present speed; null where nobody can say. */
  left: number | null = $derived.by(() => {
    const { run } = this;
    const known = run && this.state === "running" && this.settled && this.per_second > 0;
    return known ? (run.train.steps - run.step) / this.per_second : null;
  });
  /** How much of the training is done. */
  share: number = $derived.by(() => {
    const { run } = this;
    return run && this.state !== "idle" ? (run.step - run.origin.step) / (run.train.steps - run.origin.step) : 0;
  });
  crowd_left: number | null = $derived.by(() => {
    if (!this.crowd_goes || !(this.crowd_speed > 0)) return null;
    const all = this.crowd.reduce((sum, { run }) => sum + (run?.train.steps ?? this.recipe.steps), 0);
    const done = this.crowd.reduce((sum, { run }) => sum + (run?.growing ? run.step : (run?.train.steps ?? 0)), 0);
    return (all - done) / this.crowd_speed;
  });
  private over: TrainedRun[] = $derived.by(() => this.crowd.flatMap(({ run }) => (run && !run.growing ? [run] : [])));
  solved: number = $derived.by(() => this.over.filter((run) => learnt_at(run) !== null).length);
  ended: number = $derived.by(() => this.over.length);

  constructor(private lab: Lab) {}

  /** Keep form and link together; to be called where effects live. */
  follow(): void {
    $effect(() => {
      const { base } = this;
      const { train } = this.lab.page;
      if (base && (base !== this.form_of || train !== this.wrote)) untrack(() => this.read(base, train));
    });
    $effect(() => {
      const text = this.text();
      if (text !== null) untrack(() => (this.lab.page.train = this.wrote = text));
    });
    $effect(() => {
      const wanted = this.lab.further && this.lab.page.mode === "train" && this.base && !this.why_not;
      if (wanted) untrack(() => this.tutor.warm());
    });
  }

  /** What the link says of the recipe, into the form. */
  private read(base: OpenRun, text: string): void {
    const { recipe, course } = read(text);
    this.form_of = base;
    this.wrote = text;
    this.touched = text !== "";
    this.chosen = recipe.seed !== undefined;
    this.recipe = { ...recipe_of(base.info.experiment.train), seed: this.own_seed, ...recipe };
    this.problems = {};
    this.then = course.then;
    this.course = text === "" ? null : course;
  }

  /** What the link is to say; null: nothing is known yet. */
  private text(): string | null {
    const { base, usual, recipe } = this;
    const shown = this.lab.run;
    if (!base || base !== this.form_of) return null;
    if (shown instanceof TrainedRun) {
      const { run, params, step, edits } = shown.origin;
      void shown.events; // changes of the rate are among them
      const from = params === null ? null : run === base ? step : "here";
      return write(recipe_of(shown.train), usual, { of: base.info.id, from, set: edits, then: shown.trained.rates });
    }
    return this.touched ? write(recipe, usual, this.course ?? { ...NOWHERE, of: base.info.id }) : "";
  }

  /** Set a field of the form; what cannot be used is said beside it. */
  choose<Name extends keyof Recipe>(name: Name, value: Recipe[Name]): void {
    if (name === "seed" || name === "rate" || name === "steps") {
      const problem = refused(name, value as number);
      this.problems = { ...this.problems, [name]: problem };
      if (problem) return;
    }
    if (name === "seed") this.chosen = true;
    this.recipe = { ...this.recipe, [name]: value };
    this.touched = true;
    this.then = [];
    this.course = null;
    this.offered = false;
    if (name === "rate" && this.state !== "idle") this.tutor.send({ kind: "rate", rate: value as number });
  }

  another_seed(): void {
    this.choose("seed", any_seed());
  }

  // ---- one training -------------------------------------------------------------------------------------------------

  /** The big button: begin, pause, go on. */
  toggle(): void {
    if (this.state === "running") this.pause();
    else if (this.state === "paused") this.go();
    else this.start();
  }

  /** From another mode: come here, and begin unless it goes already. */
  from_outside(): void {
    this.lab.page.mode = "train";
    if (this.state === "idle") this.start();
  }

  /** Whether what the button would begin was trained here before and nobody insists on its seed: another is drawn. */
  done_before: boolean = $derived.by(() => {
    const { base, recipe } = this;
    const same = (run: OpenRun): boolean =>
      run instanceof TrainedRun &&
      run.origin.run === base &&
      run.origin.params === null &&
      write(recipe_of(run.train), recipe, NOWHERE) === write(recipe, recipe, NOWHERE);
    return !this.chosen && this.lab.here.some(same);
  });

  /** Begin anew, with fresh weights. */
  start(paused = false): void {
    const { base } = this;
    if (this.done_before) this.recipe = { ...this.recipe, seed: (this.own_seed = any_seed()) };
    if (base) this.begin({ ...FRESH, run: base }, paused);
  }

  /** Go on from the model that is shown, with what was set by hand, as a run of its own. */
  go_on(): void {
    const { run, step, member, changing, further } = this.lab;
    if (!run) return;
    const weights = changing.weights_in_force();
    const before = run.weights.at(step, member);
    const params = set(before, run.slots, weights);
    const origin = { run, step, member, params, edits: written_weights(weights), sha256: further!.digest(before) };
    changing.put(changing.rows.filter((row) => !row.weights.length)); // they are part of the new run from here on
    this.begin(origin, false);
  }

  /** Whether a link names a run that was trained in another page; then what it was made from is shown, and it can be
   * trained again. */
  elsewhere(id: string): boolean {
    if (!/^here-\d+$/.test(id) || this.lab.page.train === "") return false;
    const { of } = read(this.lab.page.train).course;
    this.offered = true;
    this.lab.page.run = this.lab.cards.some((card) => card.id === of) ? of : "";
    return true;
  }

  /** Whether the link tells all that it takes; it cannot, of a run that continued one trained in another page. */
  get repeatable(): boolean {
    return this.course?.from !== "here";
  }

  /** Train what the link shows once more. */
  async again(): Promise<void> {
    const { base, course } = this;
    this.offered = false;
    if (!base) return;
    if (!course || course.from === null || course.from === "here") return this.start();
    const step = base.steps[base.nearest(course.from)];
    const { member, further } = this.lab;
    const before = base.weights.at(step, member);
    const params = set(before, base.slots, course.set ? read_weights(course.set) : []);
    this.begin({ run: base, step, member, params, edits: course.set, sha256: further!.digest(before) }, false);
  }

  private begin(origin: Origin, paused: boolean): void {
    if (this.why_not) return;
    if (this.state !== "idle") this.tutor.send({ kind: "stop" });
    this.failed = "";
    const run = this.made(origin, this.recipe, null);
    this.run = run;
    this.state = paused ? "paused" : "running";
    this.per_second = 0;
    this.settled = false;
    this.going_since = performance.now();
    this.lab.playing = false;
    const start = this.begun(run);
    this.tutor.send({ kind: "start", id: this.count, start, steps_per_second: this.speed || null, paused: true });
    this.tutor.send(paused ? { kind: "step" } : { kind: "go" });
  }

  /** A run that is about to be trained. */
  private made(origin: Origin, { steps, ...recipe }: Recipe, most: number | null): TrainedRun {
    const until = steps > origin.step ? steps : origin.step + steps;
    const train = { ...origin.run.info.experiment.train, ...recipe, steps: until };
    this.count += 1;
    const told = { seed: String(train.seed), step: thousands(origin.step) };
    const name = t(origin.params ? "train.name.on" : "train.name", told);
    const others = this.lab.here.map((each) => each.info.name);
    const rate = train.rate === this.usual.rate ? "" : t("train.name.rate", { rate: String(train.rate) });
    const full = name + rate;
    const twin = others.filter((each) => each === full || each.startsWith(`${full} (`)).length;
    const card = { id: `here-${this.count}`, name: twin ? `${full} (${twin + 1})` : full };
    const run = new TrainedRun(origin, train, card, most);
    run.wanted = (step) => this.know(run, step);
    return run;
  }

  private begun(run: TrainedRun) {
    const { architecture, data, info, train, origin } = run;
    return {
      architecture,
      train,
      task: info.task,
      ladder: info.ladder,
      data: data!,
      ...(origin.params ? { params: origin.params, step: origin.step } : {}),
      ...(this.then.length ? { rates: this.then } : {}),
    };
  }

  private go(): void {
    this.state = "running";
    this.going_since = performance.now();
    this.tutor.send({ kind: "go" });
  }

  pause(): void {
    if (this.state !== "running") return;
    this.tutor.send({ kind: "pause" });
    this.rest();
    this.state = "paused";
  }

  /** One step, then rest. */
  one(): void {
    if (this.state === "idle") return this.start(true);
    if (this.state === "running") this.pause();
    this.tutor.send({ kind: "step" });
  }

  stop(): void {
    if (this.state !== "idle") this.tutor.send({ kind: "stop" });
  }

  set_speed(speed: number): void {
    this.speed = speed;
    this.tutor.send({ kind: "speed", steps_per_second: speed || null });
  }

  /** Reports wait for the next frame, and are taken together: more than one a frame cannot be seen. */
  private hear(report: Report): void {
    this.heard.push(report);
    if (this.heard.length > 1) return;
    const take = (): void => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      for (const each of this.heard.splice(0)) this.take(each);
    };
    const frame = requestAnimationFrame(take);
    const timer = setTimeout(take, HIDDEN);
  }

  private take(report: Report): void {
    if (report.kind === "failed") {
      this.failed = report.sentence;
      this.state = "idle";
      return;
    }
    const run = this.taught(report.id);
    if (!run) return;
    run.take(report);
    this.show(run);
    if (run !== this.run) return;
    this.per_second = report.steps_per_second;
    this.settled = performance.now() - this.going_since > SETTLED;
    if (!run.growing) {
      this.rest();
      this.state = "idle";
    } else if (report.status === "paused") this.know(run, run.step);
  }

  private taught(id: number): TrainedRun | null {
    const name = `here-${id}`;
    if (this.run?.info.id === name) return this.run;
    return (this.lab.here.find((each) => each.info.id === name) as TrainedRun | undefined) ?? null;
  }

  /** The first time that there is something to see of a run: put it on the list, and before the reader. */
  private show(run: TrainedRun): void {
    if (this.lab.here.includes(run)) return;
    this.lab.here = [...this.lab.here, run];
    Object.assign(this.lab.page, { run: run.info.id, step: -1, member: 0 });
  }

  /** Count the time that was spent. */
  private rest(): void {
    const { run } = this;
    if (!run || this.state !== "running") return;
    this.seconds.set(run, (this.seconds.get(run) ?? 0) + (performance.now() - this.going_since) / 1000);
  }

  /** Find out what is true of a run at a step that no line was logged for. */
  private know(run: TrainedRun, step: number): void {
    const now = performance.now();
    const { asked } = this;
    if (asked.run === run && asked.step === step) return;
    const moves = run.growing && this.state === "running" && asked.run === run;
    if (moves && now - asked.time < Math.max(OFTEN, SELDOM * asked.took)) return;
    this.asked = { ...asked, run, step, time: now };
    const { architecture, info } = run;
    const { task, ladder } = info;
    const validation = few(run.data!.validation);
    const params = run.weights.at(step, 0);
    void this.knows.ask({ architecture, task, ladder, validation, params, step }).then((facts) => {
      if (!facts) return;
      this.asked.took = performance.now() - now;
      run.learnt(facts);
    });
  }

  // ---- many seeds ---------------------------------------------------------------------------------------------------

  set_many(value: number): void {
    const fine = Number.isInteger(value) && value >= 2 && value <= MOST_MANY;
    const problem = fine ? "" : `seeds = ${value} must be a whole number from 2 to ${MOST_MANY}.`;
    this.problems = { ...this.problems, many: problem };
    if (fine) this.many = value;
  }

  /** Train so many seeds, from the chosen one on, a few at a time. */
  start_many(): void {
    if (!this.base || this.why_not) return;
    this.stop_many();
    this.crowd = Array.from({ length: this.many }, (_, k) => ({ seed: this.recipe.seed + k, run: null }));
    this.crowd_goes = true;
    const cores = navigator.hardwareConcurrency || 2;
    const workers = Math.max(1, Math.min(MOST_WORKERS, cores - 1, this.many));
    for (let k = 0; k < workers; k++) {
      const one: Teaching = { tutor: new Tutor((report) => this.hear_one(one, report)), at: null, fast: 0 };
      this.tutors.push(one);
      this.next(one);
    }
  }

  stop_many(): void {
    for (const { tutor, at } of this.tutors.splice(0)) {
      at?.run?.cut();
      tutor.close();
    }
    this.crowd = this.crowd.filter(({ run }) => run !== null);
    this.crowd_goes = false;
  }

  private next(one: Teaching): void {
    const { base } = this;
    const waiting = this.crowd.find(({ run }) => run === null);
    if (!base || !waiting) {
      one.tutor.close();
      this.tutors = this.tutors.filter((each) => each !== one);
      this.crowd_goes = this.tutors.length > 0;
      return;
    }
    const [least, most] = MANY_KEPT;
    const room = Math.floor(MANY_BYTES / this.crowd.length / (4 * base.info.parameters));
    const origin = { ...FRESH, run: base };
    const run = this.made(origin, { ...this.recipe, seed: waiting.seed }, Math.max(least, Math.min(most, room)));
    const at = { seed: waiting.seed, run };
    one.at = at;
    this.crowd = this.crowd.map((each) => (each === waiting ? at : each));
    one.tutor.send({ kind: "start", id: this.count, start: this.begun(run) });
  }

  private hear_one(one: Teaching, report: Report): void {
    const run = one.at?.run;
    if (!run) return;
    if (report.kind === "failed") {
      this.failed = report.sentence;
      this.stop_many();
      return;
    }
    run.take(report);
    one.fast = report.steps_per_second;
    this.crowd_speed = this.tutors.reduce((sum, { fast }) => sum + fast, 0);
    if (!this.lab.here.includes(run)) this.lab.here = [...this.lab.here, run];
    if (!run.growing) this.next(one);
  }

  // ---- what was made ------------------------------------------------------------------------------------------------

  open(run: OpenRun): void {
    Object.assign(this.lab.page, { run: run.info.id, step: -1, member: 0 });
  }

  /** Beside the run it was made from. */
  compare(run: TrainedRun): void {
    const b = write_other({ run: run.origin.run.info.id });
    Object.assign(this.lab.page, { run: run.info.id, mode: "compare", b });
  }

  /** Take a run off the page for good. */
  remove(run: TrainedRun): void {
    if (run === this.run && this.state !== "idle") {
      this.stop();
      this.run = null;
      this.state = "idle";
    }
    if (this.lab.run === run) Object.assign(this.lab.page, { run: this.base?.info.id ?? "", step: -1 });
    this.lab.here = this.lab.here.filter((each) => each !== run);
    if (!this.crowd_goes) this.crowd = this.crowd.filter((each) => each.run !== run);
  }

  /** A run as a zip of its folder, which `glassformer` opens. */
  save(run: TrainedRun): void {
    const { info, data, trained, origin, folder: told } = run;
    const bytes = this.lab.further!.folder(trained, {
      name: told,
      info: origin.run.info,
      train: run.train,
      data: data!,
      ...(info.parent ? { parent: info.parent } : {}),
      created: new Date().toISOString(),
      seconds: this.seconds.get(run) ?? 0,
    });
    this.lab.further!.download(new Blob([bytes], { type: "application/zip" }), `${told}.zip`);
    run.saved = true;
  }
}

/** The windows that stand for all. */
function few(e: Examples): Examples {
  const outputs = e.allowed.length / (e.count * e.places);
  const many = e.few * e.places;
  return {
    ...e,
    count: e.few,
    windows: e.windows.slice(0, e.few * (e.windows.length / e.count)),
    constrained: e.constrained.slice(0, many),
    answerable: e.answerable.slice(0, many),
    allowed: e.allowed.slice(0, many * outputs),
    kind: e.kind.slice(0, many),
    source: e.source.slice(0, many),
    truth: e.truth.slice(0, many),
  };
}
