// The page's words lie beside it, a file for each language; a report carries them as it carries its runs.

import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";

const FOLDER = new URL("src/words/", import.meta.url);

export function words(): Plugin {
  return {
    name: "words",
    generateBundle() {
      for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".json"))) {
        const source = JSON.stringify(JSON.parse(readFileSync(new URL(file, FOLDER), "utf-8")));
        this.emitFile({ type: "asset", fileName: `words/${file}`, source });
      }
    },
  };
}
