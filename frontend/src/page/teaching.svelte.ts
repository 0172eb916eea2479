// The text of a lesson leads the lab: what the reader has come to is what the model shows, until the reader wants else.

import { tick } from "svelte";
import { type Lesson, essence, led } from "./lesson";
import type { Lab } from "./lab.svelte";
import { fromHash } from "./link";
import { start } from "./page";

const LINE = "-35%"; // of the window's height, from below: what has come above this line is read
const HEAD = "-70%"; // the same for the beat one is in
const ABOVE = "100000px"; // all that was scrolled past counts, too
const MOST = 0.8; // of the window's height, that a presenter's remote turns at once
const ARRANGED = 1500; // milliseconds after which the lab stays as it is
const GAP = 8;
const SECTIONS: Record<string, string> = { // what a mode adds to the lab
  train: ".train",
  predict: ".quiz",
  change: "[aria-labelledby=change-title]",
  compare: "[aria-labelledby=compare-title]",
};
const ATLAS = "[aria-labelledby=atlas-title]"; // of a comparison between members

export class Teaching {
  look = $state(-1); // the last one that was read or pressed; -1: none yet
  beat = $state(0); // the place among the sections: the head, the beats, the end
  follows = $state(true); // false: the reader wants the lab left alone
  waits = $state(false); // for a training, or since the page was opened by a link of its own
  open = $state(false); // on a narrow screen: whether the lab lies over the text
  wide = $state(true);
  private touched = $state(false); // since the text led the last time
  private before = $state(""); // what the lab showed when the reader touched it
  /** Whether the lab shows something of the reader's own. */
  own: boolean = $derived.by(() => this.waits || (this.touched && essence(this.lab.page) !== this.before));
  readonly links: { link: string; text: string }[];

  private origin: HTMLElement | null = null; // where the focus returns to
  private led = -2; // the look the lab was led to last
  private arranging = -Infinity; // when the text led the last time
  private readonly opened = essence(fromHash(location.hash).page);
  private given = this.opened !== essence(start); // by a link of the reader's own

  constructor(
    private readonly lab: Lab,
    readonly lesson: Lesson,
  ) {
    this.links = lesson.beats.flatMap(({ parts }) => parts.filter((part) => part.kind === "look"));
    const wide = matchMedia("(min-width: 1024px)");
    this.wide = wide.matches;
    $effect.root(() => this.arrange());
    wide.addEventListener("change", () => {
      this.wide = wide.matches;
      this.open = false;
      if (this.wide) this.follow();
    });
    for (const kind of ["pointerdown", "keydown"]) {
      addEventListener(kind, ({ target }) => (target as Element | null)?.closest?.(".lab, .explaining") && this.touch(), true);
    }
  }

  /** Watch what is read: `root` holds the sections, and in them the looks, in order. */
  watch(root: HTMLElement): () => void {
    const watching = (what: string, line: string, on: (last: number) => void): IntersectionObserver => {
      const all = [...root.querySelectorAll(what)];
      const read = new Set<Element>();
      const observer = new IntersectionObserver(
        (entries) => {
          for (const { target, isIntersecting } of entries) read[isIntersecting ? "add" : "delete"](target);
          on(Math.max(-1, ...all.flatMap((each, k) => (read.has(each) ? [k] : []))));
        },
        { root: document, rootMargin: `${ABOVE} 0px ${line} 0px` },
      );
      for (const each of all) observer.observe(each);
      return observer;
    };
    const observers = [
      watching("[data-look]", LINE, (last) => {
        if (last === this.look) return;
        this.look = last;
        this.follow();
      }),
      watching("[data-section]", HEAD, (last) => (this.beat = Math.max(0, last))),
    ];
    return () => observers.forEach((each) => each.disconnect());
  }

