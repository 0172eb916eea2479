"""How often it is right: accuracy by step, beside the best that each partial understanding can do."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._judged import exactly
from glassformer.analyses._result import percent, thousands
from glassformer.analyses.learn.accuracy import WINDOWS, Accuracy
from glassformer.figures import _draw, _style


def draw(seen: Accuracy, look: _draw.Look) -> Figure:
    """Share of right arg-max answers in training and held out, with a line for each partial understanding."""
    shows = "Curves of accuracy over training steps with horizontal lines"
    sheet = look.sheet(seen, _caption(seen), shows, height=5.5, least=0)
    t, line = sheet.theme, sheet.size.line
    panel = sheet.panels(1, 1, left=6.5, right=19, bottom=3.8, top=2.4)[0, 0]
    for part in ("train", "validation"):
        at, values = seen.curves[part].axes["step"].values, seen.curves[part].values
        panel.plot(
            at,
            values,
            color=t[part],
            linestyle=_style.LINE[part],
            linewidth=line if len(at) >= 40 else 0.5 * line,  # few points: the marks count
            zorder=3,
            clip_on=False,
            marker="o" if len(at) < 40 else "",
            markersize=0.4 * sheet.size.text,
        )
    names = []
    count = len(seen.rungs.values)
    for k, (name, best) in enumerate(zip(seen.rungs.axes["rung"].labels, seen.rungs.values, strict=True)):
        if not np.isfinite(best):
            continue
        top = k == count - 1
        panel.axhline(
            best, color=t.ink if top else t.rung, linestyle="--", linewidth=line * (1.1 if top else 0.5), zorder=1
        )
        names.append((float(best), f"{name}  {percent(float(best))}", t.ink if top else t.quiet))
    panel.set_ylim(-0.02, 1.04)
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    _draw.steps_axis(panel, scale=seen.scale)
    panel.set_ylabel(f"share of {'constrained positions' if seen.rule else seen.asked} right")
    _draw.beside(panel, names, most=17)
    judged = _draw.handle("validation", t)
    judged.set_label("validation" if seen.held_out else "judged")
    panel.legend(
        handles=[_draw.handle("train", t), judged],
        loc="lower left",
        ncols=2,
        bbox_to_anchor=(0, 1.0),
    )
    sheet.mark_step(panel, seen.marked)
    return sheet.done()


def _caption(seen: Accuracy) -> str:
    return (
        f"Share of {seen.what} on which the likeliest token is right, by training step: in training (solid) and "
        f"{'held out' if seen.held_out else 'judged, on the same text'} (dashed){_looks(seen)}. Horizontal "
        "lines are the best that each partial understanding can do, "
        + (
            f"exact, by {'listing all questions' if seen.asked == 'questions' else 'counting over the text'}. "
            if seen.exact
            else f"the topmost exact, the others measured on {WINDOWS} {seen.whose} windows, ties counted as a toss. "
            if seen.truth_known
            else f"measured on {seen.whose} windows, ties counted as a toss: tables of counts of the training part, "
            "which look back so many tokens. "
        )
        + (
            f"The {exactly(seen.unconstrained)} of tokens that the rule leaves free are not counted; the top line, an "
            "average over all positions of a window, is below 100 % where some answers are not in view. "
            if seen.rule
            else ""
        )
        + "A curve that passes a line knows more than that"
        + ("; a training curve far above the held-out one would be memorising." if seen.held_out else ".")
    )


def _looks(seen: Accuracy) -> str:
    """How a curve was measured that has other steps than the logged one."""
    few = {part: len(curve.values) for part, curve in seen.curves.items() if part not in seen.logged}
    if not few:
        return ", both as logged"
    many = max(few.values())
    whose = "both" if len(few) == 2 else "the training curve" if "train" in few else f"the {seen.whose} curve"
    return (
        f"; {whose} looked at {many} time{'s' if many != 1 else ''} (dots) on {thousands(seen.windows)} windows, "
        "so that shorter dips do not show" + ("" if len(few) == 2 else ", the other as logged")
    )
