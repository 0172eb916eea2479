// The runs that lie inside this very file: gzip and base64 in blocks of text, unpacked when they are asked for.

import { slots } from "../model/architecture";
import type { Analysis, DataSource, Examples, Metrics, RunCard, RunInfo, Split, TaskData, Weights } from "./source";
import type { Lesson } from "../page/lesson";
import { type Tensor, tensors } from "./safetensors";

interface Index {
  version: number;
  glassformer: string;
  runs: RunCard[];
  link: string;
}

export class EmbeddedSource implements DataSource {
  can = { train: ["page" as const], live: false };
  private cache = new Map<string, Promise<unknown>>();

  constructor(private root: ParentNode) {}

  index(): Promise<Index> {
    return this.json("index");
  }

  async text(name: string): Promise<string> {
    return new TextDecoder().decode(await this.bytes(name));
  }

  words(lang: string): Promise<Record<string, string>> {
    return this.json(`words/${lang}`);
  }

  /** Whether there is a lesson, and the lesson. */
  get taught(): boolean {
    return this.block("lesson") !== null;
  }

  lesson(): Promise<Lesson> {
    return this.json("lesson");
  }

  async runs(): Promise<RunCard[]> {
    return (await this.index()).runs;
  }

  run(id: string): Promise<RunInfo> {
    return this.json(`${id}/info`);
  }

  metrics(id: string): Promise<Metrics> {
    return this.json(`${id}/metrics`);
  }

  async analysis(id: string, name: string): Promise<Analysis> {
    const found = await this.json<Analysis>(`${id}/analysis/${name}`);
    const arrays = found.arrays.map((each) => {
      const written = each.values.data as unknown as (number | null)[]; // as JSON has it: null is not a number
      return { ...each, values: { ...each.values, data: Float32Array.from(written, (value) => value ?? NaN) } };
    });
    return { ...found, arrays };
  }

  async weights(id: string): Promise<Weights> {
    const info = await this.run(id);
    const found = tensors(await this.bytes(`${id}/weights`));
    const places = slots(info.experiment.architecture);
    const total = places.reduce((all, slot) => all + slot.size, 0);
    const row = new Map(info.steps.map((step, k) => [step, k]));
    return {
      steps: info.steps,
      at(step, member) {
        const k = row.get(step);
        if (k === undefined) throw new Error(`step ${step} is not embedded`);
        const params = new Float32Array(total);
        for (const slot of places) {
          const { data } = found.get(slot.name) as Tensor;
          const begin = (k * info.members + member) * slot.size;
          params.set((data as Float32Array).subarray(begin, begin + slot.size), slot.begin);
        }
        return params;
      },
    };
  }

  async data(id: string): Promise<TaskData | null> {
    if (!this.block(`${id}/data`)) return null;
    const info = await this.run(id);
    const found = tensors(await this.bytes(`${id}/data`));
    const at = (name: string) => (found.get(name) as Tensor).data;
    const split = (part: string): Split => ({
      tokens: at(`${part}.tokens`) as Int32Array,
      starts: at(`${part}.starts`) as Int32Array,
      windows: at(`${part}.windows`) as Int32Array,
    });
    const examples = (part: string): Examples => {
      const shape = (found.get(`${part}.truth`) as Tensor).shape;
      return {
        count: shape[0],
        places: shape[1],
        few: at(`${part}.few`)[0],
        windows: at(`${part}.windows`) as Int32Array,
        constrained: at(`${part}.constrained`) as Uint8Array,
        answerable: at(`${part}.answerable`) as Uint8Array,
        allowed: at(`${part}.allowed`) as Uint8Array,
        kind: at(`${part}.kind`) as Int8Array,
        source: at(`${part}.source`) as Int32Array,
        truth: at(`${part}.truth`) as Float32Array,
      };
    };
    return {
      train: split("train"),
      order: info.order,
      validation: examples("validation"),
      fit: examples("fit"),
      test: found.has("test.truth") ? examples("test") : null,
      files: Object.fromEntries(
        [...found].filter(([name]) => name.startsWith("file.")).map(([name, file]) => [name.slice(5), file.data as Uint8Array]),
      ),
    };
  }

  private block(name: string): Element | null {
    return this.root.querySelector(`script[data-block="${CSS.escape(name)}"]`);
  }

  private json<T>(name: string): Promise<T> {
    let found = this.cache.get(name);
    if (!found) {
      found = this.bytes(name).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
      this.cache.set(name, found);
    }
    return found as Promise<T>;
  }

  private async bytes(name: string): Promise<Uint8Array> {
    const block = this.block(name);
    if (!block) throw new Error(`this file holds no ${name}`);
    // `fetch` of a data address would be refused by the file's own policy
    const text = atob((block.textContent ?? "").trim());
    const packed = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) packed[k] = text.charCodeAt(k);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
}
