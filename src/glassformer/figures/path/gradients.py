"""How strong the gradients were while training, part by part."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._life import called
from glassformer.analyses._result import Array, thousands
from glassformer.analyses.path.gradients import Gradients
from glassformer.figures import _draw, _life

NEAR = 3  # times beyond the curves up to which a level is still drawn


def draw(seen: Gradients, look: _draw.Look) -> Figure:
    """Typical gradient of each part by logged step, levels of vanishing and exploding, first part over last."""
    sheet = look.sheet(seen, _caption(seen), "Gradient size by part over training steps, and a ratio below", height=7.4)
    right = 14 if sheet.room[0] > 60 else 10.5
    foot = 6.6 if seen.per_pass else 5.2  # epochs are a second row of numbers; below the label stands a note
    top, bottom = sheet.panels(2, 1, heights=(2.6, 1), left=6.5, right=right, bottom=foot, top=2.2, gap=(0, 2.8))[:, 0]
    steps = np.array(seen.rms.axes["step"].values)
    _sizes(top, seen, steps, sheet, right - 2)
    _ratio(bottom, seen, steps, sheet)
    for panel in (top, bottom):
        _life.steps_axis(panel, seen.scale, seen.per_pass, panel is bottom, seen.step)
    return sheet.done()


def _caption(seen: Gradients) -> str:
    return (
        "Top: typical gradient (root of the mean square) of the parameters of each part, at every logged step, before "
        "any clipping, on a logarithmic axis; thin as logged, thick as a running median, broad and pale that of all "
        "parts together; the band reaches from the "
        "smallest to the largest part. One batch each, so it scatters. Dashed, where they are near: where a part "
        f"counts as vanishing ({seen.reach:g} of the part that has most) and where the whole gradient counts as "
        f"exploding (longer than {thousands(round(seen.longest))}); both are the levels of `glassformer check`, and "
        f"conventions. {_life.TIED if seen.tied and 'read_out' in seen.rms.axes['part'].labels else ''}Bottom: "
        f"{seen.between}; far from 1 for long would mean that one end of the model learns and the other does not."
    )


def _sizes(ax: Axes, seen: Gradients, steps: Array, sheet: _draw.Sheet, wide: float) -> None:
    t, line = sheet.theme, sheet.size.line
    ax.set_yscale("log")
    ax.fill_between(steps, *_safe(seen.band.values), color=t.faint, alpha=0.35, linewidth=0, zorder=0)
    names = []
    for name, raw, smooth in zip(seen.rms.axes["part"].labels, seen.rms.values, seen.smooth.values, strict=True):
        whole = name == "all" and len(seen.rms.axes["part"]) > 1
        colour, dashes = (t.faint, "-") if whole else _life.part_style(name, t)
        if not whole:
            ax.plot(steps, _safe(raw), color=colour, linewidth=0.3 * line, alpha=0.5, zorder=2)
        ax.plot(steps, _safe(smooth), color=colour, linestyle=dashes, linewidth=line * (3.2 if whole else 1),
                zorder=1 if whole else 3, marker="o" if len(steps) < 3 else "")  # fmt: skip
        last = smooth[np.isfinite(smooth) & (smooth > 0)]
        if len(last):
            text = "all parts together" if whole else called(name, seen.blocks == 1)
            names.append((float(last[-1]), text, t.quiet if whole else colour))
    far = _levels(ax, seen, steps, sheet, names)
    _life.logarithmic(ax)
    ax.set_ylabel("typical gradient")
    _draw.heading(
        ax, "gradient by part (root of the mean square): thin as logged, thick running median; band: all parts"
    )
    _draw.beside(ax, names, most=wide)
    if far:
        sheet.note(f"outside the chart: {'; '.join(far)}")


def _levels(
    ax: Axes, seen: Gradients, steps: Array, sheet: _draw.Sheet, names: list[tuple[float, str, str]]
) -> list[str]:
    """The levels of exploding and vanishing where they are near the curves; in words, those that are far."""
    t, far = sheet.theme, []
    low, high = ax.get_ylim()
    vanishing = _safe(seen.vanishing.values)
    for said, level in (
        (f"exploding (length {thousands(round(seen.longest))})", np.full(len(steps), seen.exploding)),
        (f"vanishing ({_life.power(seen.reach)} of the largest)", vanishing[np.isfinite(vanishing)]),
    ):
        if not len(level):
            continue
        last = float(level[-1])
        if low / NEAR <= last <= high * NEAR:
            ax.plot(steps[-len(level) :], level, color=t.wrong, linestyle="--", linewidth=0.7 * sheet.size.line)
            names.append((last, said, t.wrong))
        else:
            far.append(f"{said} begins at {_plain(last)}")
    return far


def _plain(value: float) -> str:
    """Two digits that count, without a power of ten while there are few zeros."""
    plain = np.format_float_positional(float(f"{value:.2g}"), trim="-")
    return str(plain) if value >= 1e-4 else _life.power(value)


def _ratio(ax: Axes, seen: Gradients, steps: Array, sheet: _draw.Sheet) -> None:
    t, line = sheet.theme, sheet.size.line
    ax.plot(steps, _safe(seen.ratio.values), color=t.ink, linewidth=0.8 * line, marker="o" if len(steps) < 3 else "")
    ax.axhline(1, color=t.faint, linewidth=0.6 * line, zorder=0)
    finite = _safe(seen.ratio.values)
    finite = finite[np.isfinite(finite)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.5, 2.0)
    ax.set_ylim(min(low, 0.5) / 1.3, max(high, 2.0) * 1.3)
    _life.logarithmic(ax)
    ax.set_ylabel("ratio")
    ax.set_title(f"gradient of {seen.between}" + (f", median {np.median(finite):.2g}" if len(finite) else ""))


def _safe(values: np.ndarray) -> np.ndarray:
    """What a logarithmic axis can show."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)
