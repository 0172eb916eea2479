"""One input through the model: the clock is depth, from token to probability, with the operands of each step shown."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import drawn, placed
from glassformer.analyses._reel import Reel
from glassformer.analyses._result import Array
from glassformer.analyses._stages import Table
from glassformer.analyses.decide.forward import Forward
from glassformer.figures import _draw, _style
from glassformer.films._film import Stage, Update

MOST_COLUMNS = 64
MOST_NAMES = 21  # rows or columns with a name each
KINDS = ("signed", "share", "probability")
CALLED = {"token": "next token", "key_position": "key position", "head_feature": "feature", "quantity": ""}  # columns


def caption(reel: Reel) -> str:  # noqa: ARG001
    """How to read a stage."""
    return (
        "Each stage of one pass, in order: one or two operands at the left, the result at the right, filled "
        "position by position. Signed numbers share one scale within a stage, 0 at the centre, and weights have their "
        "own; the number after ± is that of the full colours. Shares and probabilities run from 0 to 1. Cross-hatched "
        "places are masked; frames mark the position that holds the answer and the tokens that are right."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Every named point of one pass in turn, filled position by position."""
    beside = max(4.0, 1.2 + _draw.widest(placed(reel.still["whole"].tokens)))  # ems for the names of the rows
    box = stage.panels(1, 1, left=0, right=0, bottom=0, top=0, within=(0, 0.86, 1, 1))[0, 0]
    _draw.bare(box)
    head = stage.text(box, 0.012, 0.45, transform=box.transAxes, fontsize=stage.size.title, va="center")
    foot = stage.text(box, 0.4, 0.45, transform=box.transAxes, va="center", color=stage.theme.quiet)

    def slots_of(*widths: float) -> list[Slot]:
        panels = stage.panels(
            1, len(widths), widths=widths, left=beside, right=1.5, bottom=3.4, top=3.2, gap=(beside + 1, 3),
            within=(0, 0, 1, 0.9),
        )  # fmt: skip
        return [Slot(stage, panel) for panel in panels[0]]

    three, two = slots_of(1, 1, 1.25), slots_of(1, 1)

    def update(seen: Forward) -> None:
        part = seen.part
        head.set_text(f"{seen.stage + 1} of {seen.stages} · {part.result.name}")
        foot.set_text(part.says)
        most = _largest([table for table in (*part.operands, part.result) if not table.of_model])
        slots, others = (three, two) if len(part.operands) == 2 else (two, three)
        for slot in others:
            slot.show(None, most)
        for slot, operand in zip(slots, part.operands, strict=False):
            slot.show(operand, most)
        slots[-1].show(part.result, most, seen.filled, f"= {part.result.name}")

    return update


def _largest(tables: Sequence[Table]) -> float:
    """The largest number of the signed ones among some tables."""
    signed = [table.values for table in tables if table.kind == "signed"]
    finite = [float(np.abs(each[np.isfinite(each)]).max()) for each in signed if np.isfinite(each).any()]
    return max([*finite, 1e-9])


