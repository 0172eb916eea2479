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

/** Every drawing inside an element as one SVG: vectors stay vectors, canvases become pictures of their cells. */
export function drawing(root: HTMLElement): string {
  const box = root.getBoundingClientRect();
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--card");
  const parts: string[] = [`<rect width="100%" height="100%" fill="${paper}"/>`];
  for (const each of root.querySelectorAll<SVGSVGElement | HTMLCanvasElement>("svg, canvas")) {
    if (each.closest("button") || !each.checkVisibility()) continue;
    const at = each.getBoundingClientRect();
    const [x, y] = [at.left - box.left, at.top - box.top];
    if (each instanceof HTMLCanvasElement) {
      parts.push(`<image x="${x}" y="${y}" width="${at.width}" height="${at.height}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${each.toDataURL()}"/>`);
    } else {
      const copy = each.cloneNode(true) as SVGSVGElement;
      inline(each, copy);
      copy.setAttribute("x", String(x));
      copy.setAttribute("y", String(y));
      copy.setAttribute("width", String(at.width));
      copy.setAttribute("height", String(at.height));
      parts.push(new XMLSerializer().serializeToString(copy));
    }
  }
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
