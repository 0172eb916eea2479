// A rule: states say what is allowed, however it came about; beliefs say what is likely, given what is in view.

import type { Machine, Row } from "../data/source";
import type { Law } from "./truth";

type Tokens = ArrayLike<number>;

/** The law of a rule, from its tables; `size` is the number of tokens there are. */
export function machine(given: Machine, size: number, context: number): Law {
  const step = (rows: Row[], at: number, token: number): number => {
    const row = rows[at];
    if (typeof row === "number") return row;
    if (row[0] !== -1) return row[token];
    for (let k = 1; k < row.length; k += 2) if (row[k] === token) return row[k + 1];
    const first = rows[0];
    return typeof first === "number" ? first : first[token];
  };
  /** (place,): the state after each token of a sequence seen from its start. */
  const states = (tokens: Tokens): number[] => {
    let state = 0;
    return Array.from(tokens, (token) => (state = step(given.next, state, token)));
  };
  /** (place,): the belief after each token, with the last `context` of them in view. */
  const beliefs = (tokens: Tokens): number[] => {
    let belief = 0;
    return Array.from(tokens, (token, place) => {
      if (place < context) return (belief = step(given.follow, belief, token));
      let seen = 0;
      for (let k = place + 1 - context; k <= place; k++) seen = step(given.follow, seen, tokens[k]);
      return seen;
    });
  };
  const answerable = (tokens: Tokens): Uint8Array =>
    Uint8Array.from(beliefs(tokens), (belief) => Number(given.answerable[belief]));
  return {
    constrained: (tokens) => Uint8Array.from(states(tokens), (state) => Number(given.constrained[state])),
    allowed(tokens) {
      const found = new Uint8Array(tokens.length * size);
      states(tokens).forEach((state, place) => {
        for (const token of given.sets[given.asks[state]]) found[place * size + token] = 1;
      });
      return found;
    },
    answerable,
    source_position: (tokens) =>
      Int32Array.from(answerable(tokens), (settled, place) => (settled ? looked_up(given.source, tokens, place) : -1)),
    true_distribution(tokens) {
      const found = new Float64Array(tokens.length * size);
      beliefs(tokens).forEach((belief, place) => found.set(given.chances[given.expects[belief]], place * size));
      return found;
    },
  };
}

/** Where a rule looks; -1 where the page was not told. */
function looked_up(source: Machine["source"], tokens: Tokens, place: number): number {
  if (!source) return -1;
  if (source.form === "back") return place - source.back;
  let [last, before] = [-1, -1]; // the last two that count
  for (let k = place - 1; k >= 0 && before < 0; k--) {
    if (!source.tokens.includes(tokens[k])) continue;
    if (last < 0) last = k;
    else before = k;
  }
  return source.form === "larger" && before >= 0 && tokens[before] > tokens[last] ? before : last;
}
