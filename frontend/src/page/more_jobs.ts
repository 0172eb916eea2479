// The jobs of a worker that the first screen does not ask for.

import { serve } from "../learn/protocol";
import { lived, moved, pulled } from "./causes";
import { judge } from "./judging";
import { know } from "./knowing";
import { replaced } from "./replaced";
import { slopes } from "./slopes";
import { tell } from "./telling";
import { uncertain } from "./uncertain";

export const more = { tell, judge, know, pulled, lived, moved, replaced, slopes, uncertain, serve };
