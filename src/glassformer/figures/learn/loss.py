"""How much was learned, and when: the loss on the ladder, what is left above the floor, and the errors."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses.learn.loss import Loss, loss, say, steps_of
from glassformer.figures import _draw, _style
from glassformer.run import Run

NARROW = 60  # ems
EARLY = 0.1  # share of the training within which all is learnt that is, so that an even axis would show a wall
FEW = 40  # logged lines under which each is marked, so that straight lines between them are not read as data
APART = 0.015  # of the height of the chart, from which a second floor is drawn
NEAR = 0.05  # excess above which the floor is left out of the picture
LINEAR = 1e-3  # excess below which the logarithmic axis becomes linear, so that zero and less can be shown


@_draw.drawing
def plot_loss(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    unit: str = "nats",
    log_steps: bool | None = None,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Loss on the ladder of the task, excess over the floor, and error, by training step.

    `log_steps`: a logarithmic axis of steps; None: where the floor is reached in the first tenth of the training.
    """
    seen = loss(run, step=step, member=member, unit=unit)
    at = steps_of(seen)
    log = _floor_reached(seen) < EARLY * seen.steps if log_steps is None else log_steps
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=9)
    error = any("error" in name for name in seen.curves)
    shares = [3.2, 2.0, 1.6][: 2 + error]
    names = 15 if sheet.room[0] > NARROW else 10.5  # ems for the names beside the charts
    panels = sheet.panels(len(shares), 1, heights=shares, left=6.5, right=names + 3, bottom=4.8, top=2.2, gap=(0, 2.2))[
        :, 0
    ]
    _losses(panels[0], seen, sheet, names)
    _excess(panels[1], seen, sheet, names)
    if error:
        _errors(panels[2], seen, sheet, names)
    for panel in panels:
        if log:  # straight up to the first logged step after the beginning
            panel.set_xscale("symlog", linthresh=float(max(at[1] if len(at) > 1 else 1, 1)), linscale=0.4)
        panel.set_xlim(0, max(seen.steps, 1))
        _draw.steps_axis(panel, "step" if panel is panels[-1] else "")
        if log:
            panel.set_xticks(_decades(at, seen.steps))
            panel.minorticks_off()
        if panel is not panels[-1]:
            panel.tick_params(labelbottom=False)
        if step != -1 and seen.step is not None:
            panel.axvline(seen.step, color=sheet.theme.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
    if log and log_steps is None:
        sheet.note("steps on a logarithmic axis: the lowest rung is reached early")
    return sheet.done(seen, unit=unit, log_steps=bool(log), member=member)


def _losses(ax: Axes, seen: Loss, sheet: _draw.Sheet, wide: float) -> None:
    t, line = sheet.theme, sheet.size.line
    _curves(ax, seen, ("train", "validation"), sheet)
    floor = max(k for k, ok in enumerate(seen.reachable) if ok)
    names = []
    for k, (name, price) in enumerate(zip(seen.rungs.axes["rung"].labels, seen.rungs.values, strict=True)):
        colour, width = (t.ink, 1.1) if k == floor else (t.rung, 0.5)
        ax.axhline(price, color=colour, linestyle="--" if seen.reachable[k] else ":", linewidth=width * line, zorder=1)
        if np.isfinite(seen.crossed.values[k]):
            ax.plot([seen.crossed.values[k]], [price], marker="|", color=t.ink, markersize=1.1 * sheet.size.text,
                    zorder=4, clip_on=False)  # fmt: skip
        best = " = floor" if seen.truth_known else " = best table"
        said = best if k == floor else "" if seen.reachable[k] else " (out of reach)" if seen.truth_known else ""
        names.append(
            (float(price), f"{name.replace(' = ', ', ')}{said}  {price:.3f}", t.ink if k == floor else t.quiet)
        )
    values = [v for curve in ("train", "validation") if curve in seen.curves for v in seen.curves[curve].values]
    _limits(ax, [*(v for v in values if np.isfinite(v)), *seen.rungs.values], log=seen.unit == "perplexity")
    low, high = ax.get_ylim()
    for here, whose, colour in (
        (seen.window_floor, "held-out", t.validation), (seen.train_floor, "training", t.train),
    ):  # fmt: skip
        if seen.truth_known and abs(here - seen.rungs.values[floor]) > APART * (high - low):
            ax.axhline(here, color=colour, linestyle=":", linewidth=0.8 * line, zorder=1)
            names.append((here, f"floor, {whose} windows  {here:.3f}", colour))
    _draw.beside(ax, names, most=wide)
    ax.set_ylabel("perplexity" if seen.unit == "perplexity" else f"loss ({seen.unit} per token)")
    tick = Line2D(
        [], [], color=t.ink, linestyle="", marker="|", markersize=sheet.size.text, label="on a rung by this step"
    )
    ax.legend(
        handles=[_draw.handle("train", t), _draw.handle("validation", t), *([tick] if wide > 12 else [])],
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0.1,
        ncols=3,
    )


def _limits(ax: Axes, values: list[float], log: bool) -> None:
    if log:
        ax.set_yscale("log")
        ax.set_ylim(min(values) / 1.05, max(values) * 1.05)
    else:
        spread = max(values) - min(values) or 1
        ax.set_ylim(min(values) - 0.05 * spread, max(values) + 0.05 * spread)


def _curves(ax: Axes, seen: Loss, names: tuple[str, ...], sheet: _draw.Sheet) -> None:
    """Raw thin, running median thick; dots at the logged lines where they are few."""
    steps, line, dots = steps_of(seen), sheet.size.line, _dots(seen)
    for name in names:
        if name not in seen.curves:
            continue
        part = "train" if name.startswith("train") else "validation"
        ax.plot(steps, seen.curves[name].values, color=sheet.theme[part], linewidth=0.35 * line, alpha=0.7, zorder=2,
                marker="o", markevery=dots, markersize=0.36 * sheet.size.text)  # fmt: skip
        ax.plot(steps, seen.smooth[name].values, color=sheet.theme[part], linewidth=line, zorder=3,
                linestyle=_style.LINE[part])  # fmt: skip


def _decades(at: np.ndarray, steps: int) -> list[int]:
    """Marks of an axis that is logarithmic from the second logged step on."""
    first = int(at[1]) if len(at) > 1 else 1
    return [0, *(m * 10**k for k in range(8) for m in (1, 2, 5) if first <= m * 10**k <= steps)]


def _dots(seen: Loss) -> list[int]:
    """The logged lines to mark: all where they are few, else those up to the floor where these are few."""
    steps = steps_of(seen)
    if len(steps) < FEW:
        return list(range(len(steps)))
    early = int(np.searchsorted(steps, _floor_reached(seen), side="right"))
    return list(range(early)) if early < FEW else []


def _floor_reached(seen: Loss) -> float:
    """The first logged step on the lowest rung that can be reached; infinite: it never was."""
    step = seen.crossed.values[max(k for k, ok in enumerate(seen.reachable) if ok)]
    return float(step) if np.isfinite(step) else float("inf")


def _excess(ax: Axes, seen: Loss, sheet: _draw.Sheet, wide: float) -> None:
    t = sheet.theme
    _curves(ax, seen, ("train_excess", "excess"), sheet)
    values = np.concatenate(
        [seen.curves[name].values for name in ("train_excess", "excess") if name in seen.curves] or [np.ones(1)]
    )
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    ax.set_ylabel("excess" if sheet.size.name == "slide" else f"excess ({'bits' if seen.unit == 'bits' else 'nats'})")
    if low > NEAR:  # nothing comes near the floor
        ax.set_yscale("log")
        ax.set_ylim(low / 1.3, high * 1.3)
        ax.set_yticks([v for v in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10) if low / 1.3 <= v <= high * 1.3])
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.minorticks_off()
        return
    ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
    bottom = -2 * LINEAR if low > -LINEAR else 1.6 * low
    ax.set_ylim(bottom, max(1.6 * high, 10 * LINEAR))
    ax.axhspan(bottom, 0, color=t.unconstrained, alpha=0.5, zorder=0, linewidth=0)
    ax.axhline(0, color=t.ink, linestyle="--", linewidth=1.1 * sheet.size.line, zorder=1)
    ax.set_yticks([v for v in (-1, -0.1, -0.01, 0, 0.001, 0.01, 0.1, 1, 10) if bottom <= v <= 1.6 * high])
    ax.yaxis.set_major_formatter(lambda value, _: _draw.number(value, 3).rstrip("0").rstrip(".") or "0")
    ax.minorticks_off()
    zero, below = ("floor of these windows", "below: memorising") if seen.truth_known else (
        "best table of counts", "below: knows more than counts"
    )  # fmt: skip
    _draw.beside(ax, [(0.0, zero, t.ink), (bottom / 2, below, t.quiet)], most=wide)


