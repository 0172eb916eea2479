// Reading safetensors: a header of names, kinds and places, then the bytes. Nothing in it can name a file or run.

const KINDS = { F32: Float32Array, I32: Int32Array, U8: Uint8Array, I8: Int8Array } as const;
const MOST_HEADER = 1 << 20;

export interface Tensor {
  shape: number[];
  data: Float32Array | Int32Array | Uint8Array | Int8Array;
}

/** The tensors of a file by name. */
export function tensors(bytes: Uint8Array): Map<string, Tensor> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  if (length > MOST_HEADER || 8 + length > bytes.byteLength) throw new Error("the weights have no sound header");
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as Record<
    string,
    { dtype: keyof typeof KINDS; shape: number[]; data_offsets: [number, number] }
  >;
  const found = new Map<string, Tensor>();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const kind = KINDS[dtype];
    const [begin, end] = data_offsets;
    const size = shape.reduce((all, each) => all * each, 1);
    if (!kind || end - begin !== size * kind.BYTES_PER_ELEMENT || 8 + length + end > bytes.byteLength) {
      throw new Error(`the tensor ${name} is not where its header says`);
    }
    found.set(name, { shape, data: new kind(bytes.slice(8 + length + begin, 8 + length + end).buffer) });
  }
  return found;
}
