"""Was it learned or memorised? Training against held-out loss, the leak meter, and answers by how new they are."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import listed, percent, thousands
from glassformer.analyses.health.generalisation import Generalisation
from glassformer.figures import _draw, _style

LINEAR = 1e-3  # excess below which the logarithmic axis becomes linear
FEW = 40  # logged lines under which each is marked
SMALL = 0.03  # share of the highest excess under which the last one needs a logarithmic axis
TICKS = (-1, -0.1, -0.01, 0, 0.001, 0.01, 0.1, 1, 10)


def draw(seen: Generalisation, look: _draw.Look) -> Figure:
    """Excess of train, validation and test with the gap shaded; accuracy by how new a question is; what leaked."""
    sheet = look.sheet(seen, _caption(seen), "Curves of excess by part, and bars of accuracy", height=7.6)
    top = sheet.panels(1, 1, left=6.5, right=12, bottom=4.2, top=2.2, within=(0, 0.42, 1, 1))[0, 0]
    _excess(top, seen, sheet)
    names = min(17.0, 0.24 * sheet.room[0])
    right = sheet.panels(1, 1, left=names, right=8.5, bottom=4.2, top=2.4, within=(0, 0, 1, 0.42))[0, 0]
    _accuracy(right, seen, sheet, names)
    if seen.held_out:
        sheet.note(_leak(seen))
    return sheet.done()


def _caption(seen: Generalisation) -> str:
    kinds = {
        "train": "training (solid)",
        "validation": f"{_said(seen, 'validation')} (dashed)",
        "test": "test (dotted)",
    }
    drawn = listed([words for part, words in kinds.items() if part in seen.excess])
    of = "the same windows" if seen.truth_known else f"the {seen.whose} windows"
    return (
        f"Top: loss above {seen.least} on {of}, for {drawn} windows"
        + ("; the gap between training and validation is shaded" if seen.held_out else "")
        + ("; the axis is straight below 0.001 and logarithmic above" if _bent(seen) else "")
        + ". "
        + (
            "The foot is the leak meter: the share of held-out "
            f"{'questions' if seen.questions else 'windows, next token included,'} that also occur in training; only "
            "the rest can show that something was learned. "
            if seen.held_out
            else "Nothing is held back: it is judged on the training text. "
        )
        + f"Below: the share of right answers at step {thousands(seen.at)} with intervals of 95 %"
        + (
            ", by how new a question is: seen in training; never seen; of these, seen with its values in another "
            "order, with values never seen together, and with a repeated value (a tie)."
            if seen.unseen == "never seen"
            else ", on training windows and on held-out ones that training does not have"
            f"{', where the answer is in view' if seen.in_view else ''}."
            if seen.held_out
            else "."
        )
        + (" A gap that grows while training improves would mean memorising." if seen.held_out else "")
    )


def _excess(ax: Axes, seen: Generalisation, sheet: _draw.Sheet) -> None:
    t = sheet.theme
    names, low, high = [], 0.0, 10 * LINEAR
    for part, curve in seen.excess.items():
        steps = curve.axes["step"].values
        colour = t.train if part == "train" else t.validation
        ax.plot(steps, curve.values, color=colour, linestyle=_style.LINE[part], linewidth=sheet.size.line,
                marker="o" if len(steps) < FEW else "", markersize=0.36 * sheet.size.text)  # fmt: skip
        known = curve.values[np.isfinite(curve.values)]
        if len(known):
            low, high = min(low, float(known.min())), max(high, float(known.max()))
            names.append((float(known[-1]), f"{_said(seen, part)}  {_draw.number(float(known[-1]), 3)}", colour))
    if {"train", "validation"} <= set(seen.excess):
        both = (seen.excess[part].values for part in ("train", "validation"))
        ax.fill_between(seen.gap.axes["step"].values, *both, color=t.validation, alpha=0.25, linewidth=0)
    if _bent(seen):  # what is left at the end could not be seen on a plain axis
        ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
        ax.set_ylim(-2 * LINEAR if low > -LINEAR else 1.6 * low, 1.6 * high)
        ax.set_yticks([v for v in TICKS if 1.6 * low <= v <= 1.6 * high], minor=False)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.minorticks_off()
    else:
        ax.set_ylim(low - 0.06 * (high - low), high + 0.06 * (high - low))
    names.append((0.0, seen.least.removeprefix("the "), t.ink))
    ax.axhline(0, color=t.ink, linestyle="--", linewidth=sheet.size.line, zorder=1)
    ax.set_ylabel("excess (nats)")
    _draw.steps_axis(ax, scale=seen.scale)
    sheet.mark_step(ax, seen.step)
    _draw.beside(ax, names, most=9)


def _said(seen: Generalisation, part: str) -> str:
    """A part's name; what is judged on its own training text has no validation."""
    return part if seen.held_out or part != "validation" else "judged"


def _bent(seen: Generalisation) -> bool:
    """Whether so little is left at the end that it needs an axis which is logarithmic above a little."""
    every = [known for curve in seen.excess.values() if len(known := curve.values[np.isfinite(curve.values)])]
    high = max([10 * LINEAR, *(float(known.max()) for known in every)])
    return any(abs(float(known[-1])) < SMALL * high for known in every)


def _leak(seen: Generalisation) -> str:
    """The leak meter, in words: one or two shares are no chart."""
    shares = [f"{percent(float(share))} of {part}" for part, share in
              zip(seen.leaked.axes["part"].labels, seen.leaked.values, strict=True)]  # fmt: skip
    return f"held-out {'questions' if seen.questions else 'windows'} also in training: {', '.join(shares)}"


def _accuracy(ax: Axes, seen: Generalisation, sheet: _draw.Sheet, names: float) -> None:
    t = sheet.theme
    for k, (low, right, high) in enumerate(seen.accuracy.values):
        if not np.isfinite(right):
            ax.text(0.5, k, "there are none", ha="center", va="center", color=t.quiet)
            continue
        ax.barh([k], [right], color=t.right, height=0.55, alpha=0.55)
        ax.hlines([k], low, high, color=t.ink, linewidth=0.8 * sheet.size.line)
        text = f"{percent(float(right))} of {thousands(int(seen.judged.values[k]))}"
        ax.annotate(text, (high, k), xytext=(0.5 * sheet.size.text, 0), textcoords="offset points", va="center")
    kinds = seen.accuracy.axes["kind"].labels
    labels = ["\n".join(_draw.wrap(name, sheet.size.text, (names - 1) * sheet.em)) for name in kinds]
    _draw.name_rows(ax, labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    _shares(ax, "share right")
    new = ", by how new they are" if seen.held_out else ""
    _draw.heading(ax, f"right answers{new}" if seen.truth_known else f"tokens guessed{new}")


def _shares(ax: Axes, name: str) -> None:
    ax.set(xlabel=name, xlim=(0, 1))
    ax.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
