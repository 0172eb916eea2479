// What is true of a model at a step for which training has logged no line.

import type { Examples, Facts, Rung, TaskInfo } from "../data/source";
import { Seen } from "../learn/facts";
import type { Architecture } from "../model/architecture";

export interface Know {
  architecture: Architecture;
  task: TaskInfo;
  ladder: Rung[];
  validation: Examples;
  params: Float32Array;
  step: number;
}

export function know({ architecture, task, ladder, validation, params, step }: Know): Facts {
  return new Seen(architecture, task, ladder, validation).at(step, params);
}
