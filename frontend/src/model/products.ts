// Matrix products, norms and softmax on plain numbers: where the time of a pass goes.
//
// Sums are kept in double precision and rounded once. Every product is one inner loop over four rows of the left side
// and two columns of the right, which is copied into a small panel first: it stays in the cache and needs no converting
// there. That is four times as fast as the plain loops.

/** Which rows of a buffer are meant: `first`, `first + step`, …, so many of them. */
export interface Rows {
  first: number;
  step: number;
  count: number;
}

/** y = x · matrix + bias. The matrix (inputs, outputs) begins at `at` of the parameters, its bias at `bias`; −1: none. */
export function times(
  x: Float32Array, w: Float32Array, at: number, bias: number, y: Float32Array,
  inputs: number, outputs: number, rows: Rows, add = false,
): void {
  const into = panel(inputs);
  for (let column = 0; column < outputs; column += 2) {
    const two = column + 1 < outputs;
    for (let i = 0, p = 0, q = at + column; i < inputs; i++, p += 2, q += outputs) {
      into[p] = w[q];
      into[p + 1] = two ? w[q + 1] : 0;
    }
    const first = bias < 0 ? 0 : w[bias + column];
    const second = bias < 0 || !two ? 0 : w[bias + column + 1];
    pair(
      x, rows.first * inputs, rows.step * inputs, 1, rows.count, into, inputs,
      y, rows.first * outputs + column, rows.step * outputs, first, second, two, add,
    );
  }
}

/** y = x · matrixᵀ + bias, where the matrix is (outputs, inputs); added to what is there if `add` says so. */
export function times_turned(
  x: Float32Array, w: Float32Array, at: number, bias: number, y: Float32Array,
  inputs: number, outputs: number, rows: Rows, add = false,
): void {
  const into = panel(inputs);
  for (let column = 0; column < outputs; column += 2) {
    const two = column + 1 < outputs;
    for (let i = 0, p = 0, q = at + column * inputs; i < inputs; i++, p += 2, q++) {
      into[p] = w[q];
      into[p + 1] = two ? w[q + inputs] : 0;
    }
    const first = bias < 0 ? 0 : w[bias + column];
    const second = bias < 0 || !two ? 0 : w[bias + column + 1];
    pair(
      x, rows.first * inputs, rows.step * inputs, 1, rows.count, into, inputs,
      y, rows.first * outputs + column, rows.step * outputs, first, second, two, add,
    );
  }
}

/** xᵀ · g is added to the matrix (inputs, outputs) that begins at `at`, and the sum over rows of g to the bias. */
export function outer(
  x: Float32Array, g: Float32Array, w: Float32Array, at: number, bias: number,
  inputs: number, outputs: number, rows: Rows,
): void {
  const { first, step, count } = rows;
  const into = panel(count);
  for (let column = 0; column < outputs; column += 2) {
    const two = column + 1 < outputs;
    let sum = 0;
    let other = 0;
    for (let r = 0, p = 0, q = first * outputs + column; r < count; r++, p += 2, q += step * outputs) {
      sum += into[p] = g[q];
      other += into[p + 1] = two ? g[q + 1] : 0;
    }
    if (bias >= 0) {
      w[bias + column] += sum;
      if (two) w[bias + column + 1] += other;
    }
    pair(x, first * inputs, 1, step * inputs, inputs, into, count, w, at + column, outputs, 0, 0, two, true);
  }
}

