// Links made by earlier versions lead to the same view.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fromHash, start } from "../src/page/page";

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
