// The whole transformer, forward and backward, in the order of the mathematics: the third twin of model.py and
// reference.py, name by name, in plain typed arrays.
//
// A model is made for a batch of inputs of one length and keeps the values of every named point, and their gradients,
// in buffers made once. Axes: batch, position, feature, head, query_position, key_position, neuron, token. Queries,
// keys, values and what they are mixed to lie as (batch, position, head, feature), so that the heads side by side are
// what the output matrix reads; `trace` turns them to the glossary's order.

import { ACTIVATION, SLOPE } from "./activation";
import { has_blocks, inner, sinusoids, slots, type Architecture, type Slot } from "./architecture";
import { apply, hand_back, type Change } from "./editing";
import { CallError } from "./errors";
import { axes, PER_BLOCK, points_of, POINTS } from "./glossary";
import { column_sums, norm, norm_back, outer, softmax, times, times_turned, type Rows } from "./products";
import type { Numbers, Trace } from "./trace";

const NONE: readonly Change[] = [];
const NOTHING = new Float32Array(0);

/** A named point in one block, or of the whole model: its values and the gradients of whatever was asked last. */
export interface Point {
  name: string;
  block: number | null;
  shape: readonly number[]; // of one example, without `block`, in the glossary's order
  strides: readonly number[]; // along each of those axes
  size: number; // numbers of one example
  shared: boolean; // the position embedding is the same for all examples
  values: Float32Array;
  gradient: Float32Array;
  kept: Float32Array | null; // by dropout: 0, or what the number was multiplied by
}

/** A matrix and its bias, or a gain and its bias, by where they begin; −1: there is none. */
interface Weight {
  at: number;
  bias: number;
}

interface Block {
  points: Record<string, Point>;
  weights: Record<string, Weight>;
  enters: Point; // the stream that the block reads and adds to
  between: Point; // the stream after attention, which feed-forward reads and adds to
  leaves: Point;
  looked: Float32Array; // attention as dropout left it
}

export class Model {
  readonly slots: Slot[];
  readonly gradient: Float32Array; // of every parameter, in the order of `slots`
  readonly points: Point[]; // those the model has, in the order of the computation
  private params: Float32Array = NOTHING;
  private tokens: Int32Array = new Int32Array(0);
  private changes: readonly Change[] = NONE;
  private here: Rows; // the rows that are asked of the last block
  private dropping = false;
  private readonly all: Rows;
  private readonly asked: Rows;
  private readonly token: Point;
  private readonly position: Point | null;
  private readonly embedded: Point;
  private readonly blocks: Block[] = [];
  private readonly final: Point;
  private readonly logits: Point;
  private readonly probabilities: Point;
  private readonly weights: Record<string, Weight> = {};
  private readonly table: Float32Array; // sinusoidal positions
  private readonly turn: { cosine: Float32Array; sine: Float32Array }; // rotary positions, (position, pair)
  private readonly total: Float64Array; // per row: the logarithm of the sum of exponentials
  private readonly handed: Float32Array; // a gradient on its way back through edits, dropout or a rotation

