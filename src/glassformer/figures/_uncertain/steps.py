"""Diagnostics by training step: entropy, loss, their difference, change and sharpening."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._result import Labelled, percent, thousands
from glassformer.analyses._uncertain import Uncertainty
from glassformer.figures import _draw, _life, _style
from glassformer.figures._uncertain.parts import curve, key, last, level, reach, sound


def entropy(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, names: float = 0, at: bool | None = None) -> None:
    """Output entropy by step. `at`: None both as trained and at the temperature, True only this, False only that."""
    t = sheet.theme
    one, warm = seen.by_step["entropy"], seen.by_step["entropy_at"]
    if at is not True:
        curve(ax, one, t.ink)
    if at is True or (at is None and not seen.as_trained):
        curve(ax, warm, t.ink if at else t.quiet, linestyle="-" if at else "-.")
    level(ax, seen.highest, sheet)
    true = seen.true("entropy") if seen.subject == "run" else float("nan")
    level(ax, true, sheet, floor=seen.exact)
    ax.set_ylabel("entropy (nats)")
    reach(ax, one.values if at is not True else warm.values, warm.values[0], seen.highest, true, zero=False)
    if names:
        near = [(seen.highest, f"uniform guess  ln {thousands(seen.tokens)} = {seen.highest:.3f}", t.quiet)]
        if np.isfinite(true):
            said = "exact predictor" if seen.exact else "best count table"
            near.append((true, f"{said}  {true:.3f}", t.ink))
        ends = [("at T = 1", one, t.ink)] if not seen.as_trained else [("entropy", one, t.ink)]
        ends += [] if seen.as_trained else [(f"at T = {seen.temperature:.4g}", warm, t.quiet)]
        near += [(last(lines), f"{text}  {last(lines):.3f}", colour) for text, lines, colour in ends if sound(lines)]
        _draw.beside(ax, near, most=names)


def loss(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, names: float = 0) -> None:
    """The loss at the temperature by step."""
    t, lines = sheet.theme, seen.by_step["loss_at"]
    curve(ax, lines, t.validation, linestyle=_style.LINE["validation"] if seen.subject == "run" else "-")
    true = seen.true("loss") if seen.subject == "run" else float("nan")
    level(ax, true, sheet, floor=seen.exact)
    level(ax, seen.highest, sheet)
    ax.set_ylabel("loss (nats)")
    reach(ax, lines.values, seen.highest, true, zero=False)
    if names:
        near = [(seen.highest, f"uniform guess  {seen.highest:.3f}", t.quiet)]
        if np.isfinite(true):
            near.append((true, f"{'exact predictor' if seen.exact else 'best count table'}  {true:.3f}", t.ink))
        if sound(lines):
            at = "" if seen.temperature == 1 else f" at T = {seen.temperature:.4g}"
            near.append((last(lines), f"loss{at}  {last(lines):.3f}", t.validation))
        _draw.beside(ax, near, most=names)


def gap(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet) -> None:
    """Loss minus entropy by step: how much too sure."""
    t, lines = sheet.theme, seen.by_step["gap"]
    curve(ax, lines, t.ink)
    known = seen.subject == "run" and np.isfinite(seen.calibrated)
    level(ax, seen.calibrated if known else 0.0, sheet, floor=True)
    reach(ax, lines.values, zero=False)
    low, high = ax.get_ylim()
    most = max(abs(low), abs(high), 0.05)
    low = max(low, -most) if low < -0.25 * most else -0.35 * most
    high = high if high > 0.25 * most else 0.35 * most
    ax.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))  # the words stand beyond the curve
    ax.set_ylabel("loss − entropy (nats)")
    for y, text, where in ((0.97, "too sure", "top"), (0.03, "too cautious", "bottom")):
        ax.text(0.98, y, text, transform=ax.transAxes, ha="right", va=where, color=t.quiet)


def change(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, wide: bool = False) -> None:
    """Divergence per step, on a logarithmic axis, rungs ticked at the top."""
    t, lines = sheet.theme, seen.change["divergence"]
    curve(ax, _positive(lines), t.ink)
    shown = [lines.values]
    if "same_window" in seen.change:
        curve(ax, _positive(seen.change["same_window"]), t.quiet, linestyle="-.", linewidth=0.7 * sheet.size.line)
        shown.append(seen.change["same_window"].values)
    flat = np.concatenate([np.ravel(each) for each in shown])
    flat = flat[np.isfinite(flat) & (flat > 0)]
    low, high = (float(flat.min()), float(flat.max())) if len(flat) else (1e-3, 1.0)
    ax.set_ylim(max(low / 1.6, high * 1e-9), high * 2)
    _life.logarithmic(ax)
    ax.set_ylabel("divergence per step (nats)" if wide else "divergence (nats)")
    if "same_window" in seen.change:
        both = ("weights and window", "weights alone, on the same window") if wide else ("all", "weights alone")
        key(ax, (both[0], t.ink, "-"), (both[1], t.quiet, "-."), loc="upper right")


def _positive(lines: Labelled) -> Labelled:
    """A logarithmic axis has no place for nothing."""
    return Labelled(np.where(lines.values > 0, lines.values, np.nan), lines.axes, lines.unit)


def crossings(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, rows: int) -> None:
    """A dotted line where the loss reached each rung, with its name above the panel; none where there is no room."""
    t, size, crossed = sheet.theme, sheet.size.text, seen.ladder["crossed"]
    box, dot = ax.get_window_extent(), size * ax.figure.dpi / 72
    free = [float(box.x1)] * rows  # of each row of names, all to the left of this
    together: dict[float, str] = {}
    for name, step in zip(crossed.axes["rung"].values, crossed.values, strict=True):
        if step >= 0:  # of rungs passed at once, the lowest
            together[float(step)] = str(name)
    for step, said in sorted(together.items(), reverse=True):  # the latest first
        wide = _draw.text_width(said, size) * ax.figure.dpi
        x = float(ax.transData.transform((step, 1))[0])
        begin = min(x, box.x1 - wide)
        row = next((k for k in range(rows) if begin + wide <= free[k]), None)
        if row is None:
            continue
        free[row] = begin - 0.8 * dot
        y = 1 + (0.35 + 1.25 * row) * dot / box.height
        ax.plot([step, step], [0, y], transform=ax.get_xaxis_transform(), color=t.rung, linestyle=":",
                linewidth=0.7 * sheet.size.line, zorder=0, clip_on=False)  # fmt: skip
        ax.text((begin - box.x0 + 0.25 * dot * (begin == x)) / box.width, y, said, transform=ax.transAxes,
                color=t.quiet, ha="left", va="bottom")  # fmt: skip


def sharpening(ax: Axes, seen: Uncertainty, sheet: _draw.Sheet, names: float = 0, kind: str = "") -> None:
    """p(max) and p(target) by step, and what the exact predictor gives them."""
    t, after = sheet.theme, f" {kind}" if kind else ""
    most, right = seen.by_step[f"p_max{after}"], seen.by_step[f"p_target{after}"]
    curve(ax, right, t.right)
    mean = Labelled(most.values[:1], {**most.axes, "statistic": ("mean",)})  # a second band over the first: unreadable
    curve(ax, mean, t.ink, linestyle="--")
    true = {name: seen.true(f"{name}{after}") for name in ("p_max", "p_target")} if seen.subject == "run" else {}
    ends = np.array([seen.looked_at[0], max(seen.total, 1)])
    for name, colour in (("p_max", t.ink), ("p_target", t.right)):
        if np.isfinite(height := true.get(name, float("nan"))):
            ax.plot(
                ends, [height] * 2, color=colour, linestyle=(0, (1, 1.6)), linewidth=0.8 * sheet.size.line, zorder=2
            )
    ax.set_ylim(-0.02, 1.03)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    ax.set_ylabel("probability")
    bound = kind != "free" and seen.exact  # where no rule restricts it, as in a text, none is right
    came = "right token" if bound else "token that came"
    if not names:
        key(ax, ("likeliest token", t.ink, "--"), (came, t.right, "-"), loc="best")
        return
    near = []
    for text, lines, name, colour in (
        ("likeliest token", most, "p_max", t.ink), (came, right, "p_target", t.right),
    ):  # fmt: skip
        if sound(lines):
            best = true.get(name, float("nan"))
            of = f"({'at best' if seen.exact else 'by counts'} {percent(best)})".replace(" ", "\u00a0")  # on one line
            of = f" {of}" if np.isfinite(best) else ""
            near.append((last(lines), f"{text} {percent(last(lines))}{of}", colour))
    _draw.beside(ax, near, most=names)
