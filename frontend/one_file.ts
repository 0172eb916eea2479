// The page as one file, with what its first screen does not need beside it: modules on file:// cannot import each other,
// so the script, its styles and its second half are put together here.
//
// further.js shares the first script's names through one object, and is run by a script element whose text the file's
// policy knows by its hash.

import type { Plugin, Rolldown } from "vite";

const PRELOAD = "\0vite/preload-helper.js";
const EXPORTS = /export\s*\{([^}]*)\};?\s*$/;
const IMPORTS = /import\s*\{([^}]*)\}\s*from\s*["'`]\.\/[^"'`]+["'`];?/;

export function one_file(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    load: {
      order: "pre",
      // Vite's helper loads the styles of a script before it; here they are inside, and no worker starts with import.meta
      handler: (id) => (id === PRELOAD ? "export const __vitePreload = (load) => load();" : null),
    },
    generateBundle(_options, bundle) {
      const pieces = Object.values(bundle);
      const chunks = pieces.filter((piece) => piece.type === "chunk");
      const first = only(chunks.filter((chunk) => chunk.isEntry), "first script");
      const further = only(chunks.filter((chunk) => !chunk.isEntry), "second script");
      const page = only(pieces.filter((piece) => piece.type === "asset" && piece.fileName.endsWith(".html")), "page") as Rolldown.OutputAsset;
      const styles = (chunk: Rolldown.OutputChunk): string =>
        [...(chunk.viteMetadata?.importedCss ?? [])].map((name) => String((bundle[name] as Rolldown.OutputAsset).source)).join("");
      const script = first.code
        .replaceAll("__VITE_PRELOAD__", "[]")
        .replace(/import\(["'`]\.\/further[^"'`]*["'`]\)/, "globalThis.further()")
        .replace(EXPORTS, (_, names: string) => `globalThis.shared={${pairs(names).map(([inner, outer]) => `get ${outer}(){return ${inner}}`)}};`);
      const second = further.code
        .replace(IMPORTS, (_, names: string) => `const{${pairs(names).map(([outer, inner]) => `${outer}:${inner}`)}}=globalThis.shared;`)
        .replace(EXPORTS, (_, names: string) => `globalThis.furthered={${pairs(names).map(([inner, outer]) => `${outer}:${inner}`)}};`);
      if (/import\.meta|__vite/i.test(script) || /\bimport\b\s*[({]|\bexport\b\s*\{/.test(script.slice(-2000)) || /^import\b/.test(second)) this.error("the scripts of the page are not as one_file.ts expects them");
      const sheet = `if(globalThis.document){const s=new CSSStyleSheet();s.replaceSync(${JSON.stringify(styles(further))});document.adoptedStyleSheets.push(s)}`;
      page.source = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, "")
        .replace("</head>", () => `<style>${styles(first)}</style>\n</head>`)
        .replace("</body>", () => `<script type="module">${script.replaceAll("</script", "<\\/script")}</script>\n</body>`);
      for (const name of Object.keys(bundle)) if (bundle[name] !== page && !name.startsWith("words/")) delete bundle[name];
      this.emitFile({ type: "asset", fileName: "further.js", source: `(()=>{${second}${sheet}})()` });
    },
  };
}

/** `a as b, c` → [[a, b], [c, c]]. */
function pairs(names: string): [string, string][] {
  return names
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean)
    .map((each) => each.split(/\s+as\s+/))
    .map(([one, other = one]) => [one, other]);
}

function only<T>(found: T[], what: string): T {
  if (found.length !== 1) throw new Error(`the page has ${found.length} of: ${what}; one is expected`);
  return found[0];
}