  constructor(
    readonly architecture: Architecture,
    readonly batch: number,
    readonly length: number,
  ) {
    const a = architecture;
    if (!(length >= 1 && length <= a.context)) {
      throw new CallError(`${length} tokens are not between 1 and context = ${a.context}`);
    }
    this.slots = slots(a);
    this.gradient = new Float32Array(this.slots.reduce((sum, slot) => sum + slot.size, 0));
    const begins = new Map(this.slots.map((slot) => [slot.name, slot.begin]));
    const weight = (name: string): Weight => ({ at: begins.get(name) ?? -1, bias: begins.get(`${name}_bias`) ?? -1 });
    for (const name of ["token", "position", "norm", "read_out"]) this.weights[name] = weight(name);

    this.all = this.here = { first: 0, step: 1, count: batch * length };
    const place = a.read_position ?? null;
    this.asked = place === null ? this.all : { first: place, step: length, count: batch };
    const stream = (name: string, block: number | null = null, width = a.width) =>
      this.make(name, block, [length, width], [width, 1]);
    const heads = (name: string, block: number) =>
      this.make(name, block, [a.heads, length, a.head_width], [a.head_width, inner(a), 1]);
    const pairs = (name: string, block: number) =>
      this.make(name, block, [a.heads, length, length], [length * length, length, 1]);
    const there = points_of(a);
    this.token = stream("token_embedding");
    this.position = there.includes("position_embedding") ? stream("position_embedding") : null;
    this.embedded = stream("embedded");
    let enters = this.embedded;
    for (let block = 0; block < (has_blocks(a) ? a.blocks : 0); block++) {
      const points: Record<string, Point> = {};
      for (const name of Object.keys(PER_BLOCK).filter((each) => there.includes(each))) {
        const axis = axes(name);
        if (axis.includes("head")) points[name] = (axis.includes("feature") ? heads : pairs)(name, block);
        else points[name] = stream(name, block, axis.includes("neuron") ? a.feed_forward : a.width);
      }
      const weights: Record<string, Weight> = {};
      for (const name of ["norm_1", "query", "key", "value", "output", "norm_2", "expand", "contract"]) {
        weights[name] = weight(`blocks.${block}.${name}`);
      }
      const post = a.norm_place === "post";
      const between = post && points.normed_1 ? points.normed_1 : points.middle;
      const leaves = post && points.normed_2 ? points.normed_2 : points.out;
      const looked = a.dropout && points.attention ? new Float32Array(points.attention.values.length) : NOTHING;
      this.blocks.push({ points, weights, enters, between, leaves, looked });
      enters = leaves;
    }
    this.final = stream("final");
    this.logits = stream("logits", null, a.outputs);
    this.probabilities = stream("probabilities", null, a.outputs);
    this.points = this.made.sort((one, other) => POINTS.indexOf(one.name) - POINTS.indexOf(other.name));
    this.handed = new Float32Array(Math.max(...this.points.map((point) => point.values.length)));
    this.total = new Float64Array(batch * length);
    this.table = Float32Array.from(a.positions === "sinusoidal" ? sinusoids(a.context, a.width) : []);
    this.turn = turns(a, length);
  }

  /** Every named point of a pass over `tokens`, (batch, position), with the changes of edits on the way. */
  forward(params: Float32Array, tokens: Int32Array, changes: readonly Change[] = NONE): void {
    this.pass(params, tokens, changes, this.all, null);
  }

  /** The logits where answers are read: at every position, or at `read_position` alone. For training and judging: what
   * only other positions would need of the last block is not computed. `chance` gives numbers from 0 to below 1 for
   * dropout; without it nothing is dropped. */
  answers(params: Float32Array, tokens: Int32Array, chance: (() => number) | null = null): void {
    this.pass(params, tokens, NONE, this.asked, this.architecture.dropout ? chance : null);
  }

  /** All that the last `forward` left behind of one example, as copies. */
  trace(example = 0): Trace {
    const tokens = this.tokens.slice(example * this.length, (example + 1) * this.length);
    return { tokens, points: stacked(this.points, example, (point) => point.values) };
  }

  private pass(
    params: Float32Array,
    tokens: Int32Array,
    changes: readonly Change[],
    asked: Rows,
    chance: (() => number) | null,
  ): void {
    const a = this.architecture;
    const pre = a.norm_place === "pre";
    this.params = params;
    this.tokens = tokens;
    this.changes = changes;
    this.here = asked;
    this.dropping = chance !== null;

    this.look_up();
    this.see(this.token);
    this.embedded.values.set(this.token.values);
    if (this.position) add_shared(this.see(this.position).values, this.embedded.values);
    this.see(this.embedded);
    this.drop(this.embedded, this.all, chance); // (batch, position, feature)

    let x = this.embedded;
    this.blocks.forEach(({ points: p, weights: w, looked }, block) => {
      const here = block === this.blocks.length - 1 ? asked : this.all; // positions that anyone will look at
      if (a.attention !== "off") {
        const read = pre ? this.normalise(x, w.norm_1, p.normed_1, this.all) : x;
        this.attend(read, p, w, looked, here, chance);
        this.drop(p.attended, here, chance);
        if (a.residual) this.sum(x, p.attended, p.middle, here);
        else this.copy(p.attended, p.middle, here);
      } else this.copy(x, p.middle, here);
      x = this.see(p.middle); // (batch, position, feature)
      if (!pre && a.attention !== "off") x = this.normalise(x, w.norm_1, p.normed_1, here);

      if (a.feed_forward) {
        const read = pre ? this.normalise(x, w.norm_2, p.normed_2, here) : x;
        times(read.values, params, w.expand.at, w.expand.bias, p.hidden_in.values, a.width, a.feed_forward, here);
        this.see(p.hidden_in); // (batch, position, neuron)
        this.activate(p.hidden_in.values, p.hidden.values, here);
        this.see(p.hidden); // (batch, position, neuron)
        times(p.hidden.values, params, w.contract.at, w.contract.bias, p.fed.values, a.feed_forward, a.width, here);
        this.see(p.fed); // (batch, position, feature)
        this.drop(p.fed, here, chance);
        if (a.residual) this.sum(x, p.fed, p.out, here);
        else this.copy(p.fed, p.out, here);
      } else this.copy(x, p.out, here);
      x = this.see(p.out); // (batch, position, feature)
      if (!pre && a.feed_forward) x = this.normalise(x, w.norm_2, p.normed_2, here);
    });

    if (a.final_norm) this.normalise(x, this.weights.norm, this.final, asked);
    else {
      this.copy(x, this.final, asked);
      this.see(this.final); // (batch, position, feature)
    }
    const { token, read_out } = this.weights;
    if (a.tied_embedding) {
      times_turned(this.final.values, params, token.at, read_out.bias, this.logits.values, a.width, a.outputs, asked);
    } else times(this.final.values, params, read_out.at, read_out.bias, this.logits.values, a.width, a.outputs, asked);
    this.see(this.logits); // (batch, position, token)
    for (let r = 0; r < asked.count; r++) {
      const row = asked.first + r * asked.step;
      this.total[row] = softmax(this.logits.values, this.probabilities.values, row * a.outputs, a.outputs);
    }
    this.see(this.probabilities);
  }

