// The licences of what the page is made of go with it: a comment at its end, in the package and in every report.

import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";

const ALLOWED = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"];
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//;

export function licences(): Plugin {
  return {
    name: "licences",
    enforce: "post", // the page is there, and nothing has been put into it yet
    generateBundle(_options, bundle) {
      const folders = new Set<string>();
      for (const piece of Object.values(bundle)) {
        for (const [id, module] of piece.type === "chunk" ? Object.entries(piece.modules) : []) {
          const folder = id.replaceAll("\\", "/").match(PACKAGE)?.[0];
          if (folder && module.renderedLength > 0) folders.add(folder);
        }
      }
      const text = [...folders].map(licence).sort().join("\n\n");
      for (const piece of Object.values(bundle)) {
        if (piece.type === "asset" && piece.fileName.endsWith(".html")) piece.source = `${piece.source}${comment(text)}`;
      }
    },
  };
}

function licence(folder: string): string {
  const about = JSON.parse(readFileSync(`${folder}package.json`, "utf-8"));
  if (!ALLOWED.includes(about.license)) {
    throw new Error(`${about.name} has the licence ${about.license}; the page may carry ${ALLOWED.join(", ")}`);
  }
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new Error(`${about.name} comes without the text of its licence`);
  return `${about.name} ${about.version} (${about.license})\n\n${readFileSync(folder + file, "utf-8").trim()}`;
}

function comment(text: string): string {
  return text ? `<!--\nThis page contains parts of:\n\n${text.replaceAll("-->", "-- >")}\n-->\n` : "";
}
