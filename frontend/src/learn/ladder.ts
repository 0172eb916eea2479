// Where a loss stands on the ladder of its task, as in summary.py. The first screen needs this, but none of what measures
// a loss.

import type { Rung } from "../data/source";

const SLACK = 0.02; // share of the ladder's height within which a rung counts as reached

/** The place in the ladder of the lowest rung that a loss has reached; -1: it is above all of them. */
export function rung(ladder: Rung[], loss: number, excess: number): number {
  const reachable = ladder.filter((each) => each.reachable);
  const last = reachable[reachable.length - 1];
  const near = SLACK * (reachable[0].nats - last.nats);
  const reached = reachable.filter((each) => loss <= each.nats + near || (each === last && excess <= near));
  return reached.length ? ladder.indexOf(reached[reached.length - 1]) : -1;
}

/** The next rung and the share of the way to it, for a loss well beyond the rung reached; as `place` in summary.py. */
export function onward(ladder: Rung[], at: number, loss: number, excess: number): { next: Rung; way: number } | null {
  const reachable = ladder.filter((each) => each.reachable);
  const last = reachable[reachable.length - 1];
  const next = reachable[reachable.indexOf(ladder[at]) + 1];
  if (at < 0 || !next || loss >= ladder[at].nats - SLACK * (reachable[0].nats - last.nats)) return null;
  const left = next === last && Number.isFinite(excess) ? excess : loss - next.nats;
  return { next, way: Math.min(1, Math.max(0, 1 - left / (ladder[at].nats - next.nats))) };
}
