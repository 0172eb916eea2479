// Which later numbers pull on a number, and how hard: its gradient, one step forward. What `operands` is for values
// this is for gradients: the gradient of a number is a sum over the numbers it goes into, of their gradient times a slope.

import { SLOPE } from "./activation";
import { has_blocks, type Architecture, type Slot } from "./architecture";
import { PER_BLOCK } from "./glossary";
import type { Operand } from "./operands";
import type { Cell, Numbers, Trace } from "./trace";

/** One later number and what it hands back: its gradient, times the factors of the slope. */
export interface Pull {
  by: { name: string; index: readonly number[] } | null; // a value of a point; null: what is asked about itself
  gradient: number; // there; 1 where there is nothing later
  slope: readonly Operand[]; // multiplied they are how much that number grows with this one; none: 1
  contribution: number;
}

/** A pass and what came back from it. */
export interface Passed {
  architecture: Architecture;
  slots: readonly Slot[];
  params: Float32Array;
  trace: Trace;
  gradients: Record<string, Numbers>; // of every point as it was computed, before edits changed it
  targets: Int32Array | null; // what the loss asks for at each position, −1: nothing; or
  logit: readonly [number, number] | null; // position and token of the one logit that is asked about
  unmasked: boolean; // an edit of attention may look ahead, so all positions are mixed
}

/** What pulls on a number of a point, or on a parameter: terms that sum to its gradient. */
export function pulls(cell: Cell, passed: Passed): Pull[] {
  const here = new Later(passed);
  if (cell.kind === "point") here.point(cell.name, cell.index);
  else if (cell.kind === "parameter") here.parameter(cell.name, cell.index);
  return here.found;
}

class Later {
  readonly found: Pull[] = [];
  private readonly a: Architecture;
  private readonly length: number;
  private readonly begins: Map<string, Slot>;

  constructor(private readonly passed: Passed) {
    this.a = passed.architecture;
    this.length = passed.trace.tokens.length;
    this.begins = new Map(passed.slots.map((slot) => [slot.name, slot]));
  }

  point(name: string, index: readonly number[]): void {
    const { a } = this;
    const inside = Object.hasOwn(PER_BLOCK, name);
    const block = inside ? index[0] : 0;
    const here = inside ? index.slice(1) : index;
    const pre = a.norm_place === "pre";
    if (name === "token_embedding" || name === "position_embedding") this.pull("embedded", here);
    else if (name === "embedded") this.stream(0, here);
    else if (name === "normed_1") pre ? this.asked(block, here) : this.between(block, here);
    else if (name === "query" || name === "key") this.scored(name, block, here);
    else if (name === "scores") this.shared(block, here);
    else if (name === "attention") this.looked(block, here);
    else if (name === "value") this.given(block, here);
    else if (name === "mixed") this.projected(block, here);
    else if (name === "attended") this.pull("middle", [block, ...here]);
    else if (name === "middle") {
      pre || a.attention === "off" ? this.between(block, here) : this.normed("middle", "normed_1", block, here);
    } else if (name === "normed_2") pre ? this.expanded(block, here) : this.stream(block + 1, here);
    else if (name === "hidden_in") {
      const slope = SLOPE[a.activation](this.at(name, ...index));
      this.pull("hidden", index, [constant(`slope of ${a.activation}`, slope)]);
    } else if (name === "hidden") {
      const [position, neuron] = here;
      for (let k = 0; k < a.width; k++) {
        this.pull("fed", [block, position, k], [this.weight(`blocks.${block}.contract`, neuron, k)]);
      }
    } else if (name === "fed") this.pull("out", [block, ...here]);
    else if (name === "out") {
      pre || !a.feed_forward ? this.stream(block + 1, here) : this.normed("out", "normed_2", block, here);
    } else if (name === "final") {
      const [position, k] = here;
      for (let t = 0; t < a.outputs; t++) {
        const weight = a.tied_embedding ? this.weight("token", t, k) : this.weight("read_out", k, t);
        this.pull("logits", [position, t], [weight]);
      }
    } else if (name === "logits") this.asked_about(here);
  }

  // ---- the stream -------------------------------------------------------------------------------------------------

