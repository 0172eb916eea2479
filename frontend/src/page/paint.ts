// Numbers as colours: one pixel for each cell of a matrix, or for each bin of a larger one.

import { type Map, type Theme, table } from "./colours";

export const MOST = 512; // cells along a side; larger matrices are averaged into bins

export interface Matrix {
  data: ArrayLike<number>; // row by row
  rows: number;
  columns: number;
  masked?: (row: number, column: number) => boolean;
}

/** How many pixels along each side a matrix is painted with. */
export function sides({ rows, columns }: Matrix): { down: number; across: number } {
  return { down: Math.min(rows, MOST), across: Math.min(columns, MOST) };
}

const pictures = new WeakMap<HTMLCanvasElement, ImageData>();

/** Paint a matrix on a canvas of its sides. What is masked, or not a number, stays clear: the hatching behind shows. */
export function paint(canvas: HTMLCanvasElement, matrix: Matrix, map: Map, [low, high]: readonly [number, number], theme: Theme): void {
  const { down, across } = sides(matrix);
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  const context = canvas.getContext("2d");
  if (!context) return;
  let picture = pictures.get(canvas);
  if (picture?.width !== across || picture.height !== down) pictures.set(canvas, (picture = context.createImageData(across, down)));
  const pixels = new Uint32Array(picture.data.buffer);
  const colours = new Uint32Array(table(map, theme).buffer);
  const { data, rows, columns, masked } = matrix;
  const binned = down < rows || across < columns;
  const scale = 255 / (high - low || 1);
  for (let i = 0, k = 0; i < down; i++) {
    for (let j = 0; j < across; j++, k++) {
      const value = binned ? mean(matrix, i, j, down, across) : data[i * columns + j];
      const place = Math.round((value - low) * scale);
      pixels[k] = place !== place || masked?.(i, j) ? 0 : colours[place < 0 ? 0 : place > 255 ? 255 : place];
    }
  }
  context.putImageData(picture, 0, 0);
}

/** The mean of the cells that share a bin. */
export function mean({ data, rows, columns }: Matrix, i: number, j: number, down: number, across: number): number {
  const [i0, i1] = [Math.floor((i * rows) / down), Math.ceil(((i + 1) * rows) / down)];
  const [j0, j1] = [Math.floor((j * columns) / across), Math.ceil(((j + 1) * columns) / across)];
  let sum = 0;
  for (let a = i0; a < i1; a++) for (let b = j0; b < j1; b++) sum += data[a * columns + b];
  return sum / ((i1 - i0) * (j1 - j0));
}
