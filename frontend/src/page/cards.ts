// A card as something to paste: words, the Python that gives the same number, or the rows of its sum as CSV.

import type { Operand } from "../model/operands";
import { written_operand } from "../model/operands";
import type { View } from "../panels/panel";
import { printed } from "./digits";
import { type Made, value_of } from "./made";
import { by_hand, traced, weighed } from "./python";
import { csv } from "./saving";
import { said } from "./saying";

export function copied(how: "text" | "python" | "csv", made: Made, view: View): string {
  return how === "text" ? as_text(made, view) : how === "python" ? as_python(made, view) : as_csv(made);
}

/** `run.trace("4 9 +", step=5000)["scores"][0, 0, 2, 1]`. */
export function as_python({ cell }: Made, view: View): string {
  const index = cell.index.join(", ");
  if (cell.kind === "token") return `${traced(view)}.tokens[${index}]`;
  if (cell.kind === "parameter") return `${weighed(view)}["${cell.name}"][${index}]${by_hand(view)}`;
  return `${traced(view)}["${cell.name}"][${index}]${by_hand(view)}`;
}

function as_text(made: Made, view: View): string {
  const { cell, rows, sum } = made;
  const lines = [`${said(cell, view)}, ${view.run.info.name}, step ${view.step}`, `= ${value_of(made)}`];
  const factor = (operand: Operand): string => `${printed(operand.number)} (${written_operand(operand)})`;
  const before = made.operation === "softmax" ? "e^" : "";
  rows.forEach((row, k) => {
    lines.push(`  ${k ? "+" : " "} ${sum.terms[k]} = ${before}${row.factors.map(factor).join(" × ")}`);
  });
  if (made.operation === "softmax") lines.push(`  = ${sum.value}, of which this is the share`);
  return lines.join("\n") + "\n";
}

function as_csv({ rows, operation, value, cell }: Made): string {
  const many = Math.max(1, ...rows.map((row) => row.factors.length));
  const columns = Array.from({ length: many }, (_, k) => [`factor ${k}`, `number ${k}`]).flat();
  const adds = operation === "softmax" ? "exponential" : "adds";
  const pair = (operand?: Operand): (string | number)[] => (operand ? [written_operand(operand), operand.number] : ["", ""]);
  const made = rows.map((row) => [...Array.from({ length: many }, (_, k) => pair(row.factors[k])).flat(), row.number]);
  const name = cell.kind === "token" ? "token" : written_operand({ ...cell, number: value });
  const whole = [name, ...Array<string>(2 * many - 1).fill(""), value];
  return csv({ head: [...columns, adds], rows: [...made, whole] });
}
