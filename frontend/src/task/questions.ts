// Questions with one answer each, all of which can be listed: from a table, or by a rule that makes the table here.

import type { Listed, Truth } from "../data/source";
import type { Law } from "./truth";

type Given = Listed | Extract<Truth, { kind: "operations" | "sum" }>;

interface Table {
  questions: number[][];
  answers: [number, number][][]; // of each question: token and chance
  source(question: number[]): number; // the position that holds the answer; -1: it is worked out
  read: number; // tokens that make a question; what fills it up is not looked at
}

/** The law of a task of questions; `size` is the number of tokens there are. */
export function questions(given: Given, size: number): Law {
  const table = given.kind === "operations" ? operations(given) : given.kind === "sum" ? sum(given) : listed(given);
  const length = table.questions[0].length;
  const known = new Map(table.questions.map((question, k) => [question.slice(0, table.read).join(" "), k]));
  /** Which question some tokens begin with; -1: none. */
  const which = (tokens: ArrayLike<number>): number =>
    tokens.length < length ? -1 : (known.get(Array.from(tokens).slice(0, table.read).join(" ")) ?? -1);
  const asked = (tokens: ArrayLike<number>): Uint8Array => {
    const found = new Uint8Array(tokens.length);
    if (which(tokens) >= 0) found[length - 1] = 1;
    return found;
  };
  return {
    constrained: asked,
    allowed(tokens) {
      const found = new Uint8Array(tokens.length * size).fill(1);
      const k = which(tokens);
      if (k >= 0) {
        found.fill(0, (length - 1) * size, length * size);
        for (const [token] of table.answers[k]) found[(length - 1) * size + token] = 1;
      }
      return found;
    },
    answerable: asked,
    source_position(tokens) {
      const found = new Int32Array(tokens.length).fill(-1);
      const k = which(tokens);
      if (k >= 0) found[length - 1] = table.source(table.questions[k]);
      return found;
    },
    /** The chance of each answer to the question, as far as it has been read. */
    true_distribution(tokens) {
      const found = new Float64Array(tokens.length * size);
      let fits = table.questions.map((_, k) => k);
      Array.from(tokens).forEach((token, place) => {
        if (place < length) fits = fits.filter((k) => table.questions[k][place] === token);
        const some = fits.length ? fits : table.questions.map((_, k) => k); // none begins so: any answer
        for (const k of some) for (const [answer, chance] of table.answers[k]) found[place * size + answer] += chance;
        for (let k = place * size; k < (place + 1) * size; k++) found[k] /= some.length;
      });
      return found;
    },
  };
}

function listed({ questions, answers }: Listed): Table {
  return { questions, answers, source: () => -1, read: questions[0].length };
}

/** `a b =`, whose answer is the sum modulo a number. */
function sum({ modulus }: { modulus: number }): Table {
  const questions: number[][] = [];
  for (let a = 0; a < modulus; a++) for (let b = 0; b < modulus; b++) questions.push([a, b, modulus]);
  return { questions, answers: questions.map(([a, b]) => [[(a + b) % modulus, 1]]), source: () => -1, read: 3 };
}

// The vocabulary of the five operations: PAD, EOS, ten digits, First, Second, Last, Max, Min, brackets and comma.
const ZERO = 2;
const FIRST = 12;
const OPEN = 17;
const CLOSE = 18;
const COMMA = 19;

function operations({ arguments: many, length }: { arguments: number; length: number }): Table {
  const read = 2 * many + 2;
  const questions: number[][] = [];
  for (let number = 0; number < 5 * 10 ** many; number++) {
    const written = String(number).padStart(many + 1, "0");
    const tokens = [FIRST + Number(written[0]), OPEN];
    for (const digit of written.slice(1)) tokens.push(ZERO + Number(digit), COMMA);
    tokens[read - 1] = CLOSE;
    questions.push([...tokens, ...Array<number>(length - read).fill(0)]);
  }
  /** Which digit of a question is its answer: of equal ones the first. */
  const chosen = (question: number[]): number => {
    const digits = Array.from({ length: many }, (_, k) => question[2 + 2 * k]);
    const operation = question[0] - FIRST;
    if (operation < 3) return [0, 1, many - 1][operation];
    return digits.indexOf(operation === 3 ? Math.max(...digits) : Math.min(...digits));
  };
  const source = (question: number[]): number => 2 + 2 * chosen(question);
  return { questions, answers: questions.map((each) => [[each[source(each)], 1]]), source, read };
}
