// What a link says. Every field has one rule. A value that the rule does not know gets one sentence, and the field its
// default; a list keeps its other parts. What depends on the model is checked once the run is open.

import type { OpenRun } from "../data/open.svelte";
import { read_cell } from "../model/cells";
import { type Edit, written_weights } from "../model/edits";
import type { Panel } from "../panels/panel";
import { quoted } from "../task/words";
import { LANGUAGES } from "../words/words.svelte";
import { hindrance, is_weights, rows, rows_of, texts } from "./changes";
import { THEMES } from "./colours";
import { CONTROLS } from "./controls";
import { plain } from "./explaining.svelte";
import { other_parts, read_other, read_part } from "./other";
import { MODES, MOST, type Page, QUANTITIES, VERSION, start } from "./page";
import { kinds_of } from "./predicting.svelte";
import { read as read_recipe } from "./recipe";
import { station_name, stations } from "./stations";

type Field = keyof Page;

export interface Read {
  page: Page;
  notes: string[]; // sentences about what was not understood
  unknown: Record<string, string>; // kept, so that a newer page's link survives an older page
}

/** What a link is checked against once its run is open. */
export interface Known {
  run: OpenRun;
  runs: readonly { id: string; name: string; members: number }[]; // all that the page can open
  panels: readonly Panel[];
  tokens(text: string): { tokens: Int32Array } | { problem: string };
}

/** Why a value cannot be used; "" if it can. The fields that were checked before are in `page`. */
type Check = (text: string, page: Page, known: Known | null) => string;

interface Rule {
  check: Check;
  parts?: (text: string) => string[]; // of a list
}

const NONE = "there is none in this file";
const names = (text: string): string[] => [...new Set(text.split(",").map((each) => each.trim()))].filter(Boolean);
const length = (known: Known, text: string): number => {
  const found = known.tokens(text || known.run.info.task.showcase[0]);
  return "tokens" in found ? found.tokens.length : 0;
};

function among(names: readonly string[] | ((known: Known) => readonly string[])): Check {
  return (text, _, known) => {
    const there = typeof names !== "function" ? names : known ? names(known) : [text];
    if (there.includes(text)) return "";
    return there.length ? `it is not one of ${there.slice(0, 20).join(", ")}${there.length > 20 ? ", …" : ""}` : NONE;
  };
}

function whole(least: number, most: (known: Known, page: Page) => number): Check {
  return (text, page, known) => {
    const top = known ? most(known, page) : Number.MAX_SAFE_INTEGER;
    const value = text.trim() === "" ? NaN : Number(text);
    if (Number.isSafeInteger(value) && value >= least && value <= top) return "";
    return top < 0 ? NONE : top === 0 ? "there is only 0" : `it is not a whole number from 0 ${known ? `to ${top}` : "up"}`;
  };
}

/** The position and token of `logit POSITION TOKEN`; null of anything else. */
export function read_logit(text: string): [number, number] | null {
  const form = /^logit (\d{1,6}) (\d{1,6})$/.exec(text);
  return form && [Number(form[1]), Number(form[2])];
}

/** Why a text is no input; "" if it is one. */
function unreadable(text: string, known: Known | null): string {
  const found = known?.tokens(text);
  return found && "problem" in found ? found.problem : "";
}

const a = ({ run }: Known) => run.architecture;
const in_rows: Rule = { check: () => "" }; // these three hold one list together: `settle_rows` checks them

