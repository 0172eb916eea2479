// The sentence on top says what the facts say, and nothing else.

import { expect, test } from "vitest";
import type { Facts, Looks, TaskInfo } from "../src/data/source";
import { sentence } from "../src/learn/sentence";
import { ladder, task } from "./small_task";

const nothing: Facts = { step: 0, loss: 2.6, excess: 0.8, rung: -1, error: 0.98, looks: null, wrong: null };
const looks = (at: string, share: number, answer: number | null): Looks => ({ at, share, answer, block: 0, head: 0 });
const said = (changes: Partial<Facts>, of: Partial<TaskInfo> = {}, learnt = false) =>
  sentence({ ...nothing, ...changes }, { ...task, ...of }, ladder, learnt);
const one: Partial<TaskInfo> = { answers: "one", measure: "accuracy" };
const text: Partial<TaskInfo> = { measure: "accuracy", exact: false };

test("of a model that has learnt nothing", () => {
  expect(said({})).toBe("It does worse than an even guess still; 98 % of the answers in view are wrong.");
  expect(said({ rung: 0, error: 1, wrong: { kind: "1 back", share: 1 }, looks: looks("", 0, 0.2) })).toBe(
    "It does as well as an even guess; its attention is spread, and 100 % of the answers in view are wrong.",
  );
});

test("of one on its way", () => {
  expect(said({ rung: 2, error: 0.84, looks: looks("even tokens", 0.684, 0.36), wrong: { kind: "3 back", share: 0.95 } })).toBe(
    "It looks at even numbers by now (68 %), but not yet at the one that counts (36 %); 84 % of the answers in view are wrong, most often where they lie 3 back (95 %).",
  );
  expect(said({ rung: 2, error: 0.02, looks: looks("answer", 0.986, 0.986), wrong: { kind: "3 or more back", share: 0.19 } })).toBe(
    "It looks at the answer (99 %); 2 % of the answers in view are wrong, most often where they lie 3 or more back (19 %).",
  );
  expect(said({ rung: 2, error: 0.5, looks: null })).toBe(
    "It does as well as the last token alone allows; 50 % of the answers in view are wrong.",
  );
});

test("of one that has learnt its rule", () => {
  expect(said({ rung: 3, error: 0, looks: looks("answer", 0.97, 0.97) }, {}, true)).toBe(
    "It has learnt the rule: it looks at the answer (97 %), and no answer in view is wrong.",
  );
  expect(said({ rung: 3, error: 0, looks: looks("needed token", 1, 1) }, {}, true)).toContain("looks at the token the rule needs (100 %");
  expect(said({ rung: 3, error: 0.3, looks: null })).not.toContain("learnt"); // right chances, wrong answers
});

test("of questions", () => {
  const wrong = { kind: "Max", share: 0.96 };
  expect(said({ rung: 1, error: 0.8, wrong, looks: looks("", 0, 0.16) }, one)).toBe(
    "It does as well as knowing how frequent each token is; its attention is spread, and 80 % of the answers are wrong, most often for Max (96 %).",
  );
  expect(said({ rung: 3, error: 0, looks: looks("answer", 0.98, 0.98) }, one, true)).toContain("and no judged answer is wrong.");
});

test("of texts", () => {
  expect(said({ rung: 3, excess: -0.4, looks: looks("previous", 0.54, null) }, text)).toBe(
    "It does better than counting: 0.40 nats per token below the best table of counts; its clearest head looks at the position before (54 %).",
  );
  expect(said({ rung: 1, excess: 0.5 }, text)).toBe("It does as well as knowing how frequent each token is.");
  expect(said({ rung: -1, excess: 2 }, text)).toBe("It does worse than an even guess still.");
  const rhyme: Partial<TaskInfo> = { measure: "accuracy" };
  expect(said({ rung: 3, error: 0.11, looks: looks("previous", 0.57, null) }, rhyme, true)).toBe(
    "It has learnt the rule: its clearest head looks at the position before (57 %), and every word it can be sure of is right.",
  );
});

test("of a rhyme on its way", () => {
  const rhyme: Partial<TaskInfo> = { measure: "accuracy" };
  expect(said({ rung: 1, wrong: { kind: "only one word can follow", share: 0.07 } }, rhyme)).toBe(
    "It does as well as knowing how frequent each token is; where only one word can follow, 7 % of the words are wrong.",
  );
});

test("of one that stands on the last rung and has not learnt its task, by the measure of the verdict", () => {
  const rhyme: Partial<TaskInfo> = { measure: "accuracy" };
  expect(said({ rung: 3, loss: 0.623, excess: 0.023, error: 0.1 }, rhyme)).toBe(
    "It does nearly as well as “the rule” allows (0.023 nats above the floor); every word it can be sure of is right.",
  );
  expect(said({ rung: 3, loss: 0.61, excess: 0.01, error: 0.03 })).not.toContain("learnt");
});

test("of one between two rungs, how far it is on the way to the next", () => {
  expect(said({ rung: 0, loss: 1.07, error: 0.9 })).toBe(
    "It does better than an even guess: 59 % of the way to “token frequencies”; 90 % of the answers in view are wrong.",
  );
  expect(said({ rung: 2, loss: 0.63, excess: 0.03, error: 0.031 })).toBe(
    "It does better than the last token alone allows: 91 % of the way to “the rule”; 3 % of the answers in view are wrong.",
  );
  expect(said({ rung: 1, loss: 1.0, excess: 0.4 }, text)).toBe(
    "It does better than knowing how frequent each token is: 50 % of the way to “last token”.",
  );
});

test("of a training that has diverged", () => {
  const lost = { loss: null, excess: null, rung: null, error: null };
  expect(said(lost)).toBe("The training has diverged: by this step its loss is not a number.");
});

test("shares are never rounded to all or nothing", () => {
  expect(said({ rung: 2, error: 0.001 })).toContain("under 1 % of the answers in view");
  expect(said({ rung: 2, error: 0.999 })).toContain("over 99 % of the answers in view");
});
