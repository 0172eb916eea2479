// Digests and zips in plain arithmetic, held against known values; tests/test_page_learning.py opens whole runs.

import { expect, test } from "vitest";
import { written } from "../src/data/folder";
import { sha256 } from "../src/data/sha256";
import type { RunInfo } from "../src/data/source";
import { Trained } from "../src/data/trained";
import { crc32, zip } from "../src/data/zip";
import { Trainer } from "../src/learn/train";
import { architecture, data, ladder, task, train } from "./small_task";

const bytes = (many: number) => Uint8Array.from({ length: many }, (_, k) => (k * 7 + (k >> 3)) & 255);

test("digests are SHA-256", () => {
  const text = (letters: string) => sha256(new TextEncoder().encode(letters));
  // The published examples of the standard.
  expect(text("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(text("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).toBe(
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  );
  expect(text("a".repeat(1_000_000))).toBe("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (const many of [1, 55, 63, 64, 65, 120]) {
    expect(sha256(bytes(many).subarray(0, 10), bytes(many).subarray(10))).toBe(sha256(bytes(many)));
  }
});

test("zips hold their files, and the same ones give the same bytes", () => {
  const files: [string, Uint8Array][] = [["a/ä.txt", bytes(300)], ["a/empty", new Uint8Array(0)]];
  const made = zip(files);
  expect(made).toEqual(zip(files));
  expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926); // the usual check value
  const view = new DataView(made.buffer);
  const list = view.getUint32(made.length - 6, true);
  expect([view.getUint32(0, true), view.getUint32(list, true)]).toEqual([0x04034b50, 0x02014b50]);
  expect(view.getUint32(list + 16, true)).toBe(crc32(bytes(300)));
  expect(made.subarray(30 + 8, 30 + 8 + 300)).toEqual(bytes(300));
});

test("a run's files follow from the run and the time it is told", () => {
  const info = {
    experiment: { name: "small", task: "small", data: {}, architecture, train }, changes: "changed settings: data.plus = 0.4, train.rate = 0.1",
    task, ladder, floor: 0.6, versions: {},
  } as unknown as RunInfo;
  const files = () => {
    const trainer = new Trainer({ architecture, train: { ...train, steps: 20, clip: 1 }, task, ladder, data: data() });
    trainer.run(20);
    const run = new Trained();
    const { status, step, rates, rate, loss, params } = trainer;
    run.add({ kind: "progress", id: 0, status, step, rates, rate, loss, params, steps_per_second: 0, news: trainer.take() });
    const saved = { name: "small", info, train: { ...train, steps: 20, clip: 1 }, data: data(), created: "2026-01-01", seconds: 1 };
    return written(run, saved);
  };
  const made = files();
  expect(made).toEqual(files());
  expect(made.map(([name]) => name)).toEqual(["run.json", "metrics.jsonl", "index.jsonl", "weights/000000.safetensors"]);
  const about = JSON.parse(new TextDecoder().decode(made[0][1]));
  expect(about.changed).toEqual(["data.plus", "train.rate", "train.steps", "train.clip"]);
  expect([about.engine, about.status, about.kept, about.last_step]).toEqual(["page", "finished", 21, 20]);
});
