"""Where one input begins: its tokens and positions among all that there could be."""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses.know.sequence_embeddings import SequenceEmbeddings
from glassformer.figures import _draw, _regions, _style
from glassformer.figures.know.embeddings import (
    MAPS,
    NAMES,
    PLANES,
    TIED,
    height,
    keys,
    maps,
    named,
    of_tokens,
    roomy,
    rows_of,
)


def draw(seen: SequenceEmbeddings, look: _draw.Look) -> Figure:
    """The input's rows framed in the embedding tables, and its points in front of all others in the planes.

    On slides the tables and the planes are a page each.
    """
    pages = 2 if look.size == "slide" else 1
    _draw.paged(range(pages), 1, look.page)
    text = " ".join(map(shown, seen.tokens))
    shows = f"Heat maps and planes with the points of {text} in front of all others in grey"
    many = len(seen.tables["token"].axes["token"])
    sheet = look.sheet(seen, _caption(seen, text), shows, height=height(look, many))
    split = PLANES / (PLANES + (rows_of(many) if look.size == "screen" else MAPS)) if pages == 1 else 0.0
    if look.page == 0:
        _maps(sheet, seen, (0, split, 1, 1))
    if pages == 1 or look.page:
        _planes(sheet, seen, _style.markers(seen.task_groups), (0, 0, 1, split or 1))
    sheet.note_page(pages)
    return sheet.done(pages=pages)


def _caption(seen: SequenceEmbeddings, text: str) -> str:
    rare = f" {seen.left_out} rarer tokens are left out." if seen.left_out else ""
    if "position" not in seen.tables:
        return (
            f"The input {text} at the entrance of the model. Heat maps: the token vectors, red above zero and blue "
            "below; the frames mark what this input uses. Plane: grey, all tokens; in ink, those of this input (8₇ is "
            "8 at position 7), thin arrows lead along them in the order of reading. Distances are exact and counted in "
            f"all features; no position is added, so that a token has the same point wherever it stands.{rare}"
        )
    return (
        f"The input {text} at the entrance of the model. Heat maps: all token and position vectors, and their sums for "
        "one feature, red above zero and blue below; the frames mark what this input uses. Planes: grey, everything "
        "there could be; in ink, this input's tokens, positions and sums (8₇ is 8 at position 7), thin arrows lead "
        "along them in the order of reading. Distances are exact and counted in all features; the same token "
        f"at two places differs by the positions alone.{rare}"
    )


def _planes(
    sheet: _draw.Sheet, seen: SequenceEmbeddings, shapes: dict[str, str], part: tuple[float, float, float, float]
) -> None:
    kinds = list(NAMES) if "position" in seen.tables else ["sum"]  # which then is the token itself
    widths = [1.0] * (len(kinds) - 1) + [1.5]
    panels = sheet.panels(
        1, len(kinds), widths=widths, left=6, right=1.2, bottom=5.6, top=2.2, gap=(6.4, 0), within=part
    )[0]
    marks = of_tokens(seen.groups, shapes)
    words, t = seen.drawn["token"].axes["token"].labels, sheet.theme
    used = sorted(set(seen.rows))
    for panel, kind in zip(panels, kinds, strict=True):
        panel.set_title(NAMES[kind] if len(kinds) > 1 else "token (no position is added)")
        at = seen.drawn[kind].values
        _draw.plane_axes(panel, seen.planes[kind], at, theme=t)
        if kind == "sum":
            for word, way in zip(words, at, strict=True):
                _draw.dots(panel, way, colour=t.faint, marker=marks[word], scale=0.6)
            own = seen.drawn["input"].values
            _way(panel, own, drawn(seen.drawn["input"].axes["position"]), sheet)
            for word, place in zip(seen.tokens, own, strict=True):
                _draw.dots(panel, place, colour=t.ink, marker=marks.get(word, "o"), zorder=3)
        elif kind == "position":
            many = len(seen.tokens)
            _way(panel, at[:many], list(seen.drawn[kind].axes["position"].labels[:many]), sheet)
            _draw.squares(panel, at, theme=t, zorder=3)
        else:
            for k, (word, place) in enumerate(zip(words, at, strict=True)):
                _draw.dots(panel, place, colour=t.ink if k in used else t.masked, marker=marks[word])
            named(panel, at[used], [shown(words[k]) for k in used], t.ink)
    if len(seen.groups) > 1:
        sheet.legend(keys(seen.groups, shapes, t))


def _way(ax: Axes, points: np.ndarray, names: list[str], sheet: _draw.Sheet) -> None:
    """The order of reading, as thin arrows from each point to the next."""
    for begin, end in pairwise(points):
        ax.annotate("", xy=end, xytext=begin, zorder=2, arrowprops={
            "arrowstyle": "->", "color": sheet.theme.quiet, "linewidth": 0.4 * sheet.size.line,
            "shrinkA": 0.3 * sheet.size.text, "shrinkB": 0.3 * sheet.size.text})  # fmt: skip
    way = np.concatenate([np.linspace(a, b, 24) for a, b in pairwise(points)]) if len(points) > 1 else points
    since = len(ax.texts)
    _draw.labels(ax, points, names, colours=sheet.theme.ink, first=[0, len(names) - 1], keep_clear=way, tied=True,
                 most=TIED)  # fmt: skip
    _regions.halo(ax.texts[since:], sheet.theme)


def _maps(sheet: _draw.Sheet, seen: SequenceEmbeddings, part: tuple[float, float, float, float]) -> None:
    summed = "position" in seen.tables
    panels, limit = maps(sheet, seen, part, seen.features[:1] if summed else (), own=True)
    ink = sheet.theme.ink
    for panel, (kind, table) in zip(panels, seen.tables.items(), strict=False):
        used = set(seen.rows) if kind == "token" else set(range(len(seen.tokens)))
        if len(used) < len(table.values):  # a frame around everything says nothing
            _frames(panel, used, table.values.shape[1], ink)
    if summed:
        pair = panels[-2]
        _draw.outline(pair, ((row, place) for place, row in enumerate(seen.rows)), ink)
        for frame in pair.patches:
            frame.set_clip_on(False)  # else the outermost lose half of their line
    own = seen.embedded
    _draw.heat(
        panels[-1], own.values, kind="signed", theme=sheet.theme, limit=limit, rows=own.axes["position"],
        columns=own.axes["feature"], column_name="feature",
    )  # fmt: skip
    roomy(panels[-1], own.axes["feature"], own.axes["position"])
    panels[-1].set_title("this input")


def _frames(ax: Axes, rows: set[int], columns: int, colour: str) -> None:
    """Frame whole rows of a heat map; neighbours share one frame."""
    for row in sorted(rows):
        ax.plot([-0.5, -0.5], [row - 0.5, row + 0.5], color=colour, clip_on=False, zorder=4)
        ax.plot([columns - 0.5] * 2, [row - 0.5, row + 0.5], color=colour, clip_on=False, zorder=4)
        for edge, other in ((row - 0.5, row - 1), (row + 0.5, row + 1)):
            if other not in rows:
                ax.plot([-0.5, columns - 0.5], [edge, edge], color=colour, clip_on=False, zorder=4)
