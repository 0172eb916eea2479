"""What comes next: the five likeliest tokens after a few inputs, as training goes on."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.learn.next_token import NextToken
from glassformer.figures import _draw

TOP = 5
ENDS = (0.05, 0.1, 0.2, 0.5, 1.0)  # of the axis of probabilities, the same for all panels


def draw(seen: NextToken, look: _draw.Look) -> Figure:
    """Bars of the likeliest next tokens: rows are inputs, columns are steps, ticks the exact predictor."""
    prompts, times = seen.chances.axes["window"].labels, seen.steps
    rows = 2 if look.size == "slide" and len(prompts) * len(times) > 6 else len(prompts)
    columns = len(times)
    sheet = look.sheet(seen, _caption(seen), alt=_alt(seen), height=1.6 + 1.9 * rows, least=0)
    narrow = sheet.size.name == "print_narrow"  # the legend takes two lines
    panels = sheet.panels(rows, columns, left=4.5, right=2, bottom=7.4 if narrow else 5.8, top=4.2, gap=(6, 3.2))
    end = _end(seen, rows)
    for row in range(rows):
        for column in range(columns):
            _bars(panels[row, column], seen, row, column, sheet, end)
            if row == rows - 1:
                panels[row, column].set_xlabel("probability")
            else:
                panels[row, column].tick_params(labelbottom=False)
        said = f"after  {' '.join(map(shown, prompts[row].split(' ')))}"
        if np.isfinite(seen.times.values[row]):
            said += f"  ({thousands(int(seen.times.values[row]))} times in training)"
        said += "  (answer out of view)" if seen.unseen[row] else ""
        panels[row, 0].annotate(
            said,
            (0, 1),
            xycoords="axes fraction",
            xytext=(-3.5 * sheet.size.text, 0.5 * sheet.size.text),
            textcoords="offset points",
            ha="left",
            va="bottom",
            fontsize=1.1 * sheet.size.text,
        )
    for column, each in enumerate(times):
        panels[0, column].annotate(
            f"step {thousands(each)}",
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 2.2 * sheet.size.text),
            textcoords="offset points",
            ha="left",
            va="bottom",
            color=sheet.theme.quiet,
        )
    asked = [bool(row.any()) for row in seen.right.values[:rows]]
    free = ["unconstrained"] if any(not a and not b for a, b in zip(asked, seen.unseen[:rows], strict=True)) else []
    free = free if seen.truth_known else []  # of a text nothing is constrained
    free += ["not_in_view"] if any(seen.unseen[:rows]) else []
    judged = ["right", "wrong"] if seen.right.values[:rows].any() else []
    ticks = seen.predictor.removeprefix("the ") if seen.truth_known else "how often it followed in training"
    sheet.legend([*judged, *free, (ticks, "|", sheet.theme.ink)], columns=2 if narrow else 4)
    return sheet.done()


def _caption(seen: NextToken) -> str:
    return (
        f"Bars are the model's five likeliest {'answers' if seen.one else 'next tokens'} after each input (rows) at a "
        "few training steps (columns), with their probabilities; below them, where it is not one of the five, the "
        "token that is likeliest in the end. A tick is "
        + (
            f"the probability of the same token, given the same window, by {seen.predictor}"
            if seen.truth_known
            else "the share of times that the same token followed the whole input in the training part; an input that "
            "never occurs there has no ticks, and one that occurs a few times has rough ones"
        )
        + (f"; a check marks {_marked(seen)}" if seen.right.values.any() else "")
        + ". Exact numbers."
        + (" Bars that end at their ticks are perfect knowledge." if seen.truth_known else "")
    )


def _marked(seen: NextToken) -> str:
    """Which tokens have a check."""
    if seen.one:
        return "the right answer"
    return "tokens that the rule allows where it constrains the place" if seen.held_out else "what follows in the text"


def _alt(seen: NextToken) -> str:
    if not np.isfinite(seen.chances.values[:, -1]).all():
        return "Empty bars."
    return f"Bars of the likeliest tokens after a few inputs. {seen.title}."


def _order(seen: NextToken, row: int, column: int) -> list[int]:
    """The likeliest tokens, and as last row the one that is likeliest in the end, which the title follows."""
    chances = np.nan_to_num(seen.chances.values[row])
    order = [int(token) for token in np.argsort(-chances[column], kind="stable")[:TOP]]
    best = int(chances[-1].argmax())
    return order if best in order else [*order, best]


def _end(seen: NextToken, rows: int) -> float:
    """Where the axis of probabilities ends, so that the longest bar or the last tick takes most of it."""
    most = max(
        float(np.nan_to_num(values[_order(seen, row, column)]).max())
        for row in range(rows) for column in range(len(seen.steps))
        for values in (seen.chances.values[row, column], seen.truth.values[row])
    )  # fmt: skip
    return next((each for each in ENDS if most <= 0.8 * each), 1.0)


def _bars(ax: Axes, seen: NextToken, row: int, column: int, sheet: _draw.Sheet, end: float) -> None:
    t = sheet.theme
    chances, truth, right = seen.chances.values[row, column], seen.truth.values[row], seen.right.values[row]
    order = _order(seen, row, column)
    asked = right.any()
    for k, token in enumerate(order):
        colour = t.unconstrained if not asked else t.right if right[token] else t.wrong
        ax.barh(
            k,
            chances[token],
            height=0.7,
            facecolor=(colour, 0.6) if asked else colour,
            edgecolor=colour if asked else t.masked,
            hatch="////" if seen.unseen[row] else None,
        )
        ax.plot(
            [truth[token], truth[token]], [k - 0.42, k + 0.42], color=t.ink, linewidth=1.3 * sheet.size.line, zorder=4
        )
        said, true = float(np.nan_to_num(chances[token])), float(np.nan_to_num(truth[token]))
        text = f"{_draw.number(float(chances[token]), 2 if end > 0.2 else 3)}{' ✓' if right[token] else ''}"
        said, true = said / end, true / end
        if true > said + 0.3:  # room between the bar and the tick
            x = said + 0.02
        elif max(said, true) > 0.75:  # inside the bar, past a tick that lies there
            x = true + 0.02 if true < 0.4 else 0.02
        else:
            x = max(said, true) + 0.02
        ax.text(end * x, k, text, va="center", ha="left", color=t.ink, zorder=5)
    words = seen.chances.axes["token"].labels
    _draw.name_rows(ax, [shown(words[token]) for token in order])
    most = max(len(_order(seen, row, other)) for other in range(len(seen.steps)))
    ax.set(ylim=(most - 0.4, -0.6), xlim=(0, 1.02 * end))
    ax.set_xticks([0, end / 2, end], [f"{mark:g}" for mark in (0, end / 2, end)])
