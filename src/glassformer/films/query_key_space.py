"""Queries and keys of one head on one plane, while they learn."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses import _clock
from glassformer.analyses._attend import checked, must_ask
from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, percent, thousands
from glassformer.analyses.query_key import QueryKey, means, query_key
from glassformer.figures import _attend, _draw, _style
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.films._labels import Calm
from glassformer.run import Run

ANSWERS = ("4.D3",)


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
    last = query_key(run, query=query, head=head, member=member)

    def scene(stage: Stage) -> Update:
        middle = _attend.near(np.vstack([last.queries.values.reshape(-1, 2), last.keys.values.reshape(-1, 2)]))
        space = (0, 0, 0.62 if middle is None else 1, 1)
        panels = stage.panels(1, 1 if middle is None else 2, left=5, right=1.5, bottom=4, top=2.2, within=space)[0]
        moves = [cloud(stage, panels[0], run, last, member)]
        if middle is None:
            _how(stage, last)
        else:
            moves.append(cloud(stage, panels[1], run, last, member, middle))
            panels[1].set_title("the middle, enlarged")

        def update(step: int) -> QueryKey:
            seen = query_key(
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
    side = stage.panels(1, 1, left=0, right=1.5, bottom=4, top=2.2, within=(0.66, 0, 1, 1))[0, 0]
    _draw.bare(side)
    said = [
        "A query looks along its own direction: the farther a key lies that way, the higher its score.",
        f"Named: queries of {last.query.rpartition('@')[0]}, and of every token the key at position "
        f"{len(last.queries.axes['position']) // 2}.",
    ]
    if not last.plane.lossless:
        said.append(f"The plane keeps {percent(last.plane.kept)} of what makes the scores differ.")
    wide = side.get_window_extent().width / side.figure.dpi
    text = "\n\n".join("\n".join(_draw.wrap(each, stage.size.text, wide)) for each in said)
    side.text(0, 0.96, text, transform=side.transAxes, va="top", linespacing=1.4, parse_math=False)


CAPTION = (
    "Circles are queries, squares are keys, one for each token at each position; the score of a query with a key "
    "is their "
    "dot product, so a query looks along its own direction. The plane is that of the last step and does not move; "
    "labelled are the queries of one "
    "token and the keys of one position."
)


def told(run: Run, last: QueryKey, member: int) -> str:
    """How far the groups of keys move apart in the eyes of one query, from the first step to the last."""
    first = query_key(run, query=last.query, head=last.head, step=int(run.steps[0]), member=member)
    name, ends = drawn([last.query])[0], (means(first), means(last))
    if len(ends[1]) < 2 or not np.isfinite([*ends[0].values(), *ends[1].values()]).all():
        return "Queries and keys on one plane, while they learn"
    best, *_, worst = ends[1]
    gaps = [each[best] - each[worst] for each in ends]
    return (
        f"Seen by {name}, {best} keys lie {_draw.number(gaps[0], 1)} above {worst} keys at step "
        f"{thousands(first.step or 0)} and {_draw.number(gaps[1], 1)} at step "
        f"{thousands(last.step or 0)}, in units of the score"
    )


def cloud(
    stage: Stage, ax: Axes, run: Run, last: QueryKey, member: int, middle: Array | None = None
) -> Callable[[QueryKey], None]:
    """Set up the plane; the function that comes back moves its points."""
    some = [_clock.nearest(run, int(s)) for s in np.linspace(run.steps[0], run.steps[-1], 7)]
    lives = [
        query_key(run, query=last.query, head=last.head, step=s, member=member, plane=last.plane, reach=last.reach)
        for s in dict.fromkeys(some)
    ]
    every = np.concatenate(
        [np.vstack([each.queries.values.reshape(-1, 2), each.keys.values.reshape(-1, 2)]) for each in lives]
    )
    _draw.plane_axes(ax, last.plane, every if middle is None else middle, theme=stage.theme)
    _attend.rings(ax, stage.theme)
    if middle is None:
        ax.legend(
            handles=[_draw.handle(part, stage.theme) for part in ("query", "key")],
            loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2, handletextpad=0.2, columnspacing=1.2,
        )  # fmt: skip
    context, tokens = len(last.queries.axes["position"]), last.queries.axes["token"]
    asker = tokens.index(last.query.rpartition("@")[0])
    names = _attend.pair_labels(last.queries)
    empty = np.full((1, 2), np.nan)
    queries = stage.moving(
        _draw.dots(ax, empty, colour=stage.theme.query, marker=_style.MARKER["query"], scale=0.7, alpha=0.8)
    )
    keys = stage.moving(
        _draw.dots(ax, empty, colour=stage.theme.key, marker=_style.MARKER["key"], scale=0.7, alpha=0.8)
    )
    of_query = [asker * context + p for p in (range(context) if context <= 8 else range(0, context, 3))]
    of_key = [token * context + context // 2 for token in range(len(tokens))]
    half = len(names)
    told_of = [*of_query, *(half + k for k in of_key)]
    texts = [(names * 2)[k] for k in told_of]
    colours = [stage.theme.query] * len(of_query) + [stage.theme.key] * len(of_key)
    calm = Calm(stage, ax, texts, colours, (1, 0))

    def move(seen: QueryKey) -> None:
        q, k = seen.queries.values.reshape(-1, 2), seen.keys.values.reshape(-1, 2)
        queries.set_offsets(q)
        keys.set_offsets(k)
        calm.move(np.vstack([q, k])[told_of])

    return move
