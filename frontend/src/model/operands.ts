// What a number of the forward pass is made of, and how: one step back from any value of any named point. The twin of
// analyses/_operands.py; the way on, from a number to those that depend on it, is `pulls`.

import { ACTIVATION } from "./activation";
import { has_blocks, sinusoids, slots, type Architecture } from "./architecture";
import { axes, PER_BLOCK } from "./glossary";
import type { Trace } from "./trace";

export type Operation =
  | "lookup"
  | "copy"
  | "sum"
  | "dot product"
  | "layer norm"
  | "rms norm"
  | "relu"
  | "gelu"
  | "tanh"
  | "softmax"
  | "equal shares"
  | "mask";
export type Role = "part" | "chosen by" | "itself" | "beside" | "gain" | "bias" | "epsilon";

/** A number that goes in: of a named point, a parameter, the id of a token, or a constant of the architecture. */
export interface Operand {
  kind: "point" | "parameter" | "token" | "constant";
  name: string;
  index: readonly number[]; // of a point in the order of the glossary's axes, of a parameter in that of its array
  number: number;
}

/** Operands that are multiplied, or a single one; what it adds is known where the operation adds terms up. */
export interface Term {
  role: Role;
  factors: readonly Operand[];
  contribution: number | null;
}

/** How a value is made: the operation, the same as a formula, and what goes in. */
export interface Step {
  operation: Operation;
  formula: string;
  terms: readonly Term[];
}

type Place = readonly [name: string, block: number | null]; // a point and its block; null: of the whole model
const MATRIX: Readonly<Record<string, string>> = {
  query: "query", key: "key", value: "value", attended: "output", hidden_in: "expand", fed: "contract",
  logits: "read_out",
}; // the points that are products with one

/** How the value of a point at these indices is made. Numbers are those of the trace: where an edit changed the value
 * itself, the operands give what it was before. */
export function operands(
  a: Architecture, params: Float32Array, trace: Trace, point: string, index: readonly number[],
): Step {
  return new Pass(a, params, trace).step(point, index);
}

/** `scores[block=0, head=0, query_position=5, key_position=3]`, `blocks.0.query[1, 0]`, `score scale`. */
export function written_operand({ kind, name, index }: Operand): string {
  const along = kind === "point" ? axes(name) : null;
  const places = index.map((k, n) => (along ? `${along[n]}=${k}` : `${k}`));
  return places.length ? `${name}[${places.join(", ")}]` : name;
}

/** The value once more, in double precision from the terms alone, and the size that rounding is a share of. */
export function again({ operation, terms }: Step): { value: number; size: number } {
  const of = (...roles: Role[]) => terms.filter((term) => roles.includes(term.role)).map(number_of);
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
  const row = [...of("itself"), ...of("beside")]; // the value in question first
  switch (operation) {
    case "lookup":
    case "copy":
    case "sum":
    case "dot product": {
      const parts = of("part", "bias");
      return { value: sum(parts), size: sum(parts.map(Math.abs)) };
    }
    case "mask": {
      const nothing = 0 * sum(row); // unless its row is not a number
      return { value: nothing, size: nothing };
    }
    case "equal shares":
      return { value: 1 / row[0], size: 1 / row[0] };
    case "relu":
    case "gelu":
    case "tanh":
      return { value: ACTIVATION[operation](row[0]), size: Math.abs(row[0]) };
    case "softmax": {
      const most = Math.max(...row);
      const share = Math.exp(row[0] - most) / sum(row.map((each) => Math.exp(each - most)));
      return { value: share, size: share * (1 + most - Math.min(...row)) };
    }
    default: {
      const mean = operation === "layer norm" ? sum(row) / row.length : 0;
      const root = Math.sqrt(sum(row.map((each) => (each - mean) ** 2)) / row.length + of("epsilon")[0]);
      const [unit, gain, bias] = [(row[0] - mean) / root, of("gain")[0], of("bias")[0] ?? 0];
      const size = Math.abs(gain) * (1 + Math.abs(unit)) * (1 + Math.max(...row.map(Math.abs)) / root) + Math.abs(bias);
      return { value: unit * gain + bias, size };
    }
  }
}

