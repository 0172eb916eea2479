"""Who may look at whom: query by key, allowed or masked, each row in words."""

from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses.what.mask import Mask
from glassformer.figures import _draw


def draw(seen: Mask, look: _draw.Look) -> Figure:
    """The mask as a square; beside each row, what it means."""
    shows = f"A square of positions, {'lower triangle allowed' if seen.causal else 'all allowed'}"
    sheet = look.sheet(seen, _caption(seen), shows, height=6.2)
    words = max(_draw.text_width(row, 72) for row in seen.rows) + 3
    names, length = seen.even.axes["key_position"], len(seen.tokens)
    square = sheet.room[1] - 7.5
    left = max(6.0, min((sheet.room[0] - square - words - 10) / 2, 20.0))
    panel = sheet.panels(1, 1, left=left, right=words + 9, bottom=5.5 if seen.causal else 4.5, top=0.8, square=True)[
        0, 0
    ]
    _draw.heat(panel, seen.even.values, kind="share", theme=sheet.theme, masked=seen.allowed.values == 0, rows=names,
               columns=names, row_name="query position", column_name="key position")  # fmt: skip
    every = max(1, -(-length // int(square / 1.25)))
    for k, row in enumerate(seen.rows):
        if k % every == 0 and (seen.causal or k == length // 2):  # else all rows say the same
            panel.text(length - 0.5 + 0.02 * length, k, row, va="center", ha="left", parse_math=False, clip_on=False)
    _draw.bar(sheet, "share", (0, 1), "share if all in view count the same", beside=panel, gap=words)
    if seen.causal:
        sheet.legend(["masked"], x=1, y=0)
    return sheet.done()


def _caption(seen: Mask) -> str:
    hatched = "Cross-hatched cells are masked: their scores are set to minus infinity before the softmax. "
    return (
        f"Rows are the positions that look, columns those looked at, on the input {' '.join(map(shown, seen.tokens))}. "
        f"{hatched if seen.causal else ''}Colour, and the number where there is room for it, are the share that "
        f"{'an allowed' if seen.causal else 'a'} cell would get if all in view counted the same, the baseline for "
        "every picture of attention. There is no padding: all windows have the same length. The mask is fixed, not "
        "learned."
    )
