"""Which tokens are alike: cosines sorted by group, lengths, and the groups over the whole life."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import shown
from glassformer.analyses.know.similarity import Similarity, say, similarity
from glassformer.figures import _draw, _style
from glassformer.run import Run

MOST_NUMBERS = 20  # tokens
MOST_GROUPS = 5  # in the table of groups
SPLIT = 0.62  # of the width for the table
STYLES = ("-", ":", "-.")  # of groups


@_draw.drawing
def plot_similarity(
    run: Run, *, step: int = -1, member: int = 0, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Cosine of every two token vectors; beside it the length of each and the means by group over life."""
    seen = similarity(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=6.8, least=60)
    t, words = sheet.theme, seen.cosine.axes["token"].labels
    longest = max(_draw.text_width(shown(word), sheet.size.text) for word in words) / sheet.em
    table = sheet.panels(
        1,
        1,
        left=max(5, longest + 1.2),
        right=15.5,
        bottom=max(3.2, longest + 1.2),
        top=1.6,
        within=(0, 0, SPLIT, 1),
        square=True,
    )[0, 0]
    _draw.heat(
        table, seen.cosine.values, kind="signed", theme=t, limit=(-1, 1), rows=words, columns=words,
        numbers=None if len(words) <= MOST_NUMBERS else False, digits=1,
    )  # fmt: skip
    begin = 0
    for own in seen.groups.values():
        table.add_patch(Rectangle((begin - 0.5, begin - 0.5), len(own), len(own), fill=False, edgecolor=t.ink,
                                  linewidth=0.8 * sheet.size.line, clip_on=False, zorder=4))  # fmt: skip
        begin += len(own)
    lengths = _lengths(sheet, seen, table)
    _draw.bar(sheet, "signed", (-1, 1), "cosine", beside=lengths)
    sorted_too = len(seen.axis.values) > 0
    low = 1.0
    if 1 < len(seen.groups) <= MOST_GROUPS:
        low -= _between(sheet, seen)
    right = sheet.panels(
        1 + sorted_too, 1, left=5, right=9.2, bottom=3.8, top=2.2, gap=(0, 6), within=(SPLIT, 0, 1, low)
    )[:, 0]
    life = right[-1]
    steps = [int(each) for each in seen.by_group.axes["step"].labels]
    life.axhline(0, color=t.faint, linewidth=0.5 * sheet.size.line, zorder=0)
    curves = [(" with ".join(name or "other" for name in seen.main), seen.apart.values, "--", t.quiet)]
    named = [
        (name, k)
        for k, name in enumerate(seen.by_group.axes["group"].labels)
        if name in seen.used and np.isfinite(seen.by_group.values[-1, k])
    ]
    for number, (name, k) in enumerate(named):
        curves.append((f"inside {name or 'other'}", seen.by_group.values[:, k], STYLES[number % len(STYLES)], t.ink))
    for _, curve, style, colour in curves:
        life.plot(steps, curve, linestyle=style, color=colour)
    if step != -1 and seen.step is not None:
        life.axvline(seen.step, color=t.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
    life.set_xlim(steps[0], max(steps[-1], steps[0] + 1))
    _draw.steps_axis(life)
    life.locator_params(axis="x", nbins=3)
    life.set_title("mean cosine by step")
    told = [(float(curve[-1]), name, colour) for name, curve, _, colour in curves if np.isfinite(curve[-1])]
    _draw.beside(life, told, most=7.0)
    if sorted_too:
        _numbers(right[0], seen, t)
    return sheet.done(seen, names=[shown(word) for word in words])


def _between(sheet: _draw.Sheet, seen: Similarity) -> float:
    """Group by group mean cosines as a small table on top; the share of the height it takes."""
    names = [name or "other" for name in seen.between.axes["group"].labels]
    high = (5.8 + 1.5 * len(names)) / sheet.room[1]
    side = 1.0 + max(_draw.text_width(name, 72) for name in names)
    panel = sheet.panels(1, 1, left=side, right=1, bottom=2.2, top=3.6, within=(SPLIT, 1 - high, 1, 1))[0, 0]
    _draw.heat(panel, seen.between.values, kind="signed", theme=sheet.theme, limit=(-1, 1), rows=names, columns=names,
               numbers=True, digits=2)  # fmt: skip
    panel.xaxis.tick_top()
    panel.tick_params(length=0)
    panel.set_title("mean cosine by group", pad=1.8 * sheet.size.text)
    return high


def _lengths(sheet: _draw.Sheet, seen: Similarity, table: Axes) -> Axes:
    """The length of each token's vector, in the rows of the table."""
    x, y, wide, high = sheet.rects[table]
    em = sheet.em / sheet.inches[0]
    made = sheet.place((x + wide + em, y, 6.5 * em, high))
    made.barh(range(len(seen.length.values)), seen.length.values, height=0.7, color=sheet.theme.quiet)
    made.set_ylim(len(seen.length.values) - 0.5, -0.5)
    made.set_yticks([])
    made.xaxis.set_major_locator(MaxNLocator(2))
    made.set_title("length")
    return made


def _numbers(ax: Axes, seen: Similarity, theme: _style.Theme) -> None:
    """Where tokens are numbers: each along the numbers' main axis, and how sorted they are."""
    value = np.array([int(name) for name in seen.axis.axes["number"].labels])
    _draw.dots(ax, np.column_stack([value, seen.axis.values]), colour=theme.ink)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.set_xlabel("number")
    _draw.heading(ax, "numbers on their main axis")
