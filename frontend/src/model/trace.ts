// What a forward pass leaves behind: every intermediate value under its name, with the axes of the glossary.

/** Numbers in rows: an axis for each length of the shape, the last one fastest. */
export interface Numbers {
  data: Float32Array;
  shape: readonly number[];
  axes: readonly string[]; // `block` first for the points inside blocks, as in Python: ["block", "head", "query_position", …]
}

/** The trace of one input, points by name. Points a model does not have are absent. */
export interface Trace {
  tokens: Int32Array;
  points: Record<string, Numbers>;
}

/** A place in the model: a point with an index along each of its axes, or a parameter with its own indices. */
export type Cell =
  | { kind: "point"; name: string; index: readonly number[] }
  | { kind: "parameter"; name: string; index: readonly number[] }
  | { kind: "token"; index: readonly number[] }; // the id at a position
