// The sentence on top: what a model has understood by now, in one true English sentence made of its facts alone.

import type { Facts, Looks, Rung, TaskInfo } from "../data/source";
import { onward } from "./ladder";

const MUCH = 0.9; // share of wrong answers from which nearly all are

const WORSE = "it does worse than an even guess still";

/** What the ladder's usual rungs mean to a reader; others are called by their names. */
const RUNGS: Record<string, string> = {
  "uniform guess": "as well as an even guess",
  "token frequencies": "as well as knowing how frequent each token is",
  "answer frequencies": "as well as knowing how frequent each answer is",
  "last token": "as well as the last token alone allows",
  "last two tokens": "as well as the last two tokens alone allow",
  "last word": "as well as the last word alone allows",
  "last two words": "as well as the last two words alone allow",
  "last three words": "as well as the last three words alone allow",
};
const WHERE: Record<string, string> = {
  self: "itself",
  previous: "the position before",
  answer: "the answer",
  "needed token": "the token the rule needs",
  first: "the first position",
  "2 back": "the position two back",
  "3 back": "the position three back",
  largest: "the largest number",
  smallest: "the smallest number",
  "even tokens": "even numbers",
  "odd tokens": "odd numbers",
};

/** One sentence about a model at a step; it says no more than the facts. `learnt` is the verdict of `ends.ts`. */
export function sentence(facts: Facts, task: TaskInfo, ladder: Rung[], learnt: boolean): string {
  if (facts.loss === null || facts.rung === null) return "The training has diverged: by this step its loss is not a number.";
  const said = task.exact ? ruled(facts, task, ladder, learnt) : counted(facts, ladder);
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** Of a task whose law is known. */
function ruled(facts: Facts, task: TaskInfo, ladder: Rung[], learnt: boolean): string {
  const { looks } = facts;
  const wrong = failing(facts, task);
  const lowest = lowest_rung(ladder);
  const { name } = ladder[lowest];
  if (learnt) return joined(`it has learnt ${/^the /.test(name) ? name : `all it can: ${name}`}`, looked(looks), wrong, ": ");
  if (facts.rung === -1) return joined(WORSE, null, wrong, "; ");
  if (looks && looks.answer !== null && looks.at !== "" && looks.at !== "self") return joined(looked(looks) as string, null, wrong, "; ");
  const left = `${Math.max(facts.excess as number, 0).toFixed(3)} nats above the floor`;
  const stands = facts.rung === lowest ? `it does nearly as well as “${name}” allows (${left})` : on_ladder(facts, ladder, "“", "” allows");
  const spread = looks && looks.answer !== null && looks.at === "" ? "its attention is spread" : looked(looks);
  return joined(stands, spread, wrong, "; ");
}

/** Of a text, where nobody knows how much is left to learn: beside counting. */
function counted(facts: Facts, ladder: Rung[]): string {
  const excess = facts.excess as number;
  const rung = facts.rung as number;
  let stands = WORSE;
  if (excess <= -0.005) stands = `it does better than counting: ${(-excess).toFixed(2)} nats per token below the best table of counts`;
  else if (rung === lowest_rung(ladder)) stands = `it does as well as the best table of counts (${ladder[rung].name})`;
  else if (rung >= 0) stands = on_ladder({ ...facts, excess: Infinity }, ladder, "a table of the ", " would");
  return joined(stands, facts.looks && facts.looks.at !== "" ? head(facts.looks) : null, "", "; ");
}

/** As well as the rung reached; or better, and how far on the way to the next. A rung without words of its own is called by its name. */
function on_ladder({ rung, loss, excess }: Facts, ladder: Rung[], before: string, after: string): string {
  const { name } = ladder[rung as number];
  const well = RUNGS[name] ?? `as well as ${before}${name}${after}`;
  const on = onward(ladder, rung as number, loss as number, excess as number);
  return on ? `it does ${well.replace(/^as well as/, "better than")}: ${percent(on.way)} of the way to “${on.next.name}”` : `it does ${well}`;
}

/** Clauses put together; those that are absent leave no trace. */
function joined(first: string, second: string | null, third: string, sign: string): string {
  const more = [second, third || null].filter((each) => each !== null);
  return more.length ? `${first}${sign}${more.join(", and ")}` : first;
}

/** Where the head looks that matters most; null where there is nothing to say. */
function looked(looks: Looks | null): string | null {
  if (!looks || looks.at === "") return null;
  if (looks.answer === null) return head(looks);
  const where = place(looks.at);
  const sought = looks.at === "answer" || looks.at === "needed token";
  if (sought) return `it looks at ${where} (${percent(looks.share)})`;
  const one = looks.at.endsWith(" tokens") ? "the one that counts" : "the answer";
  return `it looks at ${where} by now (${percent(looks.share)}), but not yet at ${one} (${percent(looks.answer)})`;
}

function head(looks: Looks): string {
  return `its clearest head looks at ${place(looks.at)} (${percent(looks.share)})`;
}

function place(role: string): string {
  return WHERE[role] ?? role.replace(/^number (\d+)$/, "number $1 of the question");
}

/** What it gets wrong, and of which kind most. */
function failing(facts: Facts, task: TaskInfo): string {
  const { error, wrong } = facts;
  const text = task.measure === "accuracy" && task.answers === "next"; // several words may follow: not all can be right
  const answers = task.measure === "rule_error" ? "answers in view" : "answers";
  if (text) return wrong ? `where ${wrong.kind}, ${percent(wrong.share)} of the words are wrong` : "every word it can be sure of is right";
  if (error === null) return "";
  if (error === 0) return task.measure === "rule_error" ? "no answer in view is wrong" : "no judged answer is wrong";
  const most = wrong && error < MUCH && wrong.share > error * 1.1 ? `, most often ${kinds(wrong.kind, task)} (${percent(wrong.share)})` : "";
  return `${percent(error)} of the ${answers} ${error < 0.01 ? "is" : "are"} wrong${most}`;
}

/** A kind of question within the sentence. */
function kinds(kind: string, task: TaskInfo): string {
  if (/ back$/.test(kind)) return `where they lie ${kind.replace("0 back", "at the last token")}`;
  return task.answers === "one" ? `for ${kind}` : `of the kind “${kind}”`;
}

/** The place of the last rung that can be reached. */
function lowest_rung(ladder: Rung[]): number {
  return ladder.reduce((last, rung, k) => (rung.reachable ? k : last), -1);
}

/** A share as a text; never 0 % or 100 % unless it is nothing or all. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return "under 1 %";
  if (share > 0.99 && share < 1) return "over 99 %";
  return `${Math.round(100 * share)} %`;
}
