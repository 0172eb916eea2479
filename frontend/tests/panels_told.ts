// A run as a report holds it, looked at by every panel.

import { EmbeddedSource } from "../src/data/embedded";
import { open } from "../src/data/open.svelte";
import { read } from "../src/model/edits";
import { chosen } from "../src/page/chosen";
import { traced } from "../src/page/looking";
import { type Page, start } from "../src/page/page";
import type { Panel, Table, View } from "../src/panels/panel";
import { show } from "../src/panels/Analyses.svelte";
import { readings } from "../src/task/reading";

interface Case {
  run: string;
  input: string;
  step: number;
  member: number;
  temperature: number;
  edits: string;
  page: Partial<Page>;
  analysis: string;
}

interface Told {
  panel: string;
  summary: string;
  table: Table;
  python: string;
}

const panels = Object.values(import.meta.glob<Panel>("../src/panels/*.svelte", { eager: true }));

export async function told(blocks: Record<string, string>, cases: Case[]): Promise<Told[][]> {
  globalThis.CSS ??= { escape: (text: string) => text } as typeof CSS;
  const page = { querySelector: (asked: string) => ({ textContent: blocks[/data-block="(.*)"/.exec(asked)![1]] }) };
  const source = new EmbeddedSource(page as unknown as ParentNode);
  const found: Told[][] = [];
  for (const { run: id, input, step, member, temperature, edits, page: chosen_there, analysis } of cases) {
    const run = await open(source, id);
    const tokens = readings(run.info.task).encode(input);
    const params = run.weights.at(step, member);
    const side = { architecture: run.architecture, params, tokens };
    const view: View = {
      run, member, step, params, edits, temperature, params_before: null, which: "a", before: edits ? traced({ ...side, edits: [] }) : null,
      trace: traced({ ...side, edits: read(edits).map((edit) => ({ edit })) }),
    };
    if (analysis) {
      const numbers = await source.analysis(id, analysis);
      show(run, numbers, numbers.arrays.find((each) => each.values.shape.length === 1)!);
    }
    const at = chosen({ ...start, ...chosen_there }, view);
    found.push(
      panels.filter(({ about }) => !about.absent?.(run)).map(({ about }) => ({ panel: about.name, summary: about.summary(view, at), table: about.table(view, at), python: about.python(view, at) })),
    );
  }
  return found;
}
