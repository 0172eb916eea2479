"""Embedding, queries, keys and values with the three matrices between them, while they learn."""

from collections.abc import Sequence

import numpy as np

from glassformer.analyses._attend import checked, must_ask
from glassformer.analyses._result import thousands
from glassformer.analyses.attend.qkv import PARTS, Qkv, qkv
from glassformer.figures import _attend, _draw, _style
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.films._labels import Spread, few
from glassformer.run import Run

ANSWERS = ("4.D2",)
MOST_NUMBERS = 4  # cells of a matrix in which its numbers are written
GLANCE = 30  # steps looked at for the limits
NAMED = 6  # tokens with a name
TITLES = {"embedded": "embedding", "query": "queries", "key": "keys", "value": "values"}


@_film.film
def film_qkv(
    run: Run,
    *,
    head: int | None = None,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """Four planes, fixed on the last step, and the three matrices."""
    must_ask(run)
    head = checked(run, 0, head, member=member)
    last = qkv(run, head=head, member=member)
    lives = [qkv(run, head=head, step=s, member=member, planes=last.planes) for s in _film.glance(run, steps, GLANCE)]
    first = lives[0]

    def scene(stage: Stage) -> Update:
        tokens, context = last.drawn["query"].axes["token"].labels, len(last.drawn["query"].axes["position"])
        names = _attend.pair_labels(last.drawn["query"])
        special = {run.task.vocabulary[k] for k in run.task.groups.get("special", ())}  # padding and the like
        words = [k for k, token in enumerate(tokens) if token not in special]
        middle = context // 2
        told = few(last.drawn["query"].values.reshape(-1, 2), NAMED, [k * context + middle for k in words])
        panels = stage.panels(1, 4, left=5, right=1.5, bottom=3.8, top=2.2, gap=(5.4, 0), within=(0, 0.36, 1, 1))[0]
        low = stage.panels(1, 4, left=5, right=1.5, bottom=3.6, top=1.8, gap=(5.4, 0), within=(0, 0, 1, 0.38))[0]
        limit = _draw.limits("signed", *(m.values for each in lives for m in each.matrices.values()))
        _draw.bare(low[0])
        low[0].text(
            0, 0.9, _note(middle, last, limit[1]), va="top", transform=low[0].transAxes, color=stage.theme.quiet
        )
        moving, stamps, pictures, written = {}, {}, {}, {}
        palette = _style.colormap("signed", stage.theme.name)
        for panel, part in zip(panels, TITLES, strict=True):
            colour = stage.theme[part]
            _draw.plane_axes(
                panel,
                last.planes[part],
                np.concatenate([each.drawn[part].values.reshape(-1, 2) for each in lives]),
                theme=stage.theme,
            )
            panel.set_title(TITLES[part], color=colour)
            panel.locator_params(nbins=4)
            moving[part] = stage.moving(
                _draw.dots(
                    panel,
                    np.full((1, 2), np.nan),
                    colour=colour,
                    marker=_style.MARKER.get(part, "o"),
                    scale=0.5,
                    alpha=0.7,
                )
            )
            stamps[part] = Spread(stage, panel, [names[k] for k in told], colour, above=0.9)
        for panel, part in zip(low[1:], PARTS, strict=True):
            matrix = last.matrices[part]
            rows, columns = matrix.values.shape
            panel.set_xlim(-0.5, columns - 0.5)
            panel.set_ylim(rows - 0.5, -0.5)
            _draw.bare(panel)
            _draw.places(panel, matrix.axes["feature"].labels, "y", name="feature" if panel is low[1] else "", most=8)
            _draw.places(panel, matrix.axes["head_feature"].labels, "x", name="head feature", most=12)
            panel.set_title(f"{part} matrix", color=stage.theme[part])
            pictures[part] = stage.picture(panel, kind="signed", limit=limit)
            written[part] = [
                stage.text(panel, column, row, ha="center", va="center")
                for row in range(rows)
                for column in range(columns)
                if rows * columns <= MOST_NUMBERS
            ]

        def update(step: int) -> Qkv:
            seen = qkv(run, head=head, step=step, member=member, planes=last.planes)
            for part in TITLES:
                points = seen.drawn[part].values.reshape(-1, 2)
                moving[part].set_offsets(points)
                stamps[part].move(points[told])
            for part in PARTS:
                values = seen.matrices[part].values
                pictures[part].show(values)
                for text, value in zip(written[part], values.ravel() if written[part] else (), strict=True):
                    text.set_text(_draw.number(float(value), 1))
                    share = (float(np.nan_to_num(value)) - limit[0]) / ((limit[1] - limit[0]) or 1)
                    text.set_color(_style.on(palette(share)))
            return seen

        return update

    ends = [each.singular.values[:, 0] for each in (first, last)]
    title = (
        f"From step {thousands(first.step or 0)} to {thousands(last.step or 0)} the largest stretch of the query "
        f"matrix goes from {ends[0][0]:.1f} × to {ends[1][0]:.1f} ×, key {ends[0][1]:.1f} to {ends[1][1]:.1f}, "
        f"value {ends[0][2]:.1f} to {ends[1][2]:.1f}"
    )
    if not np.isfinite(ends).all():
        title = "Embedding, queries, keys and values, while they learn"
    caption = (
        "Every token at every position as embedding, query, key and value; below, the three matrices that make "
        "them. Planes are those of the last "
        "step and do not move. The number of each matrix is its largest stretch (singular value)."
    )
    return Film(
        run, scene, title=title, caption=caption, steps=steps, frames=frames, pace=pace, theme=theme, member=member
    )


def _note(place: int, last: Qkv, most: float) -> str:
    head = f"block 0, head {last.head} of {last.heads}\n" if last.heads > 1 else ""
    return f"{head}named: some tokens\nat position {place}\ncolours of the\nmatrices: ±{most:.1f}"
