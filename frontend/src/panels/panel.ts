// What a panel is. A file in this folder is a panel: its module script exports `about`, its component draws a `View`.

import type { Component } from "svelte";
import type { Trace } from "../model/trace";
import type { OpenRun } from "../data/open.svelte";
import type { Chosen } from "../page/chosen";

/** One model at one step on one input: all that a panel may look at. */
export interface View {
  run: OpenRun;
  member: number;
  step: number;
  params: Float32Array;
  trace: Trace; // with the edits in force
  before: Trace | null; // without them; null where there are none
  params_before: Float32Array | null; // where weights were edited
  edits: string; // those in force, as Python reads them; "" where there are none
  temperature: number;
  which: "a" | "b"; // of a comparison; "a" otherwise
}

export interface Table {
  head: string[];
  rows: (string | number)[][];
}

export interface About {
  name: string; // of the words: panel.NAME.title, .look (what to look for); lower case, as the link has it
  order: number;
  first?: boolean; // on the first screen
  wide?: boolean; // takes two columns
  differs?: boolean; // draws view − against; of the others a comparison lists the numbers that differ most
  absent?(run: OpenRun): string | null; // a key of the words that says why there is nothing to draw
  summary(view: View, chosen: Chosen): string; // one sentence computed from the data, in English
  table(view: View, chosen: Chosen): Table; // the numbers that are drawn; also the CSV
  python(view: View, chosen: Chosen): string; // what gives the same numbers, with `run` and `gf` at hand
}

export interface PanelProps {
  view: View;
  against?: View | null; // the other side of a comparison: draw the difference view − against where that has a meaning
}

export interface Panel {
  about: About;
  default: Component<PanelProps>;
}
