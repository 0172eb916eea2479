// The batch at step t is a function of (seed, t), as in batches.py: nothing is remembered that could not be drawn again.

import type { Split } from "../data/source";
import { BATCHES, Random } from "./random";

export class Batches {
  readonly tokens: Int32Array; // (batch, context): what the model sees
  readonly targets: Int32Array; // (batch, place): what came
  private readonly random = new Random();
  private readonly order: Int32Array; // the pieces of one pass, shuffled
  private shuffled = -1; // which pass that is

  /** Windows of `context` tokens and those after them; with one answer (`places` = 1) the last one is the target. */
  constructor(
    private readonly part: Split,
    private readonly how: "random" | "passes",
    readonly seed: number,
    readonly batch: number,
    readonly context: number,
    readonly places: number,
  ) {
    this.tokens = new Int32Array(batch * context);
    this.targets = new Int32Array(batch * places);
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
      return;
    }
    for (let row = 0, count = step * batch; row < batch; row++, count++) {
      const pass = Math.floor(count / pieces);
      if (pass !== this.shuffled) this.shuffle(pass);
      this.lay(row, part.starts[this.order[count - pass * pieces]]);
    }
  }

  private lay(row: number, begin: number): void {
    const { tokens, targets, context, places } = this;
    const text = this.part.tokens;
    for (let k = 0; k < context; k++) tokens[row * context + k] = text[begin + k];
    const after = begin + context + 1 - places; // the last `places` tokens of the window
    for (let k = 0; k < places; k++) targets[row * places + k] = text[after + k];
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
