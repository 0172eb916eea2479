// What counting says about a text: Witten–Bell tables as in tasks/_counts.py, looked up in the training part itself.

import type { TaskData } from "../data/source";
import { free, type Law } from "./truth";

/** The law of a text: it has no rule, and what is likely is told by how often each token followed the last few. */
export function counts(longest: number | null, size: number, context: number, data: TaskData | null): Law {
  const law = free(size);
  if (longest === null || !data) return law;
  const { tokens, starts, windows } = data.train;
  const text = tokens.subarray(starts[0], starts[0] + windows[0] + context);
  const begins = new Int32Array(size + 1); // where the places of each token begin in `places`
  for (const token of text) begins[token + 1] += 1;
  for (let token = 0; token < size; token++) begins[token + 1] += begins[token];
  const [places, filled] = [new Int32Array(text.length), begins.slice()];
  text.forEach((token, at) => (places[filled[token]++] = at));
  const alone = new Float64Array(size).fill(1 / size);
  follow(alone, text, text.keys());

  /** The chance of every token after some others, from no history to all of it. */
  const chances = (history: number[]): Float64Array => {
    const found = alone.slice();
    const last = history[history.length - 1];
    let after = history.length ? Array.from(places.subarray(begins[last], begins[last + 1]), (at) => at + 1) : [];
    after = after.filter((at) => at < text.length);
    for (let length = 1; length <= history.length && after.length; length++) {
      const token = history[history.length - length];
      if (length > 1) after = after.filter((at) => at >= length && text[at - length] === token);
      follow(found, text, after);
    }
    return found;
  };
  return {
    ...law,
    true_distribution(given) {
      const found = new Float64Array(given.length * size);
      const seen = Array.from(given);
      seen.forEach((_, place) => {
        const reach = Math.min(longest, context, place + 1);
        found.set(chances(seen.slice(place + 1 - reach, place + 1)), place * size);
      });
      return found;
    },
  };
}

/** P(w | h) = (c(h, w) + t(h) P(w | h without its first)) / (c(h) + t(h)), from the places at which w follows h. */
function follow(chance: Float64Array, text: Int32Array, places: Iterable<number>): void {
  const many = new Float64Array(chance.length);
  let [total, kinds] = [0, 0];
  for (const at of places) {
    total += 1;
    if (many[text[at]]++ === 0) kinds += 1;
  }
  if (total) for (let k = 0; k < many.length; k++) chance[k] = (many[k] + kinds * chance[k]) / (total + kinds);
}
