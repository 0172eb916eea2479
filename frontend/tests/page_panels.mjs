// What every panel tells of the runs that tests/test_page_panels.py packs: its table, its sentence and its Python.
//
//     node page_panels.mjs FOLDER

import { readFileSync, writeFileSync } from "node:fs";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { createServer } from "vite";

const folder = process.argv[2];
const server = await createServer({
  configFile: false, root: new URL("..", import.meta.url).pathname, plugins: [svelte()], logLevel: "error", appType: "custom",
  server: { middlewareMode: true, ws: false, watch: null }, optimizeDeps: { noDiscovery: true },
});
try {
  const { told } = await server.ssrLoadModule("/tests/panels_told.ts");
  const { blocks, cases } = JSON.parse(readFileSync(`${folder}/cases.json`, "utf8"));
  writeFileSync(`${folder}/told.json`, JSON.stringify(await told(blocks, cases)));
} finally {
  await server.close();
}
