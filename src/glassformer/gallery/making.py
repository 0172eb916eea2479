"""One figure, drawn as wished and written to files with its numbers: on as many pages as it has."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import figures
from glassformer.errors import CallError, Error, unknown
from glassformer.gallery.pieces import Piece, Subject, drawn_from, suits
from glassformer.run import Run
from glassformer.run import open as open_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")  # of a gallery
MOST_PAGES = 6  # of one figure; more are drawn with the option `page`


@dataclass(frozen=True)
class Wish:
    """How figures are to be drawn."""

    step: int = -1
    member: int = 0
    sequences: tuple[str, ...] = ()
    size: str = "screen"
    theme: str = "light"
    formats: tuple[str, ...] = FORMATS
    options: dict[str, Any] = field(default_factory=dict)
    others: tuple[str, ...] = ()  # folders of further runs, for figures that compare


@dataclass(frozen=True)
class Made:
    """What became of one figure: its files and words, or the sentence that says why there are none."""

    name: str
    section: str
    files: tuple[str, ...] = ()
    title: str = ""
    caption: str = ""
    alt: str = ""
    step: int | None = None
    page: int = 0
    pages: int = 1
    absent: str = ""  # it does not apply
    failed: str = ""  # it should have been drawn
    seconds: float = 0.0


def plot(each: Piece, subject: Subject, wish: Wish, sequence: str | None = None, page: int = 0) -> "Figure":
    """Draw one figure, with what its function asks for."""
    wanted: dict[str, Any] = {"step": wish.step, "member": wish.member, "size": wish.size, "theme": wish.theme}
    wanted |= {"sequence": sequence} if sequence is not None else {}
    wanted |= {"page": page} if page else {}
    for option in wish.options:
        if option not in each.options:
            raise unknown(option, f"the options of {each.name}", set(each.options) - {"ax"})
    chosen = {name: value for name, value in wanted.items() if name in each.options} | wish.options
    draw = getattr(import_module(f"{figures.__name__}.{each.name}"), f"plot_{each.name}")
    if each.needs == "nothing":
        made = draw(**chosen)
    elif each.needs == "runs":
        made = draw([subject, *map(open_run, wish.others)], **chosen)
    else:
        made = draw(subject, **chosen)
    figure: Figure = made
    return figure


def stem(name: str, detail: str, figure: "Figure", wish: Wish) -> str:
    """NAME[_DETAIL][_pageN][_stepNNNNNN][_SIZE][_THEME]; the first page is named as if it were the only one."""
    from glassformer.figures import _draw

    drawn = _draw.of(figure)
    several = getattr(drawn.result, "steps", None)
    parts = [name, detail, f"page{drawn.page + 1}" if drawn.page else ""]
    if drawn.result.step is not None:
        parts.append(f"step{drawn.result.step:06}")
    elif isinstance(several, (tuple, list)) and several:
        parts.append(f"step{min(several):06}-{max(several):06}")
    parts += [wish.size if wish.size != "screen" else "", wish.theme if wish.theme != "light" else ""]
    return "_".join(part for part in parts if part)


def make(each: Piece, subject: Subject, wish: Wish, out: Path) -> list[Made]:
    """Draw a figure (once per sequence, if it takes any) and write its files; a failure is told, not raised."""
    several = wish.sequences if "sequence" in each.options and wish.sequences else (None,)
    found: list[Made] = []
    try:
        asked = list(product(drawn_from(each, subject) or [subject], enumerate(several)))
    except Error as problem:
        return [_not_made(each, problem)]
    for one, (k, sequence) in asked:
        detail = [
            one.path.name if one is not None and one is not subject else "",
            f"seq{k + 1}" if sequence is not None else "",
            f"member{wish.member:02}" if wish.member else "",
        ]
        try:
            if reason := suits(each, one):
                found.append(Made(each.name, each.section, absent=reason))
                break
            found += _pages(each, one, wish, out, sequence, "_".join(filter(None, detail)))
        except Exception as problem:  # one figure must not stop the others
            found.append(_not_made(each, problem))
    return found


def _not_made(each: Piece, problem: Exception) -> Made:
    if isinstance(problem, CallError):
        return Made(each.name, each.section, absent=str(problem))
    sentence = str(problem) if isinstance(problem, Error) else f"{type(problem).__name__}: {problem}"
    return Made(each.name, each.section, failed=sentence)


def _pages(
    each: Piece, subject: Subject, wish: Wish, out: Path, sequence: str | None, detail: str
) -> Iterator[Made]:  # fmt: skip
    """One after the other where a size is fixed; a screen shows the first, and the option `page` any other."""
    first = _written(each, subject, wish, out, sequence, detail)
    yield first
    if wish.size != "screen" and "page" not in wish.options:
        for page in range(1, min(first.pages, MOST_PAGES)):
            yield _written(each, subject, wish, out, sequence, detail, page)


def _written(
    each: Piece, subject: Subject, wish: Wish, out: Path, sequence: str | None, detail: str, page: int = 0
) -> Made:  # fmt: skip
    from glassformer.figures import _draw

    began = time.perf_counter()
    figure = plot(each, subject, wish, sequence, page)
    name = stem(each.name, detail, figure, wish)
    files = [_draw.save(figure, out / f"{name}.{kind}") for kind in wish.formats]
    about = {"figure": each.name}
    if subject is not None and each.needs != "nothing":
        about["run" if isinstance(subject, Run) else "study"] = subject.name
    files += _draw.save_numbers(figure, out / name, about)
    drawn = _draw.of(figure)
    return Made(
        each.name, each.section, tuple(path.name for path in files), drawn.words.title, drawn.words.caption,
        drawn.words.alt, drawn.result.step, drawn.page, drawn.pages, seconds=round(time.perf_counter() - began, 3),
    )  # fmt: skip
