// A text learned by heart: a run of words is right if it occurs in the text.

import type { Law } from "./truth";

/** The law of such a text: `run` words must occur together, and `windows` of it are learnt. */
export function memory(given: { text: number[]; run: number; windows: number }, size: number, context: number): Law {
  const { text, run, windows } = given;
  const count = (into: Map<string, Float64Array>, words: number[], next: number): void => {
    const key = words.join(" ");
    let row = into.get(key);
    if (!row) into.set(key, (row = new Float64Array(size)));
    row[next] += 1;
  };
  const after = new Map<string, Float64Array>(); // runs of up to run − 1 words, and how often each word follows
  for (let place = 0; place + 1 < text.length; place++) {
    for (let begin = Math.max(0, place + 2 - run); begin < place + 2; begin++) {
      count(after, text.slice(begin, place + 1), text[place + 1]);
    }
  }
  const begun = new Map<string, Float64Array>(); // beginnings of a window; the empty one stands for all places
  for (let begin = 0; begin < windows; begin++) {
    for (let place = 0; place < context; place++) {
      count(begun, text.slice(begin, begin + place + 1), text[begin + place + 1]);
      count(begun, [], text[begin + place + 1]);
    }
  }
  /** The counts after the longest end of some words that has any. */
  const longest = (table: Map<string, Float64Array>, words: number[]): Float64Array => {
    for (let begin = 0; ; begin++) {
      const row = table.get(words.slice(begin).join(" "));
      if (row) return row;
    }
  };
  const always = (tokens: ArrayLike<number>): Uint8Array => new Uint8Array(tokens.length).fill(1);
  return {
    constrained: always,
    allowed(tokens) {
      const found = new Uint8Array(tokens.length * size);
      const words = Array.from(tokens);
      words.forEach((_, p) => {
        longest(after, words.slice(Math.max(0, p + 2 - run), p + 1)).forEach((many, token) => {
          if (many > 0) found[p * size + token] = 1;
        });
      });
      return found;
    },
    answerable: always,
    source_position: (tokens) => new Int32Array(tokens.length).fill(-1),
    true_distribution(tokens) {
      const found = new Float64Array(tokens.length * size);
      const words = Array.from(tokens);
      words.forEach((_, p) => {
        const row = longest(begun, words.slice(Math.max(0, p + 1 - context), p + 1));
        const sum = row.reduce((all, many) => all + many, 0);
        row.forEach((many, token) => (found[p * size + token] = many / sum));
      });
      return found;
    },
  };
}
