// Edits as data: what is changed inside a model, written so that a person, a file and a link can carry it. The twin of
// edits.py, where the verbs are told: zero, mean, patch, add, scale, set.
//
// `zero(mixed, block=0, head=1)` is a verb, a named point of the glossary and places along its axes; an axis left out
// means all of it. Several edits act in the order of their list, and a semicolon stands between them in one text.

import { CallError, quoted, unknown } from "./errors";
import { axes, point as find_point, POINTS } from "./glossary";

export const NUMBERED: readonly string[] = ["add", "scale", "set"];
export const VERBS: readonly string[] = ["zero", "mean", "patch", ...NUMBERED];
const SOURCES = ["from", "step", "run", "member"]; // of a patch
const MOST_NUMBER = 3.4e38; // the largest there is in float32
const MOST_PLACES = 65_536; // along one axis
const MOST_TEXT = 10_000; // characters of a text
const MOST_DIGITS = 15; // of a whole number

export type Verb = "zero" | "mean" | "patch" | "add" | "scale" | "set";

/** One change of a model on its way, as Python's `Edit.plain()` gives it and JSON holds it. */
export interface Edit {
  verb: Verb;
  point: string;
  at?: Record<string, number[]>; // axis → places, in the order of the axes, ascending; an axis left out: all of it
  amount?: number; // of add, scale and set
  from?: string; // of patch: the other input,
  step?: number; // the other step,
  run?: string; // the other run,
  member?: number; // the other member of a population
}

/** The edits of a text such as `scale(attended, 0.5, block=1); zero(out)`; an empty text has none. */
export function read(text: string): Edit[] {
  return text.trim() === "" ? [] : new Words(text).edits();
}

/** The one edit of a text. */
export function parse(text: string): Edit {
  const found = new Words(text).edits();
  if (found.length !== 1) throw new CallError(`${quoted(text)} has ${found.length} edits where one is wanted`);
  return found[0];
}

/** Edits as one text, which `read` takes. */
export function written(edits: readonly Edit[]): string {
  return edits.map(written_edit).join("; ");
}

/** An edit whose parts are checked and in order; what is wrong with them is said in a sentence. */
export function edit(given: Edit): Edit {
  const { point, block } = named(given.verb, given.point);
  const known = axes(point);
  const at: Record<string, number[]> = { ...given.at };
  if (block !== null) {
    if (at.block && !(at.block.length === 1 && at.block[0] === block)) {
      throw new CallError(`block = ${shown(at.block)} is not the block ${block} that the point's name has`);
    }
    at.block = [block];
  }
  for (const axis of Object.keys(at)) if (!known.includes(axis)) throw unknown(axis, `the axes of ${point}`, known);
  const found: Edit = { verb: given.verb, point };
  const places = known.filter((axis) => Object.hasOwn(at, axis)).map((axis) => [axis, ordered(axis, at[axis])]);
  if (places.length) found.at = Object.fromEntries(places);
  if (NUMBERED.includes(given.verb)) {
    if (given.amount === undefined || given.amount === null) {
      throw new CallError(`${given.verb} needs a number after the point, as in ${given.verb}(${point}, 0.5)`);
    }
    if (typeof given.amount !== "number" || !(Math.abs(given.amount) <= MOST_NUMBER)) {
      throw new CallError(`amount = ${shown(given.amount)} of ${given.verb} is not a number up to 3.4e+38`);
    }
    found.amount = given.amount;
  } else if (given.amount !== undefined && given.amount !== null) {
    const number = python_number(given.amount);
    throw new CallError(`${given.verb} takes no number, but ${number} is given; ${NUMBERED.join(", ")} take one`);
  }
  return with_source(found, given);
}

