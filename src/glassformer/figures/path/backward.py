"""The backward pass of one example: value above, gradient below, at every named point."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import FuncNorm
from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown as as_token
from glassformer.analyses._result import Array, percent, power
from glassformer.analyses.path.backward import Backward
from glassformer.figures import _draw
from glassformer.figures._style import Theme
from glassformer.glossary import PER_BLOCK

FEW = ("embedded", "attention", "mixed", "attended", "middle", "hidden", "fed", "out", "final", "logits")  # on a slide
PATHS = {"residual": "ink", "branch": "feed_forward"}


def draw(seen: Backward, look: _draw.Look) -> Figure:
    """Heat maps in pairs along the computation of one block; where the gradient came back; the numerical check."""
    shows = "Pairs of heat maps, value above gradient, for every named point"
    sheet = look.sheet(seen, _caption(seen), shows, height=9.6)
    points = [name for name in seen.values if look.size in ("screen", "print") or name in FEW]
    columns = -(-len(points) // 2)
    slide = look.size in ("slide", "print_narrow")
    foot = 0.26 if slide else 0.2
    for band, names in enumerate((points[:columns], points[columns:])):
        within = (0, foot + (1 - foot) * (1 - band) / 2, 1, foot + (1 - foot) * (2 - band) / 2)
        left = max(5.6, _draw.widest(seen.values["logits"].axes["position"]) + 2.4)
        grid = sheet.panels(2, columns, left=left, right=1, bottom=0.8, top=3.4, gap=(0.7, 0.5), within=within)
        for k, name in enumerate(names):
            _pair(grid[:, k], seen, name, sheet, first=k == 0)
        for panel in grid[:, len(names) :].flat:
            panel.remove()
    several = len(seen.paths.axes["part"]) > 2
    wide = 1 if slide else 0.64
    left = sheet.panels(1, 1, left=9, right=14, bottom=4, top=2.2, within=(0, 0, wide, foot))[0, 0]
    _paths(left, seen, sheet, several)
    if not slide:
        right = sheet.panels(1, 1, left=5.5, right=1, bottom=4, top=2.2, within=(wide, 0, 1, foot))[0, 0]
        _check(right, seen, sheet)
    return sheet.done()


def _caption(seen: Backward) -> str:
    asked = [word for word in seen.asked if word]
    what = f"the answer “{asked[0]}”" if len(asked) == 1 else f"its {len(asked)} next tokens"
    return (
        f"One example, {' '.join(map(as_token, seen.tokens))}, and the loss of {what} ({seen.loss:.3f} nats). Upper "
        "rows: the value at each named "
        "point of the forward pass, from left to right; lower rows: the gradient there, the change of the loss per "
        "unit of that value. Red is above zero, blue below; each map has its own scale, written on it; the colours of "
        "gradients go by their cube root, so that an eighth of the largest has half of its colour: once most is learnt "
        "one position has nearly all of the gradient. Bars: where "
        "a branch leaves the stream, how much of the gradient came back by the residual path and how much through the "
        "branch (lengths, as shares of their sum; a cosine below zero means that the two partly cancel). Check: the "
        "loss was computed in NumPy with each point moved a little along its gradient and back; the slopes agree with "
        "the gradients to within "
        f"{seen.worst:.0e} of their size. Gradients are exact for this example alone; training averages over a batch."
    )


def _slice(values: Array, name: str, seen: Backward) -> Array:
    """The part of a point's array that one panel shows: (row, column)."""
    if name in PER_BLOCK:
        values = values[seen.block]
        values = values[seen.head] if "head" in PER_BLOCK[name] else values
    return values


