"""Write docs/places.md: where each section of the five sources has its place, as a lesson, a figure or a claim.

The sections are those of docs/sources.toml. Figures, films, lessons and claims name the sections they serve.
"""

import pkgutil
import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from glassformer import catalogue, claims
from glassformer.claims._claim import Claim
from glassformer.teaching.script import course

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/places.md"
KINDS = ("explained", "drawn", "again", "asked")
TOLD, DRAWN = "a lesson or a claim", "a figure"  # what a section may need
NEEDS = {"explained": (TOLD,), "drawn": (TOLD, DRAWN), "again": (DRAWN,), "asked": (TOLD,)}
HEAD = """# Where the sources have their place

Glassformer began with five texts that teach how transformers work. This table says, section by section and in our own
words, where each of their explanations, figures and questions has its place here: the [lessons](lessons.md) that
explain it, the figures and films that draw it, the [claims](claims.md) that check it. `make places` writes this page
from [the list of sections](sources.toml) and from what lessons, figures and claims say of themselves; a test finds a
section without its place.
"""
ASIDE = "Left out: {}."


@dataclass(frozen=True)
class Place:
    """What serves one section."""

    lessons: set[str] = field(default_factory=set)
    figures: set[str] = field(default_factory=set)
    films: set[str] = field(default_factory=set)
    claims: set[str] = field(default_factory=set)

    def lacks(self, kind: str) -> list[str]:
        """What a section of this kind still needs."""
        there = {TOLD: bool(self.lessons or self.claims), DRAWN: bool(self.figures or self.films)}
        return [need for need in NEEDS[kind] if not there[need]]


def sources() -> list[dict[str, Any]]:
    """The five sources as the list has them."""
    found: list[dict[str, Any]] = tomllib.loads((ROOT / "docs/sources.toml").read_text("utf-8"))["source"]
    return found


def sections() -> dict[str, str]:
    """Code → kind, of all five."""
    return {code: kind for source in sources() for kind in KINDS for code in source.get(kind, {})}


def all_claims() -> list[Claim]:
    """Every claim, from whatever file of the folder it is in."""
    files = [each.name for each in pkgutil.iter_modules(claims.__path__) if not each.name.startswith("_")]
    found = [value for name in files for value in vars(import_module(f"glassformer.claims.{name}")).values()]
    return list({each.id: each for each in found if isinstance(each, Claim)}.values())


def served() -> list[tuple[str, str, str]]:
    """(code, kind of piece, its name): all that anything says it serves; "new" is in none of the sources."""
    told = [(code, kind, each.name) for kind in ("figures", "films") for each in catalogue.entries(kind)
            for code in each.answers]  # fmt: skip
    told += [(code, "lessons", each.name) for each in course() for code in each.answers]
    told += [(code, "claims", each.id) for each in all_claims() for code in re.split(r",?\s+(?=\d\.)", each.place)]
    return [each for each in told if each[0] != "new"]


def unknown() -> list[str]:
    """What names a section that no source has."""
    known = sections()
    return [f"{name} ({kind}) names {code}" for code, kind, name in served() if code not in known]


def places() -> dict[str, Place]:
    """Code → what serves it."""
    found = {code: Place() for code in sections()}
    for code, kind, name in served():
        if code in found:
            getattr(found[code], kind).add(name)
    return found


def gaps() -> list[str]:
    """Sections that lack what they need, and what that is."""
    found, kinds = places(), sections()
    return [f"{code}: {need}" for code, kind in kinds.items() for need in found[code].lacks(kind)]


def page() -> str:
    """The whole page."""
    found, parts = places(), [HEAD]
    for source in sources():
        parts.append(f"## {source['name']} · {source['title']}\n")
        parts.append("| section | what it tells | lessons | figures | claims |\n|---|---|---|---|---|")
        for kind in KINDS:
            parts += [row(code, title, found[code]) for code, title in source.get(kind, {}).items()]
        out = "; ".join(f"{name} ({why})" for name, why in source.get("left_out", {}).items())
        parts.append("\n" + ASIDE.format(out) + "\n")
    return "\n".join(parts)


def row(code: str, title: str, there: Place) -> str:
    told = [
        f"[{number}](../src/glassformer/lessons/{each.name}.py)"
        for number, each in enumerate(course(), 1)
        if each.name in there.lessons
    ]
    drawn = [f"`{name}`" for name in sorted(there.figures)]
    drawn += [f"film `{name}`" for name in sorted(there.films - there.figures)]
    return f"| {code} | {title} | {joined(told)} | {joined(drawn)} | {joined(sorted(there.claims))} |"


def joined(names: Iterable[str]) -> str:
    return ", ".join(names)


def main() -> int:
    PAGE.write_text(page(), "utf-8")
    for line in [*unknown(), *gaps()]:
        print(line)
    print(f"{PAGE.relative_to(ROOT)}: {len(sections())} sections, {len(gaps())} gaps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
