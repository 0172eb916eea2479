import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess({ script: true }),
  compilerOptions: {
    runes: true,
    discloseVersion: false,
    cssHash: ({ css, hash }) => `s${hash(css).slice(0, 4)}`, // short: it stands in every element
  },
};
