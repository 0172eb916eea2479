// The state of the lab: which model, which step, which input, which changes; and the views that follow from them.

import { untrack } from "svelte";
import { OpenRun, open } from "../data/open.svelte";
import type { DataSource, RunCard } from "../data/source";
import type { EmbeddedSource } from "../data/embedded";
import type { Cell } from "../model/trace";
import type { View } from "../panels/panel";
import { readings } from "../task/reading";
import { type Judge, truth } from "../task/truth";
import { words } from "../words/words.svelte";
import { position_of } from "./chosen";
import { Changing, written_edits } from "./changing.svelte";
import { type Theme, properties } from "./colours";
import { Comparing } from "./comparing.svelte";
import { Explaining } from "./explaining.svelte";
import { Lane } from "./work";
import { Predicting } from "./predicting.svelte";
import { fromHash, settle, settle_rows } from "./link";
import { type Page, start, toHash } from "./page";
import { type Spacing, spacing } from "./scale";
import type { Teaching } from "./teaching.svelte";
import { Training } from "./training.svelte";

export const LIFE = 12; // seconds in which the whole life plays at speed 1
const REST = 200; // milliseconds without a change after which the link is written
export const SPEEDS = [0.25, 0.5, 1, 2, 4];

export class Lab {
  page: Page = $state({ ...start });
  notes: string[] = $state([]); // sentences for the reader, each until it is closed
  cards: RunCard[] = $state.raw([]);
  here: OpenRun[] = $state.raw([]); // trained in this page
  run: OpenRun | null = $state.raw(null);
  view: View | null = $state.raw(null);
  playing = $state(false);
  speed = $state(1);
  problem = $state(""); // what is wrong with the input
  failed = $state(""); // why nothing can be shown
  further: typeof import("../further") | null = $state.raw(null); // what the first screen does not need, once it is there
  teaching: Teaching | null = $state.raw(null); // the lesson beside the lab, once it is there
  help = $state(false); // whether the help is open
  prefers: Theme = $state("light");
  still = $state(false); // whether the reader asked for less motion

  private arrival: Promise<void>; // of `further`
  private fresh = false; // whether a link waits to be checked against its run
  private opened_with = ""; // the link, for those who want to go back to it
  private writing = 0; // the timer of the link
  private unknown: Record<string, string> = {};
  private opened = new Map<string, Promise<OpenRun>>();
  private looks = new Lane("look");
  private last = 0; // when the clock last moved, while it plays
  private exact = 0; // the place between kept steps at which it is

  theme: Theme = $derived((this.page.theme as Theme | "") || this.prefers);
  hidden: Set<string> = $derived(new Set(this.page.hide.split(",").filter(Boolean)));
  index: number = $derived(this.run ? this.run.nearest(this.page.step) : 0);
  step: number = $derived(this.run ? this.run.steps[this.index] : 0);
  judge: Judge | null = $derived(this.run ? truth(this.run.info.task, this.run.architecture, this.run.data) : null);
  input: string = $derived(this.page.input || (this.run?.info.task.showcase[0] ?? ""));
  position: number = $derived(this.view ? position_of(this.page.position, this.view) : 0);
  block: number = $derived(this.run ? Math.min(this.page.block, this.run.architecture.blocks - 1) : 0);
  head: number = $derived(this.run ? Math.min(this.page.head, this.run.architecture.heads - 1) : 0);
  member: number = $derived(this.run ? Math.min(this.page.member, this.run.info.members - 1) : 0);
  spacing: Spacing = $derived.by(() => {
    if (!this.run) return { place: () => 0, step: () => 0 };
    const { step, loss } = this.run.curve(this.member);
    return spacing(step, loss, Math.max(this.run.last, this.run.info.experiment.train.steps), this.run.status === "running");
  });

  readonly predicting = new Predicting(this);
  readonly changing = new Changing(this);
  readonly comparing = new Comparing(this);
  readonly explaining = new Explaining(this);
  readonly training = new Training(this);

