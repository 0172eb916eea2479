"""Every token at every position, at the points of the model that depend on nothing else: exact, all pairs at once."""

from collections.abc import Iterable, Sequence

import numpy as np

from glassformer import reference
from glassformer.analyses import _decide
from glassformer.analyses._clock import resolve, text
from glassformer.analyses._result import Array, Axis, Labelled, Result, numbers, result, shared
from glassformer.architecture import sinusoids
from glassformer.errors import CallError, check_index, check_name
from glassformer.run import Run

MIXED_BY_MEAN = ("token_embedding", "embedded", "normed_1", "query", "key", "value")
SHOWN = {" ": "␣", "\n": "⏎", "\t": "⇥", "": "∅"}
MOST_TOKENS, MOST_PAIRS = 40, 1000  # beyond so many pairs only those of the most frequent tokens
STOPS = ".,:;!?'\"-–—()[]…"  # tokens of these alone read like the punctuation of a sentence
FIXED = "\u00a0\u202f"  # spaces at which no line breaks
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def shown(token: str) -> str:
    """A token as it is drawn: what cannot be seen gets a sign."""
    kept = FIXED if token.strip(FIXED) else ""  # between other characters such a space can be seen: 20 000
    return "".join(_letter(letter, kept) for letter in token) if token else SHOWN[""]


def _letter(letter: str, kept: str) -> str:
    """A character, or the sign or number that stands for it."""
    plain = letter.isprintable() or letter in kept
    return SHOWN.get(letter) or (letter if plain else f"\\x{ord(letter):02x}")


def at_position(token: str, position: int) -> str:
    """`8₇`: a token at a position, as it is drawn."""
    return shown(token) + str(position).translate(SUBSCRIPTS)


def in_file(token: str, position: int) -> str:
    """`8@7`: a token at a position, as files and options write it."""
    return f"{token}@{position}"


def placed(tokens: Sequence[str]) -> Axis:
    """The positions of one sequence, each called by its token."""
    return Axis(tuple(range(len(tokens))), tuple(tokens), kind="position")


def paired(tokens: Sequence[str], context: int) -> Axis:
    """Every token at every position, token by token: places are (token, position)."""
    return these((token, place) for token in tokens for place in range(context))


def these(pairs: Iterable[tuple[str, int]]) -> Axis:
    """Some tokens at positions: places are (token, position)."""
    every = tuple(pairs)
    return Axis(every, tuple(at_position(*each) for each in every), kind="pair")


def spoken(token: str) -> str:
    """A token within a sentence: what could be taken for its punctuation stands in quotes."""
    text = shown(token)
    return f"“{text}”" if text and not set(text) - set(STOPS) else text


def drawn(axis: Axis | Iterable[str]) -> list[str]:
    """The places of an axis as they are drawn: a token at its position as `8₇`, anything else shown as a token."""
    if not isinstance(axis, Axis):
        return [shown(label) for label in axis]
    if axis.kind == "position" and axis.words:
        return [at_position(word, int(str(place))) for word, place in zip(axis.words, axis.values, strict=True)]
    return list(axis.words) if axis.kind == "pair" else [shown(label) for label in axis.labels]