  /** The rows of the tokens and of the positions. */
  private look_up(): void {
    const { architecture: a, length, batch, tokens, params } = this;
    const token = this.weights.token.at;
    for (let row = 0; row < batch * length; row++) {
      const id = tokens[row];
      if (!(id >= 0 && id < a.vocabulary)) {
        throw new CallError(`token ${id} at position ${row % length} is not between 0 and ${a.vocabulary - 1}`);
      }
      for (let k = 0; k < a.width; k++) this.token.values[row * a.width + k] = params[token + id * a.width + k];
    }
    if (!this.position) return;
    const learned = a.positions === "learned";
    const table = learned ? params : this.table;
    const begin = learned ? this.weights.position.at : 0;
    for (let k = 0; k < length * a.width; k++) this.position.values[k] = table[begin + k];
  }

  /** Every position asks, every position in view answers: the values, weighted by attention. */
  private attend(
    read: Point, p: Record<string, Point>, w: Record<string, Weight>, looked: Float32Array, here: Rows,
    chance: (() => number) | null,
  ): void {
    const { architecture: a, length, params } = this;
    const [width, many] = [a.width, inner(a)];
    times(read.values, params, w.value.at, w.value.bias, p.value.values, width, many, this.all);
    this.see(p.value); // (batch, position, head, feature)
    if (a.attention === "on") {
      times(read.values, params, w.query.at, w.query.bias, p.query.values, width, many, here);
      times(read.values, params, w.key.at, w.key.bias, p.key.values, width, many, this.all);
      if (a.positions === "rotary") {
        this.rotate(p.query.values, here, 1);
        this.rotate(p.key.values, this.all, 1);
      }
      this.see(p.query);
      this.see(p.key);
      this.score(p.query.values, p.key.values, p.scores.values, here);
      this.see(p.scores); // (batch, head, query_position, key_position)
    }
    this.look(p.scores?.values ?? null, p.attention.values, here);
    this.see(p.attention); // (batch, head, query_position, key_position); each row sums to 1
    let attention = p.attention.values;
    if (chance) {
      this.draw(p.attention, chance);
      const kept = p.attention.kept as Float32Array;
      for (let k = 0; k < attention.length; k++) looked[k] = attention[k] * kept[k];
      attention = looked;
    }
    this.mix(attention, p.value.values, p.mixed.values, here, this.edited(p.attention) ? length : 0);
    this.see(p.mixed); // (batch, position, head, feature)
    if (a.output_projection) {
      times(p.mixed.values, params, w.output.at, w.output.bias, p.attended.values, many, width, here);
    } else this.copy(p.mixed, p.attended, here);
    this.see(p.attended); // (batch, position, feature)
  }

  /** How much each query asks for each key. */
  private score(query: Float32Array, key: Float32Array, scores: Float32Array, here: Rows): void {
    const { architecture: a, length, batch } = this;
    const [heads, size, many] = [a.heads, a.head_width, a.heads * a.head_width];
    const scale = this.score_scale;
    const whole = here === this.all;
    for (let b = 0; b < batch; b++) {
      for (let h = 0; h < heads; h++) {
        for (let q = whole ? 0 : here.first, last = whole ? length : q + 1; q < last; q++) {
          const from = (b * length + q) * many + h * size;
          const row = ((b * heads + h) * length + q) * length;
          for (let k = 0; k < length; k++) {
            const to = (b * length + k) * many + h * size;
            let sum = 0;
            for (let f = 0; f < size; f++) sum += query[from + f] * key[to + f];
            scores[row + k] = sum * scale;
          }
        }
      }
    }
  }