function with_source(found: Edit, given: Edit): Edit {
  const source = SOURCES.filter((name) => (given[name as keyof Edit] ?? null) !== null);
  if (found.verb !== "patch" && source.length) {
    throw new CallError(`${found.verb} has no source, but ${source.join(", ")} is given; only patch has one`);
  }
  if (found.verb === "patch" && !source.length) {
    throw new CallError(`patch(${found.point}) has no source; give one, as in patch(${found.point}, from="4 9")`);
  }
  for (const name of ["from", "run"] as const) {
    if (!source.includes(name)) continue;
    const text = given[name];
    if (typeof text !== "string" || !text) throw new CallError(`${name} = ${shown(text)} is not a text in quotes`);
    found[name] = text;
  }
  if (source.includes("step")) {
    if (!Number.isInteger(given.step) || (given.step as number) < -1) {
      throw new CallError(`step = ${given.step} is not a kept step: a whole number from 0 up, or -1 for the last`);
    }
    found.step = given.step;
  }
  if (source.includes("member")) {
    if (!Number.isInteger(given.member) || (given.member as number) < 0) {
      throw new CallError(`member = ${given.member} is not a member of a population: a whole number from 0 up`);
    }
    found.member = given.member;
  }
  return found;
}

function written_edit(edit: Edit): string {
  const words = [edit.point];
  if (edit.amount !== undefined) words.push(shortest(edit.amount));
  for (const name of SOURCES) {
    const value = edit[name as keyof Edit];
    if (value !== undefined) words.push(`${name}=${shown(value)}`);
  }
  for (const [axis, places] of Object.entries(edit.at ?? {})) words.push(`${axis}=${spans(places)}`);
  return `${edit.verb}(${words.join(", ")})`;
}

// ---- one weight -----------------------------------------------------------------------------------------------------

/** One number of a parameter set to another, written `weights.blocks.0.query[1, 0]=0.5`; several along the last axis, from
 * the first on, are written `weights.token[3]=[0.5, -1]`. */
export interface WeightEdit {
  name: string; // of the parameter, as `slots` has it
  index: number[];
  value: number;
}

const WEIGHT = /^\s*weights\.([a-z_]+(?:\.\d+\.[a-z_0-9]+)?)\s*\[([\d\s,]*)\]\s*=\s*(\[[^[\]]*\]|[^[\]]*)$/;
const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The weight edits of a text, a semicolon between two of them; an empty text has none. */
export function read_weights(text: string): WeightEdit[] {
  if (text.length > MOST_TEXT) throw too_long(text);
  return text.trim() === "" ? [] : text.split(";").flatMap(parse_weights);
}

function parse_weights(text: string): WeightEdit[] {
  const form = WEIGHT.exec(text);
  const several = form !== null && form[3].startsWith("[");
  const words = (list: string): string[] => list.split(",").map((part) => part.trim());
  const places = form ? words(form[2]) : [];
  const numbers = form ? (several ? words(form[3].slice(1, -1)) : [form[3].trim()]) : [];
  if (!form || !places.every((part) => /^\d{1,9}$/.test(part)) || !numbers.every((part) => NUMBER.test(part))) {
    throw new CallError(`${quoted(text)} cannot be read as a weight; write it as weights.blocks.0.query[1, 0]=0.5`);
  }
  const index = places.map(Number);
  return numbers.map((number, k) => {
    const value = Number(number);
    if (!(Math.abs(value) <= MOST_NUMBER)) {
      throw new CallError(`${quoted(text)}: ${number} is not a number up to 3.4e+38`);
    }
    return { name: form[1], index: several ? [...index, k] : index, value };
  });
}

/** Weight edits as one text, which `read_weights` takes. */
export function written_weights(edits: readonly WeightEdit[]): string {
  const found: string[] = [];
  for (let k = 0; k < edits.length; ) {
    const { name, index } = edits[k];
    const before = index.slice(0, -1);
    const next = (many: number): boolean => {
      const each = edits[k + many];
      return each?.name === name && [...before, many].join() === each.index.join();
    };
    let many = 0; // in a row, from the first place along the last axis on
    while (before.length && next(many)) many++;
    if (many > 1) {
      const values = edits.slice(k, k + many).map((each) => shortest(each.value));
      found.push(`weights.${name}[${before.join(", ")}]=[${values.join(", ")}]`);
    } else found.push(`weights.${name}[${index.join(", ")}]=${shortest(edits[k].value)}`);
    k += Math.max(many, 1);
  }
  return found.join("; ");
}

