"""Which tokens are alike: cosines sorted by group, lengths, and the groups over the whole life."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._result import listed, percent, thousands
from glassformer.analyses.know.similarity import Similarity, signed
from glassformer.figures import _draw, _style

MOST_NUMBERS = 20  # tokens
FEW = 28  # tokens
MOST_GROUPS = 5  # in the table of groups
SPLIT = 0.62, 0.7  # of the width for the table of few tokens and of many
LINE = 1.15  # ems for the name of a token
LEAST = 0.4  # of cosine that the curves' axis spans
STYLES = ("-", ":", "-.")  # of groups


def draw(seen: Similarity, look: _draw.Look) -> Figure:
    """Cosine of every two token vectors; beside it the length of each and the means by group over life."""
    shows = "Table of cosines between token embeddings, lengths, and means over the life"
    words = seen.cosine.axes["token"]
    side = _draw.widest(words) + 1.2
    tall = _style.inches(look.size, LINE * len(words) + max(3.2, side) + 6.6) if look.size == "screen" else 0
    sheet = look.sheet(seen, _caption(seen), shows, height=max(6.8, tall))
    t, split = sheet.theme, SPLIT[len(words) > FEW]
    table = sheet.panels(
        1, 1, left=max(5, side), right=15.5, bottom=max(3.2, side), top=1.6, within=(0, 0, split, 1), square=True
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
    sorted_too = len(seen.along.values) > 0
    low = 1.0
    if 1 < len(seen.groups) <= MOST_GROUPS:
        low -= _between(sheet, seen, split)
    right = sheet.panels(
        1 + sorted_too, 1, left=5, right=9.2, bottom=3.8, top=2.2, gap=(0, 6), within=(split, 0, 1, low)
    )[:, 0]
    life = right[-1]
    steps = np.array(seen.by_group.axes["step"].values)
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
    sheet.mark_step(life, seen.step if seen.step != steps[-1] else None)
    low, high = life.get_ylim()
    if high - low < LEAST:  # what hardly moves is not blown up
        life.set_ylim((low + high - LEAST) / 2, (low + high + LEAST) / 2)
    _draw.steps_axis(life, scale=seen.scale)
    life.set_title("mean cosine by step")
    told = [(float(curve[-1]), name, colour) for name, curve, _, colour in curves if np.isfinite(curve[-1])]
    _draw.beside(life, told, most=7.0)
    if sorted_too:
        _numbers(right[0], seen, t)
    return sheet.done()


def _caption(seen: Similarity) -> str:
    steps = np.array(seen.by_group.axes["step"].values)
    idle = [name for name in seen.groups if name not in seen.used]
    said = (
        "Left: cosine of the angle between every two token vectors, red for the same direction (1), blue for opposite "
        "ones (−1), white for a right angle; tokens are sorted by group "
        f"({', '.join(f'{name}: {len(words)}' for name, words in seen.groups.items())}), frames hold the groups. Bars: "
        "the length of each vector. Table: mean cosine of a token of one group with one of another, none with itself"
        f"{f' ({listed(idle)} tokens do not occur in {seen.of_part} windows)' if idle else ''}. "
        f"Bottom right: such means at {len(steps)} kept steps. All numbers are exact. A random embedding has means "
        "near 0; if groups did not matter, tokens of one group would be no more alike than tokens of two."
    )
    if np.isfinite(seen.agreement):
        said += (
            f" The numbers lie along their main axis in an order whose rank correlation with their value is "
            f"{seen.agreement:.2f} (1: sorted; ten numbers in random order exceed 0.63 one time in twenty); for "
            f"{percent(seen.neighbours)} of them the most similar other number is one more or one less (by chance "
            f"{percent(seen.neighbours_by_chance)})."
        )
    if seen.left_out:
        said += f" {seen.left_out} rarer tokens are left out."
    if np.isfinite(seen.cosine.values).all() and seen.told() and seen.step != steps[0]:
        before = listed([signed(value) for _, value in seen.told(steps[0])])
        said += f" At step {thousands(steps[0])} the means of the title were {before}."
    return said


def _between(sheet: _draw.Sheet, seen: Similarity, split: float) -> float:
    """Group by group mean cosines as a small table on top; the share of the height it takes."""
    names = [name or "other" for name in seen.between.axes["group"].labels]
    longest = max(_draw.text_width(name, 72) for name in names)  # ems
    side = 1.0 + longest
    upright = longest > ((1 - split) * sheet.room[0] - side - 1) / len(names)  # too long to stand side by side
    head = longest + 0.8 if upright else 1.8
    high = (4 + head + 1.5 * len(names)) / sheet.room[1]
    panel = sheet.panels(1, 1, left=side, right=1, bottom=2.2, top=1.8 + head, within=(split, 1 - high, 1, 1))[0, 0]
    _draw.heat(
        panel, seen.between.values, kind="signed", theme=sheet.theme, limit=(-1, 1), numbers=True, digits=2
    )  # fmt: skip
    panel.set_xticks(range(len(names)), names, rotation=90 if upright else 0)
    panel.set_yticks(range(len(names)), names)
    panel.xaxis.tick_top()
    panel.tick_params(length=0)
    panel.set_title("mean cosine by group", pad=head * sheet.size.text)
    return high


def _lengths(sheet: _draw.Sheet, seen: Similarity, table: Axes) -> Axes:
    """The length of each token's vector, in the rows of the table."""
    x, y, wide, high = sheet.rects[table]
    em = sheet.em / sheet.inches[0]
    made = sheet.place((x + wide + em, y, 6.5 * em, high))
    made.barh(range(len(seen.length.values)), seen.length.values, height=0.7, color=sheet.theme.quiet)
    made.set(ylim=(len(seen.length.values) - 0.5, -0.5), yticks=[])
    made.xaxis.set_major_locator(MaxNLocator(2))
    made.set_title("length")
    return made


def _numbers(ax: Axes, seen: Similarity, theme: _style.Theme) -> None:
    """Where tokens are numbers: each along the numbers' main axis, and how sorted they are."""
    _draw.dots(ax, np.column_stack([seen.along.axes["argument"].values, seen.along.values]), colour=theme.ink)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.set_xlabel("number")
    _draw.heading(ax, "numbers on their main axis")
