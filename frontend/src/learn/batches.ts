// The batch at step t is a function of (seed, t), as in batches.py: nothing is remembered that could not be drawn again.

import type { Split } from "../data/source";
import type { Architecture } from "../model/architecture";
import { counted } from "../model/counted";
import { BATCHES, Random } from "./random";

export class Batches {
  readonly tokens: Int32Array; // (batch, context): what the model sees
  readonly targets: Int32Array<ArrayBuffer>; // (batch, context): what should be answered there; -1 where nothing is asked
  private readonly windows: Int32Array; // (batch, context + 1)
  private readonly random = new Random();
  private readonly order: Int32Array; // the pieces of one pass, shuffled
  private shuffled = -1; // which pass that is

  constructor(
    private readonly part: Split,
    private readonly how: "random" | "passes",
    private readonly architecture: Architecture,
    private readonly skip: number,
    readonly seed: number,
    readonly batch: number,
  ) {
    const { context } = architecture;
    this.tokens = new Int32Array(batch * context);
    this.targets = new Int32Array(batch * context);
    this.windows = new Int32Array(batch * (context + 1));
    this.order = new Int32Array(how === "passes" ? part.starts.length : 0);
  }

  /** Fill `tokens` and `targets` with the batch of a step, the first being 0. */
  draw(step: number): void {
    const { part, batch, random } = this;
    const pieces = part.starts.length;
    if (this.how === "random") {
      random.set(this.seed, BATCHES, step);
      for (let row = 0; row < batch; row++) {
        const piece = random.below(pieces);
        this.lay(row, part.starts[piece] + random.below(part.windows[piece]));
      }
    } else {
      for (let row = 0, count = step * batch; row < batch; row++, count++) {
        const pass = Math.floor(count / pieces);
        if (pass !== this.shuffled) this.shuffle(pass);
        this.lay(row, part.starts[this.order[count - pass * pieces]]);
      }
    }
    counted(this.windows, this.architecture, this.architecture.context, this.skip, this.targets);
  }

  private lay(row: number, begin: number): void {
    const { tokens, windows } = this;
    const { context } = this.architecture;
    const text = this.part.tokens;
    for (let k = 0; k < context; k++) tokens[row * context + k] = text[begin + k];
    for (let k = 0; k <= context; k++) windows[row * (context + 1) + k] = text[begin + k];
  }

  private shuffle(pass: number): void {
    const { order, random } = this;
    random.set(this.seed, BATCHES, pass);
    for (let k = 0; k < order.length; k++) order[k] = k;
    for (let k = order.length - 1; k > 0; k--) {
      const other = random.below(k + 1);
      const held = order[k];
      order[k] = order[other];
      order[other] = held;
    }
    this.shuffled = pass;
  }
}
