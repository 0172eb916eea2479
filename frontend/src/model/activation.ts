// What a neuron does to its sum, and how that changes with the sum.

import type { Architecture } from "./architecture";

/** x times the chance that a normal number lies below x. */
export function gelu(x: number): number {
  return 0.5 * x * (1 + erf(x * Math.SQRT1_2));
}

/** The neuron's function, of one number. */
export const ACTIVATION: Record<Architecture["activation"], (x: number) => number> = {
  relu: (x) => (x > 0 ? x : x === x ? 0 : x), // what is no number stays none
  gelu,
  tanh: Math.tanh,
};

/** How each changes with its argument; of relu at 0 it is 0, as in training. */
export const SLOPE: Record<Architecture["activation"], (x: number) => number> = {
  relu: (x) => (x > 0 ? 1 : 0),
  gelu: (x) => 0.5 * (1 + erf(x * Math.SQRT1_2)) + (x * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI),
  tanh: (x) => 1 - Math.tanh(x) ** 2,
};

const NODES = 64; // per unit,
const FAR = 6; // up to where the error function is 1 to the last digit
const ORDER = 8;
const series = taylor(); // (node, order): the error function's Taylor series around each node

function taylor(): Float64Array {
  const found = new Float64Array((FAR * NODES + 1) * ORDER);
  for (let node = 0; node <= FAR * NODES; node++) {
    const at = node / NODES;
    const bell = [Math.exp(-at * at), -2 * at * Math.exp(-at * at)]; // the series of exp(-x²), whose integral it is
    for (let n = 1; n < ORDER - 1; n++) bell.push((-2 * (at * bell[n] + bell[n - 1])) / (n + 1));
    let [term, sum] = [at, at]; // erf(x) = 2 / √π · exp(-x²) · (x + 2 x³ / 3 + 4 x⁵ / 15 + …), nothing of which cancels
    for (let n = 1; n < 200; n++) sum += term *= (2 * at * at) / (2 * n + 1);
    found[node * ORDER] = (2 / Math.sqrt(Math.PI)) * bell[0] * sum;
    for (let n = 1; n < ORDER; n++) found[node * ORDER + n] = ((2 / Math.sqrt(Math.PI)) * bell[n - 1]) / n;
  }
  return found;
}

/** The error function, in double precision. */
export function erf(x: number): number {
  const size = Math.min(Math.abs(x), FAR); // NaN stays NaN
  const node = Math.round(size * NODES) || 0;
  const away = size - node / NODES;
  let sum = 0;
  for (let n = ORDER - 1; n >= 0; n--) sum = sum * away + series[node * ORDER + n];
  return x < 0 ? -sum : sum;
}
