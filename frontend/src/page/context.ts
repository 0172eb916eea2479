// The one lab of the page, for every component below it.

import { getContext, setContext } from "svelte";
import type { Lab } from "./lab.svelte";

const KEY = Symbol("lab");

export function give(lab: Lab): void {
  setContext(KEY, lab);
}

export function the_lab(): Lab {
  return getContext<Lab>(KEY);
}
