// How good a model is on windows that were set aside: the counting of judge.py.

import type { Examples, TaskData, TaskInfo } from "../data/source";
import type { Architecture } from "../model/architecture";
import type { Change } from "../model/editing";
import { Model, type Point } from "../model/model";

const TOGETHER = 32; // windows side by side; more leave the processor's cache
const TINY = 1e-30; // below this a chance has lost digits

/** A logged line: numbers by name, or tables of them. */
export type Line = { step: number } & Record<string, number | Record<string, number>>;

/** Who looks on while the validation windows are judged. */
export interface Beside {
  see(first: number, many: number): void;
}

/** What edits change in a pass over so many inputs, (batch, position). */
export type Editing = (tokens: Int32Array, batch: number) => readonly Change[];

/** A pass over some windows, batch by batch; `see` is called for each batch once its answers are there. */
export class Passes {
  readonly model: Model;
  readonly logits: Float32Array;
  private readonly chances: Float32Array;
  private edited = false;
  readonly context: number;
  private readonly tokens: Int32Array;

  constructor(readonly architecture: Architecture) {
    this.context = architecture.context;
    this.model = new Model(architecture, TOGETHER, this.context);
    const values = (name: string) => (this.model.points.find((point) => point.name === name) as Point).values;
    [this.logits, this.chances] = [values("logits"), values("probabilities")];
    this.tokens = new Int32Array(TOGETHER * this.context);
  }

  /** `see(first, many)`: rows 0 to many of the model's buffers are now windows first, first + 1, … */
  over(
    params: Float32Array, windows: Int32Array, count: number, see: (first: number, many: number) => void,
    editing: Editing | null = null,
  ): void {
    const { context, tokens } = this;
    this.edited = editing !== null;
    for (let first = 0; first < count; first += TOGETHER) {
      const many = Math.min(TOGETHER, count - first);
      for (let row = 0; row < TOGETHER; row++) {
        const from = (first + Math.min(row, many - 1)) * (context + 1); // rows beyond the last repeat it
        for (let k = 0; k < context; k++) tokens[row * context + k] = windows[from + k];
      }
      if (editing) this.model.forward(params, tokens, editing(tokens, TOGETHER));
      else this.model.answers(params, tokens);
      see(first, many);
    }
  }

  /** Where the logits of a prediction begin. */
  row(example: number, place: number): number {
    const at = this.architecture.read_position ?? place;
    return (example * this.context + at) * this.architecture.outputs;
  }

  /** The likeliest token; of equal ones the first. */
  guess(begin: number): number {
    const { logits } = this;
    let best = 0;
    for (let k = 1; k < this.architecture.outputs; k++) if (logits[begin + k] > logits[begin + best]) best = k;
    return best;
  }

  /** What a token costs in nats, with all digits even where next to nothing is left of it. */
  loss(begin: number, token: number): number {
    const { chances } = this;
    const own = chances[begin + token];
    if (this.edited || !(own > TINY)) return this.exactly(begin, token); // edits may change the chances alone
    if (own < 0.5) return -Math.log(own);
    let others = 0;
    for (let k = 0; k < this.architecture.outputs; k++) if (k !== token) others += chances[begin + k];
    return Math.log1p(others / own);
  }

  /** The same from the logits, whatever their size. */
  private exactly(begin: number, token: number): number {
    const { logits } = this;
    const own = logits[begin + token];
    if (!Number.isFinite(own)) return NaN; // an infinite logit is a training that went wrong
    let most = -Infinity;
    for (let k = 0; k < this.architecture.outputs; k++) if (k !== token && !(logits[begin + k] <= most)) most = logits[begin + k];
    if (most === -Infinity) return 0; // there is only one token
    let sum = 0;
    for (let k = 0; k < this.architecture.outputs; k++) if (k !== token) sum += Math.exp(logits[begin + k] - most);
    const others = most - own + Math.log(sum); // their logarithm, relative to the token's own logit
    return others > 0 ? others + Math.log1p(Math.exp(-others)) : Math.log1p(Math.exp(others));
  }
}

interface Sums {
  loss: number;
  asked: number;
  wrong: number;
  constrained: number;
  wrong_answerable: number;
  answerable: number;
  right: number;
  by_kind: { right: number; asked: number }[];
  floor: number;
}

