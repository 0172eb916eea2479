// What a card asks of a worker: what pulls on a number, what it was at other steps, and how an update moved it.

import type { Start } from "../learn/train";
import { Update } from "../learn/update";
import { slots } from "../model/architecture";
import { place_of } from "../model/cells";
import { type Pull, at, pulls } from "../model/pulls";
import type { Cell } from "../model/trace";
import { type Side, passed, traced } from "./looking";

export interface Towards {
  side: Side;
  targets: Int32Array | null; // of the loss, −1 where nothing is asked; or
  logit: readonly [number, number] | null; // position and token of the one that is asked about
  cell: Cell;
}

export interface Pulled {
  loss: number | null;
  gradient: number | null; // null: what is asked about does not depend on this number by any slope
  pulls: Pull[];
}

/** The gradient of a number, and the later numbers it comes from. */
export function pulled({ side, targets, logit, cell }: Towards): Pulled {
  const { architecture, params } = side;
  const { model, changes } = passed(side);
  let loss: number | null = null;
  if (targets) loss = model.lossGradient(targets);
  else if (logit) model.logitGradient(...logit);
  model.backward();
  const after = model.gradients();
  if (cell.kind === "token" || (cell.kind === "point" && !(cell.name in after))) {
    return { loss, gradient: null, pulls: [] };
  }
  const places = slots(architecture);
  const gradients = changes.length ? model.gradients(0, true) : after;
  const unmasked = changes.some(({ edit }) => edit.point === "attention");
  const trace = model.trace();
  const found = pulls(cell, { architecture, slots: places, params, trace, gradients, targets, logit, unmasked });
  const slot = cell.kind === "parameter" ? places.find((each) => each.name === cell.name) : undefined;
  const gradient = slot ? model.gradient[place_of(slot, cell.index)] : at(after[cell.name], cell.index);
  return { loss, gradient, pulls: found };
}

export interface Life {
  sides: readonly Side[];
  cell: { kind: "point"; name: string; index: readonly number[] };
}

/** A number of a point at several steps. */
export function lived({ sides, cell }: Life): Float32Array {
  return Float32Array.from(sides, (side) => at(traced(side).points[cell.name], cell.index));
}

export interface Move {
  of: string; // the training, by a name that no other has
  start: Start;
  step: number; // to which the update led
  place: number; // of the weight
  kept: Float32Array; // the weights at that step
}

export interface Moved {
  agrees: boolean; // whether repeating the training led to the same weights
  rate: number;
  change: number;
  parts: Record<string, number>; // they sum to the change
  pulls: number[]; // what each example's gradient times the rate does; they sum to the first part; none with dropout
  windows: number[][]; // the examples
}

let taken: { of: string; update: Update } | null = null; // the last one, for the other weights

/** The update of one weight, taken apart: the training is repeated up to there. */
export function moved({ of, start, step, place, kept }: Move): Moved {
  const key = `${of} ${step}`;
  if (taken?.of !== key) taken = { of: key, update: new Update(start, step) };
  const { update } = taken;
  const { rate, windows } = update;
  return { agrees: update.agrees(kept), rate, windows, ...update.weight(place) };
}
