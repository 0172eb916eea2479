"""Which questions are hard: a map of all of them, and the hardest, on pages of their own where many are asked for."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.learn.every_question import HARDEST, EveryQuestion, chance
from glassformer.figures import _draw, _style

LISTED = 22  # questions in each of two columns, on the pages after the first
BAR = 3.0  # ems of a probability of 1
MOST_QUESTION = 14  # ems; of a longer question the end is written


def draw(seen: EveryQuestion, look: _draw.Look) -> Figure:
    """Share right by question, and the questions with the least probability of a right answer."""
    shows = f"Maps of the share of right answers and a list of hard {_asked(seen)}"
    many = len(seen.hardest.values)
    rest, pages = _draw.paged(range(HARDEST, many), 2 * LISTED, max(look.page - 1, 0))
    pages = 1 + pages if many > HARDEST else 1
    if look.page:
        _draw.paged(range(pages), 1, look.page)  # refuses a page that is not there
        listing = _listing(seen, rest)
        sheet = look.sheet(seen, listing[0].upper() + listing[1:], shows, height=7)
        for k, panel in enumerate(sheet.panels(1, 2, left=2, right=1.5, bottom=1.2, top=2.4, gap=(3, 0))[0]):
            _hardest(panel, seen, sheet, rest[k * LISTED : (k + 1) * LISTED])
        return sheet.done(pages=pages)
    sheet = look.sheet(seen, _caption(seen), shows, height=7)
    if seen.operations:
        panels = sheet.panels(2, 3, left=3.5, right=1, bottom=5, top=2.4, gap=(3.2, 3.8), within=(0, 0, 0.56, 1))
        for k, name in enumerate(seen.right.axes["kind"].labels):
            panel = panels.flat[k]
            _draw.heat(
                panel,
                seen.right.values[k],
                kind="probability",
                theme=sheet.theme,
                numbers=False,
                rows=seen.right.axes["token"].labels,
                columns=seen.right.axes["other_token"].labels,
                row_name="first digit" if k % 3 == 0 else "",
                column_name="second digit" if k >= 2 else "",
            )
            panel.set_title(name)
            _draw.outline(panel, ((d, d) for d in range(seen.right.values.shape[1])), sheet.theme.rung, 0.5)
            for frame in panel.patches:
                frame.set_clip_on(False)  # the last lies on the edge
        sheet.note("framed: the same digit twice")
        panels.flat[5].remove()
        _draw.bar(sheet, "probability", (0, 1), "share right", beside=panels[1, 1], gap=2.0)
    elif seen.right.values.shape[1] == 1:
        _by_answer(sheet.panels(1, 1, left=5, right=3, bottom=3.8, top=2.4, within=(0, 0, 0.42, 1))[0, 0], seen, sheet)
    else:
        panel = sheet.panels(1, 1, left=5, right=7, bottom=5.4, top=2.4, within=(0, 0, 0.46, 1))[0, 0]
        empty = np.isnan(seen.right.values)
        _draw.heat(
            panel,
            seen.right.values,
            kind="probability",
            theme=sheet.theme,
            numbers=False,
            rows=seen.right.axes["token"].labels,
            columns=seen.right.axes["distance"].labels,
            row_name="answer",
            column_name="tokens back to look",
            masked=empty if empty.any() else None,
        )
        _counts(panel, seen, sheet)
        _draw.bar(sheet, "probability", (0, 1), "share right", beside=panel)
        if empty.any():
            sheet.note("hatched: no numbers" if seen.count.values[empty].any() else "hatched: did not occur")
    place = 0.56 if seen.operations else 0.42 if seen.right.values.shape[1] == 1 else 0.48
    table = sheet.panels(1, 1, left=2, right=1.5, bottom=1.2, top=2.4, within=(place, 0, 1, 1))[0, 0]
    _hardest(table, seen, sheet, list(range(min(HARDEST, many))))
    return sheet.done(pages=pages)


def _caption(seen: EveryQuestion) -> str:
    what = (
        f"all {thousands(seen.asked)} questions: one map per operation, first digit down, second across, each cell "
        f"{_cell(int(seen.count.values.max()))}; framed cells have the same digit twice"
        if seen.operations
        else f"{thousands(seen.asked)} questions, trained on and held out: each answer, and of its questions the share "
        "that is right"
        if seen.questions
        else f"{thousands(seen.asked)} {seen.whose} positions whose answer is in view: the token that came down, how "
        "many tokens back the rule must look across, each cell the share right; hatched cells did not occur"
    )
    return (
        f"Left: {what}; right means that the likeliest token is allowed. Colours run from 0 to 1. Right: "
        f"{_listing(seen, range(min(HARDEST, len(seen.hardest.values))))} "
        + ("Exact. " if seen.questions else "Exact on a fixed sample. ")
        + "If difficulty were chance, low cells would be scattered and the list would show no pattern."
    )


def _listing(seen: EveryQuestion, rows: Sequence[int]) -> str:
    """How to read a list of questions."""
    which = f"{rows[0] + 1} to {rows[-1] + 1} of" if rows and rows[0] else f"{len(rows)} of"
    return (
        f"the {_asked(seen)} with the least probability of a right answer, {which} {thousands(seen.asked)}: that "
        "probability, the likeliest token (where it is wrong, the one that came in brackets), and of "
        f"{seen.looked} kept steps the first at which it was right and the last at which it was wrong."
    )


def _asked(seen: EveryQuestion) -> str:
    """What is listed; in a sequence no questions are asked, but some places have one answer."""
    return "questions" if seen.questions else "places"


def _cell(many: int) -> str:
    """What one cell of a map of operations stands for."""
    if many == 1:
        return "one question, right (1) or wrong (0)"
    return f"the share right over the {thousands(many)} {'third digits' if many == 10 else 'ways to go on'}"


def _by_answer(ax: Axes, seen: EveryQuestion, sheet: _draw.Sheet) -> None:
    """All answers lie equally far back: one bar for each of them."""
    names, right, count = seen.right.axes["token"].labels, seen.right.values[:, 0], seen.count.values[:, 0]
    rows = np.arange(len(names))
    ax.barh(rows, np.nan_to_num(right), height=0.7, facecolor=(sheet.theme.right, 0.3), edgecolor=sheet.theme.right)
    for row in rows:
        said = f"{thousands(round(right[row] * count[row]))} of " if np.isfinite(right[row]) else "no number of "
        ax.text(0.02, row, f"{said}{thousands(int(count[row]))}", va="center")
    ax.set(ylim=(len(names) - 0.5, -0.5), xlim=(0, 1.01))
    ax.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    _draw.places(ax, names, "y", name="answer")
    ax.set_xlabel("share right")


def _counts(ax: Axes, seen: EveryQuestion, sheet: _draw.Sheet) -> None:
    palette, counts = _style.colormap("probability", sheet.theme.name), seen.count.values
    box, most = ax.get_window_extent(), int(counts.max(initial=0))
    wide, high = box.width / ax.figure.dpi / counts.shape[1], box.height / ax.figure.dpi / counts.shape[0]
    ax.vlines(
        np.arange(1, counts.shape[1]) - 0.5, *ax.get_ylim(), color=sheet.theme.paper, linewidth=0.4 * sheet.size.line
    )
    ax.hlines(
        np.arange(1, counts.shape[0]) - 0.5, *ax.get_xlim(), color=sheet.theme.paper, linewidth=0.4 * sheet.size.line
    )
    fitting = [
        f"{{}}{between}{{}}"
        for between, widest, lines in (("/", f"{most}/{most}", 1.1), ("/\n", f"{most}/", 2.4))
        if high > lines * sheet.em and wide > 1.1 * _draw.text_width(widest, sheet.size.text)
    ]
    if not fitting:
        return  # no room
    for (row, column), count in np.ndenumerate(counts):
        share = seen.right.values[row, column]
        if np.isfinite(share):
            ax.text(
                column,
                row,
                fitting[0].format(round(share * count), int(count)),
                ha="center",
                va="center",
                color=_style.on(palette(share)),
            )


def _hardest(ax: Axes, seen: EveryQuestion, sheet: _draw.Sheet, shown_rows: Sequence[int]) -> None:
    _draw.bare(ax)
    if not shown_rows:
        return
    t = sheet.theme
    names = [seen.hardest.axes["question"].labels[k] for k in shown_rows]
    table = seen.hardest.values[list(shown_rows)]
    box = ax.get_window_extent()
    em = sheet.size.text * ax.figure.dpi / 72
    rows, begin = len(names), shown_rows[0]
    ax.set(xlim=(0, box.width / em), ylim=(max(rows, LISTED if begin else 1) + 1.6, -0.5))
    wide = box.width / em
    longest = max((_draw.text_width(name, 72) for name in names), default=0)
    late = wide - 26.5 > min(longest, MOST_QUESTION) + 1  # room for the last column
    wide = min(wide, max(min(longest, MOST_QUESTION), 8.0) + (28.0 if late else 21.6))  # no wide hole in the table
    right = wide if late else wide + 6.4
    at_bar, at_said, at_first, at_last = right - 26.5, right - 18.5, right - 6.4, right
    ax.set_title(
        f"the hardest {_asked(seen)}, {begin + 1} to {begin + rows}" if begin else f"the {rows} hardest {_asked(seen)}"
    )
    ax.text(0, 0, "question" if seen.questions else "after", color=t.quiet, va="center")
    ax.text(at_bar, 0, "p(right)", color=t.quiet, va="center")
    some_wrong = not table[:rows, 1].all()
    ax.text(at_said, 0, "said (came)" if some_wrong else "answer", color=t.quiet, va="center")
    if late:
        ax.text(at_last, 0, "last wrong", color=t.quiet, va="center", ha="right")
    ax.text(at_first, 0, "first right", color=t.quiet, va="center", ha="right")
    tell = bool(((table[:rows, 0] > 0.005) & (table[:rows, 0] < 0.995)).any())  # else all bars would be the same
    for k in range(rows):
        p, right, last, first = table[k]
        came, likeliest = shown(seen.came[begin + k]), shown(seen.likeliest[begin + k])
        y = k + 1
        text = " ".join(shown(word) for word in names[k].split(" "))
        while _draw.text_width(text, sheet.size.text) > (at_bar - 0.8) * sheet.em and " " in text:
            text = "…" + text.removeprefix("…").split(" ", 1)[1]
        ax.text(0, y, text, va="center")
        if tell:
            ax.add_patch(_bar(at_bar, y, BAR, t.unconstrained))
            ax.add_patch(_bar(at_bar, y, BAR * float(np.nan_to_num(p)), t.right if right else t.wrong))
        ax.text(at_bar + (BAR + 0.4) * tell, y, chance(float(p)), va="center")
        ax.text(at_said, y, f"{likeliest} ✓" if right else f"{likeliest} ✗ ({came})", va="center", parse_math=False)
        if late:
            ax.text(at_last, y, thousands(int(last)) if np.isfinite(last) else "never", va="center", ha="right")
        ax.text(at_first, y, thousands(int(first)) if np.isfinite(first) else "never", va="center", ha="right")


def _bar(x: float, y: float, wide: float, colour: str) -> Rectangle:
    return Rectangle((x, y - 0.3), wide, 0.6, facecolor=colour, linewidth=0)