  /** What reads the stream that enters a block; after the last one, what is read out. */
  private stream(block: number, here: readonly number[]): void {
    const { a } = this;
    if (!has_blocks(a) || block === a.blocks) {
      const from = has_blocks(a) ? this.leaving : "embedded";
      this.normed(from, "final", has_blocks(a) ? a.blocks - 1 : null, here);
    } else if (a.attention === "off") this.pull("middle", [block, ...here]);
    else {
      if (a.norm_place === "pre") this.normed(block ? this.leaving : "embedded", "normed_1", block, here, block - 1);
      else this.asked(block, here);
      if (a.residual) this.pull("middle", [block, ...here]);
    }
  }

  /** What reads the stream between attention and feed-forward. */
  private between(block: number, here: readonly number[]): void {
    const { a } = this;
    if (a.feed_forward) {
      if (a.norm_place === "pre") this.normed("middle", "normed_2", block, here);
      else this.expanded(block, here);
    }
    if (a.residual || !a.feed_forward) this.pull("out", [block, ...here]);
  }

  /** The point at which a block leaves the stream. */
  private get leaving(): string {
    return this.a.norm_place === "post" && this.a.feed_forward ? "normed_2" : "out";
  }

  /** A norm reads the row of a position; `from` is the point that it norms, in block `source`. */
  private normed(
    from: string, to: string, block: number | null, [position, feature]: readonly number[], source = block,
  ): void {
    const { a } = this;
    const inside = Object.hasOwn(PER_BLOCK, to);
    const into = (k: number) => (inside ? [block as number, position, k] : [position, k]);
    if (a.norm === "none" || (to === "final" && !a.final_norm)) return this.pull(to, into(feature));
    const { unit, inverse } = this.unit(from, source, position);
    const gain = inside ? `blocks.${block}.${to.replace("normed", "norm")}` : "norm";
    for (let k = 0; k < a.width; k++) {
      const shared = ((a.norm === "layer" ? 1 : 0) + unit[k] * unit[feature]) / a.width;
      const slope = inverse * ((k === feature ? 1 : 0) - shared);
      this.pull(to, into(k), [this.weight(gain, k), constant("slope of the norm", slope)]);
    }
  }

  /** A row brought to unit size, and what it was multiplied by. */
  private unit(from: string, block: number | null, position: number): { unit: number[]; inverse: number } {
    const { a } = this;
    const inside = Object.hasOwn(PER_BLOCK, from);
    const place = inside ? [block as number, position] : [position];
    const row = Array.from({ length: a.width }, (_, k) => this.at(from, ...place, k));
    const mean = a.norm === "layer" ? row.reduce((sum, x) => sum + x, 0) / a.width : 0;
    const inverse = 1 / Math.sqrt(row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / a.width + a.norm_epsilon);
    return { unit: row.map((x) => (x - mean) * inverse), inverse };
  }

  // ---- attention --------------------------------------------------------------------------------------------------

  /** Queries, keys and values of all heads are read from a feature of what a block attends with. */
  private asked(block: number, [position, feature]: readonly number[]): void {
    const { a } = this;
    for (const name of a.attention === "on" ? ["query", "key", "value"] : ["value"]) {
      for (let h = 0; h < a.heads; h++) {
        for (let j = 0; j < a.head_width; j++) {
          for (const [column, by] of this.columns(name, position, j)) {
            const weight = this.weight(`blocks.${block}.${name}`, feature, h * a.head_width + column);
            this.pull(name, [block, h, position, j], [weight, ...by]);
          }
        }
      }
    }
  }

  /** The columns of a head that one of its features is made of: itself, or the two that a rotation mixes. */
  private columns(name: string, position: number, feature: number): [number, Operand[]][] {
    const { a } = this;
    if (a.positions !== "rotary" || name === "value") return [[feature, []]];
    const half = a.head_width / 2;
    const pair = feature % half;
    const angle = position * 10_000 ** (-pair / half);
    const [cosine, sine] = [Math.fround(Math.cos(angle)), Math.fround(Math.sin(angle))];
    return feature < half
      ? [[pair, [constant("cosine", cosine)]], [pair + half, [constant("minus sine", -sine)]]]
      : [[pair, [constant("sine", sine)]], [pair + half, [constant("cosine", cosine)]]];
  }

