// What a training in the page is made of, and the same as a link writes it: seed:5,rate:0.03,of:plus_last_even-18.

import type { TrainSettings } from "../data/source";

export const OPTIMISERS = ["adamw", "adam", "momentum", "sgd"] as const;
export const SCHEDULES = ["constant", "cosine", "step", "plateau"] as const;
export const MOST_SEED = 2 ** 31 - 1;
export const MOST_STEPS = 1_000_000;
export const LEAST_RATE = 1e-6;
export const MOST_RATE = 1000;

/** What can be chosen before a training begins; all other settings are those of the run it is made from. */
export interface Recipe {
  seed: number;
  rate: number;
  steps: number; // the last one
  optimiser: TrainSettings["optimiser"];
  schedule: TrainSettings["schedule"];
}

/** Where it begins, and what was done on the way. */
export interface Course {
  of: string; // the run whose task and shape it has
  from: number | "here" | null; // the step whose weights it begins with; null: fresh ones; here: no link can carry them
  set: string; // weights that were set by hand before, as edits are written
  then: [number, number][]; // changes of the rate: after which step, and to what
}

const WHOLE = { seed: [0, MOST_SEED], steps: [1, MOST_STEPS], from: [0, MOST_STEPS] } as const;
const NAMES = ["seed", "rate", "steps", "optimiser", "schedule", "of", "from", "set", "then"] as const;

/** The settings of a run that can be chosen anew. */
export function recipe_of({ seed, rate, steps, optimiser, schedule }: TrainSettings): Recipe {
  return { seed, rate, steps, optimiser, schedule };
}

/** The text of a recipe: its seed, and of the rest what differs from the run it is made from. */
export function write(recipe: Recipe, usual: Recipe, { of, from, set, then }: Course): string {
  const parts = [`seed:${recipe.seed}`];
  for (const name of ["rate", "steps", "optimiser", "schedule"] as const) {
    if (recipe[name] !== usual[name]) parts.push(`${name}:${recipe[name]}`);
  }
  parts.push(`of:${of}`);
  if (from !== null) parts.push(`from:${from}`);
  if (set) parts.push(`set:${encodeURIComponent(set)}`);
  if (then.length) parts.push(`then:${then.map(([step, rate]) => `${rate}@${step}`).join("+")}`);
  return parts.join(",");
}

export interface Written {
  recipe: Partial<Recipe>;
  course: Course;
  notes: string[]; // a sentence for each part that cannot be used
}

/** What a text says of a recipe. */
export function read(text: string): Written {
  const found: Written = { recipe: {}, course: { of: "", from: null, set: "", then: [] }, notes: [] };
  for (const part of text.split(",").filter((each) => each.trim() !== "")) {
    const [name, ...rest] = part.split(":");
    const problem = take(found, name.trim(), rest.join(":").trim());
    if (problem) found.notes.push(problem);
  }
  return found;
}

function take({ recipe, course }: Written, name: string, value: string): string {
  if (name === "of") return (course.of = value) && "";
  if (name === "set") return set(course, value);
  if (name === "then") return then(course, value);
  if (name === "from" && value === "here") return (course.from = "here") && "";
  const one_of = name === "optimiser" ? OPTIMISERS : name === "schedule" ? SCHEDULES : null;
  if (one_of) {
    const there = (one_of as readonly string[]).includes(value);
    if (!there) return `${name} = “${short(value)}” is not one of ${one_of.join(", ")}.`;
    Object.assign(recipe, { [name]: value });
    return "";
  }
  if (name !== "rate" && !Object.hasOwn(WHOLE, name)) return `“${short(name)}” is not one of ${NAMES.join(", ")}.`;
  const problem = refused(name as keyof typeof WHOLE | "rate", value);
  if (problem) return problem;
  if (name === "from") course.from = Number(value);
  else Object.assign(recipe, { [name]: Number(value) });
  return "";
}

function set(course: Course, value: string): string {
  try {
    course.set = decodeURIComponent(value);
    return "";
  } catch {
    return `set = “${short(value)}” cannot be read.`;
  }
}

function then(course: Course, value: string): string {
  for (const each of value.split("+")) {
    const [rate, step] = each.split("@");
    const fine = !refused("rate", rate) && !refused("from", step ?? "");
    if (!fine) return `then = “${short(each)}” must be a rate @ a step, as 0.01@2000.`;
    course.then.push([Number(step), Number(rate)]);
  }
  course.then.sort((a, b) => a[0] - b[0]);
  return "";
}

/** Why a number cannot be used, as a sentence; "" where it can. */
export function refused(name: keyof typeof WHOLE | "rate", value: number | string): string {
  const number = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  const said = typeof value === "string" ? `“${short(value)}”` : value;
  if (name === "rate") {
    const fine = number >= LEAST_RATE && number <= MOST_RATE;
    return fine ? "" : `rate = ${said} must be a number from ${LEAST_RATE} to ${MOST_RATE}.`;
  }
  const [least, most] = WHOLE[name];
  const fine = Number.isInteger(number) && number >= least && number <= most;
  return fine ? "" : `${name} = ${said} must be a whole number from ${least} to ${most}.`;
}

/** A seed that nobody chose: each reader of one mailed file gets an own one. */
export function any_seed(): number {
  return 1 + Math.floor(Math.random() * 9999);
}

function short(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}
