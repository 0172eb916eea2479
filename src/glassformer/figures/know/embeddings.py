"""What the model starts from: tokens, positions and their sums, as numbers and in the plane."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from glassformer.analyses._pairs import at_position, drawn
from glassformer.analyses._plane import Plane
from glassformer.analyses._result import Axis, Labelled, percent
from glassformer.analyses.know.embeddings import Embeddings, features_that_tell
from glassformer.analyses.know.sequence_embeddings import SequenceEmbeddings
from glassformer.figures import _draw, _style

TANGLE = 120  # more points than this, and the lines that join them are a tangle
CLUSTERS = 0.6  # of the variance in the plane, from which the points are named by position
TIED = 40  # labels of a plane, at most
MAPS, PLANES = 34, 37  # ems that tables and planes are high
MOST_ENDS = 10  # pairs named in the plane of the sums
NAMES = {"token": "token", "position": "position", "sum": "token + position"}


def draw(seen: Embeddings, look: _draw.Look) -> Figure:
    """Heat maps above their planes (on slides, one page each); layout="scatter" draws the planes alone, larger."""
    large = seen.layout == "scatter"
    pages = 2 if look.size == "slide" and not large else 1
    _draw.paged(range(pages), 1, look.page)
    shows = "Heat maps and planes of token, position and summed embeddings"
    tables = rows_of(len(seen.tables["token"].axes["token"]))
    tall = height(look, len(seen.tables["token"].axes["token"]))
    sheet = look.sheet(seen, _caption(seen), shows, height=5.6 if large else tall)
    split = PLANES / (PLANES + (tables if look.size == "screen" else MAPS)) if pages == 1 else 0.0
    if not large and look.page == 0:
        maps(sheet, seen, (0, split, 1, 1), seen.features[:2] if "sum" in seen.kinds else ())
    if pages == 1 or look.page:
        marks = _style.markers(seen.task_groups)
        _planes(sheet, seen, marks, (0, 0, 1, split if pages == 1 and not large else 1))
        if len(seen.groups) > 1:
            sheet.legend(keys(seen.groups, marks, sheet.theme))
    sheet.note_page(pages)
    return sheet.done(pages=pages)


def rows_of(tokens: int) -> float:
    """Ems that tables of so many tokens are high: a line for the name of each."""
    return max(MAPS, 6.2 + 1.15 * tokens)


def height(look: _draw.Look, tokens: int) -> float:
    """Inches of a sheet with tables of so many tokens above their planes."""
    return _style.inches(look.size, PLANES + rows_of(tokens) + 4.6) if look.size == "screen" else 9.4


def _caption(seen: Embeddings) -> str:
    summed = "sum" in seen.kinds
    s = "s" if summed else ""
    added = (
        "; the sum adds the vector of the position to that of the token, so its maps hold every token at every position"
    )
    flat = "the two features themselves" if seen.width == 2 else "the one feature, fanned out" if seen.width == 1 else (
        "the two largest principal components of the points drawn, with their shares of the variance on the axes"
    )  # fmt: skip
    said = (
        f"Heat map{s}: one row per token{' or position' if summed else ''}, one column per feature, "
        f"red above zero and blue below{' (one scale for all)' if summed else ''}{added if summed else ''}. "
        f"Plane{s}: {flat}; the cross is the point with all features 0. Marker shapes are the token "
        f"groups ({', '.join(f'{name}: {_some(words)}' for name, words in seen.groups.items())}). "
        f"{_joined(seen) if summed else ''}Distances are exact and counted in all features. If "
        "groups meant nothing to the model, tokens of one group would lie as far apart as tokens of two."
    )
    if seen.left_out:
        said += f" {seen.left_out} rarer tokens are left out."
    if features_that_tell(seen):
        said += f" {seen.spacing[0].upper()}{seen.spacing[1:]}. "
        said += "The percentages of the title are shares of the variance of each kind."
    return said


def _joined(seen: Embeddings) -> str:
    """What helps to find one's way in the plane of the sums."""
    at = seen.drawn["sum"].values
    if clustered(at):
        return "Squares among the sums: the middle of all tokens at one position. "
    many = at.shape[0] * at.shape[1]
    return "Thin lines join one token's positions in order. " if many <= TANGLE else ""


