// What is true of a model at one step: the twin of report/facts.py, on the few windows that stand for all.

import type { Examples, Facts, Looks, Rung, TaskInfo } from "../data/source";
import type { Architecture } from "../model/architecture";
import type { Point } from "../model/model";
import { type Beside, Passes } from "./judge";
import { rung } from "./ladder";

const HALF = 0.5; // share of the attention from which a head is said to look at something
const HAS = 0.2; // beyond looking everywhere alike, from which a head has a role
const QUERIES = 512; // whose attention is looked at, at every place of a window as often as all that matter
const FEW = 5; // questions of a kind from which it can be said to go wrong most
const SURE = 1e-3; // nats: the exact predictor pays less where only one answer is right
const ONLY = "only one word can follow"; // of a text learnt by heart: the places whose errors are counted

/** A query whose attention matters, and the keys of each role for it. */
interface Asked {
  window: number;
  position: number;
  keys: Uint8Array[]; // role → (key,)
}

export class Seen implements Beside {
  private readonly attention: Float32Array[]; // of each block: (window, head, query, key)
  private readonly asked: Asked[][]; // by window
  private readonly roles: string[];
  private readonly sought: number; // the role of what must be looked up; -1: nothing must
  private readonly offered: number[]; // role → how many queries have such a key
  private readonly even: number[]; // role → its share if all positions in view counted the same
  private readonly kinds: string[];
  private readonly floor: number;

  constructor(
    private readonly architecture: Architecture,
    private readonly task: TaskInfo,
    private readonly ladder: Rung[],
    private readonly examples: Examples,
    private readonly count = examples.few,
    private readonly passes = new Passes(architecture), // others may look on at the same ones
  ) {
    const points = this.passes.model.points.filter((point: Point) => point.name === "attention");
    this.attention = architecture.attention === "on" ? points.map((point: Point) => point.values) : [];
    const found = this.attention.length ? attended(architecture, task, examples, count) : { roles: [], asked: [], sought: "" };
    const all = found.asked;
    const often = found.roles.map((_, k) => all.filter(({ keys }) => keys[k].includes(1)).length);
    const kept = found.roles.map((_, k) => k).filter((k) => all.length > 0 && often[k] >= HALF * all.length);
    this.roles = kept.map((k) => found.roles[k]);
    this.offered = kept.map((k) => often[k]);
    this.sought = this.roles.indexOf(found.sought);
    this.asked = Array.from({ length: count }, () => []);
    for (const each of all) this.asked[each.window].push({ ...each, keys: kept.map((k) => each.keys[k]) });
    this.even = this.roles.map((_, k) => {
      const shares = this.asked.flat().map(({ position, keys }) => {
        const view = architecture.causal ? position + 1 : architecture.context;
        return keys[k].reduce((sum, key) => sum + key, 0) / view;
      });
      return shares.reduce((sum, share) => sum + share, 0) / this.offered[k];
    });
    this.kinds = one_kind(task) ? [ONLY] : task.kinds.map((kind) => named(kind, task, examples, count));
    let [floor, many] = [0, 0];
    for (const at of this.places()) {
      floor -= examples.truth[at];
      many += 1;
    }
    this.floor = floor / many;
  }

  /** What is true with these parameters. */
  at(step: number, params: Float32Array): Facts {
    this.begin();
    this.passes.over(params, this.examples.windows, this.count, (first, many) => this.see(first, many));
    return this.told(step);
  }

  private counts = { loss: 0, many: 0, wrong: 0, judged: 0 };
  private by_kind: { asked: number; wrong: number }[] = [];
  private shares: number[][][] = []; // (block, head, role)

  /** Before the first windows of a pass. */
  begin(): void {
    this.counts = { loss: 0, many: 0, wrong: 0, judged: 0 };
    this.by_kind = this.kinds.map(() => ({ asked: 0, wrong: 0 }));
    this.shares = this.attention.map(() => Array.from({ length: this.architecture.heads }, () => this.roles.map(() => 0)));
  }

