"""What the model is made of: every part in the order of the computation, with its actual shapes."""

from dataclasses import dataclass

import numpy as np

from glassformer import architecture as model
from glassformer.analyses._result import Labelled, Result, listed, result, thousands
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.01", "3.§3.4", "3.§3.5", "3.§8", "3.§9", "1.A")
COST = "a"
EDITS = "data"


@dataclass(frozen=True)
class Box:
    """One part: its name, what it does or is made of, the shape that leaves it, and whether it is switched off."""

    name: str
    made_of: str = ""
    leaves: str = ""
    belongs: str = ""  # to query, key, value or feed_forward
    opened: tuple[str, ...] = ()  # the names of what shows it from within
    off: bool = False
    point: str = ""  # the name of what leaves it, where that is not the name of the box


@result
class Built(Result):
    """The parts of one model by key, its settings in words, and its parameters by part."""

    boxes: dict[str, Box]
    settings: tuple[tuple[str, str], ...]
    parts: Labelled  # (part,): parameters
    parameters: int
    embeddings: int  # parameters, those of positions included
    each_block: tuple[int, ...]  # parameters
    read_out: int  # parameters
    width: int
    blocks: int
    norm_place: str  # pre or post; empty: no norm
    final_norm: bool
    residual: bool
    read: int  # the position at which the answer is read; -1: every one
    off: tuple[str, ...]  # what is switched off, in words
    task: str

    @property
    def title(self) -> str:
        """How large it is, and what it lacks."""
        blocks = "one block" if self.blocks == 1 else f"{self.blocks} blocks"
        title = (
            f"{thousands(self.parameters)} parameters in {blocks} of width {self.width} turn the tokens of {self.task} "
            "into probabilities"
        )
        if not self.off:
            return title
        many = len(self.off) > 1 or self.off[0].endswith("s")
        return f"{title}; {listed(list(self.off))} {'are' if many else 'is'} left out"


