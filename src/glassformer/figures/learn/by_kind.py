"""Which kinds of question are learnt when: accuracy and excess of each kind, over life and at one step."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._judged import exactly
from glassformer.analyses._result import thousands
from glassformer.analyses.learn.by_kind import FREE, NOT_IN_VIEW, PASSED, ByKind
from glassformer.figures import _draw

COLOURS = ("query", "wrong", "value", "validation", "feed_forward", "ink")  # one each, as far as they go
STYLES = ("-", "--", "-.", ":")
SPARSE = 40  # looks up to which each is marked
MARKS = (("o", "●"), ("D", "◆"), ("^", "▲"), ("s", "■"), ("v", "▼"), ("P", "✚"))  # on the curve, in its label


def draw(seen: ByKind, look: _draw.Look) -> Figure:
    """Accuracy and excess loss of every kind of question, and the accuracies at one step."""
    sheet = look.sheet(seen, _caption(seen), f"Curves by kind of {seen.asked} and bars at one step", height=6.2)
    rows = sheet.panels(2, 1, left=6, right=11, bottom=3.8, top=2.4, gap=(0, 3.6), within=(0, 0, 0.66, 1))[:, 0]
    bars = sheet.panels(1, 1, left=9, right=2, bottom=3.8, top=2.4, within=(0.66, 0, 1, 1))[0, 0]
    _curves(rows[0], seen, sheet, accuracy=True)
    _curves(rows[1], seen, sheet, accuracy=False)
    _bars(bars, seen, sheet)
    for panel in rows:
        _draw.steps_axis(panel, "step" if panel is rows[1] else "", seen.scale)
        sheet.mark_step(panel, seen.marked)
    rows[0].tick_params(labelbottom=False)
    return sheet.done()


def _caption(seen: ByKind) -> str:
    looks, free = len(seen.excess.axes["step"]), FREE in seen.excess.axes["kind"].labels
    passes = bool(np.isfinite(seen.passed.values).any())
    on = f"the {'questions' if seen.asked == 'questions' else f'{seen.whose} windows'} that each line was judged by"
    return (
        f"Top: share of right arg-max answers by kind of {seen.asked} over training"
        + (f", as logged at {len(seen.accuracy.axes['step'])} steps on {on}" if seen.logged else "")
        + (
            "; a large open mark stands at the first of these steps with 95 % right, below the line of 95 % (one below "
            "the other where several kinds share it)"
            if passes
            else "; the dotted line, 95 %, is passed by none"
            if seen.truth_known
            else ""
        )
        + f". Bottom: loss above {seen.predictor} on the same tokens, by kind"
        + (", so also where anything may follow (unconstrained)" if free else "")
        + ". Right: the accuracies at the chosen step with 95 % Wilson intervals and counts. "
        + (
            "Kinds are the task's own. "
            if seen.asked != "tokens"
            else "Kinds are the families of the token that came; right is only that very token. "
        )
        + f"{'The lower curves are' if seen.logged else 'All is'} measured on the same {seen.windows} {seen.whose} "
        f"windows at {looks} kept step{'s' if looks != 1 else ''} (dots), closest together where the loss fell; "
        "shorter dips between them do not show. If kinds were learnt together, their curves would lie on each other."
    )


def _look(seen: ByKind, kind: int, sheet: _draw.Sheet) -> tuple[str, str]:
    """Colour and line of a kind, which has both to itself; grey for what cannot be known or is not asked."""
    name = seen.accuracy.axes["kind"].labels[kind]
    if name in (NOT_IN_VIEW, FREE):
        return sheet.theme.rung, "-" if name == NOT_IN_VIEW else "--"
    return sheet.theme[COLOURS[kind % len(COLOURS)]], STYLES[kind % len(STYLES)]


def _curves(ax: Axes, seen: ByKind, sheet: _draw.Sheet, *, accuracy: bool) -> None:
    table = seen.accuracy if accuracy else seen.excess
    at = np.array(table.axes["step"].values)
    names = []
    for k, kind in enumerate(table.axes["kind"].labels):
        values = table.values[k]
        if not np.isfinite(values).any():
            continue
        colour, style = _look(seen, k, sheet)
        marker, glyph = MARKS[k % len(MARKS)] if kind not in (NOT_IN_VIEW, FREE) else ("", "")
        every = (2 * k % 5, 5) if len(at) > SPARSE else 1
        ax.plot(at, values, color=colour, linestyle=style, marker=marker or ".", markevery=every,
                markersize=0.36 * sheet.size.text)  # fmt: skip
        last = float(values[np.isfinite(values)][-1])
        told = accuracy and seen.step == at[-1]  # the bars tell it
        value = "" if told else exactly(last) if accuracy else _draw.number(last, 3)
        names.append((last, f"{glyph} {kind}  {value}".rstrip(), colour if glyph else sheet.theme.quiet))
    if accuracy and seen.truth_known:  # a text can hardly be known so well
        ax.axhline(PASSED, color=sheet.theme.rung, linestyle=":", linewidth=0.6 * sheet.size.line, zorder=0)
    if accuracy:
        ax.set_ylim(-0.03, 1.05)
        _passes(ax, seen, sheet)
        ax.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        ax.set_ylabel("right answers")
        some = np.isfinite(seen.passed.values).any()
        ax.set_title("right answers by kind" + ("; large open mark: first at 95 %" if some else ""))
    else:
        values = table.values[np.isfinite(table.values)]
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        ax.set_ylim(min(-0.14 * high, 1.1 * low), 1.08 * max(high, 0.1))
        ax.axhline(0, color=sheet.theme.ink, linestyle="--", linewidth=0.8 * sheet.size.line, zorder=0)
        ax.set(ylabel="excess (nats)", title=f"loss above {seen.predictor}, on the same tokens")
    _draw.beside(ax, names, most=10)


def _passes(ax: Axes, seen: ByKind, sheet: _draw.Sheet) -> None:
    """A large open mark at the step at which each kind first passes 95 %; those of one step hang on one line."""
    size = 0.9 * sheet.size.text
    below = size / 72 * ax.figure.dpi * 1.25 / ax.get_window_extent().height * np.ptp(ax.get_ylim())
    for when in np.unique(seen.passed.values[np.isfinite(seen.passed.values)]):
        there = np.flatnonzero(seen.passed.values == when)
        ax.plot(
            [when, when], [PASSED, PASSED - below * len(there)], color=sheet.theme.rung, linewidth=0.6 * sheet.size.line
        )
        for n, k in enumerate(there, start=1):
            ax.plot([when], [PASSED - below * n], marker=MARKS[k % len(MARKS)][0], color=_look(seen, int(k), sheet)[0],
                    markersize=size, zorder=5, clip_on=False, markerfacecolor=sheet.theme.paper)  # fmt: skip


def _bars(ax: Axes, seen: ByKind, sheet: _draw.Sheet) -> None:
    t = sheet.theme
    kinds = [k for k in range(len(seen.now.values)) if np.isfinite(seen.now.values[k, 0])]
    for row, k in enumerate(kinds):
        right, low, high, _, count = seen.now.values[k]
        away = seen.now.axes["kind"].labels[k] == NOT_IN_VIEW
        ax.barh(
            row,
            right,
            height=0.6,
            facecolor=t.unconstrained if away else (t.right, 0.7),
            edgecolor=t.masked if away else t.right,
            hatch="////" if away else None,
        )
        ax.plot([low, high], [row, row], color=t.ink, linewidth=sheet.size.line, zorder=4)
        ax.text(0.01, row - 0.33, f"{exactly(float(right))} of {thousands(int(count))}", ha="left", va="bottom")
    names = [seen.now.axes["kind"].labels[k] for k in kinds]
    _draw.name_rows(ax, ["\n".join(_draw.wrap(n, sheet.size.text, 8 * sheet.em)) for n in names])
    ax.set(ylim=(max(len(names), 2) - 0.4, -0.9), xlim=(0, 1.01))
    ax.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    ax.set(xlabel="right, with 95 % interval", title=f"at step {thousands(seen.step or 0)}")
