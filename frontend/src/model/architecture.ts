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