/** The factors of a term multiplied. */
export function number_of(term: Term): number {
  return term.factors.reduce((product, each) => product * each.number, 1);
}

/** The stream that a block reads and adds to; of the block after the last, what is read out. */
export function entering(block: number, a: Architecture): Place {
  if (block === 0 || !has_blocks(a)) return ["embedded", null];
  return [a.norm_place === "post" && a.feed_forward ? "normed_2" : "out", block - 1];
}

/** The named points that a point is computed from, in one step. */
export function inputs(point: string, block: number | null, a: Architecture): readonly Place[] {
  if (block === null) {
    switch (point) {
      case "embedded":
        return a.positions === "learned" || a.positions === "sinusoidal"
          ? [["token_embedding", null], ["position_embedding", null]]
          : [["token_embedding", null]];
      case "final":
        return [entering(a.blocks, a)];
      case "logits":
        return [["final", null]];
      case "probabilities":
        return [["logits", null]];
      default:
        return [];
    }
  }
  const pre = a.norm_place === "pre";
  const looks = a.attention !== "off";
  const stream = entering(block, a);
  const between: Place = [pre || !looks ? "middle" : "normed_1", block]; // the stream that feed-forward reads
  const added = (there: boolean, onto: Place, branch: string): Place[] => [
    ...(a.residual || !there ? [onto] : []),
    ...(there ? [[branch, block] as const] : []),
  ];
  switch (point) {
    case "normed_1":
      return [pre ? stream : ["middle", block]];
    case "query":
    case "key":
    case "value":
      return [pre ? ["normed_1", block] : stream];
    case "scores":
      return [["query", block], ["key", block]];
    case "attention":
      return a.attention === "on" ? [["scores", block]] : [];
    case "mixed":
      return [["attention", block], ["value", block]];
    case "attended":
      return [["mixed", block]];
    case "middle":
      return added(looks, stream, "attended");
    case "normed_2":
      return [[pre ? "middle" : "out", block]];
    case "hidden_in":
      return [pre ? ["normed_2", block] : between];
    case "hidden":
      return [["hidden_in", block]];
    case "fed":
      return [["hidden", block]];
    default:
      return added(a.feed_forward > 0, between, "fed"); // out
  }
}

/** One pass of one model over one input. */
class Pass {
  private readonly begins: Map<string, { begin: number; shape: readonly number[] }>;

  constructor(
    private readonly a: Architecture,
    private readonly params: Float32Array,
    private readonly trace: Trace,
  ) {
    this.begins = new Map(slots(a).map((slot) => [slot.name, slot]));
  }

  step(point: string, index: readonly number[]): Step {
    const inside = Object.hasOwn(PER_BLOCK, point);
    const [block, here] = inside ? [index[0], index.slice(1)] : [null, index];
    const sources = inputs(point, block, this.a);
    if (Object.hasOwn(MATRIX, point)) return this.linear(point, block, sources[0], here);
    switch (point) {
      case "normed_1":
      case "normed_2":
      case "final":
        return this.norm(point, block, sources[0], here);
      case "token_embedding":
      case "position_embedding":
        return this.lookup(point, here);
      case "scores":
        return this.scores(sources, here);
      case "attention":
      case "probabilities":
        return this.softmax(sources, here);
      case "mixed": {
        const [head, query, feature] = here;
        const looked = (k: number) => this.at(sources[0], head, query, k).number; // not 0 out of view: an edit's doing
        const seen = range(this.trace.tokens.length).filter((k) => k < this.in_view(query) || looked(k) !== 0);
        const [share, value] = sources;
        const pairs = seen.map((k) => [this.at(share, head, query, k), this.at(value, head, k, feature)]);
        return added("dot product", pairs);
      }
      case "hidden": {
        const name = this.a.activation;
        const itself: Term = { role: "itself", factors: [this.at(sources[0], ...here)], contribution: null };
        return { operation: name, formula: `${name}(${sources[0][0]})`, terms: [itself] };
      }
      default:
        return added(sources.length > 1 ? "sum" : "copy", sources.map((each) => [this.at(each, ...here)]));
    }
  }

