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
  steps: number;
  optimiser: TrainSettings["optimiser"];
  schedule: TrainSettings["schedule"];
}

/** A recipe, the run whose task and shape it is for, and the step of that run whose weights it begins with. */
export interface Written {
  recipe: Partial<Recipe>;
  of: string;
  from: number | null; // null: fresh weights
}

const WHOLE = { seed: [0, MOST_SEED], steps: [1, MOST_STEPS], from: [0, MOST_STEPS] } as const;
const NAMES = ["seed", "rate", "steps", "optimiser", "schedule", "of", "from"] as const;

/** The settings of a run that can be chosen anew. */
export function recipe_of(train: TrainSettings): Recipe {
  const { seed, rate, steps, optimiser, schedule } = train;
  return { seed, rate, steps, optimiser, schedule };
}

/** The text of a recipe: its seed, and of the rest what differs from the run it is made from. */
export function write(recipe: Recipe, usual: Recipe, of: string, from: number | null): string {
  const parts = [`seed:${recipe.seed}`];
  for (const name of ["rate", "steps", "optimiser", "schedule"] as const) {
    if (recipe[name] !== usual[name]) parts.push(`${name}:${recipe[name]}`);
  }
  parts.push(`of:${of}`);
  if (from !== null) parts.push(`from:${from}`);
  return parts.join(",");
}

/** What a text says of a recipe, and a sentence for each part that cannot be used. */
export function read(text: string): Written & { notes: string[] } {
  const found: Written & { notes: string[] } = { recipe: {}, of: "", from: null, notes: [] };
  for (const part of text.split(",").filter((each) => each.trim() !== "")) {
    const [name, ...rest] = part.split(":");
    const problem = take(found, name.trim(), rest.join(":").trim());
    if (problem) found.notes.push(`train in the link: ${problem}`);
  }
  return found;
}

function take(found: Written, name: string, value: string): string {
  if (name === "of") {
    found.of = value;
    return "";
  }
  const one_of = name === "optimiser" ? OPTIMISERS : name === "schedule" ? SCHEDULES : null;
  if (one_of) {
    if (!(one_of as readonly string[]).includes(value)) return `${name} = “${short(value)}” is not one of ${one_of.join(", ")}.`;
    Object.assign(found.recipe, { [name]: value });
    return "";
  }
  if (name !== "rate" && !(name in WHOLE)) return `“${short(name)}” is not one of ${NAMES.join(", ")}.`;
  const number = value === "" ? NaN : Number(value);
  const problem = refused(name as keyof typeof WHOLE | "rate", number);
  if (problem) return problem.replace("NaN", `“${short(value)}”`);
  if (name === "from") found.from = number;
  else Object.assign(found.recipe, { [name]: number });
  return "";
}

/** Why a number cannot be used, as a sentence; "" where it can. */
export function refused(name: keyof typeof WHOLE | "rate", value: number): string {
  if (name === "rate") {
    return value >= LEAST_RATE && value <= MOST_RATE ? "" : `rate = ${value} must be a number from ${LEAST_RATE} to ${MOST_RATE}.`;
  }
  const [least, most] = WHOLE[name];
  const fine = Number.isInteger(value) && value >= least && value <= most;
  return fine ? "" : `${name} = ${value} must be a whole number from ${least} to ${most}.`;
}

/** A seed that nobody chose; each reader of one mailed file gets an own one. */
export function any_seed(): number {
  return 1 + Math.floor(Math.random() * 9999);
}

function short(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}