/** Every field, in the order in which they are checked. */
const rules: Record<Field, Rule> = {
  mode: { check: among(MODES) },
  run: { check: among(({ runs }) => runs.map(({ id }) => id)) },
  member: { check: whole(0, ({ run }) => run.info.members - 1) },
  step: { check: whole(-1, ({ run }) => run.last) }, // between two saved steps, the nearer one is shown
  input: { check: (text, _, known) => unreadable(text, known) },
  position: { check: whole(-1, (known, page) => length(known, page.input) - 1) },
  block: { check: whole(0, (known) => a(known).blocks - 1) },
  head: { check: whole(0, (known) => a(known).heads - 1) },
  neuron: { check: whole(-1, (known) => a(known).feed_forward - 1) },
  answer: { check: whole(-1, (known) => a(known).outputs - 1) },
  tensor: { check: among(({ run }) => run.slots.map(({ name }) => name)) },
  point: { check: among((known) => [...stations(a(known)).map(station_name), "final"]) },
  analysis: { check: among(({ run }) => run.info.analyses) },
  temperature: { check: (text) => (text.trim() !== "" && Number(text) >= 0.05 && Number(text) <= 10 ? "" : "it is not a number from 0.05 to 10") },
  edits: in_rows,
  off: in_rows,
  weights: in_rows,
  b: { parts: other_parts, check: check_other },
  cell: { check: check_cell },
  toward: {
    check: (text, page, known) => {
      const [position, token] = read_logit(text) ?? (text === "loss" ? [0, 0] : [NaN, NaN]);
      const fits = known ? position < length(known, page.input) && token < a(known).outputs : position >= 0;
      return fits ? "" : "it is neither loss nor a logit of this input, such as logit 0 1";
    },
  },
  ask: { check: (text, page, known) => among((known) => kinds_of(a(known)))(text.replace(/:\d{1,6}$/, ""), page, known) },
  along: { check: among(QUANTITIES) },
  atlas: { check: among(["plane", "loss"]) },
  train: { parts: (text) => text.split(",").filter((part) => part.trim() !== ""), check: check_recipe },
  panel: { check: among(({ panels, run }) => panels.filter(({ about }) => !about.absent?.(run)).map(({ about }) => about.name)) },
  panels: { parts: names, check: among(({ panels }) => panels.map(({ about }) => about.name)) },
  hide: { parts: names, check: among(CONTROLS) },
  keys: { check: among(["off"]) },
  view: { check: among(["projector"]) },
  theme: { check: among(THEMES) },
  lang: { check: among(Object.keys(LANGUAGES)) },
};

/** A part of B; what is said about another run's steps and input is left to the comparison, which opens it. */
function check_other(part: string, page: Page, known: Known | null): string {
  const other = read_part(part);
  if (!other || !known) return other ? "" : "it is not one of step:200, back:10, run:NAME, member:3, edits, input:TEXT";
  const { run } = known;
  const card = known.runs.find(({ id }) => id === read_other(page.b).run) ?? run.info;
  const within = (value: number, most: number): string => whole(0, () => most)(String(Math.abs(value)), page, known);
  if (other.run !== undefined) return among(known.runs.map(({ id }) => `run:${id}`))(part, page, known);
  if (other.member !== undefined) return within(other.member, card.members - 1);
  if (card.id !== run.info.id) return "";
  if (other.step !== undefined && other.step >= 0) return within(other.step, run.last);
  if (other.back !== undefined) return within(other.back, run.steps.length - 1);
  return other.input === undefined ? "" : unreadable(other.input, known);
}

