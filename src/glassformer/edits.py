"""Edits as data: what is changed inside a model, written so that a person, a file and a link can carry it.

`zero(mixed, block=0, head=1)` is a verb, a named point of the glossary and places along its axes; an axis left out
means all of it. Several edits act in the order of their list, and a semicolon stands between them in one text.

zero    0 in its place.
mean    its mean over the positions in view: up to its own in a causal model, all of them otherwise. What is still to
        come is never mixed in, so the edited model remains a predictor. Scores and attention: over the queries.
patch   what stands there on another input (`from`), at another step, in another run or another member of a population:
        there without any edit. Of the same run step and member are those looked at unless they are given; of another
        run its last step and its first member.
add     so much more.
scale   so many times it.
set     that number.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any, Union

from glassformer import glossary
from glassformer.errors import CallError, LimitError, check_name, unknown
from glassformer.given import written as as_given

NUMBERED = ("add", "scale", "set")
VERBS = ("zero", "mean", "patch", *NUMBERED)
SOURCES = ("from", "step", "run", "member")  # of a patch
MOST_NUMBER = 3.4e38  # the largest there is in float32
MOST_PLACES, MOST_TEXT, MOST_DIGITS = 65_536, 10_000, 15  # along one axis; characters of a text, of a whole number

Given = Union["Edit", str, Mapping[str, Any], Iterable[Any], None]  # what `read` takes; or point → function


@dataclass(frozen=True)
class Edit:
    """One change of a model on its way: a verb, a point, and the places along the point's axes."""

    verb: str
    point: str
    at: tuple[tuple[str, tuple[int, ...]], ...] = ()  # axis → places, made from a mapping, too; none: everywhere
    amount: float | None = None  # of add, scale and set
    text: str | None = None  # of patch: the other input,
    step: int | None = None  # the other step,
    run: str | None = None  # the other run, as commands name it
    member: int | None = None  # the other member of a population

    def __post_init__(self) -> None:
        point, block = _point(self.verb, self.point)
        object.__setattr__(self, "point", point)
        known = glossary.axes(point)
        at: dict[str, Any] = dict(self.at)
        if block is not None and at.setdefault("block", block) != block:
            raise CallError(f"block = {_shown(at['block'])} is not the block {block} that the point's name has")
        places = {axis: _places(axis, given) for axis, given in at.items()}
        for axis in places:
            check_name(axis, f"the axes of {self.point}", known)
        object.__setattr__(self, "at", tuple((axis, places[axis]) for axis in known if axis in places))
        if self.verb in NUMBERED:
            if self.amount is None:
                raise CallError(f"{self.verb} needs a number after the point, as in {self.verb}({self.point}, 0.5)")
            if not _is_number(self.amount):
                raise CallError(f"amount = {_shown(self.amount)} of {self.verb} is not a number up to {MOST_NUMBER}")
            object.__setattr__(self, "amount", float(self.amount))
        elif self.amount is not None:
            raise CallError(f"{self.verb} takes no number, but {self.amount} is given; {', '.join(NUMBERED)} take one")
        self._check_source()

    def _check_source(self) -> None:
        given = {name: value for name, value in self._source().items() if value is not None}
        if self.verb != "patch" and given:
            raise CallError(f"{self.verb} has no source, but {', '.join(given)} is given; only patch has one")
        if self.verb == "patch" and not given:
            raise CallError(f'patch({self.point}) has no source; give one, as in patch({self.point}, from="4 9")')
        for name in ("from", "run"):
            if name in given and not (isinstance(given[name], str) and given[name]):
                raise CallError(f"{name} = {_shown(given[name])} is not a text in quotes")
        if "step" in given and not (type(self.step) is int and self.step >= -1):
            raise CallError(f"step = {self.step} is not a kept step: a whole number from 0 up, or -1 for the last")
        if "member" in given and not (type(self.member) is int and self.member >= 0):
            raise CallError(f"member = {self.member} is not a member of a population: a whole number from 0 up")

    def _source(self) -> dict[str, Any]:
        return {"from": self.text, "step": self.step, "run": self.run, "member": self.member}

    def __str__(self) -> str:
        words = [self.point]
        if self.amount is not None:
            words.append(repr(self.amount).removesuffix(".0"))
        words += [f"{name}={_shown(value)}" for name, value in self._source().items() if value is not None]
        words += [f"{axis}={_spans(places)}" for axis, places in self.at]
        return f"{self.verb}({', '.join(words)})"

    def plain(self) -> dict[str, Any]:
        """As values that JSON can hold."""
        found: dict[str, Any] = {"verb": self.verb, "point": self.point}
        if self.at:
            found["at"] = {axis: list(places) for axis, places in self.at}
        given = {"amount": self.amount, **self._source()}
        return found | {name: value for name, value in given.items() if value is not None}

    @classmethod
    def from_plain(cls, value: Any) -> "Edit":
        """The edit that `plain` was made of."""
        fields = ("verb", "point", "at", "amount", *SOURCES)
        if not isinstance(value, Mapping) or not {"verb", "point"} <= value.keys():
            raise CallError(f"{_shown(value)} is not an edit: a table with verb and point, and as needed {fields[2:]}")
        for name in value:
            check_name(name, "an edit", fields)
        at = value.get("at", {})
        if not isinstance(at, Mapping):
            raise CallError(f"at = {_shown(at)} is not a table of places by axis")
        given = {name: value.get(name) for name in ("amount", "step", "run", "member")}
        return cls(value["verb"], value["point"], tuple(at.items()), text=value.get("from"), **given)


