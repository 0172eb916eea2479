// A model that computes no numbers: after a training that diverged, or an edit that was too large.

import type { View } from "../panels/panel";

/** The sentence that is said in place of another where the answers are no numbers; "" elsewhere. */
export function lost({ trace }: View): string {
  return trace.points.logits.data.every(Number.isFinite) ? "" : "What the model computes here is not a number.";
}
