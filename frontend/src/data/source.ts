// Where the page gets its runs from. A file, a notebook and a server each give one of these; no panel knows which.

import type { Architecture } from "../model/architecture";
import type { Numbers } from "../model/trace";

export interface DataSource {
  /** What is absent here is absent from the page, with a sentence. */
  can: { train: ("page" | "server")[]; live: boolean };
  runs(): Promise<RunCard[]>;
  run(id: string): Promise<RunInfo>;
  metrics(id: string, after?: number): Promise<Metrics>;
  weights(id: string, steps?: number[]): Promise<Weights>;
  data(id: string): Promise<TaskData | null>;
  analysis(id: string, name: string): Promise<Analysis>;
}

export interface RunCard {
  id: string; // made of a-z, 0-9, _ and -
  name: string;
  title: string; // the task in a sentence
  status: string;
  parameters: number;
  members: number;
}

export interface RunInfo extends RunCard {
  experiment: {
    name: string;
    task: string;
    data: Record<string, unknown>;
    architecture: Architecture;
    train: TrainSettings;
    code?: { class: string; file: string | null; sha256: string | null }; // of a task from outside Glassformer
  };
  changes: string; // how the settings differ from the ready-made experiment, or ""
  seeds: number[];
  places: number[]; // of the embedded members in the run's folder, as Python counts them
  last_step: number;
  steps: number[]; // embedded ones, ascending
  kept: number; // how many the run's folder holds
  notice: string; // said where fewer steps are embedded than kept, or ""
  floor: number; // nats per predicted token, on average over all windows
  floors: Record<string, number>; // of the judged windows, by part
  ladder: Rung[];
  task: TaskInfo;
  sentences: string[]; // how it ended, in English, from summary.sentences
  verdict: string;
  events: Event[]; // of member 0, ascending by step
  facts: Facts[][]; // (member, step): what the sentence on top is made of, for every embedded step
  catalogue: CatalogueEntry[]; // all that can be had from this run
  analyses: string[]; // those embedded as numbers
  order: "random" | "passes"; // how training meets the examples
  untrainable: string; // why it cannot be trained in the page, or ""
  engine: "python" | "page";
  parent?: { run: string; step: number; sha256: string; edits: string }; // of a continued model
  versions: Record<string, string>;
}

export interface TrainSettings {
  seed: number;
  steps: number;
  batch: number;
  optimiser: "adam" | "adamw" | "sgd" | "momentum";
  rate: number;
  momentum: number;
  beta_1: number;
  beta_2: number;
  epsilon: number;
  decay: number;
  decay_on: "all" | "matrices";
  clip?: number | null;
  schedule: "constant" | "cosine" | "step" | "plateau";
  warmup: number;
  final: number;
  drop_every: number;
  drop: number;
  patience: number;
  [other: string]: unknown;
}

export interface Rung {
  name: string;
  nats: number;
  reachable: boolean;
  accuracy: number | null;
  also: string[];
}

export interface TaskInfo {
  answers: "next" | "one"; // predicts every next token, or one answer per window
  measure: "rule_error" | "accuracy";
  exact: boolean; // whether the true chances are known
  held_out?: boolean; // false: it is judged on windows of the training
  skip: number; // first predictions that do not count
  kinds: string[];
  vocabulary: string[];
  words: string[]; // the vocabulary as it is shown: blanks by a sign, nothing that a browser obeys
  outputs: string[]; // what can be answered, as it is shown; the first tokens of the vocabulary, or the answers of a question
  groups: Record<string, number[]>;
  showcase: string[];
  reading: Reading; // how a typed text becomes tokens
  truth: Truth; // what the rule says about any input
}

/** How a typed text becomes tokens; made by report/reading.py, read by task/reading.ts. */
export type Reading =
  | { kind: "spaces" } // tokens separated by spaces
  | { kind: "rhyme" } // the same, but an unknown word is answered with the nearest ones
  | { kind: "operations"; padded: number | null } // `Max(5,3,9)`, filled up to so many tokens
  | { kind: "table"; tokens: "characters" | "words"; length: number; file: string } // filled up from the left
  | { kind: "characters" } // one token per character
  | { kind: "words" } // runs of letters, and each mark by itself
  | { kind: "pairs"; bytes: boolean; pieces: string[]; merges: [number, number][]; special: number[] } // merged in this order
  | { kind: "unknown" }; // a task of one's own that reads in its own way: tokens by name, separated by spaces

