"""What things show of themselves in a notebook: small HTML, with every text in it escaped, and no script.

Nothing here needs a notebook to be installed, or loads one.
"""

import html
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.words import shown

Array = NDArray[Any]
MOST_ACROSS, MOST_DOWN, MOST_PANELS = 16, 24, 8  # columns and rows of a table, tables of an array
LINES = {True: "#2a9d5c", False: "#c0392b"}  # under a token that is right, or wrong


def text(value: Any) -> str:
    """Any value as HTML that means nothing but itself."""
    return html.escape(shown(str(value)))


def table(rows: Iterable[Sequence[Any]], head: Sequence[Any] = (), caption: str = "") -> str:
    """A table; the first cell of a row names it."""
    made = f"<caption>{text(caption)}</caption>" if caption else ""
    if head:
        made += f"<thead><tr>{''.join(f'<th>{text(cell)}</th>' for cell in head)}</tr></thead>"
    lines = (f"<tr><th>{text(row[0])}</th>{''.join(f'<td>{text(cell)}</td>' for cell in row[1:])}</tr>" for row in rows)
    return f"<table>{made}<tbody>{''.join(lines)}</tbody></table>"


def array(values: Array, axes: Mapping[str, Sequence[str]]) -> str:
    """An array as tables of its last two axes, each place under its label; what is too much is said, not shown."""
    names, shape = list(axes), np.shape(values)
    if not names:
        return f"<p>{text(number(values[()]))}</p>"
    outer = names[:-2]
    panels = list(product(*(range(size) for size in shape[: len(outer)])))
    made = "".join(_panel(values[at], axes, outer, at) for at in panels[:MOST_PANELS])
    left = len(panels) - MOST_PANELS
    return made + (f"<p>and {left:,} more tables</p>" if left > 0 else "")


def _panel(values: Array, axes: Mapping[str, Sequence[str]], outer: list[str], at: tuple[int, ...]) -> str:
    *down, across = list(axes)[len(outer) :]
    labels = _some(axes[across], MOST_ACROSS)
    caption = ", ".join(f"{name} {axes[name][place]}" for name, place in zip(outer, at, strict=True))
    if not down:
        cells = [_cells(values)]
        return table([("", *row) for row in cells], (across, *labels), caption)
    names = axes[down[0]][:MOST_DOWN]
    rows = [(name, *_cells(row)) for name, row in zip(names, values, strict=False)]
    rows += [("…",)] if len(axes[down[0]]) > MOST_DOWN else []
    return table(rows, (f"{down[0]} ╲ {across}", *labels), caption)


def _some(labels: Sequence[str], most: int) -> list[str]:
    return [*labels[:most], *(["…"] if len(labels) > most else [])]


def _cells(row: Array) -> list[str]:
    return [number(value) for value in row[:MOST_ACROSS].tolist()]


def number(value: Any) -> str:
    """A number with four digits that count; whole ones whole."""
    return f"{value:.4g}".replace("-", "\u2212") if isinstance(value, float) else str(value)


def span(values: Any, unit: str = "") -> str:
    """`2.343 nats`, or of several members `2.343 to 2.346 nats`; those that are not numbers are counted."""
    many = np.atleast_1d(np.asarray(values, dtype=np.float64))
    known = many[np.isfinite(many)]
    if not len(known):
        return "not a number"
    ends = dict.fromkeys(f"{value:.3f}" for value in (known.min(), known.max()))
    lost = f", {len(many) - len(known)} not a number" if len(known) < len(many) else ""
    return " to ".join(ends) + (f" {unit}" if unit else "") + lost


def details(summary: str, inside: str) -> str:
    """What is shown once it is asked for."""
    return f"<details><summary>{text(summary)}</summary>{inside}</details>"


def written(pieces: Sequence[tuple[str, str, bool | None]], start: int) -> str:
    """A text piece by piece, what was given set apart, and a mark and a line where there is a verdict."""
    made = []
    for place, (piece, mark, right) in enumerate(pieces):
        inside = text(piece)
        if place < start:
            inside = f'<span style="opacity:0.6">{inside}</span>'
        elif right is not None:
            word = piece.lstrip(" ")
            line = f"border-bottom:2px solid {LINES[right]}"
            said = "right" if right else "wrong"
            inside = f'{piece[: len(piece) - len(word)]}<span title="{said}" style="{line}">{text(word)}{mark}</span>'
        made.append(inside)
    return f'<pre style="white-space:pre-wrap">{"".join(made)}</pre>'


def picture(data: str, kind: str, words: str) -> str:
    """A picture inside the page; `data` is base64."""
    return f'<img src="data:image/{kind};base64,{data}" alt="{text(words)}" style="max-width:100%">'


def video(data: str, words: str) -> str:
    """A film inside the page, which plays when it is asked to."""
    return (
        f'<video controls loop muted style="max-width:100%" aria-label="{text(words)}" '
        f'src="data:video/mp4;base64,{data}"></video>'
    )


def kernel() -> Any:
    """The running IPython of a notebook; None at a terminal, in a script and wherever there is none."""
    found = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return found if hasattr(found, "kernel") else None


def say(line: str) -> None:
    """One line for the person: beside the results of a script, under the cell of a notebook."""
    print(shown(line), file=sys.stdout if kernel() is not None else sys.stderr, flush=True)


class Line:
    """One line in a notebook that can be written anew; without widgets."""

    def __init__(self, words: str) -> None:
        self.words: str = words
        self.share: float | None = 0.0
        self._handle: Any = None

    def show(self) -> None:
        """Under the cell that runs."""
        from IPython.display import display  # it is there: a kernel runs

        self._handle = display(self, display_id=True)

    def change(self, words: str, share: float | None = None) -> None:
        """Other words, and a bar of this share of its length; None: no bar any more."""
        self.words, self.share = words, share
        if self._handle is not None:
            self._handle.update(self)

    def __repr__(self) -> str:
        return shown(self.words)

    def _repr_html_(self) -> str:
        bar = "" if self.share is None else f'<progress value="{self.share:.3f}" max="1"></progress> '
        return f"<div>{bar}<small>{text(self.words)}</small></div>"
