// Texts as bytes and back, without the DOM's encoders, which this part of the page does not know.

const MARK = "\ufffd";

/** The bytes of a text; half a character pair becomes the replacement mark. */
export function encode(text: string): number[] {
  const bytes: number[] = [];
  for (const letter of text) {
    let code = letter.codePointAt(0) as number;
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return bytes;
}

/** The text of some bytes; each longest stretch that begins a character and does not end one becomes a mark. */
export function decode(bytes: ArrayLike<number>): string {
  let text = "";
  for (let k = 0; k < bytes.length; ) {
    const first = bytes[k++];
    if (first < 0x80) {
      text += String.fromCharCode(first);
      continue;
    }
    const more = first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : 0;
    let code = first & (0x3f >> more);
    let [low, high] = [0x80, 0xbf]; // what the second byte may be: neither overlong, nor half a pair, nor beyond all
    if (first === 0xe0) low = 0xa0;
    if (first === 0xed) high = 0x9f;
    if (first === 0xf0) low = 0x90;
    if (first === 0xf4) high = 0x8f;
    let left = more;
    while (left && k < bytes.length && bytes[k] >= low && bytes[k] <= high) {
      code = (code << 6) | (bytes[k++] & 63);
      [low, high] = [0x80, 0xbf];
      left--;
    }
    text += more && !left ? String.fromCodePoint(code) : MARK;
  }
  return text;
}
