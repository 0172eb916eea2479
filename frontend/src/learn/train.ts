// Training in the page: steps one after the other, what is kept and logged on the way, and nothing that depends on the clock.

import type { Facts, Rung, TaskData, TaskInfo, TrainSettings } from "../data/source";
import { type Architecture, part, slots } from "../model/architecture";
import { CallError } from "../model/errors";
import { Model } from "../model/model";
import { Batches } from "./batches";
import { Seen } from "./facts";
import { init } from "./init";
import { Judge, type Line } from "./judge";
import { Optimiser } from "./optimiser";
import { type Plan, plan } from "./plan";
import { DROPOUT, Random } from "./random";
import { rate } from "./schedule";

/** What a training begins from; its chance comes from `train.seed`. */
export interface Start {
  architecture: Architecture;
  train: TrainSettings;
  task: TaskInfo;
  ladder: Rung[];
  data: TaskData;
  params?: Float32Array; // absent: fresh ones from the seed
  step?: number; // at which those were taken; the count goes on from there
  rates?: [number, number][]; // changes of the rate to be made on the way: after which step, and to what
}

export type Status = "running" | "finished" | "diverged" | "stopped early" | "stopped";

/** What has happened since it was last asked for; a line takes the place of one of the same step. */
export interface News {
  kept: { step: number; params: Float32Array }[];
  lines: Line[];
  facts: Facts[]; // at the steps of the lines
}

export class Trainer {
  readonly params: Float32Array;
  step: number;
  status: Status = "running";
  loss = NaN; // of the last batch
  readonly rates: [number, number][] = []; // the steps after which the rate was changed by hand, and to what
  private readonly train: TrainSettings;
  private readonly planned: [number, number][]; // changes of the rate that are still to come
  private readonly model: Model;
  private readonly batches: Batches;
  private readonly optimiser: Optimiser;
  private readonly plan: Plan;
  private readonly judge: Judge;
  private readonly seen: Seen;
  private readonly random = new Random();
  private readonly chance: (() => number) | null;
  private readonly bounds: { name: string; begin: number; end: number }[]; // of the parts of the model
  private news: News = { kept: [], lines: [], facts: [] };
  private loss_sum = 0; // since the last line
  private logged: number; // its step
  private kept = -1; // the newest kept step
  private scale = 1; // what plateaus have left of the rate
  private best = Infinity; // lowest validation loss so far
  private waited = 0; // judgements since then
  private patience = 0; // judgements since then, or since the rate last fell

  constructor(start: Start) {
    const { architecture: a, data, task } = start;
    this.train = { ...start.train };
    this.planned = (start.rates ?? []).filter(([step]) => step >= (start.step ?? 0));
    this.params = start.params ? start.params.slice() : init(a, this.train.seed);
    this.step = this.logged = start.step ?? 0;
    if (!(this.step < this.train.steps)) {
      throw new CallError(`steps = ${this.train.steps} leaves nothing to train after step ${this.step}; make it larger`);
    }
    this.model = new Model(a, this.train.batch, a.context);
    this.batches = new Batches(data.train, data.order, a, task.skip, this.train.seed, this.train.batch);
    this.optimiser = new Optimiser(this.train, a);
    this.plan = plan(this.train, data, this.params.length, this.step);
    this.judge = new Judge(a, task, data);
    this.seen = new Seen(a, task, start.ladder, data.validation, data.validation.few, this.judge.passes);
    this.chance = a.dropout > 0 ? () => this.random.uniform() : null;
    this.bounds = [];
    for (const slot of slots(a)) {
      const name = part(slot.name);
      const last = this.bounds[this.bounds.length - 1];
      if (last?.name === name) last.end += slot.size;
      else this.bounds.push({ name, begin: slot.begin, end: slot.begin + slot.size });
    }
    this.keep();
    this.log(this.plan.all);
  }

  /** At most so many steps; gives how many were taken. Cutting a training into runs changes none of its numbers. */
  run(steps: number): number {
    const begun = this.step;
    while (this.status === "running" && this.step < begun + steps) this.one();
    return this.step - begun;
  }

  /** The rate of the settings, from the next step on. */
  set rate(value: number) {
    if (!(value > 0 && value < Infinity)) throw new CallError(`rate = ${value} is not a number above 0`);
    if (value === this.train.rate) return;
    this.train.rate = value;
    this.rates.push([this.step, value]);
  }

