"""What the model is made of: every part in the order of the computation, with its actual shapes."""

from dataclasses import dataclass

import numpy as np

from glassformer import architecture as model
from glassformer.analyses._result import Labelled, Result, Words, listed, thousands, result
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.01", "3.§3.4", "3.§3.5", "3.§8", "3.§9", "1.A")
COST = "a"

OPENS = {  # letter → the figures that open the box
    "A": ("vocabulary", "embeddings"),
    "B": ("positions",),
    "C": ("qkv", "head_split"),
    "D": ("query_key_space", "scoring"),
    "E": ("attention", "mask"),
    "F": ("mixing",),
    "G": ("residual",),
    "H": ("neurons",),
    "I": ("readout", "landscape"),
}


@dataclass(frozen=True)
class Box:
    """One part: its name, what it does or is made of, the shape that leaves it, and whether it is switched off."""

    name: str
    made_of: str = ""
    leaves: str = ""
    meaning: str = "ink"  # its colour
    letter: str = ""
    off: bool = False
    point: str = ""  # the name of what leaves it, where that is not the name of the box


@result
class Built(Result):
    """The parts of one model by key, its settings in words, and its parameters by part."""

    boxes: dict[str, Box]
    settings: tuple[tuple[str, str], ...]
    parts: Labelled  # (part,): parameters
    parameters: int
    blocks: int
    norm_place: str  # pre or post; empty: no norm
    final_norm: bool
    residual: bool
    read: int  # the position at which the answer is read; -1: every one
    off: tuple[str, ...]  # what is switched off, in words
    task: str


def architecture(run: Run) -> Built:
    """The parts of a run's model, from its own settings."""
    a, batch = run.architecture, run.experiment.train.batch
    stream = _shape(batch, a.context, a.width)
    asks, looks, feeds = a.attention == "on", a.attention != "off", a.feed_forward > 0
    scale = a.per_head if a.score_scale == "head" else a.width
    each = f"{a.heads} × " if a.heads > 1 else ""
    head = _shape(batch, a.heads, a.context, a.per_head) if a.heads > 1 else _shape(batch, a.context, a.per_head)
    pairs = _shape(batch, a.heads, a.context, a.context) if a.heads > 1 else _shape(batch, a.context, a.context)
    read = _shape(batch, a.answers) if a.read_position is not None else _shape(batch, a.context, a.answers)
    norm = {"none": "norm", "layer": "layer norm", "rms": "RMS norm"}[a.norm]
    placed = {"learned": _shape(a.context, a.width), "sinusoidal": "fixed waves", "rotary": "rotary", "none": ""}[
        a.positions
    ]
    boxes = {
        "tokens": Box("tokens", f"{a.context} ids", _shape(batch, a.context)),
        "token": Box("token embedding", _shape(a.vocabulary, a.width), stream, letter="A"),
        "position": Box(
            "position embedding" if a.positions != "rotary" else "positions turn Q, K",
            placed,
            _shape(a.context, a.width) if a.positions in ("learned", "sinusoidal") else "",
            letter="B",
            off=a.positions == "none",
        ),
        "norm_1": Box(norm, "", stream, off=a.norm == "none" or not looks),
        "query": Box("query", f"{each}{_shape(a.width, a.per_head)}", head, "query", "C", off=not asks),
        "key": Box("key", f"{each}{_shape(a.width, a.per_head)}", head, "key", "", off=not asks),
        "value": Box("value", f"{each}{_shape(a.width, a.per_head)}", head, "value", "", off=not looks),
        "scores": Box("scores", f"Q · K / √{scale}", pairs, "ink", "D", off=not asks),
        "attention": Box(
            "mask, softmax" if a.causal else "softmax",
            "equal shares" if a.attention == "mean" else "rows sum to 1",
            pairs,
            "ink",
            "E",
            off=not looks,
        ),
        "mixed": Box("mixed values", "shares · V", head, "value", "F", off=not looks),
        "output": Box(
            "output projection",
            _shape(a.inner, a.width) if a.output_projection else "",
            stream,
            "value",
            "",
            off=not a.output_projection or not looks,
            point="attended" if looks else "",
        ),
        "add_1": Box("add", "", stream, "ink", "G", off=not a.residual),
        "norm_2": Box(norm, "", stream, off=a.norm == "none" or not feeds),
        "expand": Box(
            "expand",
            _shape(a.width, a.feed_forward) if feeds else "",
            _shape(batch, a.context, a.feed_forward) if feeds else "",
            "feed_forward",
            "H",
            off=not feeds,
        ),
        "activation": Box(
            {"relu": "ReLU", "gelu": "GELU", "tanh": "tanh"}[a.activation],
            f"{a.feed_forward} neurons" if feeds else "",
            _shape(batch, a.context, a.feed_forward) if feeds else "",
            "feed_forward",
            "",
            off=not feeds,
            point="hidden" if feeds else "",
        ),
        "contract": Box(
            "contract",
            _shape(a.feed_forward, a.width) if feeds else "",
            stream,
            "feed_forward",
            "",
            off=not feeds,
            point="fed" if feeds else "",
        ),
        "add_2": Box("add", "", stream, "ink", "", off=not a.residual),
        "norm": Box(norm, "", stream, off=not a.final_norm),
        "read_out": Box(
            "read-out", _shape(a.width, a.answers) if not a.tied_embedding else "A, turned", read, "ink", "I"
        ),
        "softmax": Box("softmax", "", read, "ink"),
        "answer": Box("P(answer)" if run.task.answers == "one" else "P(next)", "", "", "ink"),
    }
    counts: dict[str, int] = {}
    for name, shape in a.shapes().items():
        counts[model.part(name)] = counts.get(model.part(name), 0) + int(np.prod(shape))
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


def say(seen: Built) -> Words:
    """How large it is, and what it lacks."""
    blocks = "one block" if seen.blocks == 1 else f"{seen.blocks} blocks"
    width = dict(seen.settings)["width"].split()[0]
    title = (
        f"{thousands(seen.parameters)} parameters in {blocks} of width {width} turn the tokens of {seen.task} into "
        "probabilities"
    )
    if seen.off:
        title += (
            f"; {listed(list(seen.off))} {'are' if len(seen.off) > 1 or seen.off[0].endswith('s') else 'is'} left out"
        )
    caption = (
        "The model's parts in the order of the computation, read from left to right, upper row first. In a box: its "
        "name and, where it has weights, the shape of its matrix; under it the shape of what leaves it (batch × "
        "position × feature; with several heads also × head). The thick line is the residual stream, from which each "
        "branch reads and to which it adds. In italics: the names of values that other figures speak of (`embedded`, "
        "`attended`, `middle`, `hidden`, `fed`, `out`, `final`). Query, key, value and feed-forward have their own "
        "colours. A struck-through box is a part of the usual transformer that this model does not have. The letters "
        "name the figures that open a box: "
        + "; ".join(f"{letter} {', '.join(names)}" for letter, names in OPENS.items())
        + ". All shapes follow from the run's own settings and are exact."
        + (f" The {seen.blocks} blocks are built alike; the strip below shows the chain." if seen.blocks > 1 else "")
    )
    chain = ", ".join(box.name for box in seen.boxes.values() if not box.off)
    return Words(title, caption, f"A diagram of the model. In order: {chain}. {title}.")
