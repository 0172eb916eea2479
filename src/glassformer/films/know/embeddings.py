"""How tokens and positions find their places."""

from collections import deque

import numpy as np
from matplotlib.collections import LineCollection

from glassformer.analyses._pairs import at_position, drawn
from glassformer.analyses._reel import Extent, Reel
from glassformer.analyses._result import Array
from glassformer.analyses.know.embeddings import Embeddings, Moved
from glassformer.figures import _draw
from glassformer.figures.know.embeddings import NAMES
from glassformer.films._film import Stage, Update
from glassformer.films._labels import Spread, few

TRAIL = 12  # frames
NAMED, SUMS = 16, 8  # names in the panels of tokens and positions, and in that of their sums


def caption(reel: Reel) -> str:  # noqa: ARG001
    """How to read the planes."""
    return (
        "The vectors of tokens, of positions and of every token at every position, at each frame's step; the trails "
        f"are the last {TRAIL} frames. Planes and limits are fixed for the whole film (the planes on the last step), "
        "so nothing moves because the view does; the cross is zero. The strip below is the loss on its ladder."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Token, position and summed embeddings moving through training, each with a short trail."""
    last: Embeddings = reel.still["last"]
    extent: Extent = reel.still["extent"]
    kinds = last.kinds
    panels = stage.panels(1, len(kinds), left=6, right=1.5, bottom=3.8, top=2.2, gap=(6.4, 0))[0]
    movers, places = {}, len(last.summed.axes["position"])
    for panel, kind in zip(panels, kinds, strict=True):
        _draw.plane_axes(panel, last.planes[kind], extent.corners[kind].values, theme=stage.theme, margin=0.1)
        panel.set_title(f"{NAMES[kind]} (named: position {places - 1})" if kind == "sum" else NAMES[kind])
        texts, told = _texts(last, kind), _told(last, kind)
        trail = stage.moving(LineCollection([], colors=stage.theme.masked, linewidths=0.6 * stage.size.line, zorder=3))
        panel.add_collection(trail, autolim=False)
        cloud = stage.moving(_draw.dots(panel, np.zeros((0, 2)), colour=stage.theme.rung, scale=0.6))
        names = Spread(stage, panel, [texts[k] for k in told], stage.theme.ink, above=0.9 if kind == "sum" else 0.0)
        movers[kind] = (names, told, trail, deque[Array](maxlen=TRAIL), cloud)

    def update(seen: Moved) -> None:
        for kind, (names, told, trail, past, cloud) in movers.items():
            at = seen.drawn[kind].values.reshape(-1, 2)
            if kind == "sum":  # every pair is a dot, with names only at the last position
                cloud.set_offsets(at)
                names.move(at[places - 1 :: places][told])
            else:  # a name stands for its point
                cloud.set_offsets(np.delete(at, told, axis=0))
                names.move(at[told])
            past.append(at)
            trail.set_segments(list(np.stack(past, axis=1)) if len(past) > 1 and kind != "sum" else [])

    return update


def _told(last: Embeddings, kind: str) -> list[int]:
    """Which have a name, the same in all frames: all where they are few, else those that end farthest apart."""
    points = last.drawn[kind].values.reshape(-1, 2)
    if kind == "sum":
        places = len(last.summed.axes["position"])
        words, points = last.summed.axes["token"].labels, points[places - 1 :: places]
    else:
        words = last.tables[kind].axes[kind].labels
    special = last.groups.get("special", ()) if kind != "position" else ()
    some = [k for k, word in enumerate(words) if word not in special]
    most = SUMS if kind == "sum" else NAMED
    return list(range(len(words))) if len(words) <= most else few(points, most, some)


def _texts(seen: Embeddings, kind: str) -> list[str]:
    if kind != "sum":
        return drawn(seen.tables[kind].axes[kind])
    places = len(seen.summed.axes["position"])
    return [at_position(word, places - 1) for word in seen.summed.axes["token"].labels]
