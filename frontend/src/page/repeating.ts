// What is changed in the page, said as a short sentence, and as the Python and the command that do the same.

import type { Edit, WeightEdit } from "../model/edits";
import { written as edit_text, written_weights } from "../model/edits";
import type { View } from "../panels/panel";
import type { Row } from "./changes";
import { input, literal, member } from "./python";
import { written } from "./written";

const MOST = 3; // numbers of a vector that are told one by one

/** “zero · mixed · block 0 · head 0”; names of the vocabulary stand for rows of the token table. */
export function phrase(row: Row, vocabulary: readonly string[]): string {
  if (row.edit) return edit_phrase(row.edit);
  if (!row.weights.length) return row.text;
  const [{ name, index }] = row.weights;
  if (name === "token" || name === "position") {
    const of = name === "token" ? (vocabulary[index[0]] ?? index[0]) : index[0];
    const many = row.weights.length;
    return `${name} ${of} · ${many > MOST ? `${many} features set` : row.weights.map(at_last).join(" · ")}`;
  }
  return row.weights.map((each) => `${each.name} [${each.index.join(", ")}] = ${written(each.value)}`).join(" · ");
}

function at_last({ index, value }: WeightEdit): string {
  return `feature ${index[index.length - 1]} = ${written(value)}`;
}

function edit_phrase(edit: Edit): string {
  const words: string[] = [edit.verb, edit.point];
  if (edit.amount !== undefined) words.push(edit.verb === "scale" ? `× ${signed(edit.amount)}` : edit.verb === "add" ? `+ ${signed(edit.amount)}` : `= ${signed(edit.amount)}`);
  if (edit.from !== undefined) words.push(`from “${edit.from}”`);
  if (edit.step !== undefined) words.push(edit.step < 0 ? "last step" : `step ${edit.step}`);
  if (edit.run !== undefined) words.push(`run ${edit.run}`);
  if (edit.member !== undefined) words.push(`member ${edit.member}`);
  for (const [axis, places] of Object.entries(edit.at ?? {})) words.push(`${axis.replace("_", " ")} ${spans(places)}`);
  return words.join(" · ");
}

function signed(value: number): string {
  return String(value).replace("-", "−");
}

/** 0–3, 5 */
function spans(places: readonly number[]): string {
  const found: [number, number][] = [];
  for (const place of places) {
    const last = found[found.length - 1];
    if (last && last[1] === place - 1) last[1] = place;
    else found.push([place, place]);
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}

/** The Python that gives the trace of a model with these rows. Parameters of a run cannot be written to: a copy is. */
export function python(rows: readonly Row[], view: View): string {
  const edits = rows.flatMap((row) => (row.edit ? [row.edit] : []));
  const weights = rows.flatMap((row) => row.weights);
  const text = input(view);
  const given = edits.length ? literal(edit_text(edits)) : "";
  if (!weights.length) return `run.trace(${text}, step=${view.step}${member(view)}${given ? `, edits=${given}` : ""})`;
  const of = view.run.info.places[view.member] ?? 0;
  return [
    "from glassformer import editing, reference",
    "from glassformer.architecture import nest",
    `weights = {name: array.copy() for name, array in run.weights(${view.step}, ${of}).items()}`,
    ...written_weights(weights).split("; ").map(assignment),
    `tokens = run.tokens(${text})`,
    given
      ? `edits = editing.compiled(run, tokens, ${view.step}, ${of}, ${given})\n_, trace = reference.forward(nest(weights), tokens, run.architecture, edits)`
      : "_, trace = reference.forward(nest(weights), tokens, run.architecture)",
  ].join("\n");
}

/** `weights["token"][3, :2] = [0.5, -1]` of `weights.token[3]=[0.5, -1]`. */
function assignment(text: string): string {
  const [, name, places, value] = /^weights\.([^[]+)\[([^\]]*)\]=(.*)$/.exec(text) ?? [];
  const several = value.startsWith("[") ? `, :${value.split(",").length}` : "";
  return `weights[${literal(name)}][${places}${several}] = ${value}`;
}

/** The option of the command line that does the same; "" for weights, which only Python sets. */
export function option(rows: readonly Row[]): string {
  return rows.flatMap((row) => (row.edit ? [`--edit ${in_shell(edit_text([row.edit]))}`] : [])).join(" ");
}

/** A word of a command line, whatever stands in it. */
function in_shell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
