"""Who voted for the answer: signed bars of every part that writes to the stream, with their exact sum."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array
from glassformer.analyses.decide.attribution import LITTLE, Attribution, signed
from glassformer.figures import _draw, _style

MOST_KEYS = 16  # positions with a bar of their own
PLUS, MINUS = 0.88, 0.12  # places in the signed map: the bars have the colours of the heat map


def draw(seen: Attribution, look: _draw.Look) -> Figure:
    """Right logit minus best wrong one: each part's bar, their sum, and each head's bar split over key positions."""
    names, heads = seen.parts.axes["part"].labels, len(seen.keys.values)
    keys = _keys(seen) if heads == 1 else ([], [])
    narrow = look.size == "print_narrow"  # one column: the split stands below the bars
    most = max(len(names) + 1, len(keys[0]))
    tall = max(3.6, 2.2 + 0.34 * most)
    below = 8 + (2.0 * len(keys[0]) if heads == 1 else 4 + 1.5 * heads) if heads else 0
    tall = _style.inches(look.size, 20 + 2 * len(names) + below) if narrow else tall
    sheet = look.sheet(seen, _caption(seen), "Bars of the parts of a logit difference", height=tall, least=0)
    t = sheet.theme
    base = below / sheet.room[1] if narrow else 0.0
    edge = 0.56 if heads and not narrow else 1.0
    panel = sheet.panels(1, 1, left=12.5, right=1.5, bottom=4, top=2.2, within=(0, base, edge, 1))[0, 0]
    _bars(panel, [*names, "sum = difference"], [*seen.parts.values, seen.total], t, total=True)
    panel.axhline(len(names) - 0.5, color=t.faint, linewidth=0.5 * sheet.size.line)
    panel.set_xlabel(f"logit of {shown(seen.first)} minus logit of {shown(seen.second)}", parse_math=False)
    panel.set_title(f"after {seen.name}", parse_math=False)
    place = (0, 0, 1, base) if narrow else (edge, 0, 1, 1)
    if heads == 1:
        split = sheet.panels(1, 1, left=7, right=1.5, bottom=4, top=2.2, within=place)[0, 0]
        _bars(split, *keys, t)
        split.set(xlabel="logit difference", ylabel="fetched from", title="attention's bar, by position")
    elif heads:
        names_below = _draw.widest(seen.keys.axes["key_position"])  # upright, where they would touch
        split = sheet.panels(1, 1, left=5.5, right=8.5, bottom=max(5.5, 2.8 + names_below), top=2.2, within=place)[0, 0]
        limit = _draw.limits("signed", seen.keys.values)
        future = np.array([[k not in seen.view for k in range(len(seen.tokens))]] * heads)
        _draw.heat(split, seen.keys.values, kind="signed", theme=t, limit=limit, masked=future,
                   columns=seen.keys.axes["key_position"], column_name="fetched from")  # fmt: skip
        _draw.name_rows(split, seen.keys.axes["part"].labels)
        split.set_title("each head's bar, by position")
        _draw.bar(sheet, "signed", limit, "logit difference", beside=split)
    return sheet.done()


def _caption(seen: Attribution) -> str:
    who = (
        "the right token (the likeliest, if several are) minus the best wrong one"
        if seen.judged
        else "the winner minus the runner-up"
    )
    return (
        f"The input {' '.join(map(shown, seen.tokens))}; the logit difference {shown(seen.first)} over "
        f"{shown(seen.second)} after {seen.name}: {who}. Each bar is what one part, writing directly to the stream, "
        "adds (red) or takes (blue); the bars add up to the sum. "
        + ("Right: attention's part, by the positions it was fetched from. " if len(seen.keys.values) else "")
        + ("Norms are held at the size they have on this input. " if seen.normed else "")
        + f"Exact. {_rival(seen)}Only direct votes count: what a part does through later ones "
        "(attention through the feed-forward) is in their bars; `patching` and `ablation` show that."
    )


def _rival(seen: Attribution) -> str:
    """That no other rival is nearer."""
    if seen.total <= 0:
        return "The rival is the strongest one: behind any other wrong token the answer is less far, or ahead. "
    return f"The rival is the nearest one: over any other {'wrong ' if seen.judged else ''}token the lead is larger. "


def _keys(seen: Attribution) -> tuple[list[str], list[float]]:
    """The positions in view and what the one head fetched from each; of very many, the largest and the others' sum."""
    values, names = seen.keys.values[0], drawn(seen.keys.axes["key_position"])
    large = sorted(sorted(seen.view, key=lambda k: -abs(np.nan_to_num(values[k])))[:MOST_KEYS])
    rest = [k for k in seen.view if k not in large]
    found = [names[k] for k in large], [float(values[k]) for k in large]
    return (found[0] + [f"{len(rest)} others"], found[1] + [float(values[rest].sum())]) if rest else found


def _bars(ax: Axes, names: Sequence[str], values: Sequence[float] | Array, theme: _style.Theme,
          total: bool = False) -> None:  # fmt: skip
    """Signed bars with their numbers, the first on top; the last is a sum if there is a `total`."""
    palette, line = _style.colormap("signed", theme.name), 0.5 * float(matplotlib.rcParams["lines.linewidth"])
    colours = [palette(PLUS if value > 0 else MINUS) for value in values[: len(values) - total]]
    ax.barh(range(len(values)), values, color=[*colours, theme.ink][: len(values)], height=0.7)
    ax.axvline(0, color=theme.ink, linewidth=line)
    _draw.name_rows(ax, names)
    ax.set_ylim(len(values) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    size = float(matplotlib.rcParams["font.size"])
    wide = ax.get_window_extent().width / ax.figure.dpi
    need = min((max(_draw.text_width(signed(value), size) for value in values) + size / 72) / wide, 0.4)
    low, high = np.nanmin([0.0, *values]), np.nanmax([0.0, *values])
    reach = ((high - low) or 1.0) / (1 - need * (1 + (low < 0)))  # so that the numbers beside the bars fit
    ax.set_xlim(low - (need if low < 0 else 0.01) * reach, high + need * reach)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    for k, value in enumerate(values):
        if not total and abs(value) < LITTLE:
            continue
        ax.annotate(signed(value), (value, k), xytext=(4 if value >= 0 else -4, 0), textcoords="offset points",
                    ha="left" if value >= 0 else "right", va="center")  # fmt: skip
