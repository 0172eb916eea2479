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

/** The parts of a text about B; of those with the same name, the last. */
export function other_parts(text: string): string[] {
  const begin = /(?:^|,)input:/.exec(text);
  const before = text.slice(0, begin?.index ?? text.length).split(",");
  const parts = [...before, ...(begin ? [text.slice(begin.index).replace(/^,/, "")] : [])].filter((part) => part !== "");
  return [...new Map(parts.map((part) => [part.split(":", 1)[0], part])).values()];
}

/** What one part says of B; null if it cannot be read. */
export function read_part(part: string): Other | null {
  const [name, ...values] = part.split(":");
  const value = values.join(":");
  if (name === "input") return { input: value };
  if (name === "run" && value) return { run: value };
  if (name === "edits" && (value === "" || value === "b")) return { edits: value === "b" ? "b" : "a" };
  const number = Object.hasOwn(NUMBERS, name) && /^-?\d+$/.test(value) && within(name as keyof typeof NUMBERS, Number(value));
  return number ? { [name]: Number(value) } : null;
}

/** What a text says of B; a part that cannot be read says nothing. */
export function read_other(text: string): Other {
  return Object.assign({}, ...other_parts(text).map(read_part));
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
