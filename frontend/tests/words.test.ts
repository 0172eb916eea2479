import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "svelte/compiler";
import { expect, test } from "vitest";
import de from "../src/words/de.json";
import en from "../src/words/en.json";
import { judged_text, learn } from "../src/words/words.svelte";

const root = join(import.meta.dirname, "../src");
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => /\.(svelte|ts)$/.test(file));
const read = (file: string) => readFileSync(join(root, file), "utf8");
const NAMES = /^(Glassformer|e|SVG|PNG|CSV|JSON|Python|W|P|C|T|M|[\s\d\p{P}\p{S}])*$/u; // the same in every language

test("every language has the same keys, and fills in the same values", () => {
  expect(Object.keys(de).sort()).toEqual(Object.keys(en).sort());
  const filled = (text: string) => [...new Set(text.match(/\{\w+/g) ?? [])].sort();
  for (const [key, text] of Object.entries(en)) expect([key, filled(de[key as keyof typeof de])]).toEqual([key, filled(text)]);
});

test("what speaks of held-out windows has other words where nothing is held out", async () => {
  const held = /held.?out|zurückgehalten/i;
  for (const words of [en, de] as Record<string, string>[]) {
    const some = Object.keys(words).filter((key) => held.test(words[key]));
    expect(some.length).toBeGreaterThan(5);
    expect(some.filter((key) => held.test(words[`${key}.same`] ?? "held out"))).toEqual([]);
  }
  const speaking = files.filter((file) => /\bt\("(clock\.validation|along\.few|effect\.\w+\.what)"|\bt\(`metric\./.test(read(file)));
  expect(speaking).toEqual([]); // they ask `judged_text`, which knows
  await learn(async () => en);
  expect(judged_text("clock.validation", { held_out: false })).toBe("judged on the same text");
  expect(judged_text("clock.validation", {})).toBe("held out");
  expect(judged_text("metric.train_loss", { held_out: false })).toBe("training");
});

test("every key that is asked for is there", () => {
  const asked = files.flatMap((file) => [...read(file).matchAll(/\bt\("([\w.]+)"/g)].map((found) => found[1]));
  expect(asked.filter((key) => !(key in en))).toEqual([]);
  expect(asked.length).toBeGreaterThan(50);
});

test("components hold no text of their own", () => {
  const found: string[] = [];
  for (const file of files.filter((each) => each.endsWith(".svelte"))) {
    const walk = (node: unknown): void => {
      if (Array.isArray(node)) node.forEach(walk);
      else if (node && typeof node === "object") {
        const { type, data, name, value } = node as { type?: string; data?: string; name?: string; value?: unknown };
        if (type === "Text" && !NAMES.test((data ?? "").trim())) found.push(`${file}: ${data}`);
        if (type === "Attribute") {
          const spoken = ["aria-label", "title", "alt", "placeholder"].includes(name ?? "");
          if (spoken) walk(value);
          return; // other attributes hold no words
        }
        if (type === "StyleDirective" || type === "ClassDirective" || type === "Script" || type === "Style" || type === "StyleSheet") return;
        for (const [key, inner] of Object.entries(node)) if (key !== "expression" && key !== "metadata") walk(inner);
      }
    };
    walk(parse(read(file), { modern: true }).fragment);
  }
  expect(found).toEqual([]);
});
