// A single number of the model as a link writes it: `scores[0, 0, 6, 4]`, `blocks.0.query[1, 0]`, `token[3]`.

import { slots, type Architecture, type Slot } from "./architecture";
import { sizes } from "./editing";
import { CallError, quoted, unknown } from "./errors";
import { axes, is_place } from "./glossary";
import type { Cell } from "./trace";

const FORM = /^\s*([\w.]+)\s*\[([^[\]]*)\]\s*$/;
const EXAMPLE = "scores[0, 0, 6, 4], blocks.0.query[1, 0] or token[3]";

/** A cell as a text that `read_cell` takes. With one place, `token` is the id that stands there; with two, a weight. */
export function written_cell(cell: Cell): string {
  return `${cell.kind === "token" ? "token" : cell.name}[${cell.index.join(", ")}]`;
}

/** The cell of a text, in a model that looks at so many tokens; Python's `scores[block=0, head=0, …]` is read, too. */
export function read_cell(text: string, a: Architecture, length: number): Cell {
  const form = FORM.exec(text);
  if (!form) throw new CallError(`cell = ${quoted(text.slice(0, 80))} cannot be read; write it as ${EXAMPLE}`);
  const name = form[1];
  const words = form[2].split(",").map((word) => word.trim());
  const points = sizes(a);
  const parameters = slots(a);
  const slot = parameters.find((each) => each.name === name);
  if (name === "token" && words.length === 1) {
    return { kind: "token", index: [place(words[0], "position", length, name)] };
  }
  if (Object.hasOwn(points, name)) {
    const along = axes(name);
    const given = ordered(words, along, name);
    const size = (axis: string): number => (is_place(axis) ? length : points[name][axis]);
    return { kind: "point", name, index: given.map((word, k) => place(word, along[k], size(along[k]), name)) };
  }
  if (!slot) throw unknown(name, "this model", [...Object.keys(points), ...parameters.map((each) => each.name)]);
  const along = slot.shape.length === 2 ? ["row", "column"] : ["place"];
  const given = ordered(words, along, name);
  return { kind: "parameter", name, index: given.map((word, k) => place(word, along[k], slot.shape[k], name)) };
}

/** Where a parameter stands in the flat vector. */
export function place_of(slot: Slot, index: readonly number[]): number {
  return slot.begin + (slot.shape.length === 2 ? index[0] * slot.shape[1] + index[1] : index[0]);
}

/** The places in the order of the axes, whether they are named or not. */
function ordered(words: string[], along: readonly string[], name: string): string[] {
  const pairs = words.map((word) => word.split("=").map((each) => each.trim()));
  const named = pairs.length > 0 && pairs.every((pair) => pair.length === 2);
  const found = named ? along.map((axis) => pairs.find((pair) => pair[0] === axis)?.[1]) : words;
  if (words.length !== along.length || found.some((word) => word === undefined)) {
    const text = `${name}[${words.join(", ")}]`;
    throw new CallError(`cell = ${text.slice(0, 80)} does not name one place along each of: ${along.join(", ")}`);
  }
  return found as string[];
}

function place(word: string, axis: string, size: number, name: string): number {
  const k = /^\d{1,9}$/.test(word) ? Number(word) : NaN;
  if (!(k < size)) throw new CallError(`${axis} = ${quoted(word)} of ${name} is not between 0 and ${size - 1}`);
  return k;
}
