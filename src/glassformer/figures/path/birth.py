"""When did each part become necessary? Its effect over the training, and the step of its birth."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._removal import WAYS, nats
from glassformer.analyses._result import percent, power, thousands
from glassformer.analyses.path.birth import CANDIDATES, COARSE, SHARE, STAY, Birth
from glassformer.figures import _draw
from glassformer.figures.decide.ablation import _look as marked

MOST = {"slide": 12}  # rows; else 24
NEURONS, WORTH = 6, 0.05  # single neurons at most, and the share of the largest cost that one must reach
FAR = 3.0  # nats: beyond, small and large costs need a logarithmic scale to be seen together
LEAST = 0.005  # nats: the least that the height of a row stands for
SHADE = 0.16


def draw(seen: Birth, look: _draw.Look) -> Figure:
    """One row per part: the rise of the loss without it over the training, its birth in three ways, its last effect."""
    rows = drawn(seen, MOST.get(look.size, 24))
    shows = "Small curves of the loss without each part, with the step of its birth"
    sheet = look.sheet(seen, _caption(seen), shows, height=2.75 + 0.3 * len(rows))
    t = sheet.theme
    members = bool(seen.members)
    narrow = sheet.room[0] < 60
    right = 13.0 if narrow else 31.5 if members else 20.5
    panel = sheet.panels(1, 1, left=12.5, right=right, bottom=6.8, top=2.4)[0, 0]
    effect = np.nan_to_num(seen.effect.values[rows, WAYS.index("mean")])
    top = max(float(effect.max(initial=0.0)), LEAST)
    for place, k in enumerate(rows):
        _row(panel, seen, k, place, top, sheet)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    names = seen.born.axes["part"].labels
    _draw.name_rows(panel, [names[k] for k in rows])
    panel.spines["left"].set_visible(False)
    _draw.steps_axis(panel, scale=seen.scale)
    panel.set_xlim(float(seen.scale.step(np.array(-0.012))))  # a mark at step 0 keeps clear of its row's name
    sheet.mark_step(panel, seen.step)
    _columns(panel, seen, rows, sheet, narrow)
    marks = [Line2D([], [], label=f"needed from here on, by {w}" if w == "zero" else w,
                    **marked(w, t, sheet.size.line) | {"linestyle": ""}) for w in WAYS]  # fmt: skip
    sheet.legend(marks, columns=1 if narrow else 3)
    curved = ", logarithmic beyond 1" if top > FAR else ""
    most = f"{top:.2g}" if top < 100 else power(top, 2)
    sheet.note(
        f"height of every row: 0 to {most} nats{curved}; {seen.windows} windows",
        y=1.7 * sheet.em / sheet.inches[1],
    )
    hidden = len(names) - len(rows)
    told = ((hidden, "neurons of little effect"), (seen.left_out, "not followed" if hidden else "neurons not followed"))
    left = [f"{many} {which}" for many, which in told if many]
    if left:
        sheet.note(f"not drawn: {', '.join(left)}")
    return sheet.done()


def _caption(seen: Birth) -> str:
    said = (
        "One row per part, in the order of birth: the rise of the loss when the part is replaced by its mean over "
        "windows, by kept step, all rows on one scale (the last value is printed, with its sampling error over "
        "windows). A part is necessary from the first step from which taking it out raises the loss on these windows "
        f"by {nats(seen.threshold)} nats or more ({percent(SHARE)} of the way from a uniform guess to the floor) at "
        f"every later step looked at, for the last {percent(STAY)} of the training at least: "
        f"{seen.checkpoints} kept steps on {seen.windows} {seen.of_part} windows, then ever smaller halves of the "
        "stretch between two. Marks give that step when the part is averaged, zeroed, or taken from another window "
        "(resample). "
    )
    if seen.left_out:
        said += (
            f"Of {seen.followed + seen.left_out} neurons only {seen.followed} are followed, those that cost most to "
            f"average at the end among the {CANDIDATES * seen.followed} whose output changes most from window to "
            "window. "
        )
    said += (
        "Drawn are only neurons that cost a twentieth of the costliest part or more. "
        "Two parts that can stand in for each other may both look unnecessary; a dip below the threshold later "
        "on moves a birth back; – stands for parts that cost less than that at the end."
    )
    if seen.members:
        many = len(seen.members["born"].axes["member"])
        said += (
            f" The last column is the median over the first {many} seeds, at up to {COARSE} kept steps of each, with "
            "the range of those in which it was ever needed."
        )
    return said


def drawn(seen: Birth, most: int) -> list[int]:
    """The parts to draw, in order: all but neurons, and the few neurons that cost much to average in the end."""
    names, last = seen.born.axes["part"].labels, np.nan_to_num(seen.effect.values[:, WAYS.index("mean"), -1])
    every = order(seen)
    large = [k for k in every if not names[k].startswith("neuron")][:most]
    costly = sorted((k for k in every if k not in large and last[k] > WORTH * last.max()), key=lambda k: -last[k])
    costly = [k for k in costly if names[k].startswith("neuron")]
    return [k for k in every if k in {*large, *costly[: min(NEURONS, most - len(large))]}]


def high(effect: np.ndarray, top: float) -> np.ndarray:
    """The height of a row, 0 to 1, for a rise of the loss; logarithmic beyond 1 nat where there are far larger ones."""

    def bent(rise: np.ndarray) -> np.ndarray:
        return np.where(rise < 1, rise, 1 + np.log(np.maximum(rise, 1)))

    rise = np.clip(effect, 0, top)
    return rise / top if top <= FAR else bent(rise) / bent(np.array(top))


def order(seen: Birth) -> list[int]:
    """Large parts by birth, then the neurons by birth; those never needed last, by their effect."""
    names, born = seen.born.axes["part"].labels, seen.born.values[:, WAYS.index("mean")]
    last = seen.effect.values[:, WAYS.index("mean"), -1]

    def key(k: int) -> tuple[bool, float, float]:
        return names[k].startswith("neuron"), float(np.nan_to_num(born[k], nan=np.inf)), -float(np.nan_to_num(last[k]))

    return sorted(range(len(names)), key=key)


def _row(ax: Axes, seen: Birth, k: int, place: int, top: float, sheet: _draw.Sheet) -> None:
    """The effect of one part over life, on the scale of all, and its births."""
    t, at = sheet.theme, np.array(seen.effect.axes["step"].values)
    height = 0.82 * high(np.nan_to_num(seen.effect.values[k, WAYS.index("mean")]), top)
    born = seen.born.values[k, WAYS.index("mean")]
    colour = t.ink if np.isfinite(born) else t.rung
    ax.fill_between(at, place + 0.42, place + 0.42 - height, color=colour, alpha=SHADE, linewidth=0, zorder=1)
    ax.plot(at, place + 0.42 - height, color=colour, linewidth=0.5 * sheet.size.line, zorder=2)
    ax.axhline(place + 0.5, color=t.faint, linewidth=0.3 * sheet.size.line, zorder=0)
    for j, way in enumerate(WAYS):
        if np.isfinite(seen.born.values[k, j]):
            style = marked(way, t, sheet.size.line) | {"markersize": 0.45 * sheet.size.text}
            ax.plot([seen.born.values[k, j]], [place + 0.24 * (j - 1)], **style, zorder=4, clip_on=False)


def _columns(ax: Axes, seen: Birth, rows: list[int], sheet: _draw.Sheet, narrow: bool) -> None:
    """Step of birth, last effect, and for populations the births of the members."""
    t, em = sheet.theme, sheet.em * 72
    heads = [(8.5, "needed (mean)"), (19.5, "nats at end")][: 1 if narrow else 2]
    if seen.members and not narrow:
        heads.append((30.0, "median, range"))
    for x, head in heads:
        ax.annotate(head, (1, 1), xycoords="axes fraction", xytext=(x * em, 0.6 * em), textcoords="offset points",
                    ha="right", va="bottom", color=t.quiet)  # fmt: skip
    for place, k in enumerate(rows):
        born = seen.born.values[k, WAYS.index("mean")]
        last, error = (float(each.values[k, WAYS.index("mean"), -1]) for each in (seen.effect, seen.sampling_error))
        end = f"{nats(last)} ± {nats(error)}" if np.isfinite([last, error]).all() else "–"
        texts = [f"from {thousands(int(born))}" if np.isfinite(born) else "–", end]
        if seen.members:
            texts.append(_range(seen, seen.born.axes["part"].labels[k]))
        for (x, _), text in zip(heads, texts, strict=False):
            ax.annotate(text, (1, place), xycoords=("axes fraction", "data"), xytext=(x * em, 0),
                        textcoords="offset points", ha="right", va="center",
                        color=t.ink if np.isfinite(born) else t.quiet)  # fmt: skip


def _range(seen: Birth, name: str) -> str:
    """Median over members, those in which it is never needed counted as latest, and the range of the others."""
    table = seen.members["born"]
    if name not in table.axes["part"].labels:
        return ""
    values = table.values[table.axes["part"].labels.index(name)]
    known = values[np.isfinite(values)]
    if not len(known):
        return "–"
    middle = float(np.median(np.nan_to_num(values, nan=np.inf)))
    shown = thousands(int(middle)) if np.isfinite(middle) else "–"
    return f"{shown}, {thousands(int(known.min()))}–{thousands(int(known.max()))}"
