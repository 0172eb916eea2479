// The page of a run as a widget of a notebook: in a frame that is shut off from it, and the link goes both ways.

const CALM = 200; // ms between two links that are told to Python while the page plays

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", model.get("sandbox"));
  frame.setAttribute("allow", "clipboard-write");
  frame.title = model.get("title");
  frame.style.cssText = `width: 100%; height: ${Number(model.get("height"))}px; border: 0`;
  frame.srcdoc = model.get("page");
  let shown = null; // the link of what the page shows; null until it has said something
  let waiting = 0;

  const lead = () => {
    const link = model.get("link");
    if (shown === null || link === shown) return;
    shown = link;
    frame.contentWindow?.postMessage({ glassformer: "link", link }, "*"); // its origin is opaque
  };
  const follow = () => {
    waiting = 0;
    model.set("link", shown);
    model.save_changes();
  };
  const hear = (event) => {
    const { glassformer, link } = event.data ?? {};
    if (event.source !== frame.contentWindow || glassformer !== "link" || typeof link !== "string") return;
    const first = shown === null;
    shown = link;
    if (first) lead(); // whatever was asked for while it was loading
    else waiting ||= setTimeout(follow, CALM);
  };
  window.addEventListener("message", hear);
  model.on("change:link", lead);
  el.append(frame);
  return () => {
    clearTimeout(waiting);
    window.removeEventListener("message", hear);
    model.off("change:link", lead);
  };
}

export default { render };