  /** Some windows whose answers have just been computed. */
  see(first: number, many: number): void {
    const { passes, task, examples: e, architecture: a, counts } = this;
    const rule = task.measure === "rule_error";
    for (let row = 0; row < many && first + row < this.count; row++) {
      for (let place = e.places > 1 ? task.skip : 0; place < e.places; place++) {
        const at = (first + row) * e.places + place;
        const begin = passes.row(row, place);
        const target = e.windows[(first + row) * (a.context + 1) + a.context + 1 - e.places + place];
        const guess = passes.guess(begin);
        const bad = Number(rule ? !e.allowed[at * a.outputs + guess] : guess !== target);
        counts.loss += passes.loss(begin, target);
        counts.many += 1;
        if (!rule || e.answerable[at]) {
          counts.judged += 1;
          counts.wrong += bad;
        }
        const kind = one_kind(task) ? 0 : e.kind[at];
        if (kind >= 0 && (rule ? e.answerable[at] : e.truth[at] > -SURE)) {
          this.by_kind[kind].asked += 1;
          this.by_kind[kind].wrong += bad;
        }
      }
      for (const query of this.asked[first + row]) this.look(query, row);
    }
  }

  /** What the windows seen since `begin` say. */
  told(step: number): Facts {
    const { counts, task } = this;
    const loss = counts.loss / counts.many;
    if (!Number.isFinite(loss)) {
      return { step, loss: null, excess: null, rung: null, error: null, looks: null, wrong: null };
    }
    return {
      step,
      loss,
      excess: loss - this.floor,
      rung: rung(this.ladder, loss, task.exact ? loss - this.floor : Infinity),
      error: counts.judged ? counts.wrong / counts.judged : null,
      looks: this.asked.some((some) => some.length) ? this.looks() : null,
      wrong: this.worst(),
    };
  }

  /** Every prediction that counts, as a place in the arrays of the examples. */
  private *places(): Iterable<number> {
    const { places } = this.examples;
    for (let window = 0; window < this.count; window++) {
      for (let place = places > 1 ? this.task.skip : 0; place < places; place++) yield window * places + place;
    }
  }

  private look({ position, keys }: Asked, row: number): void {
    const { shares } = this;
    const { context, heads } = this.architecture;
    for (let block = 0; block < this.attention.length; block++) {
      for (let head = 0; head < heads; head++) {
        const begin = ((row * heads + head) * context + position) * context;
        for (let role = 0; role < keys.length; role++) {
          let sum = 0;
          for (let key = 0; key < context; key++) if (keys[role][key]) sum += this.attention[block][begin + key];
          shares[block][head][role] += sum;
        }
      }
    }
  }

  private looks(): Looks | null {
    let best: { block: number; head: number; share: number[]; score: number } | null = null;
    this.shares.forEach((heads, block) =>
      heads.forEach((roles, head) => {
        const share = roles.map((sum, k) => sum / this.offered[k]);
        const score = this.sought >= 0 ? share[this.sought] : Math.max(...share.map((each, k) => each - this.even[k]));
        if (best === null || score > best.score || !Number.isFinite(score)) best = { block, head, share, score };
      }),
    );
    if (best === null) return null;
    const { block, head, share, score }: { block: number; head: number; share: number[]; score: number } = best;
    if (!Number.isFinite(score)) return null;
    const answer = this.sought >= 0 ? share[this.sought] : null;
    if (answer !== null && answer >= HALF) return { at: this.roles[this.sought], share: answer, answer, block, head };
    let role = -1;
    const more = share.map((each, k) => each - this.even[k]);
    share.forEach((each, k) => {
      if (each >= HALF && more[k] >= HAS && (role < 0 || more[k] > more[role])) role = k;
    });
    return { at: role < 0 ? "" : this.roles[role], share: role < 0 ? 0 : share[role], answer, block, head };
  }

  private worst(): Facts["wrong"] {
    const share = (k: number): number => this.by_kind[k].wrong / this.by_kind[k].asked;
    let worst = -1;
    this.by_kind.forEach(({ asked, wrong }, k) => {
      if (asked >= FEW && wrong && (worst < 0 || share(k) > share(worst))) worst = k;
    });
    return worst < 0 ? null : { kind: this.kinds[worst], share: share(worst) };
  }
}

/** Whether a text is learnt by heart: then errors count where only one word can follow. */
function one_kind({ exact, measure, answers }: TaskInfo): boolean {
  return exact && measure === "accuracy" && answers === "next";
}

