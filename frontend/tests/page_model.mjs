// Runs the page's model over the cases that tests/test_page_model.py writes, and writes what it finds beside them.
//
//     rolldown page_model.mjs -> one file; node FILE FOLDER

import { readFileSync, writeFileSync } from "node:fs";
import { counted } from "../src/model/counted.ts";
import { read } from "../src/model/edits.ts";
import { Model } from "../src/model/model.ts";

const plain = (points) =>
  Object.fromEntries(Object.entries(points).map(([name, { data, shape, axes }]) => [name, { data: [...data], shape, axes }]));

function looked(one) {
  const { architecture: a, batch, length } = one;
  const [params, tokens] = [Float32Array.from(one.params), Int32Array.from(one.tokens)];
  const model = new Model(a, batch, length);
  const changes = read(one.edits ?? "").map((edit) => {
    if (edit.verb !== "patch") return { edit };
    const source = new Model(a, 1, length);
    source.forward(Float32Array.from(one.there.params), Int32Array.from(one.there.tokens));
    return { edit, there: source.trace() };
  });
  model.forward(params, tokens, ...(changes.length ? [changes] : []));
  const examples = Array.from({ length: batch }, (_, k) => k);
  const found = { slots: model.slots, traces: examples.map((k) => plain(model.trace(k).points)) };
  const targets = counted(Int32Array.from(one.windows), a, length, one.skip);
  found.loss = model.lossGradient(targets);
  model.backward();
  found.gradient = [...model.gradient];
  found.gradients = examples.map((k) => plain(model.gradients(k)));
  model.logitGradient(...one.logit);
  model.backward();
  found.of_logit = { gradient: [...model.gradient], gradients: examples.map((k) => plain(model.gradients(k))) };
  if (!changes.length) {
    model.answers(params, tokens);
    found.training = { loss: model.lossGradient(targets) };
    model.backward();
    found.training.gradient = [...model.gradient];
  }
  return found;
}

const folder = process.argv[2];
const cases = JSON.parse(readFileSync(`${folder}/cases.json`, "utf8"));
writeFileSync(`${folder}/found.json`, JSON.stringify(cases.map(looked)));
