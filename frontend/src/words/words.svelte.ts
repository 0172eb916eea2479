// The page's own words. A language is a file beside this one; the key sets of all of them are equal. They come with the
// data, so that a language more makes no page larger.

type Words = Record<string, string>;

const languages: Record<string, Words> = {};
export const LANGUAGES: Record<string, string> = { en: "English", de: "Deutsch" };

/** Learn every language before the first word is needed. */
export async function learn(words: (lang: string) => Promise<Words>): Promise<void> {
  await Promise.all(Object.keys(LANGUAGES).map(async (lang) => (languages[lang] = await words(lang))));
}

let current = $state("en");

export const words = {
  get lang(): string {
    return current;
  },
  set lang(lang: string) {
    current = lang;
  },
};

/** The words under a key, with {names} filled in; `{n|one|many}` chooses by a number. */
export function t(key: string, values: Record<string, string | number> = {}): string {
  const text = languages[current]?.[key] ?? languages.en?.[key] ?? key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (one !== undefined && many !== undefined) return Number(value) === 1 ? one : many;
    return typeof value === "number" ? number(value) : String(value ?? "");
  });
}

/** The words about the judged windows; where nothing is held out, these are windows of the training: `key.same`. */
export function judged_text(key: string, task: { held_out?: boolean }, values: Record<string, string | number> = {}): string {
  return t(task.held_out === false && has(`${key}.same`) ? `${key}.same` : key, values);
}

/** Whether there are words under a key. */
export function has(key: string): boolean {
  return key in (languages.en ?? {});
}

let grouping: { lang: string; format: (value: number) => string } | null = null;

/** A whole number in groups of three, any other as it is given. */
export function number(value: number): string {
  if (!Number.isInteger(value)) return String(value);
  if (grouping?.lang !== current) grouping = { lang: current, format: new Intl.NumberFormat(current).format }; // dear to make
  return grouping.format(value);
}
