// The gradient of the loss on one input, with respect to every parameter.

import { type Side, passed } from "./looking";

export interface Slope {
  side: Side;
  targets: Int32Array;
}

/** The loss, and how it changes with each parameter, in the order of `slots`. */
export function slopes({ side, targets }: Slope): { loss: number; gradient: Float32Array } {
  const { model } = passed(side);
  const loss = model.lossGradient(targets);
  model.backward();
  return { loss, gradient: model.gradient.slice() };
}