  /** The scores in view as shares; where nothing is asked, all in view count the same. */
  private look(scores: Float32Array | null, attention: Float32Array, here: Rows): void {
    const { architecture: a, length, batch } = this;
    const whole = here === this.all;
    for (let b = 0; b < batch * a.heads; b++) {
      for (let q = whole ? 0 : here.first, last = whole ? length : q + 1; q < last; q++) {
        const row = (b * length + q) * length;
        const view = a.causal ? q + 1 : length;
        if (scores) softmax(scores, attention, row, view);
        else for (let k = 0; k < view; k++) attention[row + k] = 1 / view;
        for (let k = view; k < length; k++) attention[row + k] = 0;
      }
    }
  }

  /** The values, weighted by attention; `least` is how many keys are looked at even where they are out of view. */
  private mix(attention: Float32Array, value: Float32Array, mixed: Float32Array, here: Rows, least: number): void {
    const { architecture: a, length, batch } = this;
    const [heads, size, many] = [a.heads, a.head_width, a.heads * a.head_width];
    const whole = here === this.all;
    for (let b = 0; b < batch; b++) {
      for (let h = 0; h < heads; h++) {
        for (let q = whole ? 0 : here.first, last = whole ? length : q + 1; q < last; q++) {
          const row = ((b * heads + h) * length + q) * length;
          const into = (b * length + q) * many + h * size;
          const from = b * length * many + h * size;
          const view = a.causal ? Math.max(q + 1, least) : length;
          for (let f = 0; f < size; f++) {
            let sum = 0;
            for (let k = 0; k < view; k++) sum += attention[row + k] * value[from + k * many + f];
            mixed[into + f] = sum;
          }
        }
      }
    }
  }

  /** What the scores are multiplied by. */
  private get score_scale(): number {
    const a = this.architecture;
    return (a.score_scale === "head" ? a.head_width : a.width) ** -0.5;
  }

  /** Turn each pair of features (i, i + half) by an angle that grows with the position; −1 turns back. */
  private rotate(x: Float32Array, rows: Rows, way: 1 | -1): void {
    const { architecture: a, length } = this;
    const half = a.head_width / 2;
    const { cosine, sine } = this.turn;
    for (let r = 0; r < rows.count; r++) {
      const row = rows.first + r * rows.step;
      const angle = (row % length) * half;
      for (let h = 0; h < a.heads; h++) {
        const begin = row * inner(a) + h * a.head_width;
        for (let k = 0; k < half; k++) {
          const [first, second] = [x[begin + k], x[begin + half + k]];
          const [c, s] = [cosine[angle + k], way * sine[angle + k]];
          x[begin + k] = first * c - second * s;
          x[begin + half + k] = first * s + second * c;
        }
      }
    }
  }

  /** Bring the features of each position to unit size, then scale (and shift) each by a learned amount. */
  private normalise(x: Point, w: Weight, into: Point, rows: Rows): Point {
    const a = this.architecture;
    if (a.norm === "none") this.copy(x, into, rows);
    else norm(x.values, this.params, w.at, w.bias, into.values, a.width, rows, a.norm === "layer", a.norm_epsilon);
    return this.see(into);
  }

  private activate(x: Float32Array, y: Float32Array, rows: Rows): void {
    const { activation, feed_forward: many } = this.architecture;
    const neuron = ACTIVATION[activation];
    for (let r = 0; r < rows.count; r++) {
      const begin = (rows.first + r * rows.step) * many;
      if (activation === "relu") for (let k = begin; k < begin + many; k++) y[k] = Math.max(x[k], 0);
      else for (let k = begin; k < begin + many; k++) y[k] = neuron(x[k]);
    }
  }

  // ---- backward ---------------------------------------------------------------------------------------------------