// ---- text -----------------------------------------------------------------------------------------------------------

type Word = { kind: string; text: string };
const TOKEN = new RegExp(
  [
    /[ \t\n\r\f\v]+/,
    /(?<text>"(?:[^"\\]|\\.)*"|'[^'\\]*')/,
    /(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/,
    /(?<word>[A-Za-z_]\w*(?:\.\w+)*)/,
    /(?<sign>[\][(),=;-])/,
    /(?<other>.)/,
  ]
    .map((each) => each.source)
    .join("|"),
  "gsu",
);

/** The words of a text, taken one by one. */
class Words {
  private readonly words: Word[] = [];
  private place = 0;

  constructor(private readonly text: string) {
    if (text.length > MOST_TEXT) throw too_long(text);
    for (const each of text.matchAll(TOKEN)) {
      const kind = Object.entries(each.groups ?? {}).find(([, value]) => value !== undefined)?.[0];
      if (kind) this.words.push({ kind, text: each[0] });
    }
  }

  edits(): Edit[] {
    const found = [this.edit()];
    while (this.skip(";")) found.push(this.edit());
    return this.place === this.words.length ? found : this.wrong("a semicolon or the end");
  }

  private edit(): Edit {
    const verb = this.take("word", "a verb");
    this.need("(");
    const { point, block } = named(verb, this.take("word", "the name of a point"));
    const known = axes(point);
    const given: Record<string, unknown> = block === null ? {} : { block: [block] };
    const inherited = Object.keys(given).length;
    let amount: number | undefined;
    while (this.skip(",")) {
      const first = Object.keys(given).length === inherited;
      if (first && amount === undefined && this.next().kind !== "word") {
        amount = this.number("a number, or the name of an axis");
        continue;
      }
      const name = this.take("word", "the name of an axis");
      if (!known.includes(name) && !SOURCES.includes(name)) {
        throw unknown(name, `the axes of ${point}`, [...known, ...(verb === "patch" ? SOURCES : [])]);
      }
      if (Object.hasOwn(given, name)) {
        throw new CallError(
          `${name} is given twice in ${quoted(this.text)}; give all its places once, as ${name}=[0, 2]`,
        );
      }
      this.need("=");
      given[name] = this.value(name);
    }
    this.need(")");
    const { from, step, run, member, ...at } = given;
    return edit({ verb, point, at, amount, from, step, run, member } as Edit);
  }

  private value(name: string): unknown {
    if (name === "from" || name === "run") {
      const word = this.take("text", "a text in quotes", name);
      if (word[0] !== '"') return word.slice(1, -1);
      try {
        // JSON knows no plain line break or tab inside quotes; people paste them
        const escaped = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
        return JSON.parse(word.replace(/[\u0000-\u001f]/g, escaped));
      } catch {
        throw new CallError(`${name} = ${word} has a backslash that stands for nothing; write two of it`);
      }
    }
    if (name === "step") {
      return this.skip("-") ? -this.whole(name, "a whole number") : this.whole(name, "a whole number");
    }
    if (name === "member") return this.whole(name, "a whole number from 0 up");
    if (!this.skip("[")) return this.span(name);
    const places = this.span(name);
    while (this.skip(",")) {
      places.push(...this.span(name));
      if (places.length > MOST_PLACES) throw new CallError(`${name} has more than 65,536 places`);
    }
    this.need("]");
    return places;
  }

