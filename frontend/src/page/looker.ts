// Looking through a model in a worker: the newest request wins, and older ones that still wait are dropped.

import type { Answer, Look } from "./looking";
import { look } from "./looking";
import Work from "./worker?worker&inline";

export class Looker {
  private worker: Worker | null = null;
  private busy = false;
  private waiting: { look: Look; done: (answer: Answer | null) => void } | null = null;
  private done: ((answer: Answer | null) => void) | null = null;
  private failed: ((problem: Error) => void) | null = null;

  constructor() {
    try {
      this.worker = new Work();
      this.worker.onmessage = ({ data }: MessageEvent<{ answer?: Answer; problem?: string }>) => {
        this.busy = false;
        if (data.problem !== undefined) this.failed?.(new Error(data.problem));
        else this.done?.(data.answer ?? null);
        const next = this.waiting;
        this.waiting = null;
        if (next) this.send(next.look, next.done);
      };
      this.worker.onerror = () => (this.worker = null); // no worker can start here: look on this thread
    } catch {
      this.worker = null;
    }
  }

  /** The trace, or null if a newer request has taken its place. */
  look(request: Look): Promise<Answer | null> {
    if (!this.worker) return Promise.resolve(look(request));
    return new Promise((done, failed) => {
      this.failed = failed;
      if (this.busy) {
        this.waiting?.done(null);
        this.waiting = { look: request, done };
      } else this.send(request, done);
    });
  }

  private send(request: Look, done: (answer: Answer | null) => void): void {
    this.busy = true;
    this.done = done;
    this.worker?.postMessage({ look: request });
  }
}
