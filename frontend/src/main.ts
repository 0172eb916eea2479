import { mount } from "svelte";
import App from "./App.svelte";
import { EmbeddedSource } from "./data/embedded";
import { Lab } from "./page/lab.svelte";
import "./page/look.css";

const root = document.getElementById("page");
if (root) {
  const source = new EmbeddedSource(document);
  mount(App, { target: root, props: { lab: new Lab(source) } });
}
