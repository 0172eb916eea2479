"""Who may look at whom: query by key, allowed or masked, each row in words."""

from matplotlib.figure import Figure

from glassformer.analyses.what.mask import mask, say
from glassformer.figures import _draw
from glassformer.run import Run


@_draw.drawing
def plot_mask(
    run: Run, *, sequence: str | None = None, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """The mask as a square; beside each row, what it means."""
    seen = mask(run, sequence=sequence)
    sheet = _draw.Sheet(ax, theme, size, say(seen), height=6.2, least=60)
    words = max(_draw.text_width(row, 72) for row in seen.rows) + 3
    names, length = seen.even.axes["key_position"].labels, len(seen.tokens)
    square = sheet.room[1] - 7.5
    left = max(6.0, min((sheet.room[0] - square - words - 10) / 2, 20.0))
    panel = sheet.panels(1, 1, left=left, right=words + 9, bottom=5.5 if seen.causal else 4.5, top=0.8, square=True)[
        0, 0
    ]
    _draw.heat(panel, seen.even.values, kind="share", theme=sheet.theme, masked=seen.allowed.values == 0, rows=names,
               columns=names, row_name="query position", column_name="key position",
               numbers=None if seen.causal else False)  # fmt: skip
    every = max(1, -(-length // int(square / 1.25)))
    for k, row in enumerate(seen.rows):
        if k % every == 0 and (seen.causal or k == length // 2):  # else all rows say the same
            panel.text(length - 0.5 + 0.02 * length, k, row, va="center", ha="left", parse_math=False, clip_on=False)
    _draw.bar(sheet, "share", (0, 1), "share if all in view count the same", beside=panel, gap=words)
    if seen.causal:
        sheet.legend(["masked"], x=1, y=0)
    return sheet.done(seen, sequence=" ".join(seen.tokens))