function check_cell(text: string, page: Page, known: Known | null): string {
  if (!known) return "";
  const of_b = text !== plain(text);
  if (of_b && page.mode !== "compare") return "it belongs to B, which only compare mode has";
  const { run, input } = of_b ? read_other(page.b) : {};
  try {
    if (run === undefined) read_cell(plain(text), a(known), length(known, input ?? page.input));
    return "";
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}

function check_recipe(part: string, page: Page, known: Known | null): string {
  const { course, notes } = read_recipe(part);
  if (notes.length || !known) return notes[0] ?? "";
  if (course.of) return rules.run.check(course.of, page, known);
  if (typeof course.from === "number" && course.from > known.run.last) return `the last step in this file is ${known.run.last}`;
  const problems = rows_of(course.set).map((row) => (row.edit ? "only weights can be set" : hindrance(row, a(known), known.run.slots, 0)));
  return problems.find(Boolean) ?? "";
}

/** Why a patch has nothing to take from; of another run, the row says what it lacks. */
function source_problem(edit: Edit | null, known: Known): string {
  const { run, runs } = known;
  const { run: named, step = -1, member = run.info.places[0], from } = edit ?? {};
  if (named !== undefined) return runs.some(({ id, name }) => id === named || name === named) ? "" : `there is no run ${named} in this file`;
  if (!run.info.places.includes(member)) return `there is no member ${member} in this file`;
  if (step >= 0 && !run.steps.includes(step)) return `step ${step} is not saved in this file; the nearest one is ${run.steps[run.nearest(step)]}`;
  return from === undefined ? "" : unreadable(from, known);
}

/** One field of a page from a text, with a sentence for each value that is not known. */
function settle_field(page: Page, name: Field, text: string, known: Known | null): string[] {
  const { check, parts } = rules[name];
  const notes: string[] = [];
  const empty = text === "" && start[name] === "";
  const fine = (parts ? parts(text) : empty ? [] : [text]).filter((part) => {
    const why = check(part, page, known);
    if (why) notes.push(sentence(name, part, why));
    return !why;
  });
  const value = parts || !notes.length ? fine.join(",") : start[name];
  Object.assign(page, { [name]: typeof start[name] === "number" ? Number(value) : value });
  return notes;
}

/** Bring a page within what its run has; a sentence for each value that is not known. */
export function settle(page: Page, known: Known): string[] {
  const given = (Object.keys(rules) as Field[]).filter((name) => page[name] !== start[name]);
  return given.flatMap((name) => settle_field(page, name, String(page[name]), known));
}

/** The same for edits, weights, and the places of those that are off. What only this input is too short for stays. */
export function settle_rows(page: Page, known: Known): string[] {
  const { run } = known;
  const notes: string[] = [];
  const there = rows(page);
  const kept = there.flatMap((row) => {
    const parts = row.weights.length ? row.weights.map((each) => ({ ...row, weights: [each], text: written_weights([each]) })) : [row];
    const fine = parts.filter((part) => {
      const why = hindrance(part, run.architecture, run.slots, run.architecture.context) || source_problem(part.edit, known);
      if (why) notes.push(sentence(is_weights(part) ? "weights" : "edits", part.text, why));
      return !why;
    });
    const weights = fine.flatMap((part) => part.weights);
    return fine.length === parts.length ? [row] : fine.length ? [{ ...row, weights, text: written_weights(weights) }] : [];
  });
  const off = names(page.off).filter((place) => !there.some((_, k) => String(k) === place));
  notes.push(...off.map((place) => sentence("off", place, "it is not the place of an edit")));
  if (notes.length) Object.assign(page, texts(kept));
  return notes;
}

/** The page of a link; what is wrong in it whatever the run is gets its default and a sentence. */
export function fromHash(hash: string): Read {
  const read: Read = { page: { ...start }, notes: [], unknown: {} };
  const [version, ...fields] = hash.replace(/^#/, "").replace(/\p{Cs}/gu, "\ufffd").split("&"); // no link can hold half a character
  const long = hash.length > MOST && `The link has ${hash.length} characters; the most is ${MOST}. The page begins as if there were none.`;
  const other = version !== VERSION && `The link begins with ${shown(version)}; this page reads links that begin with ${VERSION}.`;
  if (!version || long || other) return { ...read, notes: version ? [long || String(other)] : [] };
  for (const field of fields) {
    const end = field.includes("=") ? field.indexOf("=") : field.length;
    let name: string, value: string;
    try {
      [name, value] = [field.slice(0, end), field.slice(end + 1)].map(decodeURIComponent);
    } catch {
      read.notes.push(`${shown(field)} in the link is not used: it cannot be read.`);
      continue;
    }
    if (Object.hasOwn(start, name)) read.notes.push(...settle_field(read.page, name as Field, value, null));
    else if (name) {
      read.unknown[name] = value;
      read.notes.push(`The link has ${shown(name)}, which this page does not know; it is kept.`);
    }
  }
  return read;
}

function sentence(name: Field, text: string, why: string): string {
  const once = why.replace(/\.$/, "").replace(`${text}: `, "").replace(`'${text}': `, ""); // the value need not be said twice
  const reason = text ? once.replaceAll(text, () => shown(text).slice(1, -1)) : once;
  return `${name} = ${shown(text)} in the link is not used: ${shown(reason, 160).slice(1, -1)}.`;
}

/** A text as a sentence can hold it: short, and with signs for what a browser obeys. */
function shown(value: string, most = 40): string {
  const letters = [...value];
  const signs = letters.slice(0, most).map((letter) => (/[\p{C}\p{Zl}\p{Zp}]/u.test(letter) ? quoted(letter).slice(1, -1) : letter));
  return `“${signs.join("")}${letters.length > most ? "…" : ""}”`;
}
