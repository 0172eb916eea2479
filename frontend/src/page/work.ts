// Asking a worker. A lane has one worker and one kind of job; the newest request wins, older ones that wait are dropped.

import { type Answer, type Job, type Request, jobs } from "./jobs";

let address: string | null | undefined;
let second = ""; // the text of further.ts, once it is there
let whole: () => void;
const ready = new Promise<void>((done) => (whole = done));

/** The second script is there: workers that begin from now on can do every job. */
export function complete(text: string): void {
  second = text;
  address = undefined;
  whole();
}

/** A worker that runs this page's own script, in which no document makes it serve; null where none can start. */
export function begin(): Worker | null {
  try {
    if (address === undefined) {
      const script = document.querySelector("script[type=module]")?.textContent;
      address = script ? URL.createObjectURL(new Blob([script, "\n", second], { type: "text/javascript" })) : null;
    }
    return address ? new Worker(address) : null;
  } catch {
    return null;
  }
}

interface Waiting<J extends Job> {
  request: Request<J>;
  done: (answer: Answer<J> | null) => void;
  failed: (problem: Error) => void;
}

export class Lane<J extends Job> {
  private worker: Worker | null | undefined;
  private now: Waiting<J> | null = null;
  private next: Waiting<J> | null = null;

  constructor(readonly job: J) {}

  /** The answer, or null if a newer request has taken the place of this one. */
  ask(request: Request<J>): Promise<Answer<J> | null> {
    return new Promise((done, failed) => {
      this.next?.done(null);
      this.next = { request, done, failed };
      if (this.now) return;
      if (jobs[this.job]) this.go();
      else void ready.then(() => this.now ?? this.go());
    });
  }

  private go(): void {
    this.now = this.next;
    this.next = null;
    if (!this.now) return;
    if (this.worker === undefined) this.start();
    if (this.worker) this.worker.postMessage({ job: this.job, request: this.now.request });
    else this.here();
  }

  private start(): void {
    this.worker = begin();
    if (!this.worker) return;
    this.worker.onmessage = ({ data }: MessageEvent<{ answer?: Answer<J>; problem?: string }>) => {
      const { now } = this;
      if (data.problem !== undefined) now?.failed(new Error(data.problem));
      else now?.done(data.answer as Answer<J>);
      this.go();
    };
    this.worker.onerror = (event) => {
      event.preventDefault(); // a frame that allows no workers: the same on this thread
      this.worker = null;
      this.here();
    };
  }

  private here(): void {
    const { now } = this;
    if (!now) return;
    try {
      now.done((jobs[this.job] as unknown as (request: Request<J>) => Answer<J>)(now.request));
    } catch (problem) {
      now.failed(problem instanceof Error ? problem : new Error(String(problem)));
    }
    queueMicrotask(() => this.go());
  }
}