# ---- text -----------------------------------------------------------------------------------------------------------


TOKEN = re.compile(
    r"""\s+|(?P<text>"(?:[^"\\]|\\.)*"|'[^'\\]*')|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<word>[^\W\d]\w*(?:\.\w+)*)"""
    r"""|(?P<sign>[][(),=;-])|(?P<other>.)""",
    re.DOTALL | re.ASCII,
)


def parse(text: str) -> Edit:
    """The one edit of a text such as `scale(attended, 0.5, block=1)`; its `str` is the text again."""
    found = _Words(text).edits()
    if len(found) != 1:
        raise CallError(f"{text!r} has {len(found)} edits where one is wanted")
    return found[0]


def read(given: Given) -> tuple[Edit, ...]:
    """Edits from a text of one or several, an `Edit`, its plain values, or a list of any of these."""
    if given is None:
        return ()
    if isinstance(given, Edit):
        return (given,)
    if isinstance(given, str):
        return tuple(_Words(given).edits())
    if isinstance(given, Mapping):
        return (Edit.from_plain(given),)
    if not isinstance(given, Iterable):
        raise CallError(f"{as_given(given)} is not an edit; write one as zero(mixed, block=0, head=1)")
    return tuple(edit for each in given for edit in read(each))


def written(edits: Iterable[Edit]) -> str:
    """Edits as one text, which `read` takes."""
    return "; ".join(map(str, edits))


