// Byte-pair encoding: neighbouring pieces are merged, the pair that was learnt first before all others.

import type { Reading } from "../data/source";
import { CallError } from "../model/errors";
import * as utf8 from "./utf8";
import { quoted } from "./words";

type Pairs = Extract<Reading, { kind: "pairs" }>;

// How a text is cut before anything is merged: GPT-2's way, or words and runs of marks.
const BYTES = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const W = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const WORDS = new RegExp(`[${W}]+|[^${W}\\p{White_Space}]+`, "gu");
const UNKNOWN = "[UNK]";

export class PairReading {
  private readonly ids: Map<string, number>;
  private readonly ranks = new Map<number, { rank: number; into: number }>(); // by left × size + right
  private readonly letters = alphabet(); // byte → the character that stands for it
  private readonly bytes: Map<string, number>;

  constructor(private readonly reading: Pairs) {
    const { pieces, merges } = reading;
    this.ids = new Map(pieces.map((piece, id) => [piece, id]));
    this.bytes = new Map(this.letters.map((letter, byte) => [letter, byte]));
    merges.forEach(([left, right], rank) => {
      const into = this.ids.get(pieces[left] + pieces[right]) as number;
      this.ranks.set(left * pieces.length + right, { rank, into });
    });
  }

  encode(text: string): Int32Array {
    const ids: number[] = [];
    let begin = 0; // counted in characters, as Python counts them
    for (const part of this.apart(text)) {
      const special = this.ids.get(part);
      if (special !== undefined && this.reading.special.includes(special)) {
        if (part === UNKNOWN) throw this.refused(text, begin);
        ids.push(special);
      } else this.read(part, begin, text, ids);
      begin += [...part].length;
    }
    return Int32Array.from(ids);
  }

  decode(tokens: ArrayLike<number>): string {
    const { pieces, bytes } = this.reading;
    const said = Array.from(tokens, (token) => pieces[token]);
    return bytes ? utf8.decode([...said.join("")].map((letter) => this.bytes.get(letter) as number)) : said.join(" ");
  }

  /** The text between the special pieces, and these. */
  private apart(text: string): string[] {
    const special = this.reading.special.map((id) => this.reading.pieces[id].replace(/[[\]]/g, "\\$&"));
    return special.length ? text.split(new RegExp(`(${special.join("|")})`)).filter((part) => part !== "") : [text];
  }

  private read(text: string, begin: number, whole: string, into: number[]): void {
    for (const { 0: word, index } of text.matchAll(this.reading.bytes ? BYTES : WORDS)) {
      const letters = this.reading.bytes ? utf8.encode(word).map((byte) => this.letters[byte]) : [...word];
      const ids = letters.map((letter) => this.ids.get(letter) ?? -1);
      const lost = ids.indexOf(-1);
      if (lost >= 0) throw this.refused(whole, begin + [...text.slice(0, index)].length + lost);
      into.push(...this.merged(ids));
    }
  }

  private merged(ids: number[]): number[] {
    const size = this.reading.pieces.length;
    for (;;) {
      let best = { rank: Infinity, into: -1 };
      let at = -1;
      for (let k = 0; k + 1 < ids.length; k++) {
        const found = this.ranks.get(ids[k] * size + ids[k + 1]);
        if (found && found.rank < best.rank) [best, at] = [found, k];
      }
      if (at < 0) return ids;
      ids.splice(at, 2, best.into);
    }
  }

  private refused(text: string, place: number): CallError {
    return new CallError(`character ${quoted([...text][place])} at position ${place} does not occur in the training text`);
  }
}

/** Byte → the character that stands for it: printable bytes for themselves, the others from 256 on. */
function alphabet(): string[] {
  let others = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const plain = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(plain ? byte : others++);
  });
}
