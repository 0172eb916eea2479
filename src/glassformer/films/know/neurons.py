"""How neurons come to answer to something."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._pairs import drawn
from glassformer.analyses._result import Array, Result, thousands
from glassformer.analyses.know.neurons import Neurons, neurons, say
from glassformer.figures import _draw
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.run import Run

ANSWERS = ("1.P2",)
ROWS = 20  # neurons shown
GLANCE = 9  # steps looked at for the limits; each takes as long as a frame


def applies(run: Run) -> str | None:
    """Why there is nothing to show."""
    return None if run.architecture.feed_forward else "this model has no feed-forward part"


@_film.film
def film_neurons(
    run: Run,
    *,
    block: int = -1,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """Mean hidden value by token and by position, and selectivity, of the neurons most selective at the end."""
    last = neurons(run, block=block, member=member)
    first = tuple(int(name) for name in last.order[:ROWS])

    def at(step: int) -> Neurons:
        return neurons(run, block=block, step=step, member=member, first=first)

    some = [at(step) for step in _film.glance(run, steps, GLANCE)]
    limit = _draw.limits("signed", *(each.mean[kind].values for each in some for kind in each.mean))
    widest = max(max(float(np.nanmax(each.bits.values[: len(first)], initial=0)) for each in some), 1e-3)

    def scene(stage: Stage) -> Update:
        kinds = [kind for kind in ("token", "position") if kind in last.mean]
        widths = [*(max(4.0, float(last.mean[kind].values.shape[1])) for kind in kinds), 9.0]
        words = [word for kind in kinds for word in drawn(some[-1].mean[kind].axes["label"].labels)]
        longest = max(_draw.text_width(word, stage.size.text) for word in words) / stage.em
        panels = stage.panels(
            1, len(widths), widths=widths, left=4.5, right=8.5, bottom=4 if longest < 2 else 3.4 + longest, top=2.2,
            gap=(3.4, 0),
        )[0]  # fmt: skip
        pictures = {}
        for panel, kind in zip(panels, kinds, strict=False):
            labels = some[-1].mean[kind].axes["label"].labels
            panel.set_xlim(-0.5, len(labels) - 0.5)
            panel.set_ylim(len(first) - 0.5, -0.5)
            _draw.bare(panel)
            _draw.places(panel, labels, "x", name=f"{kind} here")
            panel.set_title("mean hidden value")
            pictures[kind] = stage.picture(panel, kind="signed", limit=limit)
        told = f"neuron ({len(first)} of {run.architecture.feed_forward}, most selective at the end first)"
        _draw.places(panels[0], [str(k) for k in first], "y", name=told)
        _draw.bar(stage, "signed", limit, "mean hidden value (maps)", beside=panels[-1])
        bars = _bars(panels[-1], len(first), widest, stage)

        def update(step: int) -> Result:
            seen = at(step)
            for kind, picture in pictures.items():
                picture.show(_fitted(seen, kind, some[-1].mean[kind].axes["label"].labels))
            for bar, bits in zip(bars, seen.bits.values, strict=False):
                bar.set_width(float(np.nan_to_num(bits.max())))
            return seen

        return update

    title = f"By step {thousands(last.step or 0)}: {say(last).title[0].lower()}{say(last).title[1:]}"
    caption = (
        f"The {len(first)} neurons of block {last.block} that are most selective at the end of training. Left: mean "
        "hidden value at validation places with this token or position, red above zero, one scale for the whole film; "
        "right: bits that firing tells about token, position or kind of question, whichever is most. Means of "
        f"{thousands(last.samples)} places; a neuron without meaning would keep short bars."
    )
    return Film(
        run, scene, title=title, caption=caption, steps=steps, frames=frames, pace=pace, theme=theme, member=member
    )


def _bars(ax: Axes, many: int, widest: float, stage: Stage) -> list[Any]:
    made = ax.barh(range(many), np.zeros(many), color=stage.theme.feed_forward, height=0.7)
    ax.set_xlim(0, 1.15 * widest)
    ax.set_ylim(many - 0.5, -0.5)
    ax.set_yticks([])
    ax.set_xlabel("bits")
    ax.set_title("selectivity")
    ax.locator_params(axis="x", nbins=3)
    return [stage.moving(bar) for bar in made]


def _fitted(seen: Neurons, kind: str, labels: Sequence[str]) -> Array:
    """(neuron, label) with the labels of the film; NaN where one does not occur."""
    table, own = np.full((seen.mean[kind].values.shape[0], len(labels)), np.nan), seen.mean[kind].axes["label"].labels
    for column, label in enumerate(labels):
        if label in own:
            table[:, column] = seen.mean[kind].values[:, own.index(label)]
    return table
