// What a task says of any tokens: what is allowed, what is likely, what can be read off and where. The verdicts of
// Python's `Task`, from the tables and numbers that report/truth.py made.

import type { TaskData, TaskInfo } from "../data/source";
import type { Architecture } from "../model/architecture";
import { counts } from "./counts";
import { machine } from "./machine";
import { memory } from "./memory";
import { questions } from "./questions";
import { repeated } from "./repeated";
import { sorted } from "./sorted";

/** Verdicts on a sequence, place by place: what holds of the token after each one. */
export interface Judge {
  /** Whether the page knows the law; else nothing is constrained here and nothing is known to be likely. */
  known: boolean;
  /** (place,) 1: the rule has something to say about the next token. */
  constrained(tokens: ArrayLike<number>): Uint8Array;
  /** (place, token) 1: the verifier accepts it, the sequence being seen from its start. */
  allowed(tokens: ArrayLike<number>): Uint8Array;
  /** (place,) 1: these tokens, seen as a window, settle which are allowed. */
  answerable(tokens: ArrayLike<number>): Uint8Array;
  /** (place,): where in these tokens the answer can be read off; -1 where it cannot. */
  source_position(tokens: ArrayLike<number>): Int32Array;
  /** (place, token): the exact predictor's chances, or those of the best counts of a text; null where neither is known. */
  true_distribution(tokens: ArrayLike<number>): Float64Array | null;
  /** For each token: right, wrong, or null where the rule leaves it free. */
  verify(tokens: ArrayLike<number>): (boolean | null)[];
}

/** What a kind of task must tell; `verify` follows. */
export type Law = Omit<Judge, "verify" | "known">;

const judges = new WeakMap<TaskInfo, Judge>();

/** The judge of a task. A text is judged by its own counts, for which it needs the training part. */
export function truth(task: TaskInfo, architecture: Architecture, data: TaskData | null = null): Judge {
  let found = judges.get(task);
  if (!found) judges.set(task, (found = made(task, architecture, data)));
  return found;
}

function made(task: TaskInfo, architecture: Architecture, data: TaskData | null): Judge {
  const size = task.vocabulary.length;
  const law = lawful(task, architecture, data, size);
  return {
    ...law,
    known: task.truth.kind !== "unknown",
    verify(tokens) {
      const before = Array.from(tokens).slice(0, -1);
      const [constrained, allowed] = [law.constrained(before), law.allowed(before)];
      return Array.from(tokens, (token, k) => (k && constrained[k - 1] ? allowed[(k - 1) * size + token] === 1 : null));
    },
  };
}

function lawful(task: TaskInfo, a: Architecture, data: TaskData | null, size: number): Law {
  const given = task.truth;
  switch (given.kind) {
    case "machine":
      return machine(given, size, a.context);
    case "questions":
    case "operations":
    case "sum":
      return questions(given, size);
    case "memory":
      return memory(given, size, a.context);
    case "sorted":
      return sorted(given);
    case "repeated":
      return repeated(given);
    case "counts":
      return counts(given.longest, size, a.context, data);
    case "unknown":
      return free(size);
  }
}

/** Nothing is asked, anything may come. */
export function free(size: number): Law {
  return {
    constrained: (tokens) => new Uint8Array(tokens.length),
    allowed: (tokens) => new Uint8Array(tokens.length * size).fill(1),
    answerable: (tokens) => new Uint8Array(tokens.length),
    source_position: (tokens) => new Int32Array(tokens.length).fill(-1),
    true_distribution: () => null,
  };
}