def _errors(ax: Axes, seen: Loss, sheet: _draw.Sheet, wide: float) -> None:
    t, steps, line = sheet.theme, steps_of(seen), sheet.size.line
    names: list[tuple[float, str, str]] = []
    for name, style, said in (
        ("error", "-", "wrong answers"), ("rule_error", "-", "all positions the rule speaks about"),
        ("rule_error_answerable", ":", "where the answer is in view"),
    ):  # fmt: skip
        if name in seen.curves:
            values = seen.curves[name].values
            ax.plot(
                steps,
                values,
                color=t.wrong,
                linestyle=style,
                linewidth=line * 0.8,
                marker="o",
                markevery=_dots(seen),
                markersize=0.36 * sheet.size.text,
            )
            finite = values[np.isfinite(values)]
            if len(finite):
                names.append((float(finite[-1]), f"{said}  {100 * finite[-1]:.1f} %", t.wrong))
    if np.isfinite(seen.least_error) and "rule_error" in seen.curves:
        ax.axhline(seen.least_error, color=t.ink, linestyle="--", linewidth=1.1 * line, zorder=1)
        names.append((seen.least_error, f"least possible, all positions  {100 * seen.least_error:.1f} %", t.ink))
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    ax.set_ylabel("error")
    _draw.beside(ax, names, most=wide)
