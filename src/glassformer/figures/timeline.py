"""What happened when? Rungs, kinds, parts and attention on one axis, and the phases beside the claimed ones."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import Labelled, percent
from glassformer.analyses.head_roles import ANSWER, NEEDED
from glassformer.analyses.timeline import Timeline, say, timeline
from glassformer.figures import _draw
from glassformer.run import Run

SECTION = "path"
ORDER = 10
ANSWERS = ("1.P2", "1.P3", "1.P4", "1.P11")
COST = "c"
PHASES = 5.4  # ems for two bars of phases with two lines beside each
ROWS = 4  # labels of a lane that may stand above each other


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    return None if len(run.metrics["step"]) > 1 else "fewer than two lines were logged during this training"


@_draw.drawing
def plot_timeline(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """The loss with its plateaus, four lanes of events, and the phases measured and claimed."""
    seen = timeline(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=7.8)
    t = sheet.theme
    held = ANSWER if seen.copied else NEEDED
    lanes: tuple[tuple[str, Labelled, str], ...] = (
        ("rungs reached", seen.rungs, t.ink), ("kinds 95 % right", seen.kinds, t.right),
        ("parts needed", seen.born, t.ink), (f"attention on the {held}", seen.attention, t.query),
    )  # fmt: skip
    wide = (sheet.room[0] - 12) * sheet.em
    rows = [_rows(_happened(events, name), wide, seen.steps, sheet, ROWS)[1] for name, events, _ in lanes]
    needs = [max(2.4, 1.3 * many) for many in rows]
    rest = max(sheet.room[1] - 10.7 - sum(needs) - PHASES, 3.0)  # ems for the loss
    panels = sheet.panels(6, 1, heights=[rest, *needs, PHASES], left=10, right=2, bottom=5.4, top=1.4,
                          gap=(0, 0.7))[:, 0]  # fmt: skip
    _loss(panels[0], seen, sheet)
    for panel, (name, events, colour) in zip(panels[1:5], lanes, strict=True):
        _lane(panel, name, events, colour, sheet, seen.steps)
    _phases(panels[5], seen, sheet)
    for panel in panels:
        panel.set_xlim(0, max(seen.steps, 1))
        last = panel is panels[-1]
        if last:
            _draw.steps_axis(panel)
        else:
            panel.set_xticks([])
        if seen.step is not None:
            panel.axvline(seen.step, color=t.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
        for begin, end in seen.plateaus.values:
            panel.axvspan(begin, end, color=t.unconstrained, alpha=0.35, linewidth=0, zorder=-1)
    if len(seen.plateaus.values):
        sheet.note("grey background: the loss falls slowly, though much is left to learn")
    return sheet.done(seen, member=member)


def _loss(ax: Axes, seen: Timeline, sheet: _draw.Sheet) -> None:
    steps = [int(s) for s in seen.loss.axes["step"]]
    ax.plot(steps, seen.loss.values, color=sheet.theme.validation, linewidth=sheet.size.line, linestyle="--")
    ax.set_ylabel("loss (nats)")


def _lane(ax: Axes, name: str, events: Labelled, colour: str, sheet: _draw.Sheet, steps: int) -> None:
    """Ticks at the events with their names, on a few rows so that they do not touch."""
    labels = next(iter(events.axes.values()))
    together = _happened(events, name)
    wide = ax.get_window_extent().width / ax.figure.dpi
    room = max(1, min(ROWS, int(ax.get_window_extent().height / ax.figure.dpi / (1.15 * sheet.em))))
    placed, rows = _rows(together, wide, steps, sheet, room)
    ax.set_ylim(rows, 0)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    lines = _draw.wrap(name, sheet.size.text, 9 * sheet.em)
    ax.annotate("\n".join(lines), (0, 0.5), xycoords="axes fraction", xytext=(-0.6 * sheet.size.text, 0),
                textcoords="offset points", ha="right", va="center")  # fmt: skip
    for at, (row, left) in placed.items():
        text = ", ".join(together[at])
        ax.plot([at, at], [row, row + 1], color=colour, linewidth=sheet.size.line)
        ax.text(at, row + 0.5, f"{text} " if left else f" {text}", ha="right" if left else "left",
                va="center", color=colour)  # fmt: skip
    if not labels:
        ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", va="center", color=sheet.theme.quiet)
    missing = [_named(label, name) for at, label in zip(events.values, labels, strict=True) if not np.isfinite(at)]
    text = f"not reached: {', '.join(missing)} "
    ends = [_end(at, together[at], left, wide, steps, sheet) for at, (row, left) in placed.items() if row == rows - 1]
    if missing and _draw.text_width(text, sheet.size.text) < wide - max(ends, default=0):
        ax.text(1, 0.5 / rows, text, transform=ax.transAxes, ha="right", va="center", color=sheet.theme.quiet)


def _happened(events: Labelled, lane: str) -> dict[float, list[str]]:
    """Step → names of what happened then, in order."""
    labels = next(iter(events.axes.values()))
    found: dict[float, list[str]] = {}
    for at, label in sorted((float(at), _named(label, lane)) for at, label in zip(events.values, labels, strict=True)
                            if np.isfinite(at)):  # fmt: skip
        found.setdefault(at, []).append(label)
    return found


def _end(at: float, names: list[str], left: bool, wide: float, steps: int, sheet: _draw.Sheet) -> float:
    """How far to the right (inches) a tick and its name reach."""
    x = at / max(steps, 1) * wide
    return wide if left else x + _draw.text_width(", ".join(names), sheet.size.text) + 0.8 * sheet.em


def _rows(
    together: dict[float, list[str]], wide: float, steps: int, sheet: _draw.Sheet, most: int
) -> tuple[dict[float, tuple[int, bool]], int]:
    """Step → row and whether the name stands at the left of its tick, so that none touch; and how many rows that takes.

    What finds no room in any row is left out.
    """
    ends, placed = [-1.0] * most, {}
    for at, names in together.items():
        x = at / max(steps, 1) * wide
        long = _draw.text_width(", ".join(names), sheet.size.text) + 0.8 * sheet.em
        left = x + long > wide  # no room to the right
        row = next((k for k in range(most) if ends[k] <= (x - long if left else x)), None)
        if row is not None:
            ends[row] = _end(at, names, left, wide, steps, sheet)
            placed[at] = (row, left)
    return placed, max((row for row, _ in placed.values()), default=0) + 1


def _named(label: str, lane: str) -> str:
    if lane.startswith("attention"):
        return percent(float(label))
    return label.rpartition(" = ")[2]


def _phases(ax: Axes, seen: Timeline, sheet: _draw.Sheet) -> None:
    """Measured phases above, claimed ones below, each with its share of the fall."""
    t = sheet.theme
    shades = (t.unconstrained, t.rung, t.unconstrained)
    wide = ax.get_window_extent().width / ax.figure.dpi
    per_step = wide / max(seen.steps, 1)
    both = (("phases measured", seen.phases), ("claimed by the source text", seen.claimed))
    for row, (whose, table) in enumerate(both):
        lines = _draw.wrap(whose, sheet.size.text, 9 * sheet.em)
        for k, (begin, end) in enumerate(table.values):
            if not np.isfinite(begin) or end <= begin:
                continue
            ax.barh([row], [end - begin], left=begin, height=0.72, color=shades[k], alpha=0.75 if k == 1 else 0.6,
                    edgecolor=t.paper)  # fmt: skip
            share = float(seen.fall.values[k, row])
            text = f"{table.axes['phase'][k]}: {percent(share)}" if np.isfinite(share) else table.axes["phase"][k]
            if _draw.text_width(text, sheet.size.text) < 0.95 * (end - begin) * per_step:
                ax.text((begin + end) / 2, row, text, ha="center", va="center", color=t.ink)
            elif k == 0:  # beside the bar, which begins where the names of the rows end
                lines.append(text)
        ax.annotate("\n".join(lines), (0, row), xycoords=("axes fraction", "data"), xytext=(-0.6 * sheet.size.text, 0),
                    textcoords="offset points", ha="right", va="center", linespacing=1.0)  # fmt: skip
    ax.set_ylim(1.5, -0.5)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
