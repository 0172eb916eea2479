"""How curved the loss is around the weights: eigenvalues at a step, and the largest over life."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import thousands
from glassformer.analyses.path.hessian import FLAT, Hessian
from glassformer.figures import _draw, _life


def draw(seen: Hessian, look: _draw.Look) -> Figure:
    """Sorted eigenvalues on an axis logarithmic on both sides of zero; the ten largest over the training."""
    sheet = look.sheet(seen, _caption(seen), "A sorted spectrum and ten curves over training", height=7.6, least=0)
    right = 13 if sheet.room[0] > 60 else 10
    top, bottom = sheet.panels(2, 1, heights=(1.25, 1), left=7, right=right, bottom=4, top=2.2, gap=(0, 5.5))[:, 0]
    _spectrum(top, seen, sheet, right - 2)
    _life_of(bottom, seen, sheet, right - 2)
    return sheet.done()


def _caption(seen: Hessian) -> str:
    how = (
        f"all {thousands(seen.parameters)} eigenvalues, exact to double precision"
        if seen.exact
        else f"{len(seen.eigenvalues.values)} Ritz values of Lanczos' method, an estimate of the spectrum whose outer "
        "ends are close to eigenvalues and whose inner ones are not"
    )
    edge = (
        "dashed: the curvature above which this optimiser's steps overshoot in a bowl of that shape"
        if np.isfinite(seen.edge.values).any()
        else "for Adam there is no such simple limit as 2 / rate"
    )
    return (
        f"Eigenvalues of the matrix of second derivatives of the training loss, on {seen.windows} fixed windows of the "
        f"training part: {how}. Above: at this step, sorted, on an axis that is logarithmic on both sides of zero; "
        "below zero the loss curves down, so the weights stand on a saddle there and not in a minimum. Below: the ten "
        f"largest over the training; {edge}. On other windows the numbers would differ a little. A step where the "
        "gradient is not zero is no critical point at all."
    )


def _spectrum(ax: Axes, seen: Hessian, sheet: _draw.Sheet, wide: float) -> None:
    t, line, values = sheet.theme, sheet.size.line, seen.eigenvalues.values
    rank = np.arange(len(values))
    sound = np.isfinite(values)
    largest = float(np.max(np.abs(values[sound]), initial=0)) or 1.0
    flat = np.abs(values) <= FLAT * largest
    looks = ((values > 0) & ~flat, t.ink, "o"), ((values < 0) & ~flat, t.wrong, "v"), (flat, t.rung, ".")
    for mask, colour, marker in looks:
        chosen = sound & mask
        ax.plot(
            rank[chosen], values[chosen], linestyle="", marker=marker, color=colour, markersize=0.35 * sheet.size.text
        )
    inner = 10.0 ** np.floor(np.log10(largest) - 6)
    ax.set_yscale("symlog", linthresh=inner, linscale=0.4)
    ax.axhline(0, color=t.quiet, linewidth=0.5 * line, zorder=0)
    lowest = float(np.min(values[sound], initial=0))
    ax.set_ylim(min(3 * lowest, -2 * inner), 4 * largest)
    marks = [10.0**e for e in range(int(np.log10(inner)), int(np.ceil(np.log10(largest))) + 1, 2)]
    ax.set_yticks([*(-m for m in marks if m <= -3 * lowest), 0, *marks])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", "\u2212"))
    ax.minorticks_off()
    ax.set_xlim(-1, max(len(values), 2))
    ax.set_ylabel("eigenvalue")
    ax.set_xlabel("rank" if seen.exact else "rank of the Ritz value (estimate)")
    ax.set_title(f"curvature in every direction at step {thousands(seen.step or 0)}" if seen.exact
                 else f"estimated spectrum at step {thousands(seen.step or 0)}")  # fmt: skip
    if sound.all():
        zero = f"{thousands(round(seen.zero))} are zero" if seen.exact else ""
        about = "" if seen.exact else "about "
        names = [(lowest, f"{about}{thousands(round(seen.negative))} below zero", t.wrong)]
        rest = seen.parameters - round(seen.negative) - round(seen.zero)
        names.append((largest, f"{about}{thousands(rest)} above zero", t.ink))
        _draw.beside(ax, [*names, *([(0.0, zero, t.quiet)] if zero else [])], most=wide)


def _life_of(ax: Axes, seen: Hessian, sheet: _draw.Sheet, wide: float) -> None:
    t, line, names = sheet.theme, sheet.size.line, []
    few = "o" if len(seen.steps) < 12 else ""
    for k, curve in enumerate(seen.over_life.values):
        good = np.where(curve > 0, curve, np.nan)
        ax.plot(seen.steps, good, color=t.ink if k == 0 else t.rung, linewidth=line * (1.1 if k == 0 else 0.5),
                zorder=3 if k == 0 else 2, marker=few, markersize=0.35 * sheet.size.text)  # fmt: skip
        if k in (0, len(seen.over_life.values) - 1) and np.isfinite(good[-1]):
            names.append((float(good[-1]), "largest" if k == 0 else "tenth largest", t.ink if k == 0 else t.quiet))
    below = np.where(seen.smallest.values < 0, -seen.smallest.values, np.nan)
    ax.plot(
        seen.steps, below, color=t.wrong, linestyle=":", linewidth=line, marker=few, markersize=0.35 * sheet.size.text
    )
    if np.isfinite(below[-1]):
        names.append((float(below[-1]), "smallest, sign changed", t.wrong))
    if np.isfinite(seen.edge.values).any():
        ax.plot(seen.steps, seen.edge.values, color=t.validation, linestyle="--", linewidth=line)
        names.append((float(seen.edge.values[np.isfinite(seen.edge.values)][-1]), "edge of stability", t.validation))
    if names:
        _life.logarithmic(ax)
    ax.set(ylabel="eigenvalue", title="the ten largest over the training")
    _life.steps_axis(ax, seen.scale, 0.0, True, seen.step if seen.step != seen.steps[-1] else None)
    _draw.beside(ax, names, most=wide)
