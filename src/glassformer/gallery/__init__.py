"""Every figure of a run that applies, with the numbers behind each, and one page that shows them all."""

import json
from dataclasses import asdict
from pathlib import Path

from glassformer import __version__, storage
from glassformer.analyses import _clock
from glassformer.gallery.making import FORMATS, Made, Wish, make, plot, stem
from glassformer.gallery.page import page
from glassformer.gallery.pieces import SECONDS, Piece, Subject, figure_of, left_out, names, opened, piece, suits
from glassformer.gallery.story import SECTIONS
from glassformer.gallery.workers import Progress, draw, work
from glassformer.run import Run

__all__ = [
    "FORMATS", "SECONDS", "SECTIONS", "Made", "Piece", "Progress", "Subject", "Wish", "draw", "figure_of",
    "gallery", "left_out", "make", "names", "opened", "page", "piece", "plot", "stem", "suits", "work",
]  # fmt: skip


def gallery(run: Run, out: Path, wish: Wish | None = None, progress: Progress | None = None) -> list[Made]:
    """Every figure that applies, `gallery.json` and `index.html`; what is left out is told with the reason."""
    wish = wish or Wish()
    _clock.resolve(run, wish.step)
    pieces = [piece(name) for name in names()]
    told = {each.name: reason for each in pieces if (reason := left_out(each, run))}
    drawn = draw(run, [each for each in pieces if each.name not in told], wish, out, progress)
    made = [*drawn, *(Made(each.name, each.section, absent=told[each.name]) for each in pieces if each.name in told)]
    facts = [{name: value for name, value in asdict(each).items() if name != "seconds"} for each in made]
    about = {"run": run.name, "version": __version__, "figures": facts}  # the same run gives the same file
    storage.replace(out / "gallery.json", json.dumps(about, ensure_ascii=False, indent=1).encode())
    storage.replace(out / "index.html", page(run, made, out, wish.theme).encode())
    return made
