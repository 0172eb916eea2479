import { expect, test } from "vitest";
import { type NumberQuestion, bare, essence, led, reply, typed } from "../src/page/lesson";
import { fromHash } from "../src/page/link";
import { start } from "../src/page/page";

test("a look takes the page along, and leaves the reader what is the reader's", () => {
  const now = { ...start, run: "mary-18", step: 40, input: "mary had", edits: "zero(fed)", theme: "dark", lang: "de", view: "projector", keys: "off", hide: "speed" };
  const { page } = fromHash(led("#v1&run=plus_last_even-18&panels=attention&mode=train", now));
  expect(page).toEqual({ ...start, run: "plus_last_even-18", panels: "attention", mode: "train", theme: "dark", lang: "de", view: "projector", keys: "off", hide: "speed" });
  expect(fromHash(led("#v1&theme=light", now)).page.theme).toBe("light"); // unless the lesson names it
  expect(led("#v1&sometime=1", start)).toBe("#v1&sometime=1"); // what a newer page knows is kept
});

test("what belongs to the reader makes no other view of the model", () => {
  expect(essence({ ...start, theme: "dark", lang: "de" })).toBe(essence(start));
  expect(essence({ ...start, step: 3 })).not.toBe(essence(start));
});

test("numbers are read as people type them", () => {
  const read: [string, string, number][] = [
    ["12", "", 12], [" −2.5 ", "", -2.5], ["0,35", "", 0.35], ["1,234", "", 1234], ["1,234,567.5", "", 1234567.5], ["0,350", "", 0.35],
    [".5", "", 0.5], ["1/8", "", 0.125], ["1e-3", "", 0.001], ["35 %", "%", 35], ["2.1 nats", "nats", 2.1], ["20 000", "", 20000], ["+4", "", 4],
  ];
  for (const [text, unit, value] of read) expect([text, typed(text, unit)]).toEqual([text, value]);
  for (const text of ["", "four", "1/2/3", "1..2", "0x10", "Infinity", "--1", "1,2,3"]) expect([text, typed(text, "")]).toEqual([text, NaN]);
});

test("a number is answered as Python answers it: right, by its reason, or by its side", () => {
  const question: NumberQuestion = { kind: "number", text: "", answer: 0.5, tolerance: 0.005, because: "<p>why</p>", mistakes: [[0.4, "<p>bias</p>"]], unit: "", shown: "0.50" };
  expect(reply(question, 0.505)).toEqual({ right: true, html: "<p>why</p>", off: "" });
  expect(reply(question, 0.4)).toEqual({ right: false, html: "<p>bias</p>", off: "" });
  expect(reply(question, 0.51)).toEqual({ right: false, html: "", off: "large" });
  expect(reply(question, -1)).toEqual({ right: false, html: "", off: "small" });
});

test("a title without its marks", () => expect(bare("What <code>&lt;END&gt;</code> &amp; <em>you</em> say")).toBe("What <END> & you say"));