@result
class Pairs(Result):
    """All pairs at `embedded` and, for block 0, at `query`, `key` and `value`; what the model lacks is not there."""

    points: dict[str, Labelled]  # embedded: (token, position, feature); the others: (head, token, position, feature)
    scale: float  # scores are query · key times this
    causal: bool
    ids: tuple[int, ...]  # of the tokens; all of them, or the most frequent

    def at(self, point: str, head: int = 0) -> Array:
        """(token, position, feature) at a point; `head` is not asked for `embedded`."""
        check_name(point, "the points that depend on the pair alone", self.points)
        values = self.points[point].values
        if point == "embedded":
            return values
        check_index("head", head, len(values))
        return values[head]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The vocabulary, or the part of it that was asked for."""
        return self.points["embedded"].axes["token"].labels

    @property
    def context(self) -> int:
        """How many positions there are."""
        return len(self.points["embedded"].axes["position"])

    @property
    def labels(self) -> list[str]:
        """`8₇` for each pair, token by token, as `at(...).reshape(-1, feature)` orders them."""
        return [at_position(token, place) for token in self.tokens for place in range(self.context)]

    def row(self, token: int) -> int:
        """Where a token stands among those looked at."""
        return self.ids.index(int(token))

    def index(self, pair: str) -> tuple[int, int]:
        """Row of the token and position of a pair written `8@7`."""
        token, sign, place = pair.rpartition("@")
        if not sign or not place.isdigit() or token not in self.tokens or int(place) >= self.context:
            raise CallError(f"{pair!r} is not one of these pairs; write one as {in_file(self.tokens[0], 0)!r}")
        return self.tokens.index(token), int(place)


def read_pair(run: Run, pair: str) -> tuple[int, int]:
    """Token id and position of a pair written `8@7`."""
    words, context = run.task.vocabulary, run.architecture.context
    token, sign, place = pair.rpartition("@")
    if not sign or not place.isdigit():
        raise CallError(f"{pair!r} is not a token at a position; write it as {in_file(words[0], 0)!r}")
    check_name(token, "the vocabulary", words)
    if int(place) >= context:
        raise CallError(f"position {place} of {pair!r} is not between 0 and {context - 1}")
    return words.index(token), int(place)


def frequent(run: Run, also: Iterable[int] = ()) -> tuple[int, ...]:
    """The tokens whose pairs are looked at: all where they are few, else the most frequent, the input's and these."""
    many = len(run.task.vocabulary)
    if many <= MOST_TOKENS or many * run.architecture.context <= MOST_PAIRS:
        return tuple(range(many))
    counts = np.bincount(run.task.data(run.architecture.context).train.tokens, minlength=many)
    often = np.argsort(-counts, kind="stable")[:MOST_TOKENS].tolist()
    return tuple(sorted({*often, *map(int, run.tokens(None)), *map(int, also)}))


@shared
def pairs(run: Run, *, step: int = -1, member: int = 0, also: tuple[int, ...] = ()) -> Pairs:
    """Every token at every position, exactly, from the weights at a kept step; of many tokens the `frequent` ones."""
    step, a, ids = resolve(run, step), run.architecture, frequent(run, also)
    for edit in run.edits:
        if edit.verb == "mean" and edit.point in MIXED_BY_MEAN and 0 in dict(edit.at).get("block", (0,)):
            raise CallError(f"{edit} mixes positions, so a value no longer follows from one token and its position")
    tokens = np.repeat(np.array(ids)[:, None], a.context, axis=1)  # (token, position): the same token everywhere
    model = _decide.model(run, tokens, step, member)
    x = model.see("token_embedding", model.w["token"][tokens])  # (token, position, feature)
    if a.positions in ("learned", "sinusoidal"):
        table = model.w["position"] if a.positions == "learned" else sinusoids(a.context, a.width).astype(x.dtype)
        x = x + model.see("position_embedding", table)
    x = model.see("embedded", x)
    words = tuple(run.task.vocabulary[k] for k in ids)
    places, features = numbers(a.context), numbers(a.width)
    points = {"embedded": Labelled(x, {"token": words, "position": places, "feature": features})}
    if a.attention != "off":
        w = model.w["blocks"][0]
        read = model.see("normed_1", reference.normalise(x, w, "norm_1", a), 0) if a.norm_place == "pre" else x
        axes = {"head": numbers(a.heads), "token": words, "position": places, "feature": numbers(a.per_head)}
        for point in ("query", "key", "value") if a.attention == "on" else ("value",):
            found = reference.split_heads(reference.linear(read, w, point), a.heads)  # (token, head, position, feature)
            if a.positions == "rotary" and point != "value":
                found = reference.rotate(found)
            points[point] = Labelled(np.moveaxis(model.see(point, found, 0), 1, 0), axes)
    scale = float((a.per_head if a.score_scale == "head" else a.width) ** -0.5)
    return Pairs(step=step, clock=text(run, step, member), points=points, scale=scale, causal=a.causal, ids=ids)


def groups(run: Run) -> tuple[str, ...]:
    """The group of each token, by id."""
    of = {int(token): group for group, members in run.task.groups.items() for token in members}
    return tuple(of.get(token, "other") for token in range(len(run.task.vocabulary)))
