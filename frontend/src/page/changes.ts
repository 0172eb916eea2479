// The changes of a model as rows: edits, and numbers of a table set by hand; and the three texts of the link that hold
// them. A row that cannot be read, or that the model has no place for, says why and is not in force.

import type { Architecture, Slot } from "../model/architecture";
import { place_of } from "../model/cells";
import { check } from "../model/editing";
import { type Edit, type WeightEdit, parse, read_weights, written as edit_text, written_weights } from "../model/edits";

export interface Row {
  text: string; // as it is written
  off: boolean;
  edit: Edit | null; // or
  weights: WeightEdit[];
  problem: string; // why it cannot be read, or ""
}

/** The fields of the link that hold rows: `off` has the places of those that are switched off, weights after edits. */
export interface Texts {
  edits: string;
  off: string;
  weights: string;
}

const TABLES = ["token", "position"]; // whose rows are vectors: all numbers of one are one row

/** The rows of the link, edits first. */
export function rows(texts: Texts): Row[] {
  const off = new Set(texts.off.split(",").map((each) => each.trim()));
  const found = [...pieces(texts.edits).map(row), ...grouped(pieces(texts.weights).map((each) => (is_weights({ text: each }) ? each : `weights.${each}`)))];
  return found.map((each, k) => ({ ...each, off: off.has(String(k)) }));
}

/** The texts of rows, which `rows` takes. */
export function texts(rows: readonly Row[]): Texts {
  const edits = rows.filter((each) => !is_weights(each));
  const ordered = [...edits, ...rows.filter(is_weights)];
  return {
    edits: edits.map((each) => each.text).join("; "),
    off: ordered.flatMap((each, k) => (each.off ? [k] : [])).join(","),
    weights: ordered.slice(edits.length).map((each) => each.text).join("; "),
  };
}

/** The row of one written edit, `zero(mixed, head=0)`, or of one weight, `weights.token[3, 0]=1.5`. */
export function row(text: string): Row {
  const none: Row = { text, off: false, edit: null, weights: [], problem: "" };
  try {
    if (is_weights(none)) {
      const weights = read_weights(text);
      return { ...none, weights, text: written_weights(weights) };
    }
    const edit = parse(text);
    return { ...none, edit, text: edit_text([edit]) };
  } catch (problem) {
    return { ...none, problem: problem instanceof Error ? problem.message : String(problem) };
  }
}

/** The rows of a text in which several may stand, a semicolon between two of them. */
export function rows_of(text: string): Row[] {
  const found = pieces(text);
  return [...found.filter((each) => !is_weights({ text: each })).map(row), ...grouped(found.filter((each) => is_weights({ text: each })))];
}

export function is_weights(row: { text: string }): boolean {
  return /^\s*weights\b/.test(row.text);
}

/** The parts of a text between semicolons that stand outside quotes. */
function pieces(text: string): string[] {
  const found = [""];
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|'[^'\\]*'|;|[^"';]+|./gs)) {
    if (part === ";") found.push("");
    else found[found.length - 1] += part;
  }
  return found.map((each) => each.trim()).filter((each) => each !== "");
}

/** Weights as rows, the numbers of one vector of a table together. */
function grouped(texts: string[]): Row[] {
  const found: Row[] = [];
  for (const text of texts) {
    const next = row(text);
    const [first] = next.weights;
    const same = first && TABLES.includes(first.name) ? found.find(({ weights: [other] }) => other?.name === first.name && other.index[0] === first.index[0]) : undefined;
    if (same) {
      same.weights = with_weights(same.weights, next.weights).sort((one, other) => one.index[1] - other.index[1]);
      same.text = written_weights(same.weights);
    } else found.push(next);
  }
  return found;
}

/** Weights with some more, of which the newest holds. */
export function with_weights(weights: readonly WeightEdit[], more: readonly WeightEdit[]): WeightEdit[] {
  const key = (each: WeightEdit): string => `${each.name} ${each.index.join(",")}`;
  const found = new Map(weights.map((each) => [key(each), each]));
  for (const each of more) found.set(key(each), each);
  return [...found.values()];
}

/** Rows in which some weights have been set; their row is on. */
export function with_set(rows: readonly Row[], weights: readonly WeightEdit[]): Row[] {
  const there = rows.filter((each) => each.weights.length);
  const key = ({ name, index }: WeightEdit): string => `${name} ${TABLES.includes(name) ? index[0] : index.join(",")}`;
  const changed = new Set(weights.map(key));
  const other = there.filter((each) => !changed.has(key(each.weights[0])));
  const old = there.filter((each) => changed.has(key(each.weights[0]))).flatMap((each) => each.weights);
  const made = grouped(with_weights(old, weights).map((each) => written_weights([each])));
  const places = new Map(there.map((each, k) => [key(each.weights[0]), k])); // a row that is moved keeps its place
  const all = [...other, ...made].sort((a, b) => (places.get(key(a.weights[0])) ?? there.length) - (places.get(key(b.weights[0])) ?? there.length));
  return [...rows.filter((each) => !each.weights.length), ...all];
}

/** Why a row cannot be in force in a model, on an input so long; "" if it can. */
export function hindrance(row: Row, a: Architecture, slots: readonly Slot[], length: number): string {
  if (row.problem) return row.problem;
  try {
    if (row.edit) check(row.edit, a, length);
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
  for (const { name, index } of row.weights) {
    const slot = slots.find((each) => each.name === name);
    if (!slot) return `this model has no parameter ${name}; it has: ${slots.map((each) => each.name).join(", ")}`;
    if (slot.shape.length !== index.length || index.some((place, k) => place >= slot.shape[k])) {
      return `${name}[${index.join(", ")}] is not a place of ${name}, which is ${slot.shape.join(" × ")}; places count from 0`;
    }
  }
  return "";
}

/** Parameters with some of them set; the same ones where there is nothing to set. */
export function set(params: Float32Array, slots: readonly Slot[], weights: readonly WeightEdit[]): Float32Array {
  if (!weights.length) return params;
  const found = params.slice();
  for (const { name, index, value } of weights) {
    const slot = slots.find((each) => each.name === name);
    if (slot) found[place_of(slot, index)] = value;
  }
  return found;
}