  get rate(): number {
    return this.train.rate;
  }

  /** The rate of the last update, as the schedule and plateaus made it. */
  get rate_now(): number {
    return rate(this.train, Math.max(this.step - 1, 0)) * this.scale;
  }

  /** End it here, before all steps are taken: the last weights are kept, and judged on all windows. */
  stop(): void {
    if (this.status === "running") this.end("stopped");
  }

  /** What the next update is made with, for whoever takes one apart: afterwards model and optimiser hold how it was made. */
  inside(): { batches: Batches; model: Model; optimiser: Optimiser; rate: number } {
    const { batches, model, optimiser, train, planned } = this;
    const changed = planned.length && planned[0][0] === this.step ? { ...train, rate: planned[0][1] } : train;
    return { batches, model, optimiser, rate: rate(changed, this.step) * this.scale };
  }

  /** Everything that was kept and logged since the last call. */
  take(): News {
    const { news } = this;
    this.news = { kept: [], lines: [], facts: [] };
    return news;
  }

  private one(): void {
    const { model, params, train, batches, planned } = this;
    while (planned.length && planned[0][0] === this.step) this.rate = (planned.shift() as [number, number])[1];
    batches.draw(this.step);
    if (this.chance) this.random.set(train.seed, DROPOUT, this.step);
    model.answers(params, batches.tokens, this.chance);
    this.loss = model.lossGradient(batches.targets);
    model.backward();
    this.optimiser.step(params, model.gradient, rate(train, this.step) * this.scale);
    this.step += 1;
    this.loss_sum += this.loss;
    if (!Number.isFinite(this.loss)) {
      this.end("diverged");
      return;
    }
    if (this.step === train.steps) {
      this.end("finished");
      return;
    }
    if (this.plan.kept.has(this.step)) this.keep();
    if (this.plan.logged.has(this.step)) this.log(this.plan.all);
  }

  private end(status: Status): void {
    this.status = status;
    if (this.kept !== this.step) this.keep();
    this.log(true);
  }

  private keep(): void {
    this.news.kept.push({ step: this.step, params: this.params.slice() });
    this.kept = this.step;
  }

  private log(all: boolean): void {
    const line: Line = { step: this.step, rate: this.rate_now };
    const steps = this.step - this.logged;
    if (steps) line.batch_loss = this.loss_sum / steps;
    this.seen.begin();
    Object.assign(line, this.judge.line(this.params, all, null, this.seen));
    if (steps) {
      line.gradient = this.sizes(this.model.gradient);
      line.update = this.sizes(this.optimiser.update);
      line.weights = this.sizes(this.params);
    }
    this.news.lines.push(rounded(line) as Line);
    this.news.facts.push(this.seen.told(this.step));
    this.logged = this.step;
    this.loss_sum = 0;
    if (this.status !== "running") return;
    if (!Number.isFinite(line.validation_loss as number)) this.status = "diverged";
    this.after_judgement(Math.fround(line.validation_loss as number));
  }

  /** Plateaus and early stopping: what the newest validation loss means for the next steps. */
  private after_judgement(loss: number): void {
    const { train } = this;
    const better = loss < this.best;
    this.best = better ? loss : this.best;
    this.waited = better ? 0 : this.waited + 1;
    this.patience = better ? 0 : this.patience + 1;
    if (train.schedule === "plateau" && this.patience >= train.patience) {
      this.scale = Math.fround(this.scale * train.drop);
      this.patience = 0;
    }
    if (typeof train.stop_after === "number" && this.waited >= train.stop_after) this.end("stopped early");
  }

  /** The length of a vector, in all and part by part. */
  private sizes(vector: Float32Array): Record<string, number> {
    const found: Record<string, number> = { all: 0 };
    for (const { name, begin, end } of this.bounds) {
      let square = 0;
      for (let k = begin; k < end; k++) square += vector[k] * vector[k];
      found[name] = (found[name] ?? 0) + square;
      found.all += square;
    }
    for (const name of Object.keys(found)) found[name] = Math.sqrt(found[name]);
    return found;
  }
}

/** Eight digits, which is what 32 bits hold. */
function rounded(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) || !Number.isFinite(value) ? value : Number(value.toPrecision(8));
  return Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, rounded(each)]));
}
