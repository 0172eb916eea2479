"""Queries and keys of one head on one plane, while they learn."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._reel import Extent, Reel
from glassformer.analyses._result import Array, percent
from glassformer.analyses.attend.attention import named
from glassformer.analyses.attend.query_key_space import QueryKeySpace
from glassformer.figures import _attend, _draw, _style
from glassformer.films._film import Stage, Update
from glassformer.films._labels import Spread, few

QUERIES, KEYS = 3, 6  # points with a name
SMALL = 0.4  # of the last step's reach, under which the first step's points have a plane of their own


def caption(reel: Reel) -> str:  # noqa: ARG001
    """How to read the plane."""
    return CAPTION


def scene(stage: Stage, reel: Reel) -> Update:
    """All queries ● and keys ■ on the plane of the last step."""
    last: QueryKeySpace = reel.still["last"]
    extent: Extent = reel.still["extent"]
    middle = _middle(reel.still["first"], last)
    space = (0, 0, 0.62 if middle is None else 1, 1)
    panels = stage.panels(1, 1 if middle is None else 2, left=5, right=1.5, bottom=5.2, top=2.2, within=space)[0]
    moves = [cloud(stage, panels[0], last, extent.corners["space"].values)]
    key(stage, panels[0])
    noted(stage, last)
    if middle is None:
        _how(stage, last)
    else:
        moves.append(cloud(stage, panels[1], last, middle))
        panels[1].set_title("the middle, enlarged")

    def update(seen: QueryKeySpace) -> None:
        for move in moves:
            move(seen)

    return update


def key(stage: Stage, ax: Axes) -> None:
    """What the marks mean, above a plane."""
    ax.legend(
        handles=[_draw.handle(part, stage.theme) for part in ("query", "key")],
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2, handletextpad=0.2, columnspacing=1.2,
    )  # fmt: skip


def _how(stage: Stage, last: QueryKeySpace) -> None:
    """Beside a single plane: how to read it, and what it leaves out."""
    side = stage.panels(1, 1, left=0, right=1.5, bottom=5.2, top=2.2, within=(0.66, 0, 1, 1))[0, 0]
    _draw.bare(side)
    said = [
        "A query looks along its own direction: the farther a key lies that way, the higher its score.",
        f"Named: queries of {last.query[0]}, and of some tokens the key at position "
        f"{len(last.queries.axes['position']) // 2}.",
    ]
    wide = side.get_window_extent().width / side.figure.dpi
    text = "\n\n".join("\n".join(_draw.wrap(each, stage.size.text, wide)) for each in said)
    side.text(0, 0.96, text, transform=side.transAxes, va="top", linespacing=1.4, parse_math=False)


CAPTION = (
    "Circles are queries, squares are keys, one for each token at each position; the score of a query with a key is "
    "their dot product, divided by one number for all (the root of the width of a head, or of the model), so a query "
    "looks along its own direction. The plane is that of the last step and does not "
    "move; named are some queries of one token and some keys of one position."
)


def noted(stage: Stage, last: QueryKeySpace) -> None:
    """At the foot: which head is shown, if there are several, and how much of its scores the plane keeps."""
    said = [f"{named(0, last.head, last.blocks)} of {last.heads}"] if last.blocks * last.heads > 1 else []
    said += [] if last.plane.lossless else [f"the plane keeps {percent(last.plane.kept)} of what makes scores differ"]
    stage.note(" · ".join(said), y=(stage.foot + 0.1) * stage.em / stage.inches[1])


def _points(seen: QueryKeySpace) -> Array:
    return np.vstack([seen.queries.values.reshape(-1, 2), seen.keys.values.reshape(-1, 2)])


def _middle(first: QueryKeySpace, last: QueryKeySpace) -> Array | None:
    """What a second, enlarged plane shows: the middle of the last step, or all of the first; None: both have room."""
    begin, end = _points(first), _points(last)
    if (near := _attend.near(end)) is not None:
        return near
    reach = [float(np.nanmax(np.abs(each), initial=0)) for each in (begin, end)]
    return begin if reach[0] < SMALL * reach[1] else None


def cloud(stage: Stage, ax: Axes, last: QueryKeySpace, frame: Array) -> Callable[[QueryKeySpace], None]:
    """Set up the plane, with limits around a frame of points; the function that comes back moves its points."""
    _draw.plane_axes(ax, last.plane, frame, theme=stage.theme)
    _attend.rings(ax, stage.theme)
    names, half, told_of = _attend.pair_labels(last.queries), len(_points(last)) // 2, _told_of(last)
    empty = np.full((1, 2), np.nan)
    queries = stage.moving(
        _draw.dots(ax, empty, colour=stage.theme.query, marker=_style.MARKER["query"], scale=0.7, alpha=0.8)
    )
    keys = stage.moving(
        _draw.dots(ax, empty, colour=stage.theme.key, marker=_style.MARKER["key"], scale=0.7, alpha=0.8)
    )
    colours = [stage.theme.query if k < half else stage.theme.key for k in told_of]
    texts = [names[k % half] for k in told_of]
    labels = Spread(stage, ax, texts, stage.theme.ink, above=0.9)
    labels.write(texts, colours)

    def move(seen: QueryKeySpace) -> None:
        points = _points(seen)
        queries.set_offsets(points[:half])
        keys.set_offsets(points[half:])
        labels.move(np.where(_inside(ax, points[told_of])[:, None], points[told_of], np.nan))

    return move


def _told_of(last: QueryKeySpace) -> list[int]:
    """The points with a name, the same in all frames: some queries of one token, some keys of one position."""
    points, context = _points(last), len(last.queries.axes["position"])
    half, first = len(points) // 2, last.row((last.query[0], 0))
    queries = range(first, first + context)
    keys = [half + k * context + context // 2 for k, group in enumerate(last.groups) if group != "special"]
    return few(points, QUERIES, queries) + few(points, KEYS, keys)


def _inside(ax: Axes, points: Array) -> Array:
    """Which points lie in a panel."""
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    return ((points >= low) & (points <= high)).all(axis=1)