  /** The mean cross-entropy, in nats, over the predictions that count; its gradient is left at the logits. `targets`,
   * (batch, position), holds what should be answered at each position, and −1 where nothing is asked. */
  lossGradient(targets: Int32Array): number {
    const { outputs } = this.architecture;
    const { values, gradient } = this.logits;
    const rows = this.here;
    let shares = this.probabilities.values;
    if (this.edited(this.probabilities)) {
      shares = values.map((x, k) => Math.exp(x - this.total[Math.floor(k / outputs)]));
    }
    let counted = 0;
    for (let r = 0; r < rows.count; r++) if (targets[rows.first + r * rows.step] >= 0) counted++;
    const share = 1 / counted;
    let loss = 0;
    for (let r = 0; r < rows.count; r++) {
      const row = rows.first + r * rows.step;
      const target = targets[row];
      const begin = row * outputs;
      if (target < 0) gradient.fill(0, begin, begin + outputs);
      else {
        loss += this.total[row] - values[begin + target];
        for (let k = begin; k < begin + outputs; k++) gradient[k] = shares[k] * share;
        gradient[begin + target] -= share;
      }
    }
    return loss * share;
  }

  /** One logit is what is asked about: its gradient, 1 there and 0 elsewhere, is left at the logits. */
  logitGradient(position: number, token: number, example = 0): void {
    const { outputs } = this.architecture;
    this.logits.gradient.fill(0);
    this.logits.gradient[(example * this.length + position) * outputs + token] = 1;
  }

  /** From the gradient of the logits to that of every named point and of every parameter (`gradient`). What is asked
   * about does not depend on the probabilities, which are read off beside the way, so those have no gradient. */
  backward(): void {
    const { architecture: a, params, gradient, here: asked } = this;
    const { token, read_out } = this.weights;
    const pre = a.norm_place === "pre";
    gradient.fill(0);

    let g = this.through(this.logits);
    const final = this.final;
    if (a.tied_embedding) {
      times(g, params, token.at, -1, final.gradient, a.outputs, a.width, asked);
      outer(g, final.values, gradient, token.at, -1, a.outputs, a.width, asked);
      if (read_out.bias >= 0) column_sums(g, gradient, read_out.bias, a.outputs, asked);
    } else {
      times_turned(g, params, read_out.at, -1, final.gradient, a.outputs, a.width, asked);
      outer(final.values, g, gradient, read_out.at, read_out.bias, a.width, a.outputs, asked);
    }
    const last = this.blocks.length - 1;
    const x = last < 0 ? this.embedded : this.blocks[last].leaves;
    if (last < 0 && asked !== this.all) x.gradient.fill(0);
    if (a.final_norm) this.normalise_back(x, this.weights.norm, final, asked, false);
    else copy_rows(this.through(final), x.gradient, a.width, asked);

    for (let block = last; block >= 0; block--) {
      const { points: p, weights: w, enters, between } = this.blocks[block];
      const here = block === last ? asked : this.all;
      if (!pre && a.feed_forward) this.normalise_back(p.out, w.norm_2, p.normed_2, here, false);
      g = this.through(p.out);
      if (a.residual || !a.feed_forward) copy_rows(g, between.gradient, a.width, here);
      else between.gradient.fill(0);
      if (a.feed_forward) {
        copy_rows(g, p.fed.gradient, a.width, here);
        this.drop_back(p.fed);
        g = this.through(p.fed);
        times_turned(g, params, w.contract.at, -1, p.hidden.gradient, a.width, a.feed_forward, here);
        outer(p.hidden.values, g, gradient, w.contract.at, w.contract.bias, a.feed_forward, a.width, here);
        this.activate_back(this.through(p.hidden), p.hidden_in.values, p.hidden_in.gradient, here);
        g = this.through(p.hidden_in);
        const read = pre ? p.normed_2 : between;
        times_turned(g, params, w.expand.at, -1, read.gradient, a.feed_forward, a.width, here, !pre);
        outer(read.values, g, gradient, w.expand.at, w.expand.bias, a.width, a.feed_forward, here);
        if (pre) this.normalise_back(p.middle, w.norm_2, p.normed_2, here, true);
      }

      if (!pre && a.attention !== "off") this.normalise_back(p.middle, w.norm_1, p.normed_1, here, false);
      g = this.through(p.middle);
      if (here !== this.all || (a.attention !== "off" && !a.residual)) enters.gradient.fill(0);
      if (a.attention === "off" || a.residual) copy_rows(g, enters.gradient, a.width, here);
      if (a.attention !== "off") {
        copy_rows(g, p.attended.gradient, a.width, here);
        this.drop_back(p.attended);
        this.attend_back(this.blocks[block], pre ? p.normed_1 : enters, here);
        if (pre) this.normalise_back(enters, w.norm_1, p.normed_1, this.all, true);
      }
    }

    this.drop_back(this.embedded);
    g = this.through(this.embedded);
    copy_rows(g, this.token.gradient, a.width, this.all);
    if (this.position) {
      const { gradient: sums } = this.position;
      sums.fill(0);
      for (let begin = 0; begin < this.embedded.values.length; begin += sums.length) {
        for (let k = 0; k < sums.length; k++) sums[k] += g[begin + k];
      }
      if (a.positions === "learned") {
        g = this.through(this.position);
        for (let k = 0; k < sums.length; k++) gradient[this.weights.position.at + k] += g[k];
      }
    }
    g = this.through(this.token);
    for (let row = 0; row < this.all.count; row++) {
      const into = token.at + this.tokens[row] * a.width;
      for (let k = 0; k < a.width; k++) gradient[into + k] += g[row * a.width + k];
    }
  }