class Slot:
    """A place for a table, which may be another one in every frame."""

    def __init__(self, stage: Stage, panel: Axes) -> None:
        self.theme, self.size, self.panel = stage.theme, stage.size.text, panel
        _draw.bare(panel)
        panel.set(xlim=(0, 1), ylim=(1, 0))
        self.pictures = {
            kind: stage.picture(panel, kind=kind, limit=(-1, 1) if kind == "signed" else (0, 1)) for kind in KINDS
        }
        self.hatched = stage.moving(PatchCollection(
            [], facecolor=self.theme.paper, edgecolor=self.theme.masked, hatch="xxxx", linewidth=0, zorder=1
        ))  # fmt: skip
        panel.add_collection(self.hatched, autolim=False)
        self.cells = stage.labels(panel, [], [])
        self.frames = stage.moving(PatchCollection([], facecolor="none", edgecolor=stage.theme.right, zorder=4))
        self.frames.set_linewidth(1.4 * stage.size.line)
        panel.add_collection(self.frames, autolim=False)
        self.rows = [stage.text(panel, -0.02, 0, ha="right", va="center", parse_math=False) for _ in range(MOST_NAMES)]
        self.columns = [
            stage.text(panel, 0, 1.02, ha="center", va="top", color=stage.theme.quiet, parse_math=False)
            for _ in range(MOST_NAMES)
        ]
        self.title = stage.text(panel, 0, 1.03, transform=panel.transAxes, va="bottom")
        self.below = stage.text(panel, 0, -0.085, transform=panel.transAxes, va="top", color=stage.theme.quiet)

    def show(self, table: Table | None, most: float, filled: int | None = None, title: str = "") -> None:
        """Draw a table, or nothing; of its rows the first `filled`, coloured on a scale that ends at `most`.

        Weights have a scale of their own: they are multiplied with the others, not compared.
        """
        most = _largest([table]) if table is not None and table.of_model else most
        values = np.array(table.values[:, :MOST_COLUMNS], dtype=float) if table else np.zeros((1, 0))
        values[filled if filled is not None else len(values) :] = np.nan
        for kind, picture in self.pictures.items():
            picture.set_visible(table is not None and kind == table.kind)
            if table is not None and kind == table.kind:
                picture.show(values / most if kind == "signed" else values)
        self.title.set_text(f"{title or table.name}{self._scale(table, most)}" if table else "")
        self._names(table, values.shape)
        done = range(filled if filled is not None else len(values))
        marks = [mark for mark in (table.marked if table else ()) if mark[0] in done]
        self._numbers(table, values, most, marks)
        masked = np.argwhere(~np.isfinite(table.values[:, :MOST_COLUMNS])).tolist() if table else list[list[int]]()
        high, wide = 1 / len(values), 1 / max(values.shape[1], 1)
        for boxes, cells in ((self.frames, marks), (self.hatched, [cell for cell in masked if cell[0] in done])):
            boxes.set_paths([Rectangle((c * wide, r * high), wide, high) for r, c in cells])

    def _scale(self, table: Table, most: float) -> str:
        """The value of the full colours."""
        return {"signed": f"  ±{most:.2g}", "plain": ""}.get(table.kind, ", 0 to 1")

    def _names(self, table: Table | None, shape: tuple[int, ...]) -> None:
        axes = table.data.axes if table else {}
        rows, columns = (drawn(axis) for axis in axes.values()) if axes else ([], [])
        what = CALLED.get(name, name) if (name := next(reversed(axes), "")) else ""
        for texts, names, size, along in ((self.rows, rows, shape[0], 1), (self.columns, columns, shape[1], 0)):
            every = self._every(names[:size], along) if what or along else 0
            for k, text in enumerate(texts):
                here = table is not None and k < size <= MOST_NAMES and every > 0 and k % every == 0
                text.set_visible(here)
                if here:
                    text.set_text(names[k])
                    text.set_position((-0.02, (k + 0.5) / size) if along else ((k + 0.5) / size, 1.02))
        whole = table.values.shape[1] if table else 0
        many = f"{what}s 0 to {shape[1] - 1}{f' of {whole}' if whole > shape[1] else ''}"
        self.below.set_text(what if shape[1] <= MOST_NAMES or not what else many)

    def _every(self, names: list[str], along: int) -> int:
        """How many names to go on from one to the next for none to touch another."""
        box, dpi = self.panel.bbox, self.panel.figure.dpi
        long = (
            1.3 * self.size / 72 if along else max([_draw.text_width(f"{name} ", self.size) for name in names] or [1])
        )
        return max(1, int(np.ceil(len(names) * long * dpi / (box.height if along else box.width))))

    def _numbers(self, table: Table | None, values: Array, most: float, marks: Sequence[tuple[int, int]]) -> None:
        """Write the numbers into the cells, where there is room for all; else into those that are framed."""
        high, wide = values.shape
        plain = table is not None and table.kind == "plain"
        room = self.panel.bbox.height / self.panel.figure.dpi * 72 / high  # points
        every = max(1, int(np.ceil(1.05 * self.size / room))) if plain else 1
        cells = [(int(r), int(c)) for r, c in np.argwhere(np.isfinite(values)) if r % every == 0]
        texts = self._fitting([float(values[cell]) for cell in cells], wide, table) if table else []
        if not texts or (room < 1.05 * self.size and not plain):
            cells = [cell for cell in marks if np.isfinite(values[cell])]
            texts = self._fitting([float(values[cell]) for cell in cells], wide, table) if table else []
        cells = cells[: len(texts)]
        colours = []
        for cell in cells:
            share = values[cell] if table and table.kind != "signed" else (values[cell] / most + 1) / 2
            palette = None if plain or table is None else _style.colormap(table.kind, self.theme.name)
            colours.append(to_hex(_style.on(palette(float(share)))) if palette else self.theme.ink)
        self.cells.write(texts, colours)
        middles = np.reshape(np.array(cells, dtype=float), (-1, 2))[:, ::-1] + 0.5
        self.cells.move(middles / np.array([max(wide, 1), high]))

    def _fitting(self, values: list[float], wide: int, table: Table) -> list[str]:
        """The numbers, all with as many digits as there is room for; none where they would touch.

        Of shares, those that would be written as zero are left out: a pale cell says it.
        """
        room = self.panel.bbox.width / self.panel.figure.dpi / max(wide, 1)
        for digits in (0,) if table.kind == "plain" else (2, 1):
            texts = [_draw.number(value, digits) for value in values]
            if table.kind in ("share", "probability"):
                texts = ["" if float(text) == 0 else text for text in texts]
            if all(_draw.text_width(f"{text}  ", self.size) <= room for text in texts):
                return texts
        return []