class _Words:
    """The words of a text, taken one by one."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            raise LimitError(f"the edits have {len(text):,} characters; the most is {MOST_TEXT:,}")
        self.text, self.place = text, 0
        self.words = [(str(each.lastgroup), each.group()) for each in TOKEN.finditer(text) if each.lastgroup]

    def edits(self) -> list[Edit]:
        found = [self.edit()]
        while self.skip(";"):
            found.append(self.edit())
        return found if self.place == len(self.words) else self.wrong("a semicolon or the end")

    def edit(self) -> Edit:
        verb = self.take("word", "a verb")
        self.need("(")
        point, block = _point(verb, self.take("word", "the name of a point"))
        known = glossary.axes(point)
        amount: float | None = None
        given: dict[str, Any] = {} if block is None else {"block": [block]}
        while self.skip(","):
            first = len(given) == (block is not None)
            if first and amount is None and self.next()[0] != "word":
                amount = self.number("a number, or the name of an axis")
                continue
            name = self.take("word", "the name of an axis")
            if name not in (*known, *SOURCES):
                raise unknown(name, f"the axes of {point}", (*known, *(SOURCES if verb == "patch" else ())))
            if name in given:
                raise CallError(f"{name} is given twice in {self.text!r}; give all its places once, as {name}=[0, 2]")
            self.need("=")
            given[name] = self.value(name)
        self.need(")")
        source = {name: given.pop(name, None) for name in SOURCES}
        return Edit(verb, point, tuple(given.items()), amount, source.pop("from"), **source)

    def value(self, name: str) -> Any:
        if name in ("from", "run"):
            word = self.take("text", "a text in quotes", name)
            try:
                return json.loads(word, strict=False) if word[0] == '"' else word[1:-1]
            except ValueError:
                raise CallError(f"{name} = {word} has a backslash that stands for nothing; write two of it") from None
        if name == "step":
            return -self.whole(name, "a whole number") if self.skip("-") else self.whole(name, "a whole number")
        if name == "member":
            return self.whole(name, "a whole number from 0 up")
        if not self.skip("["):
            return self.span(name)
        places = self.span(name)
        while self.skip(","):
            places += self.span(name)
        self.need("]")
        return places

    def span(self, axis: str) -> list[int]:
        wanted = "a whole number from 0 up, a range such as 0-3, or a list such as [0, 2]"
        first = last = _place(axis, self.whole(axis, wanted))
        if self.skip("-"):
            last = _place(axis, self.whole(axis, wanted))
            if last < first:
                raise CallError(f"{axis} = {first}-{last} runs backwards; write {last}-{first}")
        return list(range(first, last + 1))

    def whole(self, field: str, wanted: str) -> int:
        word = self.next()[1]
        if not word.isdecimal() or len(word) > MOST_DIGITS:
            self.wrong(wanted, field)
        return int(self.take("number", wanted, field))

    def number(self, wanted: str) -> float:
        sign = -1 if self.skip("-") else 1
        return sign * float(self.take("number", wanted))

    def next(self) -> tuple[str, str]:
        return self.words[self.place] if self.place < len(self.words) else ("end", "")

    def take(self, kind: str, wanted: str, field: str = "") -> str:
        if self.next()[0] != kind:
            self.wrong(wanted, field)
        self.place += 1
        return self.words[self.place - 1][1]

    def skip(self, sign: str) -> bool:
        found = self.next() == ("sign", sign)
        self.place += found
        return found

    def need(self, sign: str) -> None:
        if not self.skip(sign):
            self.wrong(f"{sign!r}")

    def wrong(self, wanted: str, field: str = "") -> Any:
        kind, word = self.next()
        if field and kind != "end":
            word = "".join(word for _, word in self.words[self.place :][: 2 if word == "-" else 1])
            raise CallError(f"{field} = {word} in {self.text!r} is not {wanted}")
        there = "it ends" if kind == "end" else f"{word} stands"
        raise CallError(
            f"the edit {self.text!r} cannot be read: {there} where {wanted} should be; "
            "it is written as zero(mixed, block=0, head=1) or add(middle, 1.5, position=0-3)"
        )


def _point(verb: Any, name: Any) -> tuple[str, int | None]:
    """The point that a name means, and the block if the name is TransformerLens's; and whether there is such a verb."""
    check_name(verb, "the verbs of edits", VERBS)
    found = glossary.point(name) if isinstance(name, str) else None
    if found is None:
        raise unknown(str(name), "the points", glossary.POINTS)
    return found


def _places(axis: Any, given: Any) -> tuple[int, ...]:
    many = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    try:
        found = {_place(axis, index(place)) for place in many if not isinstance(place, bool)}
    except TypeError:
        found = set()
    if not found or bool in map(type, many):
        raise CallError(f"{axis} = {_shown(given)} is not a whole number or a list of them")
    return tuple(sorted(found))


def _place(axis: Any, place: int) -> int:
    if not 0 <= place < MOST_PLACES:
        raise LimitError(f"{axis} = {place} is not between 0 and {MOST_PLACES - 1:,}")
    return place


def _spans(places: tuple[int, ...]) -> str:
    """0-3, or [0, 2, 5-7]."""
    spans: list[list[int]] = []
    for place in places:
        if spans and spans[-1][1] == place - 1:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST_NUMBER


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
