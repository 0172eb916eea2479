// One worker that trains, or the page itself in short slices where no worker can start.

import type { Order, Report } from "../learn/protocol";
import { jobs } from "./jobs";
import { begin } from "./work";

const SLICE = 4; // milliseconds of steps on the thread that draws; the clock is looked at every four, so eight at most

export class Tutor {
  private worker: Worker | null | undefined;
  private here: ((order: Order) => void) | null = null; // without a worker
  private heard = false; // whether the worker has answered at all
  private past: Order[] = []; // until then, in case that it turns out not to start

  constructor(private readonly told: (report: Report) => void) {}

  /** Have a worker ready, so that the first order is obeyed at once. */
  warm(): void {
    if (this.worker !== undefined) return;
    this.worker = begin();
    if (!this.worker) return;
    this.worker.onmessage = ({ data }: MessageEvent<Report>) => {
      this.heard = true;
      this.past = [];
      this.told(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault(); // a frame that allows no workers: the same on this thread
      this.worker = null;
      for (const order of this.past.splice(0)) this.send(order);
    };
  }

  send(order: Order): void {
    this.warm();
    if (!this.heard) this.past.push(order);
    if (this.worker) return this.worker.postMessage({ order });
    this.here ??= jobs.serve!({
      post: (report) => this.told(report),
      later: (work, milliseconds) => setTimeout(work, milliseconds),
      now: () => performance.now(),
      slice: SLICE,
    });
    this.here(order);
  }

  close(): void {
    this.worker?.terminate();
    this.worker = undefined;
    if (this.here) this.here({ kind: "pause" });
    this.here = null;
    this.heard = false;
    this.past = [];
  }
}
