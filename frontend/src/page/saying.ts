// A cell in words: what the number is, and a short name for it where many stand side by side.

import { axes, is_place } from "../model/glossary";
import type { Cell } from "../model/trace";
import type { View } from "../panels/panel";
import { t } from "../words/words.svelte";

/** “score of query + at 6 with key 10 at 4, block 0, head 0”. */
export function said(cell: Cell, view: View): string {
  return t(`cell.${key(cell)}`, filled(cell, view)) + inside(cell, view);
}

/** The name of a point or a parameter. */
export function title(cell: Cell): string {
  return cell.kind === "token" ? t("cell.token.title") : cell.kind === "point" ? t(`point.${cell.name}`) : cell.name;
}

/** A name for one of several numbers: what it is a number of, and its places along the axes that tell them apart. */
export function short(cell: Cell, view: View, apart: readonly number[]): string {
  if (cell.kind === "token") return t("cell.at", at(view, cell.index[0]));
  if (cell.kind === "parameter") return `${leaf(cell.name)}[${cell.index.join(", ")}]`;
  const along = axes(cell.name);
  const places = along.flatMap((axis, k) => {
    if (!apart.includes(k)) return [];
    if (is_place(axis)) return [t("cell.at", at(view, cell.index[k]))];
    if (axis === "token") return [answer(view, cell.index[k])];
    return [axis === "feature" || axis === "neuron" ? String(cell.index[k]) : `${t(axis)} ${cell.index[k]}`];
  });
  return [t(`point.${cell.name}`), ...places].join(" ");
}

/** The axes along which cells of one point differ. */
export function apart(cells: readonly { index: readonly number[] }[]): number[] {
  const [first] = cells;
  const differ = (axis: number): boolean => cells.some((cell) => cell.index[axis] !== first.index[axis]);
  return first ? first.index.flatMap((_, axis) => (differ(axis) ? [axis] : [])) : [];
}

export function at(view: View, position: number): { name: string; k: number } {
  return { name: view.run.info.task.words[view.trace.tokens[position]] ?? "", k: position };
}

export function answer(view: View, token: number): string {
  return view.run.info.task.outputs[token] ?? String(token);
}

function key(cell: Cell): string {
  return cell.kind === "token" ? "token" : cell.kind === "point" ? cell.name : `weight.${leaf(cell.name)}`;
}

function leaf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function filled(cell: Cell, view: View): Record<string, string | number> {
  const a = view.run.architecture;
  if (cell.kind === "token") return { k: cell.index[0] };
  if (cell.kind === "point") {
    const found: Record<string, string | number> = {};
    axes(cell.name).forEach((axis, k) => {
      const place = cell.index[k];
      if (axis === "position") found.k = place;
      if (is_place(axis)) found[axis] = t("cell.at", at(view, place));
      else found[axis] = axis === "token" ? answer(view, place) : place;
    });
    return found;
  }
  const [row, column = row] = cell.index;
  const what = leaf(cell.name);
  const heads = /^(query|key|value)(_bias)?$/.test(what);
  return {
    row: what === "output" ? row % a.head_width : row,
    column: heads ? column % a.head_width : column,
    token: what === "token" ? (view.run.info.task.words[row] ?? "") : answer(view, column),
  };
}

/** Where in the model that is: block and head. */
function inside(cell: Cell, view: View): string {
  if (cell.kind === "token") return "";
  const a = view.run.architecture;
  const found: string[] = [];
  const put = (axis: string, place: number) => found.push(`${t(axis)} ${place}`);
  if (cell.kind === "point") {
    axes(cell.name).forEach((axis, k) => {
      if (axis === "block" || axis === "head") put(axis, cell.index[k]);
    });
  } else {
    const block = /^blocks\.(\d+)\./.exec(cell.name);
    const what = leaf(cell.name);
    if (block) put("block", Number(block[1]));
    const [row, column = row] = cell.index;
    if (/^(query|key|value)(_bias)?$/.test(what)) put("head", Math.floor(column / a.head_width));
    if (what === "output") put("head", Math.floor(row / a.head_width));
  }
  return found.length ? `, ${found.join(", ")}` : "";
}
