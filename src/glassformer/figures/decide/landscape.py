"""What would be said at every point: one map of probability for each token that can come next."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._land import CLEARLY
from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, listed
from glassformer.analyses._verdicts import NONE
from glassformer.analyses.decide.landscape import PAIRS, Landscape
from glassformer.figures import _draw, _regions, _style

MOST = {"slide": 8}  # panels on one page; else 24
NAMED = 4  # pairs named in each panel


def draw(seen: Landscape, look: _draw.Look) -> Figure:
    """One panel per token: its probability over the plane of the stream; points are drawn on it.

    By default these are the embedded pairs; after several blocks, where none of them stands, one input's positions.
    """
    size = _style.widened(look.size)
    if seen.plane.width == 1:
        return _curves(seen, look)
    every = seen.telling
    most = MOST.get(size, 24)
    most = -(-len(every) // -(-len(every) // most))  # pages equally full
    picked, pages = _draw.paged(every, most, look.page)
    s, shape = _style.size(size), (seen.frame[1] - seen.frame[0]) / (seen.frame[3] - seen.frame[2])
    columns = _columns(most, shape) if size == "slide" else _across(most)
    rows = -(-most // columns)
    each = (s.width * 72 / s.text - 12 - 0.8 * columns) / columns / shape
    sheet = look.sheet(
        seen, _caption(seen), _shows(seen), height=_style.inches(size, 11.5 + rows * (each + 2.2)), least=0
    )
    panels = sheet.panels(rows, columns, left=5, right=6.5, bottom=5, top=2.2, gap=(0.8, 2.2), square=shape)
    marks = _style.markers(seen.won.axes["group"].labels)
    _draw.remove_spare(panels, len(picked))
    for k, panel in enumerate(panels.flat[: len(picked)]):
        _regions.field(panel, seen.probabilities.values[picked[k]], seen.frame, kind="probability", theme=sheet.theme)
        said = "next is" if seen.goes_on else "answer"
        panel.set_title(f"{said} {shown(seen.words[seen.shown_tokens[picked[k]]])}", parse_math=False)
        _half(panel, seen, picked[k])
        _marks(panel, seen, seen.shown_tokens[picked[k]], sheet.theme, marks)
        _regions.ticks(panel, seen.plane, x=k // columns == (len(picked) - 1) // columns, y=k % columns == 0)
        panel.set_xlabel(seen.plane.labels[0] if k == len(picked) - 1 - (len(picked) - 1) % columns else "")
    _draw.bar(sheet, "probability", (0, 1), "probability", beside=panels[: len(picked) // columns or 1, -1])
    if _marked(seen) in PAIRS:
        sheet.legend([_key(name, marks[name], sheet.theme) for name in marks if name in seen.pair_groups])
    left = len(seen.words) - len(every)
    notes = ["line: one half", *([f"page {look.page + 1} of {pages}"] if pages > 1 else [])]
    if _marked(seen) in PAIRS:
        notes.append("large: says this token")
    notes += [f"{left} tokens that get less have no map"] if left else []
    sheet.note(" · ".join(notes))
    return sheet.done(pages=pages)


def _caption(seen: Landscape) -> str:
    marks = {
        "none": "",
        "embedded": "Points are all pairs of token and position as they are embedded, before anything is added; those "
        "that would say the panel's token as they are have the mark of their group of tokens, the others are dots. "
        f"{_unmoved(seen)}",
        "after": f"Points are {len(seen.says.values)} pairs of token and position after the last attention, each in "
        f"the first window of the {seen.of_part} part that has it; those that say the panel's token have the mark of "
        "their group of tokens, the others are dots. ",
        "value": "Triangles are the values of this input, drawn as pushes from the origin. ",
        "middle": f"Marks are this input's positions{_read(seen)} after the last attention, named where the panel's "
        "token is "
        f"{'right or ' if seen.judged else ''}the likeliest{', with ✓ or ✗ for the answer' if seen.judged else ''}. ",
    }[_marked(seen)]
    left = len(seen.words) - len(seen.telling)
    return (
        f"{_which(seen)}; the colour is its probability at every point, from 0 to 1, the line where it is one half. "
        f"{marks}{_regions.on_slice(seen, seen.at, _through(seen))}"
        f"{f' {left} tokens that get less are left out.' if left else ''} "
        "If the model did not use the plane to choose the next token, the panels would not differ."
    )


def _which(seen: Landscape) -> str:
    """Whose the panels are."""
    if len(seen.telling) == len(seen.words):
        return f"One panel for each {'token that can come next' if seen.goes_on else 'possible answer'}"
    return f"One panel for each of the {len(seen.telling)} tokens whose highest probability anywhere is largest"


def _read(seen: Landscape) -> str:
    """Which of the input's positions are marked, where it is not all of them."""
    return ", those where an answer is read," if seen.judged and NONE in seen.verdicts else ""


def _through(seen: Landscape) -> str:
    return "these pairs" if _marked(seen) in PAIRS else "this input's points"


def _shows(seen: Landscape) -> str:
    return f"{len(seen.telling)} maps of probability over a {seen.flat}"


def _marked(seen: Landscape) -> str:
    """The points that are drawn: where only `final` is known, the input's own."""
    return seen.shown_points if seen.at == "middle" or seen.shown_points == "none" else "middle"


