"""A lesson as a page: the report of the runs it looks at, with its text beside them."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glassformer import report, terminal
from glassformer.errors import DamagedError
from glassformer.figures import LOOK
from glassformer.report import link
from glassformer.report.blocks import as_json, packed
from glassformer.report.info import identifier
from glassformer.report.payload import Wish
from glassformer.run import Run
from glassformer.teaching import as_html
from glassformer.teaching.items import Beat, Choice, Discuss, Item, Look, Number, Picture, Point, Said, plain
from glassformer.teaching.running import run as told
from glassformer.teaching.script import Script, course
from glassformer.teaching.tellers import FOLDER, Record

SIZE = 4.0  # MB of a page; larger where the models are, for each comes with
COLUMN = "print_narrow"  # the size of a figure beside text
STEPS = 6  # of its kept steps at the least
FOLD, FOLD_END = "<details><summary>The sum</summary>", "</details>"  # right below a question it would be the answer


def write(script: Script, seed: int, out: Path | None = None) -> Path:
    """Write a lesson's page, and say where: lessons/NAME.html, or the next name that is free, unless one is given."""
    report.check(out)
    stage = Record(seed, progress=True)
    told(script, stage)
    with terminal.counting("page") as progress:
        made = of(script, stage, progress)
    return report.put(made, out, FOLDER / script.name)


def of(script: Script, stage: Record, progress: Any = None) -> report.Made:
    """The page of a lesson that has been told to a record."""
    looks = [item for item in stage.items if isinstance(item, Look)]
    runs = list({look.run.path.resolve(): look.run for look in looks}.values())
    if not runs:
        raise DamagedError(f"the lesson {script.name} looks at no run, so there is nothing to show beside its text")
    names: list[str] = []
    for run in runs:
        names.append(identifier(run.name, names))
    analyses = dict.fromkeys(look.fields["analysis"] for look in looks if look.fields.get("analysis"))
    wish = Wish(
        size=SIZE, least=STEPS, analyses=tuple(analyses), always=tuple(_steps(run, looks) for run in runs)
    )  # fmt: skip
    lesson = _about(script) | {
        "beats": [_beat(beat, dict(zip(_paths(runs), names, strict=True))) for beat in stage.beats]
    }
    return report.made(runs, wish, "", progress, title=script.title, more={"lesson": as_json(lesson)})


def _paths(runs: Sequence[Run]) -> list[Path]:
    return [run.path.resolve() for run in runs]


def _steps(run: Run, looks: Sequence[Look]) -> tuple[int, ...]:
    """The kept steps at which a run is looked at, each once."""
    steps = [
        int(look.fields["step"])
        for look in looks
        if look.run.path.resolve() == run.path.resolve() and "step" in look.fields
    ]
    return tuple(dict.fromkeys(steps))


def _about(script: Script) -> dict[str, Any]:
    """What is said before a lesson, and after it."""
    there = course()
    place = [each.name for each in there].index(script.name)
    titles = {each.name: each.title for each in there}
    after = there[place + 1] if place + 1 < len(there) else None
    return {
        "name": script.name,
        "title": script.title,
        "number": place + 1,
        "of": len(there),
        "minutes": script.minutes,
        "aims": [as_html.line(each) for each in script.aims],
        "before": [{"name": name, "title": titles.get(name, name)} for name in script.before],
        "next": None if after is None else {"name": after.name, "title": after.title},
        "misconceptions": [[as_html.line(belief), as_html.line(shows)] for belief, shows in script.misconceptions],
    }


def _beat(beat: Beat, names: dict[Path, str]) -> dict[str, Any]:
    """One beat. The sums that follow a question are folded, so that they do not answer it before the reader does."""
    parts: list[dict[str, Any]] = []
    asked = False  # whether a question has just been asked, and nothing but sums has followed
    for item in beat.items:
        made = _part(item, names)
        if asked and isinstance(item, Said) and as_html.is_sum(made["html"]):
            folded = parts[-1] if parts[-1].get("html", "").endswith(FOLD_END) else None
            if folded:
                folded["html"] = folded["html"].removesuffix(FOLD_END) + made["html"] + FOLD_END
            else:
                parts.append(made | {"html": FOLD + made["html"] + FOLD_END})
            continue
        asked = isinstance(item, Number | Choice | Point)
        parts.append(made)
    return {"title": as_html.line(beat.title), "code": beat.code, "parts": parts}


def _part(item: Item, names: dict[Path, str]) -> dict[str, Any]:
    """One item, as the page shows it."""
    if isinstance(item, Said):
        return {"kind": "said", "html": as_html.text(item.text)}
    if isinstance(item, Look):
        return {"kind": "look", "link": _inside(item, names), "text": as_html.line(item.text)}
    if isinstance(item, Picture):
        return {"kind": "picture", "alt": item.alt, "caption": as_html.line(item.caption), **_drawn(item)}
    return _question(item)


def _inside(look: Look, names: dict[Path, str]) -> str:
    """The link of a look, with its runs under the names they have in the file."""
    fields = look.fields | {"run": names[look.run.path.resolve()]}
    here = {path.name: name for path, name in names.items()}
    if fields.get("b"):
        parts = (part.partition(":") for part in fields["b"].split(","))
        fields["b"] = ",".join(
            f"{kind}{mark}{here.get(value, value) if kind == 'run' else value}" for kind, mark, value in parts
        )
    return link.link(**fields)


def _drawn(item: Picture) -> dict[str, Any]:
    """A figure inside the page: drawn for a column of text, as lines, or as pixels where those take less room."""
    from glassformer.figures._draw.files import data

    shown = getattr(item.figure, "glassformer", None)
    usual = shown is not None and shown.size == LOOK["size"]  # nobody chose another
    figure = item.figure.redrawn(size=COLUMN) if usual else item.figure
    lines, pixels = data(figure, "svg"), data(figure, "png")
    wide, high = figure.get_size_inches()
    if len(packed(lines)) < len(pixels):
        source = "data:image/svg+xml," + link.escaped(lines.decode("utf-8"))
    else:
        source = "data:image/png;base64," + base64.b64encode(pixels).decode("ascii")
    return {"source": source, "width": round(96 * float(wide)), "height": round(96 * float(high))}


def _question(item: Item) -> dict[str, Any]:
    """A question with its texts as HTML, so that the page has nothing to read."""
    made, text, line = plain(item), as_html.text, as_html.line
    made["text"] = text(made["text"])
    if isinstance(item, Discuss):
        return made | {"look_for": text(item.look_for), "experiment": text(item.experiment)}
    made |= (
        {"because": text(item.because), "shown": line(item.shown)} if isinstance(item, Number | Choice | Point) else {}
    )
    if isinstance(item, Number):
        return made | {"mistakes": [[value, text(reason)] for value, reason in item.mistakes]}
    if isinstance(item, Choice):
        return made | {
            "options": [line(each) for each in item.options],
            "reasons": [text(each) for each in item.reasons],
        }
    assert isinstance(item, Point)
    return made | {
        "rows": [line(each) for each in item.rows],
        "columns": [line(each) for each in item.columns],
        "cells": [[line(each) for each in row] for row in item.cells],
        "reasons": [[text(each) for each in row] for row in item.reasons],
    }
