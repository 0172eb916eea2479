"""Figures as files, with their numbers and words beside them."""

import csv
import io
import json
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.figure import Figure

from glassformer import __version__, storage
from glassformer.analyses._result import Result
from glassformer.figures._draw.drawn import of
from glassformer.figures._draw.glyphs import visible
from glassformer.plain import plain
from glassformer.words import shown

MOST_ROWS = 200_000  # of the numbers beside a film
FORMATS = ("svg", "png", "pdf", "csv")


def data(figure: Figure, kind: str) -> bytes:
    """The figure as a file's bytes: svg (real text), png or pdf; the same figure gives the same bytes."""
    dates: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": "Glassformer"}, "png": {"Software": None},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": "Glassformer", "Producer": None},
    }  # fmt: skip
    words = getattr(figure, "glassformer", None)
    if words is not None and kind in ("svg", "pdf"):
        told = {"Title": words.words.title} | ({"Description": words.words.alt} if kind == "svg" else {})
        dates[kind] |= {name: visible(text) for name, text in told.items()}
    out = io.BytesIO()
    fixed = {"svg.hashsalt": "glassformer", "svg.fonttype": "none", "pdf.fonttype": 42, "hatch.linewidth": 0.6}
    with matplotlib.rc_context(fixed):
        own = "module://glassformer.figures._draw.canvas"
        figure.savefig(out, format=kind, dpi=figure.dpi, metadata=dates[kind], backend=own)
    return out.getvalue()


class Displayed(Figure):  # type: ignore[misc]
    """A figure that a notebook shows by itself; Matplotlib's own wait for pyplot to be loaded."""

    def _repr_png_(self) -> bytes:
        return data(self, "png")

    def __repr__(self) -> str:
        words = getattr(self, "glassformer", None)
        return f"<Figure: {shown(words.words.title)}>" if words is not None else super().__repr__()


def save(figure: Figure, path: Path | str) -> Path:
    """Write a figure; the suffix says how: as a picture, or as csv its numbers in long form."""
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower()
    storage.replace(path, table(of(figure).result).encode() if kind == "csv" else data(figure, kind))
    return path


def table(result: Result) -> str:
    """The numbers of a result in long form, as a .csv holds them."""
    text = io.StringIO()
    columns, rows = result.table()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(legible_row, rows))
    return text.getvalue()


def legible_row(row: Iterable[Any]) -> list[Any]:
    """A row of a table whose texts show what a terminal or a spreadsheet would obey; line ends stay, in quotes."""
    return [shown(cell) if isinstance(cell, str) else cell for cell in row]


def save_numbers(figure: Figure, path: Path, about: Mapping[str, Any] | None = None) -> Path:
    """What the figure shows, beside it: words, options, versions, and the whole result; on further pages only words."""
    drawn = of(figure)
    words = {
        "title": drawn.words.title, "caption": drawn.words.caption, "alt": drawn.words.alt,
        **(about or {}),
        "step": drawn.result.step, "options": drawn.options, "theme": drawn.theme, "size": drawn.size,
        "versions": {"glassformer": __version__, "matplotlib": matplotlib.__version__, "numpy": np.__version__,
                     "python": platform.python_version()},
    }  # fmt: skip
    text = json.dumps(plain(words), ensure_ascii=False, indent=1, allow_nan=False)
    if not drawn.page:  # the numbers are those of all pages; on one line, as they are for programs
        told = json.dumps(drawn.result.plain(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text = text.removesuffix("\n}") + f',\n "result": {told}\n}}'
    storage.replace(path, shown(text).encode())  # in JSON these are the same characters
    return path
