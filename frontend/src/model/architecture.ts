// Every switch of the transformer and the shapes of its parameters: the twin of architecture.py.

export interface Architecture {
  vocabulary: number;
  outputs: number;
  context: number;
  width: number;
  blocks: number;
  heads: number;
  head_width: number;
  feed_forward: number; // neurons; 0: none
  activation: "relu" | "gelu" | "tanh";
  norm: "none" | "layer" | "rms";
  norm_place: "pre" | "post";
  norm_epsilon: number;
  final_norm: boolean;
  positions: "learned" | "sinusoidal" | "rotary" | "none";
  causal: boolean;
  residual: boolean;
  attention: "on" | "off" | "mean";
  output_projection: boolean;
  biases: ("attention" | "projection" | "feed_forward" | "norm" | "read_out")[];
  tied_embedding: boolean;
  score_scale: "head" | "width";
  dropout: number;
  read_position?: number | null;
  embedding_init: number;
  linear_init: "fan_in" | "xavier" | "normal" | "plain_normal";
}

export type Shape = readonly number[];

/** A parameter's place in the one flat vector that holds them all. */
export interface Slot {
  name: string; // `token`, `blocks.0.query`, `read_out_bias`
  shape: Shape;
  begin: number;
  size: number;
}

/** Every parameter and its place in the flat vector, in the order of the computation; a matrix maps rows to columns. */
export function slots(a: Architecture): Slot[] {
  const found: Slot[] = [];
  let begin = 0;
  for (const [name, shape] of shapes(a)) {
    const size = shape.reduce((product, length) => product * length, 1);
    found.push({ name, shape, begin, size });
    begin += size;
  }
  return found;
}

/** How many numbers the model learns. */
export function parameters(a: Architecture): number {
  return slots(a).reduce((sum, slot) => sum + slot.size, 0);
}

/** Features of all heads side by side. */
export function inner(a: Architecture): number {
  return a.heads * a.head_width;
}

/** Whether a block holds anything: without attention, feed-forward and norms it does nothing and has no points. */
export function has_blocks(a: Architecture): boolean {
  return a.attention !== "off" || a.feed_forward > 0;
}

/** The part of the model a parameter belongs to: embedding, positions, attention_0, feed_forward_0, read_out. */
export function part(name: string): string {
  if (name.startsWith("blocks.")) {
    const [, block, leaf] = name.split(".");
    return `${/^(expand|contract|norm_2)/.test(leaf) ? "feed_forward" : "attention"}_${block}`;
  }
  return name === "token" ? "embedding" : name === "position" ? "positions" : "read_out";
}

/** (position, feature): sines and cosines by turns, each pair slower than the one before. */
export function sinusoids(context: number, width: number): Float64Array {
  const table = new Float64Array(context * width);
  for (let position = 0; position < context; position++) {
    for (let feature = 0; feature < width; feature++) {
      const angle = position * 10_000 ** (-(feature - (feature % 2)) / width);
      table[position * width + feature] = feature % 2 ? Math.cos(angle) : Math.sin(angle);
    }
  }
  return table;
}

function shapes(a: Architecture): [string, Shape][] {
  const found: [string, Shape][] = [["token", [a.vocabulary, a.width]]];
  if (a.positions === "learned") found.push(["position", [a.context, a.width]]);
  for (let block = 0; block < a.blocks; block++) {
    for (const [name, shape] of block_shapes(a)) found.push([`blocks.${block}.${name}`, shape]);
  }
  if (a.final_norm) found.push(...norm_shapes(a, "norm"));
  if (!a.tied_embedding) found.push(["read_out", [a.width, a.outputs]]);
  if (a.biases.includes("read_out")) found.push(["read_out_bias", [a.outputs]]);
  return found;
}

function norm_shapes(a: Architecture, name: string): [string, Shape][] {
  const found: [string, Shape][] = a.norm === "none" ? [] : [[name, [a.width]]];
  if (a.norm === "layer" && a.biases.includes("norm")) found.push([`${name}_bias`, [a.width]]);
  return found;
}

function block_shapes(a: Architecture): [string, Shape][] {
  const found: [string, Shape][] = [];
  const linear = (name: string, rows: number, columns: number, bias: boolean) => {
    found.push([name, [rows, columns]]);
    if (bias) found.push([`${name}_bias`, [columns]]);
  };
  if (a.attention !== "off") {
    found.push(...norm_shapes(a, "norm_1"));
    const projections = a.attention === "on" ? ["query", "key", "value"] : ["value"];
    for (const name of projections) linear(name, a.width, inner(a), a.biases.includes("attention"));
    if (a.output_projection) linear("output", inner(a), a.width, a.biases.includes("projection"));
  }
  if (a.feed_forward) {
    found.push(...norm_shapes(a, "norm_2"));
    linear("expand", a.width, a.feed_forward, a.biases.includes("feed_forward"));
    linear("contract", a.feed_forward, a.width, a.biases.includes("feed_forward"));
  }
  return found;
}