/** `3 back` in place of `3 or more back` where no answer lies farther. */
function named(kind: string, task: TaskInfo, e: Examples, count: number): string {
  if (task.measure !== "rule_error" || !kind.includes(" or more back")) return kind;
  const far = new Set<number>();
  for (let at = 0; at < count * e.places; at++) {
    const back = (at % e.places) - e.source[at];
    if (e.answerable[at] && e.source[at] >= 0 && back >= parseInt(kind)) far.add(back);
  }
  return far.size === 1 ? `${[...far][0]} back` : kind;
}

/** The queries that matter, the keys of each role for them, and the role of what must be looked up. */
function attended(
  a: Architecture,
  task: TaskInfo,
  e: Examples,
  count: number,
): { roles: string[]; asked: Asked[]; sought: string } {
  const { context } = a;
  const token = (window: number, key: number) => e.windows[window * (context + 1) + key];
  const special: Record<string, (window: number, position: number, key: number) => boolean> = {};
  const where: [number, number][] = [];
  let sought = "";
  if (task.answers === "one") {
    for (let window = 0; window < count; window++) where.push([window, a.read_position as number]);
    const there = where.every(([window]) => e.source[window] >= 0);
    if (there) special[(sought = "answer")] = (window, _, key) => token(window, key) === token(window, e.source[window]);
    Object.assign(special, numbers(task, e, count, context));
  } else {
    const every = Array.from({ length: count * e.places }, (_, at) => at);
    const far = every.filter((at) => e.source[at] >= 0 && e.source[at] !== at % e.places);
    if (far.length) {
      sought = copied(e, far, a) ? "answer" : "needed token";
      special[sought] = (window, position, key) => e.source[window * e.places + position] === key;
    }
    const spoken = every.filter((at) => e.constrained[at]);
    const all = (far.length ? far : spoken.length ? spoken : every).sort((a, b) => (a % e.places) - (b % e.places) || a - b);
    for (let k = 0; k < Math.min(QUERIES, all.length); k++) {
      const at = all[Math.floor((k * all.length) / Math.min(QUERIES, all.length))];
      where.push([Math.floor(at / e.places), at % e.places]);
    }
  }
  const back = (many: number) => (_: number, position: number, key: number) => position === key + many;
  Object.assign(special, { self: back(0), previous: back(1), "2 back": back(2), "3 back": back(3) });
  special.first = (_, position, key) => key === 0 && position > 0;
  const groups = Object.entries(task.groups);
  for (const [name, tokens] of groups.length > 1 ? groups : []) {
    const members = new Set(tokens);
    special[`${name} tokens`] = (window, position, key) => key !== position && members.has(token(window, key));
  }
  const asked = where.map(([window, position]) => ({
    window,
    position,
    keys: Object.values(special).map((is) =>
      Uint8Array.from({ length: context }, (_, key) => Number((key <= position || !a.causal) && is(window, position, key))),
    ),
  }));
  return { roles: Object.keys(special), asked, sought };
}

/** Whether what stands where the rule looks is the answer itself. */
function copied(e: Examples, far: number[], a: Architecture): boolean {
  return far.every((at) => {
    const found = e.windows[Math.floor(at / e.places) * (a.context + 1) + e.source[at]];
    return !e.allowed.length || e.allowed[at * a.outputs + found] === 1;
  });
}

/** Of questions about digits: the first, second, … number, the largest and the smallest; equal ones share a role. */
function numbers(
  task: TaskInfo,
  e: Examples,
  count: number,
  context: number,
): Record<string, (window: number, position: number, key: number) => boolean> {
  const digits = new Set(task.groups.digit ?? []);
  if (!digits.size) return {};
  const row = (window: number) => e.windows.subarray(window * (context + 1), window * (context + 1) + context);
  const place = (window: number, key: number) => {
    const words = row(window);
    if (!digits.has(words[key])) return 0;
    return words.subarray(0, key + 1).reduce((many, word) => many + Number(digits.has(word)), 0);
  };
  const of = (window: number) => Array.from(row(window)).filter((word) => digits.has(word));
  const most = Math.max(...Array.from({ length: count }, (_, window) => of(window).length));
  const found: Record<string, (window: number, position: number, key: number) => boolean> = {};
  for (let k = 1; k <= most; k++) found[`number ${k}`] = (window, _, key) => place(window, key) === k;
  found.largest = (window, _, key) => place(window, key) > 0 && row(window)[key] === Math.max(...of(window));
  found.smallest = (window, _, key) => place(window, key) > 0 && row(window)[key] === Math.min(...of(window));
  return found;
}
