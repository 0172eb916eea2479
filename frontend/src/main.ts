// The page; and, where there is no document, one of its workers. One script is both, so that a file holds the model once.

import { mount } from "svelte";
import App from "./App.svelte";
import { EmbeddedSource } from "./data/embedded";
import { Lab } from "./page/lab.svelte";
import { serve } from "./page/worker";
import { learn } from "./words/words.svelte";
import "./page/look.css";

if (typeof document === "undefined") serve();
else {
  const root = document.getElementById("page") as HTMLElement;
  const source = new EmbeddedSource(document);
  void learn((lang) => source.words(lang)).then(() => mount(App, { target: root, props: { lab: new Lab(source) } }));
}
