// Steps a second of the page's model in Node: forward, loss, backward and one update by AdamW, on random tokens.
//
//     node benchmarks/page_model.mjs [SECONDS]
//
// The three models are those of the experiments of the same names. Needs the packages of frontend/ (npm ci).

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const page = fileURLToPath(new URL("../frontend/", import.meta.url));
const { rolldown } = await import(join(page, "node_modules/rolldown/dist/index.mjs"));
const folder = mkdtempSync(join(tmpdir(), "page_model-"));
const bundle = await rolldown({ input: join(page, "src/model/model.ts"), logLevel: "silent" });
await bundle.write({ file: join(folder, "model.mjs") });
const { Model } = await import(join(folder, "model.mjs"));
rmSync(folder, { recursive: true });

const plain = {
  blocks: 1, heads: 1, activation: "relu", norm: "none", norm_place: "pre", norm_epsilon: 1e-5, final_norm: false,
  positions: "learned", causal: true, residual: true, attention: "on", output_projection: true,
  biases: ["feed_forward", "norm", "read_out"], tied_embedding: false, score_scale: "head", dropout: 0,
  read_position: null, embedding_init: 1, linear_init: "fan_in",
};
const models = {
  plus_last_even: [8, {
    ...plain, vocabulary: 12, outputs: 12, context: 8, width: 2, head_width: 2, feed_forward: 32,
    output_projection: false,
  }],
  mary: [16, {
    ...plain, vocabulary: 35, outputs: 35, context: 6, width: 32, blocks: 2, heads: 2, head_width: 16,
    feed_forward: 128, norm: "layer", final_norm: true, biases: [...plain.biases, "projection"],
  }],
  five_operations: [32, {
    ...plain, vocabulary: 20, outputs: 20, context: 8, width: 64, blocks: 2, heads: 4, head_width: 16,
    feed_forward: 256, norm: "layer", norm_place: "post", positions: "sinusoidal", causal: false, read_position: 0,
  }],
};

const seconds = Number(process.argv[2] ?? 3);
for (const [name, [batch, a]] of Object.entries(models)) {
  const model = new Model(a, batch, a.context);
  const size = model.gradient.length;
  let state = 1;
  const chance = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const params = Float32Array.from({ length: size }, () => (chance() - 0.5) * 0.6);
  const tokens = Int32Array.from({ length: batch * a.context }, () => Math.floor(chance() * a.vocabulary));
  const targets = Int32Array.from({ length: batch * a.context }, () => Math.floor(chance() * a.outputs));
  const [first, second] = [new Float32Array(size), new Float32Array(size)];
  let steps = 0;
  const step = () => {
    model.answers(params, tokens);
    const loss = model.lossGradient(targets);
    model.backward();
    const g = model.gradient;
    for (let k = 0; k < size; k++) {
      first[k] = 0.9 * first[k] + 0.1 * g[k];
      second[k] = 0.999 * second[k] + 0.001 * g[k] * g[k];
      params[k] -= 1e-3 * (first[k] / (Math.sqrt(second[k]) + 1e-8) + 0.01 * params[k]);
    }
    steps++;
    return loss;
  };
  const run = (span) => {
    const [began, used] = [performance.now(), process.cpuUsage().user];
    steps = 0;
    while (performance.now() - began < span) for (let k = 0; k < 10; k++) step();
    return [(1000 * steps) / (performance.now() - began), (1e6 * steps) / (process.cpuUsage().user - used)];
  };
  run(1000 * Math.min(1, seconds));
  const rounds = Array.from({ length: 3 }, () => run((1000 * seconds) / 3));
  const [speed, alone] = [0, 1].map((which) => Math.max(...rounds.map((each) => each[which])).toPrecision(3) * 1);
  console.log(`${name}: ${size} parameters, batch ${batch}: ${speed} steps a second, ${alone} per second of processor time`);
}
