// Trains an experiment in the page's way, one seed after the other, and writes each run as a zip; for page_learning.py.
//
//     node BUNDLED_FILE FOLDER SEED...

import { readFileSync, writeFileSync } from "node:fs";
import { folder as zipped } from "../frontend/src/data/folder.ts";
import { tensors } from "../frontend/src/data/safetensors.ts";
import { Trained } from "../frontend/src/data/trained.ts";
import { Trainer } from "../frontend/src/learn/train.ts";

const [folder, ...seeds] = process.argv.slice(2);
const info = JSON.parse(readFileSync(`${folder}/info.json`, "utf8"));
const found = tensors(new Uint8Array(readFileSync(`${folder}/data.safetensors`)));
const part = (name, keys) => Object.fromEntries(keys.map((key) => [key, found.get(`${name}.${key}`).data]));
const examples = (name) => {
  const [count, places] = found.get(`${name}.truth`).shape;
  const keys = ["windows", "constrained", "answerable", "allowed", "kind", "source", "truth"];
  return { count, places, few: found.get(`${name}.few`).data[0], ...part(name, keys) };
};
const data = {
  train: part("train", ["tokens", "starts", "windows"]),
  order: info.order,
  validation: examples("validation"),
  fit: examples("fit"),
  test: found.has("test.truth") ? examples("test") : null,
  files: {},
};

for (const seed of seeds.map(Number)) {
  const train = { ...info.experiment.train, seed };
  const begun = [performance.now(), process.cpuUsage()];
  const { architecture } = info.experiment;
  const trainer = new Trainer({ architecture, train, task: info.task, ladder: info.ladder, data });
  trainer.run(Infinity);
  const { user, system } = process.cpuUsage(begun[1]);
  const run = new Trained();
  run.add({ status: trainer.status, step: trainer.step, rates: trainer.rates, news: trainer.take() });
  const seconds = (performance.now() - begun[0]) / 1000;
  const saved = { name: `page-${seed}`, info, train, data, created: "2026-01-01T00:00:00.000+00:00", seconds };
  writeFileSync(`${folder}/page-${seed}.zip`, zipped(run, saved));
  console.log(JSON.stringify({ seed, steps: trainer.step, seconds, cpu_seconds: (user + system) / 1e6 }));
}
