"""Which tokens there are, and how a text becomes numbers and comes back."""

from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.vocabulary import order, say, vocabulary
from glassformer.figures import _draw, _style, _table
from glassformer.run import Run

SECTION = "what"
ORDER = 30
ANSWERS = ("3.§2.2",)
COST = "a"
LINE = 2.3  # ems from row to row


@_draw.drawing
def plot_vocabulary(
    run: Run, *, sequence: str | None = None, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Id, token, group and count of every token; below, one text as tokens, as ids, and back."""
    seen = vocabulary(run, sequence=sequence)
    sheet = _draw.Sheet(ax, theme, size, say(seen), height=5.6)
    chosen = order(seen)
    columns = 2 if len(chosen) <= 12 else 3 if len(chosen) <= 24 else 4
    per = -(-len(chosen) // columns)
    low = min(0.42, 10.5 / sheet.room[1])
    panels = sheet.panels(1, columns, left=2, right=2, bottom=0.5, top=1, gap=3, within=(0, low, 1, 1))
    marks = _style.markers(dict.fromkeys(seen.groups))
    words = [
        (str(k), shown(seen.counts.axes["token"][k]), seen.groups[k], thousands(int(seen.counts.values[k])))
        for k in chosen
    ]
    wide = [max(_draw.text_width(row[c], 72) for row in [("id", "token", "", "count"), *words]) for c in range(4)]
    wide[2] = max(_draw.text_width(group, 72) for group in seen.groups) + 1.4
    for panel, begin in zip(panels[0], range(0, len(chosen), per), strict=False):
        rows = words[begin : begin + per]
        cells = [(a, b, "", d) for a, b, _, d in rows]
        _table.table(
            panel,
            sheet.em,
            ("id", "token", "", "count"),
            cells,
            theme=sheet.theme,
            align="rllr",
            widths=wide,
            line=LINE,
        )
        width, height = _table.ems(panel, sheet.em)
        line = min(LINE, (height - 0.4) / (len(rows) + 1))
        gap = min(2.0, max(0.6, (width - sum(wide)) / 3))
        x = wide[0] + wide[1] + 2 * gap
        panel.text(x, 0.5 * line, "group", va="center", color=sheet.theme.quiet)
        for k, (_, _, group, _) in enumerate(rows):
            y = (k + 1.6) * line
            panel.plot([x + 0.4], [y], marker=marks[group], color=sheet.theme.ink, linestyle="")
            panel.text(x + 1.4, y, group, va="center")
    text = sheet.panels(1, 1, left=7, right=2, bottom=0.8, top=2.2, within=(0, 0, 1, low))[0, 0]
    text.set_title(f"“{seen.text}” as the model gets it")
    ids = [str(int(each)) for each in seen.ids.values]
    plain: list[str | None] = [None] * len(ids)
    _draw.cells(text, [seen.tokens, ids, seen.tokens], [plain, plain, plain], theme=sheet.theme,
                row_names=("tokens", "ids", "tokens again" if sheet.room[0] > 80 else "tokens"))  # fmt: skip
    text.set_xlim(-0.5, max(len(ids), 16) - 0.5)
    return sheet.done(seen, sequence=seen.text)