  /** What was scrolled to; where the lab is hidden, it waits until it is opened. */
  private follow(): void {
    if (!this.wide || !this.follows) return;
    if (this.given && this.opened !== essence(fromHash(this.link).page)) {
      this.given = false; // who opened a link sees what it shows
      this.waits = true;
    } else if (this.lab.training.state === "running" || this.lab.training.crowd_goes) this.waits = true;
    else this.lead();
  }

  /** What the text means: its last look, or before the first one the model as it is. */
  private get link(): string {
    const [run] = this.links[0]?.link.match(/run=[^&]*/) ?? [""];
    return this.links[this.look]?.link ?? `#v1&${run}`;
  }

  /** Show what the text means. */
  lead(): void {
    const { lab } = this;
    lab.playing = false;
    this.given = this.touched = this.waits = false;
    this.led = this.look;
    lab.go(led(this.link, lab.page));
    this.arranging = performance.now();
  }

  /** Bring what the text speaks of into view, for as long as it may take to be drawn; where effects live. */
  private arrange(): void {
    $effect(() => {
      const { view, page } = this.lab;
      const mode = page.mode === "compare" && page.atlas ? ATLAS : SECTIONS[page.mode];
      const named = mode !== undefined || page.panels !== "" || page.panel !== "";
      void [view, this.open, this.lab.comparing.view];
      if (performance.now() - this.arranging > ARRANGED || this.touched) return;
      void tick().then(() => {
        const lab = document.querySelector(".lab");
        const box = (what: string): DOMRect | undefined => document.querySelector(`.lab ${what}`)?.getBoundingClientRect();
        const [panel, first] = [box(".panel"), box(mode ?? ".panel")]; // as much of the panel as the first thing leaves
        const [over, under] = [box(".leading"), box(".thumb")];
        if (!lab || !panel || !first || !over || !under) return;
        if (!named) lab.scrollTop = 0;
        else lab.scrollTop += Math.min(panel.bottom - under.top + GAP, first.top - over.bottom - GAP);
      });
    });
  }

  /** A look is pressed. */
  press(look: number): void {
    this.look = look;
    this.lead();
    if (!this.wide) void this.uncover();
  }

  /** On a narrow screen: the lab over the text, at what was read last, or as the reader left it there. */
  async uncover(): Promise<void> {
    if (this.follows && this.led !== this.look) this.lead();
    this.origin = document.activeElement as HTMLElement | null;
    this.open = true;
    await tick();
    document.getElementById("back-to-text")?.focus();
  }

  async cover(): Promise<void> {
    this.open = false;
    this.lab.playing = false;
    await tick();
    this.origin?.focus({ preventScroll: true });
  }

  /** The reader is about to do something in the lab. */
  touch(): void {
    if (this.touched) return;
    this.touched = true;
    this.before = essence(this.lab.page);
  }

  set_follows(follows: boolean): void {
    this.follows = follows;
    if (follows) this.lead();
  }

  /** To a section; its heading takes the focus, so that reading goes on there. */
  go_to(section: number): void {
    const all = document.querySelectorAll<HTMLElement>("[data-section]");
    const there = all[Math.max(0, Math.min(all.length - 1, section))];
    there?.scrollIntoView({ behavior: this.lab.still ? "auto" : "smooth", block: "start" });
    there?.querySelector<HTMLElement>("h1, h2")?.focus({ preventScroll: true });
  }

  /** A presenter's remote: on to the next section, or, where this one is longer than the window, to its next part. */
  turn(by: 1 | -1): void {
    const under = document.querySelector(".lesson nav")?.getBoundingClientRect().height ?? 0; // what lies over the text
    const tops = [...document.querySelectorAll("[data-section]")].map((each) => each.getBoundingClientRect().top - under);
    const ahead = tops.map((top) => by * top).filter((far) => far > 8);
    const far = Math.min(innerHeight * MOST, ...ahead);
    scrollBy({ top: by * far, behavior: this.lab.still ? "auto" : "smooth" });
  }
}