export class Judge {
  readonly passes: Passes;
  private readonly parts: [string, Examples][];

  constructor(
    architecture: Architecture,
    private readonly task: TaskInfo,
    data: TaskData,
  ) {
    this.passes = new Passes(architecture);
    this.parts = [["train", data.fit], ["validation", data.validation]];
    if (data.test) this.parts.push(["test", data.test]);
  }

  /** What a line says of a model, edited or not: on all windows, or on the few that stand for them. */
  line(
    params: Float32Array, all: boolean, editing: Editing | null = null, beside: Beside | null = null,
  ): Omit<Line, "step"> {
    const looking = (part: string) => (part === "validation" ? beside : null);
    const sums = new Map(this.parts.map(([part, e]) => [part, this.sums(params, e, all, editing, looking(part))]));
    const line: Record<string, number | Record<string, number>> = {
      judged: Object.fromEntries(this.parts.map(([part, e]) => [part, all ? e.count : e.few])),
    };
    for (const [part, { loss, asked }] of sums) line[`${part}_loss`] = loss / asked;
    const [train, validation] = [sums.get("train") as Sums, sums.get("validation") as Sums];
    line.train_excess = (train.loss - train.floor) / train.asked;
    line.excess = (validation.loss - validation.floor) / validation.asked;
    if (this.task.measure === "rule_error") {
      const sound = Number.isFinite(validation.loss);
      line.rule_error = share(validation.wrong, validation.constrained, sound);
      line.rule_error_answerable = share(validation.wrong_answerable, validation.answerable, sound);
      return line;
    }
    line.train_accuracy = share(train.right, train.asked, Number.isFinite(train.loss));
    const unseen = [...sums].filter(([part]) => part !== "train").map(([, each]) => each);
    const sound = unseen.every(({ loss }) => Number.isFinite(loss));
    const total = (name: "right" | "asked") => unseen.reduce((all, each) => all + each[name], 0);
    line.accuracy = share(total("right"), total("asked"), sound);
    if (this.task.kinds.length) {
      const of = (k: number, name: "right" | "asked") => unseen.reduce((all, each) => all + each.by_kind[k][name], 0);
      line.accuracy_by_kind = Object.fromEntries(
        this.task.kinds.map((kind, k) => [kind, share(of(k, "right"), of(k, "asked"), sound)]),
      );
    }
    return line;
  }

  private sums(
    params: Float32Array, e: Examples, all: boolean, editing: Editing | null, beside: Beside | null,
  ): Sums {
    const { passes, task } = this;
    const { context, outputs } = passes.architecture;
    const rule = task.measure === "rule_error";
    const by_kind = task.kinds.map(() => ({ right: 0, asked: 0 }));
    const s: Sums = {
      loss: 0, asked: 0, wrong: 0, constrained: 0, wrong_answerable: 0, answerable: 0, right: 0, by_kind, floor: 0,
    };
    passes.over(params, e.windows, all ? e.count : e.few, (first, many) => {
      beside?.see(first, many);
      for (let row = 0; row < many; row++) {
        for (let place = e.places > 1 ? task.skip : 0; place < e.places; place++) {
          const at = (first + row) * e.places + place;
          const begin = passes.row(row, place);
          const target = e.windows[(first + row) * (context + 1) + context + 1 - e.places + place];
          const guess = passes.guess(begin);
          s.loss += passes.loss(begin, target);
          s.floor -= e.truth[at];
          s.asked += 1;
          if (rule) {
            const wrong = e.allowed[at * outputs + guess] ? 0 : 1;
            s.constrained += e.constrained[at];
            s.answerable += e.answerable[at];
            s.wrong += wrong & e.constrained[at];
            s.wrong_answerable += wrong & e.answerable[at];
          } else {
            const right = guess === target ? 1 : 0;
            s.right += right;
            if (e.kind[at] >= 0 && by_kind.length) {
              by_kind[e.kind[at]].right += right;
              by_kind[e.kind[at]].asked += 1;
            }
          }
        }
      }
    }, editing);
    return s;
  }
}

/** Not a number where nothing can be counted, or the loss is none: the likeliest token is then just the first. */
function share(part: number, whole: number, sound: boolean): number {
  return sound && whole > 0 ? part / whole : NaN;
}