  /** The gradients that the last `backward` found at the named points, for one example, as copies: with respect to the
   * values as they went on, or, `before` edits changed them, as they were computed. */
  gradients(example = 0, before = false): Record<string, Numbers> {
    const points = this.points.filter((point) => point !== this.probabilities);
    return stacked(points, example, (point) => (before ? this.through(point) : point.gradient));
  }

  private attend_back(block: Block, read: Point, here: Rows): void {
    const { architecture: a, params, gradient } = this;
    const { points: p, weights: w } = block;
    const [width, many] = [a.width, inner(a)];
    let g = this.through(p.attended);
    if (a.output_projection) {
      times_turned(g, params, w.output.at, -1, p.mixed.gradient, width, many, here);
      outer(p.mixed.values, g, gradient, w.output.at, w.output.bias, many, width, here);
    } else copy_rows(g, p.mixed.gradient, width, here);
    const attention = this.dropping ? block.looked : p.attention.values;
    const least = this.edited(p.attention) ? this.length : 0;
    this.mix_back(this.through(p.mixed), attention, p.attention.gradient, p.value, here, least);
    if (this.dropping) {
      const kept = p.attention.kept as Float32Array;
      for (let k = 0; k < kept.length; k++) p.attention.gradient[k] *= kept[k];
    }
    const before = read === p.normed_1 && a.norm_place === "pre"; // it has no gradient yet
    g = this.through(p.value);
    times_turned(g, params, w.value.at, -1, read.gradient, many, width, this.all, !before);
    outer(read.values, g, gradient, w.value.at, w.value.bias, width, many, this.all);
    if (a.attention !== "on") return;

    let shares = p.attention.values;
    if (this.edited(p.attention)) this.look(p.scores.values, (shares = shares.slice()), here); // as they were computed
    this.look_back(this.through(p.attention), shares, p.scores.gradient, here);
    this.score_back(this.through(p.scores), p.query, p.key, here);
    for (const [point, weight, rows] of [
      [p.query, w.query, here],
      [p.key, w.key, this.all],
    ] as const) {
      g = this.through(point);
      if (a.positions === "rotary") {
        if (g !== this.handed) this.handed.set(g);
        g = this.handed;
        this.rotate(g, rows, -1);
      }
      times_turned(g, params, weight.at, -1, read.gradient, many, width, rows, true);
      outer(read.values, g, gradient, weight.at, weight.bias, width, many, rows);
    }
  }

  /** From the gradient of what was mixed to those of attention and values. */
  private mix_back(
    g: Float32Array, attention: Float32Array, attention_gradient: Float32Array, value: Point, here: Rows, least: number,
  ): void {
    const { architecture: a, length, batch } = this;
    const [heads, size, many] = [a.heads, a.head_width, a.heads * a.head_width];
    const whole = here === this.all;
    const begin = whole ? 0 : here.first;
    const end = whole ? length : begin + 1;
    const values = value.values;
    for (let b = 0; b < batch; b++) {
      for (let h = 0; h < heads; h++) {
        const from = b * length * many + h * size;
        const table = (b * heads + h) * length * length;
        for (let q = begin; q < end; q++) {
          const view = a.causal ? Math.max(q + 1, least) : length;
          for (let k = 0; k < view; k++) {
            let sum = 0;
            for (let f = 0; f < size; f++) sum += g[from + q * many + f] * values[from + k * many + f];
            attention_gradient[table + q * length + k] = sum;
          }
          for (let k = view; k < length; k++) attention_gradient[table + q * length + k] = 0;
        }
        for (let k = 0; k < length; k++) {
          const first = a.causal && !least ? Math.max(k, begin) : begin; // the first query that sees this key
          for (let f = 0; f < size; f++) {
            let sum = 0;
            for (let q = first; q < end; q++) sum += attention[table + q * length + k] * g[from + q * many + f];
            value.gradient[from + k * many + f] = sum;
          }
        }
      }
    }
  }

