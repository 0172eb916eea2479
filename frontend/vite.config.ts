import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { licences } from "./licences.ts";
import { words } from "./words.ts";

const { page, worker } = licences();

// One file: modules on file:// cannot import each other. A worker runs the same script (src/main.ts).
export default defineConfig({
  plugins: [svelte(), words(), page, viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    outDir: "../src/glassformer/web/static",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    modulePreload: false, // its helper asks for a document, which a worker does not have
    rolldownOptions: { input: "report.html" },
  },
  worker: { format: "es", plugins: () => [worker] },
});
