"""Going downhill: one weight in a bowl, the same at other rates, a network that learns, the loop of it all."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._primer import short
from glassformer.analyses.primer.descent import Descent
from glassformer.figures import _draw, _style, _table

STAGES = ("batch", "forward", "loss", "backward", "update")
ENDS = 50.0  # times the first loss: the losses of the rates are drawn no further up
MOST_ROWS = 9  # of the table; longer ways are written with their first and last steps


def draw(seen: Descent, look: _draw.Look) -> Figure:
    """The way down a bowl with its table; other rates; the nine-parameter network; the five stages of a step."""
    shows = "A bowl with a path down to its bottom, a table, three small charts"
    sheet = look.sheet(seen, _caption(seen), shows, height=7.6, least=70)
    bowl = sheet.panels(1, 1, left=5, right=2, bottom=4, top=2.2, within=(0, 0.47, 0.56, 1))[0, 0]
    aside = sheet.panels(1, 1, left=1, right=1, bottom=1, top=1, within=(0.56, 0.47, 1, 1))[0, 0]
    low = [
        sheet.panels(1, 1, left=5, right=1, bottom=4, top=2.2, within=(x, 0, x + 0.333, 0.47))[0, 0]
        for x in (0, 0.333)
    ]  # fmt: skip
    ring = sheet.panels(1, 1, left=1, right=1, bottom=0.6, top=0.6, within=(0.667, 0, 1, 0.47))[0, 0]
    _bowl(bowl, seen, sheet)
    _rows(aside, seen, sheet)
    _rates(low[0], seen, sheet)
    _network(low[1], seen, sheet)
    _ring(ring, sheet)
    return sheet.done()


def _caption(seen: Descent) -> str:
    """What each of the five panels shows."""
    losses, guesses = seen.losses.values, seen.network["prediction"].values
    _, slow, fast = seen.losses.axes["rate"].values
    return (
        "Top left: the loss of one weight is a bowl; each step subtracts the rate times the gradient, so it goes "
        "downhill, in smaller steps as the slope lessens. Adding the gradient instead would raise the loss in the "
        f"first step from {short(losses[0, 0])} to {short(seen.uphill)}. Top right: every step in numbers. Bottom "
        f"left: the same at a small rate ({slow:g}: the loss ends at {short(losses[1, -1])}) and at a large one "
        f"({fast:g}: it ends at {short(losses[2, -1])}); with this loss any rate above 1 runs away. Bottom middle: the "
        f"same rule on all parameters of the small network; in {len(guesses) - 1} passes over its one example the "
        f"prediction goes from {short(guesses[0])} to {short(guesses[-1])} (wanted {short(seen.wanted)}). Bottom "
        "right: what one step of training consists of, for this network as for a transformer: take a batch of "
        "examples, predict (forward), measure the loss, find every gradient (backward), move every weight (update)."
    )


def _bowl(ax: Axes, seen: Descent, sheet: _draw.Sheet) -> None:
    t = sheet.theme
    along = np.array(seen.bowl.axes["argument"].values)
    ax.plot(along, seen.bowl.values, color=t.ink)
    w, losses = seen.path["weight"].values, seen.path["loss"].values
    shades = _style.colormap("time", t.name)(np.linspace(0, 1, len(w)))
    _draw.arrows(ax, np.column_stack([w, losses])[:-1], np.column_stack([w, losses])[1:], colours=t.train, width=0.7)
    ax.scatter(w, losses, c=shades, s=(0.7 * sheet.size.text) ** 2, zorder=4)
    ax.axvline(seen.best, color=t.ink, linestyle="--", linewidth=0.7 * sheet.size.line, zorder=0)
    ax.annotate(f"start {short(w[0])}", (w[0], losses[0]), xytext=(0.8 * sheet.size.text, 0.2 * sheet.size.text),
                textcoords="offset points")  # fmt: skip
    ax.annotate(f"end {short(w[-1])}", (w[-1], losses[-1]), textcoords="offset points", ha="left",
                xytext=(1.2 * sheet.size.text, 1.6 * sheet.size.text))  # fmt: skip
    ax.set(ylim=(-0.04 * seen.bowl.values.max(), seen.bowl.values.max()), xlim=(along[0], along[-1]), xlabel="weight w")
    ax.set_ylabel("loss")
    _draw.heading(ax, f"loss (w − {short(seen.best)})², rate {seen.rate:g}")


def _rows(ax: Axes, seen: Descent, sheet: _draw.Sheet) -> None:
    path, last = seen.path, len(seen.path["weight"].values) - 1
    keep = range(last + 1) if last < MOST_ROWS else [*range(MOST_ROWS - 2), last]
    rows = []
    for k in keep:
        w, loss, slope = (float(path[name].values[k]) for name in ("weight", "loss", "gradient"))
        move = f"{'+' if slope < 0 else '−'}{short(abs(seen.rate * slope))}" if k < last else ""
        rows.append((str(k), f"{w:.4f}", f"{loss:.4f}", f"{slope:.4f}".replace("-", "−"), move))
    if last >= MOST_ROWS:
        rows.insert(len(rows) - 1, ("…", "", "", "", ""))
    head = ("step", "weight", "loss", "gradient", "move")
    _table.table(ax, sheet.em, head, rows, theme=sheet.theme, align="rrrrr")


def _rates(ax: Axes, seen: Descent, sheet: _draw.Sheet) -> None:
    t, steps = sheet.theme, np.arange(seen.losses.values.shape[1])
    for k, (rate, style, colour) in enumerate(
        zip(seen.losses.axes["rate"].values, ("-", ":", "--"), (t.train, t.value, t.wrong), strict=True)
    ):
        ax.plot(steps, seen.losses.values[k], linestyle=style, color=colour, label=f"rate {rate:g}", clip_on=True)
    first = max(float(seen.losses.values[0, 0]), 1e-9)
    ax.set_ylim(0, min(1.05 * float(seen.losses.values.max()), ENDS * first) * 1.35)
    ax.legend(loc="upper left", ncols=2, columnspacing=1.0, handlelength=1.6)
    _draw.steps_axis(ax)
    ax.set_ylabel("loss")
    _draw.heading(ax, "too small, right, too large")


def _network(ax: Axes, seen: Descent, sheet: _draw.Sheet) -> None:
    t, passes = sheet.theme, np.arange(len(seen.network["loss"].values))
    ax.plot(passes, seen.network["prediction"].values, color=t.train, marker="o", markersize=0.35 * sheet.size.text,
            label="prediction")  # fmt: skip
    ax.plot(passes, seen.network["loss"].values, color=t.wrong, linestyle="--", marker="s",
            markersize=0.35 * sheet.size.text, label="loss")  # fmt: skip
    ax.axhline(seen.wanted, color=t.ink, linestyle="--", linewidth=0.7 * sheet.size.line)
    ax.set_ylim(0, max(1.35, 1.3 * float(seen.network["prediction"].values.max())))
    ax.legend(loc="upper right", ncols=2, columnspacing=1.0, handlelength=1.6)
    _draw.steps_axis(ax, "pass")
    _draw.heading(ax, f"the nine-parameter network, wanted {short(seen.wanted)}")


def _ring(ax: Axes, sheet: _draw.Sheet) -> None:
    """The five stages in a circle, each pointing to the next."""
    width, height = _table.page(ax, sheet.em)
    t, centre, high = sheet.theme, (width / 2, height / 2), 1.9
    turns = np.linspace(0, 2 * np.pi, len(STAGES), endpoint=False) - np.pi / 2
    wide = max(_draw.text_width(word, 72) for word in STAGES) + 2.5
    across, down = (width - wide) / 2 - 0.2, (height - high) / 2 - 0.2
    at = [(centre[0] + across * np.cos(a), centre[1] + down * np.sin(a)) for a in turns]
    for k, ((x, y), words) in enumerate(zip(at, STAGES, strict=True)):
        ax.text(x, y, f"{k + 1}  {words}", ha="center", va="center", zorder=3,
                bbox={"boxstyle": "round,pad=0.35", "facecolor": t.paper, "edgecolor": t.ink})  # fmt: skip
        after = turns[k] + 2 * np.pi / len(STAGES) * np.array([0.34, 0.6])
        points = [(centre[0] + 0.9 * across * np.cos(a), centre[1] + 0.9 * down * np.sin(a)) for a in after]
        _draw.arrows(ax, points[:1], points[1:], colours=t.train, width=1.2)  # type: ignore[arg-type]
    ax.text(*centre, "one step\nof training,\nagain and again", ha="center", va="center", color=t.quiet)
