"""Every figure of a run that applies, with the numbers behind each, and one page that shows them all."""

import json
from dataclasses import asdict
from pathlib import Path

from glassformer import __version__, catalogue, storage
from glassformer.analyses import _clock
from glassformer.catalogue import Entry
from glassformer.gallery.drawing import Progress, draw
from glassformer.gallery.making import FORMATS, Made, Wish, make, plot, stem
from glassformer.gallery.page import page
from glassformer.run import Run
from glassformer.words import pasted, shown

__all__ = ["FORMATS", "Made", "Progress", "Wish", "draw", "gallery", "left_out", "make", "page", "plot", "stem"]


def gallery(
    run: Run,
    out: Path,
    wish: Wish | None = None,
    progress: Progress | None = None,
    only: tuple[str, ...] | None = None,
) -> list[Made]:
    """Every figure that applies (`only`: of these), `gallery.json` and `index.html`; what is left out is told why."""
    wish = wish or Wish()
    _clock.resolve(run, wish.step)
    pieces = [each for each in catalogue.entries("figures") if only is None or each.name in only]
    told = {each.name: reason for each in pieces if (reason := left_out(each, run))}
    drawn = draw(run, [each for each in pieces if each.name not in told], wish, out, progress)
    made = [*drawn, *(Made(each.name, each.section, absent=told[each.name]) for each in pieces if each.name in told)]
    facts = [{name: value for name, value in asdict(each).items() if name != "seconds"} for each in made]
    about = {"run": run.name, "version": __version__, "figures": facts}  # the same run gives the same file
    storage.replace(out / "gallery.json", shown(json.dumps(about, ensure_ascii=False, indent=1)).encode())
    storage.replace(out / "index.html", page(run, made, out, wish.theme).encode())
    return made


def left_out(each: Entry, run: Run) -> str | None:
    """Why a gallery does not draw a figure, as half a sentence with the command that does; None: it draws it."""
    asked = pasted(["glassformer", "figures", run.name, each.name])
    if each.needs == "nothing" and each.section in ("primer", "trust"):
        return f"it is about no run; `glassformer figures {each.name}` draws it"
    if each.needs == "runs":
        return f"it compares runs; `{asked} --with OTHER_RUN` draws it"
    if each.needs == "run" and each.cost == "d":
        return catalogue.why_not(each, run) or f"it takes long; `{asked}` draws it"
    return None
