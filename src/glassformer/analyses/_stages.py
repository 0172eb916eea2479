"""The stages of one pass through the model, in order: what goes in, what comes out, and how."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.analyses import _decide
from glassformer.analyses._operands import inputs
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array
from glassformer.run import Run
from glassformer.trace import Trace


@dataclass(frozen=True)
class Table:
    """A matrix with what its rows and columns are; without names of their own, its rows are positions."""

    name: str
    values: Array  # (row, column)
    kind: str = "signed"  # how it is coloured; "plain": not at all
    columns: str = "feature"
    rows: tuple[str, ...] | None = None
    marked: tuple[tuple[int, int], ...] = ()  # cells that hold what is right


@dataclass(frozen=True)
class Part:
    """One stage of the computation."""

    says: str
    operands: tuple[Table, ...]  # one or two
    result: Table


def parts(run: Run, seen: Trace, member: int) -> list[Part]:
    """Every stage, from token to probability."""
    a, w = run.architecture, _decide.params(run, seen.step, member)
    words = tuple(shown(word) for word in run.task.vocabulary)
    embedding = Table("token embedding", seen["token_embedding"])
    ids = Table("token id", seen.tokens[:, None].astype(float), "plain", "")
    found = [Part("each token's row of a table", (ids, Table("table", w["token"], rows=words)), embedding)]
    if "position_embedding" in seen:
        place = Table("position embedding", seen["position_embedding"])
        found.append(
            Part("token embedding + position embedding", (embedding, place), Table("embedded", seen["embedded"]))
        )
    for block in range(a.blocks):
        found += _attention(run, seen, block, w["blocks"][block]) if a.attention != "off" else []
        found += _feed_forward(run, seen, block, w["blocks"][block]) if a.feed_forward else []
    matrix = w["token"].T if a.tied_embedding else w["read_out"]
    read = _weights("read-out", matrix, "next token")
    logits = Table("logits", seen["logits"], columns="next token")
    says = f"final · read-out{' + bias' if 'read_out' in a.biases else ''}"
    found.append(Part(says, (Table("final", seen["final"]), read), logits))
    want = _decide.asked(run, seen.tokens)
    right = np.argwhere(want.allowed & (want.constrained & want.answerable)[:, None])
    chances = Table(
        "probabilities",
        seen["probabilities"],
        "probability",
        "next token",
        marked=tuple((int(row), int(column)) for row, column in right),
    )
    found.append(Part(f"softmax: each row sums to 1{'; framed: right' if len(right) else ''}", (logits,), chances))
    return found


def _weights(name: str, values: Array, columns: str = "feature") -> Table:
    """A matrix of the model: a row for each number that goes in."""
    return Table(name, values, columns=columns, rows=tuple(map(str, range(len(values)))))


def _attention(run: Run, seen: Trace, block: int, w: dict[str, Any]) -> list[Part]:
    a, many = run.architecture, f", block {block}" if run.architecture.blocks > 1 else ""
    head = f"{many}, head 0 of {a.heads}" if a.heads > 1 else many
    stream = Table("stream", _decide.entering(seen, block, a))
    read = Table("normed stream", seen["normed_1"][block]) if a.norm_place == "pre" and a.norm != "none" else stream
    future = ~np.tri(len(stream.values), dtype=bool) if a.causal else np.zeros((len(stream.values),) * 2, dtype=bool)
    source = _decide.asked(run, seen.tokens).source
    weights = Table(
        f"attention{head}", np.where(future, np.nan, seen["attention"][block, 0]), "share", "key position",
        marked=tuple((query, key) for query, key in enumerate(source) if key >= 0),
    )  # fmt: skip
    bias = " + bias" if "attention" in a.biases else ""

    def projected(name: str, does: str) -> Part:
        turned = ", turned by position" if a.positions == "rotary" and name != "value" else ""
        matrix = _weights(f"{name} matrix", w[name][:, : a.per_head])
        return Part(f"{read.name} · {name} matrix{bias}{turned}: {does}", (read, matrix), made(name))

    def made(name: str) -> Table:
        return Table(f"{name}{head}", seen[name][block, 0])

    found = []
    if a.attention == "on":
        scores = np.where(future, np.nan, seen["scores"][block, 0])
        scored = Table(f"scores{head}", scores, columns="key position")
        mask = "; the future is masked" if a.causal else ""
        found += [
            projected("query", "what is asked"),
            projected("key", "what is offered"),
            Part(f"query · key, scaled{mask}", (made("query"), made("key")), scored),
            Part(f"softmax: each row sums to 1{'; framed: the answer' if weights.marked else ''}", (scored,), weights),
        ]
    found.append(projected("value", "what is handed over"))
    found.append(Part("attention · value: an average of values", (weights, made("value")), made("mixed")))
    attended = Table(f"attended{many}", seen["attended"][block])
    if a.output_projection:
        together = np.moveaxis(seen["mixed"][block], 0, 1).reshape(len(stream.values), -1)
        name = "mixed" if a.heads == 1 else "mixed, all heads"
        says = f"mixed · output matrix{' + bias' if 'projection' in a.biases else ''}"
        found.append(Part(says, (Table(name, together), _weights("output matrix", w["output"])), attended))
    middle = Table(f"middle{many}", seen["middle"][block])
    found.append(
        Part("stream + what attention brought", (stream, attended), middle)
        if a.residual
        else Part("what attention brought, in place of the stream", (attended,), middle)
    )
    return found


def _feed_forward(run: Run, seen: Trace, block: int, w: dict[str, Any]) -> list[Part]:
    a, many = run.architecture, f", block {block}" if run.architecture.blocks > 1 else ""
    name = inputs("hidden_in", block, a)[0][0]
    normed = a.norm != "none" and name != "middle"
    middle = Table("middle", seen["middle"][block])
    read = Table("normed middle", seen[name][block]) if normed else middle
    bias = " + bias" if "expand_bias" in w else ""
    hidden = Table(f"hidden{many}", seen["hidden"][block], columns="neuron")
    fed = Table(f"fed{many}", seen["fed"][block])
    onto = read if normed and a.norm_place == "post" else middle
    return [
        Part(
            f"{read.name} · matrix{bias}, then {a.activation}",
            (read, _weights("matrix", w["expand"], "neuron")),
            hidden,
        ),
        Part(f"hidden · matrix{bias}", (hidden, _weights("matrix", w["contract"])), fed),
        Part(f"{onto.name} + what the neurons made", (onto, fed), Table(f"out{many}", seen["out"][block]))
        if a.residual
        else Part("what the neurons made, in place of it", (fed,), Table(f"out{many}", seen["out"][block])),
    ]
