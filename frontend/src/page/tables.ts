// Named points as a table, and the Python that gives the same numbers in the same order.

import type { Numbers } from "../model/trace";
import type { Table, View } from "../panels/panel";
import { names } from "./names";
import { by_hand, traced } from "./python";

export const LABELS = ["point", "block", "head", "position", "token"]; // columns before the numbers

/** A row for each place on all axes but the last: which point, where, and its numbers. */
export function table_of(view: View, points: readonly string[]): Table {
  const words = names(view);
  const rows: (string | number)[][] = [];
  let wide = 0;
  for (const name of there(view, points)) {
    const { data, shape, axes } = view.trace.points[name] as Numbers;
    const size = shape[shape.length - 1];
    wide = Math.max(wide, size);
    for (let k = 0; k * size < data.length; k++) {
      let rest = k;
      const at: Record<string, number> = {};
      for (let axis = shape.length - 2; axis >= 0; axis--) {
        at[axes[axis].replace(/^(query|key)_/, "")] = rest % shape[axis];
        rest = Math.floor(rest / shape[axis]);
      }
      rows.push([name, at.block ?? "", at.head ?? "", at.position, words[at.position], ...data.subarray(k * size, (k + 1) * size)]);
    }
  }
  return { head: [...LABELS, ...Array.from({ length: wide }, (_, k) => String(k))], rows };
}

/** `run.trace(…)["query"]`, or of several points one trace and each of them. */
export function python_of(view: View, points: readonly string[]): string {
  const found = there(view, points).map((name) => `["${name}"]`);
  const line = found.length === 1 ? traced(view) + found[0] : `t = ${traced(view)}; ${found.map((each) => `t${each}`).join(", ")}`;
  return line + by_hand(view);
}

function there(view: View, points: readonly string[]): string[] {
  return points.filter((name) => view.trace.points[name]);
}
