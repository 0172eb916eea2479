"""How the heads share the work: the columns of the matrices that belong to each head."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses.what.head_split import HeadSplit
from glassformer.figures import _draw, _table


def draw(seen: HeadSplit, look: _draw.Look) -> Figure:
    """The matrices of one block, parted by head, and the way from the stream to the heads and back."""
    inner = seen.heads * seen.head_width
    matrices = {
        name: each.values.reshape((inner, seen.width) if name == "output" else (seen.width, inner))
        for name, each in seen.matrices.items()
    }
    sizes = ", ".join(f"{name} {' × '.join(map(str, each.shape))}" for name, each in matrices.items())
    sheet = look.sheet(seen, _caption(seen), f"Heat maps of the matrices {sizes}, parted by head", height=6.4)
    low = min(0.45, 11 / sheet.room[1])
    names = list(matrices)
    limit = _draw.limits("signed", *matrices.values())
    panels = sheet.panels(1, len(names), left=5, right=9.5, bottom=4, top=4.0, gap=4, within=(0, low, 1, 1))[0]
    for k, (name, panel) in enumerate(zip(names, panels, strict=True)):
        values, turned = matrices[name], name == "output"
        axes = seen.matrices[name].axes
        own = axes["other_feature"].labels * seen.heads
        few = inner <= 24
        meaning = name if name != "output" else "value"
        _draw.heat(panel, values, kind="signed", limit=limit, theme=sheet.theme,
                   rows=(own if few else ()) if turned else axes["feature"] if k == 0 and few else (),
                   columns=own if few and not turned else (),
                   row_name="feature of the stream" if k == 0 else "",
                   column_name="feature of the head" if not turned else "feature of the stream")  # fmt: skip
        if turned and not few:
            panel.set_ylabel("feature of the heads")
        long = _draw.text_width(f"head {seen.heads - 1}  ", sheet.size.text) * seen.heads
        fits = long < sheet.rects[panel][3 if turned else 2] * sheet.inches[1 if turned else 0]
        if not few:
            panel.set_xlabel("feature of the stream" if turned else "feature of the head")
        panel.set_title(
            f"{name} matrix" if fits else f"{name}, by head", pad=sheet.size.text * 2.1, color=sheet.theme[meaning]
        )
        for head in range(seen.heads):
            at = (head + 0.5) * seen.head_width - 0.5
            label = f"head {head}" if fits else str(head)
            if turned:
                panel.text(
                    seen.width - 0.5, at, f" {label}", rotation=270, ha="left", va="center", color=sheet.theme[meaning]
                )
            else:
                panel.text(at, -0.5 - 0.02 * seen.width, label, ha="center", va="bottom", color=sheet.theme[meaning])
            begin = head * seen.head_width - 0.5
            corner, wide, high = (
                ((-0.5, begin), seen.width, seen.head_width) if turned else ((begin, -0.5), seen.head_width, seen.width)
            )
            panel.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=sheet.theme[meaning], clip_on=False,
                                      linewidth=1.5 * sheet.size.line, zorder=4))  # fmt: skip
    _draw.bar(sheet, "signed", limit, "weight", beside=list(panels), gap=3 if seen.projection else 1)
    _way(sheet, seen, low)
    return sheet.done()


def _caption(seen: HeadSplit) -> str:
    end = (
        "Their results, side by side, go through the output matrix, whose rows belong to the heads, and are "
        "added to the stream."
        if seen.projection
        else "Their results, side by side, are added to the stream as they are: this model has no output matrix."
    )
    return (
        f"Weights of block {seen.block}: rows are features of the stream, columns what the heads make of them. Thick "
        f"lines part the columns (for the output matrix, the rows) of one head from the next. {end} Red is positive, "
        "blue negative (on a dark page as the bar says), on one scale for all. If heads cut the stream, each block of "
        "columns would have non-zero rows for its own features only. Exact values of the step."
    )


def _way(sheet: _draw.Sheet, seen: HeadSplit, low: float) -> None:
    """From the stream through the heads and back, as boxes."""
    ax = sheet.panels(1, 1, left=1, right=1, bottom=0.4, top=0.4, within=(0, 0, 1, low))[0, 0]
    width, height = _table.page(ax, sheet.em)
    t, middle = sheet.theme, height / 2
    shown = min(seen.heads, 4)
    x = [width * share for share in (0.09, 0.36, 0.66, 0.9)]
    _box(ax, x[0], middle, f"stream: {seen.width}", t.ink, sheet.size.line)
    last = "output matrix, added to the stream" if seen.projection else "added to the stream"
    _box(ax, x[2], middle, f"side by side: {seen.heads * seen.head_width}", t.value, sheet.size.line)
    _lines(ax, x[3], middle, last, t.ink)
    for k in range(shown):
        y = middle + (k - (shown - 1) / 2) * min(2.5, (height - 0.6) / max(shown, 1))
        words = (
            f"head {k}: {seen.width} → {seen.head_width}" if k < 3 or seen.heads <= 4 else f"… {seen.heads - 3} more"
        )
        wide = _box(ax, x[1], y, words, t.ink, sheet.size.line)
        left, right = (
            x[0] + _wide(f"stream: {seen.width}") / 2,
            x[2] - _wide(f"side by side: {seen.heads * seen.head_width}") / 2,
        )
        _draw.arrows(ax, [(left, middle)], [(x[1] - wide / 2, y)], colours=t.ink, width=0.8)  # type: ignore[arg-type]
        _draw.arrows(ax, [(x[1] + wide / 2, y)], [(right, middle)], colours=t.value, width=0.8)  # type: ignore[arg-type]
    right = x[2] + _wide(f"side by side: {seen.heads * seen.head_width}") / 2
    _draw.arrows(ax, [(right, middle)], [(x[3] - 6, middle)], colours=t.ink, width=0.8)  # type: ignore[arg-type]
    ax.text(x[0], middle + 1.9, "read whole", ha="center", va="center", color=t.quiet)


def _wide(words: str) -> float:
    return _draw.text_width(words, 72) + 1.2


def _lines(ax: Axes, x: float, y: float, words: str, colour: str) -> None:
    lines = _draw.wrap(words, 72, 11)
    ax.text(x, y, "\n".join(lines), ha="center", va="center", color=colour)


def _box(ax: Axes, x: float, y: float, words: str, colour: str, line: float) -> float:
    wide = _wide(words)
    ax.add_patch(Rectangle((x - wide / 2, y - 0.95), wide, 1.9, fill=False, edgecolor=colour, linewidth=line))
    ax.text(x, y, words, ha="center", va="center")
    return wide
