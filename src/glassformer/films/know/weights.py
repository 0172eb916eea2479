"""Every number of the model, changing."""

from collections.abc import Sequence

import numpy as np

from glassformer.analyses._result import Result, thousands
from glassformer.analyses.know.weights import FEW, spoken, weights
from glassformer.figures import _draw
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.run import Run

ANSWERS = ("1.P7",)
MOST_PANELS = 18
LARGEST = 8  # matrices of a larger model that are drawn
GLANCE = 24  # steps looked at for the limits of the colours


@_film.film
def film_weights(
    run: Run,
    *,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """All tensors in the order of the computation, one scale for all and for the whole film."""
    ends = [weights(run, step=step, member=member) for step in (int(run.steps[0]), -1)]
    names = _shown(ends[1].shapes, run.parameters)
    some = [weights(run, step=step, member=member) for step in _film.glance(run, steps, GLANCE)]
    limits = {name: _draw.limits("signed", *(each.tensors[name].values for each in (*ends, *some))) for name in names}

    def scene(stage: Stage) -> Update:
        columns = min(6, -(-len(names) // 2)) if len(names) > 3 else len(names)  # in two rows, or three
        rows = -(-len(names) // columns)
        left_out = len(ends[1].shapes) - len(names)
        panels = stage.panels(
            rows, columns, left=1.5, right=1.5, bottom=2.6 if left_out else 1, top=2.2, gap=(1.5, 2.6)
        )
        if left_out:
            told = f"{len(names)} of {len(ends[1].shapes)} tensors, the largest matrices"
            stage.note(told, y=(stage.foot + 0.1) * stage.em / stage.inches[1])
        single = not any(name.startswith("blocks.1.") for name in ends[1].shapes)
        pictures = []
        for panel, name in zip(panels.flat, names, strict=False):
            _draw.bare(panel)
            plain = spoken(name).removesuffix(" (block 0)" if single else "").replace("(block ", "(")
            panel.set_title(f"{plain} ±{limits[name][1]:.2g}")
            pictures.append(stage.picture(panel, kind="signed", limit=limits[name]))
        for panel in panels.flat[len(names) :]:
            panel.remove()

        def update(step: int) -> Result:
            seen = weights(run, step=step, member=member)
            for picture, name in zip(pictures, names, strict=True):
                picture.show(seen.tensors[name].values)
            return seen

        return update

    counts = np.array([np.prod(shape) for shape in ends[1].shapes.values()])
    sizes = [float(np.sqrt((counts * each.typical.values**2).sum() / counts.sum())) for each in ends]
    first, last = (thousands(each.step or 0) for each in ends)
    many = f"{thousands(run.parameters)} weights"
    title = (
        f"The typical size of the {many} {'grows' if sizes[1] >= sizes[0] else 'shrinks'} from {sizes[0]:.2f} at step "
        f"{first} to {sizes[1]:.2f} at step {last}"
        if np.isfinite(sizes).all()
        else f"By step {last} some of the {many} are not numbers"
    )
    caption = (
        "Each map is one tensor: a matrix maps its rows to its columns, a vector is one row; in brackets its block. "
        "Red is above zero, blue below; the number after ± is the value of the full colours, each tensor's own and "
        "fixed for the whole film. "
        + (
            ""
            if len(names) == len(ends[1].shapes)
            else f"{len(names)} of {len(ends[1].shapes)} tensors, matrices only. "
        )
        + ("" if all(ends[1].whole[name] for name in names) else "Large tensors are drawn as means of neighbours.")
    ).strip()
    return Film(
        run, scene, title=title, caption=caption, steps=steps, frames=frames, pace=pace, theme=theme, member=member
    )


def _shown(shapes: dict[str, tuple[int, ...]], parameters: int) -> list[str]:
    """All tensors of a small model; the largest matrices of another; in the order of the computation."""
    if parameters <= FEW and len(shapes) <= MOST_PANELS:
        return list(shapes)
    matrices = [name for name, shape in shapes.items() if len(shape) > 1]
    largest = sorted(matrices, key=lambda name: -int(np.prod(shapes[name])))[:LARGEST]
    return [name for name in shapes if name in largest]
