"""How a text's words are cut: the commonest words with their pieces, and the share of single tokens by rank."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import listed, percent, thousands
from glassformer.analyses.what.coverage import Coverage
from glassformer.figures import _draw, _table


def draw(seen: Coverage, look: _draw.Look) -> Figure:
    """A hundred words in order, each whole or cut; the curve over the first thousand; what is lost."""
    sheet = look.sheet(seen, _caption(seen), "A table of words and a falling curve", height=4.8, least=80)
    cut = 0.68 if sheet.size.fixed is None else 0.72
    grid = sheet.panels(1, 1, left=1, right=1.5, bottom=1, top=1, within=(0, 0, cut, 1))[0, 0]
    chart = sheet.panels(1, 1, left=4.5, right=1.5, bottom=4, top=2.2, within=(cut, 0.5, 1, 1))[0, 0]
    aside = sheet.panels(1, 1, left=1.5, right=1, bottom=0.5, top=1, within=(cut, 0, 1, 0.5))[0, 0]
    left_out = len(seen.cut) - _words(grid, seen, sheet)
    if left_out:
        sheet.note(f"the first {len(seen.cut) - left_out} of {len(seen.cut)} words; {left_out} have no room here")
    _curve(chart, seen, sheet)
    rows = [
        ("characters", thousands(seen.characters)),
        ("different ones", thousands(seen.distinct)),
        ("tokens", thousands(seen.tokens)),
        *((f"for {part}", many) for part, many in _parts(seen)),
        ("characters per token", f"{seen.per_token:.2f}"),
        ("entries that occur", f"{thousands(seen.used)} of {thousands(seen.entries)}"),
        *((f"discarded {kind}", many) for kind, many in _lost(seen)),
        *([] if len(seen.lost.values) else [("discarded", "nothing")]),
    ]
    _table.table(aside, sheet.em, ("the whole text", seen.tokenizer), rows, theme=sheet.theme, align="lr")
    return sheet.done()


def _caption(seen: Coverage) -> str:
    lost = int(seen.lost.values.sum())
    away = (
        f"The tokenizer discards {thousands(lost)} characters ({percent(lost / max(seen.characters, 1))}: "
        f"{listed([f'{many} {kind}' for kind, many in _lost(seen)])}), so the text cannot be restored and its "
        "loss per character must not be compared with that of models that predict them. "
        if lost
        else "Nothing is discarded: the text can be restored from its tokens. "
    )
    return (
        "Left: the commonest words and marks of the whole text in order, row by row, capital letters made small "
        "(don't is don, ' and t). A word in a plain frame is one token; one that is cut is shaded, with its pieces "
        "written. "
        + ("Words are looked up with the space before them, as they stand in a text. " if seen.lossless else "")
        + "Right: of the words and marks up to each rank, the share that is one token; rarer words are mostly cut. "
        f"The text begins “{_opening(seen)}”. Its {thousands(seen.characters)} characters, "
        f"{thousands(seen.distinct)} different ones, become {thousands(seen.tokens)} tokens, {seen.per_token:.2f} "
        f"characters each ({listed([f'{many} for {part}' for part, many in _parts(seen)])}); {thousands(seen.used)} of "
        f"{thousands(seen.entries)} entries occur. {away}Counted exactly."
    )


def _parts(seen: Coverage) -> list[tuple[str, str]]:
    """Part and tokens, in words."""
    each = zip(seen.parts.axes["part"].labels, seen.parts.values, strict=True)
    return [("training" if part == "train" else part, thousands(int(many))) for part, many in each]


def _lost(seen: Coverage) -> list[tuple[str, str]]:
    """Kind and count of the characters that no token holds, in words."""
    each = zip(seen.lost.axes["kind"].labels, seen.lost.values, strict=True)
    return [(kind, thousands(int(many))) for kind, many in each]


def _opening(seen: Coverage) -> str:
    """The first characters of the text, on one line."""
    return " ⏎ ".join(filter(None, seen.beginning.splitlines()))


def _words(ax: Axes, seen: Coverage, sheet: _draw.Sheet) -> int:
    """Words flow from left to right, line by line; as many as there is room for, and how many they are."""
    width, height = _table.page(ax, sheet.em)
    t, x, row, ends = sheet.theme, 0.0, 0, []
    texts = ["·".join(map(shown, pieces)) if len(pieces) > 1 else shown(word)
             for word, pieces in zip(seen.pieces.axes["word"].labels, seen.cut, strict=True)]  # fmt: skip
    for text in texts:
        wide = _draw.text_width(text, 72) + 0.9
        x, row = (0.0, row + 1) if x + wide > width else (x, row)
        ends.append((row, x, wide))
        x += wide + 0.35
    line = min(3.4, max(2.0, (height - 5) / (row + 1)))  # where there is room, rows stand apart
    for k, (text, pieces, (row, x, wide)) in enumerate(zip(texts, seen.cut, ends, strict=True)):
        y = row * line
        if y + line > height:
            return k
        split = len(pieces) > 1
        box = Rectangle((x, y + line / 2 - 0.85), wide, 1.7, facecolor=t.unconstrained if split else t.paper,
                        edgecolor=t.ink if split else t.faint,
                        linewidth=sheet.size.line * (0.8 if split else 0.5))  # fmt: skip
        ax.add_patch(box)
        ax.text(x + wide / 2, y + line / 2, text, ha="center", va="center", parse_math=False)
    y = row * line
    if y + line + 4 < height:
        begins = _draw.wrap(f"the text begins: {_opening(seen)} …", sheet.size.text, width * sheet.em)
        ax.text(0, y + line + 1.2, "\n".join(begins), va="top", parse_math=False, color=sheet.theme.quiet)
    return len(seen.cut)


def _curve(ax: Axes, seen: Coverage, sheet: _draw.Sheet) -> None:
    ranks, shares = np.array(seen.share.axes["rank"].values), seen.share.values
    ax.plot(ranks, shares, color=sheet.theme.train)
    ax.set(xscale="log", xlim=(1, max(len(ranks), 2)), ylim=(0, 1.05))
    ax.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    ax.xaxis.set_major_formatter(lambda value, _: thousands(round(value)))
    ax.minorticks_off()
    for rank in (100, len(ranks)):
        if rank <= len(ranks):
            share = float(shares[rank - 1])
            ax.plot(
                [rank], [share], marker="o", color=sheet.theme.train, markersize=0.6 * sheet.size.text, clip_on=False
            )
            low = share < 0.12  # below would be among the ticks; else there, where a falling curve is not
            ax.annotate(percent(share), (rank, share), ha="right", va="bottom" if low else "top",
                        textcoords="offset points",
                        xytext=(-0.4 * sheet.size.text, (1.3 if low else -0.4) * sheet.size.text))  # fmt: skip
    ax.set_xlabel("words and marks, by rank")
    _draw.heading(ax, "share that is one token")