  /** A query goes into the scores of its row, a key into those of its column. */
  private scored(name: "query" | "key", block: number, [head, position, feature]: readonly number[]): void {
    const { a, length } = this;
    const scale = constant("score scale", Math.fround((a.score_scale === "head" ? a.head_width : a.width) ** -0.5));
    const asks = name === "query";
    const from = asks || !a.causal ? 0 : position;
    const to = asks && a.causal ? position + 1 : length;
    for (let k = from; k < to; k++) {
      const other = this.value(asks ? "key" : "query", block, head, k, feature);
      this.pull("scores", [block, head, ...(asks ? [position, k] : [k, position])], [other, scale]);
    }
  }

  /** A score goes into every share of its row. */
  private shared(block: number, [head, query, key]: readonly number[]): void {
    const view = this.a.causal ? query + 1 : this.length;
    if (key >= view) return;
    const scores = Array.from({ length: view }, (_, k) => this.at("scores", block, head, query, k));
    const top = Math.max(...scores);
    const sum = scores.reduce((all, score) => all + Math.exp(score - top), 0);
    const share = scores.map((score) => Math.exp(score - top) / sum); // as it was computed, before any edit of it
    for (let k = 0; k < view; k++) {
      const slope = share[k] * ((k === key ? 1 : 0) - share[key]);
      this.pull("attention", [block, head, query, k], [constant("slope of the softmax", slope)]);
    }
  }

  private looked(block: number, [head, query, key]: readonly number[]): void {
    const { a } = this;
    if (a.causal && key > query && !this.passed.unmasked) return;
    for (let f = 0; f < a.head_width; f++) {
      this.pull("mixed", [block, head, query, f], [this.value("value", block, head, key, f)]);
    }
  }

  private given(block: number, [head, key, feature]: readonly number[]): void {
    for (let q = this.a.causal && !this.passed.unmasked ? key : 0; q < this.length; q++) {
      this.pull("mixed", [block, head, q, feature], [this.value("attention", block, head, q, key)]);
    }
  }

  private projected(block: number, [head, position, feature]: readonly number[]): void {
    const { a } = this;
    const row = head * a.head_width + feature;
    if (!a.output_projection) return this.pull("attended", [block, position, row]);
    for (let k = 0; k < a.width; k++) {
      this.pull("attended", [block, position, k], [this.weight(`blocks.${block}.output`, row, k)]);
    }
  }

  private expanded(block: number, [position, feature]: readonly number[]): void {
    for (let n = 0; n < this.a.feed_forward; n++) {
      this.pull("hidden_in", [block, position, n], [this.weight(`blocks.${block}.expand`, feature, n)]);
    }
  }

  /** What the loss makes of a logit: its chance, less 1 for what should be answered; or it is asked about itself. */
  private asked_about([position, token]: readonly number[]): void {
    const { targets, logit } = this.passed;
    if (logit && logit[0] === position && logit[1] === token) {
      this.found.push({ by: null, gradient: 1, slope: [constant("itself", 1)], contribution: 1 });
    }
    if (targets === null) return;
    const target = targets[position];
    if (target < 0) return;
    const many = targets.reduce((count, each) => count + (each < 0 ? 0 : 1), 0);
    const logits = Array.from({ length: this.a.outputs }, (_, k) => this.at("logits", position, k));
    const top = Math.max(...logits);
    const share = Math.exp(logits[token] - top) / logits.reduce((sum, each) => sum + Math.exp(each - top), 0);
    const mean = constant("share of one prediction", 1 / many);
    const chance: Operand = { kind: "point", name: "probabilities", index: [position, token], number: share };
    this.found.push({ by: null, gradient: 1, slope: [chance, mean], contribution: share / many });
    if (token !== target) return;
    this.found.push({ by: null, gradient: 1, slope: [constant("less the answer", -1), mean], contribution: -1 / many });
  }

  // ---- parameters -------------------------------------------------------------------------------------------------

  parameter(name: string, index: readonly number[]): void {
    const { a, length } = this;
    const [row, column] = index;
    if (name === "token") {
      this.passed.trace.tokens.forEach((token, position) => {
        if (token === row) this.pull("token_embedding", [position, column]);
      });
      if (a.tied_embedding && row < a.outputs) {
        for (let p = 0; p < length; p++) this.pull("logits", [p, row], [this.value("final", p, column)]);
      }
      return;
    }
    if (name === "position") {
      if (row < length) this.pull("position_embedding", [row, column]);
      return;
    }
    const [, block, leaf] = /^blocks\.(\d+)\.(.+)$/.exec(name) ?? [null, null, name];
    const bias = leaf.endsWith("_bias");
    const b = block === null ? null : Number(block);
    const plain = bias ? leaf.slice(0, -"_bias".length) : leaf;
    for (let p = 0; p < length; p++) {
      if (plain.startsWith("norm")) this.gained(plain, b, p, row, bias);
      else this.product(plain, b, p, bias ? null : row, bias ? row : column);
    }
  }

