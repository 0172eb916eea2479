// A point of a plane is a vector: choosing it opens the card of its first number, choosing it again that of the next.

import type { View } from "../panels/panel";
import type { Lab } from "./lab.svelte";

let last = "";
let feature = 0;

export function explain_vector(lab: Lab, name: string, index: readonly number[], view: View): void {
  const vector = `${name} ${index.join(" ")}`;
  const { shape } = view.trace.points[name];
  feature = vector === last && lab.page.cell ? (feature + 1) % shape[shape.length - 1] : 0;
  last = vector;
  lab.explain({ kind: "point", name, index: [...index, feature] }, view);
}
