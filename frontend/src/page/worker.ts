// The page inside a worker: it does the jobs it is asked for, or trains, away from the thread that draws.

import type { Order } from "../learn/protocol";
import { type Job, jobs } from "./jobs";

interface Asked {
  job: Job;
  request: never;
}

export function serve(): void {
  let obey: ((order: Order) => void) | null = null;
  onmessage = ({ data }: MessageEvent<Asked | { order: Order }>) => {
    if ("order" in data) {
      obey ??= training();
      obey(data.order);
      return;
    }
    try {
      const work = jobs[data.job] as (request: never) => unknown;
      postMessage({ answer: work(data.request) });
    } catch (problem) {
      postMessage({ problem: problem instanceof Error ? problem.message : String(problem) });
    }
  };
}

/** The loop of a training; between two slices it goes through a channel, which is quicker than the shortest timer. */
function training(): (order: Order) => void {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  return jobs.serve!({
    post: (report, transfer) => (postMessage as (message: unknown, transfer: ArrayBuffer[]) => void)(report, transfer),
    later(work, milliseconds) {
      if (milliseconds > 0) setTimeout(work, milliseconds);
      else {
        waiting.push(work);
        port2.postMessage(0);
      }
    },
    now: () => performance.now(),
  });
}
