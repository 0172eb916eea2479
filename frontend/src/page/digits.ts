// Numbers that are printed as a sum: what is printed adds up, to the last digit.

import { written } from "./written";

/** A sum as it is printed. All its numbers have the same digits behind the point, and the same power of ten. */
export interface Sum {
  value: string;
  terms: string[]; // each less than one unit of the last digit away from its number
  left: string | null; // what the terms leave of the value, where that is more than rounding; a term of its own
  /** Several of the terms as one: what is printed of them, added. */
  together(places: readonly number[]): string;
}

const FEWEST = 3; // digits behind the point of numbers around 1
const TRUE = 5; // digits behind the first that a 32-bit number has for sure, after a few sums

/** Print a value and the terms it is the sum of. */
export function summed(value: number, terms: readonly number[]): Sum {
  if (![value, ...terms].every(Number.isFinite)) {
    const together = (places: readonly number[]): string => bare(places.reduce((sum, k) => sum + terms[k], 0));
    return { value: bare(value), terms: terms.map(bare), left: null, together };
  }
  const size = terms.reduce((most, term) => Math.max(most, Math.abs(term)), Math.abs(value));
  const order = size ? Math.floor(Math.log10(size)) : 0;
  const power = order < -3 || order > 5 ? order : 0; // written ·10ⁿ where zeros would fill the line
  const least = Math.max(FEWEST, 2 - (order - power));
  const own = value ? 1 - Math.floor(Math.log10(Math.abs(value))) + power : 0; // for two digits of a small value
  const digits = Math.max(0, Math.min(Math.max(least, own), TRUE - (order - power)));
  const unit = 10 ** (digits - power);
  const whole = Math.round(value * unit);
  const exact = terms.map((term) => term * unit);
  const units = exact.map(Math.round);
  let off = whole - units.reduce((sum, each) => sum + each, 0);
  const way = Math.sign(off);
  const lost = units.map((each, k) => way * (exact[k] - each));
  for (const k of units.map((_, place) => place).sort((one, other) => lost[other] - lost[one])) {
    if (!off || lost[k] <= 0) break; // those whose rounding lost most get it back first
    units[k] += way;
    off -= way;
  }
  const text = (many: number): string => fixed(many, digits, power);
  return {
    value: text(whole),
    terms: units.map(text),
    left: off ? text(off) : null,
    together: (places) => text(places.reduce((sum, k) => sum + units[k], 0)),
  };
}

/** One number, with the digits it would have in a sum. */
export function printed(value: number): string {
  return summed(value, []).value;
}

/** So many units of the last digit, as a number with that many digits behind the point. */
function fixed(units: number, digits: number, power: number): string {
  const text = (Math.abs(units) / 10 ** digits).toFixed(digits);
  return `${units < 0 ? "−" : ""}${text}${power ? `·10${raised(power)}` : ""}`;
}

function raised(power: number): string {
  return [...String(power)].map((each) => (each === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(each)])).join("");
}

/** A number that may be none. */
function bare(value: number): string {
  return Number.isFinite(value) ? printed(value) : written(value);
}

/** A printed number as units of 10 to some power: what tests add up. */
export function read_printed(text: string): { units: bigint; power: number } {
  const form = /^(−?)(\d+)(?:\.(\d+))?(?:·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?$/.exec(text);
  if (!form) throw new Error(`${text} is not a printed number`);
  const [, sign, front, behind = "", up = ""] = form;
  const power = up ? Number([...up].map((each) => (each === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(each))).join("")) : 0;
  return { units: BigInt(front + behind) * (sign ? -1n : 1n), power: power - behind.length };
}
