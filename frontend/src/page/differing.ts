// The difference of two tables of numbers: what a comparison shows of a panel beside A and B.

import type { About, Table, View } from "../panels/panel";
import { written } from "./written";

const AXES = new Set(["step", "member", "block", "head", "position", "query", "key", "query_position", "key_position", "feature", "neuron", "token", "row", "column", "rank"]);

/** A − B, number by number; null where the two are not about the same things. */
export function difference(a: Table, b: Table): Table | null {
  if (a.rows.length !== b.rows.length || a.head.length !== b.head.length) return null;
  const first = first_number(a);
  const rows = a.rows.map((row, i) =>
    row.map((cell, j) => {
      const other = b.rows[i][j];
      if (j < first || AXES.has(a.head[j])) return cell === other ? cell : `${cell} | ${other}`;
      return typeof cell === "number" && typeof other === "number" ? cell - other : cell === other ? cell : `${cell} | ${other}`;
    }),
  );
  return { head: a.head.map((name, j) => (name === b.head[j] ? name : `${name} | ${b.head[j]}`)), rows };
}

/** Columns before this one tell what the numbers are of. */
function first_number(table: Table): number {
  let last = -1;
  for (const row of table.rows) row.forEach((cell, j) => typeof cell === "string" && j > last && (last = j));
  return last + 1;
}

export interface Apart {
  name: string; // what the number is of
  a: number;
  b: number;
}

/** The numbers that differ most, the largest difference first. */
export function largest(a: Table, b: Table, most: number): Apart[] {
  if (a.rows.length !== b.rows.length || a.head.length !== b.head.length) return [];
  const first = first_number(a);
  const found: Apart[] = [];
  a.rows.forEach((row, i) => {
    const of = row.flatMap((cell, j) => (j < first || AXES.has(a.head[j]) ? [typeof cell === "number" ? `${a.head[j]} ${cell}` : cell] : [])).filter((cell) => cell !== "");
    row.forEach((cell, j) => {
      const other = b.rows[i][j];
      if (j < first || AXES.has(a.head[j]) || typeof cell !== "number" || typeof other !== "number" || cell === other) return;
      found.push({ name: [...of, a.head[j]].join(" · "), a: cell, b: other });
    });
  });
  return found.sort((one, other) => Math.abs(other.a - other.b) - Math.abs(one.a - one.b)).slice(0, most);
}

/** What is told of a panel that shows view − against. */
export function differing(about: About, against: View): About {
  const empty: Table = { head: [], rows: [] };
  return {
    ...about,
    table: (view, chosen) => difference(about.table(view, chosen), about.table(against, chosen)) ?? empty,
    python: (view, chosen) => `a = ${about.python(view, chosen)}\nb = ${about.python(against, chosen)}\na - b`,
    summary(view, chosen) {
      const [first] = largest(about.table(view, chosen), about.table(against, chosen), 1);
      return first ? `A and B differ most in ${first.name}: ${written(first.a)} and ${written(first.b)}.` : "Not one number differs.";
    },
  };
}
