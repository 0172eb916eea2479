// A lesson as it lies in the file (teaching/page.py writes it), what a link of it makes of the page, and what is said to
// an answer. Texts are HTML that Python made of the lesson's Markdown; nothing foreign is in them.

import { fromHash } from "./link";
import { type Page, start, toHash } from "./page";

export interface Lesson {
  name: string;
  title: string;
  number: number; // its place in the course, and
  of: number; // how many there are
  minutes: number;
  aims: string[];
  before: { name: string; title: string }[];
  next: { name: string; title: string } | null;
  misconceptions: [string, string][]; // what people believe, and what shows them otherwise
  beats: Beat[];
}

export interface Beat {
  title: string;
  code: string;
  parts: Part[];
}

export interface Picture {
  kind: "picture";
  source: string;
  width: number;
  height: number;
  alt: string;
  caption: string;
}

export type Part = { kind: "said"; html: string } | Picture | { kind: "look"; link: string; text: string } | Question;

export interface NumberQuestion {
  kind: "number";
  text: string;
  answer: number;
  tolerance: number;
  because: string;
  mistakes: [number, string][];
  unit: string;
  shown: string;
}

export interface ChoiceQuestion {
  kind: "choice";
  text: string;
  options: string[];
  answer: number;
  because: string;
  reasons: string[];
  shown: string;
}

export interface PointQuestion {
  kind: "point";
  text: string;
  rows: string[];
  columns: string[];
  cells: string[][];
  answer: [number, number];
  because: string;
  reasons: string[][];
  shown: string;
}

export interface DiscussQuestion {
  kind: "discuss";
  text: string;
  look_for: string;
  experiment: string;
}

export type Question = NumberQuestion | ChoiceQuestion | PointQuestion | DiscussQuestion;

/** A text without its marks, for where only words can stand. */
export function bare(html: string): string {
  const named: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"' };
  return html.replace(/<[^>]*>/g, "").replace(/&(lt|gt|amp|quot);/g, (_, name: string) => named[name]);
}

/** What belongs to the reader, not to the text: a link of the lesson leaves it as it is, unless it names it. */
const READERS = ["theme", "lang", "view", "keys", "hide"] as const;

/** The link to which a link of the lesson leads from a page: what it does not name is as on a fresh page. */
export function led(link: string, now: Page): string {
  const { page, unknown } = fromHash(link);
  const kept = READERS.filter((name) => page[name] === start[name]).map((name) => [name, now[name]]);
  return toHash({ ...page, ...Object.fromEntries(kept) }, unknown);
}

/** A page without what belongs to the reader: two that differ in it show something else of the model. */
export function essence(page: Page): string {
  return toHash({ ...page, ...Object.fromEntries(READERS.map((name) => [name, start[name]])) });
}

/** A number as people type it, `0.35`, `0,35`, `1,234`, `−2`, `1/35`, with or without its unit; NaN: it is none. */
export function typed(text: string, unit: string): number {
  const bare = text.trim().replaceAll("−", "-");
  const plain = (unit && bare.endsWith(unit) ? bare.slice(0, -unit.length) : bare).replace(/[\s\u202f]/g, "");
  const [over, under, ...more] = plain.split("/");
  if (more.length) return NaN;
  return under === undefined ? one(over) : one(over) / one(under);
}

function one(text: string): number {
  const grouped = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(text);
  const written = grouped ? text.replaceAll(",", "") : text.replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(written) ? Number(written) : NaN;
}

/** Whether a number is right, and what to say to it: a text, or only that it is too large or too small. */
export function reply(question: NumberQuestion, given: number): { right: boolean; html: string; off: "" | "large" | "small" } {
  if (Math.abs(given - question.answer) <= question.tolerance * (1 + 1e-9)) return { right: true, html: question.because, off: "" };
  const mistake = question.mistakes.find(([value]) => Math.abs(given - value) <= Math.max(question.tolerance, 1e-9));
  if (mistake) return { right: false, html: mistake[1], off: "" };
  return { right: false, html: "", off: given > question.answer ? "large" : "small" };
}