  private span(axis: string): number[] {
    const wanted = "a whole number from 0 up, a range such as 0-3, or a list such as [0, 2]";
    const first = in_reach(axis, this.whole(axis, wanted));
    if (!this.skip("-")) return [first];
    const last = in_reach(axis, this.whole(axis, wanted));
    if (last < first) throw new CallError(`${axis} = ${first}-${last} runs backwards; write ${last}-${first}`);
    return Array.from({ length: last - first + 1 }, (_, k) => first + k);
  }

  private whole(field: string, wanted: string): number {
    const word = this.next().text;
    if (!/^\d+$/.test(word) || word.length > MOST_DIGITS) this.wrong(wanted, field);
    return Number(this.take("number", wanted, field));
  }

  private number(wanted: string): number {
    const sign = this.skip("-") ? -1 : 1;
    return sign * Number(this.take("number", wanted));
  }

  private next(): Word {
    return this.words[this.place] ?? { kind: "end", text: "" };
  }

  private take(kind: string, wanted: string, field = ""): string {
    if (this.next().kind !== kind) this.wrong(wanted, field);
    return this.words[this.place++].text;
  }

  private skip(sign: string): boolean {
    const found = this.next().kind === "sign" && this.next().text === sign;
    if (found) this.place++;
    return found;
  }

  private need(sign: string): void {
    if (!this.skip(sign)) this.wrong(quoted(sign));
  }

  private wrong(wanted: string, field = ""): never {
    const { kind, text } = this.next();
    if (field && kind !== "end") {
      const rest = this.words.slice(this.place, this.place + (text === "-" ? 2 : 1));
      const there = rest.map((word) => word.text).join("");
      throw new CallError(`${field} = ${there} in ${quoted(this.text)} is not ${wanted}`);
    }
    const there = kind === "end" ? "it ends" : `${text} stands`;
    throw new CallError(
      `the edit ${quoted(this.text)} cannot be read: ${there} where ${wanted} ` +
        "should be; it is written as zero(mixed, block=0, head=1) or add(middle, 1.5, position=0-3)",
    );
  }
}

function named(verb: string, name: string): { point: string; block: number | null } {
  if (!VERBS.includes(verb)) throw unknown(String(verb), "the verbs of edits", VERBS);
  const found = typeof name === "string" ? find_point(name) : null;
  if (found === null) throw unknown(String(name), "the points", POINTS);
  return found;
}

function ordered(axis: string, given: number[]): number[] {
  const many = Array.isArray(given) ? given : [given];
  if (!many.length || !many.every((place) => Number.isInteger(place))) {
    throw new CallError(`${axis} = ${shown(given)} is not a whole number or a list of them`);
  }
  for (const place of many) in_reach(axis, place);
  if (many.every((place, k) => k === 0 || place > many[k - 1])) return [...many];
  return [...new Set(many)].sort((one, other) => one - other);
}

function in_reach(axis: string, place: number): number {
  if (!(place >= 0 && place < MOST_PLACES)) throw new CallError(`${axis} = ${place} is not between 0 and 65,535`);
  return place;
}

function too_long(text: string): CallError {
  return new CallError(`the edits have ${text.length.toLocaleString("en")} characters; the most is 10,000`);
}

/** 0-3, or [0, 2, 5-7]. */
function spans(places: readonly number[]): string {
  const found: [number, number][] = [];
  for (const place of places) {
    const last = found[found.length - 1];
    if (last && last[1] === place - 1) last[1] = place;
    else found.push([place, place]);
  }
  const words = found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return words.length === 1 ? words[0] : `[${words.join(", ")}]`;
}

/** A number as Python's repr writes it: the fewest digits that give it back, an exponent of two digits. */
export function python_number(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits, exponent] = value.toExponential().split("e");
    const power = Number(exponent);
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function shortest(value: number): string {
  return python_number(value).replace(/\.0$/, "");
}

/** As Python's json.dumps writes it: a space after each comma. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  return JSON.stringify(value) ?? String(value);
}
