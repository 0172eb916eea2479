"""What would be said at every point: one map of probability for each token that can come next."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses.landscape import Landscape, landscape, say
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 30
ANSWERS = ("4.07", "4.11", "4.r06", "4.r12")
COST = "c"
MOST = {"slide": 6}  # panels on one page; else 24
NAMED = 3  # pairs named in each panel
WIDE = {"slide": 1.47}  # width of a panel over its height
SURE = 0.25  # if they give its token at least this probability


@_draw.drawing
def plot_landscape(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    points: str = "embedded",
    at: str = "middle",
    plane: tuple[int, int] | None = None,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """One panel per token: its probability over the plane of the stream; `points` are drawn on it."""
    size = _style.widened(size)
    shape = WIDE.get(size, 1.0)
    seen = landscape(run, sequence=sequence, points=points, at=at, step=step, member=member, plane=plane, shape=shape)  # type: ignore[arg-type]
    many = len(seen.shown_tokens)
    most = MOST.get(size, 24)
    order = list(range(many))
    if many > most:  # the most visible first
        order = np.argsort(-seen.probabilities.values.reshape(many, -1).mean(1), kind="stable").tolist()
    if seen.plane.width == 1:
        return _curves(seen, ax, theme, size)
    some, pages = _draw.paged(order, most, page)
    picked = sorted(some)
    columns = min(len(picked), 3 if size == "slide" else 6 if len(picked) != 8 else 4)
    rows = -(-len(picked) // columns)
    s = _style.size(size)
    each = (s.width * 72 / s.text - 12 - 0.8 * columns) / columns / shape
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=_style.inches(size, 11.5 + rows * (each + 2.2)))
    panels = sheet.panels(rows, columns, left=5, right=6.5, bottom=5, top=2.2, gap=(0.8, 2.2), square=shape)
    for k, panel in enumerate(panels.flat):
        if k >= len(picked):
            panel.remove()
            continue
        _regions.field(panel, seen.probabilities.values[picked[k]], seen.frame, kind="probability", theme=sheet.theme)
        panel.set_title(f"next is {shown(seen.words[seen.shown_tokens[picked[k]]])}", parse_math=False)
        _marks(panel, seen, seen.shown_tokens[picked[k]], sheet.theme)
        _regions.ticks(panel, seen.plane, x=k + columns >= len(picked), y=k % columns == 0)
    last = panels[0, min(columns, len(picked)) - 1]
    _draw.bar(sheet, "probability", (0, 1), "probability", beside=last)
    notes = []
    if many > most:
        notes.append(f"page {page + 1} of {pages}: the tokens with most of the plane first")
    if seen.shown_points == "embedded" and seen.at == "middle":
        marks = _style.markers(dict.fromkeys(seen.pair_groups))
        sheet.legend([(name, mark, sheet.theme.ink) for name, mark in marks.items()])
    if notes:
        sheet.note(" · ".join(notes))
    return sheet.done(seen, sequence=" ".join(seen.tokens), points=points, at=at, page=page, pages=pages)


def _marks(ax: Axes, seen: Landscape, token: int, theme: _style.Theme) -> None:
    """The points asked for, in white with dark edges: readable anywhere on the map."""
    light, dark = _style.theme("dark").ink, _style.theme("light").ink
    kind = seen.shown_points if seen.at == "middle" or seen.shown_points == "none" else "middle"
    if kind == "embedded":
        xy, fade = seen.points["embedded"].values, seen.near["embedded"].values
        marks = _style.markers(dict.fromkeys(seen.pair_groups))
        groups = np.array(seen.pair_groups)
        for name, mark in marks.items():
            mine = groups == name
            _draw.dots(
                ax, xy[mine], colour=light, marker=mark, scale=0.55, alpha=np.maximum(0.15, fade[mine]), edgecolors=dark
            )
        best = _named(seen, token)
        names = drawn(seen.points["embedded"].axes["pair"])
        if best:
            _draw.labels(ax, xy[best], [names[k] for k in best], colours=light)
    elif kind == "value" and "value" in seen.points:
        for xy in seen.points["value"].values:
            _draw.dots(ax, xy, colour=light, marker=_style.MARKER["value"], scale=0.9, edgecolors=dark)
        names = drawn(seen.points["value"].axes["key_position"])
        _draw.labels(ax, seen.points["value"].values[0], names, colours=light)
    elif kind == "middle":
        xy, names = seen.points["end"].values, drawn(seen.points["end"].axes["position"])
        _draw.dots(ax, xy, colour=light, scale=0.7, edgecolors=dark, alpha=np.maximum(0.3, seen.near["end"].values))
        mine = [
            k
            for k in _regions.important(seen.verdicts)
            if token in seen.right[k] or seen.at_end.values[k].argmax() == token
        ]
        texts = [_regions.signed(names[k], seen.verdicts[k]) for k in mine]
        if mine:
            _draw.labels(ax, xy[mine], texts, colours=light)
    _regions.halo(ax, theme, dark)


def _named(seen: Landscape, token: int) -> list[int]:
    """The pairs that would say a token most surely, one for each token they are made of."""
    chances, words = (
        seen.said.values[:, token],
        [pair.rpartition("@")[0] for pair in seen.points["embedded"].axes["pair"]],
    )
    found: dict[str, int] = {}
    for k in np.argsort(-chances, kind="stable").tolist():
        if chances[k] >= SURE and len(found) < NAMED:
            found.setdefault(words[k], k)
    return list(found.values())


def _curves(seen: Landscape, ax: _draw.Host, theme: str, size: str) -> Figure:
    """One feature: probability of each token along the line."""
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=5)
    panel = sheet.panels(1, 1, right=6)[0, 0]
    x = np.linspace(seen.frame[0], seen.frame[1], seen.probabilities.values.shape[-1])
    for k, values in enumerate(seen.probabilities.values[:, 0]):
        panel.plot(x, values, color=sheet.theme.ink, linewidth=0.7 * sheet.size.line)
        if np.isfinite(values).all() and values.max() > 0.15:
            best = int(values.argmax())
            panel.annotate(shown(seen.words[seen.shown_tokens[k]]), (x[best], values[best]), xytext=(0, 3),
                           textcoords="offset points", ha="center", va="bottom")  # fmt: skip
    panel.set_ylim(0, 1.08)
    panel.set_xlabel(seen.plane.labels[0])
    panel.set_ylabel("probability of the next token")
    return sheet.done(seen, sequence=" ".join(seen.tokens))