def _unmoved(seen: Landscape) -> str:
    """What would be said if attention added nothing."""
    if not len(seen.says.values) or not np.isfinite(seen.said.values).all():
        return ""
    counts = np.bincount(seen.says.values, minlength=len(seen.words))
    top = [int(k) for k in np.argsort(-counts, kind="stable")[:2] if counts[k]]
    most = [f"{counts[k]} would say {shown(seen.words[k])}" for k in top]
    return f"If attention added nothing, of {len(seen.says.values)} such pairs {listed(most)}. "


def _half(ax: Axes, seen: Landscape, token: int) -> None:
    """A line around where a token has more than half: beyond it, being the likeliest is no decision."""
    values = seen.probabilities.values[token]
    if np.isfinite(values).all() and values.min() < CLEARLY < values.max():
        _, y, x = (axis.values for axis in seen.probabilities.axes.values())
        line = 0.5 * float(matplotlib.rcParams["lines.linewidth"])
        ax.contour(x, y, values, levels=[CLEARLY], colors=[_style.theme("dark").ink], linewidths=line, zorder=1)


def _across(many: int) -> int:
    """Panels side by side where the page may be as high as it needs."""
    return next(
        columns
        for most, columns in ((4, many), (6, 3), (12, min((4, 5), key=lambda n: -many % n)), (10**9, 6))
        if many <= most
    )


def _columns(many: int, shape: float) -> int:
    """How many panels side by side make them largest on a slide, which is 68 ems wide and 38 high."""
    across = range(1, many + 1)
    side = [min((57 - 0.8 * n) / n / shape, (27 - 2.2 * -(-many // n)) / -(-many // n)) for n in across]
    return across[int(np.argmax(np.round(side, 1)))]


def _key(name: str, mark: str, theme: _style.Theme) -> Line2D:
    light, dark = _style.theme("dark").ink, _style.theme("light").ink
    edge = dark if theme.name == "light" else light
    return Line2D([], [], linestyle="", marker=mark, markerfacecolor=light, markeredgecolor=edge, label=name or "other")


def _marks(ax: Axes, seen: Landscape, token: int, theme: _style.Theme, marks: dict[str, str]) -> None:
    """The points asked for, in white with dark edges: readable anywhere on the map."""
    light, dark = _style.theme("dark").ink, _style.theme("light").ink
    kind = _marked(seen)
    if kind in PAIRS:
        xy, groups = seen.points[kind].values, np.array(seen.pair_groups)
        saying = seen.says.values == token
        _draw.dots(ax, xy[~saying], colour=light, scale=0.22, alpha=0.45)
        for name, mark in marks.items():
            mine = saying & (groups == name)
            _draw.dots(ax, xy[mine], colour=light, marker=mark, scale=0.7, edgecolors=dark, linewidths=0.5)
        best = _named(seen, np.flatnonzero(saying))
        names = drawn(seen.points[kind].axes["pair"])
        if best:
            _draw.labels(ax, xy[best], [names[k] for k in best], colours=light, keep_clear=xy[saying], tied=True)
    elif kind == "value" and "value" in seen.points:
        for xy in seen.points["value"].values:
            _draw.dots(ax, xy, colour=light, marker=_style.MARKER["value"], scale=0.9, edgecolors=dark, linewidths=0.7)
        names = drawn(seen.points["value"].axes["key_position"])
        _draw.labels(ax, seen.points["value"].values[0], names, colours=light)
    elif kind == "middle":
        xy, names = seen.points["end"].values, drawn(seen.points["end"].axes["position"])
        read = [
            k for k in _regions.important(seen.verdicts) if seen.verdicts[k] != NONE
        ]  # at the others nothing is read out
        _draw.dots(ax, xy[read], colour=light, scale=0.9, edgecolors=dark, linewidths=0.7)
        mine = [k for k in read if token in seen.right[k] or seen.at_end.values[k].argmax() == token]
        texts = [_regions.signed(names[k], seen.verdicts[k]) for k in mine]
        if mine:
            _draw.labels(ax, xy[mine], texts, colours=light)
    _regions.halo(ax.texts, theme, dark)


def _named(seen: Landscape, saying: Array) -> list[int]:
    """Of the pairs that would say a token, one for each token they are made of, the farthest to the right first."""
    at = seen.points[_marked(seen)]
    pairs, xy = at.axes["pair"].values, at.values
    found: dict[str, int] = {}
    for k in sorted(saying.tolist(), key=lambda k: -xy[k, 0]):
        found.setdefault(pairs[k][0], k)
    return list(found.values())[:NAMED]


def _curves(seen: Landscape, look: _draw.Look) -> Figure:
    """One feature: probability of each token along the line."""
    sheet = look.sheet(seen, _caption(seen), _shows(seen), height=5, least=0)
    panel = sheet.panels(1, 1, right=6)[0, 0]
    x = seen.probabilities.axes["horizontal"].values
    for k, values in enumerate(seen.probabilities.values[:, 0]):
        panel.plot(x, values, color=sheet.theme.ink, linewidth=0.7 * sheet.size.line)
        if np.isfinite(values).all() and values.max() > 0.15:
            best = int(values.argmax())
            panel.annotate(shown(seen.words[seen.shown_tokens[k]]), (x[best], values[best]), xytext=(0, 3),
                           textcoords="offset points", ha="center", va="bottom")  # fmt: skip
    panel.set(ylim=(0, 1.08), xlabel=seen.plane.labels[0], ylabel="probability of the next token")
    return sheet.done()
