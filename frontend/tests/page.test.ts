import { expect, test } from "vitest";
import { fromHash } from "../src/page/link";
import { MODES, start, toHash } from "../src/page/page";

test("a link brings back the page", () => {
  const page = {
    ...start,
    run: "plus_last_even-18",
    step: 5000,
    mode: "change",
    input: "10 + 10 6 + & = # %",
    temperature: 0.35,
    edits: 'zero(mixed, block=0, head=0); patch(out, from="4 9 +", position=2)',
    hide: "speed,jump",
    lang: "de",
  };
  expect(fromHash(toHash(page))).toEqual({ page, notes: [], unknown: {} });
});

test("an untouched page has an empty link", () => {
  expect(toHash({ ...start })).toBe("#v1");
  expect(fromHash("").page).toEqual(start);
});

test("the link of the first release is read for ever", () => {
  const link =
    "#v1&run=plus_last_even-18&step=5000&mode=watch&input=10%20%2B%2010%206%20%2B&panel=attention&head=0&edits=zero(mixed%2C%20head%3D0)&b=step:200&hide=train,edits&view=projector&lang=en";
  const { page, notes } = fromHash(link);
  expect(notes).toEqual([]);
  expect(page.input).toBe("10 + 10 6 +");
  expect(page.edits).toBe("zero(mixed, head=0)");
  expect([page.step, page.b, page.view]).toEqual([5000, "step:200", "projector"]);
});

test("what is wrong gets its default and a sentence, the rest is read", () => {
  const { page, notes } = fromHash("#v1&step=soon&mode=fly&head=1&temperature=0&input=%E0%A4");
  expect([page.step, page.mode, page.head, page.temperature, page.input]).toEqual([start.step, "watch", 1, 1, ""]);
  expect(notes).toHaveLength(4);
  expect(notes.join(" ")).toContain("step = “soon”");
  expect(notes.join(" ")).toContain(MODES.join(", "));
});

test("fields of a newer page are kept and reported", () => {
  const read = fromHash("#v1&step=3&orbit=9");
  expect(read.unknown).toEqual({ orbit: "9" });
  expect(read.notes[0]).toContain("orbit");
  expect(toHash(read.page, read.unknown)).toBe("#v1&step=3&orbit=9");
});

test("another version and a link of more than 4 kB are refused as a whole", () => {
  expect(fromHash("#v9&step=3")).toMatchObject({ page: start, notes: [expect.stringContaining("v9")] });
  expect(fromHash(`#v1&input=${"4".repeat(5000)}`)).toMatchObject({ page: start, notes: [expect.stringContaining("4096")] });
});

test("names of every object are no fields", () => {
  expect(fromHash("#v1&__proto__=1&constructor=2&toString=3").page).toEqual(start);
});