  constructor(readonly source: DataSource) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const contrast = matchMedia("(prefers-contrast: more)");
    const motion = matchMedia("(prefers-reduced-motion: reduce)");
    const prefer = () => {
      this.prefers = contrast.matches ? "contrast" : dark.matches ? "dark" : "light";
      this.still = motion.matches;
    };
    for (const each of [dark, contrast, motion]) each.addEventListener("change", prefer);
    prefer();
    $effect.root(() => this.follow());
    this.arrival = this.begin().then(async () => {
      this.further = await import("../further");
      if (this.taught) this.teaching = new this.further.Teaching(this, await (source as EmbeddedSource).lesson());
    });
  }

  /** Whether a lesson stands beside the lab. */
  get taught(): boolean {
    return (this.source as EmbeddedSource).taught === true;
  }

  /** Where the page begins: the link in the address, else the one the file carries. */
  private async begin(): Promise<void> {
    try {
      const index = await (this.source as EmbeddedSource).index();
      this.cards = index.runs;
      this.go(location.hash.length > 1 ? location.hash : index.link);
      addEventListener("hashchange", ({ newURL }) => {
        const { hash } = new URL(newURL); // by now the address may have been written over
        if (hash !== toHash(this.page, this.unknown)) this.go(hash);
      });
      addEventListener("message", ({ source, data }: MessageEvent) => {
        if (parent === window || source !== parent || data?.glassformer !== "link") return; // a notebook's widget leads
        if (typeof data.link === "string" && data.link !== this.link) this.go(data.link);
      });
    } catch (problem) {
      this.failed = sentence(problem);
    }
  }

  /** Show what a link says. */
  go(hash: string): void {
    const read = fromHash(hash);
    this.unknown = read.unknown;
    this.notes = [...new Set(read.notes)];
    this.opened_with = hash;
    Object.assign(this.page, read.page);
    this.fresh = true;
    void this.choose(this.page.run);
  }

  /** Check what the page shows against the run that is about to be shown; of a link, say what is not known. */
  private settle(run: OpenRun): void {
    const runs = [...this.cards, ...this.here.map((each) => each.info)];
    const known = { run, runs, panels: this.further?.panels ?? [], tokens: (text: string) => this.tokens(text, run) };
    const notes = settle(this.page, known);
    if (this.fresh) this.notes = [...new Set([...this.notes, ...notes, ...settle_rows(this.page, known)])];
    this.fresh = false;
  }

  private write(link: string): void {
    try {
      if (location.hash !== link && !(link === "#v1" && location.hash === "")) history.replaceState(null, "", link);
    } catch {
      // in a sandboxed frame the address cannot be changed; the state stays in memory
    }
    if (parent !== window) parent.postMessage({ glassformer: "link", link }, "*");
  }

  /** Back to what the link showed when it was opened. */
  reset(): void {
    this.playing = false;
    this.go(this.opened_with);
  }

  /** The address of exactly this, on the clipboard; where there is none, among the notes. */
  async copy_link(): Promise<boolean> {
    const address = location.href.replace(/#.*/, "") + this.link;
    try {
      await navigator.clipboard.writeText(address);
    } catch {
      this.notes = [address, ...this.notes];
    }
    return true;
  }

  get link(): string {
    return toHash(this.page, this.unknown);
  }

  private follow(): void {
    $effect(() => {
      words.lang = this.page.lang || (navigator.language.startsWith("de") ? "de" : "en");
      document.documentElement.lang = words.lang;
    });
    $effect(() => {
      const root = document.documentElement;
      root.dataset.theme = this.theme;
      root.dataset.view = this.page.view;
      for (const [name, value] of Object.entries(properties(this.theme))) root.style.setProperty(name, value);
    });
    $effect(() => {
      const link = this.link;
      void this.notes; // what is not known leaves the address even if nothing else changes
      if (!this.cards.length) return; // the link it was opened with is not read yet
      clearTimeout(this.writing); // once the page has come to rest: browsers refuse an address that changes all the time
      this.writing = window.setTimeout(() => this.write(link), REST);
    });
    $effect(() => {
      const cards = this.cards;
      const wanted = this.page.run;
      if (cards.length) untrack(() => void this.choose(wanted));
    });
    $effect(() => this.look());
    this.training.follow();
    $effect(() => {
      if (this.playing) untrack(() => this.play());
    });
  }

  private async choose(wanted: string): Promise<void> {
    const trained = this.here.find((run) => run.info.id === wanted);
    if (!trained && this.training.elsewhere(wanted)) return;
    const { id } = trained?.info ?? this.cards.find((each) => each.id === wanted) ?? this.cards[0];
    try {
      const run = trained ?? (this.run?.info.id === id ? this.run : await this.opening(id));
      if ((this.page.panel || this.page.panels) && !this.further) await this.arrival; // panels know what they can draw
      if (wanted !== this.page.run) return; // something newer is wanted
      if (this.fresh || JSON.stringify(run.architecture) !== JSON.stringify(this.run?.architecture)) this.settle(run);
      this.run = run;
    } catch (problem) {
      this.failed = sentence(problem);
    }
  }

  /** A run by its name, opened once. */
  opening(id: string): Promise<OpenRun> {
    const trained = this.here.find((run) => run.info.id === id);
    if (trained) return Promise.resolve(trained);
    let found = this.opened.get(id);
    if (!found) this.opened.set(id, (found = open(this.source, id)));
    return found;
  }

  /** The tokens of a text as a run reads it, or a sentence. */
  tokens(text: string, run = this.run): { tokens: Int32Array } | { problem: string } {
    if (!run) return { problem: "" };
    try {
      const tokens = readings(run.info.task).encode(text);
      const most = run.architecture.context;
      if (tokens.length === 0) return { problem: "the input is empty; type at least one token" };
      if (tokens.length > most) return { problem: `the input has ${tokens.length} tokens; this model sees ${most} at once` };
      return { tokens };
    } catch (problem) {
      return { problem: sentence(problem) };
    }
  }

  private look(): void {
    const run = this.run;
    if (!run) return;
    const { step, member, input } = this;
    const temperature = this.page.temperature;
    const found = this.tokens(input);
    if ("problem" in found) {
      this.problem = found.problem;
      if (untrack(() => this.view?.run === run)) return; // what was seen last stays
    } else {
      this.problem = "";
    }
    const tokens = "tokens" in found ? found.tokens : readings(run.info.task).encode(run.info.task.showcase[0]);
    const asked = this.changing.look({ run, step, member, tokens }, this.comparing.a_edited);
    const { params, untouched: params_before } = asked;
    const shown = { run, member, step, params, params_before, edits: written_edits(asked), temperature, which: "a" as const };
    const alone = !this.comparing.on; // beside B there is no third one in grey
    this.looks.ask(asked).then(
      (answer) => {
        if (answer) this.view = { ...shown, trace: answer.trace, before: alone ? answer.before : null };
      },
      (problem) => (this.failed = sentence(problem)),
    );
  }

  /** The parameters of the clock's step, with those that are set by hand. */
  params_in_force(): Float32Array | null {
    return this.changing.params();
  }

  /** Move to a place among the kept steps. */
  to(index: number): void {
    if (!this.run) return;
    const k = Math.max(0, Math.min(this.run.steps.length - 1, Math.round(index)));
    this.exact = k;
    this.page.step = k === this.run.steps.length - 1 ? -1 : this.run.steps[k];
  }

  /** Choose the position that is looked at. */
  select(position: number): void {
    this.page.position = position;
  }

  /** The token at a position of the input. */
  name(position: number): string {
    const view = this.view;
    return view ? view.run.info.task.words[view.trace.tokens[position]] : "";
  }

  /** Open the card of a number. */
  explain(cell: Cell, view: View): void {
    this.explaining.start(cell, view.which);
  }

  toggle(): void {
    if (!this.run) return;
    if (!this.playing && this.index === this.run.steps.length - 1) this.to(0);
    this.playing = !this.playing;
  }

  private play(): void {
    this.last = performance.now();
    this.exact = this.spacing.place(this.step);
    const move = (now: number): void => {
      const run = this.run;
      if (!this.playing || !run) return;
      this.exact += ((now - this.last) / 1000 / LIFE) * this.speed;
      this.last = now;
      const k = run.nearest(this.spacing.step(Math.min(this.exact, 1)));
      this.page.step = k === run.steps.length - 1 ? -1 : run.steps[k];
      if (this.exact >= 1) this.playing = false;
      else requestAnimationFrame(move);
    };
    requestAnimationFrame(move);
  }
}

export function sentence(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
