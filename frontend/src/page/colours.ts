// Colours by meaning, and colour maps; the numbers are those of the figures (colours.json is written by web/colours.py).

import written from "./colours.json";

export const THEMES = ["light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];
export type Map = "signed" | "share" | "probability" | "entropy" | "time";

const tables = new globalThis.Map<string, Uint8ClampedArray>();

/** 256 colours of a map, four bytes each. */
export function table(map: Map, theme: Theme): Uint8ClampedArray {
  const key = `${map} ${theme}`;
  let found = tables.get(key);
  if (!found) {
    const stops = written.maps[theme === "dark" ? "dark" : "light"][map].map(parts);
    found = new Uint8ClampedArray(1024);
    for (let k = 0; k < 256; k++) {
      const at = (k / 255) * (stops.length - 1);
      const low = Math.min(Math.floor(at), stops.length - 2);
      for (let c = 0; c < 3; c++) found[4 * k + c] = stops[low][c] + (at - low) * (stops[low + 1][c] - stops[low][c]);
      found[4 * k + 3] = 255;
    }
    tables.set(key, found);
  }
  return found;
}

/** The colour of a share from 0 to 1 along a map, as CSS takes it. */
export function colour(map: Map, theme: Theme, share: number): string {
  const k = 4 * place(share);
  const all = table(map, theme);
  return `rgb(${all[k]} ${all[k + 1]} ${all[k + 2]})`;
}

const inks = new globalThis.Map<string, Uint8Array>();

/** For each of the 256 colours of a map, 1 where dark ink can be read on it. */
export function takes_dark(map: Map, theme: Theme): Uint8Array {
  const key = `${map} ${theme}`;
  let found = inks.get(key);
  if (!found) {
    const all = table(map, theme);
    found = Uint8Array.from({ length: 256 }, (_, k) => {
      const [r, g, b] = [0, 1, 2].map((c) => (all[4 * k + c] / 255) ** 2.2);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2 ? 1 : 0;
    });
    inks.set(key, found);
  }
  return found;
}

/** A map as a strip of colour, from its low end to its high one, as CSS takes it. */
export function strip(map: Map, theme: Theme): string {
  return `linear-gradient(to right, ${Array.from({ length: 9 }, (_, k) => colour(map, theme, k / 8)).join(", ")})`;
}

export function place(share: number): number {
  return Math.max(0, Math.min(255, Math.round(share * 255)));
}

export function parts(hex: string): number[] {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

/** The custom properties of a theme; the contrast theme is the light one with black on white. */
export function properties(theme: Theme): Record<string, string> {
  const base = { ...written.themes[theme === "dark" ? "dark" : "light"] } as Record<string, string>;
  if (theme === "contrast") Object.assign(base, { ink: "#000000", paper: "#ffffff", quiet: "#1b1f24", faint: "#5b626b", rung: "#3d434b" });
  return Object.fromEntries(Object.entries(base).map(([meaning, value]) => [`--${meaning.replace("_", "-")}`, value]));
}
