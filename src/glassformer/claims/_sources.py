"""The sources and their claims: every file of this folder, and which claims a name means."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from glassformer import _discover
from glassformer.claims._claim import Claim
from glassformer.errors import unknown


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
    if id not in known:
        raise unknown(id, "the claims", known)
    return known[id]


def meant(words: Sequence[str]) -> list[Claim]:
    """The claims that names mean, in their order: of a source (S3, 3 or gpt_from_scratch) all, else one; none: all."""
    groups = {word: source.claims for source in sources() for word in (source.code, str(source.number), source.name)}
    groups |= {claim.id: (claim,) for claim in every()}
    wanted = set()
    for word in words:
        name = word if word in groups else re.sub(r"-(\d)$", r"-0\1", word.upper())  # S3-5 is S3-05
        if name not in groups:
            raise unknown(name if name[:1] == "S" else word, "the claims", groups)
        wanted |= {claim.id for claim in groups[name]}
    return [claim for claim in every() if claim.id in wanted or not words]
