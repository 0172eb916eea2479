// Digits, then the same in order: only what comes after the last of them is asked.

import type { Law } from "./truth";

/** The law of sorting `many` digits of so many different ones. */
export function sorted({ digits, many }: { digits: number; many: number }): Law {
  const asked = (place: number): boolean => place >= many - 1 && place < 2 * many - 1;
  const constrained = (tokens: ArrayLike<number>): Uint8Array =>
    Uint8Array.from(tokens, (_, place) => Number(asked(place)));
  /** Positions of the digits in the order of the answer; of equal ones, the first stays first. */
  const order = (tokens: ArrayLike<number>): number[] => {
    const places = Array.from({ length: Math.min(many, tokens.length) }, (_, k) => k);
    return places.sort((a, b) => tokens[a] - tokens[b] || a - b);
  };
  const chances = (tokens: ArrayLike<number>): Float64Array => {
    const found = new Float64Array(tokens.length * digits).fill(1 / digits);
    const places = order(tokens);
    for (let place = many - 1; place < tokens.length && asked(place); place++) {
      found.fill(0, place * digits, (place + 1) * digits);
      found[place * digits + tokens[places[place + 1 - many]]] = 1;
    }
    return found;
  };
  return {
    constrained,
    allowed: (tokens) => Uint8Array.from(chances(tokens), (chance) => Number(chance > 0)),
    answerable: constrained,
    source_position(tokens) {
      const places = order(tokens);
      return Int32Array.from(tokens, (_, place) => (asked(place) ? places[place + 1 - many] : -1));
    },
    true_distribution: chances,
  };
}
