// The page; and, where there is no document, one of its workers. One script is both, so that a file holds the model once.

import { mount } from "svelte";
import App from "./App.svelte";
import { EmbeddedSource } from "./data/embedded";
import { Lab } from "./page/lab.svelte";
import { complete } from "./page/work";
import { serve } from "./page/worker";
import { learn } from "./words/words.svelte";
import "./page/look.css";

declare global {
  var further: () => Promise<unknown>; // what `import("./further")` becomes in one file: see one_file.ts
  var furthered: unknown;
}

if (typeof document === "undefined") serve();
else {
  const root = document.getElementById("page") as HTMLElement;
  const source = new EmbeddedSource(document);
  globalThis.further = async () => {
    const text = await source.text("further");
    const script = document.createElement("script"); // the file's policy knows its text by its hash
    script.textContent = text;
    document.head.append(script);
    complete(text);
    return globalThis.furthered;
  };
  void learn((lang) => source.words(lang)).then(() => mount(App, { target: root, props: { lab: new Lab(source) } }));
}
