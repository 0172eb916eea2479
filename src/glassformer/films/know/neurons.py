"""How neurons come to answer to something."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from glassformer.analyses._pairs import drawn
from glassformer.analyses._reel import Reel
from glassformer.analyses._result import Array, thousands
from glassformer.analyses.know.neurons import BlockNeurons, Reach
from glassformer.figures import _draw
from glassformer.films._film import Stage, Update


def caption(reel: Reel) -> str:
    """How to read maps and bars."""
    last: BlockNeurons = reel.still["last"]
    return (
        f"The {_rows(last)} neurons of block {last.block} that are most selective at the end of training. Left: mean "
        "hidden value at judged places with this token or position, red above zero, one scale for the whole film; "
        "right: bits that firing tells about token, position or kind of question, whichever is most. Means of "
        f"{thousands(last.samples)} places; a neuron without meaning would keep short bars."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Mean hidden value by token and by position, and selectivity, of the neurons most selective at the end."""
    last: BlockNeurons = reel.still["last"]
    reach: Reach = reel.still["reach"]
    limit, many = _draw.limits("signed", np.array([reach.mean])), _rows(last)
    tables = {kind: last.mean[kind] for kind in ("token", "position") if kind in last.mean}
    labels = {kind: table.axes[kind] for kind, table in tables.items()}
    widths = [*(max(4.0, float(len(each))) for each in labels.values()), 9.0]
    longest = (
        max(_draw.text_width(word, stage.size.text) for each in labels.values() for word in drawn(each)) / stage.em
    )
    panels = stage.panels(
        1, len(widths), widths=widths, left=4.5, right=8.5, bottom=4 if longest < 2 else 3.4 + longest, top=2.2,
        gap=(3.4, 0),
    )[0]  # fmt: skip
    pictures = {}
    for panel, (kind, each) in zip(panels, labels.items(), strict=False):
        panel.set(xlim=(-0.5, len(each) - 0.5), ylim=(many - 0.5, -0.5))
        _draw.bare(panel)
        _draw.places(panel, each, "x", name=f"{kind} here")
        panel.set_title("mean hidden value by token" if kind == "token" else "by position")
        pictures[kind] = stage.picture(panel, kind="signed", limit=limit)
    told = f"neuron ({many} of {len(last.order)}, most selective at the end first)"
    _draw.places(panels[0], last.mean["token"].axes["neuron"], "y", name=told)
    _draw.bar(stage, "signed", limit, "mean hidden value (maps)", beside=panels[-1])
    bars = _bars(panels[-1], many, max(reach.bits, 1e-3), stage)

    def update(seen: BlockNeurons) -> None:
        for kind, picture in pictures.items():
            picture.show(_fitted(seen, last, kind))
        for bar, bits in zip(bars, seen.bits.values, strict=False):
            bar.set_width(float(np.nan_to_num(bits.max())))

    return update


def _rows(last: BlockNeurons) -> int:
    """Neurons shown."""
    return len(last.mean["token"].values)


def _bars(ax: Axes, many: int, widest: float, stage: Stage) -> list[Any]:
    made = ax.barh(range(many), np.zeros(many), color=stage.theme.feed_forward, height=0.7)
    ax.set(xlim=(0, 1.15 * widest), ylim=(many - 0.5, -0.5), yticks=[], xlabel="bits", title="selectivity")
    ax.locator_params(axis="x", nbins=3)
    return [stage.moving(bar) for bar in made]


def _fitted(seen: BlockNeurons, last: BlockNeurons, kind: str) -> Array:
    """(neuron, label) with the labels of the film; NaN where one does not occur."""
    labels, own = last.mean[kind].axes[kind].values, seen.mean[kind].axes[kind].values
    table = np.full((_rows(seen), len(labels)), np.nan)
    for column, label in enumerate(labels):
        if label in own:
            table[:, column] = seen.mean[kind].values[:, own.index(label)]
    return table
