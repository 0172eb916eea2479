// Runs the page's model over the cases that tests/test_page_model.py writes, and writes what it finds beside them.
//
//     node BUNDLED_FILE FOLDER

import { readFileSync, writeFileSync } from "node:fs";
import { counted } from "../src/model/counted.ts";
import { read, written } from "../src/model/edits.ts";
import { Model } from "../src/model/model.ts";
import { again, operands, written_operand } from "../src/model/operands.ts";
import { pulls } from "../src/model/pulls.ts";

function tried(one) {
  const { architecture: a, batch, length } = one;
  const [params, tokens] = [Float32Array.from(one.params), Int32Array.from(one.tokens)];
  const edits = read(one.edits);
  const changes = edits.map((edit) => {
    if (edit.verb !== "patch") return { edit };
    const source = new Model(a, 1, length);
    source.forward(Float32Array.from(one.there.params), Int32Array.from(one.there.tokens));
    return { edit, there: source.trace() };
  });
  const given = changes.length ? [changes] : [];
  const model = new Model(a, batch, length);
  model.forward(params, tokens, ...given);
  const examples = Array.from({ length: batch }, (_, k) => k);
  const traces = examples.map((k) => plain(model.trace(k).points));
  const found = { slots: model.slots, written: written(edits), traces };
  const targets = counted(Int32Array.from(one.windows), a, length, one.skip);
  if (one.asked === "loss") found.loss = model.lossGradient(targets);
  else model.logitGradient(...one.asked);
  model.backward();
  found.gradient = [...model.gradient];
  found.gradients = examples.map((k) => plain(model.gradients(k)));

  if (one.asked === "loss" && !changes.length) {
    for (const { values, gradient } of model.points) for (const old of [values, gradient]) old.fill(NaN);
    model.answers(params, tokens);
    found.training = { loss: model.lossGradient(targets) };
    model.backward();
    found.training.gradient = [...model.gradient];
  }

  // The first input alone: what its numbers are made of, and what pulls on them.
  const single = new Model(a, 1, length);
  single.forward(params, tokens.subarray(0, length), ...given);
  const alone = one.asked === "loss" ? targets.subarray(0, length) : null;
  if (alone) single.lossGradient(alone);
  else single.logitGradient(one.asked[0], one.asked[1]);
  single.backward();
  const trace = single.trace();
  const unmasked = edits.some((edit) => edit.point === "attention");
  const logit = alone ? null : one.asked.slice(0, 2);
  const gradients = single.gradients(0, true);
  const passed = { architecture: a, slots: single.slots, params, trace, gradients, targets: alone, logit, unmasked };
  const at_points = single.gradients();
  const pulled = (cell) => pulls(cell, passed).reduce((sum, pull) => sum + pull.contribution, 0);
  found.cells = one.cells.map(([name, index]) => {
    const step = operands(a, params, trace, name, index);
    const gradient = at_points[name] ? number(at_points[name], index) : null;
    const back = gradient === null ? null : [gradient, pulled({ kind: "point", name, index })];
    const terms = step.terms.map(({ role, factors, contribution }) => [role, factors.map(named), contribution]);
    return { ...step, terms, again: again(step).value, value: number(trace.points[name], index), back };
  });
  found.parameters = one.parameters.map(([name, index]) => {
    const slot = single.slots.find((each) => each.name === name);
    const place = index.reduce((sum, k, axis) => sum * slot.shape[axis] + k, 0);
    return [single.gradient[slot.begin + place], pulled({ kind: "parameter", name, index })];
  });
  return found;
}

const named = (operand) => [operand.kind, written_operand(operand), operand.number];
const number = ({ data, shape }, index) => data[index.reduce((place, k, axis) => place * shape[axis] + k, 0)];
const plain = (points) =>
  Object.fromEntries(Object.entries(points).map(([name, { data, ...rest }]) => [name, { data: [...data], ...rest }]));
const said = (text) => {
  try {
    return { edits: read(text), written: written(read(text)) };
  } catch (problem) {
    return { refused: problem.message };
  }
};

const folder = process.argv[2];
const { cases, texts } = JSON.parse(readFileSync(`${folder}/cases.json`, "utf8"));
writeFileSync(`${folder}/found.json`, JSON.stringify({ cases: cases.map(tried), texts: texts.map(said) }));
