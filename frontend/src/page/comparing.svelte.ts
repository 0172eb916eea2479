// Comparing: A is the page, B differs from it in one thing or several; both on one clock, or each on its own.

import type { OpenRun } from "../data/open.svelte";
import type { View } from "../panels/panel";
import { type Where, written_edits } from "./changing.svelte";
import type { Lab } from "./lab.svelte";
import { type Other, read_other, write_other } from "./other";
import { Lane } from "./work";

export class Comparing {
  view: View | null = $state.raw(null); // of B
  problem = $state(""); // why there is no B
  private opened: OpenRun | null = $state.raw(null); // the run of B, where it is another
  private looks = new Lane("look");

  constructor(private lab: Lab) {}

  on: boolean = $derived.by(() => this.lab.page.mode === "compare");
  /** How B differs; where the link says nothing, by the edits if there are any, else by being at the first step. */
  other: Other = $derived.by(() => {
    if (this.lab.page.b !== "") return read_other(this.lab.page.b);
    return this.lab.changing.rows.length ? { edits: "a" } : { step: this.lab.run?.steps[0] ?? 0 };
  });
  run: OpenRun | null = $derived.by(() => (this.other.run === undefined ? this.lab.run : this.opened?.info.id === this.other.run ? this.opened : null));
  member: number = $derived.by(() => Math.min(this.other.member ?? this.lab.member, (this.run?.info.members ?? 1) - 1));
  index: number = $derived.by(() => (this.run ? this.index_at(this.lab.index, this.run) : 0));
  step: number = $derived.by(() => this.run?.steps[this.index] ?? 0);
  input: string = $derived.by(() => this.other.input ?? this.lab.input);
  /** Whether B's clock goes with A's. */
  locked: boolean = $derived.by(() => this.other.step === undefined);
  /** Whether A has the edits: not where they are what is compared, and B has them. */
  a_edited: boolean = $derived.by(() => !(this.on && this.other.edits === "b"));
  b_edited: boolean = $derived.by(() => this.other.edits !== "a");
  /** Whether numbers of A and B can be subtracted place by place. */
  alike: boolean = $derived.by(() => {
    const [a, b] = [this.lab.view, this.view];
    if (!a || !b) return false;
    const shape = (view: View): string => Object.entries(view.trace.points).map(([name, { shape }]) => `${name} ${shape.join(" ")}`).join();
    return shape(a) === shape(b);
  });

  /** The place of B's step when A is at one of its own. */
  private index_at(index: number, run: OpenRun): number {
    const { step, back } = this.other;
    if (step !== undefined) return run.nearest(step);
    if (back !== undefined) return Math.max(0, Math.min(run.steps.length - 1, index - back));
    const own = this.lab.run;
    if (run === own) return index;
    return index === (own?.steps.length ?? 0) - 1 ? run.steps.length - 1 : run.nearest(own?.steps[index] ?? 0);
  }

  /** Where B is when A is at a step. */
  where(step: number): Where | null {
    const { run, member } = this;
    const own = this.lab.run;
    if (!run || !own) return null;
    const found = this.lab.tokens(this.input, run);
    return "problem" in found ? null : { run, member, step: run.steps[this.index_at(own.nearest(step), run)], tokens: found.tokens };
  }

  /** Open the run of B; to be called in an effect. */
  open(): void {
    const { run } = this.other;
    if (run === undefined || this.opened?.info.id === run) return;
    this.lab.opening(run).then(
      (found) => (this.opened = found),
      (problem) => (this.problem = problem instanceof Error ? problem.message : String(problem)),
    );
  }

  /** Look at B; to be called in an effect. */
  look(): void {
    const { run, step, member, input, b_edited } = this;
    const { temperature } = this.lab.page;
    if (!run) return;
    const found = this.lab.tokens(input, run);
    if ("problem" in found) {
      this.problem = found.problem;
      this.view = null;
      return;
    }
    this.problem = "";
    const asked = this.lab.changing.look({ run, step, member, tokens: found.tokens }, b_edited);
    this.looks.ask(asked).then(
      (seen) => {
        if (seen) this.view = { run, member, step, params: asked.params, trace: seen.trace, before: null, params_before: null, edits: written_edits(asked), temperature, which: "b" };
      },
      (problem) => (this.problem = problem instanceof Error ? problem.message : String(problem)),
    );
  }

  put(other: Other): void {
    this.lab.page.b = write_other(other);
  }

  /** Let B's clock go with A's, or stay where it is. */
  lock(together: boolean): void {
    const { step: _, back: __, ...rest } = this.other;
    const apart = this.lab.index - this.index;
    if (!together) this.put({ ...rest, step: this.index === (this.run?.steps.length ?? 0) - 1 ? -1 : this.step });
    else this.put(this.run === this.lab.run && apart !== 0 ? { ...rest, back: apart } : rest);
  }

  /** A becomes B, and B becomes A. */
  swap(): void {
    const { page, run, member, index, input } = this.lab;
    const { other } = this;
    if (!run || !this.run) return;
    const kept = (of: OpenRun, at: number): number => (at === of.steps.length - 1 ? -1 : of.steps[at]);
    const next: Other = {};
    if (other.run !== undefined) next.run = run.info.id;
    if (other.member !== undefined || other.run !== undefined) next.member = member;
    if (other.step !== undefined) next.step = kept(run, index);
    if (other.back !== undefined) next.back = -other.back;
    if (other.edits !== undefined) next.edits = other.edits === "a" ? "b" : "a";
    if (other.input !== undefined) next.input = input;
    Object.assign(page, { step: kept(this.run, this.index), b: write_other(next) });
    if (other.run !== undefined) page.run = other.run;
    if (next.member !== undefined) page.member = this.member;
    if (other.input !== undefined) page.input = other.input;
  }
}
