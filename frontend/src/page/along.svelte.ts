// Two sides along the clock: a number of each at many steps, worked out in a worker, from coarse to fine, until it is
// done or something newer is asked.

import type { OpenRun } from "../data/open.svelte";
import type { Examples } from "../data/source";
import type { Judged } from "./judging";
import type { Look, Side } from "./looking";
import type { QUANTITIES } from "./page";
import { Lane } from "./work";

export type Quantity = (typeof QUANTITIES)[number];

const MOST = 400; // steps; as many as a curve of this width can show
const PATIENCE = 60; // milliseconds that one request may take
const PRODUCTS = 3e7; // of one judgement, of which there are two for each step
const FEWEST = 16; // windows

// one curve is drawn at a time, whoever draws it
const tells = new Lane("tell");
const judges = new Lane("judge");

/** What is asked for. */
export interface Course {
  quantity: Quantity;
  steps: readonly number[];
  sides(step: number): { run: OpenRun; look: Look }[]; // A and B
  position: number;
  temperature: number;
  answers: readonly number[]; // those whose chances count
}

export class Along {
  steps: number[] = $state.raw([]); // those that are done, ascending
  a: number[] = $state.raw([]);
  b: number[] = $state.raw([]);
  done = $state(0);
  total = $state(0);
  problem = $state("");

  private turn = 0;

  /** Whether it is still being worked out. */
  get going(): boolean {
    return this.done < this.total;
  }

  /** Leave it as it is. */
  stop(): void {
    this.turn++;
    this.total = this.done;
  }

  /** Forget it. */
  clear(): void {
    this.stop();
    Object.assign(this, { steps: [], a: [], b: [], done: 0, total: 0, problem: "" });
  }

  async begin(course: Course): Promise<void> {
    const turn = ++this.turn;
    const order = coarse_to_fine(thinned(course.steps, MOST));
    const found = new Map<number, [number, number]>();
    Object.assign(this, { done: 0, total: order.length, problem: "" }); // what was drawn stays until there is something new
    let many = 2;
    try {
      for (let k = 0; k < order.length; ) {
        const some = order.slice(k, k + many);
        const began = performance.now();
        const pairs = await this.ask(course, some);
        if (turn !== this.turn) return;
        if (!pairs) break;
        some.forEach((step, place) => found.set(step, pairs[place]));
        k += some.length;
        this.done = k;
        const steps = [...found.keys()].sort((one, other) => one - other);
        Object.assign(this, { steps, a: steps.map((step) => found.get(step)![0]), b: steps.map((step) => found.get(step)![1]) });
        if (performance.now() - began < PATIENCE / 2) many *= 2;
      }
    } catch (problem) {
      if (turn === this.turn) this.problem = problem instanceof Error ? problem.message : String(problem);
    }
    if (turn === this.turn) this.total = this.done;
  }

  private async ask(course: Course, steps: number[]): Promise<[number, number][] | null> {
    const sides = steps.map((step) => course.sides(step));
    if (course.quantity === "loss" || course.quantity === "error") {
      const { quantity } = course;
      const a = await this.judge(sides.map((pair) => pair[0]));
      const b = await this.judge(sides.map((pair) => pair[1]));
      return a && b && steps.map((_, k) => [a[k][quantity], b[k][quantity]]);
    }
    const request = { sides: sides.flat().map(({ look }) => side(look)), position: course.position, temperature: course.temperature };
    const said = await tells.ask(request);
    if (!said) return null;
    return steps.map((_, k) => {
      const [a, b] = [said[2 * k], said[2 * k + 1]];
      if (course.quantity === "apart") return [apart(a, b), 0];
      return [sum(a, course.answers), sum(b, course.answers)];
    });
  }

  private judge(sides: { run: OpenRun; look: Look }[]): Promise<Judged[] | null> {
    const [{ run }] = sides;
    const { data, info } = run;
    if (!data) throw new Error(`this file holds no windows by which ${info.name} can be judged`);
    const some = (part: Examples): Examples => ({ ...part, few: judged_on(run, part) });
    const [validation, test] = [some(data.validation), data.test && some(data.test)];
    return judges.ask({ sides: sides.map(({ look }) => side(look)), task: info.task, validation, test, all: false });
  }
}

/** How many windows of a part each step is judged on: those that stand for all, fewer where the model is large. */
export function judged_on({ info, architecture }: OpenRun, part: Examples): number {
  return Math.min(part.few, Math.max(FEWEST, Math.floor(PRODUCTS / (info.parameters * architecture.context))));
}

/** Without what only the page needs. */
function side({ architecture, params, tokens, edits }: Look): Side {
  return { architecture, params, tokens, edits };
}

function sum(chances: Float32Array, answers: readonly number[]): number {
  return answers.reduce((all, k) => all + chances[k], 0);
}

/** How far two answers are apart: the share of the chances that would have to be moved; not a number for other answers. */
export function apart(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return NaN;
  let all = 0;
  for (let k = 0; k < a.length; k++) all += Math.abs(a[k] - b[k]);
  return all / 2;
}

/** At most so many of some steps, evenly among them, the first and the last with them. */
export function thinned(steps: readonly number[], most: number): number[] {
  if (steps.length <= most) return [...steps];
  return Array.from({ length: most }, (_, k) => steps[Math.round((k * (steps.length - 1)) / (most - 1))]);
}

/** The same steps, so that any beginning of the list is spread over all of them. */
export function coarse_to_fine(steps: readonly number[]): number[] {
  const found = new Set<number>();
  if (steps.length) found.add(0).add(steps.length - 1);
  for (let stride = 1 << 16; stride >= 1; stride >>= 1) for (let k = 0; k < steps.length; k += stride) found.add(k);
  return [...found].map((k) => steps[k]);
}
