// The card of a number: which number, the way that led to it, and the way back.

import { read_cell, written_cell } from "../model/cells";
import type { Cell } from "../model/trace";
import type { View } from "../panels/panel";
import type { Lab } from "./lab.svelte";
import { Lane } from "./work";

const MOST_TRAIL = 64;
const B = "b:";

export class Explaining {
  trail: string[] = $state([]); // the cards before this one, the first first
  moved = $state(0); // how often the reader has opened a card, so that it takes the focus; a link's card does not
  readonly pulls = new Lane("pulled");
  readonly lives = new Lane("lived");
  readonly moves = new Lane("moved");
  private origin: HTMLElement | null = null; // where the focus returns to

  constructor(private readonly lab: Lab) {}

  open: boolean = $derived.by(() => this.lab.page.cell !== "");
  /** The side of a comparison that the number is of; the link writes `b:` in front of those of B. */
  which: "a" | "b" = $derived.by(() => (this.lab.page.cell.startsWith(B) ? "b" : "a"));
  view: View | null = $derived.by(() => (this.which === "b" ? this.lab.comparing.view : this.lab.view));
  /** The cell of the link, or a sentence. */
  found: { cell: Cell } | { problem: string } | null = $derived.by(() => {
    const { view } = this;
    if (!view || !this.open) return null;
    try {
      return { cell: read_cell(plain(this.lab.page.cell), view.run.architecture, view.trace.tokens.length) };
    } catch (problem) {
      return { problem: problem instanceof Error ? problem.message : String(problem) };
    }
  });

  /** Open the card of a number; the focus returns to where it is now. */
  start(cell: Cell, which: "a" | "b"): void {
    const { activeElement: now } = document;
    if (now instanceof HTMLElement && !now.closest(".explaining")) this.origin = now;
    this.trail = [];
    this.show((which === "b" ? B : "") + written_cell(cell));
  }

  /** From one card to the next. */
  follow(cell: Cell): void {
    this.trail = [...this.trail.slice(1 - MOST_TRAIL), this.lab.page.cell];
    this.show((this.which === "b" ? B : "") + written_cell(cell));
  }

  /** Back to a card of the trail, the last one unless another is named. */
  back(k = this.trail.length - 1): void {
    if (k < 0) return;
    const to = this.trail[k];
    this.trail = this.trail.slice(0, k);
    this.show(to);
  }

  close(): void {
    this.trail = [];
    this.lab.page.cell = "";
    if (this.origin?.isConnected) this.origin.focus();
    this.origin = null;
  }

  private show(text: string): void {
    this.lab.page.cell = text;
    this.moved += 1;
  }
}

/** The cell of a link's text, without the side. */
export function plain(text: string): string {
  return text.startsWith(B) ? text.slice(B.length) : text;
}
