"""The named points of the forward pass and the axes of its arrays: one vocabulary for code, files, labels and page."""

import re
from typing import TYPE_CHECKING

from glassformer.errors import CallError, MissingError

if TYPE_CHECKING:
    from glassformer.architecture import Architecture

WHOLE = {
    "token_embedding": ("position", "feature"),
    "position_embedding": ("position", "feature"),
    "embedded": ("position", "feature"),
    "final": ("position", "feature"),
    "logits": ("position", "token"),
    "probabilities": ("position", "token"),
}
PER_BLOCK = {
    "normed_1": ("position", "feature"),
    "query": ("head", "query_position", "feature"),
    "key": ("head", "key_position", "feature"),
    "value": ("head", "key_position", "feature"),
    "scores": ("head", "query_position", "key_position"),
    "attention": ("head", "query_position", "key_position"),
    "mixed": ("head", "query_position", "feature"),
    "attended": ("position", "feature"),
    "middle": ("position", "feature"),
    "normed_2": ("position", "feature"),
    "hidden_in": ("position", "neuron"),
    "hidden": ("position", "neuron"),
    "fed": ("position", "feature"),
    "out": ("position", "feature"),
}
AXES = {  # axis → the kind of its places
    "step": "step",
    "member": "member",
    "batch": "input",
    "block": "block",
    "head": "head",
    "position": "position",
    "token": "token",
    "feature": "feature",
    "neuron": "neuron",
    # of analyses
    "window": "input",  # inputs that are judged one by one
    "pair": "pair",  # a token at a position
    "direction": "direction",  # the two directions of a plane, horizontal and vertical
    "horizontal": "quantity",  # places along the first
    "vertical": "quantity",  # and along the second
    "head_feature": "feature",  # of all heads, one after the other
    "point": "category",  # named points of the forward pass
    "part": "category",  # what a model, a sum or a count is made of
    "way": "category",  # of taking a part out
    "tensor": "category",
    "parameter": "category",  # single weights
    "group": "category",  # of tokens
    "kind": "category",  # of questions or answers
    "rung": "category",
    "role": "category",  # what a head does
    "verdict": "category",
    "quantity": "category",  # things measured, each under its name
    "statistic": "category",  # numbers that sum up one thing: mean, low, high
    "rank": "rank",  # the first, the second, ...
    "cell": "category",  # of a study
    "run": "category",
    "model": "category",  # published ones
    "word": "category",  # of a text, whole or cut into tokens
    "optimiser": "category",
    "question": "category",
    "answer": "token",  # what is answered, beside the token that came
    "choice": "category",  # how a token is chosen: the likeliest, or drawn
    "distance": "quantity",
    "temperature": "quantity",
    "rate": "quantity",
    "frequency": "quantity",
    "share": "quantity",
    "size": "quantity",  # of a model
    "argument": "quantity",  # of a function, where it is a curve
}
AGAIN = ("query_", "key_", "other_")  # who looks, who is looked at, and the same axis a second time
POINTS = (*list(WHOLE)[:3], *PER_BLOCK, *list(WHOLE)[3:])  # in the order of the computation

LENS = {  # point → its name in TransformerLens, which puts `blocks.N.` in front of those inside block N
    "token_embedding": "hook_embed",
    "position_embedding": "hook_pos_embed",
    "embedded": "blocks.0.hook_resid_pre",  # of a later block it is `out` of the one before
    "normed_1": "ln1.hook_normalized",
    "query": "attn.hook_q",
    "key": "attn.hook_k",
    "value": "attn.hook_v",
    "scores": "attn.hook_attn_scores",
    "attention": "attn.hook_pattern",
    "mixed": "attn.hook_z",
    "attended": "hook_attn_out",
    "middle": "hook_resid_mid",
    "normed_2": "ln2.hook_normalized",
    "hidden_in": "mlp.hook_pre",
    "hidden": "mlp.hook_post",
    "fed": "hook_mlp_out",
    "out": "hook_resid_post",
    "final": "ln_final.hook_normalized",
}
ROTARY = {"attn.hook_rot_q": "query", "attn.hook_rot_k": "key"}  # where positions are rotary; hook_q is not rotated yet
ENTERS = "hook_resid_pre"
IN_LENS = {name: point for point, name in LENS.items() if point != "embedded"} | ROTARY
FOREIGN = re.compile(r"(blocks\.|ln1\.|ln2\.|ln_final\.|attn\.|mlp\.)?.*hook_\w+")


def point(name: str, model: "Architecture | None" = None) -> tuple[str, int | None] | None:
    """A point and its block (None: all of them) by the point's own name, or by its name in TransformerLens.

    `blocks.0.attn.hook_pattern` is ("attention", 0). None: it is neither. A name that TransformerLens has and we have
    not is refused; so is one that the model has no place for, or under which TransformerLens has another value of it.
    """
    if name in POINTS:
        return name, None
    if not FOREIGN.fullmatch(name):
        return None
    inside = re.fullmatch(r"blocks\.(\d{1,6})\.(.+)", name)
    block, inner = (int(inside[1]), inside[2]) if inside else (None, name)
    if model and block is not None and block >= model.blocks:
        raise MissingError(f"{name!r}: this model has no block {block}; it has {model.blocks}, counted from 0")
    if inner == ENTERS and block is not None:  # what enters a block is what has left the one before
        if model and block and model.norm_place == "post" and model.norm != "none":
            raise CallError(
                f"{name!r}: with norm_place = 'post' a norm stands between out and the next block; name either"
            )
        return ("out", block - 1) if block else ("embedded", None)
    found = IN_LENS.get(inner)
    if found is None or (block is not None and found not in PER_BLOCK):
        there = [f"blocks.N.{each}" if p in PER_BLOCK else each for each, p in IN_LENS.items()]
        raise MissingError(
            f"{name!r} has no counterpart here; of TransformerLens's names these have one: "
            f"blocks.N.{ENTERS}, {', '.join(there)}"
        )
    rotary = model and model.positions == "rotary"
    if model and found in ("query", "key") and rotary is not (inner in ROTARY):
        other = inner.replace("hook_", "hook_rot_") if rotary else inner.replace("rot_", "")
        what = "are rotary, and its" if rotary else "are not rotary: its"
        raise CallError(f"{name!r}: the positions of this model {what} {found} is called {other} in TransformerLens")
    return found, block


def axes(name: str) -> tuple[str, ...]:
    """The axes of a point's array, after any batch axes (the position embedding never has those)."""
    return ("block", *PER_BLOCK[name]) if name in PER_BLOCK else WHOLE[name]


def kind(axis: str) -> str | None:
    """The kind of an axis: `token` of `token`, `key_token` and `other_token`; None: the glossary has no such axis."""
    plain = next((axis.removeprefix(again) for again in AGAIN if axis.startswith(again)), axis)
    return AXES.get(plain)
