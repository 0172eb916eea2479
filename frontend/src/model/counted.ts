// Which predictions of a window count, in training as in judging: the twin of counted.py.

import type { Architecture } from "./architecture";

/** What should be answered at every position of windows, (window, length + 1): −1 where the prediction does not count.
 *
 * All after those that the task skips; or one, made at the position that is read, of the window's last token. */
export function counted(
  windows: Int32Array, a: Architecture, length: number, skip: number,
  into: Int32Array = new Int32Array((windows.length / (length + 1)) * length),
): Int32Array {
  const place = a.read_position ?? null;
  for (let row = 0; row * (length + 1) < windows.length; row++) {
    const [from, to] = [row * (length + 1), row * length];
    for (let k = 0; k < length; k++) {
      if (place === null) into[to + k] = k < skip ? -1 : windows[from + k + 1];
      else into[to + k] = k === place ? windows[from + length] : -1;
    }
  }
  return into;
}
