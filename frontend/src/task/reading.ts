// A typed text becomes tokens, and tokens a text: `encode` and `decode` of every task, with the same sentences.

import type { TaskInfo } from "../data/source";
import { CallError } from "../model/errors";
import { PairReading } from "./pairs";
import { close, quoted, split, strip } from "./words";

export interface Readings {
  /** Token ids of a text; what cannot be read is one sentence. */
  encode(text: string): Int32Array;
  /** The text of some token ids. */
  decode(tokens: ArrayLike<number>): string;
}

const RARE = "<RARE>";
const WORD = /<END>|<RARE>|[\p{L}\p{N}_]+(?:['’][\p{L}\p{N}_]+)*|[^\p{L}\p{N}_\s\x1c-\x1f\x85]|\ufeff/gu;
const known = new WeakMap<TaskInfo, Readings>();

/** How a task reads; made once for each. */
export function readings(task: TaskInfo): Readings {
  let found = known.get(task);
  if (!found) known.set(task, (found = made(task)));
  return found;
}

function made(task: TaskInfo): Readings {
  const { reading, vocabulary: words } = task;
  const ids = new Map(words.map((word, id) => [word, id]));
  switch (reading.kind) {
    case "spaces":
    case "unknown":
      return {
        encode: (text) => each(split(text), ids, (word, place) => `${token(word, place)} is not one of: ${words.join(" ")}`),
        decode: spaced(words),
      };
    case "rhyme":
      return {
        encode: (text) => each(split(text), ids, (word, place) => `${rhymed(word, place, words)}`),
        decode: spaced(words),
      };
    case "operations":
      return operations(words, ids, task.groups.operation.map((id) => words[id]), reading.padded);
    case "table":
      return table(words, ids, reading);
    case "characters":
      return {
        encode: (text) =>
          each([...text], ids, (letter, place) => {
            return `character ${quoted(letter)} at position ${place} is not in the vocabulary: ${quoted(words.join(""))}`;
          }),
        decode: (tokens) => Array.from(tokens, (id) => words[id]).join(""),
      };
    case "words":
      return {
        encode: (text) => written(text.match(WORD) ?? [], words, ids),
        decode: (tokens) => spaced(words)(tokens).replaceAll(/ ?<END> ?/g, "\n"),
      };
    case "pairs":
      return new PairReading(reading);
  }
}

/** The id of each word, or the sentence about the first that has none. */
function each(words: string[], ids: Map<string, number>, refused: (word: string, place: number) => string): Int32Array {
  return Int32Array.from(words, (word, place) => {
    const id = ids.get(word);
    if (id === undefined) throw new CallError(refused(word, place));
    return id;
  });
}

function spaced(words: string[]): (tokens: ArrayLike<number>) => string {
  return (tokens) => Array.from(tokens, (id) => words[id]).join(" ");
}

function token(word: string, place: number): string {
  return `token ${quoted(word)} at position ${place}`;
}

function rhymed(word: string, place: number, words: string[]): string {
  const near = close(word.toLowerCase(), words, 3, 0.5);
  const hint = near.length ? `did you mean ${near.join(" or ")}?` : `there are: ${words.join(" ")}`;
  return `word ${quoted(word)} at position ${place} is not in the rhyme; ${hint}`;
}

function written(cut: string[], words: string[], ids: Map<string, number>): Int32Array {
  const rare = ids.get(RARE);
  return Int32Array.from(cut, (word, place) => {
    const id = ids.get(word) ?? rare;
    if (id !== undefined) return id;
    const near = close(word, words, 3, 0.5);
    const hint = near.length ? `did you mean ${near.join(" or ")}?` : "it does not occur in the training text";
    throw new CallError(`word ${quoted(word)} at position ${place} is not in the vocabulary; ${hint}`);
  });
}

/** `Max(5,3,9)`, with or without spaces, with or without an answer; filled up if need be. */
function operations(words: string[], ids: Map<string, number>, names: string[], padded: number | null): Readings {
  const pad = ids.get("PAD") as number;
  return {
    encode(text) {
      let cut = split(text).flatMap((part) => part.match(/[A-Za-z]+|[^A-Za-z]/gu) ?? []);
      const found = each(cut, ids, (word, place) => {
        const [near] = close(word.charAt(0).toUpperCase() + word.slice(1).toLowerCase(), names, 1, 0.6);
        return `${token(word, place)}${near ? ` (did you mean ${near}?)` : ""} is not one of: ${words.join(" ")}`;
      });
      if (!padded || !cut.includes(")")) return found;
      cut = cut.filter((word) => word !== "PAD");
      const end = cut.indexOf(")") + 1;
      cut.splice(end, 0, ...Array<string>(Math.max(0, padded - end)).fill("PAD"));
      return Int32Array.from(cut, (word) => ids.get(word) as number);
    },
    decode(tokens) {
      let text = "";
      for (const id of Array.from(tokens)) {
        if (padded && id === pad) continue;
        const apart = text.endsWith(")") || (/\p{L}$/u.test(text) && /^\p{L}+$/u.test(words[id]));
        text += (apart ? " " : "") + words[id];
      }
      return text;
    },
  };
}

/** A question of a table of one's own, filled up from the left. */
function table(
  words: string[],
  ids: Map<string, number>,
  { tokens: how, length, file }: { tokens: "characters" | "words"; length: number; file: string },
): Readings {
  const pad = words.length - 1; // the filler is the last of the vocabulary
  return {
    encode(text) {
      const cut = how === "characters" ? [...strip(text)] : split(text);
      const found = each(cut, ids, (word, place) => `${token(word, place)} does not occur in ${file}`);
      const filled = new Int32Array(Math.max(length, found.length)).fill(pad);
      filled.set(found, filled.length - found.length);
      return filled;
    },
    decode(tokens) {
      const said = Array.from(tokens).filter((id) => id !== pad);
      return said.map((id) => words[id]).join(how === "characters" ? "" : " ");
    },
  };
}

