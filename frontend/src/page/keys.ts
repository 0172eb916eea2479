// Single keys. They act where nothing else wants them, and can be switched off as a whole.

import type { Lab } from "./lab.svelte";

export const KEYS: Record<string, (lab: Lab) => void> = {
  w: (lab) => (lab.page.mode = "watch"),
  p: (lab) => (lab.page.mode = "predict"),
  c: (lab) => (lab.page.mode = "change"),
  t: (lab) => (lab.page.mode = "train"),
  m: (lab) => (lab.page.mode = "compare"),
  " ": (lab) => (lab.page.mode === "train" && !lab.training.why_not ? lab.training.toggle() : lab.toggle()),
  ArrowLeft: (lab) => lab.to(lab.index - 1),
  ArrowRight: (lab) => lab.to(lab.index + 1),
  Home: (lab) => lab.to(0),
  End: (lab) => lab.to(Infinity),
  PageDown: (lab) => moment(lab, 1),
  PageUp: (lab) => moment(lab, -1),
  Escape: (lab) => (lab.explaining.open ? lab.explaining.close() : (lab.page.panel = "")),
  "?": (lab) => (lab.help = true),
};

/** Beside a lesson: to its next or last section, and a presenter's remote turns its pages. */
const LESSON: typeof KEYS = {
  n: ({ teaching }) => teaching?.go_to(teaching.beat + 1),
  b: ({ teaching }) => teaching?.go_to(teaching.beat - 1),
  PageDown: ({ teaching }) => teaching?.turn(1),
  PageUp: ({ teaching }) => teaching?.turn(-1),
};
const SCROLLING = [" ", "Home", "End"]; // keys with which one reads a text

/** To the next or the last moment at which something happened; a presenter's remote sends these keys. */
function moment(lab: Lab, by: number): void {
  const steps = [0, ...(lab.run?.events.map((event) => event.step) ?? []), lab.run?.last ?? 0];
  const there = by > 0 ? steps.filter((step) => step > lab.step).sort((a, b) => a - b) : steps.filter((step) => step < lab.step).sort((a, b) => b - a);
  if (there.length && lab.run) lab.to(lab.run.nearest(there[0]));
}

/** What a key does, unless the reader is typing, choosing or moving inside something that has keys of its own. */
export function press(lab: Lab, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { teaching } = lab;
  const turns = teaching ? LESSON[event.key] : undefined;
  const act = turns ?? KEYS[event.key];
  if (!act || (lab.page.keys === "off" && event.key !== "Escape")) return;
  const at = event.target as HTMLElement;
  if (at.closest("input, select, textarea, dialog, [contenteditable], [role=grid], [role=slider], [role=radiogroup]")) return;
  if (event.key === " " && at.closest("button, a, summary, label")) return;
  if (lab.page.view !== "projector" && event.key.startsWith("Page")) return; // the page itself scrolls
  if (teaching && SCROLLING.includes(event.key) && !at.closest(".lab")) return;
  if (event.key === "Escape" && teaching?.open && !lab.explaining.open) return void teaching.cover();
  event.preventDefault();
  if (!turns) teaching?.touch();
  if (event.key !== " ") lab.playing = false;
  act(lab);
}
