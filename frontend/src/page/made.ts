// How a number is made, ready to be printed: rows that add up to it, or to what it is a share of.

import { place_of } from "../model/cells";
import { read, type Edit } from "../model/edits";
import { axes } from "../model/glossary";
import { again, operands, type Operand, type Operation, type Step } from "../model/operands";
import { at } from "../model/pulls";
import type { Cell } from "../model/trace";
import type { View } from "../panels/panel";
import { type Sum, printed, summed } from "./digits";

/** A row of a sum: what is multiplied, and what that adds. */
export interface Row {
  factors: readonly Operand[];
  number: number; // what the row adds
  of?: Operand; // of a gradient: the later number that pulls
  word?: string; // a key of the words, for rows that are no products
  itself?: boolean; // the one that is asked about, among its neighbours
}

export interface Made {
  cell: Cell;
  value: number; // as it is in force
  untouched: number | null; // without any change of the model, where there are some
  computed: number; // as the operands give it, before an edit of this very number
  edited: boolean; // by an edit of this very number, or a weight set by hand
  operation: Operation | "learnt" | "typed in";
  rows: Row[];
  sum: Sum; // of the rows: the number itself, or what it is a share of
  reads: readonly Operand[]; // what goes in beside the rows: the row of a norm, what chose a token, what is bent
  facts: { word: string; number: number }[]; // numbers on the way: mean, spread
  shift: number; // what was taken off every exponent of a softmax
}

const MOST_EXPONENT = 9; // beyond e⁹ all exponents are taken from the largest

/** The making of a cell of a view. */
export function made(cell: Cell, view: View): Made {
  const { architecture: a, slots } = view.run;
  const none = { reads: [], facts: [], shift: 0, rows: [] as Row[] };
  if (cell.kind === "token") {
    const value = view.trace.tokens[cell.index[0]];
    const sum = { ...summed(value, []), value: String(value) };
    return { ...none, cell, value, untouched: null, computed: value, edited: false, operation: "typed in", sum };
  }
  if (cell.kind === "parameter") {
    const slot = slots.find((each) => each.name === cell.name)!;
    const place = place_of(slot, cell.index);
    const value = view.params[place];
    const untouched = view.params_before?.[place] ?? null;
    const edited = untouched !== null && untouched !== value;
    const was = edited ? untouched : null;
    return { ...none, cell, value, untouched: was, computed: value, edited, operation: "learnt", sum: summed(value, []) };
  }
  const value = at(view.trace.points[cell.name], cell.index);
  const untouched = view.before ? at(view.before.points[cell.name], cell.index) : null;
  const step = operands(a, view.params, view.trace, cell.name, cell.index);
  const found = { ...none, cell, value, untouched, operation: step.operation, ...told(step) };
  const edited = edits_of(cell, view).length > 0;
  const computed = edited ? again(step).value : value;
  return { ...found, edited, computed, sum: summed(found.total ?? computed, found.rows.map((row) => row.number)) };
}

/** The edits in force that change a number of a point itself. */
export function edits_of(cell: Cell, view: View): Edit[] {
  if (cell.kind !== "point" || !view.edits) return [];
  const along = axes(cell.name);
  return read(view.edits).filter(({ point, at: places }) => {
    return point === cell.name && along.every((axis, k) => places?.[axis]?.includes(cell.index[k]) ?? true);
  });
}

interface Told {
  rows: Row[];
  total: number | null; // what the rows add up to, where that is not the value
  reads: readonly Operand[];
  facts: { word: string; number: number }[];
  shift: number;
}

function told(step: Step): Told {
  const { operation, terms } = step;
  const with_role = (...roles: string[]): Operand[] => {
    return terms.filter((term) => roles.includes(term.role)).map((term) => term.factors[0]);
  };
  const none = { total: null, reads: [] as Operand[], facts: [], shift: 0 };
  const [itself] = with_role("itself");
  const beside = with_role("beside");
  switch (operation) {
    case "softmax": {
      const cells = terms.map((term) => term.factors[0]);
      const top = Math.max(...cells.map((each) => each.number));
      const shift = top > MOST_EXPONENT || itself.number < -MOST_EXPONENT ? top : 0;
      const exponential = (each: Operand): number => Math.exp(each.number - shift);
      const rows = cells.map((each) => ({ factors: [each], number: exponential(each), itself: each === itself }));
      const total = rows.reduce((sum, row) => sum + row.number, 0);
      return { ...none, rows, total, shift };
    }
    case "mask":
      return { ...none, rows: [] };
    case "equal shares":
      return { ...none, rows: [], reads: beside };
    case "layer norm":
    case "rms norm": {
      const row = with_role("itself", "beside");
      const mean = operation === "layer norm" ? row.reduce((sum, each) => sum + each.number, 0) / row.length : 0;
      const square = row.reduce((sum, each) => sum + (each.number - mean) ** 2, 0) / row.length;
      const root = Math.sqrt(square + with_role("epsilon")[0].number);
      const size = (itself.number - mean) / root;
      const unit: Operand = { kind: "constant", name: "of unit size", index: [], number: size };
      const [gain] = with_role("gain");
      const [bias] = with_role("bias");
      const rows: Row[] = [{ factors: [unit, gain], number: unit.number * gain.number }];
      if (bias) rows.push({ factors: [bias], number: bias.number });
      const spread = { word: "spread", number: root };
      const facts = operation === "layer norm" ? [{ word: "mean", number: mean }, spread] : [spread];
      return { ...none, rows, reads: [itself, ...beside], facts };
    }
    case "relu":
    case "gelu":
    case "tanh":
      return { ...none, rows: [], reads: [itself] };
    default: {
      const rows = terms.flatMap(({ factors, contribution }) => (contribution === null ? [] : [{ factors, number: contribution }]));
      return { ...none, rows, reads: with_role("chosen by") };
    }
  }
}

/** The value as it is printed: of a sum, the printed sum itself. */
export function value_of(made: Made): string {
  if (made.edited || made.operation === "softmax") return printed(made.value);
  return made.sum.value;
}

/** Places of the rows to show, largest first, so many at most and one for sure; and those that are left, as one row. */
export function foremost(numbers: readonly number[], most: number, sure = -1): { shown: number[]; rest: number[] } {
  const order = numbers.map((_, k) => k);
  if (numbers.length <= most + 1) return { shown: order, rest: [] };
  const size = (k: number): number => (k === sure || Number.isNaN(numbers[k]) ? Infinity : Math.abs(numbers[k]));
  order.sort((one, other) => size(other) - size(one) || one - other);
  return { shown: order.slice(0, most), rest: order.slice(most) };
}
