// What a worker can be asked to do: a name and a function from plain values to plain values. The same functions run on
// the thread that draws where no worker can start.

import { lived, moved, pulled } from "./causes";
import { judge } from "./judging";
import { know } from "./knowing";
import { look } from "./looking";
import { replaced } from "./replaced";
import { slopes } from "./slopes";
import { tell } from "./telling";
import { uncertain } from "./uncertain";

export const jobs = { look, tell, judge, know, pulled, lived, moved, replaced, slopes, uncertain };

export type Jobs = typeof jobs;
export type Job = keyof Jobs;
export type Request<J extends Job> = Parameters<Jobs[J]>[0];
export type Answer<J extends Job> = ReturnType<Jobs[J]>;
