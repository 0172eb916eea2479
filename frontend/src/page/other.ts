// The other side of a comparison, as the link writes it: how B differs from A, which is the page itself.
//
// `step:200`, `back:10`, `run:NAME`, `member:3`, `edits`, `input:TEXT`, with commas between; the input is the last, for it
// may hold commas itself.

export interface Other {
  run?: string;
  member?: number;
  step?: number; // a clock of its own; -1 is the last step
  back?: number; // so many kept steps before A's, wherever that is; a negative number is ahead
  edits?: "a" | "b"; // which side has the edits; where nothing is said, both have them
  input?: string;
}

const NUMBERS = { member: [0, 1e6], step: [-1, 1e12], back: [-1e6, 1e6] } as const;

/** What a text says of B; a part that cannot be read is left out, and told. */
export function read_other(text: string): { other: Other; problem: string } {
  const other: Other = {};
  let problem = "";
  let rest = text;
  while (rest !== "") {
    const end = rest.startsWith("input:") || !rest.includes(",") ? rest.length : rest.indexOf(",");
    const part = rest.slice(0, end);
    rest = rest.slice(end + 1);
    const [name, ...values] = part.split(":");
    const value = values.join(":");
    if (name === "input") other.input = value;
    else if (name === "run" && value) other.run = value;
    else if (name === "edits" && (value === "" || value === "b")) other.edits = value === "b" ? "b" : "a";
    else if (name in NUMBERS && /^-?\d+$/.test(value) && within(name as keyof typeof NUMBERS, Number(value))) {
      other[name as keyof typeof NUMBERS] = Number(value);
    } else problem = `b = “${part.slice(0, 40)}” in the link is not one of step:200, back:10, run:NAME, member:3, edits, input:TEXT`;
  }
  return { other, problem };
}

/** The text of B, which `read_other` takes. */
export function write_other({ run, member, step, back, edits, input }: Other): string {
  const parts = [
    ...(run === undefined ? [] : [`run:${run}`]),
    ...Object.entries({ member, step, back }).flatMap(([name, value]) => (value === undefined ? [] : [`${name}:${value}`])),
    ...(edits === undefined ? [] : [edits === "b" ? "edits:b" : "edits"]),
    ...(input === undefined ? [] : [`input:${input}`]),
  ];
  return parts.join(",");
}

function within(name: keyof typeof NUMBERS, value: number): boolean {
  return value >= NUMBERS[name][0] && value <= NUMBERS[name][1];
}
