"""Every figure of a run that applies, with the numbers behind each, and one page that shows them all."""

import json
from dataclasses import asdict
from pathlib import Path

from glassformer import __version__, storage
from glassformer.analyses import _clock
from glassformer.gallery.making import FORMATS, Made, Wish, make, plot, stem
from glassformer.gallery.page import page
from glassformer.gallery.pieces import SECONDS, Piece, Subject, figure_of, for_gallery, names, opened, piece, suits
from glassformer.gallery.story import SECTIONS
from glassformer.gallery.workers import Progress, draw, work
from glassformer.run import Run

__all__ = [
    "FORMATS", "SECONDS", "SECTIONS", "Made", "Piece", "Progress", "Subject", "Wish", "draw", "figure_of",
    "for_gallery", "gallery", "make", "names", "opened", "page", "piece", "plot", "stem", "suits", "work",
]  # fmt: skip


def gallery(run: Run, out: Path, wish: Wish | None = None, progress: Progress | None = None) -> list[Made]:
    """Every figure that applies, `gallery.json` and `index.html`."""
    wish = wish or Wish()
    _clock.resolve(run, wish.step)
    pieces = [each for each in map(piece, names()) if for_gallery(each, run)]
    made = draw(run, pieces, wish, out, progress)
    told = [{name: value for name, value in asdict(each).items() if name != "seconds"} for each in made]
    about = {"run": run.name, "version": __version__, "figures": told}  # the same run gives the same file
    storage.replace(out / "gallery.json", json.dumps(about, ensure_ascii=False, indent=1).encode())
    storage.replace(out / "index.html", page(run, made, out, wish.theme).encode())
    return made
