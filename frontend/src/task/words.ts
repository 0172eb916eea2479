// Words as Python cuts, quotes and compares them, so that the page says what Python says.

// What `str.split` takes for space; JavaScript's own set differs in six characters.
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACES = new RegExp(`[${SPACE}]+`, "u");
const ENDS = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "gu");
const NAMED: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** `text.split()`: the words between white space. */
export function split(text: string): string[] {
  return text.split(SPACES).filter((word) => word !== "");
}

/** `text.strip()`. */
export function strip(text: string): string {
  return text.replace(ENDS, "");
}

/** `repr(text)`: in quotes, with signs for what cannot be printed. */
export function quoted(text: string): string {
  const sign = text.includes("'") && !text.includes('"') ? '"' : "'";
  let said = "";
  for (const letter of text) {
    if (letter === sign) said += `\\${letter}`;
    else if (NAMED[letter]) said += NAMED[letter];
    else if (letter === " " || !/[\p{C}\p{Z}]/u.test(letter)) said += letter;
    else said += escaped(letter.codePointAt(0) as number);
  }
  return sign + said + sign;
}

function escaped(code: number): string {
  const [sign, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${sign}${code.toString(16).padStart(digits as number, "0")}`;
}

/** `difflib.get_close_matches`: at most `many` words that are alike by at least `least`, the likest first. */
export function close(word: string, words: readonly string[], many: number, least: number): string[] {
  const scored = words.map((each) => ({ each, alike: ratio(each, word) })).filter(({ alike }) => alike >= least);
  scored.sort((a, b) => b.alike - a.alike || (a.each < b.each ? 1 : a.each > b.each ? -1 : 0));
  return scored.slice(0, many).map(({ each }) => each);
}

/** Twice the characters in common, found in the longest stretches first, as a share of all. */
function ratio(first: string, second: string): number {
  const [a, b] = [[...first], [...second]];
  return a.length + b.length ? (2 * common(a, b, 0, a.length, 0, b.length)) / (a.length + b.length) : 1;
}

function common(a: string[], b: string[], low: number, high: number, from: number, to: number): number {
  let [best, i, j] = [0, low, from];
  let runs = new Map<number, number>(); // how long the equal stretch is that ends at each place of b
  for (let x = low; x < high; x++) {
    const now = new Map<number, number>();
    for (let y = from; y < to; y++) {
      if (a[x] !== b[y]) continue;
      const long = (runs.get(y - 1) ?? 0) + 1;
      now.set(y, long);
      if (long > best) [best, i, j] = [long, x - long + 1, y - long + 1];
    }
    runs = now;
  }
  if (!best) return 0;
  return best + common(a, b, low, i, from, j) + common(a, b, i + best, high, j + best, to);
}
