// A run that is trained in this page: what its worker told of it so far, as a source would tell it.

import { rung } from "../learn/ladder";
import type { Line } from "../learn/judge";
import type { Progress } from "../learn/protocol";
import type { Event, Facts, Metrics, Rung, Weights } from "./source";

export class Trained {
  readonly steps: number[] = []; // kept ones
  readonly params: Float32Array[] = []; // of each kept step
  readonly lines: Line[] = [];
  readonly facts: Facts[] = []; // at the steps of the lines
  readonly weights: Weights;
  metrics: Metrics = { step: [], columns: {} };
  rates: [number, number][] = [];
  status: Progress["status"] = "running";
  step = 0;

  constructor() {
    const { steps, params } = this;
    this.weights = {
      steps,
      at(step) {
        const k = steps.indexOf(step);
        if (k < 0) throw new Error(`step ${step} was not kept`);
        return params[k];
      },
    };
  }

  /** What a report adds; gives whether there is a new kept step or line. */
  add({ news, status, step, rates }: Progress): boolean {
    this.status = status;
    this.step = step;
    this.rates = rates;
    for (const each of news.kept) {
      this.steps.push(each.step);
      this.params.push(each.params);
    }
    news.lines.forEach((line, k) => {
      const last = this.lines.length - 1;
      if (last >= 0 && this.lines[last].step === line.step) {
        this.lines.pop();
        this.facts.pop();
      }
      this.lines.push(line);
      this.facts.push(news.facts[k]);
      put(this.metrics, line, this.lines.length - 1);
    });
    if (news.lines.length) this.metrics = { ...this.metrics }; // another object: whoever drew it draws again
    return news.kept.length + news.lines.length > 0;
  }

  /** The rungs that were reached so far, each with its step, and where it diverged; ascending by step. */
  events(ladder: Rung[], exact: boolean): Event[] {
    const found: Event[] = [];
    let highest = -1;
    for (const line of this.lines) {
      const at = rung(ladder, line.validation_loss as number, exact ? (line.excess as number) : Infinity);
      for (let k = highest + 1; k <= at; k++) {
        if (ladder[k].reachable) found.push({ step: line.step, kind: "rung", text: `reaches: ${ladder[k].name}` });
      }
      highest = Math.max(highest, at);
    }
    if (this.status === "diverged") found.push({ step: this.step, kind: "diverged", text: "the loss is no longer a number" });
    return found;
  }
}

/** A line into the columns, at a place; tables within it are flattened, what is not a number is null. */
function put({ step, columns }: Metrics, line: Line, at: number): void {
  step[at] = line.step;
  for (const column of Object.values(columns)) column[at] = [null];
  const set = (name: string, value: number): void => {
    columns[name] ??= Array.from({ length: at + 1 }, () => [null]);
    columns[name][at] = [Number.isFinite(value) ? value : null];
  };
  for (const [name, value] of Object.entries(line)) {
    if (name === "step") continue;
    if (typeof value === "number") set(name, value);
    else for (const [inner, each] of Object.entries(value)) set(`${name}.${inner}`, each);
  }
}