  /** From the gradient of attention to that of the scores: of a share, less what all shares of the row would gain. */
  private look_back(g: Float32Array, attention: Float32Array, into: Float32Array, here: Rows): void {
    const { architecture: a, length, batch } = this;
    const whole = here === this.all;
    for (let b = 0; b < batch * a.heads; b++) {
      for (let q = whole ? 0 : here.first, last = whole ? length : q + 1; q < last; q++) {
        const row = (b * length + q) * length;
        const view = a.causal ? q + 1 : length;
        let mean = 0;
        for (let k = row; k < row + view; k++) mean += attention[k] * g[k];
        for (let k = row; k < row + view; k++) into[k] = attention[k] * (g[k] - mean);
        for (let k = row + view; k < row + length; k++) into[k] = 0;
      }
    }
  }

  /** From the gradient of the scores to those of queries and keys. */
  private score_back(g: Float32Array, query: Point, key: Point, here: Rows): void {
    const { architecture: a, length, batch } = this;
    const [heads, size, many] = [a.heads, a.head_width, a.heads * a.head_width];
    const scale = this.score_scale;
    const whole = here === this.all;
    const begin = whole ? 0 : here.first;
    const end = whole ? length : begin + 1;
    for (let b = 0; b < batch; b++) {
      for (let h = 0; h < heads; h++) {
        const from = b * length * many + h * size;
        const table = (b * heads + h) * length * length;
        for (let f = from; f < from + size; f++) {
          for (let q = begin; q < end; q++) {
            const view = a.causal ? q + 1 : length;
            let sum = 0;
            for (let k = 0; k < view; k++) sum += g[table + q * length + k] * key.values[f + k * many];
            query.gradient[f + q * many] = sum * scale;
          }
          for (let k = 0; k < length; k++) {
            let sum = 0;
            for (let q = a.causal ? Math.max(k, begin) : begin; q < end; q++) {
              sum += g[table + q * length + k] * query.values[f + q * many];
            }
            key.gradient[f + k * many] = sum * scale;
          }
        }
      }
    }
  }

  /** The gradient of what was normed is written to x, or added; those of gain and bias are added. */
  private normalise_back(x: Point, w: Weight, from: Point, rows: Rows, add: boolean): void {
    const { architecture: a, params, gradient } = this;
    const g = this.through(from);
    if (a.norm === "none") (add ? add_rows : copy_rows)(g, x.gradient, a.width, rows);
    else {
      const centred = a.norm === "layer";
      norm_back(
        x.values, params, gradient, w.at, w.bias, g, x.gradient, a.width, rows, centred, a.norm_epsilon, add,
      );
    }
  }

  private activate_back(g: Float32Array, x: Float32Array, into: Float32Array, rows: Rows): void {
    const { activation, feed_forward: many } = this.architecture;
    const slope = SLOPE[activation];
    for (let r = 0; r < rows.count; r++) {
      const begin = (rows.first + r * rows.step) * many;
      if (activation === "relu") for (let k = begin; k < begin + many; k++) into[k] = x[k] > 0 ? g[k] : 0;
      else for (let k = begin; k < begin + many; k++) into[k] = g[k] * slope(x[k]);
    }
  }

  /** What a point hands back: its gradient, or what edits leave of it. */
  private through(point: Point): Float32Array {
    if (this.changes === NONE || !this.edited(point)) return point.gradient;
    this.handed.set(point.gradient);
    for (let k = this.changes.length - 1; k >= 0; k--) hand_back(this.changes[k], point, this, this.handed);
    return this.handed;
  }

  /** What dropout left out hands nothing back. */
  private drop_back(point: Point): void {
    if (!this.dropping) return;
    const kept = point.kept as Float32Array;
    for (let k = 0; k < kept.length; k++) point.gradient[k] *= kept[k];
  }

  // ---- small steps ------------------------------------------------------------------------------------------------

  private readonly made: Point[] = [];

  private make(name: string, block: number | null, shape: number[], strides: number[]): Point {
    const size = shape.reduce((product, many) => product * many, 1);
    const shared = name === "position_embedding";
    const many = shared ? size : size * this.batch;
    const dropped = this.architecture.dropout > 0 && ["embedded", "attention", "attended", "fed"].includes(name);
    const point = {
      name, block, shape, strides, size, shared, values: new Float32Array(many), gradient: new Float32Array(many),
      kept: dropped ? new Float32Array(many) : null,
    };
    this.made.push(point);
    return point;
  }

