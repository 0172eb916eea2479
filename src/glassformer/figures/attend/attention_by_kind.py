"""Where heads look when they are asked for this or for that."""

from matplotlib.figure import Figure

from glassformer.analyses.attend.attention import named
from glassformer.analyses.attend.attention_by_kind import attention_by_kind, not_asking, say
from glassformer.figures import _attend, _draw
from glassformer.run import Run

ACROSS = 2  # panels side by side, so that the numbers can be read
MOST_PANELS = {"slide": 4, "screen": 8}  # else 6


@_draw.drawing
def plot_attention_by_kind(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """One panel per head: rows are kinds of question, columns the positions looked at, the last one the answer."""
    seen = attention_by_kind(run, step=step, member=member)
    blocks, heads, kinds, columns = seen.share.values.shape
    every = [(b, h) for b in range(blocks) for h in range(heads)]
    places, pages = _draw.paged(every, MOST_PANELS.get(size, 6), page)
    across = min(ACROSS, len(places))
    rows = -(-len(places) // across)
    sheet = _draw.Sheet(
        ax, theme, size, say(seen, places), seen.clock, height=1.9 + (0.5 + 0.26 * kinds) * rows, least=60
    )
    names = seen.share.axes["kind"].labels, seen.share.axes["key_position"].labels
    panels = sheet.panels(
        rows, across, left=1.5 + _attend.longest(names[0]), right=7.5,
        bottom=(1.5 if pages == 1 else 3.5) + _attend.longest(names[1]), top=2.4, gap=(2, 2.4),
    )  # fmt: skip
    for k, (block, head) in enumerate(places):
        panel = panels.flat[k]
        bottom = k + across >= len(places)
        _draw.heat(
            panel, seen.share.values[block, head], kind="share", theme=sheet.theme,
            rows=names[0] if k % across == 0 else (), columns=names[1] if bottom else (), numbers=True,
        )  # fmt: skip
        if seen.places < columns:
            panel.axvline(seen.places - 0.5, color=sheet.theme.ink, linewidth=sheet.size.line)
        _draw.heading(panel, named(block, head, blocks))
    for panel in panels.flat[len(places) :]:
        panel.remove()
    _draw.bar(sheet, "share", (0, 1), "share of attention", beside=panels[0, across - 1])
    if pages > 1:
        sheet.note(f"page {page + 1} of {pages}: {len(places)} of {blocks * heads} heads")
    return sheet.done(seen, page=page, pages=pages)
