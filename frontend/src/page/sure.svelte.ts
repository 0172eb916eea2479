// How sure a model was at every step of its life on one input: worked out in a worker, from coarse to fine.

import { coarse_to_fine, thinned } from "./along.svelte";
import type { Side } from "./looking";
import { Lane } from "./work";

const MOST = 200; // steps
const PATIENCE = 60; // milliseconds that one request may take

export interface Course {
  steps: readonly number[];
  side(step: number): Side;
  targets: Int32Array | null;
  temperature: number;
}

export class Sure {
  steps: number[] = $state.raw([]); // those that are done, ascending
  values: number[][] = $state.raw([]); // of each: entropy of the answers, loss, entropy of each head's attention
  private turn = 0;
  private lane = new Lane("uncertain");

  stop(): void {
    this.turn++;
  }

  async begin({ steps, side, targets, temperature }: Course): Promise<void> {
    const turn = ++this.turn;
    const order = coarse_to_fine(thinned(steps, MOST));
    const found = new Map<number, number[]>();
    for (let k = 0, many = 2; k < order.length; ) {
      const some = order.slice(k, k + many);
      const began = performance.now();
      const answer = await this.lane.ask({ sides: some.map(side), targets, temperature });
      if (turn !== this.turn || !answer) return;
      some.forEach((step, place) => found.set(step, answer[place]));
      k += some.length;
      const done = [...found.keys()].sort((one, other) => one - other);
      [this.steps, this.values] = [done, done.map((step) => found.get(step)!)];
      if (performance.now() - began < PATIENCE / 2) many *= 2;
    }
  }
}