  /** The changes of edits to a point that has just been computed. */
  private see(point: Point): Point {
    if (this.changes !== NONE) for (const change of this.changes) apply(change, point, this);
    return point;
  }

  private edited(point: Point): boolean {
    return this.changes.some((change) => change.edit.point === point.name);
  }

  /** Drop features at random and let the rest grow. */
  private drop(point: Point, rows: Rows, chance: (() => number) | null): void {
    if (!chance) return;
    this.draw(point, chance);
    multiply_rows(point.values, point.kept as Float32Array, this.architecture.width, rows);
  }

  /** What dropout keeps of a point; each call draws anew. */
  private draw(point: Point, chance: () => number): void {
    const { dropout: rate } = this.architecture;
    const kept = point.kept as Float32Array;
    for (let k = 0; k < kept.length; k++) kept[k] = chance() < rate ? 0 : 1 / (1 - rate);
  }

  private copy(from: Point, to: Point, rows: Rows): void {
    copy_rows(from.values, to.values, this.architecture.width, rows);
  }

  private sum(one: Point, other: Point, into: Point, rows: Rows): void {
    const { width } = this.architecture;
    const x = one.values;
    const y = other.values;
    const z = into.values;
    for (let r = 0; r < rows.count; r++) {
      const begin = (rows.first + r * rows.step) * width;
      for (let k = begin; k < begin + width; k++) z[k] = x[k] + y[k];
    }
  }
}

/** The values (or the gradients) of points for one example, the blocks of each stacked, in the glossary's order. */
function stacked(
  points: readonly Point[], example: number, of: (point: Point) => Float32Array,
): Record<string, Numbers> {
  const found: Record<string, Numbers> = {};
  for (const point of points) {
    const inside = Object.hasOwn(PER_BLOCK, point.name);
    const { shape, size } = point;
    if (!(point.name in found)) {
      const blocks = inside ? points.filter((each) => each.name === point.name).length : 1;
      const whole = inside ? [blocks, ...shape] : [...shape];
      found[point.name] = { data: new Float32Array(blocks * size), shape: whole, axes: axes(point.name) };
    }
    const from = of(point).subarray(point.shared ? 0 : example * size);
    const into = found[point.name].data.subarray((point.block ?? 0) * size);
    if (shape.length === 2) into.set(from.subarray(0, size));
    else {
      const [heads, positions, last] = shape;
      const [head, position] = point.strides;
      for (let h = 0, to = 0; h < heads; h++) {
        for (let p = 0; p < positions; p++) {
          for (let k = 0; k < last; k++) into[to++] = from[h * head + p * position + k];
        }
      }
    }
  }
  return found;
}

/** Cosine and sine of the angle by which each pair of features is turned, (position, pair). */
function turns(a: Architecture, length: number): { cosine: Float32Array; sine: Float32Array } {
  const half = a.positions === "rotary" ? a.head_width / 2 : 0;
  const angle = (k: number) => Math.floor(k / half) * 10_000 ** (-(k % half) / half);
  const cosine = Float32Array.from({ length: length * half }, (_, k) => Math.cos(angle(k)));
  return { cosine, sine: Float32Array.from({ length: length * half }, (_, k) => Math.sin(angle(k))) };
}

function copy_rows(from: Float32Array, to: Float32Array, width: number, rows: Rows): void {
  for (let r = 0; r < rows.count; r++) {
    const begin = (rows.first + r * rows.step) * width;
    for (let k = begin; k < begin + width; k++) to[k] = from[k];
  }
}

function add_rows(from: Float32Array, to: Float32Array, width: number, rows: Rows): void {
  for (let r = 0; r < rows.count; r++) {
    const begin = (rows.first + r * rows.step) * width;
    for (let k = begin; k < begin + width; k++) to[k] += from[k];
  }
}

function multiply_rows(x: Float32Array, by: Float32Array, width: number, rows: Rows): void {
  for (let r = 0; r < rows.count; r++) {
    const begin = (rows.first + r * rows.step) * width;
    for (let k = begin; k < begin + width; k++) x[k] *= by[k];
  }
}

/** What is the same for every example is added to all of them. */
function add_shared(shared: Float32Array, into: Float32Array): void {
  for (let begin = 0; begin < into.length; begin += shared.length) {
    for (let k = 0; k < shared.length; k++) into[begin + k] += shared[k];
  }
}
