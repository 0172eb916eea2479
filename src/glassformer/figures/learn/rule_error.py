"""How often the rule is broken: in view and not, likeliest and sampled, and by how far back the answer lies."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from glassformer.analyses._judged import exactly
from glassformer.analyses._result import percent, thousands
from glassformer.analyses.learn.rule_error import RuleError
from glassformer.figures import _draw

TICKS = ([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])


def draw(seen: RuleError, look: _draw.Look) -> Figure:
    """Rule error over life, the shares of right, wrong and not in view, and the error by distance."""
    sheet = look.sheet(seen, _caption(seen), "Error curves, stacked shares and bars by distance", height=6.2)
    left = sheet.panels(1, 1, left=5.5, right=1, bottom=6.0, top=2.6, within=(0, 0, 0.36, 1))[0, 0]
    middle = sheet.panels(1, 1, left=5.5, right=1, bottom=6.0, top=2.6, within=(0.36, 0, 0.68, 1))[0, 0]
    right = sheet.panels(1, 1, left=5.5, right=2.4, bottom=6.0, top=2.6, within=(0.68, 0, 1, 1))[0, 0]
    _life(left, seen, sheet)
    _shares(middle, seen, sheet)
    _distance(right, seen, sheet)
    t, line = sheet.theme, sheet.size.line
    for panel in (left, middle):
        _draw.steps_axis(panel, scale=seen.scale)
        if seen.marked is not None:
            panel.axvline(seen.marked, color=t.quiet, linewidth=0.5 * line, zorder=4)
    sheet.legend(
        [
            Patch(facecolor=t.wrong, label="in view"),
            Patch(facecolor=t.quiet, label="not in view"),
            Line2D([], [], color=t.ink, linewidth=0.8 * line, label="either: arg-max"),
            Line2D([], [], color=t.ink, linewidth=0.8 * line, linestyle=":", label="sampled, T = 1"),
            Line2D([], [], color=t.ink, linestyle="--", label="best possible"),
        ],
        x=0.0,
        columns=5,
    )
    return sheet.done()


def _caption(seen: RuleError) -> str:
    looks = len(seen.error.axes["step"])
    return (
        "Left: share of answers that break the rule, of those in view and of those not in view apart, on "
        f"{thousands(seen.windows)} {seen.whose} windows, looked at {looks} time{'s' if looks != 1 else ''} (dots), "
        "closest together where the loss fell; shorter relapses between two looks do not show (“loss” has the error "
        "of every logged line); solid is the likeliest token (arg-max), dotted the average over sampling at "
        "temperature 1. Colours tell whether the answer is in view; dashed lines are the least error that any model "
        f"with this window can reach, exact. {_hidden(seen)}"
        "Middle: the same positions as right, wrong and not in view, by arg-max. "
        "Right: error at the chosen step by how many tokens back the rule must look, on the same windows, with 95 % "
        "intervals and counts. These are answers to true sequences (teacher-forced); a model that writes freely is "
        "judged in “generated”. An error in view that stays up refutes that the rule was learnt."
    )


def _hidden(seen: RuleError) -> str:
    """How many answers no model can see, exactly, and over what that is an average."""
    if seen.hidden < 1e-9:
        return ""
    return (
        f"Averaged over all positions of a window (1 to {seen.context} tokens in view), {exactly(seen.hidden)} of the "
        f"constrained positions have no answer in view; with all {seen.context} tokens in view it is "
        f"{exactly(seen.hidden_full)}. "
    )


def _life(ax: Axes, seen: RuleError, sheet: _draw.Sheet) -> None:
    t, line = sheet.theme, sheet.size.line
    at = np.array(seen.error.axes["step"].values)
    for where, colour in enumerate((t.wrong, t.quiet)):
        for choice, style in enumerate(("-", ":")):
            ax.plot(
                at,
                seen.error.values[where, choice],
                color=colour,
                linestyle=style,
                linewidth=line,
                marker="o" if choice == 0 or len(at) == 1 else "",
                markersize=0.3 * sheet.size.text,
            )
        best = float(seen.best.values[where])
        if np.isfinite(best):
            ax.axhline(
                best,
                color=t.ink if where == 0 else t.quiet,
                linestyle="--",
                linewidth=1.1 * line if where == 0 else 0.8 * line,
                zorder=1,
            )
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks(*TICKS)
    ax.set(ylabel="share wrong, of each", title="error by step")


def _shares(ax: Axes, seen: RuleError, sheet: _draw.Sheet) -> None:
    t = sheet.theme
    at = np.array(seen.shares.axes["step"].values)
    if len(at) == 1:
        at, values = at[0] + np.arange(2), np.repeat(seen.shares.values, 2, axis=1)
    else:
        values = seen.shares.values
    upto = np.cumsum(values, axis=0)
    ax.fill_between(at, 0, upto[0], facecolor=t.right, alpha=0.75, linewidth=0)
    ax.fill_between(at, upto[0], upto[1], facecolor=t.wrong, alpha=0.75, linewidth=0)
    ax.fill_between(at, upto[1], upto[2], facecolor=t.unconstrained, edgecolor=t.masked, hatch="////", linewidth=0)
    ax.set_ylim(0, 1)
    ax.set_yticks(*TICKS)
    ax.set(ylabel="share of constrained positions", title="right, wrong, not in view")
    low = np.vstack([np.zeros(values.shape[1]), upto[:-1]])
    names = ("✓ right", "✗ wrong", f"∅ not in view {percent(float(values[2, -1]))}")
    width = at[-1] - at[0]
    for k, name in enumerate(names):
        inner = [j for j in range(len(at)) if k == 1 or 0.3 * width <= at[j] - at[0] <= 0.7 * width] or [len(at) // 2]
        j = max(inner, key=lambda j: values[k, j])
        side = "left" if at[j] - at[0] < 0.2 * width else "right" if at[j] - at[0] > 0.8 * width else "center"
        if values[k, j] > 0.055:
            box = {"facecolor": t.paper, "edgecolor": "none", "alpha": 0.85, "pad": 0.25 * sheet.size.text}
            ax.text(
                at[j],
                (low[k, j] + upto[k, j]) / 2,
                name if side != "left" else f" {name}",
                ha=side,
                va="center",
                bbox=box,
            )


def _distance(ax: Axes, seen: RuleError, sheet: _draw.Sheet) -> None:
    t, line = sheet.theme, sheet.size.line
    names, counts = seen.by_distance.axes["distance"].labels, seen.counts.values
    for k, far in enumerate(seen.by_distance.axes["distance"].values):
        away = far == np.inf
        error, sampled = seen.by_distance.values[k]
        low, high = seen.interval.values[k]
        ax.barh(
            k,
            error,
            height=0.6,
            facecolor=t.unconstrained if away else (t.wrong, 0.75),
            hatch="////" if away else None,
            edgecolor=t.masked if away else t.wrong,
        )
        ax.plot([low, high], [k, k], color=t.ink, linewidth=0.8 * line, zorder=4)
        ax.plot([sampled, sampled], [k - 0.36, k + 0.36], color=t.ink, linestyle=":", linewidth=line, zorder=4)
        edge = max(high, sampled)
        text = f"{exactly(float(error))} of {thousands(int(counts[k]))}"
        beside, within = edge <= 0.55, error > 0.5
        plate = {"facecolor": t.paper, "edgecolor": "none", "alpha": 0.85, "pad": 0.2 * sheet.size.text}
        ax.text(
            edge + 0.03 if beside else 0.03,
            k if beside or within else k - 0.1,
            text,
            va="center" if beside or within else "bottom",
            ha="left",
            zorder=5,
            bbox=plate if within and not beside else None,
        )
        if away and np.isfinite(seen.best.values[1]):
            best = float(seen.best.values[1])
            ax.plot([best, best], [k - 0.42, k + 0.42], color=t.ink, linestyle="--", linewidth=line, zorder=4)
    ax.set(ylim=(len(names) - 0.4, -0.75), xlim=(0, 1.0))
    ax.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    _draw.name_rows(ax, [name.replace("not in view", "not in\nview") for name in names])
    ax.set(xlabel="error", title="by how far back to look")
