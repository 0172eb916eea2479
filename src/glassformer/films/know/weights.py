"""Every number of the model, changing."""

import numpy as np

from glassformer.analyses._reel import Reel
from glassformer.analyses.know.weights import FEW, Largest, Weights, spoken
from glassformer.figures import _draw
from glassformer.films._film import Stage, Update

MOST_PANELS = 18
LARGEST = 8  # matrices of a larger model that are drawn


def caption(reel: Reel) -> str:
    """How to read the maps."""
    last: Weights = reel.still["last"]
    names = _shown(last)
    said = (
        "Each map is one tensor: a matrix maps its rows to its columns, a vector is one row; in brackets its block. "
        "Red is above zero, blue below; the number after ± is the value of the full colours, each tensor's own and "
        "fixed for the whole film. "
    )
    if len(names) < len(last.shapes):
        said += f"{len(names)} of {len(last.shapes)} tensors, matrices only. "
    if not all(last.whole[name] for name in names):
        said += "Large tensors are drawn as typical sizes of neighbours, with the sign of their sum."
    return said.strip()


def scene(stage: Stage, reel: Reel) -> Update:
    """All tensors in the order of the computation, one scale for each and for the whole film."""
    last: Weights = reel.still["last"]
    largest: Largest = reel.still["largest"]
    names = _shown(last)
    sizes = dict(zip(largest.reach.axes["tensor"].labels, largest.reach.values, strict=True))
    columns = min(6, -(-len(names) // 2)) if len(names) > 3 else len(names)  # in two rows, or three
    rows = -(-len(names) // columns)
    left_out = len(last.shapes) - len(names)
    panels = stage.panels(rows, columns, left=1.5, right=1.5, bottom=2.6 if left_out else 1, top=2.2, gap=(1.5, 2.6))
    if left_out:
        told = f"{len(names)} of {len(last.shapes)} tensors, the largest matrices"
        stage.note(told, y=(stage.foot + 0.1) * stage.em / stage.inches[1])
    single = not any(name.startswith("blocks.1.") for name in last.shapes)
    pictures = []
    for panel, name in zip(panels.flat, names, strict=False):
        _draw.bare(panel)
        limit = _draw.limits("signed", np.array([sizes[name]]))
        plain = spoken(name).removesuffix(" (block 0)" if single else "").replace("(block ", "(")
        panel.set_title(f"{plain} ±{limit[1]:.2g}")
        pictures.append(stage.picture(panel, kind="signed", limit=limit))
    _draw.remove_spare(panels, len(names))

    def update(seen: Weights) -> None:
        for picture, name in zip(pictures, names, strict=True):
            picture.show(np.atleast_2d(seen.tensors[name].values))

    return update


def _shown(seen: Weights) -> list[str]:
    """All tensors of a small model; the largest matrices of another; in the order of the computation."""
    shapes = seen.shapes
    if seen.parameters <= FEW and len(shapes) <= MOST_PANELS:
        return list(shapes)
    matrices = [name for name, shape in shapes.items() if len(shape) > 1]
    largest = sorted(matrices, key=lambda name: -int(np.prod(shapes[name])))[:LARGEST]
    return [name for name in shapes if name in largest]
