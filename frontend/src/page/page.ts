// What is shown, as one object, and the object as a link. A new field is added in `start`, and only there.

export const VERSION = "v1";
export const MOST = 4096; // characters of a link

export const MODES = ["watch", "predict", "change", "train", "compare"] as const;

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

export interface Read {
  page: Page;
  notes: string[]; // sentences about fields that were not understood
  unknown: Record<string, string>; // kept, so that a newer page's link survives an older page
}

/** The link of a page: only what differs from the start. */
export function toHash(page: Page, unknown: Record<string, string> = {}): string {
  const fields = (Object.keys(start) as Field[])
    .filter((name) => page[name] !== start[name])
    .map((name) => `${name}=${encodeURIComponent(String(page[name]))}`);
  const others = Object.entries(unknown).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return "#" + [VERSION, ...fields, ...others].join("&");
}

/** The page of a link; what is wrong in it gets its default and a sentence. */
export function fromHash(hash: string): Read {
  const read: Read = { page: { ...start }, notes: [], unknown: {} };
  const [version, ...fields] = hash.replace(/^#/, "").split("&");
  if (!version) return read;
  if (hash.length > MOST) {
    read.notes.push(`The link has ${hash.length} characters; the most is ${MOST}. The page begins as if there were none.`);
    return read;
  }
  if (version !== VERSION) {
    read.notes.push(`The link begins with ${shown(version)}; this page reads links that begin with ${VERSION}.`);
    return read;
  }
  for (const field of fields) {
    const [name, ...rest] = field.split("=");
    let value: string;
    try {
      value = decodeURIComponent(rest.join("="));
    } catch {
      read.notes.push(`${shown(name)} in the link cannot be read; it is left as it was.`);
      continue;
    }
    if (!Object.hasOwn(start, name)) {
      if (name) {
        read.unknown[name] = value;
        read.notes.push(`The link has ${shown(name)}, which this page does not know; it is kept.`);
      }
    } else if (typeof start[name as Field] === "number") {
      const number = Number(value);
      const fine = value.trim() !== "" && (name === "temperature" ? number >= 0.05 && number <= 10 : Number.isInteger(number) && number >= -1);
      if (fine) Object.assign(read.page, { [name]: number });
      else read.notes.push(`${name} = ${shown(value)} in the link is not a number this page can use; it is left as it was.`);
    } else if (name === "mode" && !(MODES as readonly string[]).includes(value)) {
      read.notes.push(`mode = ${shown(value)} in the link is not one of ${MODES.join(", ")}.`);
    } else {
      Object.assign(read.page, { [name]: value });
    }
  }
  return read;
}

function shown(value: string): string {
  const text = value.length > 40 ? `${value.slice(0, 40)}…` : value;
  return `“${text}”`;
}
