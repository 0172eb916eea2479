import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { licences } from "./licences.ts";
import { one_file } from "./one_file.ts";
import { words } from "./words.ts";

// A worker runs the same scripts as the page (src/main.ts).
export default defineConfig({
  plugins: [svelte(), words(), licences(), one_file()],
  build: {
    outDir: "../src/glassformer/web/static",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    modulePreload: false, // its helper asks for a document, which a worker does not have
    rolldownOptions: { input: "report.html" },
  },
});
