// Predict first: something is hidden, the reader commits, then it is shown and counted. Questions come from the run itself.

import type { Architecture } from "../model/architecture";
import { Random } from "../learn/random";
import { readings } from "../task/reading";
import { next_chances } from "./chances";
import type { Lab } from "./lab.svelte";
import { landscape } from "./landscape";
import { limits_of, plane_of } from "./plane";
import { under } from "./reach";

export const KINDS = ["answer", "attention", "region"] as const;
export type Kind = (typeof KINDS)[number];
const QUESTIONS = 7; // the stream of chance that questions are drawn from

/** The kinds of question that a model of these settings can be asked. */
export function kinds_of(a: Architecture): Kind[] {
  return KINDS.filter((kind) => (kind === "attention" ? a.attention === "on" : kind === "region" ? a.width === 2 : true));
}

export class Predicting {
  said: number | null = $state(null); // what the reader committed to: an answer, a position, a region's answer
  right = $state(0);
  asked = $state(0);

  constructor(private lab: Lab) {}

  on: boolean = $derived.by(() => this.lab.page.mode === "predict");
  kind: Kind = $derived.by(() => {
    const named = this.lab.page.ask.split(":")[0] as Kind;
    return this.kinds.includes(named) ? named : this.kinds[0];
  });
  turn: number = $derived.by(() => Number(this.lab.page.ask.split(":")[1]) || 0);
  kinds: Kind[] = $derived.by(() => {
    const { run } = this.lab;
    return run ? kinds_of(run.architecture) : [];
  });

  private land = $derived.by(() => {
    const { view } = this.lab;
    if (!view || view.run.architecture.width !== 2) return null;
    const plane = plane_of(view.run, view.member);
    return landscape(view, limits_of(view, "stream", plane));
  });

  /** The region that is asked for: one of those with a name, by turns. */
  marked: number | null = $derived.by(() => {
    const named = this.land?.regions.filter((each) => !Number.isNaN(each.x)) ?? [];
    return named.length ? named[this.turn % named.length].token : null;
  });

  /** What is hidden for now. */
  hides(what: Kind): boolean {
    if (!this.on || this.said !== null) return false;
    return this.kind === what || (this.kind === "region" && what === "answer");
  }

  /** What the model does: the right answer to the question, computed from the view. */
  truth: number | null = $derived.by(() => {
    const { view } = this.lab;
    if (!view) return null;
    if (this.kind === "region") return this.marked;
    const row =
      this.kind === "answer"
        ? next_chances(view.trace, view.run.architecture, this.lab.position, 1)
        : under(view.trace.points.attention, this.lab.block, this.lab.head, this.lab.position);
    return row.reduce((best, each, k) => (each > row[best] ? k : best), 0);
  });

  /** What the reader can choose from, and how it is written. */
  choices: { value: number; text: string }[] = $derived.by(() => {
    const { view } = this.lab;
    if (!view) return [];
    const { vocabulary, outputs } = view.run.info.task;
    if (this.kind !== "attention") return outputs.map((text, value) => ({ value, text }));
    const last = view.run.architecture.causal ? this.lab.position : view.trace.tokens.length - 1;
    return Array.from(view.trace.tokens.subarray(0, last + 1), (token, value) => ({ value, text: `${vocabulary[token]} (${value})` }));
  });

  commit(value: number): void {
    if (this.said !== null) return;
    this.said = value;
    this.asked += 1;
    if (value === this.truth) this.right += 1;
  }

  choose(kind: Kind): void {
    this.lab.page.ask = `${kind}:${this.turn}`;
    this.said = null;
  }

  /** Another question: a window the model was not trained on, at a place where the rule speaks. */
  next(): void {
    const { lab } = this;
    const turn = this.turn + 1;
    this.said = null;
    lab.page.ask = `${this.kind}:${turn}`;
    const data = lab.run?.data?.validation;
    if (!lab.run || !data) return;
    const { task } = lab.run.info;
    const chance = new Random(turn, QUESTIONS);
    const span = data.windows.length / data.count;
    const row = Math.floor(chance.uniform() * data.count);
    const window = data.windows.subarray(row * span, row * span + (task.answers === "one" ? span - 1 : lab.run.architecture.context));
    const speaks = [...data.constrained.subarray(row * data.places, (row + 1) * data.places).keys()].filter((k) => data.answerable[row * data.places + k]);
    lab.page.input = readings(task).decode(window);
    lab.page.position = task.answers === "one" || !speaks.length ? -1 : speaks[Math.floor(chance.uniform() * speaks.length)];
  }
}
