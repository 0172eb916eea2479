// What a worker can be asked to do: a name and a function from plain values to plain values. The same functions run on
// the thread that draws where no worker can start.

import { look } from "./looking";
import type { more } from "./more_jobs";

type More = typeof more;
export type Jobs = { look: typeof look } & Omit<More, "serve">;
export type Job = keyof Jobs;
export type Request<J extends Job> = Parameters<Jobs[J]>[0];
export type Answer<J extends Job> = ReturnType<Jobs[J]>;

export const jobs: { look: typeof look } & Partial<More> = { look };

/** The others, once they are there. */
export function add(further: More): void {
  Object.assign(jobs, further);
}
