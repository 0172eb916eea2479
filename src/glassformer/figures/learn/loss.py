"""How much was learned, and when: the loss on the ladder, what is left above the floor, and the errors."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._result import percent, thousands
from glassformer.analyses.learn.loss import UNITS, Loss
from glassformer.figures import _draw, _style

NARROW = 60  # ems
FEW = 40  # logged lines under which each is marked, so that straight lines between them are not read as data
APART = 0.015  # of the height of the chart, from which a second floor is drawn
NEAR = 0.05  # excess above which the floor is left out of the picture
LINEAR = 1e-3  # excess below which the logarithmic axis becomes linear, so that zero and less can be shown
OF_RULE = (
    "Dashed horizontal lines are exact prices of partial understandings, from blind guessing down to the floor, the "
    "least that any model with this window can reach on average; a tick on one marks the first logged step by which "
    "the held-out loss stands on it, or within a fiftieth of the ladder's height above it (for the last, above the "
    "floor of the same windows). {beyond}Dotted lines named "
    "floor, where they can be told from it, are what the exact predictor pays on the very windows that are judged, or "
    "on those of training, which differ a little from the average. Middle: what is left above the floor of the very "
    "same windows, on a logarithmic axis{below}. "
    "Bottom: the share of wrong answers on the judged windows{least}. Losses are measured on a fixed sample of "
    "windows; the ladder is exact. A curve that stays above a rung refutes that the model has understood so much."
)
BEYOND = "A dotted line below the floor is what a model would pay that sees further back than the window. "
BELOW = "; below zero, in the shaded band, the model knows these windows better than the rule does: it memorises them"
LEAST = (
    "; the least possible error is an average over all positions of all possible windows, at the first of which one "
    "token is in view, and a sample may lie a little below it"
)
HEART = ", which are those of training: nothing is held back"
OF_TEXT = (
    "Nobody knows the least loss a text allows. Dashed horizontal lines are what counting can do: tables of the "
    "training part that look back so many tokens (interpolated after Witten and Bell), scored on the whole validation "
    "part; a tick marks the first logged step by which the held-out loss stands on one. Middle: the loss less that of "
    "the best table on the held-out windows (those of training it has counted, so it knows them too well to be a "
    "measure); in the shaded band below zero the model knows more than any such table. That is good where it holds for "
    "held-out windows (dashed); where only the training curve is there, the model learns its text by heart. Bottom: "
    "the share of tokens that the likeliest guess misses."
)


def draw(seen: Loss, look: _draw.Look) -> Figure:
    """Loss on the ladder of the task, excess over the floor, and error, by training step."""
    sheet = look.sheet(seen, caption(seen), alt=_alt(seen), height=9, least=0)
    error = any("error" in name for name in seen.curves)
    shares = [3.2, 2.0, 1.6][: 2 + error]
    names = 15 if sheet.room[0] > NARROW else 10.5  # ems for the names beside the charts
    panels = sheet.panels(len(shares), 1, heights=shares, left=6.5, right=names + 3, bottom=4.8, top=2.2, gap=(0, 2.2))[
        :, 0
    ]
    losses(panels[0], seen, sheet, names)
    _excess(panels[1], seen, sheet, names)
    if error:
        _errors(panels[2], seen, sheet, names)
    for panel in panels:
        _draw.steps_axis(panel, "step" if panel is panels[-1] else "", seen.scale)
        if panel is not panels[-1]:
            panel.tick_params(labelbottom=False)
        sheet.mark_step(panel, seen.step)
    return sheet.done()


def caption(seen: Loss) -> str:
    """How to read the three charts."""
    least, beyond = LEAST if "rule_error" in seen.curves else "", "" if all(seen.reachable) else BEYOND
    rest = OF_RULE.format(least=least, beyond=beyond, below=BELOW * seen.held_out) if seen.truth_known else OF_TEXT
    return (
        f"Top: loss in {UNITS[seen.unit]} by training step, raw (thin) and as a running median over five logged lines "
        f"(thick), in training (solid) and on {seen.whose} windows (dashed){'' if seen.held_out else HEART}; dots are "
        f"the logged lines where they are few, and nothing is known between them. {_behind(seen)}"
        f"{rest.replace('held-out', seen.whose)}"
    )


def _behind(seen: Loss) -> str:
    """On how many windows the curves rest."""
    before, last = map(thousands, seen.windows)
    if before == last:
        return f"Each is measured on {last} windows of either kind. " if seen.windows[1] else ""
    return f"Each is measured on {before} windows of either kind, as hard as all, and the last one on all {last}. "


def _alt(seen: Loss) -> str:
    if "validation" not in seen.curves:
        return "An empty chart: no losses were logged."
    errors = [name for name in ("rule_error_answerable", "error", "rule_error") if name in seen.curves]
    last = f" The last error is {percent(float(seen.curves[errors[0]].values[-1]))}." if errors else ""
    return f"Three charts over training steps: loss, excess and error. {seen.title}.{last}"


def losses(ax: Axes, seen: Loss, sheet: _draw.Sheet, wide: float) -> None:
    """Curves of the loss, in front of the ladder and its names."""
    t, line = sheet.theme, sheet.size.line
    _curves(ax, seen, ("train", "validation"), sheet)
    floor, names, digits = seen.lowest, [], 1 if seen.unit == "perplexity" else 3
    for k, (name, price) in enumerate(zip(seen.rungs.axes["rung"].labels, seen.rungs.values, strict=True)):
        colour, width = (t.ink, 1.1) if k == floor else (t.rung, 0.5)
        ax.axhline(price, color=colour, linestyle="--" if seen.reachable[k] else ":", linewidth=width * line, zorder=1)
        if np.isfinite(seen.crossed.values[k]):
            ax.plot([seen.crossed.values[k]], [price], marker="|", color=t.ink, markersize=1.1 * sheet.size.text,
                    zorder=4, clip_on=False)  # fmt: skip
        best = " = floor" if seen.truth_known else " = best table"
        said = best if k == floor else "" if seen.reachable[k] else " (out of reach)" if seen.truth_known else ""
        names.append((float(price), f"{name}{said}  {price:.{digits}f}", t.ink if k == floor else t.quiet))
    values = [v for curve in ("train", "validation") if curve in seen.curves for v in seen.curves[curve].values]
    _limits(ax, [*(v for v in values if np.isfinite(v)), *seen.rungs.values], log=seen.unit == "perplexity")
    low, high = ax.get_ylim()
    for here, whose, colour in (
        (seen.window_floor, seen.whose, t.validation), (seen.train_floor, "training", t.train),
    ):  # fmt: skip
        if seen.truth_known and abs(here - seen.rungs.values[floor]) > APART * (high - low):
            ax.axhline(here, color=colour, linestyle=":", linewidth=0.8 * line, zorder=1)
            names.append((here, f"floor, {whose} windows  {here:.3f}", colour))
    _draw.beside(ax, names, most=wide)
    ax.set_ylabel("perplexity" if seen.unit == "perplexity" else f"loss ({seen.unit} per token)")
    tick = Line2D(
        [], [], color=t.ink, linestyle="", marker="|", markersize=sheet.size.text, label="on a rung by this step"
    )
    judged = _draw.handle("validation", t)
    judged.set_label("validation" if seen.held_out else "judged")
    ax.legend(
        handles=[_draw.handle("train", t), judged, *([tick] if wide > 12 else [])],
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0.1,
        ncols=3,
    )


def _limits(ax: Axes, values: list[float], log: bool) -> None:
    if log:
        ax.set_yscale("log")
        low, high = min(values) / 1.05, max(values) * 1.05
        ax.set_ylim(low, high)
        marks = [m * 10**k for k in range(12) for m in (1, 2, 3, 5, 7) if low <= m * 10**k <= high]
        ax.set_yticks(marks, [thousands(mark) for mark in marks])
        ax.minorticks_off()
    else:
        spread = max(values) - min(values) or 1
        ax.set_ylim(min(values) - 0.05 * spread, max(values) + 0.05 * spread)


def _curves(ax: Axes, seen: Loss, names: tuple[str, ...], sheet: _draw.Sheet) -> None:
    """Raw thin, running median thick; dots at the logged lines where they are few."""
    steps, line, dots = seen.at, sheet.size.line, _dots(seen)
    for name in names:
        if name not in seen.curves:
            continue
        part = "train" if name.startswith("train") else "validation"
        ax.plot(steps, seen.curves[name].values, color=sheet.theme[part], linewidth=0.35 * line, alpha=0.7, zorder=2,
                marker="o", markevery=dots, markersize=0.36 * sheet.size.text)  # fmt: skip
        ax.plot(steps, seen.smooth[name].values, color=sheet.theme[part], linewidth=line, zorder=3,
                linestyle=_style.LINE[part])  # fmt: skip


def _dots(seen: Loss) -> list[int]:
    """The logged lines to mark: all where they are few, else those up to the floor where these are few."""
    steps, reached = seen.at, seen.crossed.values[seen.lowest]  # NaN, where it never is, lies after all steps
    if len(steps) < FEW:
        return list(range(len(steps)))
    early = int(np.searchsorted(steps, reached, side="right"))
    return list(range(early)) if early < FEW else []


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
        ax.set(yscale="log", ylim=(low / 1.3, high * 1.3))
        ax.set_yticks([v for v in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10) if low / 1.3 <= v <= high * 1.3])
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.minorticks_off()
        return
    ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
    bottom = -2 * LINEAR if low > -LINEAR else 1.6 * low
    ax.set_ylim(bottom, max(1.6 * high, 10 * LINEAR))
    shaded = seen.held_out or not seen.truth_known  # else the floor is counted on these windows: nothing gets below it
    if shaded:
        ax.axhspan(bottom, 0, color=t.unconstrained, alpha=0.5, zorder=0, linewidth=0)
    ax.axhline(0, color=t.ink, linestyle="--", linewidth=1.1 * sheet.size.line, zorder=1)
    ax.set_yticks([v for v in (-1, -0.1, -0.01, 0, 0.001, 0.01, 0.1, 1, 10) if bottom <= v <= 1.6 * high])
    ax.yaxis.set_major_formatter(lambda value, _: _draw.number(value, 3).rstrip("0").rstrip(".") or "0")
    ax.minorticks_off()
    zero, below = ("floor of these windows", "below: memorising") if seen.truth_known else (
        "best table of counts", "below: knows more than counts"
    )  # fmt: skip
    _draw.beside(ax, [(0.0, zero, t.ink), *([(bottom / 2, below, t.quiet)] if shaded else [])], most=wide)


def _errors(ax: Axes, seen: Loss, sheet: _draw.Sheet, wide: float) -> None:
    t, steps, line = sheet.theme, seen.at, sheet.size.line
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
        least = f"least possible, averaged over all positions  {100 * seen.least_error:.1f} %"
        names.append((seen.least_error, least, t.ink))
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    ax.set_ylabel("error")
    _draw.beside(ax, names, most=wide)
