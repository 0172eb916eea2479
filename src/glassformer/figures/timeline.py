"""What happened when? Rungs, kinds, parts and attention on one axis, and the phases beside the claimed ones."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import Labelled, percent
from glassformer.analyses.timeline import Timeline, say, timeline
from glassformer.figures import _draw
from glassformer.run import Run

SECTION = "path"
ORDER = 10
ANSWERS = ("1.P2", "1.P3", "1.P4", "1.P11")
COST = "c"
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
    panels = sheet.panels(6, 1, heights=[2.6, 1.5, 1.5, 1.5, 0.9, 1.3], left=9, right=2, bottom=3.8, top=1.4,
                          gap=(0, 0.7))[:, 0]  # fmt: skip
    _loss(panels[0], seen, sheet)
    lanes: tuple[tuple[str, Labelled, str], ...] = (
        ("rungs", seen.rungs, t.ink), ("kinds 95 % right", seen.kinds, t.right),
        ("parts needed", seen.born, t.feed_forward), ("attention on the answer", seen.attention, t.query),
    )  # fmt: skip
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
    return sheet.done(seen, member=member)


def _loss(ax: Axes, seen: Timeline, sheet: _draw.Sheet) -> None:
    steps = [int(s) for s in seen.loss.axes["step"]]
    ax.plot(steps, seen.loss.values, color=sheet.theme.validation, linewidth=sheet.size.line, linestyle="--")
    ax.set_ylabel("loss (nats)")


def _lane(ax: Axes, name: str, events: Labelled, colour: str, sheet: _draw.Sheet, steps: int) -> None:
    """Ticks at the events with their names, on a few rows so that they do not touch."""
    labels = next(iter(events.axes.values()))
    happened = sorted((float(at), _named(label, name)) for at, label in zip(events.values, labels, strict=True)
                      if np.isfinite(at))  # fmt: skip
    together: dict[float, list[str]] = {}
    for at, label in happened:
        together.setdefault(at, []).append(label)
    ax.set_ylim(ROWS, 0)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    lines = _draw.wrap(name, sheet.size.text, 8 * sheet.em)
    ax.annotate("\n".join(lines), (0, 0.5), xycoords="axes fraction", xytext=(-0.6 * sheet.size.text, 0),
                textcoords="offset points", ha="right", va="center")  # fmt: skip
    wide = ax.get_window_extent().width / ax.figure.dpi
    rows = max(1, min(ROWS, int(ax.get_window_extent().height / ax.figure.dpi / (1.2 * sheet.em))))
    ends, each = [-1.0] * rows, ROWS / rows
    for at, labels_here in together.items():
        x, text = at / max(steps, 1) * wide, ", ".join(labels_here)
        long = _draw.text_width(text, sheet.size.text) + 0.8 * sheet.em
        left = x + long > wide  # no room to the right
        row = next((k for k in range(rows) if ends[k] <= (x - long if left else x)), None)
        if row is None:  # no room for its name: a tick alone
            ax.plot([at, at], [0.85 * ROWS, ROWS], color=colour, linewidth=0.7 * sheet.size.line)
            continue
        ends[row] = wide if left else x + long
        ax.plot([at, at], [each * row, each * (row + 1)], color=colour, linewidth=sheet.size.line)
        ax.text(at, (row + 0.5) * each, f"{text} " if left else f" {text}", ha="right" if left else "left",
                va="center", color=colour)  # fmt: skip
    if not labels:
        ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", va="center", color=sheet.theme.quiet)
    missing = [_named(label, name) for at, label in zip(events.values, labels, strict=True) if not np.isfinite(at)]
    text = f"not yet: {', '.join(missing)} "
    if missing and _draw.text_width(text, sheet.size.text) < wide - max(ends[-1], 0):
        ax.text(1, 0.5 / rows, text, transform=ax.transAxes, ha="right", va="center", color=sheet.theme.quiet)


def _named(label: str, lane: str) -> str:
    if lane.startswith("attention"):
        return percent(float(label))
    return label.rpartition(" = ")[2]


def _phases(ax: Axes, seen: Timeline, sheet: _draw.Sheet) -> None:
    """Measured phases above, claimed ones below, each with its share of the fall."""
    t = sheet.theme
    shades = (t.unconstrained, t.right, t.unconstrained)
    wide = ax.get_window_extent().width / ax.figure.dpi
    for row, (whose, table) in enumerate((("measured", seen.phases), ("claimed", seen.claimed))):
        for k, (begin, end) in enumerate(table.values):
            if not np.isfinite(begin) or end <= begin:
                continue
            ax.barh([row], [end - begin], left=begin, height=0.72, color=shades[k], alpha=0.75 if k == 1 else 0.6,
                    edgecolor=t.paper)  # fmt: skip
            share = float(seen.fall.values[k, row])
            text = f"{table.axes['phase'][k]}: {percent(share)}" if np.isfinite(share) else table.axes["phase"][k]
            if _draw.text_width(text, sheet.size.text) < 0.95 * (end - begin) / max(seen.steps, 1) * wide:
                ax.text((begin + end) / 2, row, text, ha="center", va="center", color=t.ink)
        ax.annotate(whose, (0, row), xycoords=("axes fraction", "data"), xytext=(-0.6 * sheet.size.text, 0),
                    textcoords="offset points", ha="right", va="center")  # fmt: skip
    ax.set_ylim(1.5, -0.5)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
