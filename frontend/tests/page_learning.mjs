// Lets the page learn, read and judge what tests/test_page_learning.py writes down, and writes what it finds beside it.
//
//     node BUNDLED_FILE FOLDER

import { readFileSync, writeFileSync } from "node:fs";
import { folder as zipped } from "../src/data/folder.ts";
import { tensors } from "../src/data/safetensors.ts";
import { Trained } from "../src/data/trained.ts";
import { Batches } from "../src/learn/batches.ts";
import { Seen } from "../src/learn/facts.ts";
import { init } from "../src/learn/init.ts";
import { Judge } from "../src/learn/judge.ts";
import { Optimiser } from "../src/learn/optimiser.ts";
import { rate } from "../src/learn/schedule.ts";
import { sentence } from "../src/learn/sentence.ts";
import { Trainer } from "../src/learn/train.ts";
import { readings } from "../src/task/reading.ts";
import { truth } from "../src/task/truth.ts";

const folder = process.argv[2];

/** A training data block, as the report holds it. */
function loaded(name, order) {
  const found = tensors(new Uint8Array(readFileSync(`${folder}/${name}.safetensors`)));
  const part = (name, keys) => Object.fromEntries(keys.map((key) => [key, found.get(`${name}.${key}`).data]));
  const examples = (name) => {
    const [count, places] = found.get(`${name}.truth`).shape;
    const keys = ["windows", "constrained", "answerable", "allowed", "kind", "source", "truth"];
    return { count, places, few: found.get(`${name}.few`).data[0], ...part(name, keys) };
  };
  return {
    train: part("train", ["tokens", "starts", "windows"]),
    order,
    validation: examples("validation"),
    fit: examples("fit"),
    test: found.has("test.truth") ? examples("test") : null,
    files: Object.fromEntries([...found].filter(([each]) => each.startsWith("file.")).map(([each, { data }]) => [each.slice(5), data])),
  };
}

function said(work) {
  try {
    return work();
  } catch (problem) {
    return { refused: problem.message };
  }
}

/** Parameters after every step, and the rates, for gradients that are given. */
function optimised({ architecture, train, params, gradients }) {
  const optimiser = new Optimiser(train, architecture);
  const now = Float32Array.from(params);
  return gradients.map((gradient, t) => {
    optimiser.step(now, Float32Array.from(gradient), rate(train, t));
    return { rate: rate(train, t), params: [...now] };
  });
}

function judged({ task, architecture, sequences, train, context }) {
  const judge = truth(task, { ...architecture, context }, train && { train: Object.fromEntries(Object.entries(train).map(([k, v]) => [k, Int32Array.from(v)])) });
  return sequences.map((tokens) => ({
    constrained: [...judge.constrained(tokens)],
    allowed: [...judge.allowed(tokens)],
    answerable: [...judge.answerable(tokens)],
    source_position: [...judge.source_position(tokens)],
    true_distribution: Array.from(judge.true_distribution(tokens) ?? []),
    verify: judge.verify(tokens),
  }));
}

function read({ task, texts, ids }) {
  const reading = readings(task);
  return { ids: texts.map((text) => said(() => [...reading.encode(text)])), texts: ids.map((each) => reading.decode(each)) };
}

function looked({ name, info, params }) {
  const { architecture: a } = info.experiment;
  const data = loaded(name, info.order);
  const judge = new Judge(a, info.task, data);
  const seen = new Seen(a, info.task, info.ladder, data.validation);
  return params.map(({ step, values }) => {
    const numbers = Float32Array.from(values);
    const facts = seen.at(step, numbers);
    return { line: judge.line(numbers, true), facts, sentence: sentence(facts, info.task, info.ladder) };
  });
}

/** A training of so many steps, its first batches, and its run as a zip. */
function trained({ name, info, train, zip, created, parent }) {
  const { architecture } = info.experiment;
  const data = loaded(name, info.order);
  const run = new Trained();
  const trainer = new Trainer({ architecture, train, task: info.task, ladder: info.ladder, data, ...from(parent) });
  const tell = () => run.add({ status: trainer.status, step: trainer.step, rates: trainer.rates, news: trainer.take() });
  tell();
  const end = parent?.until ?? Infinity;
  while (trainer.status === "running" && trainer.step < end) {
    trainer.run(Math.min(97, end - trainer.step));
    tell();
  }
  trainer.stop();
  tell();
  const drawn = new Batches(data.train, data.order, architecture, info.task.skip, train.seed, train.batch);
  const batches = [0, 1, 2, 3].map((step) => {
    drawn.draw((parent?.step ?? 0) + step);
    return { tokens: [...drawn.tokens], targets: [...drawn.targets] };
  });
  writeFileSync(`${folder}/${zip}`, zipped(run, { name: zip.replace(".zip", ""), info, train, data, created, seconds: 1, parent: parent?.named }));
  return { batches, first: run.params.slice(0, 5).map((each) => [...each]), steps: run.steps, lines: run.lines, facts: run.facts };
}

const from = (parent) => (parent ? { params: Float32Array.from(parent.params), step: parent.step } : {});

const given = JSON.parse(readFileSync(`${folder}/cases.json`, "utf8"));
const found = {
  optimised: given.optimised.map(optimised),
  judged: given.judged.map(judged),
  read: given.read.map(read),
  looked: given.looked.map(looked),
  trained: given.trained.map(trained),
  fresh: given.fresh.map(({ architecture, seed }) => [...init(architecture, seed)]),
};
writeFileSync(`${folder}/found.json`, JSON.stringify(found));
