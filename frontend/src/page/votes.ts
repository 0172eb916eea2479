// What each neuron adds to the logit of an answer: its value, times what its row of `contract` says to the read-out. Norms
// on the way are held at the size they have on this input, as in analyses/decide/attribution.py.

import type { View } from "../panels/panel";
import { read_at } from "./chances";
import { by_hand, traced, weighed } from "./python";
import { under } from "./reach";

/** A norm that the stream passes after the neurons wrote to it. */
interface Passed {
  weight: string; // the name of its gain
  point: string; // what it normalises
  block: number | null;
}

/** The position of the neurons that are heard: the one that is chosen, or the one whose answer is read. */
export function heard(view: View, position: number): number {
  return read_at(view.run.architecture, view.trace.tokens.length, position);
}

/** The norms between the neurons of a block and the read-out, the last one first. */
function passed(view: View, block: number): Passed[] {
  const a = view.run.architecture;
  const found: Passed[] = [];
  if (a.norm === "none") return found;
  if (a.final_norm) found.push({ weight: "norm", ...leaves(view) });
  if (a.norm_place === "pre") return found;
  for (let b = a.blocks - 1; b >= block; b--) {
    found.push({ weight: `blocks.${b}.norm_2`, point: "out", block: b });
    if (b > block && a.attention !== "off") found.push({ weight: `blocks.${b}.norm_1`, point: "middle", block: b });
  }
  return found;
}

/** The stream as it leaves the last block. */
function leaves(view: View): { point: string; block: number | null } {
  const a = view.run.architecture;
  return { point: a.norm_place === "post" && a.norm !== "none" ? "normed_2" : "out", block: a.blocks - 1 };
}

function weights(view: View, name: string): Float32Array {
  const slot = view.run.slots.find((each) => each.name === name)!;
  return view.params.subarray(slot.begin, slot.begin + slot.size);
}

/** (neuron,): what each neuron of a block adds to the logit of an answer at a position, on the straight way. */
export function votes(view: View, block: number, position: number, answer: number): Float32Array {
  const a = view.run.architecture;
  const k = heard(view, position);
  const width = a.width;
  const towards = new Float64Array(width);
  if (a.tied_embedding) towards.set(weights(view, "token").subarray(answer * width, (answer + 1) * width));
  else for (let f = 0, w = weights(view, "read_out"); f < width; f++) towards[f] = w[f * a.outputs + answer];
  for (const norm of passed(view, block)) {
    const gain = weights(view, norm.weight);
    const x = under(view.trace.points[norm.point], norm.block ?? 0, k);
    let [mean, square, middle] = [0, 0, 0];
    for (let f = 0; f < width; f++) {
      towards[f] *= gain[f];
      mean += x[f] / width;
      square += (x[f] * x[f]) / width;
      middle += towards[f] / width;
    }
    const layer = a.norm === "layer";
    const size = Math.sqrt(square - (layer ? mean * mean : 0) + a.norm_epsilon);
    for (let f = 0; f < width; f++) towards[f] = (towards[f] - (layer ? middle : 0)) / size;
  }
  const contract = weights(view, `blocks.${block}.contract`);
  const hidden = under(view.trace.points.hidden, block, k);
  return hidden.map((value, n) => {
    let sum = 0;
    for (let f = 0; f < width; f++) sum += contract[n * width + f] * towards[f];
    return value * sum;
  });
}

/** The same in Python. */
export function votes_in_python(view: View, block: number, position: number, answer: number): string {
  const a = view.run.architecture;
  const k = heard(view, position);
  const lines = [`t, w = ${traced(view)}, ${weighed(view)}`, `r = ${a.tied_embedding ? `w["token"][${answer}]` : `w["read_out"][:, ${answer}]`}`];
  for (const { weight, point, block: of } of passed(view, block)) {
    const x = `t["${point}"][${of}, ${k}]`;
    const size = a.norm === "layer" ? `${x}.var()` : `(${x} ** 2).mean()`;
    lines.push(`r = r * w["${weight}"]`, `r = ${a.norm === "layer" ? "(r - r.mean())" : "r"} / (${size} + ${a.norm_epsilon}) ** 0.5`);
  }
  return [...lines, `t["hidden"][${block}, ${k}] * (w["blocks.${block}.contract"] @ r)${by_hand(view)}`].join("\n");
}