  private at([name, block]: Place, ...here: number[]): Operand {
    const index = block === null ? here : [block, ...here];
    const { data, shape } = this.trace.points[name];
    return { kind: "point", name, index, number: data[index.reduce((place, k, axis) => place * shape[axis] + k, 0)] };
  }

  private parameter(name: string, ...index: number[]): Operand {
    const { begin, shape } = this.begins.get(name)!;
    const place = index.reduce((sum, k, axis) => sum * shape[axis] + k, 0);
    return { kind: "parameter", name, index, number: this.params[begin + place] };
  }

  private in_view(query: number): number {
    return this.a.causal ? query + 1 : this.trace.tokens.length;
  }

  private lookup(point: string, [position, feature]: readonly number[]): Step {
    if (point === "token_embedding") {
      const token = this.trace.tokens[position];
      const found = added("lookup", [[this.parameter("token", token, feature)]]);
      const id: Operand = { kind: "token", name: "tokens", index: [position], number: token };
      const chosen: Term = { role: "chosen by", factors: [id], contribution: null };
      return { ...found, formula: "the row of the token in token", terms: [...found.terms, chosen] };
    }
    if (this.a.positions === "learned") {
      const found = added("lookup", [[this.parameter("position", position, feature)]]);
      return { ...found, formula: "the row of the position in position" };
    }
    const table = sinusoids(this.a.context, this.a.width);
    const name = feature % 2 ? "cosine of the position" : "sine of the position";
    return added("lookup", [[constant(name, table[position * this.a.width + feature])]]);
  }

  /** Times a column of a matrix, plus its bias; where it is rotated, two columns. */
  private linear(point: string, block: number | null, source: Place, here: readonly number[]): Step {
    const { a } = this;
    const name = block === null ? MATRIX[point] : `blocks.${block}.${MATRIX[point]}`;
    const [position, feature] = here.slice(-2);
    const head = here.length > 2 ? here[0] : 0;
    const size = a.head_width;
    let read: Operand[];
    if (point === "attended") {
      read = range(a.heads * size).map((k) => this.at(source, Math.floor(k / size), position, k % size));
      if (!a.output_projection) return added("copy", [[read[feature]]]);
    } else read = range(point === "fed" ? a.feed_forward : a.width).map((k) => this.at(source, position, k));
    const column = feature + head * size;
    const turns = a.positions === "rotary" && (point === "query" || point === "key");
    const turned: [number, Operand[]][] = turns ? this.rotation(position, column) : [[column, []]];
    const tied = point === "logits" && a.tied_embedding;
    const parts: Operand[][] = [];
    const biases: Operand[][] = [];
    for (const [column, by] of turned) {
      read.forEach((value, row) => {
        const weight = tied ? this.parameter("token", column, row) : this.parameter(name, row, column);
        parts.push([value, weight, ...by]);
      });
      if (this.begins.has(`${name}_bias`)) biases.push([this.parameter(`${name}_bias`, column), ...by]);
    }
    return added("dot product", parts, biases);
  }

  /** The two columns that a rotated feature is made of, and what each is multiplied by. */
  private rotation(position: number, column: number): [number, Operand[]][] {
    const half = this.a.head_width / 2;
    const turn = Math.floor((column % (2 * half)) / half);
    const angle = position * 10_000 ** (-((column % (2 * half)) % half) / half);
    const [cosine, sine] = [constant("cosine", Math.cos(angle)), constant("sine", Math.sin(angle))];
    const first = column - turn * half;
    return [
      [first, [turn ? sine : cosine]],
      [first + half, [turn ? cosine : constant("minus sine", -Math.sin(angle))]],
    ];
  }

