"""The stages of one pass through the model, in order: what goes in, what comes out, and how."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from glassformer.analyses import _decide
from glassformer.analyses._operands import inputs
from glassformer.analyses._pairs import placed
from glassformer.analyses._result import Array, Labelled, numbers
from glassformer.architecture import nest
from glassformer.run import Run
from glassformer.trace import Trace


@dataclass(frozen=True)
class Table:
    """A matrix of the computation; its rows are positions, or of a matrix of the model the numbers that go in."""

    name: str
    data: Labelled
    kind: Literal["signed", "share", "probability", "plain"]  # what its numbers are; plain: only to be read
    marked: tuple[tuple[int, int], ...] = ()  # cells that hold what is right

    @property
    def values(self) -> Array:
        """(row, column)."""
        return self.data.values

    @property
    def of_model(self) -> bool:
        """Whether it holds parameters."""
        return "position" not in self.data.axes


@dataclass(frozen=True)
class Names:
    """What the rows and columns of tables are called on one input."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]

    def table(
        self, name: str, values: Array, kind: Literal["signed", "share", "probability", "plain"] = "signed",
        columns: str = "feature", rows: str = "position", marked: tuple[tuple[int, int], ...] = (),
    ) -> Table:  # fmt: skip
        """A table with the places of both its axes."""
        places = {
            axis: placed(self.tokens) if axis.endswith("position")
            else self.words[:size] if axis == "token"
            else (name,) if axis == "quantity"
            else numbers(size)
            for axis, size in zip((rows, columns), values.shape, strict=True)
        }  # fmt: skip
        return Table(name, Labelled(values, places), kind, marked)


@dataclass(frozen=True)
class Part:
    """One stage of the computation."""

    says: str
    operands: tuple[Table, ...]  # one or two
    result: Table


def parts(run: Run, seen: Trace, member: int) -> list[Part]:
    """Every stage, from token to probability; a stage whose result an edit changes says so."""
    found = _stages(run, seen, nest(run.unedited.weights(seen.step, member)))
    edited = {(edit.point, block) for edit in run.edits for block in dict(edit.at).get("block", range(len(found)))}
    edited |= {("hidden", block) for point, block in edited if point == "hidden_in"}
    return [
        replace(each, says=f"{each.says}, then edited") if _point(each.result) in edited else each for each in found
    ]


def _point(table: Table) -> tuple[str, int]:
    """The point that a table shows, and its block: `attended, block 1`."""
    name, _, rest = table.name.partition(", block ")
    return name.partition(",")[0].replace(" ", "_"), int(rest.partition(",")[0] or 0)


def _stages(run: Run, seen: Trace, w: _decide.Params) -> list[Part]:
    a = run.architecture
    words = tuple(run.task.vocabulary)
    names = Names(tuple(words[token] for token in seen.tokens), words)
    embedding = names.table("token embedding", seen["token_embedding"])
    ids = names.table("token id", seen.tokens[:, None].astype(float), "plain", "quantity")
    table = names.table("table", w["token"], rows="token")
    found = [Part("each token's row of a table", (ids, table), embedding)]
    if "position_embedding" in seen:
        place = names.table("position embedding", seen["position_embedding"])
        found.append(
            Part("token embedding + position embedding", (embedding, place), names.table("embedded", seen["embedded"]))
        )
    for block in range(a.blocks):
        found += _attention(run, seen, block, w["blocks"][block], names) if a.attention != "off" else []
        found += _feed_forward(run, seen, block, w["blocks"][block], names) if a.feed_forward else []
    matrix = w["token"].T if a.tied_embedding else w["read_out"]
    read = names.table("read-out", matrix, columns="token", rows="feature")
    logits = names.table("logits", seen["logits"], columns="token")
    says = f"final · read-out{' + bias' if 'read_out' in a.biases else ''}"
    found.append(Part(says, (names.table("final", seen["final"]), read), logits))
    want = _decide.asked(run, seen.tokens)
    right = np.argwhere(want.allowed & (want.constrained & want.answerable)[:, None])
    chances = names.table(
        "probabilities",
        seen["probabilities"],
        "probability",
        "token",
        marked=tuple((int(row), int(column)) for row, column in right),
    )
    found.append(Part(f"softmax: each row sums to 1{'; framed: right' if len(right) else ''}", (logits,), chances))
    return found