/** From what `task/truth.ts` tells, for any tokens, what is allowed, likely and to be looked up; by report/truth.py. */
export type Truth =
  | Machine
  | Listed
  | { kind: "operations"; arguments: number; length: number } // the five operations on digits
  | { kind: "sum"; modulus: number } // a + b modulo this
  | { kind: "memory"; text: number[]; run: number; windows: number } // a text learned by heart
  | { kind: "sorted"; digits: number; many: number }
  | { kind: "repeated"; symbols: number; first: number; last: number } // blocks of first to last tokens
  | { kind: "counts"; longest: number | null } // a text: counts of what followed in its training part; null: not told here
  | { kind: "unknown" }; // too large to be told here, or a task whose law the page does not know

/** A rule as tables. */
export interface Machine {
  kind: "machine";
  next: Row[]; // of each state, the next one; state 0 is before the first token
  asks: number[]; // state → place in `sets`
  sets: number[][]; // tokens that are allowed
  constrained: string; // state → "0" or "1"
  follow: Row[]; // of each belief, the next one; belief 0 is before the first token of a window
  expects: number[]; // belief → place in `chances`
  chances: number[][]; // of each next token
  answerable: string; // belief → "0" or "1"
  source: { form: "back"; back: number } | { form: "last" | "larger"; tokens: number[] } | null; // where to look
}

/** A number for every token: a row of them; one for all; or -1, and of each token that differs from the first row it and its number. */
export type Row = number | number[];

/** Every question with the chances of its answers. */
export interface Listed {
  kind: "questions";
  questions: number[][];
  answers: [number, number][][]; // of each question: token and chance
}

export interface Event {
  step: number;
  kind: "rung" | "birth" | "bend" | "plateau" | "best" | "diverged" | "rate"; // rate: it was changed by hand
  text: string; // "reaches: token frequencies"
}

/** Where a head looks: roles as analyses/attend/head_roles.py names them. */
export interface Looks {
  at: string; // the role: "answer", "even tokens", "self"; "" where no role has half of its attention
  share: number; // of its attention; 0 where there is no role
  answer: number | null; // on what has to be looked up; null where nothing has to be
  block: number;
  head: number;
}

/** What is true of the model at one step; numbers may be null where they are not known. */
export interface Facts {
  step: number;
  loss: number | null; // on the judged validation windows, nats
  excess: number | null;
  rung: number | null; // index into the ladder of the highest rung reached, -1: none yet
  error: number | null; // rule error where the answer is in view, or 1 − accuracy
  looks: Looks | null; // what the best head gives most of its attention to, where the rule speaks
  wrong: { kind: string; share: number } | null; // the kind of question that goes wrong most
}

export interface CatalogueEntry {
  name: string;
  kind: "figures" | "films";
  section: string;
  title: string;
  why_not: string | null;
  command: string; // `glassformer figures RUN NAME`
}

/** Columns by name, one number for every logged step, (line, member) in rows; null where it is not a number. */
export interface Metrics {
  step: number[];
  columns: Record<string, (number | null)[][]>; // column → line → member; parts as `gradient.attention_0`
}

/** All parameters of a step in one vector, in the order of `slots(architecture)`. */
export interface Weights {
  steps: number[];
  at(step: number, member: number): Float32Array;
}

export interface Split {
  tokens: Int32Array;
  starts: Int32Array;
  windows: Int32Array;
}

/** What training in the page draws from and is judged by; absent where it would be too large. */
export interface TaskData {
  train: Split;
  order: "random" | "passes";
  validation: Examples;
  fit: Examples; // windows of the training part
  test: Examples | null; // where the task has one: accuracy counts it too
  files: Record<string, Uint8Array>; // what the task keeps in a run's folder, by name; most keep nothing
}

/** Windows to be judged with all that is known about their answers: task.examples of Python, row by row. */
export interface Examples {
  count: number;
  few: number; // the first so many stand for all: as hard on average, and enough for a line while training
  places: number; // predictions of a window
  windows: Int32Array; // (example, context + 1)
  constrained: Uint8Array; // (example, place)
  answerable: Uint8Array; // (example, place)
  allowed: Uint8Array; // (example, place, output); empty where only the token that came is right
  kind: Int8Array; // (example, place), -1 for none
  source: Int32Array; // (example, place): where in the window the answer can be read off; -1 where it cannot
  truth: Float32Array; // (example, place): log-probability that the exact predictor gives the token that came
}

export interface Analysis {
  name: string;
  title: string;
  section: string;
  clock: string; // the age of the model: step 5 000 of 20 000 · loss 2.06
  facts: Record<string, unknown>; // what is no array: `result.facts()`
  python: string; // the line that gives the same numbers
  arrays: { name: string; values: Numbers; unit: string; labels: Record<string, string[]> }[];
}
