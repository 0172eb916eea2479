"""When did each part become necessary? Its effect over the training, and the step of its birth."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._removal import WAYS
from glassformer.analyses._result import thousands
from glassformer.analyses.birth import LARGE, Birth, birth, say, steps_of
from glassformer.figures import _draw
from glassformer.run import Run

SECTION = "path"
ORDER = 20
ANSWERS = ("new",)
COST = "c"
MARKS = {"zero": "o", "mean": "s", "resample": "D"}
MOST = {"screen": 24, "slide": 12, "print": 26, "print_narrow": 18}
LITTLE = 0.005  # nats: a row whose effect never exceeds this is drawn flat
SHADE = 0.16  # of the time before a birth


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if run.parameters < LARGE:
        return None
    return f"taking every part out of a model of {thousands(run.parameters)} parameters at every step takes minutes"


@_draw.drawing
def plot_birth(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """One row per part: the rise of the loss without it over the training, its birth in three ways, its last effect."""
    seen = birth(run, step=step, member=member)
    rows = order(seen)[: MOST.get(size, 24)]
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=2.6 + 0.3 * len(rows), least=60)
    t = sheet.theme
    members = bool(seen.members)
    narrow = sheet.room[0] < 60
    right = 13.0 if narrow else 26.0 if members else 17.0
    panel = sheet.panels(1, 1, left=12.5, right=right, bottom=5.6, top=2.4)[0, 0]
    at = steps_of(seen)
    for place, k in enumerate(rows):
        _row(panel, seen, k, place, at, sheet)
    panel.set_xlim(0, max(seen.last, 1))
    panel.set_ylim(len(rows) - 0.5, -0.5)
    names = seen.born.axes["part"]
    panel.set_yticks(range(len(rows)), [names[k] for k in rows])
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    _draw.steps_axis(panel)
    if seen.step is not None:
        panel.axvline(seen.step, color=t.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
    _columns(panel, seen, rows, sheet, narrow)
    colours = {"zero": t.query, "mean": t.key, "resample": t.value}
    marks = [Line2D([], [], linestyle="", marker=MARKS[w], color=colours[w], label=f"by {w}") for w in WAYS]
    sheet.legend(marks, columns=1 if narrow else 3)
    hidden = f"; {len(names) - len(rows)} more neurons are not drawn" if len(names) > len(rows) else ""
    sheet.note("marks: needed from here on" + ("" if narrow else hidden))
    return sheet.done(seen, member=member)


def order(seen: Birth) -> list[int]:
    """Large parts by birth, then the neurons by birth; those never needed last, by their effect."""
    names, born = seen.born.axes["part"], seen.born.values[:, WAYS.index("mean")]
    last = seen.effect.values[:, WAYS.index("mean"), -1]

    def key(k: int) -> tuple[bool, float, float]:
        return names[k].startswith("neuron"), float(np.nan_to_num(born[k], nan=np.inf)), -float(np.nan_to_num(last[k]))

    return sorted(range(len(names)), key=key)


def _row(ax: Axes, seen: Birth, k: int, place: int, at: np.ndarray, sheet: _draw.Sheet) -> None:
    """The effect of one part over life, on its own scale, and its births."""
    t = sheet.theme
    effect = np.nan_to_num(seen.effect.values[k, WAYS.index("mean")])
    top = max(float(effect.max()), LITTLE)
    height = 0.82 * np.clip(effect / top, 0, 1)
    born = seen.born.values[k, WAYS.index("mean")]
    colour = t.ink if np.isfinite(born) else t.rung
    ax.fill_between(at, place + 0.42, place + 0.42 - height, color=colour, alpha=SHADE, linewidth=0, zorder=1)
    ax.plot(at, place + 0.42 - height, color=colour, linewidth=0.5 * sheet.size.line, zorder=2)
    ax.axhline(place + 0.5, color=t.faint, linewidth=0.3 * sheet.size.line, zorder=0)
    colours = {"zero": t.query, "mean": t.key, "resample": t.value}
    for j, way in enumerate(WAYS):
        if np.isfinite(seen.born.values[k, j]):
            ax.plot([seen.born.values[k, j]], [place + 0.2 * (j - 1)], marker=MARKS[way], color=colours[way],
                    markersize=0.42 * sheet.size.text, zorder=4, clip_on=False)  # fmt: skip


def _columns(ax: Axes, seen: Birth, rows: list[int], sheet: _draw.Sheet, narrow: bool) -> None:
    """Step of birth, last effect, and for populations the births of the members."""
    t, em = sheet.theme, sheet.em * 72
    heads = [(5.5, "needed from"), (16.0, "nats at the end")][: 1 if narrow else 2]
    if seen.members and not narrow:
        heads.append((25.0, "median, range"))
    for x, head in heads:
        ax.annotate(head, (1, 1), xycoords="axes fraction", xytext=(x * em, 0.6 * em), textcoords="offset points",
                    ha="right", va="bottom", color=t.quiet)  # fmt: skip
    for place, k in enumerate(rows):
        born = seen.born.values[k, WAYS.index("mean")]
        last = seen.effect.values[k, WAYS.index("mean"), -1]
        texts = [thousands(int(born)) if np.isfinite(born) else "–", _draw.number(float(last), 3)]
        if seen.members:
            texts.append(_range(seen, seen.born.axes["part"][k]))
        for (x, _), text in zip(heads, texts, strict=False):
            ax.annotate(text, (1, place), xycoords=("axes fraction", "data"), xytext=(x * em, 0),
                        textcoords="offset points", ha="right", va="center",
                        color=t.ink if np.isfinite(born) else t.quiet)  # fmt: skip


def _range(seen: Birth, name: str) -> str:
    """Median over members, those in which it is never needed counted as latest, and the range of the others."""
    table = seen.members["born"]
    if name not in table.axes["part"]:
        return ""
    values = table.values[table.axes["part"].index(name)]
    known = values[np.isfinite(values)]
    if not len(known):
        return "–"
    middle = float(np.median(np.nan_to_num(values, nan=np.inf)))
    shown = thousands(int(middle)) if np.isfinite(middle) else "–"
    return f"{shown}, {thousands(int(known.min()))}–{thousands(int(known.max()))}"
