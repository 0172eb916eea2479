// SHA-256 in plain arithmetic: the browser's own is not there for pages opened from a disk, and never answers at once.

const K = new Uint32Array(64);
const BEGIN = new Uint32Array(8);
// The first 32 bits of the fractional parts of cube and square roots of the first primes.
for (let n = 2, found = 0; found < 64; n++) {
  let prime = true;
  for (let k = 2; k * k <= n; k++) if (n % k === 0) prime = false;
  if (!prime) continue;
  if (found < 8) BEGIN[found] = (n ** 0.5 % 1) * 4294967296;
  K[found++] = (Math.cbrt(n) % 1) * 4294967296;
}

/** The digest of some bytes, in hexadecimal; those of several pieces are taken one after the other. */
export function sha256(...pieces: Uint8Array[]): string {
  const state = BEGIN.slice();
  const words = new Uint32Array(64);
  const block = new Uint8Array(64);
  const view = new DataView(block.buffer);
  let [filled, length] = [0, 0];
  const mix = (): void => {
    for (let k = 0; k < 16; k++) words[k] = view.getUint32(4 * k);
    round(state, words);
    filled = 0;
  };
  for (const piece of pieces) {
    length += piece.length;
    for (let from = 0; from < piece.length; ) {
      const many = Math.min(64 - filled, piece.length - from);
      block.set(piece.subarray(from, from + many), filled);
      filled += many;
      from += many;
      if (filled === 64) mix();
    }
  }
  block[filled++] = 0x80;
  if (filled > 56) {
    block.fill(0, filled);
    mix();
  }
  block.fill(0, filled);
  view.setUint32(56, Math.floor(length / 536870912));
  view.setUint32(60, (length * 8) >>> 0);
  mix();
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function round(state: Uint32Array, w: Uint32Array): void {
  for (let k = 16; k < 64; k++) {
    const [x, y] = [w[k - 15], w[k - 2]];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[k] = (w[k - 16] + s0 + w[k - 7] + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let k = 0; k < 64; k++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s1 + ((e & f) ^ (~e & g)) + K[k] + w[k]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((value, k) => (state[k] += value));
}
