// A run trained in this page as a run folder in a zip, which `glassformer` opens, checks and draws like any other;
// docs/run-format.md says what the files are.

import { type Architecture, type Slot, parameters, slots } from "../model/architecture";
import { sha256 } from "./sha256";
import type { Examples, RunInfo, TaskData, TrainSettings } from "./source";
import type { Trained } from "./trained";
import { zip } from "./zip";

const SCHEMA = 1;
const FILE_BYTES = 4_000_000; // of one weights file

/** What is saved beside the numbers. */
export interface Saved {
  name: string; // of the folder
  info: RunInfo; // of the run whose experiment was trained
  train: TrainSettings; // as the training began
  data: TaskData;
  parent?: { run: string; step: number; sha256: string; edits: string };
  created: string; // ISO time; the only thing that depends on the clock
  seconds: number; // it took
}

/** The zip of a run. */
export function folder(run: Trained, saved: Saved): Uint8Array<ArrayBuffer> {
  const files = written(run, saved);
  return zip(files.map(([name, data]) => [`${saved.name}/${name}`, data]));
}

/** The files of a run by name. */
export function written(run: Trained, saved: Saved): [string, Uint8Array][] {
  const { info, data } = saved;
  const a = info.experiment.architecture;
  const places = slots(a);
  const rows = Math.max(1, Math.floor(FILE_BYTES / (4 * parameters(a))));
  const weights: [string, Uint8Array][] = [];
  let index = "";
  for (let begin = 0; begin < run.steps.length; begin += rows) {
    const number = String(weights.length).padStart(6, "0");
    const some = run.params.slice(begin, begin + rows);
    weights.push([`weights/${number}.safetensors`, packed(some, places)]);
    some.forEach((params, row) => {
      const step = run.steps[begin + row];
      index += `{"step": ${step}, "file": "${number}", "row": ${row}, "sha256": "${digest(params)}"}\n`;
    });
  }
  const metrics = run.lines.map((line) => `${JSON.stringify(line, plain)}\n`).join("");
  const [index_bytes, metrics_bytes] = [bytes(index), bytes(metrics)];
  const about = {
    ...described(run, saved, a),
    written: {
      "index.jsonl": { lines: run.steps.length, sha256: sha256(index_bytes) },
      "metrics.jsonl": { lines: run.lines.length, sha256: sha256(metrics_bytes) },
    },
    ...(Object.keys(data.files).length ? { files: digests(data.files) } : {}),
    times: { created: saved.created, seconds: saved.seconds },
  };
  return [
    ["run.json", bytes(`${JSON.stringify(about, plain, 1)}\n`)],
    ["metrics.jsonl", metrics_bytes],
    ["index.jsonl", index_bytes],
    ...Object.entries(data.files),
    ...weights,
  ];
}

/** sha256 of the parameters of one step, as the index has it. */
export function digest(params: Float32Array): string {
  return sha256(new Uint8Array(params.buffer, params.byteOffset, params.byteLength)); // in the order of the computation
}

function described(run: Trained, saved: Saved, a: Architecture): Record<string, unknown> {
  const { info, data, parent } = saved;
  const names = changed(info, saved.train);
  const ended = run.status === "running" || run.status === "paused" ? "stopped" : run.status;
  const parts: [string, Examples][] = [["train", data.fit], ["validation", data.validation]];
  if (data.test) parts.push(["test", data.test]);
  const of = (value: (e: Examples) => number) => Object.fromEntries(parts.map(([part, e]) => [part, value(e)]));
  return {
    schema: SCHEMA,
    status: ended,
    engine: "page",
    experiment: { ...info.experiment, train: given(saved.train) },
    seeds: [saved.train.seed],
    members: 1,
    parameters: parameters(a),
    last_step: run.step,
    kept: run.steps.length,
    ...(names.length ? { changed: names } : {}),
    ...(parent ? { parent } : {}),
    ...(run.rates.length ? { rates: run.rates } : {}),
    floor: info.floor,
    floors: of((e) => floor(e, info.task.skip, e.count)),
    floors_before: of((e) => floor(e, info.task.skip, e.few)),
    judged: { last: of((e) => e.count), before: of((e) => e.few) },
    versions: info.versions,
    ...(run.status === "diverged" ? { diverged: { [String(saved.train.seed)]: run.step } } : {}),
  };
}

/** Settings without those that are absent, as Python writes them. */
function given(train: TrainSettings): Record<string, unknown> {
  return Object.fromEntries(Object.entries(train).filter(([, value]) => value !== null && value !== undefined));
}

/** Names of the settings that are not those of the ready-made experiment; the seed is no change. */
function changed(info: RunInfo, train: TrainSettings): string[] {
  const before = info.changes.match(/\b(?:data|architecture|train)\.\w+(?= = )/g) ?? [];
  const was = info.experiment.train;
  const now = Object.keys(train).filter((name) => name !== "seed" && (train[name] ?? null) !== (was[name] ?? null));
  return [...new Set([...before, ...now.map((name) => `train.${name}`)])];
}

/** What the exact predictor pays on the first so many windows. */
function floor(e: Examples, skip: number, count: number): number {
  let [sum, many] = [0, 0];
  for (let window = 0; window < count; window++) {
    for (let place = e.places > 1 ? skip : 0; place < e.places; place++) {
      sum -= e.truth[window * e.places + place];
      many += 1;
    }
  }
  return sum / many;
}

/** A safetensors file of some steps, stacked: the bytes that Python writes. */
export function packed(steps: Float32Array[], places: Slot[]): Uint8Array {
  const order = [...places].sort((a, b) => (a.name < b.name ? -1 : 1));
  const header: Record<string, unknown> = {};
  let end = 0;
  for (const { name, shape, size } of order) {
    const begin = end;
    end += 4 * size * steps.length;
    header[name] = { dtype: "F32", shape: [steps.length, ...shape], data_offsets: [begin, end] };
  }
  const text = bytes(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(8 + length + end).fill(32, 8, 8 + length);
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(text, 8);
  const numbers = new Float32Array(file.buffer, 8 + length, end / 4);
  let at = 0;
  for (const { begin, size } of order) {
    for (const params of steps) {
      numbers.set(params.subarray(begin, begin + size), at);
      at += size;
    }
  }
  return file;
}

function digests(files: Record<string, Uint8Array>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, data]) => [name, sha256(data)]));
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** What is not a number is a text, so that every line stays JSON. */
function plain(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
