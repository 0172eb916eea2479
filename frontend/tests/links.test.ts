// Links are data: those of earlier versions lead to the same view, and whatever else one says is a sentence and a default.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Random } from "../src/learn/random";
import { type Known, fromHash, settle, settle_rows } from "../src/page/link";
import { type Page, start, toHash } from "../src/page/page";
import type { Panel } from "../src/panels/panel";
import { readings } from "../src/task/reading";
import { KINDS, run_of } from "./small_views";

interface Link {
  link: string;
  fields: Record<string, string | number>; // those that differ from an untouched page
  notes: number; // how many sentences say that something was not understood
  unknown: Record<string, string>;
}

const links: Link[] = JSON.parse(readFileSync(new URL("../../tests/fixtures/v0.2.0/links.json", import.meta.url), "utf8"));

test.each(links)("0.2.0: $link", ({ link, fields, notes, unknown }) => {
  const read = fromHash(link);
  expect(read.page).toEqual({ ...start, ...fields });
  expect(read.notes).toHaveLength(notes);
  expect(read.unknown).toEqual(unknown);
});

// ---- against a run: two blocks, two heads, eight features, five neurons, seven tokens w0 … w6, six positions ----------

const panels = Object.values(import.meta.glob<Panel>("../src/panels/*.svelte", { eager: true }));
const run = run_of(KINDS["pre norms"]);
Object.assign(run.info, { analyses: ["timeline"], task: { ...run.info.task, showcase: ["w0 w1 w2 w4"] } });
const known: Known = {
  run,
  runs: [run.info, { id: "other", name: "The other", members: 3 }],
  panels,
  tokens(text) {
    try {
      const tokens = readings(run.info.task).encode(text);
      return tokens.length > 0 && tokens.length <= run.architecture.context ? { tokens } : { problem: `${tokens.length} tokens` };
    } catch (problem) {
      return { problem: String(problem) };
    }
  },
};

/** What the lab does with a link, in the same order. */
function open(link: string): { page: Page; notes: string[]; unknown: Record<string, string> } {
  const { page, notes, unknown } = fromHash(link);
  return { page, unknown, notes: [...new Set([...notes, ...settle(page, known), ...settle_rows(page, known)])] };
}

const LEGAL: Record<keyof Page, string[]> = {
  run: ["small", "other"], member: ["0"], step: ["0", "10", "12", "200", "-1"], mode: ["watch", "predict", "change", "train", "compare"],
  input: ["w1", "w0 w1 w2 w4 w5 w6"], position: ["0", "3"], block: ["1"], head: ["1"], neuron: ["0", "4"], answer: ["6"],
  tensor: ["token", "blocks.1.expand_bias"], point: ["embedded", "middle 1", "out 0", "final"], analysis: ["timeline"],
  temperature: ["0.05", "10", "0.5"], edits: ["zero(mixed, block=1, head=1); mean(fed)", 'patch(out, from="w1 w2")', 'patch(out, run="The other")', "zero(out, position=5)"],
  off: [], weights: ["weights.token[6, 7]=1.5", "token[0, 0]=-3e38"], cell: ["scores[1, 1, 3, 2]", "token[3]", "token[6, 7]", "logits[3, 6]"],
  toward: ["loss", "logit 3 6"], ask: ["answer:0", "attention:999"], b: ["step:200", "back:2", "run:other,member:2", "edits", "edits:b", "input:w1 w2"],
  along: ["chance", "loss", "error", "apart"], atlas: ["plane", "loss"], train: ["seed:5,steps:100,of:small", "from:200,set:weights.token%5B3%2C%200%5D%3D1.5", "then:0.01@20"],
  panel: ["attention", "analyses"], panels: ["attention,output,landscape"], hide: ["modes,speed"], keys: ["off"], view: ["projector"],
  theme: ["light", "dark", "contrast"], lang: ["en", "de"],
};
const HOSTILE = [
  "<img src=x onerror=alert(1)>", "__proto__", "constructor", "toString", "hasOwnProperty", "NaN", "1e999", "-7", "99999", "null", "1,5",
  "4".repeat(3900), "\u202eblue\u2066", "\u0000", "\ud800", "🚀".repeat(100), "javascript:alert(1)", "../../etc/passwd", "a".repeat(30) + "!", "(",
];
const OBEYED = /[\p{C}\p{Zl}\p{Zp}]/u;
const escaped = (text: string): string => (/\p{Cs}/u.test(text) ? text : encodeURIComponent(text));
const fields = Object.keys(start) as (keyof Page)[];

describe.each(fields)("%s", (field) => {
  test("takes every legal value, and keeps it", () => {
    for (const value of LEGAL[field]) {
      const { page, notes } = open(`#v1&${field}=${escaped(value)}`);
      expect([notes, String(page[field])], value).toEqual([[], value]);
    }
  });

  test("has its default and one sentence for any other, shown as text", () => {
    for (const value of HOSTILE) {
      const { page, notes } = open(`#v1&${field}=${escaped(value)}`);
      expect(page, value).toEqual(start);
      const many = field === "panels" || field === "hide" || field === "off" || field === "train" ? new Set(value.split(",")).size : 1;
      expect(notes, value).toHaveLength(value === "1,5" && field === "b" ? 2 : many);
      for (const note of notes) {
        expect(note.startsWith(`${field} = “`), note).toBe(true);
        expect([...note].length).toBeLessThan(300);
        expect(OBEYED.test(note), note).toBe(false);
      }
      expect(notes[0].replaceAll("weights.", "")).toContain([...value.split(",")[0]].slice(0, 20).join("").replace("\ud800", "\ufffd").replace(/\p{C}/gu, (c) => (c === "\0" ? "\\x00" : `\\u${c.charCodeAt(0).toString(16)}`)));
    }
    for (const value of ["%", "%E0%A4%A", "%ff"]) {
      const { page, notes } = open(`#v1&${field}=${value}`);
      expect([page, notes.length]).toEqual([start, 1]);
      expect(notes[0]).toContain(field);
    }
  });

  test("may be empty", () => {
    const { page, notes } = open(`#v1&${field}=`);
    expect(page).toEqual(start);
    expect(notes).toHaveLength(typeof start[field] === "number" || field === "mode" ? 1 : 0);
  });
});

