"""The words nearest to a word, as a table."""

from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses.know.neighbours import Neighbours, number
from glassformer.figures import _draw, _style, _table

ON_A_SLIDE = 5  # neighbours of each token


def draw(seen: Neighbours, look: _draw.Look) -> Figure:
    """One row per word: its nearest tokens with their cosines; of a single word one row per neighbour, with a bar."""
    alone = len(seen.words) == 1
    rows = len(seen.nearest[0]) if alone else len(seen.words)
    shows = "A table of the nearest tokens"
    sheet = look.sheet(seen, _caption(seen), shows, height=_style.inches(look.size, 9 + 1.7 * (rows + 1)), least=50)
    if alone:
        _bars(sheet, seen)
    else:
        panel = sheet.panels(1, 1, left=1, right=1, bottom=1, top=1)[0, 0]
        most = min(seen.cosine.values.shape[1], ON_A_SLIDE if look.size == "slide" else 99)
        found = [
            (word, *(f"{shown(near)} · {number(float(c))}" for near, c in zip(nearest, cosines[:most], strict=False)))
            for word, nearest, cosines in zip(seen.words, seen.nearest, seen.cosine.values, strict=True)
        ]
        header = ("token", "nearest token", *(f"{k}" for k in range(2, most + 1)))
        wide = _table.ems(panel, sheet.em)[0] / len(header) - 2
        _table.table(panel, sheet.em, header, found, theme=sheet.theme, align="l" * len(header), line=1.7,
                     widths=[wide] * len(header))  # fmt: skip
    return sheet.done()


def _bars(sheet: _draw.Sheet, seen: Neighbours) -> None:
    """The neighbours of one word, and what chance gives."""
    t, values = sheet.theme, seen.cosine.values[0]
    names = [shown(word) for word in seen.nearest[0]]
    panel = sheet.panels(1, 1, left=max(5.0, 1.5 + _draw.widest(names)), right=4, bottom=4, top=2.2)[0, 0]
    low, high = seen.mean - seen.spread, seen.mean + seen.spread
    panel.axvspan(low, high, color=t.unconstrained, linewidth=0, zorder=0)
    panel.barh(range(len(names)), values, color=t.quiet, height=0.7)
    for k, value in enumerate(values):
        side = 0.01 if value >= 0 else -0.01
        panel.text(value + side, k, number(float(value)), va="center", ha="left" if value >= 0 else "right")
    panel.axvline(0, color=t.ink, linewidth=0.5 * sheet.size.line)
    panel.set_yticks(range(len(names)), names)
    for text in panel.get_yticklabels():
        text.set_parse_math(False)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.set(xlim=(min(0.0, float(values.min()), low) - 0.1, max(float(values.max()), high) + 0.12), xlabel="cosine")
    panel.set_title(f"nearest to {seen.words[0]}", parse_math=False)
    sheet.legend([("two tokens by chance", "s", t.unconstrained)])


def _caption(seen: Neighbours) -> str:
    whose = "asked for" if len(seen.words) == 1 else "at the left"
    said = (
        f"The tokens, of {seen.others}, whose embeddings have the largest cosine with that of the one {whose}: 1 is "
        "the same direction, 0 a right angle. "
    )
    if seen.analogy:
        said += "The three vectors are brought to length 1 before they are added, and their own tokens are left out. "
    where = "The band" if len(seen.words) == 1 else "The end of the title"
    return (
        f"{said}{where} is the mean cosine of two tokens drawn by chance, plus and minus one standard deviation. "
        "Exact. If the training had given the tokens no meaning, neighbours would be no nearer than the nearest of so "
        "many by chance."
    )
