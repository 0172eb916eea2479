// The page inside a worker: it does the jobs it is asked for, away from the thread that draws.

import { type Job, jobs } from "./jobs";

interface Asked {
  job: Job;
  request: never;
}

export function serve(): void {
  onmessage = ({ data }: MessageEvent<Asked>) => {
    try {
      postMessage({ answer: jobs[data.job](data.request) });
    } catch (problem) {
      postMessage({ problem: problem instanceof Error ? problem.message : String(problem) });
    }
  };
}
