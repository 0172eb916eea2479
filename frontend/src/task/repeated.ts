// A block of random tokens, repeated: what the second copy will be can be read off the first.

import type { Law } from "./truth";

const SURE = 1 - 1e-9; // every block that is still possible goes on with the same token

/** The law of blocks of `first` to `last` tokens, all lengths equally likely. */
export function repeated({ symbols, first, last }: { symbols: number; first: number; last: number }): Law {
  const periods = Array.from({ length: last - first + 1 }, (_, k) => first + k);

  /** (place, period): the chance of each period after each token; one that was contradicted has none. */
  const beliefs = (tokens: ArrayLike<number>): number[][] => {
    const fits = periods.map(() => true);
    return Array.from(tokens, (token, place) => {
      const logs = periods.map((period, k) => {
        fits[k] &&= place < period || token === tokens[place - period];
        return fits[k] ? -Math.min(place + 1, period) * Math.log(symbols) : -Infinity;
      });
      const most = Math.max(...logs);
      // No block of this kind: every period is as good as another.
      const shares = logs.map((each) => (most === -Infinity ? 1 : Math.exp(each - most)));
      const sum = shares.reduce((all, share) => all + share, 0);
      return shares.map((share) => share / sum);
    });
  };
  const chances = (tokens: ArrayLike<number>): Float64Array => {
    const found = new Float64Array(tokens.length * symbols);
    beliefs(tokens).forEach((row, place) => {
      periods.forEach((period, k) => {
        if (place + 1 >= period) found[place * symbols + tokens[place + 1 - period]] += row[k];
        else for (let token = 0; token < symbols; token++) found[place * symbols + token] += row[k] / symbols;
      });
    });
    return found;
  };
  const settled = (tokens: ArrayLike<number>): Uint8Array => {
    const all = chances(tokens);
    return Uint8Array.from(tokens, (_, place) => {
      let most = 0;
      for (let token = 0; token < symbols; token++) most = Math.max(most, all[place * symbols + token]);
      return Number(most > SURE);
    });
  };
  return {
    constrained: settled,
    allowed(tokens) {
      const sure = settled(tokens);
      return Uint8Array.from(chances(tokens), (chance, k) => Number(!sure[Math.floor(k / symbols)] || chance > SURE));
    },
    answerable: settled,
    source_position(tokens) {
      const sure = settled(tokens);
      return Int32Array.from(beliefs(tokens), (row, place) => {
        const period = periods[row.indexOf(Math.max(...row))];
        return sure[place] ? Math.max(-1, place + 1 - period) : -1;
      });
    },
    true_distribution: chances,
  };
}
