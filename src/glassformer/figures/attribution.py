"""Who voted for the answer: signed bars of every part that writes to the stream, with their exact sum."""

from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses.attribution import attribution, say
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 90
ANSWERS = ("new",)
COST = "a"


@_draw.drawing
def plot_attribution(
    run: Run,
    *,
    sequence: str | None = None,
    position: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Right logit minus best wrong one: each part's bar, their sum, and each head's bar split over key positions."""
    seen = attribution(run, sequence=sequence, position=position, step=step, member=member)
    values, names = seen.parts.values, list(seen.parts.axes["part"])
    heads = len(seen.keys.values)
    narrow = size == "print_narrow"  # one column: the split stands below the bars
    tall = max(3.6, 2.2 + 0.34 * (len(names) + 1))
    tall = _style.inches(size, 20 + 2 * len(names) + (12 + 1.5 * heads if heads else 0)) if narrow else tall
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=tall)
    t = sheet.theme
    base = (12 + 1.5 * heads) / sheet.room[1] if narrow and heads else 0.0
    edge = 0.56 if heads and not narrow else 1.0
    bars = sheet.panels(1, 1, left=12.5, right=3.5, bottom=4, top=2.2, within=(0, base, edge, 1))[0, 0]
    every = [*values, seen.total]
    colours = [t.right if value > 0 else t.wrong for value in values] + [t.ink]
    bars.barh(range(len(every)), every, color=colours, height=0.7)
    bars.set_yticks(range(len(every)), [*names, "sum = difference"])
    bars.invert_yaxis()
    bars.tick_params(axis="y", length=0)
    bars.axvline(0, color=t.ink, linewidth=0.5 * sheet.size.line)
    bars.axhline(len(values) - 0.5, color=t.faint, linewidth=0.5 * sheet.size.line)
    low, high = min(0.0, *every), max(0.0, *every)
    reach = (high - low) or 1.0
    bars.set_xlim(low - (0.26 if low < 0 else 0.04) * reach, high + 0.16 * reach)  # room for the numbers
    for k, value in enumerate(every):
        bars.annotate(
            f"{value:+.2f}".replace("-", "−"),
            (value, k),
            xytext=(4 if value >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
        )
    bars.set_xlabel(f"logit of {shown(seen.first)} minus logit of {shown(seen.second)}", parse_math=False)
    bars.set_title(f"after {shown(seen.tokens[seen.position])} at position {seen.position}", parse_math=False)
    for side in ("left",):
        bars.spines[side].set_visible(False)
    if heads:
        split = sheet.panels(
            1,
            1,
            left=5.5,
            right=8.5,
            bottom=5.5,
            top=2.2,
            within=(0, 0, 1, base) if narrow else (edge, 0 if heads > 1 else 0.3, 1, 1),
        )[0, 0]
        limit = _draw.limits("signed", seen.keys.values)
        _draw.heat(
            split,
            seen.keys.values,
            kind="signed",
            theme=t,
            limit=limit,
            columns=seen.keys.axes["key_position"],
            column_name="fetched from",
        )
        if heads > 1:
            _regions.rows_named(split, seen.keys.axes["head"])
        split.set_title("attention's part, by position")
        _draw.bar(sheet, "signed", limit, "logit difference", beside=split)
    return sheet.done(seen, sequence=" ".join(seen.tokens), position=seen.position)
