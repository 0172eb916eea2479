"""A model that writes: the chances of the next token, a choice among them, and the same again with one token more."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from glassformer import given, notebook, reference
from glassformer.architecture import Architecture, sinusoids
from glassformer.errors import CallError, DivergedError
from glassformer.reference import Array, Edits, Params
from glassformer.words import shown

if TYPE_CHECKING:
    from glassformer.tasks import Task

HALF = "\ufffd"  # what decoding shows in place of half a character
MARKS = {True: "✓", False: "✗", None: ""}
MOST_NAMED = 40  # tokens of a vocabulary that are listed in a sentence


@dataclass(frozen=True)
class Choice:
    """How the next token is picked: among how many, and how evenly."""

    temperature: float = 1.0  # logits are divided by it; 0 takes the likeliest each time
    top_k: int | None = None  # among this many likeliest tokens
    top_p: float | None = None  # among the fewest likeliest tokens that have this probability together

    def __post_init__(self) -> None:
        wanted = {"temperature": "a number from 0 up", "top_p": "a probability above 0, up to 1"}
        if given.number("temperature", self.temperature, wanted["temperature"]) < 0:
            raise CallError(f"temperature = {self.temperature} is not {wanted['temperature']}")
        if self.top_k is not None and given.whole("top_k", self.top_k) < 1:
            raise CallError(f"top_k = {self.top_k} leaves no token to choose from; the least is 1")
        if self.top_p is not None and not 0 < given.number("top_p", self.top_p, wanted["top_p"]) <= 1:
            raise CallError(f"top_p = {self.top_p} is not {wanted['top_p']}")

    def chances(self, logits: Array) -> Array:
        """(token,): the probability with which each token is picked."""
        if not np.isfinite(logits).all():
            raise DivergedError("the model's answers are not numbers: the training diverged; choose an earlier step")
        logits = logits.astype(np.float64)
        order = np.argsort(-logits, kind="stable")[: 1 if self.temperature == 0 else self.top_k]
        with np.errstate(over="ignore"):  # close to temperature 0 all but the likeliest are infinitely far away
            share = reference.softmax((logits[order] - logits[order[0]]) / (self.temperature or 1.0))
        if self.top_p is not None:
            before = np.cumsum(share) - share  # what likelier tokens have together
            share = np.where(before < self.top_p, share, 0.0)
        found = np.zeros(len(logits))
        found[order] = share / share.sum()
        return found

    def pick(self, logits: Array, rng: np.random.Generator) -> int:
        """One token."""
        chances = self.chances(logits)
        order = np.argsort(-chances, kind="stable")
        return int(order[rng.choice(len(order), p=chances[order])])


class Reader:
    """A model that has read some tokens, and reads on: keys and values are kept, so one token more costs one position.

    The pass is the reference pass over that token alone, with four edits: its embedding and its query and key are
    those of its true position, and to its key and value come those of all tokens before it.
    """

    def __init__(self, params: Params, architecture: Architecture, tokens: Sequence[int]) -> None:
        self.params, self.architecture = params, architecture
        logits, seen = reference.forward(params, np.asarray(tokens), architecture)
        self.logits: Array = logits[-1]  # (token,) after the last token read
        self.length = len(tokens)
        self._kept: dict[str, list[Array]] = {name: list(seen[name]) for name in ("key", "value") if name in seen}

    def read(self, token: int) -> Array:
        """The logits after one token more."""
        if self.length == self.architecture.context:
            raise CallError(f"the model's context = {self.architecture.context} is full")
        self.logits = reference.forward(self.params, np.array([token]), self.architecture, self._edits())[0][-1]
        self.length += 1
        return self.logits

    def _edits(self) -> Edits:
        a, place = self.architecture, self.length
        edits: dict[str, reference.Edit] = {
            "query": lambda query, _: self._turned(query),
            "key": lambda key, block: self._with_earlier("key", self._turned(key), block),
            "value": lambda value, block: self._with_earlier("value", value, block),
        }
        if a.positions in ("learned", "sinusoidal"):
            table = self.params["position"] if a.positions == "learned" else sinusoids(a.context, a.width)
            edits["position_embedding"] = lambda first, _: table[place : place + 1].astype(first.dtype)
        if a.attention == "mean":
            shape = (a.heads, 1, place + 1)
            edits["attention"] = lambda alone, _: np.full(shape, 1 / (place + 1), alone.dtype)
        return edits

    def _turned(self, x: Array) -> Array:
        """A query or key as at this position; the pass has left it as at position 0, where nothing is turned."""
        if self.architecture.positions != "rotary":
            return x
        return reference.rotate(np.repeat(x, self.length + 1, axis=-2))[..., -1:, :]

    def _with_earlier(self, name: str, new: Array, block: int | None) -> Array:
        assert block is not None
        self._kept[name][block] = np.concatenate([self._kept[name][block], new], axis=-2)
        return self._kept[name][block]


class Written(Iterator[int]):
    """What a model writes: an iterator of token ids that remembers them, and shows itself as a text with verdicts.

    Tokens are computed when they are asked for; `ids`, `text` and `right` ask for all of them.
    """

    def __init__(self, start: list[int], new: Iterator[int], task: "Task") -> None:
        self.start = start  # ids of the text that was given
        self._new, self._task = new, task
        self._ids: list[int] = []

    def __next__(self) -> int:
        self._ids.append(next(self._new))
        return self._ids[-1]

    @property
    def ids(self) -> list[int]:
        """All that is written, without the start."""
        for _ in self:
            pass
        return list(self._ids)

    @property
    def text(self) -> str:
        """The start and all that is written, for reading."""
        return self._task.readable(np.array(self.start + self.ids, dtype=np.int32))

    @property
    def right(self) -> list[bool | None]:
        """Of each token that is written: whether the rule allows it; None where the rule leaves it free."""
        return self._task.verify(np.array(self.start + self.ids, dtype=np.int32))[len(self.start) :]

    def __str__(self) -> str:
        return shown(self.text)

    def __repr__(self) -> str:
        return "".join(f"{piece}{MARKS[right]}" for piece, right in self._pieces())

    def _repr_html_(self) -> str:
        return notebook.written([(piece, MARKS[right], right) for piece, right in self._pieces()], len(self.start))

    def _pieces(self) -> list[tuple[str, bool | None]]:
        """The text token by token, fit to be shown, and the verdict on each; half a character belongs to the next."""
        tokens = self.start + self.ids
        right = [None] * len(self.start) + self.right
        pieces = [shown(piece) for piece in spelled(tokens, self._task.readable)]
        if len(pieces) != len(tokens):
            return [("".join(pieces), None)]
        return list(zip(pieces, right, strict=True))


def go_on(
    params: Params,
    architecture: Architecture,
    before: Sequence[int],
    tokens: int,
    choice: Choice,
    rng: np.random.Generator,
    stop: int | None = None,
    edits: Callable[[Array], Edits] | None = None,
) -> Iterator[int]:
    """At most so many tokens after those before; the `stop` token is the last one, if it comes.

    `edits` gives those of the pass over a window.
    """
    if not architecture.causal:
        raise CallError("a model with causal = false has learned with what follows in view, and cannot go on; use ask")
    text = [int(token) for token in before]

    def written() -> Iterator[int]:
        reader: Reader | None = None
        for _ in range(tokens):
            window = text[-architecture.context :]
            if edits is not None:  # they may reach back to any position, so nothing is kept from token to token
                logits = reference.forward(params, np.array(window), architecture, edits(np.array(window)))[0][-1]
            elif reader is None or reader.length == architecture.context:
                # Once the window is full it slides: every token moves to another position, and the oldest one, which
                # others had looked at, is gone. Nothing that was kept is true any longer.
                reader = Reader(params, architecture, window)
                logits = reader.logits
            else:
                logits = reader.read(text[-1])
            text.append(choice.pick(logits, rng))
            yield text[-1]
            if text[-1] == stop:
                return

    return written()


def stop_token(word: str, vocabulary: Sequence[str]) -> int:
    """The id of the token at which writing ends."""
    if not isinstance(word, str):
        raise CallError(f"stop = {given.written(word)} is not a text")
    if word in vocabulary:
        return vocabulary.index(word)
    near = get_close_matches(word, vocabulary, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {len(vocabulary):,} other tokens"
    if not near and len(vocabulary) <= MOST_NAMED:
        hint = f"there are: {' '.join(vocabulary)}"
    raise CallError(f"stop = {given.written(word)} is not a token of this model; {hint}")


def spelled(tokens: Iterable[int], decode: Callable[[Array], str]) -> Iterator[str]:
    """The text of tokens as they come, piece by piece; half a character waits for the rest of it."""
    held: list[int] = []  # the last token that was spelled out, and those that wait
    said = text = ""
    for token in tokens:
        held.append(token)
        text = decode(np.array(held))
        whole = text.rstrip(HALF)
        if len(whole) > len(said):
            yield whole[len(said) :]
            said = whole
        if whole == text:
            held = [token]
            said = text = decode(np.array(held))
    if len(text) > len(said):
        yield text[len(said) :]  # what never became whole
