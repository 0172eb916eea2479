"""Every switch of the transformer, and the shapes of the parameters that follow from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from glassformer.errors import CallError, LimitError
from glassformer.settings import setting

Bias = Literal["attention", "projection", "feed_forward", "norm", "read_out"]
MOST_PARAMETERS = 20_000_000
SHAPE = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The settings of one transformer. The defaults are the plain two-dimensional model of the rule tasks."""

    vocabulary: int = setting("tokens there are; follows from the data", least=1, most=65_536)
    outputs: int | None = setting("tokens that can be answered; absent: the whole vocabulary", None, least=1,
                                  most=65_536)  # fmt: skip
    context: int = setting("how many tokens the model sees at once", least=1, most=4096)
    width: int = setting("features of the residual stream", 2, least=1, most=4096)
    blocks: int = setting("blocks of attention and feed-forward, one after the other", 1, least=1, most=64)
    heads: int = setting("attention heads of each block", 1, least=1, most=256)
    head_width: int | None = setting("features of one head; absent: width / heads", None, least=1, most=4096)
    feed_forward: int = setting("neurons between the two matrices; 0: none", 32, least=0, most=65_536)
    activation: Literal["relu", "gelu", "tanh"] = setting("what a neuron does to its sum", "relu")
    norm: Literal["none", "layer", "rms"] = setting("how the stream is normed", "none")
    norm_place: Literal["pre", "post"] = setting("norms before each branch, or after each sum", "pre")
    norm_epsilon: float = setting("added to the variance in a norm", 1e-5, above=0.0)
    final_norm: bool = setting("a norm before the read-out", False)
    positions: Literal["learned", "sinusoidal", "rotary", "none"] = setting("how places are told apart", "learned")
    causal: bool = setting("a position sees itself and what lies before it; false: all of them", True)
    residual: bool = setting("what a branch gives is added to the stream; false: it takes its place", True)
    attention: Literal["on", "off", "mean"] = setting("mean: every position in view counts the same", "on")
    output_projection: bool = setting("a matrix after the heads", True)
    biases: tuple[Bias, ...] = setting("which parts have biases", ("feed_forward", "norm", "read_out"))
    tied_embedding: bool = setting("the read-out is the token embedding turned round", False)
    score_scale: Literal["head", "width"] = setting("scores are divided by the root of this width", "head")
    dropout: float = setting("share of values left out at random in training", 0.0, least=0.0, below=1.0)
    read_position: int | None = setting("where the one answer is read; absent: at every position", None, least=0,
                                        most=4096)  # fmt: skip
    embedding_init: float = setting("standard deviation of the first embeddings", 1.0, above=0.0)
    linear_init: Literal["fan_in", "xavier", "normal", "plain_normal"] = setting(
        "how matrices begin; plain_normal: 0.02 for all of them", "fan_in"
    )

    def __post_init__(self) -> None:
        if self.head_width is None:
            if self.width % self.heads:
                raise CallError(
                    f"width = {self.width} cannot be shared among heads = {self.heads}; "
                    "make it a multiple, or set head_width"
                )
            object.__setattr__(self, "head_width", self.width // self.heads)
        if self.outputs is None:
            object.__setattr__(self, "outputs", self.vocabulary)
        if self.attention != "off" and not self.output_projection and self.inner != self.width:
            raise CallError(
                f"heads × head_width = {self.heads} × {self.head_width} = {self.inner} cannot be added to "
                f"width = {self.width} without an output projection; set it, or make the two equal"
            )
        if not self.output_projection and "projection" in self.biases:
            raise CallError("biases names 'projection', but output_projection = false; leave one of them out")
        if self.positions == "rotary" and self.per_head % 2:
            raise CallError(
                f"positions = 'rotary' turns pairs of features, but head_width = {self.head_width} is odd; make it even"
            )
        if self.positions == "rotary" and self.attention != "on":
            raise CallError(
                f"positions = 'rotary' acts on queries and keys, but attention = {self.attention!r} has none; "
                "choose other positions"
            )
        if self.norm == "none" and self.final_norm:
            raise CallError("final_norm = true needs a norm, but norm = 'none'; choose 'layer' or 'rms'")
        if self.tied_embedding and self.outputs != self.vocabulary:
            raise CallError(
                f"tied_embedding = true reads out all of vocabulary = {self.vocabulary}, but outputs = {self.outputs}; "
                "leave outputs out, or untie"
            )
        if self.outputs is not None and self.outputs > self.vocabulary:
            raise CallError(f"outputs = {self.outputs} is more than vocabulary = {self.vocabulary}; make it smaller")
        if self.read_position is not None and self.read_position >= self.context:
            raise CallError(
                f"read_position = {self.read_position} lies outside context = {self.context}; "
                f"choose 0 to {self.context - 1}"
            )
        if self.attention == "off" and self.feed_forward == 0 and not self.residual:
            raise CallError("attention = 'off', feed_forward = 0 and residual = false leave nothing; switch one on")
        if (count := self.parameters) > MOST_PARAMETERS:
            raise LimitError(
                f"this model has {count:,} parameters, more than the {MOST_PARAMETERS:,} this laboratory is made for; "
                "lower width, blocks, feed_forward, vocabulary or context"
            )

    @property
    def per_head(self) -> int:
        """Features of one query, key or value."""
        assert self.head_width is not None
        return self.head_width

    @property
    def inner(self) -> int:
        """Features of all heads side by side."""
        return self.heads * self.per_head

    @property
    def answers(self) -> int:
        """How many tokens can be answered."""
        assert self.outputs is not None
        return self.outputs

    def shapes(self) -> dict[str, SHAPE]:
        """Shape of every parameter by name, in the order of the computation; a matrix maps rows to columns."""
        shapes: dict[str, SHAPE] = {"token": (self.vocabulary, self.width)}
        if self.positions == "learned":
            shapes["position"] = (self.context, self.width)
        for block in range(self.blocks):
            shapes |= {f"blocks.{block}.{name}": shape for name, shape in self._block_shapes().items()}
        if self.final_norm:
            shapes |= self._norm_shapes("norm")
        if not self.tied_embedding:
            shapes["read_out"] = (self.width, self.answers)
        if "read_out" in self.biases:
            shapes["read_out_bias"] = (self.answers,)
        return shapes

    @property
    def parameters(self) -> int:
        """How many numbers the model learns."""
        return sum(prod(shape) for shape in self.shapes().values())

    def traced(self, length: int) -> int:
        """How many numbers a trace of one input of so many tokens holds, roughly: scores and attention grow fastest."""
        per_token = 6 * self.width + 4 * self.inner + 2 * self.feed_forward + 2 * self.heads * length
        return length * (self.blocks * per_token + 2 * self.answers)

    def _norm_shapes(self, name: str) -> dict[str, SHAPE]:
        shapes: dict[str, SHAPE] = {name: (self.width,)} if self.norm != "none" else {}
        if self.norm == "layer" and "norm" in self.biases:
            shapes[f"{name}_bias"] = (self.width,)
        return shapes

    def _block_shapes(self) -> dict[str, SHAPE]:
        shapes: dict[str, SHAPE] = {}
        if self.attention != "off":
            shapes |= self._norm_shapes("norm_1")
            projections = ("query", "key", "value") if self.attention == "on" else ("value",)
            for name in projections:
                shapes[name] = (self.width, self.inner)
                if "attention" in self.biases:
                    shapes[f"{name}_bias"] = (self.inner,)
            if self.output_projection:
                shapes["output"] = (self.inner, self.width)
                if "projection" in self.biases:
                    shapes["output_bias"] = (self.width,)
        if self.feed_forward:
            shapes |= self._norm_shapes("norm_2")
            for name, shape in {
                "expand": (self.width, self.feed_forward),
                "contract": (self.feed_forward, self.width),
            }.items():
                shapes[name] = shape
                if "feed_forward" in self.biases:
                    shapes[f"{name}_bias"] = shape[1:]
        return shapes


def part(name: str) -> str:
    """The part of the model a parameter belongs to: embedding, positions, attention 0, feed-forward 0, read-out."""
    if name.startswith("blocks."):
        _, block, leaf = name.split(".")
        side = "feed_forward" if leaf.startswith(("expand", "contract", "norm_2")) else "attention"
        return f"{side}_{block}"
    return {"token": "embedding", "position": "positions"}.get(name, "read_out")


def sinusoids(context: int, width: int) -> np.ndarray:
    """(position, feature): sines and cosines by turns, each pair slower than the one before."""
    angle = np.arange(context)[:, None] * 10_000.0 ** (-np.arange(0, width, 2) / width)
    table = np.zeros((context, width))
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)[:, : width // 2]
    return table


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by name → nested by block: `blocks.0.query` → ["blocks"][0]["query"]."""
    nested: dict[str, Any] = {"blocks": []}
    for name, value in flat.items():
        if name.startswith("blocks."):
            _, block, leaf = name.split(".")
            while len(nested["blocks"]) <= int(block):
                nested["blocks"].append({})
            nested["blocks"][int(block)][leaf] = value
        else:
            nested[name] = value
    return nested