  private norm(point: string, block: number | null, source: Place, [position, feature]: readonly number[]): Step {
    const { a } = this;
    if (a.norm === "none" || (point === "final" && !a.final_norm)) {
      return added("copy", [[this.at(source, position, feature)]]);
    }
    const name = block === null ? "norm" : `blocks.${block}.${point.replace("normed", "norm")}`;
    const term = (role: Role, operand: Operand): Term => ({ role, factors: [operand], contribution: null });
    const terms = range(a.width).map((k) => term(k === feature ? "itself" : "beside", this.at(source, position, k)));
    terms.push(term("epsilon", constant("norm_epsilon", a.norm_epsilon)), term("gain", this.parameter(name, feature)));
    const bias = this.begins.has(`${name}_bias`) ? ` + ${name}_bias` : "";
    if (bias) terms.push(term("bias", this.parameter(`${name}_bias`, feature)));
    const layer = a.norm === "layer";
    const x = layer ? `(${source[0]} − mean)` : source[0];
    const formula = `${x} ÷ √(${layer ? "variance" : "mean square"} + norm_epsilon) × ${name}${bias}`;
    return { operation: layer ? "layer norm" : "rms norm", formula, terms };
  }

  private scores([asked, offered]: readonly Place[], [head, query, key]: readonly number[]): Step {
    const { a } = this;
    const scale = constant("score scale", (a.score_scale === "head" ? a.head_width : a.width) ** -0.5);
    const pair = (k: number) => [this.at(asked, head, query, k), this.at(offered, head, key, k), scale];
    return added("dot product", range(a.head_width).map(pair));
  }

  /** Of the logits, or of the scores in view. */
  private softmax(sources: readonly Place[], here: readonly number[]): Step {
    const row = here.slice(0, -1);
    const which = here[here.length - 1];
    const looks = row.length > 1;
    const many = looks ? this.in_view(row[row.length - 1]) : this.a.outputs;
    const masked = which >= many;
    if (!sources.length) {
      const count: Term = { role: "beside", factors: [constant("positions in view", many)], contribution: null };
      const operation = masked ? "mask" : "equal shares"; // nothing is asked
      return { operation, formula: `${masked ? 0 : 1} ÷ positions in view`, terms: [count] };
    }
    const name = sources[0][0];
    const terms = range(many).map((k): Term => {
      return { role: k === which ? "itself" : "beside", factors: [this.at(sources[0], ...row, k)], contribution: null };
    });
    const formula = `${masked ? 0 : `exp(${name})`} ÷ Σ exp(${name}${looks ? " in view" : ""})`;
    return { operation: masked ? "mask" : "softmax", formula, terms };
  }
}

/** A sum of products; as a formula, products of the same names are one Σ. */
function added(operation: Operation, parts: Operand[][], biases: Operand[][] = []): Step {
  const product = (factors: Operand[]) => factors.reduce((product, each) => product * each.number, 1);
  const terms = [
    ...parts.map((factors): Term => ({ role: "part", factors, contribution: product(factors) })),
    ...biases.map((factors): Term => ({ role: "bias", factors, contribution: product(factors) })),
  ];
  const counts = new Map<string, number>();
  for (const { factors } of terms) {
    const name = factors.map((each) => each.name).join(" × ");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const formula = [...counts].map(([name, many]) => (many > 1 ? `Σ ${name}` : name)).join(" + ");
  return { operation, formula, terms };
}

/** A constant, in the precision of the model. */
function constant(name: string, number: number): Operand {
  return { kind: "constant", name, index: [], number: Math.fround(number) };
}

function range(many: number): number[] {
  return Array.from({ length: many }, (_, k) => k);
}