def architecture(run: Run) -> Built:
    """The parts of a run's model, from its own settings."""
    a, batch = run.architecture, run.experiment.train.batch
    stream = _shape(batch, a.context, a.width)
    asks, looks, feeds = a.attention == "on", a.attention != "off", a.feed_forward > 0
    scale = a.per_head if a.score_scale == "head" else a.width
    own = f"{f'{a.heads} × ' if a.heads > 1 else ''}{_shape(a.width, a.per_head)}"
    head = _shape(batch, a.heads, a.context, a.per_head) if a.heads > 1 else _shape(batch, a.context, a.per_head)
    pairs = _shape(batch, a.heads, a.context, a.context) if a.heads > 1 else _shape(batch, a.context, a.context)
    read = _shape(batch, a.answers) if a.read_position is not None else _shape(batch, a.context, a.answers)
    norm = {"none": "norm", "layer": "layer norm", "rms": "RMS norm"}[a.norm]
    placed = {"learned": _shape(a.context, a.width), "sinusoidal": "fixed waves", "rotary": "rotary", "none": ""}[
        a.positions
    ]
    boxes = {
        "tokens": Box("tokens", f"{a.context} ids", _shape(batch, a.context)),
        "token": Box("token embedding", _shape(a.vocabulary, a.width), stream, opened=("vocabulary", "embeddings")),
        "position": Box(
            "position embedding" if a.positions != "rotary" else "positions turn Q, K",
            placed,
            _shape(a.context, a.width) if a.positions in ("learned", "sinusoidal") else "",
            opened=("positions",) if a.positions in ("learned", "sinusoidal") else (),
            off=a.positions == "none",
        ),
        "norm_1": Box(norm, "", stream, off=a.norm == "none" or not looks),
        "query": Box("query", own, head, "query", ("qkv", "head_split"), off=not asks),
        "key": Box("key", own, head, "key", off=not asks),
        "value": Box("value", own, head, "value", off=not looks),
        "scores": Box("scores", f"Q · K / √{scale}", pairs, opened=("query_key_space", "scoring"), off=not asks),
        "attention": Box(
            "mask, softmax" if a.causal else "softmax",
            "equal shares" if a.attention == "mean" else "rows sum to 1",
            pairs,
            opened=("attention", "mask"),
            off=not looks,
        ),
        "mixed": Box("mixed values", "shares · V", head, "value", ("mixing",), off=not looks),
        "output": Box(
            "output projection",
            _shape(a.inner, a.width) if a.output_projection else "",
            stream,
            "value",
            off=not a.output_projection or not looks,
            point="attended" if looks else "",
        ),
        "add_1": Box("add", "", stream, opened=("residual",), off=not a.residual),
        "norm_2": Box(norm, "", stream, off=a.norm == "none" or not feeds),
        "expand": Box(
            "expand",
            _shape(a.width, a.feed_forward) if feeds else "",
            _shape(batch, a.context, a.feed_forward) if feeds else "",
            "feed_forward",
            ("neurons",),
            off=not feeds,
        ),
        "activation": Box(
            {"relu": "ReLU", "gelu": "GELU", "tanh": "tanh"}[a.activation],
            f"{a.feed_forward} neurons" if feeds else "",
            _shape(batch, a.context, a.feed_forward) if feeds else "",
            "feed_forward",
            off=not feeds,
            point="hidden" if feeds else "",
        ),
        "contract": Box(
            "contract",
            _shape(a.feed_forward, a.width) if feeds else "",
            stream,
            "feed_forward",
            off=not feeds,
            point="fed" if feeds else "",
        ),
        "add_2": Box("add", "", stream, off=not a.residual),
        "norm": Box(norm, "", stream, off=not a.final_norm),
        "read_out": Box(
            "read-out",
            _shape(a.width, a.answers) if not a.tied_embedding else "A, turned",
            read,
            opened=("readout", "landscape"),
        ),
        "softmax": Box("softmax", "", read),
        "answer": Box("P(answer)" if run.task.answers == "one" else "P(next)"),
    }
    counts: dict[str, int] = {}
    each_block = [0] * a.blocks
    for name, shape in a.shapes().items():
        counts[model.part(name)] = counts.get(model.part(name), 0) + int(np.prod(shape))
        if name.startswith("blocks."):
            each_block[int(name.split(".")[1])] += int(np.prod(shape))
    said = {
        "positions": a.positions == "none",
        "attention": not looks,
        "queries and keys": a.attention == "mean",
        "residual paths": not a.residual,
        "norms": a.norm == "none",
        "the output projection": looks and not a.output_projection,
        "the feed-forward part": not feeds,
    }
    return Built(
        boxes=boxes,
        settings=_settings(run),
        parts=Labelled(np.array(list(counts.values()), dtype=float), {"part": tuple(counts)}, "parameters"),
        parameters=a.parameters,
        embeddings=counts.get("embedding", 0) + counts.get("positions", 0),
        each_block=tuple(each_block),
        read_out=counts.get("read_out", 0),
        width=a.width,
        blocks=a.blocks,
        norm_place=a.norm_place if a.norm != "none" else "",
        final_norm=a.final_norm,
        residual=a.residual,
        read=-1 if a.read_position is None else a.read_position,
        off=tuple(name for name, off in said.items() if off),
        task=run.experiment.task_name,
    )


def _shape(*sizes: int) -> str:
    return " × ".join(map(str, sizes))


def _settings(run: Run) -> tuple[tuple[str, str], ...]:
    a, train = run.architecture, run.experiment.train
    rows = [
        ("vocabulary", str(a.vocabulary)),
        ("answers", str(a.answers)),
        ("context", f"{a.context} positions"),
        ("width", f"{a.width} features"),
        ("blocks", str(a.blocks)),
        ("heads", f"{a.heads} of {a.per_head} features"),
        ("feed-forward", f"{a.feed_forward} neurons, {a.activation}" if a.feed_forward else "none"),
        ("norm", f"{a.norm}, {a.norm_place}" if a.norm != "none" else "none"),
        ("positions", a.positions),
        ("attention", a.attention),
        ("mask", "causal" if a.causal else "none, both ways"),
        ("residual", "yes" if a.residual else "no"),
        ("projection", "yes" if a.output_projection else "no"),
        ("read at", "every position" if a.read_position is None else f"position {a.read_position}"),
        ("biases", listed([bias.replace("_", "-") for bias in a.biases if bias != "norm" or a.norm == "layer"])),
        ("dropout", f"{a.dropout:g}"),
        ("batch", f"{train.batch} windows"),
        ("optimiser", f"{train.optimiser}, rate {train.rate:g}"),
        ("steps", thousands(train.steps)),
        ("parameters", thousands(a.parameters)),
    ]
    return tuple(rows)