def clustered(at: np.ndarray) -> bool:
    """Whether it is mostly by their position that points (token, position, direction) lie apart."""
    between = at.mean(axis=0).var(axis=0).sum()
    return bool(between >= CLUSTERS * at.reshape(-1, 2).var(axis=0).sum() and between > 0)


def _some(words: Sequence[str]) -> str:
    return " ".join(words) if len(words) <= 12 else f"{' '.join(words[:10])} … {words[-1]}"


def _planes(
    sheet: _draw.Sheet, seen: Embeddings, marks: dict[str, str], part: tuple[float, float, float, float]
) -> None:
    kinds = seen.kinds
    widths = [1.0] * (len(kinds) - 1) + [1.5]
    panels = sheet.panels(
        1, len(kinds), widths=widths, left=6, right=1.2, bottom=5.6, top=2.2, gap=(6.4, 0), within=part
    )[0]
    for panel, kind in zip(panels, kinds, strict=True):
        flat = seen.planes[kind]
        kept = f" ({percent(flat.kept)} kept)" if flat.is_projection else ""
        panel.set_title(f"{NAMES[kind]}{kept}")
        one = {"token": tokens, "position": positions, "sum": sums}[kind]
        one(panel, seen.drawn[kind], seen.planes[kind], of_tokens(seen.groups, marks), sheet.theme)


def maps(
    sheet: _draw.Sheet,
    seen: Embeddings | SequenceEmbeddings,
    part: tuple[float, float, float, float],
    features: Sequence[int],
    *,
    own: bool = False,
) -> tuple[list[Axes], tuple[float, float]]:
    """Heat maps of the tables and of some features of their sums, with room for an input's `own`; their one scale."""
    wide = min(1.0 + 0.06 * seen.width, 2.0)
    widths = [wide] * len(seen.tables) + [1.9] * len(features) + [wide] * own
    longest = max(_draw.text_width(word, sheet.size.text) for word in drawn(seen.summed.axes["token"])) / sheet.em
    panels = sheet.panels(
        1, len(widths), widths=widths, left=max(4.5, longest + 2.8), right=9.5, bottom=3.6, top=2.2,
        gap=(max(5.2, longest + 1.6) if own else max(4.6, longest + 1.2), 0), within=part,
    )[0]  # fmt: skip
    limit = _draw.limits("signed", seen.summed.values, *(table.values for table in seen.tables.values()))
    for panel, (kind, table) in zip(panels, seen.tables.items(), strict=False):
        _draw.heat(
            panel, table.values, kind="signed", theme=sheet.theme, limit=limit, rows=table.axes[kind],
            columns=table.axes["feature"], column_name="feature", row_name=kind,
        )  # fmt: skip
        roomy(panel, table.axes["feature"], table.axes[kind])
        panel.yaxis.labelpad = 0.6 * sheet.size.text
        panel.set_title(NAMES[kind])
    for panel, feature in zip(panels[len(seen.tables) :], features, strict=False):
        _draw.heat(
            panel, seen.summed.values[feature], kind="signed", theme=sheet.theme, limit=limit,
            numbers=False if own else None, rows=seen.summed.axes["token"],
            columns=seen.summed.axes["position"], column_name="position",
        )  # fmt: skip
        roomy(panel, seen.summed.axes["position"], seen.summed.axes["token"])
        panel.set_title(_sum_title(panel, feature))
    _draw.bar(sheet, "signed", limit, "value", beside=panels[-1])
    return list(panels), limit


def _sum_title(ax: Axes, feature: int) -> str:
    """The heading of the sums' heat map, short where the panel is narrow."""
    whole = f"{NAMES['sum']}, feature {feature}"
    wide = ax.get_window_extent().width / ax.figure.dpi
    return whole if _draw.text_width(whole, float(ax.title.get_fontsize())) <= wide else f"sum, feature {feature}"


def roomy(ax: Axes, columns: Axis | Sequence[str] = (), rows: Axis | Sequence[str] = ()) -> None:
    """Label the columns and rows of a heat map, as many as can be read without turning or touching them."""
    box, size = ax.get_window_extent(), float(ax.xaxis.label.get_fontsize())
    if len(columns):
        widest = max(_draw.text_width(label, size) for label in drawn(columns)) + 0.5 * size / 72
        _draw.places(ax, columns, "x", most=max(1, int(box.width / ax.figure.dpi / widest)), name=ax.get_xlabel())
        for text in ax.xaxis.get_ticklabels():
            text.set_rotation(0)
    if len(rows):
        most = max(1, int(box.height / ax.figure.dpi / (1.0 * size / 72)))
        _draw.places(ax, rows, "y", most=most, name=ax.get_ylabel())