def _attention(run: Run, seen: Trace, block: int, w: dict[str, Any], names: Names) -> list[Part]:
    a, many = run.architecture, f", block {block}" if run.architecture.blocks > 1 else ""
    head = f"{many}, head 0 of {a.heads}" if a.heads > 1 else many
    stream = names.table("stream", _decide.entering(seen, block, a))
    read = (
        names.table("normed stream", seen["normed_1"][block]) if a.norm_place == "pre" and a.norm != "none" else stream
    )
    future = ~np.tri(len(stream.values), dtype=bool) if a.causal else np.zeros((len(stream.values),) * 2, dtype=bool)
    source = _decide.asked(run, seen.tokens).source
    weights = names.table(
        f"attention{head}", np.where(future, np.nan, seen["attention"][block, 0]), "share", "key_position",
        marked=tuple((query, key) for query, key in enumerate(source) if key >= 0),
    )  # fmt: skip
    bias = " + bias" if "attention" in a.biases else ""

    def projected(name: str, does: str) -> Part:
        turned = ", turned by position" if a.positions == "rotary" and name != "value" else ""
        matrix = names.table(f"{name} matrix", w[name][:, : a.per_head], rows="other_feature")
        return Part(f"{read.name} · {name} matrix{bias}{turned}: {does}", (read, matrix), made(name))

    def made(name: str) -> Table:
        return names.table(f"{name}{head}", seen[name][block, 0])

    found = []
    if a.attention == "on":
        scores = np.where(future, np.nan, seen["scores"][block, 0])
        scored = names.table(f"scores{head}", scores, columns="key_position")
        mask = "; the future is masked" if a.causal else ""
        found += [
            projected("query", "what is asked"),
            projected("key", "what is offered"),
            Part(f"query · key, scaled{mask}", (made("query"), made("key")), scored),
            Part(f"softmax: each row sums to 1{'; framed: the answer' if weights.marked else ''}", (scored,), weights),
        ]
    found.append(projected("value", "what is handed over"))
    found.append(Part("attention · value: an average of values", (weights, made("value")), made("mixed")))
    attended = names.table(f"attended{many}", seen["attended"][block])
    if a.output_projection:
        together = np.moveaxis(seen["mixed"][block], 0, 1).reshape(len(stream.values), -1)
        name = "mixed" if a.heads == 1 else "mixed, all heads"
        says = f"mixed · output matrix{' + bias' if 'projection' in a.biases else ''}"
        mixes = names.table(name, together, columns="head_feature")
        found.append(Part(says, (mixes, names.table("output matrix", w["output"], rows="head_feature")), attended))
    middle = names.table(f"middle{many}", seen["middle"][block])
    found.append(
        Part("stream + what attention brought", (stream, attended), middle)
        if a.residual
        else Part("what attention brought, in place of the stream", (attended,), middle)
    )
    return found


def _feed_forward(run: Run, seen: Trace, block: int, w: dict[str, Any], names: Names) -> list[Part]:
    a, many = run.architecture, f", block {block}" if run.architecture.blocks > 1 else ""
    name = inputs("hidden_in", block, a)[0][0]
    normed = a.norm != "none" and name != "middle"
    middle = names.table("middle", seen["middle"][block])
    read = names.table("normed middle", seen[name][block]) if normed else middle
    bias = " + bias" if "expand_bias" in w else ""
    hidden = names.table(f"hidden{many}", seen["hidden"][block], columns="neuron")
    fed = names.table(f"fed{many}", seen["fed"][block])
    out = names.table(f"out{many}", seen["out"][block])
    onto = read if normed and a.norm_place == "post" else middle
    return [
        Part(
            f"{read.name} · matrix{bias}, then {a.activation}",
            (read, names.table("matrix", w["expand"], columns="neuron", rows="feature")),
            hidden,
        ),
        Part(f"hidden · matrix{bias}", (hidden, names.table("matrix", w["contract"], rows="neuron")), fed),
        Part(f"{onto.name} + what the neurons made", (onto, fed), out)
        if a.residual
        else Part("what the neurons made, in place of it", (fed,), out),
    ]
