// Changing a model: the rows of edits and weights set by hand, which of them are in force, and what they do. The run that
// is shown stays as it was trained.

import type { OpenRun } from "../data/open.svelte";
import { sizes } from "../model/editing";
import { type Edit, type WeightEdit, written } from "../model/edits";
import { is_place } from "../model/glossary";
import { readings } from "../task/reading";
import { type Row, type Texts, hindrance, rows, rows_of, set, texts, with_set } from "./changes";
import type { Lab } from "./lab.svelte";
import type { Judged } from "./judging";
import type { Asked, Look, Source } from "./looking";
import { Lane } from "./work";

const MOST_PAST = 100; // states that can be brought back
const NONE = new Float32Array(0);
const MUCH = 3e8; // products of a judgement on all windows; beyond it the few that stand for them are judged

/** A model of the page on an input, with the changes or without them. */
export interface Where {
  run: OpenRun;
  step: number;
  member: number;
  tokens: Int32Array;
}

/** A row, and why it is not in force although it is on. */
export interface Standing {
  row: Row;
  problem: string;
}

/** What the changes do on the windows that the run is judged by. */
export interface Effect {
  edited: Judged;
  untouched: Judged;
}

export class Changing {
  effect: Effect | null = $state.raw(null);
  effect_problem = $state(""); // why it is not known
  private past: Texts[] = $state.raw([]);
  private others: ReadonlyMap<string, OpenRun> = $state.raw(new Map()); // runs that patches take from, by the name they are given
  private opening = new Set<string>();
  private judges = new Lane("judge");
  private known = { key: "", judged: null as Judged | null }; // the untouched model, judged last

  constructor(private lab: Lab) {}

  rows: Row[] = $derived.by(() => rows(this.lab.page));
  standing: Standing[] = $derived.by(() => {
    const { view } = this.lab;
    return this.rows.map((row) => ({ row, problem: view ? this.problem(row, { ...view, tokens: view.trace.tokens }) : row.problem }));
  });
  /** Whether anything is in force. */
  any: boolean = $derived.by(() => this.standing.some(({ row, problem }) => !row.off && !problem));
  can_undo: boolean = $derived.by(() => this.past.length > 0);

  // ---- what is in force ---------------------------------------------------------------------------------------------

  /** What to ask of a worker to see a model; without the changes unless they are wanted. */
  look(where: Where, changed = true): Look {
    const { run, step, member, tokens } = where;
    const { architecture } = run;
    const params = run.weights.at(step, member);
    const force = changed ? this.rows.filter((row) => !row.off && !this.problem(row, where)) : [];
    const weights = force.flatMap((row) => row.weights);
    const edits = force.flatMap((row): Asked[] => (row.edit ? [this.asked(row.edit, where, params)] : []));
    return { architecture, tokens, edits, params: set(params, run.slots, weights), untouched: weights.length ? params : null };
  }

  /** The parameters at the clock's step, with those that are set by hand. */
  params(): Float32Array | null {
    const { run, step, member } = this.lab;
    return run && set(run.weights.at(step, member), run.slots, this.weights_in_force());
  }

  /** The edits that are in force on the input shown, as they are written. */
  written(): string {
    return written(this.edits_in_force());
  }

  edits_in_force(): Edit[] {
    return this.in_force().flatMap((row) => (row.edit ? [row.edit] : []));
  }

  weights_in_force(): WeightEdit[] {
    return this.in_force().flatMap((row) => row.weights);
  }

  private in_force(): Row[] {
    return this.standing.flatMap(({ row, problem }) => (row.off || problem ? [] : [row]));
  }

  /** Why a row cannot be in force; "" if it can. */
  private problem(row: Row, where: Where): string {
    const found = hindrance(row, where.run.architecture, where.run.slots, where.tokens.length);
    if (found || row.edit?.verb !== "patch") return found;
    const source = this.source(row.edit, where, null);
    return typeof source === "string" ? source : "";
  }

  private asked(edit: Edit, where: Where, params: Float32Array): Asked {
    const source = edit.verb === "patch" ? this.source(edit, where, params) : undefined;
    return typeof source === "object" ? { edit, source } : { edit };
  }

  /** What a patch takes from, or why it cannot; `params` are those of the model itself, null where only that is asked. */
  private source(edit: Edit, { run, step, member, tokens }: Where, params: Float32Array | null): Source | string {
    const text = written([edit]);
    const there = edit.run === undefined ? run : this.others.get(edit.run);
    if (!there) return this.open(edit.run as string, text);
    const own = edit.run === undefined;
    if (!own && there.info.task.vocabulary.join("\n") !== run.info.task.vocabulary.join("\n")) {
      return `${text}: the tokens of ${there.info.name} are not those of ${run.info.name}; a patch needs the same`;
    }
    const [ours, theirs] = [run, there].map((each) => told(sizes(each.architecture)[edit.point] ?? {}));
    if (ours !== theirs) return `${text}: ${edit.point} has ${theirs} in ${there.info.name} and ${ours} in ${run.info.name}`;
    const { places } = there.info;
    const of = edit.member === undefined ? (own ? member : 0) : places.indexOf(edit.member);
    if (of < 0) return `${text}: there is no member ${edit.member} of ${there.info.name} in this file; there are: ${places.join(", ")}`;
    const at = edit.step === undefined ? (own ? step : there.last) : edit.step < 0 ? there.last : edit.step;
    const near = there.steps[there.nearest(at)];
    if (near !== at) return `${text}: step ${at} of ${there.info.name} is not in this file; the nearest one is ${near}`;
    let given: Int32Array | null = null;
    if (edit.from !== undefined) {
      try {
        given = readings(there.info.task).encode(edit.from);
      } catch (problem) {
        return `${text}: ${problem instanceof Error ? problem.message : String(problem)}`;
      }
      if (given.length !== tokens.length) {
        return `${text}: its text has ${given.length} tokens and this input ${tokens.length}; a patch needs as many`;
      }
    }
    const same = there === run && at === step && of === member;
    return { architecture: there.architecture, params: !params ? NONE : same ? params : there.weights.at(at, of), tokens: given };
  }

