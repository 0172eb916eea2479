// The page's own words. A language is a file beside this one; the key sets of all of them are equal.

import de from "./de.json";
import en from "./en.json";

const languages: Record<string, Record<string, string>> = { en, de };
export const LANGUAGES: Record<string, string> = { en: "English", de: "Deutsch" };

let current = $state("en");

export const words = {
  get lang(): string {
    return current;
  },
  set lang(lang: string) {
    current = lang in languages ? lang : "en";
  },
};

/** The words under a key, with {names} filled in; `{n|one|many}` chooses by a number. */
export function t(key: string, values: Record<string, string | number> = {}): string {
  const text = languages[current][key] ?? en[key as keyof typeof en] ?? key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (one !== undefined && many !== undefined) return Number(value) === 1 ? one : many;
    return typeof value === "number" ? number(value) : String(value ?? "");
  });
}

/** Whether there are words under a key. */
export function has(key: string): boolean {
  return key in en;
}

/** A whole number in groups of three, any other as it is given. */
export function number(value: number): string {
  return Number.isInteger(value) ? new Intl.NumberFormat(current).format(value) : String(value);
}