def keys(groups: Iterable[str], marks: dict[str, str], theme: _style.Theme) -> list[tuple[str, str, str]]:
    """Entries of a legend that names these token groups by their marks."""
    return [(name or "other", marks[name], theme.ink) for name in groups]


def of_tokens(groups: dict[str, tuple[str, ...]], marks: dict[str, str]) -> dict[str, str]:
    """Token → the mark of its group."""
    return {word: marks[name] for name, own in groups.items() for word in own}


def tokens(ax: Axes, at: Labelled, flat: Plane, marks: dict[str, str], theme: _style.Theme) -> None:
    """Every token at its place, its mark by group."""
    _draw.plane_axes(ax, flat, at.values, theme=theme, margin=0.1)
    for word, place in zip(at.axes["token"].labels, at.values, strict=True):
        _draw.dots(ax, place, colour=theme.ink, marker=marks[word])
    named(ax, at.values, drawn(at.axes["token"]), theme.ink)


def positions(ax: Axes, at: Labelled, flat: Plane, marks: dict[str, str], theme: _style.Theme) -> None:  # noqa: ARG001
    """The positions joined in order."""
    _draw.plane_axes(ax, flat, at.values, theme=theme, margin=0.1)
    ax.plot(*at.values.T, color=theme.faint, linewidth=0.8, zorder=1)
    _draw.squares(ax, at.values, theme=theme)
    many = len(at.axes["position"])
    _draw.labels(ax, at.values, at.axes["position"].labels, colours=theme.ink, first=[0, many - 1], tied=many <= TIED)


def sums(ax: Axes, at: Labelled, flat: Plane, marks: dict[str, str], theme: _style.Theme) -> None:
    """Every token at every position, the outermost named; where they are not many, a line joins one token's places."""
    _draw.plane_axes(ax, flat, at.values, theme=theme, margin=0.1)
    many, length = at.values.shape[:2]
    joined = many * length <= TANGLE
    for word, way in zip(at.axes["token"].labels, at.values, strict=True):
        if joined:
            ax.plot(*way.T, color=theme.faint, linewidth=0.6, zorder=1)
        _draw.dots(ax, way, colour=theme.quiet if joined else theme.rung, marker=marks[word], scale=0.5)
    if clustered(at.values):
        middle = at.values.mean(axis=0)  # (position, direction)
        names = [f"position {place}" for place in at.axes["position"].labels]
        _draw.squares(ax, middle, theme=theme, zorder=4)
        _draw.labels(ax, middle, names, colours=theme.ink, first=outside(middle), most=TIED, tied=True)
        for text in ax.texts:
            text.set_path_effects([withStroke(linewidth=0.25 * text.get_fontsize(), foreground=theme.paper)])
        return
    ends = [(k, place) for place in (length - 1, 0) for k in range(many)]
    where = np.array([at.values[end] for end in ends])
    texts = [at_position(at.axes["token"].labels[k], place) for k, place in ends]
    written = _draw.labels(
        ax, where, texts, colours=theme.ink, keep_clear=at.values, first=outside(where), most=MOST_ENDS, tied=True
    )
    for k in written:
        mark = marks[at.axes["token"].labels[ends[k][0]]]
        _draw.dots(ax, where[k], colour=theme.ink, marker=mark, scale=0.8, zorder=3)


def named(ax: Axes, points: np.ndarray, texts: Sequence[str], colour: str) -> None:
    """Labels of points, those that lie close together tied to theirs by a line; of many points only the outermost."""
    flat = np.reshape(points, (-1, 2))
    _draw.labels(ax, flat, texts, colours=colour, first=outside(flat), tied=True, most=TIED)


def outside(points: np.ndarray) -> Sequence[int]:
    """The points from the outermost inwards: those whose labels tell most."""
    safe = np.nan_to_num(points)
    far = np.linalg.norm(safe - safe.mean(axis=0), axis=-1) if len(safe) else np.zeros(0)
    return [int(k) for k in np.argsort(-far, kind="stable")]
