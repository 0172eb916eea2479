// The worker of the page: looks through models, and trains them, away from the thread that draws.

import { type Look, look } from "./looking";

onmessage = ({ data }: MessageEvent<{ look: Look }>) => {
  try {
    postMessage({ answer: look(data.look) });
  } catch (problem) {
    postMessage({ problem: problem instanceof Error ? problem.message : String(problem) });
  }
};
