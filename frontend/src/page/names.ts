// The tokens of a view's input as words.

import type { View } from "../panels/panel";

export function names(view: View): string[] {
  const { words } = view.run.info.task;
  return Array.from(view.trace.tokens, (token) => words[token]);
}

/** `+ at 6`: a token and where it stands. */
export function placed(view: View): string[] {
  return names(view).map((name, k) => `${name} at ${k}`);
}
