// Chance from a seed: sfc32, a small generator that passes the usual batteries, set anew for every purpose and step.

export const WEIGHTS = 0; // streams of chance under one seed
export const BATCHES = 1;
export const DROPOUT = 2;

/** A generator that can be set to the beginning of any stream; nothing of its past is left then. */
export class Random {
  private a = 0;
  private b = 0;
  private c = 0;
  private d = 0;
  private spare = NaN; // the second of two normal numbers, which come in pairs

  constructor(seed = 0, stream = 0, place = 0) {
    this.set(seed, stream, place);
  }

  /** To the beginning of a stream: a function of these three whole numbers, each below 2 ** 53. */
  set(seed: number, stream: number, place = 0): this {
    // Each word is mixed from all that was given, so that neighbouring seeds and steps have nothing in common.
    let h = mix((seed >>> 0) ^ 0x9e3779b9);
    h = mix(h ^ (seed / 4294967296) ^ 0x85ebca6b);
    h = mix(h ^ stream);
    h = mix(h ^ (place >>> 0));
    this.a = h = mix((h ^ (place / 4294967296)) + 0x6d2b79f5);
    this.b = h = mix(h + 0x6d2b79f5);
    this.c = mix(h + 0x6d2b79f5);
    this.d = 1;
    this.spare = NaN;
    for (let k = 0; k < 12; k++) this.next();
    return this;
  }

  /** 32 random bits, as a whole number from 0. */
  next(): number {
    const t = (((this.a + this.b) | 0) + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + t) | 0;
    return t >>> 0;
  }

  /** A whole number from 0 to below `many`, which is at most 2 ** 32. */
  below(many: number): number {
    return Math.floor(this.next() * (many / 4294967296));
  }

  /** A number from 0 to below 1, with all the digits of a double. */
  uniform(): number {
    return ((this.next() >>> 5) * 67108864 + (this.next() >>> 6)) / 9007199254740992;
  }

  /** A number of the normal distribution (Box and Muller). */
  normal(): number {
    if (!Number.isNaN(this.spare)) {
      const found = this.spare;
      this.spare = NaN;
      return found;
    }
    const far = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.spare = far * Math.sin(angle);
    return far * Math.cos(angle);
  }
}

/** The last step of MurmurHash3: every bit of the result depends on every bit given. */
function mix(given: number): number {
  let h = given | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
