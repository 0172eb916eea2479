// What can go wrong, said in one sentence: what, where, and what to do. The twin of errors.py.

const MOST_SHOWN = 200; // characters of a name that does not exist
const MOST_NAMED = 100; // of those that exist, in one sentence

/** The call was wrong: a value that is not allowed, a name that does not exist, a number beyond the limits. */
export class CallError extends Error {
  override name = "CallError";
}

/** Nothing has this name; the nearest one, and the list of those that exist. */
export function unknown(name: string, where: string, known: Iterable<string>): CallError {
  const all = [...known].sort();
  const said = name.length <= MOST_SHOWN ? name : `${name.slice(0, MOST_SHOWN)}…`;
  const near = nearest(said, all);
  const hint = near === null ? "" : ` (did you mean ${near}?)`;
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} others` : "";
  const there = all.length ? `there are: ${all.slice(0, MOST_NAMED).join(", ")}${more}` : "there are none";
  return new CallError(`nothing called ${quoted(said)} in ${where}${hint}; ${there}`);
}

/** A text as Python writes it: in single quotes, or in double ones where that spares a backslash. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text
    .replaceAll("\\", "\\\\")
    .replaceAll(quote, `\\${quote}`)
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("\t", "\\t");
  return `${quote}${inside}${quote}`;
}

/** The name most like this one, if it is like it at all: six tenths of the letters, in pieces as long as possible. */
function nearest(name: string, known: string[]): string | null {
  let best: string | null = null;
  let most = 0.6;
  for (const each of known) {
    const alike = (2 * matched(each, name)) / (name.length + each.length);
    if (alike > most || (alike === most && (best === null || each > best))) [best, most] = [each, alike];
  }
  return best;
}

/** How many letters two names share: the longest piece of both, then the same on either side of it. */
function matched(one: string, other: string): number {
  let [at, there, size] = [0, 0, 0];
  for (let i = 0; i < one.length; i++) {
    for (let j = 0; j < other.length; j++) {
      let k = 0;
      while (i + k < one.length && j + k < other.length && one[i + k] === other[j + k]) k++;
      if (k > size) [at, there, size] = [i, j, k];
    }
  }
  if (!size) return 0;
  const before = matched(one.slice(0, at), other.slice(0, there));
  return before + size + matched(one.slice(at + size), other.slice(there + size));
}