def _pair(panels: Array, seen: Backward, name: str, sheet: _draw.Sheet, *, first: bool) -> None:
    value, gradient = (_slice(table[name].values, name, seen) for table in (seen.values, seen.gradients))
    rows = next(labels for axis, labels in seen.values[name].axes.items() if "position" in axis)
    meaning = name if name in ("query", "key", "value") else "feed_forward" if name.startswith("hidden") else "ink"
    hidden = np.isnan(gradient) if name in ("scores", "attention") and np.isnan(gradient).any() else None
    kind = "share" if name == "attention" else "signed"
    most = _draw.limits("signed", gradient)[1]
    both = (
        (panels[0], value, kind, _draw.limits(kind, value)),
        (panels[1], gradient, "signed", (-most, most)),
    )
    for panel, shown, how, limit in both:
        image = _draw.heat(panel, shown, kind=how, theme=sheet.theme, limit=limit, numbers=False, masked=hidden)
        if shown is gradient:  # a third root, so that small gradients are seen beside large ones
            image.set_norm(FuncNorm((np.cbrt, lambda root: root**3), -most, most))
        if first:
            _draw.places(panel, rows, "y", most=8)
    scale = "0 to 1" if kind == "share" else _scale(_draw.limits(kind, value)[1])
    panels[0].set_title(f"{name.replace('_', ' ')}\n{scale}" if len(name) < 11 else f"{_broken(name)}\n{scale}",
                        color=sheet.theme[meaning], fontsize=sheet.size.text, linespacing=1.1)  # fmt: skip
    _inside(panels[1], _scale(most), sheet.theme, sheet.size.text)
    if first:
        panels[0].set_ylabel("value")
        panels[1].set_ylabel("gradient")


def _broken(name: str) -> str:
    return {"token_embedding": "token", "position_embedding": "position"}.get(name, name.replace("_", " "))


def _scale(limit: float) -> str:
    return f"±{limit:.2g}" if limit >= 1e-3 else f"±{power(limit, 2)}"


def _inside(ax: Axes, text: str, theme: Theme, points: float) -> None:
    """The gradient's scale, in the corner of its map."""
    ax.text(0.98, 0.03, text, transform=ax.transAxes, ha="right", va="bottom", fontsize=points, color=theme.ink,
            bbox={"facecolor": theme.paper, "alpha": 0.75, "linewidth": 0, "pad": 0.8}, zorder=6)  # fmt: skip


def _paths(ax: Axes, seen: Backward, sheet: _draw.Sheet, blocks: bool) -> None:
    t = sheet.theme
    shares, names = seen.paths.values, seen.paths.axes["part"].labels
    rows = np.arange(len(names))
    room = max(1, int(ax.get_window_extent().height / ax.figure.dpi / sheet.em / 1.2))
    if len(names) > room:
        rows = rows[np.unique(np.linspace(0, len(names) - 1, room).round().astype(int))]
    begin = np.zeros(len(rows))
    for k, path in enumerate(seen.paths.axes["quantity"].labels):
        ax.barh(range(len(rows)), shares[rows, k], left=begin, color=t[PATHS[path]], height=0.7, alpha=1 if k else 0.55)
        begin = begin + shares[rows, k]
    ax.set(xlim=(0, 1), ylim=(max(len(rows), 1) - 0.4, -0.6))
    _draw.name_rows(ax, [names[k] if blocks else names[k].removesuffix(" 0") for k in rows])
    ax.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    for row, k in enumerate(rows.tolist()):
        cosine = seen.cosine.values[k]
        said = f"{percent(shares[k, 0])} : {percent(shares[k, 1])}"
        said += f", cosine {_draw.number(cosine, 1)}" if np.isfinite(cosine) else ""
        ax.annotate(said, (1, row), xycoords=("axes fraction", "data"), xytext=(5, 0), textcoords="offset points",
                    va="center", ha="left", annotation_clip=False)  # fmt: skip
    _draw.heading(ax, "gradient by the residual path (grey) : by the branch")


def _check(ax: Axes, seen: Backward, sheet: _draw.Sheet) -> None:
    t = sheet.theme
    sizes, measured = seen.sizes.values, seen.measured.values
    good = np.isfinite(sizes) & (sizes > 0) & (measured > 0)
    ax.plot(sizes[good], measured[good], linestyle="", marker="o", color=t.ink, markersize=0.5 * sheet.size.text)
    if good.any():
        ends = [float(sizes[good].min()) / 2, float(sizes[good].max()) * 2]
        ax.plot(ends, ends, color=t.faint, linewidth=0.7 * sheet.size.line, zorder=0)
        ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    ax.minorticks_off()
    ax.set(xlabel="length of the gradient", ylabel="measured")
    _draw.heading(ax, f"check by moving each point: differs by {seen.worst:.0e} at most".replace("e-", "e\u2212"))
