// What is shown, as one object, and the object as a link. A new field is added in `start`, and its rule in link.ts.

export const VERSION = "v1";
export const MOST = 4096; // characters of a link

export const MODES = ["watch", "predict", "change", "train", "compare"] as const;
export const QUANTITIES = ["chance", "loss", "error", "apart"] as const; // of both sides along the clock

/** Every field with its value on a page that nobody has touched; -1 in `step` and `position` is the last one. */
export const start = {
  run: "",
  member: 0,
  step: -1,
  mode: "watch" as string,
  input: "",
  position: -1, // the query that is looked at
  block: 0,
  head: 0,
  neuron: -1,
  answer: -1, // the output whose chance is looked at; -1: the likeliest
  tensor: "", // the parameter whose numbers are drawn
  point: "", // the point of the stream that is drawn: middle 0
  analysis: "", // the embedded one that is drawn
  temperature: 1,
  edits: "", // as edits.ts writes them
  off: "", // places in the list of edits that are switched off: 0,2
  weights: "", // numbers of parameters set by hand: weights.token[3, 0]=1.5; …
  cell: "", // whose card is open: scores[0, 0, 6, 4]
  toward: "", // what the card's gradient is of: loss, or logit POSITION TOKEN
  ask: "", // the question of predict mode: its kind and turn
  b: "", // the other side of a comparison: step:200, back:10, run:NAME, member:3, edits, input:TEXT; several with commas
  along: "", // what is drawn of both sides along the clock: chance, loss, error, apart
  atlas: "", // how the members of a population are drawn: plane, or loss
  train: "", // what is trained here, or was: seed:5,rate:0.03,of:plus_last_even-18
  panel: "", // the enlarged one
  panels: "", // those shown, in order; empty: the usual ones
  hide: "", // controls that are hidden, by name
  keys: "", // off: single keys do nothing
  view: "", // projector
  theme: "",
  lang: "",
};

export type Page = typeof start;
type Field = keyof Page;

/** The link of a page: only what differs from the start. */
export function toHash(page: Page, unknown: Record<string, string> = {}): string {
  const fields = (Object.keys(start) as Field[])
    .filter((name) => page[name] !== start[name])
    .map((name) => `${name}=${encodeURIComponent(String(page[name]))}`);
  const others = Object.entries(unknown).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return "#" + [VERSION, ...fields, ...others].join("&");
}