/** Two columns of a product: rows of x, `along` apart inside a row, times the panel. */
function pair(
  x: Float32Array, begin: number, row: number, along: number, rows: number, right: Float64Array, inner: number,
  y: Float32Array, out: number, out_row: number, first: number, second: number, two: boolean, add: boolean,
): void {
  const end = 2 * inner;
  let r = 0;
  for (; r + 4 <= rows; r += 4) {
    let a = begin + r * row;
    let b = a + row;
    let c = b + row;
    let d = c + row;
    let a0 = first, b0 = first, c0 = first, d0 = first;
    let a1 = second, b1 = second, c1 = second, d1 = second;
    for (let p = 0; p < end; p += 2) {
      const u = right[p];
      const v = right[p + 1];
      const xa = x[a], xb = x[b], xc = x[c], xd = x[d];
      a0 += xa * u;
      a1 += xa * v;
      b0 += xb * u;
      b1 += xb * v;
      c0 += xc * u;
      c1 += xc * v;
      d0 += xd * u;
      d1 += xd * v;
      a += along;
      b += along;
      c += along;
      d += along;
    }
    let q = out + r * out_row;
    if (add) {
      y[q] += a0;
      y[q + out_row] += b0;
      y[q + 2 * out_row] += c0;
      y[q + 3 * out_row] += d0;
    } else {
      y[q] = a0;
      y[q + out_row] = b0;
      y[q + 2 * out_row] = c0;
      y[q + 3 * out_row] = d0;
    }
    if (!two) continue;
    q++;
    if (add) {
      y[q] += a1;
      y[q + out_row] += b1;
      y[q + 2 * out_row] += c1;
      y[q + 3 * out_row] += d1;
    } else {
      y[q] = a1;
      y[q + out_row] = b1;
      y[q + 2 * out_row] = c1;
      y[q + 3 * out_row] = d1;
    }
  }
  for (; r < rows; r++) {
    let a = begin + r * row;
    let a0 = first;
    let a1 = second;
    for (let p = 0; p < end; p += 2) {
      a0 += x[a] * right[p];
      a1 += x[a] * right[p + 1];
      a += along;
    }
    const q = out + r * out_row;
    y[q] = add ? y[q] + a0 : a0;
    if (two) y[q + 1] = add ? y[q + 1] + a1 : a1;
  }
}

let space = new Float64Array(1024);

function panel(inner: number): Float64Array {
  if (space.length < 2 * inner) space = new Float64Array(4 * inner);
  return space;
}

/** Each row brought to unit size (around its mean, if it is a layer norm), scaled by the gain, shifted by the bias. */
export function norm(
  x: Float32Array, w: Float32Array, gain: number, bias: number, y: Float32Array,
  width: number, rows: Rows, centred: boolean, epsilon: number,
): void {
  for (let r = 0; r < rows.count; r++) {
    const begin = (rows.first + r * rows.step) * width;
    let mean = 0;
    if (centred) {
      for (let k = 0; k < width; k++) mean += x[begin + k];
      mean /= width;
    }
    let square = 0;
    for (let k = 0; k < width; k++) square += (x[begin + k] - mean) ** 2;
    const inverse = 1 / Math.sqrt(square / width + epsilon);
    for (let k = 0; k < width; k++) {
      y[begin + k] = (x[begin + k] - mean) * inverse * w[gain + k] + (bias < 0 ? 0 : w[bias + k]);
    }
  }
}

/** What a norm hands back: `g` is the gradient of its rows; the gradient of x is written, or added; those of gain and bias are added. */
export function norm_back(
  x: Float32Array, w: Float32Array, gradient: Float32Array, gain: number, bias: number, g: Float32Array,
  into: Float32Array, width: number, rows: Rows, centred: boolean, epsilon: number, add: boolean,
): void {
  for (let r = 0; r < rows.count; r++) {
    const begin = (rows.first + r * rows.step) * width;
    let mean = 0;
    if (centred) {
      for (let k = 0; k < width; k++) mean += x[begin + k];
      mean /= width;
    }
    let square = 0;
    for (let k = 0; k < width; k++) square += (x[begin + k] - mean) ** 2;
    const inverse = 1 / Math.sqrt(square / width + epsilon);
    let sum = 0; // of the gradient of the unit row,
    let along = 0; // and of that times the unit row
    for (let k = 0; k < width; k++) {
      const unit = (x[begin + k] - mean) * inverse;
      const back = g[begin + k] * w[gain + k];
      sum += back;
      along += back * unit;
      gradient[gain + k] += g[begin + k] * unit;
      if (bias >= 0) gradient[bias + k] += g[begin + k];
    }
    sum = centred ? sum / width : 0;
    along /= width;
    for (let k = 0; k < width; k++) {
      const unit = (x[begin + k] - mean) * inverse;
      const back = inverse * (g[begin + k] * w[gain + k] - sum - unit * along);
      into[begin + k] = add ? into[begin + k] + back : back;
    }
  }
}

/** Positive numbers that sum to 1, of the first `many` from `begin` on; the logarithm of the sum of exponentials. */
export function softmax(x: Float32Array, y: Float32Array, begin: number, many: number): number {
  let most = -Infinity;
  for (let k = begin; k < begin + many; k++) if (x[k] > most) most = x[k];
  let sum = 0;
  for (let k = begin; k < begin + many; k++) sum += y[k] = Math.exp(x[k] - most);
  const share = 1 / sum;
  for (let k = begin; k < begin + many; k++) y[k] *= share;
  return most + Math.log(sum);
}
