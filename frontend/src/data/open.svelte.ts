// A run that is open in the page: what a source tells of it, at hand without waiting, and growing while it is trained.

import { type Slot, slots } from "../model/architecture";
import type { DataSource, Event, Facts, Metrics, RunInfo, TaskData, Weights } from "./source";

export class OpenRun {
  readonly info: RunInfo;
  readonly slots: Slot[];
  readonly weights: Weights;
  readonly data: TaskData | null;
  steps: number[] = $state.raw([]);
  metrics: Metrics = $state.raw({ step: [], columns: {} });
  facts: Facts[][] = $state.raw([]); // (member, step)
  events: Event[] = $state.raw([]);
  status: string = $state("");

  constructor(info: RunInfo, metrics: Metrics, weights: Weights, data: TaskData | null) {
    this.info = info;
    this.slots = slots(info.experiment.architecture);
    this.weights = weights;
    this.data = data;
    this.steps = info.steps;
    this.metrics = metrics;
    this.facts = info.facts;
    this.events = info.events;
    this.status = info.status;
  }

  get architecture() {
    return this.info.experiment.architecture;
  }

  get last(): number {
    return this.steps[this.steps.length - 1];
  }

  /** The place in `steps` of the kept step nearest to one; -1 is the last. */
  nearest(step: number): number {
    if (step < 0) return this.steps.length - 1;
    let low = 0;
    let high = this.steps.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle] < step) low = middle + 1;
      else high = middle;
    }
    return low > 0 && step - this.steps[low - 1] < this.steps[low] - step ? low - 1 : low;
  }

  /** A logged column of one member; NaN where it is not a number. */
  column(name: string, member: number): number[] | null {
    const found = this.metrics.columns[name];
    return found ? found.map((line) => line[Math.min(member, line.length - 1)] ?? NaN) : null;
  }

  /** The losses by which the curve is drawn. */
  curve(member: number): { step: number[]; loss: number[] } {
    const loss = this.column("validation_loss", member) ?? this.column("train_loss", member) ?? [];
    return { step: this.metrics.step, loss };
  }

  /** What was true at a step, or at the last one before it of which it is known. */
  /** The losses before its first step, of a run that continues another. */
  past(): { step: number[]; loss: number[] } | null {
    return null;
  }

  facts_at(step: number, member: number): Facts | null {
    const list = this.facts[member] ?? [];
    let low = 0;
    let high = list.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle].step <= step) low = middle;
      else high = middle - 1;
    }
    return list[low]?.step <= step ? list[low] : null;
  }
}

/** Everything of a run that the lab needs before it can draw. */
export async function open(source: DataSource, id: string): Promise<OpenRun> {
  const [info, metrics, weights, data] = await Promise.all([
    source.run(id),
    source.metrics(id),
    source.weights(id),
    source.data(id),
  ]);
  return new OpenRun(info, metrics, weights, data);
}
