// Numbers as the page writes them: a true minus sign, digits that count, and nothing that jumps in width.

import { t } from "../words/words.svelte";

/** Three digits behind the point, fewer for large numbers; not a number: “not a number”. */
export function written(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 10 ** -digits / 2 || size >= 1e6) ? value.toExponential(2) : value.toFixed(digits);
  const bare = Number(text) === 0 ? text.replace("-", "") : text;
  return bare.replaceAll("-", "−");
}

/** Two digits behind the point, however small the number is; a dash for what is none. */
export function short(value: number): string {
  return Number.isNaN(value) ? "–" : Math.abs(value) < 0.005 ? "0.00" : written(value, 2);
}

/** A share in per cent; what is neither nothing nor all is never written as 0 or 100. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  const hundred = share * 100;
  if (share > 0 && hundred < 0.5) return "<1 %";
  if (share < 1 && hundred > 99.5) return ">99 %";
  return `${Math.round(hundred)} %`;
}

/** 20000 → 20 000, with a narrow space. */
export function thousands(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** A time that is left, no more exact than it can be known: 0.8 s, 12 s, 3 min. */
export function time_left(seconds: number): string {
  if (seconds < 10) return t("time.seconds", { n: seconds.toFixed(1) });
  if (seconds < 100) return t("time.seconds", { n: String(Math.round(seconds)) });
  if (seconds < 6000) return t("time.minutes", { n: String(Math.round(seconds / 60)) });
  return t("time.hours", { n: String(Math.round(seconds / 3600)) });
}
