// The page of a run as a widget of a notebook: in a frame that is shut off from it, and the link goes both ways.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", model.get("sandbox"));
  frame.setAttribute("allow", "clipboard-write");
  frame.title = model.get("title");
  frame.style.cssText = `width: 100%; height: ${Number(model.get("height"))}px; border: 0`;
  frame.srcdoc = model.get("page");
  let known = model.get("link"); // what the page shows, as far as we know

  const hear = (event) => {
    const { glassformer, link } = event.data ?? {};
    if (event.source !== frame.contentWindow || glassformer !== "link" || typeof link !== "string") return;
    known = link;
    model.set("link", link);
    model.save_changes();
  };
  const tell = () => {
    const link = model.get("link");
    if (link === known) return;
    known = link;
    frame.contentWindow?.postMessage({ glassformer: "link", link }, "*"); // its origin is opaque
  };
  window.addEventListener("message", hear);
  model.on("change:link", tell);
  el.append(frame);
  return () => {
    window.removeEventListener("message", hear);
    model.off("change:link", tell);
  };
}

export default { render };
