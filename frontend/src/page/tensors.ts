// The parameters of a model as matrices, with the names of their rows and columns.

import type { Slot } from "../model/architecture";
import type { View } from "../panels/panel";
import { counted } from "./reach";

export interface Tensor {
  slot: Slot;
  rows: string[];
  columns: string[];
  row: string; // what a row is, as a key of the words
  column: string;
  cell(row: number, column: number): number[]; // the index of a cell
}

const SIDES: Record<string, [string, string]> = {
  token: ["token", "feature"], position: ["position", "feature"], output: ["head_feature", "feature"], expand: ["feature", "neuron"],
  contract: ["neuron", "feature"], read_out: ["feature", "answer"],
};

/** A parameter as a matrix; a bias or a gain has one row. */
export function tensor(view: View, slot: Slot): Tensor {
  const leaf = slot.name.slice(slot.name.lastIndexOf(".") + 1);
  const norm = leaf.startsWith("norm");
  const sides = SIDES[leaf.replace(/_bias$/, "")] ?? ["feature", norm ? "feature" : "head_feature"];
  const { words, outputs } = view.run.info.task;
  const { heads, head_width } = view.run.architecture;
  const places = (side: string, many: number): string[] => {
    if (side === "token") return words.slice(0, many);
    if (side === "answer") return outputs.slice(0, many);
    return side === "head_feature" && heads > 1 ? Array.from({ length: many }, (_, k) => `${Math.floor(k / head_width)}.${k % head_width}`) : counted(many);
  };
  const flat = slot.shape.length === 1;
  const [down, across] = flat ? [1, slot.shape[0]] : slot.shape;
  return {
    slot,
    rows: flat ? [""] : places(sides[0], down),
    columns: places(sides[1], across),
    row: flat ? "tensor" : sides[0],
    column: sides[1],
    cell: (row, column) => (flat ? [column] : [row, column]),
  };
}

/** Its numbers in a vector of all parameters. */
export function numbers(params: Float32Array, { begin, size }: Slot): Float32Array {
  return params.subarray(begin, begin + size);
}

/** Its numbers as a table, by the names of rows and columns. */
export function written_out({ rows, columns }: Tensor, data: ArrayLike<number>): { head: string[]; rows: (string | number)[][] } {
  return { head: ["", ...columns], rows: rows.map((name, i) => [name, ...Array.from(columns, (_, j) => data[i * columns.length + j])]) };
}
