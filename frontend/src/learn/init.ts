// Fresh parameters: the distributions of model.py's init, drawn by the page's own generator.

import { type Architecture, slots } from "../model/architecture";
import { Random, WEIGHTS } from "./random";

/** All parameters of a model before its first step, a function of the seed. */
export function init(a: Architecture, seed: number): Float32Array {
  const random = new Random(seed, WEIGHTS);
  const places = slots(a);
  const last = places[places.length - 1];
  const params = new Float32Array(last.begin + last.size);
  for (const { name, shape, begin, size } of places) {
    const draw = drawn(name, shape, a, random);
    for (let k = begin; k < begin + size; k++) params[k] = draw();
  }
  return params;
}

function drawn(name: string, shape: readonly number[], a: Architecture, random: Random): () => number {
  const leaf = name.slice(name.lastIndexOf(".") + 1);
  if (leaf === "token" || leaf === "position") return () => a.embedding_init * random.normal();
  if (leaf === "norm" || leaf === "norm_1" || leaf === "norm_2") return () => 1;
  if (leaf.startsWith("norm")) return () => 0;
  if (leaf.endsWith("_bias")) {
    const inputs = leaf === "contract_bias" ? a.feed_forward : leaf === "output_bias" ? a.heads * a.head_width : a.width;
    const reach = a.linear_init === "fan_in" ? inputs ** -0.5 : 0;
    return () => reach * (2 * random.uniform() - 1);
  }
  if (a.linear_init === "normal" || a.linear_init === "plain_normal") {
    const written = a.linear_init === "normal" && (leaf === "output" || leaf === "contract"); // into the stream
    const spread = written ? 0.02 / Math.sqrt(2 * a.blocks) : 0.02;
    return () => spread * random.normal();
  }
  const reach = a.linear_init === "xavier" ? Math.sqrt(6 / (shape[0] + shape[1])) : shape[0] ** -0.5;
  return () => reach * (2 * random.uniform() - 1);
}
