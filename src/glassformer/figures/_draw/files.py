"""Figures as files, with their numbers and words beside them."""

import csv
import io
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes as Axes
from matplotlib.figure import Figure

from glassformer import __version__, storage
from glassformer.figures._draw.drawn import of

MOST_ROWS = 200_000  # numbers beyond this go to an .npz instead of a .csv
MOST_NAMED = 100  # labels of an axis repeated in a .json; the .csv has them all
FORMATS = ("svg", "png", "pdf")


def data(figure: Figure, kind: str) -> bytes:
    """The figure as a file's bytes: svg (real text), png or pdf; the same figure gives the same bytes."""
    dates: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": "Glassformer"}, "png": {"Software": None},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": "Glassformer", "Producer": None},
    }  # fmt: skip
    words = getattr(figure, "glassformer", None)
    if words is not None and kind in ("svg", "pdf"):
        dates[kind] |= {"Title": words.words.title} | ({"Description": words.words.alt} if kind == "svg" else {})
    out = io.BytesIO()
    fixed = {"svg.hashsalt": "glassformer", "svg.fonttype": "none", "pdf.fonttype": 42, "hatch.linewidth": 0.6}
    with matplotlib.rc_context(fixed):
        figure.savefig(out, format=kind, dpi=figure.dpi, metadata=dates[kind])
    return out.getvalue()


def save(figure: Figure, path: Path | str) -> Path:
    """Write a figure; the suffix says how."""
    path = Path(path)
    storage.replace(path, data(figure, path.suffix.removeprefix(".").lower()))
    return path


def save_numbers(figure: Figure, stem: Path, about: Mapping[str, Any] | None = None) -> list[Path]:
    """What the figure shows, beside it: .csv in long form (.npz above 200 000 numbers) and .json with the words."""
    shown_by = of(figure)
    result, arrays = shown_by.result, shown_by.result.arrays()
    written: list[Path] = []
    if result.size > MOST_ROWS:
        out = io.BytesIO()
        values: dict[str, Any] = {name: np.asarray(each.values) for name, each in arrays.items()}
        np.savez_compressed(out, **values)
        written.append(_write(stem.with_name(stem.name + ".npz"), out.getvalue()))
    elif arrays:
        text = io.StringIO()
        columns, rows = result.table()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)
        written.append(_write(stem.with_name(stem.name + ".csv"), text.getvalue().encode()))
    words = {
        "title": shown_by.words.title, "caption": shown_by.words.caption, "alt": shown_by.words.alt,
        **(about or {}),
        "step": result.step, "options": shown_by.options, "theme": shown_by.theme, "size": shown_by.size,
        "facts": result.facts(),
        "arrays": {name: {"axes": {axis: list(names) if len(names) <= MOST_NAMED else f"{len(names)} places"
                                   for axis, names in each.axes.items()}, "unit": each.unit}
                   for name, each in arrays.items()},
        "versions": {"glassformer": __version__, "matplotlib": matplotlib.__version__, "numpy": np.__version__,
                     "python": platform.python_version()},
    }  # fmt: skip
    text_json = json.dumps(_plain(words), ensure_ascii=False, indent=1, allow_nan=False)
    written.append(_write(stem.with_name(stem.name + ".json"), text_json.encode()))
    return written


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def _write(path: Path, content: bytes) -> Path:
    storage.replace(path, content)
    return path
