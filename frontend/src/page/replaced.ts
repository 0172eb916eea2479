// What a neuron reads if another token stood at one position, for every token of the vocabulary.

import { type Side, traced } from "./looking";
import { under } from "./reach";

export interface Replaced {
  side: Side;
  block: number;
  neuron: number;
  position: number; // whose token is replaced
  heard: number; // where the neuron is looked at
}

const MOST = 4e8; // products beyond which nobody waits

/** Whether a model is small enough to be asked with every token. */
export function can_replace(side: Side, parameters: number): boolean {
  return parameters * side.tokens.length * side.architecture.vocabulary <= MOST;
}

/** (token,): `hidden_in` of a neuron. */
export function replaced({ side, block, neuron, position, heard }: Replaced): Float32Array {
  return Float32Array.from({ length: side.architecture.vocabulary }, (_, token) => {
    const tokens = side.tokens.slice();
    tokens[position] = token;
    return under(traced({ ...side, tokens }).points.hidden_in, block, heard)[neuron];
  });
}
