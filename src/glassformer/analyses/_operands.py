"""Which numbers a number of the forward pass is made of, and how: one step back from any value of any named point."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from glassformer import reference
from glassformer.analyses._result import Array
from glassformer.architecture import Architecture, sinusoids
from glassformer.glossary import PER_BLOCK, axes

Kind = Literal["point", "parameter", "token", "constant"]
Role = Literal["part", "chosen by", "itself", "beside", "gain", "bias", "epsilon"]
Operation = Literal[
    "lookup", "copy", "sum", "dot product", "layer norm", "rms norm", "relu", "gelu", "tanh", "softmax", "equal shares",
    "mask",
]  # fmt: skip
Place = tuple[str, int | None]  # a point and its block; None: of the whole model
Index = tuple[int, ...]
MATRIX = {  # the points that are products with one
    "query": "query", "key": "key", "value": "value", "attended": "output", "hidden_in": "expand", "fed": "contract",
    "logits": "read_out",
}  # fmt: skip


@dataclass(frozen=True)
class Operand:
    """A number that goes in: of a named point, a parameter, the id of a token, or a constant of the architecture."""

    kind: Kind
    name: str
    index: Index  # of a point in the order of the glossary's axes, of a parameter in that of its array
    number: float

    @property
    def written(self) -> str:
        """`scores[block=0, head=0, query_position=5, key_position=3]`, `blocks.0.query[1, 0]`, `score scale`."""
        return written(self.name, self.index) if self.kind == "point" else f"{self.name}{list(self.index) or ''}"


@dataclass(frozen=True)
class Term:
    """Operands that are multiplied, or a single one; what it adds is known where the operation adds terms up."""

    role: Role
    factors: tuple[Operand, ...]
    contribution: float | None = None

    @property
    def number(self) -> float:
        """The factors multiplied."""
        return prod(each.number for each in self.factors)

    @property
    def written(self) -> str:
        """The factors by name and index."""
        return " × ".join(each.written for each in self.factors)


@dataclass(frozen=True)
class Step:
    """How a value is made: the operation, the same as a formula, and what goes in."""

    operation: Operation
    formula: str
    terms: tuple[Term, ...]

    def again(self) -> tuple[float, float]:
        """The value once more, in double precision from the terms alone, and the size that rounding is a share of."""
        with np.errstate(all="ignore"):  # a diverged model is looked at like any other
            return _again(self.operation, self.terms)


def written(point: str, index: Index) -> str:
    """A value of a point as options and links write it."""
    return f"{point}[{', '.join(f'{axis}={k}' for axis, k in zip(axes(point), index, strict=True))}]"


def entering(block: int, a: Architecture) -> Place:
    """The stream that a block reads and adds to; of the block after the last, what is read out."""
    if block == 0 or (a.attention == "off" and not a.feed_forward):  # such a block holds nothing and does nothing
        return "embedded", None
    return "normed_2" if a.norm_place == "post" and a.feed_forward else "out", block - 1


def inputs(point: str, block: int | None, a: Architecture) -> tuple[Place, ...]:
    """The named points that a point is computed from, in one step."""
    if block is None:
        whole: dict[str, tuple[Place, ...]] = {
            "embedded": (
                ("token_embedding", None),
                *([("position_embedding", None)] if a.positions in ("learned", "sinusoidal") else []),
            ),
            "final": (entering(a.blocks, a),),
            "logits": (("final", None),),
            "probabilities": (("logits", None),),
        }
        return whole.get(point, ())
    pre, looks, stream = a.norm_place == "pre", a.attention != "off", entering(block, a)
    middle = "middle" if pre or not looks else "normed_1"  # the stream between attention and feed-forward
    read = ("normed_1", block) if pre else stream
    added = {"middle": (looks, stream, "attended"), "out": (a.feed_forward > 0, (middle, block), "fed")}
    if point in added:
        there, onto, branch = added[point]
        return (*([onto] if a.residual or not there else []), *([(branch, block)] if there else []))
    inside: dict[str, tuple[Place, ...]] = {
        "normed_1": (stream if pre else ("middle", block),),
        **dict.fromkeys(("query", "key", "value"), (read,)),
        "scores": (("query", block), ("key", block)),
        "attention": (("scores", block),) if a.attention == "on" else (),
        "mixed": (("attention", block), ("value", block)),
        "attended": (("mixed", block),),
        "normed_2": (("middle" if pre else "out", block),),
        "hidden_in": (("normed_2" if pre else middle, block),),
        "hidden": (("hidden_in", block),),
        "fed": (("hidden", block),),
    }
    return inside[point]


@dataclass(frozen=True)
class Pass:
    """One pass of one model over one input: `values` is the trace, `weights` are the parameters by name."""

    architecture: Architecture
    weights: Mapping[str, Array]
    values: Mapping[str, Array]
    tokens: Array  # (position,)

    def step(self, point: str, index: Index) -> Step:
        """How a value is made."""
        block, here = (index[0], index[1:]) if point in PER_BLOCK else (None, index)
        sources = inputs(point, block, self.architecture)
        if point in MATRIX:
            return self._linear(point, block, sources[0], here)
        if point in ("normed_1", "normed_2", "final"):
            return self._norm(point, block, sources[0], here)
        if point in ("token_embedding", "position_embedding"):
            return self._lookup(point, here)
        if point == "scores":
            return self._scores(sources, here)
        if point in ("attention", "probabilities"):
            return self._softmax(sources, here)
        if point == "mixed":
            head, query, feature = here
            seen = range(self._in_view(query))
            return _added(
                "dot product",
                [(self._at(sources[0], head, query, k), self._at(sources[1], head, k, feature)) for k in seen],
            )
        if point == "hidden":
            name = self.architecture.activation
            return Step(name, f"{name}({sources[0][0]})", (Term("itself", (self._at(sources[0], *here),)),))
        return _added("sum" if len(sources) > 1 else "copy", [(self._at(each, *here),) for each in sources])

    def _at(self, place: Place, *here: int) -> Operand:
        name, block = place
        index = here if block is None else (block, *here)
        return Operand("point", name, index, float(self.values[name][index]))

    def _parameter(self, name: str, *index: int) -> Operand:
        return Operand("parameter", name, index, float(self.weights[name][index]))

    def _constant(self, name: str, number: float) -> Operand:
        """A constant, in the precision of the model."""
        return Operand("constant", name, (), float(self.weights["token"].dtype.type(number)))

    def _in_view(self, query: int) -> int:
        return query + 1 if self.architecture.causal else len(self.tokens)

    def _lookup(self, point: str, here: Index) -> Step:
        position, feature = here
        if point == "token_embedding":
            token = int(self.tokens[position])
            found = _added("lookup", [(self._parameter("token", token, feature),)])
            chosen = Term("chosen by", (Operand("token", "tokens", (position,), token),))
            return Step(found.operation, "the row of the token in token", (*found.terms, chosen))
        if self.architecture.positions == "learned":
            found = _added("lookup", [(self._parameter("position", position, feature),)])
            return Step(found.operation, "the row of the position in position", found.terms)
        table = sinusoids(self.architecture.context, self.architecture.width)
        name = "cosine of the position" if feature % 2 else "sine of the position"
        return _added("lookup", [(self._constant(name, float(table[position, feature])),)])

    def _linear(self, point: str, block: int | None, source: Place, here: Index) -> Step:
        """Times a column of a matrix, plus its bias; where it is rotated, two columns."""
        a, name = self.architecture, MATRIX[point] if block is None else f"blocks.{block}.{MATRIX[point]}"
        *head, position, column = here
        if point == "attended":
            read = [self._at(source, k // a.per_head, position, k % a.per_head) for k in range(a.inner)]
            if not a.output_projection:
                return _added("copy", [(read[column],)])
        else:
            read = [self._at(source, position, k) for k in range(a.feed_forward if point == "fed" else a.width)]
        column += head[0] * a.per_head if head else 0
        turned: list[tuple[int, tuple[Operand, ...]]] = [(column, ())]
        if a.positions == "rotary" and point in ("query", "key"):
            turned = self._rotation(position, column)
        tied = point == "logits" and a.tied_embedding
        parts, biases = list[tuple[Operand, ...]](), list[tuple[Operand, ...]]()
        for column, by in turned:
            for row, value in enumerate(read):
                weight = self._parameter("token", column, row) if tied else self._parameter(name, row, column)
                parts.append((value, weight, *by))
            if f"{name}_bias" in self.weights:
                biases.append((self._parameter(f"{name}_bias", column), *by))
        return _added("dot product", parts, biases)

    def _rotation(self, position: int, column: int) -> list[tuple[int, tuple[Operand, ...]]]:
        """The two columns that a rotated feature is made of, and what each is multiplied by."""
        half = self.architecture.per_head // 2
        turn, pair = divmod(column % (2 * half), half)
        angle = position * 10_000.0 ** (-pair / half)
        cosine, sine = self._constant("cosine", np.cos(angle)), self._constant("sine", np.sin(angle))
        minus = self._constant("minus sine", -np.sin(angle))
        first = column - turn * half
        return [(first, (sine if turn else cosine,)), (first + half, (cosine if turn else minus,))]

    def _norm(self, point: str, block: int | None, source: Place, here: Index) -> Step:
        a, (position, feature) = self.architecture, here
        if a.norm == "none" or (point == "final" and not a.final_norm):
            return _added("copy", [(self._at(source, *here),)])
        name = "norm" if block is None else f"blocks.{block}.{point.replace('normed', 'norm')}"
        row = [self._at(source, position, k) for k in range(a.width)]
        terms = [Term("itself" if k == feature else "beside", (each,)) for k, each in enumerate(row)]
        terms.append(Term("epsilon", (self._constant("norm_epsilon", a.norm_epsilon),)))
        terms.append(Term("gain", (self._parameter(name, feature),)))
        bias = f" + {name}_bias" if f"{name}_bias" in self.weights else ""
        if bias:
            terms.append(Term("bias", (self._parameter(f"{name}_bias", feature),)))
        x = f"({source[0]} − mean)" if a.norm == "layer" else source[0]
        spread = "variance" if a.norm == "layer" else "mean square"
        kind: Operation = "layer norm" if a.norm == "layer" else "rms norm"
        return Step(kind, f"{x} ÷ √({spread} + norm_epsilon) × {name}{bias}", tuple(terms))

    def _scores(self, sources: tuple[Place, ...], here: Index) -> Step:
        a, (head, query, key) = self.architecture, here
        scale = self._constant("score scale", (a.per_head if a.score_scale == "head" else a.width) ** -0.5)
        asked, offered = sources
        pairs = [(self._at(asked, head, query, k), self._at(offered, head, key, k)) for k in range(a.per_head)]
        return _added("dot product", [(*pair, scale) for pair in pairs])

    def _softmax(self, sources: tuple[Place, ...], here: Index) -> Step:
        """Of the logits, or of the scores in view."""
        *row, which = here
        looks = len(row) > 1
        many = self._in_view(row[-1]) if looks else self.architecture.answers
        masked = which >= many
        if not sources:  # nothing is asked
            count = Term("beside", (self._constant("positions in view", many),))
            return Step("mask" if masked else "equal shares", f"{0 if masked else 1} ÷ positions in view", (count,))
        name, cells = sources[0][0], [self._at(sources[0], *row, k) for k in range(many)]
        terms = tuple(Term("itself" if k == which else "beside", (each,)) for k, each in enumerate(cells))
        formula = f"{0 if masked else f'exp({name})'} ÷ Σ exp({name}{' in view' if looks else ''})"
        return Step("mask" if masked else "softmax", formula, terms)


def _added(
    operation: Operation, parts: list[tuple[Operand, ...]], biases: list[tuple[Operand, ...]] | None = None
) -> Step:
    """A sum of products; as a formula, products of the same names are one Σ."""
    roles: list[tuple[Role, list[tuple[Operand, ...]]]] = [("part", parts), ("bias", biases or [])]
    terms = [Term(role, each, prod(one.number for one in each)) for role, those in roles for each in those]
    counts: dict[str, int] = {}
    for term in terms:
        name = " × ".join(each.name for each in term.factors)
        counts[name] = counts.get(name, 0) + 1
    return Step(operation, " + ".join(f"Σ {name}" if n > 1 else name for name, n in counts.items()), tuple(terms))


def _again(operation: Operation, terms: tuple[Term, ...]) -> tuple[float, float]:
    by: dict[str, list[float]] = {}
    for term in terms:
        by.setdefault(term.role, []).append(term.number)
    if operation in ("lookup", "copy", "sum", "dot product"):
        parts = [*by.get("part", []), *by.get("bias", [])]
        return sum(parts), sum(map(abs, parts))
    row = np.array([*by.get("itself", []), *by.get("beside", [])])  # the value in question first
    if operation == "mask":
        nothing = float(0 * row.sum())  # unless its row is not a number
        return nothing, nothing
    if operation == "equal shares":
        return float(1 / row[0]), float(1 / row[0])
    if operation in reference.ACTIVATION:
        return float(reference.ACTIVATION[operation](row)[0]), float(abs(row[0]))
    if operation == "softmax":
        share = float(reference.softmax(row)[0])
        return share, share * (1 + float(np.ptp(row)))
    centred = row - row.mean() if operation == "layer norm" else row
    root = np.sqrt(np.mean(centred**2) + by["epsilon"][0])
    unit, gain, bias = float(centred[0] / root), by["gain"][0], by.get("bias", [0.0])[0]
    size = abs(gain) * (1 + abs(unit)) * (1 + float(np.abs(row).max() / root)) + abs(bias)
    return unit * gain + bias, size