test.each([
  ["step=201", "from 0 to 200"], ["member=1", "there is only 0"], ["block=2", "from 0 to 1"], ["head=2", "from 0 to 1"], ["neuron=5", "from 0 to 4"], ["answer=7", "from 0 to 6"],
  ["position=4", "from 0 to 3"], ["input=w1&position=1", "there is only 0"], ["temperature=10.1", "from 0.05 to 10"], ["temperature=0.04", "from 0.05 to 10"],
  ["input=w0 w0 w0 w0 w0 w0 w0", "7 tokens"], ["cell=scores[1, 1, 4, 2]", "query_position = '4' of scores is not between 0 and 3"], ["cell=b:token[0]", "compare"],
  ["toward=logit 4 0", "logit of this input"], ["toward=logit 0 7", "logit of this input"], ["ask=region:0", "it is not one of answer, attention"],
  ["panel=landscape", "it is not one of"], ["b=run:nobody", "run:small, run:other"], ["b=member:1", "there is only 0"], ["b=step:201", "from 0 to 200"], ["b=back:-3", "from 0 to 2"],
  ["b=input:blue", "blue"], ["b=run:other,member:3", "from 0 to 2"], ["train=of:nobody", "small, other"], ["train=from:201", "200"],
  ["train=set:weights.token%255B7%252C%25200%255D%253D1", "token[7, 0] is not a place"], ["train=rate:-1", "must be a number from"],
  ["edits=zero(mixed, head=2)", "no head 2"], ["edits=zero(out, position=6)", "no position 6"], ['edits=patch(out, run="__proto__")', "no run __proto__"],
  ["edits=patch(out, step=11)", "step 11 is not saved in this file; the nearest one is 10"], ["edits=patch(out, member=1)", "no member 1"], ['edits=patch(out, from="blue")', "blue"],
  ["weights=token[7, 0]=1", "7 × 8"], ["weights=token[0, 0]=1e999", "not a number up to 3.4e+38"], ["weights=nothing[0]=1", "no parameter nothing"],
])("beyond what the run has: %s", (link, why) => {
  const { page, notes } = open(`#v1&mode=watch&${link.replaceAll(" ", "%20")}`);
  expect(notes).toEqual([expect.stringContaining(why)]);
  const name = notes[0].split(" = ")[0] as keyof Page;
  expect(page[name]).toBe(name === "b" && link.includes("run:other") ? "run:other" : start[name]);
});

test.each([
  ["panels=attention,foo,output,attention", { panels: "attention,output" }, 1], ["hide=foo,modes,bar,speed", { hide: "modes,speed" }, 2],
  ["mode=compare&b=step:-5,run:nobody,back:2,input:w1", { mode: "compare", b: "back:2,input:w1" }, 2], ["train=seed:1e99,rate:-1,steps:50", { train: "steps:50" }, 2],
  // the second edit is off, and stays so at its new place; of a vector, the numbers that have a place are set
  ["edits=zoom(out);zero(out);mean(fed)&off=1,9&weights=token[0, 0]=1;token[0, 8]=2;token[1, 0]=3", { edits: "zero(out); mean(fed)", off: "0", weights: "weights.token[0, 0]=1; weights.token[1, 0]=3" }, 3],
])("a list keeps its known parts: %s", (link, expected, many) => {
  const { page, notes } = open(`#v1&${link.replaceAll(" ", "%20")}`);
  expect(page).toEqual({ ...start, ...expected });
  expect(notes).toHaveLength(many);
});

const TIMES = Number(process.env.GLASSFORMER_FUZZ ?? 1);

test("the page's own link is understood, whatever it was opened with", () => {
  const random = new Random(20, 1);
  const one = <T>(all: readonly T[]): T => all[random.below(all.length)];
  const alphabet = [..."09-=,;:()[]%&#\"'\\ .aeE\u202e🚀", "\ud800", "%E2%80%AE", "__proto__", "1e999", "NaN", "b:", "&", "="];
  const values = [...links.flatMap(({ link }) => link.split("&").slice(1).map((field) => field.split("=").slice(1).join("="))), ...Object.values(LEGAL).flat().map(encodeURIComponent)];
  for (let turn = 0; turn < 3000 * TIMES; turn++) {
    let link = one(links).link;
    for (let k = random.below(4); k >= 0; k--) {
      const at = random.below(link.length);
      const change = [
        () => `${link}&${one(fields)}=${one(values)}`, // a value of another field
        () => link.slice(0, at) + one(alphabet) + link.slice(at + 1), // another character
        () => link.slice(0, at) + link.slice(at - random.below(20)), // a piece twice
        () => link.slice(0, at), // cut off
      ];
      link = one(change)();
    }
    const { page, notes, unknown } = open(link);
    for (const note of notes) expect(OBEYED.test(note), link).toBe(false);
    const again = toHash(page, unknown);
    if (again.length > 4096) continue;
    const kept = Object.keys(unknown).map(() => expect.stringContaining("which this page does not know"));
    expect(open(again), link).toEqual({ page, unknown, notes: kept });
  }
}, 10_000 * TIMES);