  /** A gain or a bias of a norm goes into one feature of every position. */
  private gained(leaf: string, block: number | null, position: number, feature: number, bias: boolean): void {
    const to = leaf === "norm" ? "final" : leaf.replace("norm", "normed");
    const into = block === null ? [position, feature] : [block, position, feature];
    if (bias) return this.pull(to, into);
    const { from, source } = this.norms(to, block);
    this.pull(to, into, [constant("of unit size", this.unit(from, source, position).unit[feature])]);
  }

  /** What a norm norms. */
  private norms(to: string, block: number | null): { from: string; source: number | null } {
    const { a } = this;
    if (to === "final" && !has_blocks(a)) return { from: "embedded", source: null };
    if (to === "final") return { from: this.leaving, source: a.blocks - 1 };
    if (a.norm_place === "post") return { from: to === "normed_1" ? "middle" : "out", source: block };
    if (to === "normed_2") return { from: "middle", source: block };
    return block ? { from: this.leaving, source: block - 1 } : { from: "embedded", source: null };
  }

  /** A weight, or a bias (row null), of a matrix goes into one column of its product, or two where it is rotated. */
  private product(leaf: string, block: number | null, position: number, row: number | null, column: number): void {
    const { a } = this;
    const b = block as number;
    const read = (name: string, ...index: number[]): Operand[] => (row === null ? [] : [this.value(name, ...index)]);
    if (leaf === "read_out") return this.pull("logits", [position, column], read("final", position, row ?? 0));
    if (leaf === "output") {
      const [head, feature] = [Math.floor((row ?? 0) / a.head_width), (row ?? 0) % a.head_width];
      return this.pull("attended", [b, position, column], read("mixed", b, head, position, feature));
    }
    if (leaf === "expand") {
      const from = a.norm_place === "pre" ? "normed_2" : a.attention === "off" ? "middle" : "normed_1";
      return this.pull("hidden_in", [b, position, column], read(from, b, position, row ?? 0));
    }
    if (leaf === "contract") return this.pull("fed", [b, position, column], read("hidden", b, position, row ?? 0));
    const [head, own] = [Math.floor(column / a.head_width), column % a.head_width];
    const stream: [string, ...number[]] = b ? [this.leaving, b - 1] : ["embedded"];
    const from: [string, ...number[]] = a.norm_place === "pre" ? ["normed_1", b] : stream;
    for (let j = 0; j < a.head_width; j++) {
      for (const [used, by] of this.columns(leaf, position, j)) {
        if (used === own) this.pull(leaf, [b, head, position, j], [...read(...from, position, row ?? 0), ...by]);
      }
    }
  }

  // ---- small steps ------------------------------------------------------------------------------------------------

  private pull(name: string, index: readonly number[], slope: Operand[] = []): void {
    const gradient = at(this.passed.gradients[name], index);
    const contribution = slope.reduce((product, each) => product * each.number, gradient);
    this.found.push({ by: { name, index }, gradient, slope, contribution });
  }

  private at(name: string, ...index: number[]): number {
    return at(this.passed.trace.points[name], index);
  }

  private value(name: string, ...index: number[]): Operand {
    return { kind: "point", name, index, number: this.at(name, ...index) };
  }

  private weight(name: string, ...index: number[]): Operand {
    const slot = this.begins.get(name) as Slot;
    const place = index.length === 2 ? index[0] * slot.shape[1] + index[1] : index[0];
    return { kind: "parameter", name, index, number: this.passed.params[slot.begin + place] };
  }
}

/** A number of an array by its indices. */
export function at({ data, shape }: Numbers, index: readonly number[]): number {
  return data[index.reduce((place, k, axis) => place * shape[axis] + k, 0)];
}

function constant(name: string, number: number): Operand {
  return { kind: "constant", name, index: [], number };
}