  /** Open the run that a patch takes from; until it is there, and where there is none, a sentence. */
  private open(name: string, text: string): string {
    const { cards, here } = this.lab;
    const known = [...cards, ...here.map((run) => run.info)];
    const card = known.find((each) => each.name === name || each.id === name);
    if (!card) return `${text}: there is no run ${name} in this file; there are: ${known.map((each) => each.name).join(", ")}`;
    if (!this.opening.has(name)) {
      this.opening.add(name);
      void this.lab.opening(card.id).then((run) => (this.others = new Map(this.others).set(name, run)));
    }
    return `${text}: ${card.name} is being opened`;
  }

  /** Judge the model with and without the changes; to be called in an effect. */
  measure(): void {
    const { run, step, member } = this.lab;
    if (!run) return;
    const { data, info, architecture } = run;
    this.effect_problem = "";
    if (!this.any) {
      this.effect = null;
      return;
    }
    if (!data) return;
    const where = { run, step, member, tokens: new Int32Array(architecture.context) }; // windows are as long as it sees
    for (const row of this.in_force()) {
      const problem = this.problem(row, where);
      if (problem) {
        this.effect_problem = problem.replace("this input", "each judged window");
        this.effect = null;
        return;
      }
    }
    const all = data.validation.count * architecture.context * info.parameters <= MUCH;
    const key = `${info.id} ${step} ${member}`;
    const before = this.known.key === key ? this.known.judged : null;
    const looks = [this.look(where), ...(before ? [] : [this.look(where, false)])];
    const sides = looks.map(({ params, edits }) => ({ architecture, params, edits }));
    this.judges.ask({ sides, task: info.task, validation: data.validation, test: data.test, all }).then(
      (judged) => {
        if (!judged) return;
        this.known = { key, judged: before ?? judged[1] };
        this.effect = { edited: judged[0], untouched: before ?? judged[1] };
      },
      (problem) => (this.effect_problem = problem instanceof Error ? problem.message : String(problem)),
    );
  }

  // ---- changing the rows --------------------------------------------------------------------------------------------

  /** Put rows in the place of those there are; `going_on` is for the middle of a drag, which is undone as a whole. */
  put(next: readonly Row[], going_on = false): void {
    const { edits, off, weights } = this.lab.page;
    const made = texts(next);
    if (made.edits === edits && made.off === off && made.weights === weights) return;
    if (!going_on) this.begin();
    Object.assign(this.lab.page, made);
  }

  /** Begin a drag: what it moves is undone as a whole. */
  begin(): void {
    const { edits, off, weights } = this.lab.page;
    this.past = [...this.past.slice(1 - MOST_PAST), { edits, off, weights }];
  }

  undo(): void {
    const { edits, off, weights } = this.lab.page;
    const same = (past: Texts): boolean => past.edits === edits && past.off === off && past.weights === weights;
    let k = this.past.length - 1;
    while (k >= 0 && same(this.past[k])) k--; // a drag that moved nothing
    if (k >= 0) Object.assign(this.lab.page, this.past[k]);
    this.past = this.past.slice(0, Math.max(k, 0));
  }

  /** Add what is written; why it cannot be read, or cannot be in force here, or "" if all is well. */
  add(text: string): string {
    const found = rows_of(text);
    if (!found.length) return "there is nothing to add; write an edit as zero(mixed, block=0, head=0)";
    const { view } = this.lab;
    for (const row of found) {
      const problem = view ? this.problem(row, { ...view, tokens: view.trace.tokens }) : row.problem;
      if (problem && !problem.endsWith("is being opened")) return problem;
    }
    const weights = found.flatMap((row) => row.weights);
    const edits = found.filter((row) => row.edit);
    const all = [...this.rows.filter((row) => !row.weights.length), ...edits, ...this.rows.filter((row) => row.weights.length)];
    this.put(weights.length ? with_set(all, weights) : all);
    return "";
  }

  remove(k: number): void {
    this.put(this.rows.filter((_, place) => place !== k));
  }

  /** Switch a row off, or on again. */
  flip(k: number): void {
    this.put(this.rows.map((row, place) => (place === k ? { ...row, off: !row.off } : row)));
  }

  clear(): void {
    this.put([]);
  }

  /** Whether an edit is written down and on. */
  has(text: string): boolean {
    return this.rows.some((row) => !row.off && row.text === text);
  }

  /** Put an edit into force, or take it away if it is there. */
  toggle(text: string): void {
    const k = this.rows.findIndex((row) => row.text === text);
    if (k < 0) this.add(text);
    else if (this.rows[k].off) this.flip(k);
    else this.remove(k);
  }

  /** Set numbers of a parameter by hand. */
  set(weights: readonly WeightEdit[], going_on = false): void {
    this.put(with_set(this.rows, weights), going_on);
  }
}

/** The edits of what a worker is asked, as they are written. */
export function written_edits({ edits }: { edits: readonly Asked[] }): string {
  return written(edits.map((each) => each.edit));
}

function told(axes: Record<string, number>): string {
  const found = Object.entries(axes).filter(([axis]) => !is_place(axis));
  return found.map(([axis, size]) => `${axis} ${size}`).join(", ") || "no place";
}
