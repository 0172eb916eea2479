"""Queries and keys of one head on one plane, while they learn."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._attend import checked, must_ask
from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, percent, thousands
from glassformer.analyses.attend.attention import named
from glassformer.analyses.attend.query_key_space import QueryKey, means, query_key_space
from glassformer.figures import _attend, _draw, _style
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.films._labels import Spread, few
from glassformer.run import Run

ANSWERS = ("4.D3",)
GLANCE = 60  # steps looked at for the limits
QUERIES, KEYS = 3, 6  # points with a name
SMALL = 0.4  # of the last step's reach, under which the first step's points have a plane of their own


@_film.film
def film_query_key_space(
    run: Run,
    *,
    query: str | None = None,
    head: int | None = None,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """All queries ● and keys ■ on the plane of the last step."""
    must_ask(run)
    head = checked(run, 0, head, member=member)
    last = query_key_space(run, query=query, head=head, member=member)

    def scene(stage: Stage) -> Update:
        lives = lived(run, last, member, steps)
        middle = _middle(lives[0], lives[-1])
        space = (0, 0, 0.62 if middle is None else 1, 1)
        panels = stage.panels(1, 1 if middle is None else 2, left=5, right=1.5, bottom=5.2, top=2.2, within=space)[0]
        moves = [cloud(stage, panels[0], last, lives)]
        noted(stage, run, last)
        if middle is None:
            _how(stage, last)
        else:
            moves.append(cloud(stage, panels[1], last, lives, middle))
            panels[1].set_title("the middle, enlarged")

        def update(step: int) -> QueryKey:
            seen = query_key_space(
                run, query=last.query, head=head, step=step, member=member, plane=last.plane, reach=last.reach
            )
            for move in moves:
                move(seen)
            return seen

        return update

    return Film(
        run,
        scene,
        title=told(run, last, member),
        caption=CAPTION,
        steps=steps,
        frames=frames,
        pace=pace,
        theme=theme,
        member=member,
    )


def _how(stage: Stage, last: QueryKey) -> None:
    """Beside a single plane: how to read it, and what it leaves out."""
    side = stage.panels(1, 1, left=0, right=1.5, bottom=5.2, top=2.2, within=(0.66, 0, 1, 1))[0, 0]
    _draw.bare(side)
    said = [
        "A query looks along its own direction: the farther a key lies that way, the higher its score.",
        f"Named: queries of {last.query.rpartition('@')[0]}, and of some tokens the key at position "
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


def told(run: Run, last: QueryKey, member: int) -> str:
    """How far the groups of keys move apart in the eyes of one query, from the first step to the last."""
    first = query_key_space(run, query=last.query, head=last.head, step=int(run.steps[0]), member=member)
    name, ends = drawn([last.query])[0], (means(first), means(last))
    if len(ends[1]) < 2 or not np.isfinite([*ends[0].values(), *ends[1].values()]).all():
        return "Queries and keys on one plane, while they learn"
    best, *_, worst = ends[1]
    gaps = [each[best] - each[worst] for each in ends]
    return (
        f"{name} scores {best} keys {_draw.number(gaps[1], 1)} higher than {worst} keys at step "
        f"{thousands(last.step or 0)}, {_draw.number(gaps[0], 1)} at step {thousands(first.step or 0)}"
    )


def lived(run: Run, last: QueryKey, member: int, steps: Sequence[int] | None) -> list[QueryKey]:
    """Queries and keys at many steps of the film, for limits that hold all of it."""
    return [
        query_key_space(run, query=last.query, head=last.head, step=s, member=member, plane=last.plane, reach=last.reach)
        for s in _film.glance(run, steps, GLANCE)
    ]


def noted(stage: Stage, run: Run, last: QueryKey) -> None:
    """At the foot: which head is shown, if there are several, and how much of its scores the plane keeps."""
    a = run.architecture
    said = [f"{named(0, last.head, a.blocks)} of {a.heads}"] if a.blocks * a.heads > 1 else []
    said += [] if last.plane.lossless else [f"the plane keeps {percent(last.plane.kept)} of what makes scores differ"]
    stage.note(" · ".join(said), y=(stage.foot + 0.1) * stage.em / stage.inches[1])


def _points(seen: QueryKey) -> Array:
    return np.vstack([seen.queries.values.reshape(-1, 2), seen.keys.values.reshape(-1, 2)])


def _middle(first: QueryKey, last: QueryKey) -> Array | None:
    """What a second, enlarged plane shows: the middle of the last step, or all of the first; None: both have room."""
    begin, end = _points(first), _points(last)
    if (near := _attend.near(end)) is not None:
        return near
    reach = [float(np.nanmax(np.abs(each), initial=0)) for each in (begin, end)]
    return begin if reach[0] < SMALL * reach[1] else None


def cloud(
    stage: Stage, ax: Axes, last: QueryKey, lives: Sequence[QueryKey], middle: Array | None = None
) -> Callable[[QueryKey], None]:
    """Set up the plane, with limits around `lives` or the `middle`; the function that comes back moves its points."""
    every = np.concatenate([_points(each) for each in lives])
    _draw.plane_axes(ax, last.plane, every if middle is None else middle, theme=stage.theme)
    _attend.rings(ax, stage.theme)
    if middle is None:
        ax.legend(
            handles=[_draw.handle(part, stage.theme) for part in ("query", "key")],
            loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2, handletextpad=0.2, columnspacing=1.2,
        )  # fmt: skip
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

    def move(seen: QueryKey) -> None:
        points = _points(seen)
        queries.set_offsets(points[:half])
        keys.set_offsets(points[half:])
        labels.move(np.where(_inside(ax, points[told_of])[:, None], points[told_of], np.nan))

    return move


def _told_of(last: QueryKey) -> list[int]:
    """The points with a name, the same in all frames: some queries of one token, some keys of one position."""
    points, context = _points(last), len(last.queries.axes["position"])
    tokens, half = last.queries.axes["token"].labels, len(points) // 2
    asker = tokens.index(last.query.rpartition("@")[0])
    queries = range(asker * context, (asker + 1) * context)
    keys = [half + k * context + context // 2 for k, group in enumerate(last.groups) if group != "special"]
    return few(points, QUERIES, queries) + few(points, KEYS, keys)


def _inside(ax: Axes, points: Array) -> Array:
    """Which points lie in a panel."""
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    found: Array = ((points >= low) & (points <= high)).all(axis=1)
    return found
