// The named points of the forward pass and the axes of their numbers: the twin of glossary.py.

import { has_blocks, type Architecture } from "./architecture";
import { CallError } from "./errors";

/** Points of the whole model, with their axes. */
export const WHOLE: Readonly<Record<string, readonly string[]>> = {
  token_embedding: ["position", "feature"],
  position_embedding: ["position", "feature"],
  embedded: ["position", "feature"],
  final: ["position", "feature"],
  logits: ["position", "token"],
  probabilities: ["position", "token"],
};

/** Points inside every block, with their axes after `block`. */
export const PER_BLOCK: Readonly<Record<string, readonly string[]>> = {
  normed_1: ["position", "feature"],
  query: ["head", "query_position", "feature"],
  key: ["head", "key_position", "feature"],
  value: ["head", "key_position", "feature"],
  scores: ["head", "query_position", "key_position"],
  attention: ["head", "query_position", "key_position"],
  mixed: ["head", "query_position", "feature"],
  attended: ["position", "feature"],
  middle: ["position", "feature"],
  normed_2: ["position", "feature"],
  hidden_in: ["position", "neuron"],
  hidden: ["position", "neuron"],
  fed: ["position", "feature"],
  out: ["position", "feature"],
};

/** Every point, in the order of the computation. */
export const POINTS: readonly string[] = [
  ...Object.keys(WHOLE).slice(0, 3),
  ...Object.keys(PER_BLOCK),
  ...Object.keys(WHOLE).slice(3),
];

/** The axes of a point's numbers, `block` first for the points inside blocks. */
export function axes(name: string): readonly string[] {
  return Object.hasOwn(PER_BLOCK, name) ? ["block", ...PER_BLOCK[name]] : WHOLE[name];
}

/** The points that a model of these settings has, in the order of the computation. */
export function points_of(a: Architecture): string[] {
  const asks = ["query", "key", "scores"];
  const looks = ["normed_1", "value", "attention", "mixed", "attended"];
  const feeds = ["normed_2", "hidden_in", "hidden", "fed"];
  return POINTS.filter((name) => {
    if (name === "position_embedding") return a.positions === "learned" || a.positions === "sinusoidal";
    if (asks.includes(name)) return a.attention === "on";
    if (looks.includes(name)) return a.attention !== "off";
    if (feeds.includes(name)) return a.feed_forward > 0;
    return has_blocks(a) || !Object.hasOwn(PER_BLOCK, name);
  });
}

/** Whether an axis counts the positions of an input. */
export function is_place(axis: string): boolean {
  return axis.endsWith("position");
}

/** Point → its name in TransformerLens, which puts `blocks.N.` in front of those inside block N. */
export const LENS: Readonly<Record<string, string>> = {
  token_embedding: "hook_embed",
  position_embedding: "hook_pos_embed",
  embedded: "blocks.0.hook_resid_pre", // of a later block it is `out` of the one before
  normed_1: "ln1.hook_normalized",
  query: "attn.hook_q",
  key: "attn.hook_k",
  value: "attn.hook_v",
  scores: "attn.hook_attn_scores",
  attention: "attn.hook_pattern",
  mixed: "attn.hook_z",
  attended: "hook_attn_out",
  middle: "hook_resid_mid",
  normed_2: "ln2.hook_normalized",
  hidden_in: "mlp.hook_pre",
  hidden: "mlp.hook_post",
  fed: "hook_mlp_out",
  out: "hook_resid_post",
  final: "ln_final.hook_normalized",
};
// Where positions are rotary; hook_q is not rotated yet
const ROTARY: Record<string, string> = { "attn.hook_rot_q": "query", "attn.hook_rot_k": "key" };
const ENTERS = "hook_resid_pre";
const IN_LENS = new Map<string, string>([
  ...Object.entries(LENS)
    .filter(([name]) => name !== "embedded")
    .map(([name, lens]): [string, string] => [lens, name]),
  ...Object.entries(ROTARY),
]);
const FOREIGN = /^(blocks\.|ln1\.|ln2\.|ln_final\.|attn\.|mlp\.)?.*hook_\w+$/;

/** A point and its block (null: all of them) by the point's own name, or by its name in TransformerLens.
 *
 * `blocks.0.attn.hook_pattern` is attention of block 0. Null: it is neither. A name that TransformerLens has and we
 * have not is refused; so is one that the model has no place for, or under which TransformerLens has another value. */
export function point(name: string, model?: Architecture): { point: string; block: number | null } | null {
  if (POINTS.includes(name)) return { point: name, block: null };
  if (!FOREIGN.test(name)) return null;
  const inside = /^blocks\.(\d{1,6})\.(.+)$/.exec(name);
  const block = inside ? Number(inside[1]) : null;
  const inner = inside ? inside[2] : name;
  if (model && block !== null && block >= model.blocks) {
    throw new CallError(`'${name}': this model has no block ${block}; it has ${model.blocks}, counted from 0`);
  }
  if (inner === ENTERS && block !== null) {
    if (model && block && model.norm_place === "post" && model.norm !== "none") {
      throw new CallError(
        `'${name}': with norm_place = 'post' a norm stands between out and the next block; name either`,
      );
    }
    return block ? { point: "out", block: block - 1 } : { point: "embedded", block: null };
  }
  const found = IN_LENS.get(inner);
  if (found === undefined || (block !== null && !Object.hasOwn(PER_BLOCK, found))) {
    const there = [...IN_LENS].map(([lens, own]) => (Object.hasOwn(PER_BLOCK, own) ? `blocks.N.${lens}` : lens));
    throw new CallError(
      `'${name}' has no counterpart here; of TransformerLens's names these have one: ` +
        `blocks.N.${ENTERS}, ${there.join(", ")}`,
    );
  }
  const rotary = model?.positions === "rotary";
  if (model && (found === "query" || found === "key") && rotary !== inner in ROTARY) {
    const other = rotary ? inner.replace("hook_", "hook_rot_") : inner.replace("rot_", "");
    const what = rotary ? "are rotary, and its" : "are not rotary: its";
    throw new CallError(
      `'${name}': the positions of this model ${what} ${found} is called ${other} in TransformerLens`,
    );
  }
  return { point: found, block };
}
