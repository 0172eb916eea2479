"""The sources and their claims: every file of this folder, and which claims a name means."""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from glassformer import _discover
from glassformer.claims._claim import Claim
from glassformer.errors import MOST_SHOWN, MissingError, check_name


@dataclass(frozen=True)
class Source:
    """One source, and what it says."""

    number: int
    name: str  # of the file: gpt_from_scratch
    title: str
    claims: tuple[Claim, ...]

    @property
    def code(self) -> str:
        """S3."""
        return f"S{self.number}"


@cache
def sources() -> tuple[Source, ...]:
    """Every source, by number, with its claims in the order of its file."""
    here = sys.modules["glassformer.claims"]
    found = []
    for name in _discover.names(here):
        file = _discover.file(here, name)
        claims = tuple(each for each in vars(file).values() if isinstance(each, Claim))
        found.append(Source(file.SOURCE, name, file.TITLE, claims))
    return tuple(sorted(found, key=lambda source: source.number))


def every() -> list[Claim]:
    """All claims of all sources."""
    return [claim for source in sources() for claim in source.claims]


def find(id: str) -> Claim:
    """One claim."""
    known = {claim.id: claim for claim in every()}
    return known[check_name(id, "the claims", known)]


def meant(words: Sequence[str]) -> list[Claim]:
    """The claims that names mean, in their order: of a source (S3, 3 or gpt_from_scratch) all, else one; none: all."""
    groups = {word: source.claims for source in sources() for word in (source.code, str(source.number), source.name)}
    groups |= {claim.id: (claim,) for claim in every()}
    wanted = set()
    for word in words:
        name = word if word in groups else re.sub(r"-(\d)$", r"-0\1", word.upper())  # S3-5 is S3-05
        if name not in groups:
            raise _unknown(word, groups)
        wanted |= {claim.id for claim in groups[name]}
    return [claim for claim in every() if claim.id in wanted or not words]


def _unknown(word: str, known: Iterable[str]) -> MissingError:
    """There are too many to list: the nearest, the sources, and what lists the rest."""
    near = get_close_matches(word, [*known], n=1) or get_close_matches(word.upper(), [*known], n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    there = ", ".join(source.code for source in sources())
    return MissingError(f"nothing called {word[:MOST_SHOWN]!r} in the claims{hint}; there are: {there}, and what "
                        "`glassformer list claims` lists")  # fmt: skip
