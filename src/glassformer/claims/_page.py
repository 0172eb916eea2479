"""The table of claims as a page, made from what `glassformer claims --all --json` prints and from nothing else."""

from collections.abc import Sequence

from glassformer.claims import _rows, _settle
from glassformer.claims._rows import Row
from glassformer.words import shown

HEAD = "| claim | the source says | measured | verdict | what is true | shown by |"


def page(rows: Sequence[Row]) -> str:
    """docs/claims.md."""
    made = ["# Claims: what the sources say, and what is true", ""]
    made += _about(rows)
    for source in dict.fromkeys(row["source"] for row in rows):
        inside = [row for row in rows if row["source"] == source]
        made += [f"## {source} {inside[0]['source_title']}", "", _counted(inside) + ".", ""]
        made += [HEAD, "|---|---|---|---|---|---|", *map(_line, inside), ""]
    return "\n".join(made)


def _about(rows: Sequence[Row]) -> list[str]:
    seeds = [found for row in rows if (found := _rows.seeds(row))]
    dates = sorted(row["settled"] for row in rows if row["settled"])
    over = f" {len(seeds)} of them over seeds, {min(map(min, seeds))} to {max(map(max, seeds))} each." if seeds else ""
    span = f"from {dates[0]} to {dates[-1]}" if len(set(dates)) > 1 else f"on {dates[0]}" if dates else ""
    when = f" They were settled {span}." if span else ""
    return [
        "Made by `make claims` from what `glassformer claims --all --json` prints; no verdict is written by hand. Each",
        "follows from numbers that a function in `src/glassformer/claims/` computes: *reproduced* as it stands,",
        "*corrected* where the idea holds with another number or word, *refuted*, *illustrative* where it was invented",
        "or is undefined, and *not checkable*, each with its reason. `glassformer claims S3-05` tells one in full, and",
        "with `--open` shows the run that decides it; [how to add one](add-a-claim.md).",
        "",
        f"{_counted(rows)}.{over}{when}",
        "",
        "Over seeds the median is given, and in brackets an interval around it as in [studies](studies.md).",
        "",
    ]


def _counted(rows: Sequence[Row]) -> str:
    """131 claims: 60 reproduced, 40 corrected."""
    found = ", ".join(f"{many} {verdict}" for verdict, many in _rows.counts(rows).items() if many)
    return f"{len(rows)} {'claim' if len(rows) == 1 else 'claims'}: {found}"


def _line(row: Row) -> str:
    stated = _settle.said(row["stated"])
    says = f"{_cell(row['statement'])} ({row['place']})"
    seeds = f" ({max(found)} seeds)" if (found := _rows.seeds(row)) else ""
    measured = f"{_cell(row['measured'] or '')}{seeds}"
    true = "; ".join(_cell(each) for each in (row["reason"], row["truth"], row["note"]) if each)
    shows = "; ".join(f"`{each}`" for each in dict.fromkeys((row["train"], row["command"])) if each)
    verdict = row["verdict"] or "not settled"
    given = f"<br>stated: {_cell(stated)}" if stated else ""
    return f"| {row['id']} | {says}{given} | {measured} | {verdict} | {true} | {shows} |"


def _cell(text: str) -> str:
    """A text that cannot end its cell, nor be read as anything but text."""
    for letter in "\\`*_<>[]":
        text = text.replace(letter, f"\\{letter}")
    return shown(text).replace("|", "\\|").replace("\n", " ")
