"""One figure, drawn as wished and written to files with its numbers: on as many pages as it has."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer import catalogue
from glassformer.catalogue import Entry, Subject
from glassformer.errors import CallError, Error, StorageError
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
    edits: tuple[str, ...] = ()  # of the values inside the model: `zero(mixed, head=0)`


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


def plot(each: Entry, subject: Subject, wish: Wish, sequence: str | None = None, page: int = 0) -> "Figure":
    """Draw one figure, with what it can be asked for."""
    wanted: dict[str, Any] = {"step": wish.step, "member": wish.member, "size": wish.size, "theme": wish.theme}
    wanted |= {"sequence": sequence} if sequence is not None else {}
    wanted |= {"page": page} if page else {}
    asked = {name: value for name, value in wanted.items() if each.option(name)} | wish.options
    others = map(open_run, wish.others if each.needs == "runs" else ())
    return catalogue.ask("figures", each.name, subject, *others, **asked)


def stem(name: str, detail: str, figure: "Figure", wish: Wish) -> str:
    """NAME[_DETAIL][_OPTION-VALUE][_pageN][_stepNNNNNN][_SIZE][_THEME]; the first page is named as if the only one.

    What was asked for with options stands in the name, so that it never takes the place of the gallery's own file.
    """
    from glassformer.figures import _draw

    drawn = _draw.of(figure)
    several = getattr(drawn.result, "steps", None)
    parts = [name, detail, *(_safe(f"{key}-{value}") for key, value in wish.options.items() if key != "page")]
    parts.append(f"page{drawn.page + 1}" if drawn.page else "")
    if drawn.result.step is not None:
        parts.append(f"step{drawn.result.step:06}")
    elif isinstance(several, (tuple, list)) and several:
        parts.append(f"step{min(several):06}-{max(several):06}")
    parts += [wish.size if wish.size != "screen" else "", wish.theme if wish.theme != "light" else ""]
    return "_".join(part for part in parts if part)


def _safe(text: str) -> str:
    """As much of a text as a file's name may hold."""
    return "".join(letter if letter.isalnum() or letter in "-.+" else "_" for letter in text).strip("_.")[:60]


@contextmanager
def one_by_one() -> Iterator[None]:
    """Garbage is taken out after each figure (by `make`), not while one is drawn: looking for it costs a tenth more."""
    usual = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if usual:
            gc.enable()


def make(each: Entry, subject: Subject, wish: Wish, out: Path) -> list[Made]:
    """Draw a figure (once per sequence, if it takes any) and write its files; a failure is told, not raised."""
    several = wish.sequences if each.option("sequence") and wish.sequences else (None,)
    found: list[Made] = []
    try:
        asked = list(product(catalogue.drawn_from(each, subject) or [subject], enumerate(several)))
    except Error as problem:
        return [_not_made(each, problem)]
    for one, (k, sequence) in asked:
        detail = [
            _safe(one.path.name) if one is not None and one is not subject else "",
            f"seq{k + 1}" if sequence is not None else "",
            f"member{wish.member:02}" if wish.member else "",
            *map(_safe, wish.edits),
        ]
        try:
            if reason := catalogue.why_not(each, one):
                found.append(Made(each.name, each.section, absent=reason))
                break
            edited = one.edited(wish.edits) if wish.edits and isinstance(one, Run) else one
            found += _pages(each, edited, wish, out, sequence, "_".join(filter(None, detail)))
        except StorageError:  # nor could the others be written
            raise
        except Exception as problem:  # one figure must not stop the others
            found.append(_not_made(each, problem))
    if not gc.isenabled():
        gc.collect(0)  # all that is new: whoever is older was looked at before
    return found


def _not_made(each: Entry, problem: Exception) -> Made:
    if isinstance(problem, Error) and problem.exit_code == 2:  # the call was wrong, not the work
        return Made(each.name, each.section, absent=str(problem))
    sentence = str(problem) if isinstance(problem, Error) else f"{type(problem).__name__}: {problem}"
    return Made(each.name, each.section, failed=sentence)


def _pages(
    each: Entry, subject: Subject, wish: Wish, out: Path, sequence: str | None, detail: str
) -> Iterator[Made]:  # fmt: skip
    """One after the other where a size is fixed; a screen shows the first, and the option `page` any other."""
    first = _written(each, subject, wish, out, sequence, detail)
    yield first
    if wish.size != "screen" and "page" not in wish.options:
        for page in range(1, min(first.pages, MOST_PAGES)):
            yield _written(each, subject, wish, out, sequence, detail, page)


def _written(
    each: Entry, subject: Subject, wish: Wish, out: Path, sequence: str | None, detail: str, page: int = 0
) -> Made:  # fmt: skip
    from glassformer.figures import _draw

    began = time.perf_counter()
    if wish.edits and not catalogue.shows_model(each):
        raise CallError("edits change values inside the model, and this figure shows none of them")
    figure = plot(each, subject, wish, sequence, page)
    name = stem(each.name, detail, figure, wish)
    files = [_draw.save(figure, out / f"{name}.{kind}") for kind in wish.formats]
    about: dict[str, Any] = {"figure": each.name}
    if subject is not None and each.needs != "nothing":
        about["run" if isinstance(subject, Run) else "study"] = subject.name
    if wish.edits:
        about["edits"] = list(wish.edits)
    files.append(_draw.save_numbers(figure, out / f"{name}.json", about))
    drawn = _draw.of(figure)
    return Made(
        each.name, each.section, tuple(path.name for path in files), drawn.words.title, drawn.words.caption,
        drawn.words.alt, drawn.result.step, drawn.page, drawn.pages, seconds=round(time.perf_counter() - began, 3),
    )  # fmt: skip


def begin(setup: tuple[str, dict[str, Any], str]) -> Callable[[str], Iterator[list[dict[str, Any]]]]:
    """What a second process does: draw the figures it is told to."""
    from glassformer.figures import _draw  # noqa: F401 - imported before the first order comes

    path, given, out = setup
    subject = catalogue.opened(path)
    asked: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
    wish = Wish(**asked)

    def drawn(name: str) -> Iterator[list[dict[str, Any]]]:
        each = catalogue.entry("figures", name)
        with one_by_one():
            try:
                found = make(each, subject, wish, Path(out))
            except StorageError as problem:  # the first process will see for itself
                found = [_not_made(each, problem)]
            yield [asdict(made) for made in found]

    return drawn
