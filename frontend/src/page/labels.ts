// Names beside points, so that they do not cover each other; each keeps its side as long as it can.

export interface Label {
  x: number;
  y: number;
  text: string;
  place?: number; // of a token in the input, written small
  after?: string; // written after both
  colour?: string; // by its meaning
  kind?: "quiet" | "region"; // stands at the point itself: a token of the vocabulary, a region's answer
}

export interface Put extends Label {
  left: number; // pixels
  top: number;
  anchor: "start" | "middle" | "end";
}

const LETTER = 8; // pixels
const HIGH = 13;
const MOVE = 0.3; // of a label's area: less overlap than this is no reason to change sides
const SIDES = [[9, 4, "start"], [-9, 4, "end"], [9, -9, "start"], [9, 17, "start"], [-9, -9, "end"], [-9, 17, "end"], [0, -11, "middle"], [0, 20, "middle"]] as const;
const MIDDLE = [0, 4, "middle"] as const;

/** Where each label is written; `sides` remembers, from one picture to the next, on which side each was. */
export function put(labels: readonly Label[], px: (x: number) => number, py: (y: number) => number, side: number, sides: number[]): Put[] {
  const boxes: [number, number, number, number][] = [];
  const found: Put[] = [];
  labels.forEach((label, k) => {
    const [x, y] = [px(label.x), py(label.y)];
    if (!(x > -20 && x < side + 20 && y > -20 && y < side + 20)) return;
    const wide = LETTER * label.text.length + 6 * (String(label.place ?? "").length + (label.after ?? "").length);
    const candidates = label.kind ? [MIDDLE, ...SIDES] : SIDES;
    let [best, least] = [0, Infinity];
    const covered = (c: number): number => {
      const [dx, dy, anchor] = candidates[c];
      const left = x + dx - (anchor === "start" ? 0 : anchor === "end" ? wide : wide / 2);
      const top = y + dy - HIGH + 2;
      let sum = left < 0 || left + wide > side || top < 0 || top + HIGH > side ? wide * HIGH : 0;
      for (const [l, t, w, h] of boxes) {
        const [over, down] = [Math.min(left + wide, l + w) - Math.max(left, l), Math.min(top + HIGH, t + h) - Math.max(top, t)];
        if (over > 0 && down > 0) sum += over * down;
      }
      return sum;
    };
    const before = sides[k] ?? 0;
    if (label.kind === "region" || covered(before) <= MOVE * wide * HIGH * (before ? 1 : 0)) best = before;
    else {
      for (let c = 0; c < candidates.length && least > 0; c++) {
        const over = covered(c);
        if (over < least) [best, least] = [c, over];
      }
      sides[k] = best;
    }
    const [dx, dy, anchor] = candidates[best];
    boxes.push([x + dx - (anchor === "start" ? 0 : anchor === "end" ? wide : wide / 2), y + dy - HIGH + 2, wide, HIGH]);
    found.push({ ...label, left: x + dx, top: y + dy, anchor });
  });
  return found;
}
