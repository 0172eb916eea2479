// A panel as a file: its drawing as SVG or PNG, its numbers as CSV. Nothing leaves the page but the download.

import type { About, View } from "../panels/panel";
import type { Chosen } from "./chosen";

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "font-style", "text-anchor", "paint-order", "stroke-linecap", "stroke-linejoin"];

export async function save(root: HTMLElement, view: View, chosen: Chosen, about: About, kind: "svg" | "png" | "csv"): Promise<void> {
  const name = `${view.run.info.name}-${about.name}-${view.step}.${kind}`;
  if (kind === "csv") return download(new Blob([csv(about.table(view, chosen))], { type: "text/csv" }), name);
  const text = drawing(root);
  if (kind === "svg") return download(new Blob([text], { type: "image/svg+xml" }), name);
  return download(await raster(text, root), name);
}

/** Rows with commas; a cell that holds one is quoted. */
export function csv({ head, rows }: { head: string[]; rows: (string | number)[][] }): string {
  const cell = (value: string | number): string => {
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

const safe = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** What stands inside an element as one SVG: vectors stay vectors, canvases become pictures of their cells, words and bars are kept where they stand. */
export function drawing(root: HTMLElement): string {
  const box = root.getBoundingClientRect();
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--card");
  const parts: string[] = [`<rect width="100%" height="100%" fill="${paper}"/>`];
  const place = (at: DOMRect): string => `x="${at.left - box.left}" y="${at.top - box.top}" width="${at.width}" height="${at.height}"`;
  const write = (text: string, at: DOMRect, by: Element): void => {
    if (at.width < 1 || at.bottom > box.bottom + 1) return;
    const { color, fontSize, fontWeight, fontFamily } = getComputedStyle(by);
    const style = safe(`font: ${fontWeight} ${fontSize} ${fontFamily}`);
    parts.push(`<text x="${at.left - box.left}" y="${at.top - box.top + 0.78 * at.height}" fill="${color}" style="${style}">${safe(text)}</text>`);
  };
  const visit = (node: Node): void => {
    if (node instanceof Text) {
      const range = document.createRange();
      for (const word of node.data.matchAll(/\S+/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        write(word[0], range.getBoundingClientRect(), node.parentElement!);
      }
    } else if (!(node instanceof Element) || !node.checkVisibility() || node.classList.contains("hidden")) return;
    else if (node instanceof HTMLCanvasElement) {
      parts.push(`<image ${place(node.getBoundingClientRect())} preserveAspectRatio="none" style="image-rendering:pixelated" href="${node.toDataURL()}"/>`);
    } else if (node instanceof SVGSVGElement) {
      const at = node.getBoundingClientRect();
      const copy = node.cloneNode(true) as SVGSVGElement;
      inline(node, copy);
      copy.setAttribute("x", String(at.left - box.left));
      copy.setAttribute("y", String(at.top - box.top));
      copy.setAttribute("width", String(at.width));
      copy.setAttribute("height", String(at.height));
      parts.push(new XMLSerializer().serializeToString(copy));
    } else if (node instanceof HTMLSelectElement) {
      write(node.selectedOptions[0]?.text ?? "", node.getBoundingClientRect(), node);
    } else if (node.tagName !== "BUTTON" || !node.querySelector("svg, canvas")) {
      const { backgroundColor, backgroundImage, borderTopColor, borderTopWidth } = getComputedStyle(node);
      const at = node.getBoundingClientRect();
      const ramp = backgroundImage.match(/rgba?\([^)]*\)/g) ?? []; // of a scale; fewer colours are a line within a bar
      if (ramp.length > 4) ramp.forEach((fill, k) => parts.push(`<rect ${place(new DOMRect(at.x + (k * at.width) / ramp.length, at.y, at.width / ramp.length, at.height))} fill="${fill}"/>`));
      if (node !== root && !/, 0\)$/.test(backgroundColor)) parts.push(`<rect ${place(at)} fill="${backgroundColor}"/>`);
      if (node.clientHeight === 0 && parseFloat(borderTopWidth) > 0) parts.push(`<rect ${place(at)} fill="${borderTopColor}"/>`); // a line of a legend
      node.childNodes.forEach(visit);
    }
  };
  visit(root);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${box.width}" height="${box.height}" viewBox="0 0 ${box.width} ${box.height}">${parts.join("")}</svg>`;
}

function inline(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  for (const name of KEPT) {
    const value = style.getPropertyValue(name);
    if (value) (to as SVGElement).style.setProperty(name, value);
  }
  for (let k = 0; k < from.children.length; k++) inline(from.children[k], to.children[k]);
}

async function raster(text: string, root: HTMLElement): Promise<Blob> {
  const { width, height } = root.getBoundingClientRect();
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d")?.drawImage(image, 0, 0, 2 * width, 2 * height);
  URL.revokeObjectURL(image.src);
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("this browser cannot make a PNG")))));
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
