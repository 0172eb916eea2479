// A zip of some files, stored as they are: weights hardly shrink, and the same files give the same bytes.

const CRC = new Uint32Array(256);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  CRC[n] = c;
}
const DAY = 0x21; // 1 January 1980, the first that zip knows: no time of day leaks into the file
const UTF8 = 0x0800; // names are UTF-8

/** The bytes of a zip that holds these files, in the order given. */
export function zip(files: [string, Uint8Array][]): Uint8Array<ArrayBuffer> {
  const names = files.map(([name]) => new TextEncoder().encode(name));
  const size = files.reduce((all, [, data], k) => all + 30 + 46 + 2 * names[k].length + data.length, 22);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = 0;
  const put16 = (value: number): void => {
    view.setUint16(at, value, true);
    at += 2;
  };
  const put32 = (value: number): void => {
    view.setUint32(at, value, true);
    at += 4;
  };
  const put = (data: Uint8Array): void => {
    bytes.set(data, at);
    at += data.length;
  };
  /** What stands before a file and in the list at the end alike. */
  const about = (k: number, sum: number): void => {
    for (const value of [20, UTF8, 0, 0, DAY]) put16(value);
    for (const value of [sum, files[k][1].length, files[k][1].length]) put32(value);
    put16(names[k].length);
    put16(0);
  };
  const sums = files.map(([, data]) => crc32(data));
  const begins = files.map(([, data], k) => {
    const begin = at;
    put32(0x04034b50);
    about(k, sums[k]);
    put(names[k]);
    put(data);
    return begin;
  });
  const list = at;
  files.forEach((_, k) => {
    put32(0x02014b50);
    put16(20);
    about(k, sums[k]);
    for (const value of [0, 0, 0]) put16(value);
    put32(0);
    put32(begins[k]);
    put(names[k]);
  });
  const end = at;
  put32(0x06054b50);
  for (const value of [0, 0, files.length, files.length]) put16(value);
  put32(end - list);
  put32(list);
  put16(0);
  return bytes;
}

/** The checksum that zip keeps of a file. */
export function crc32(data: Uint8Array): number {
  let c = 0xffffffff;
  for (let k = 0; k < data.length; k++) c = CRC[(c ^ data[k]) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}
