"""How tokens and positions find their places."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from matplotlib.collections import LineCollection

from glassformer.analyses import _clock
from glassformer.analyses._pairs import at_position, shown
from glassformer.analyses._result import Array, Labelled, Result, result
from glassformer.analyses.path.embedding_paths import embedding_paths, say
from glassformer.analyses.know.embeddings import Embeddings, embeddings
from glassformer.figures import _draw
from glassformer.films._film import Film, Pace, Stage, Update, film
from glassformer.films._labels import Spread, few
from glassformer.run import Run

ANSWERS = ("4.D1",)
TRAIL = 12  # frames
NAMED, SUMS = 16, 8  # names in the panels of tokens and positions, and in that of their sums
NAMES = {"token": "token", "position": "position", "sum": "token + position"}


@result
class Moved(Result):
    """Places in the film's planes."""

    drawn: dict[str, Labelled]


@film
def film_embeddings(
    run: Run,
    *,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Iterable[int] | None = None,
    theme: str = "light",
) -> Film:
    """Token, position and summed embeddings moving through training, each with a short trail."""
    words = say(embedding_paths(run, member=member))
    caption = (
        "The vectors of tokens, of positions and of every token at every position, at each frame's step; the trails "
        f"are the last {TRAIL} frames. Planes and limits are fixed for the whole film (the planes on the last step), "
        "so nothing moves because the view does; the cross is zero. The strip below is the loss on its ladder."
    )
    moments = list(steps) if steps is not None else None

    def scene(stage: Stage) -> Update:
        last = embeddings(run, member=member)
        kinds = [kind for kind in ("token", "position", "sum") if kind in last.planes]
        few = moments or _clock.kept(run, 60)  # enough that nothing leaves the panel on its way
        glance = [
            embeddings(run, step=step, member=member, planes=last.planes)
            for step in sorted({*few[:: max(1, len(few) // 60)], few[-1]})
        ]
        panels = stage.panels(1, len(kinds), left=6, right=1.5, bottom=3.8, top=2.2, gap=(6.4, 0))[0]
        movers, places = {}, len(last.summed.axes["position"])
        for panel, kind in zip(panels, kinds, strict=True):
            flat = last.planes[kind]
            seen_at = np.concatenate([each.drawn[kind].values.reshape(-1, 2) for each in glance])
            _draw.plane_axes(panel, flat, seen_at, theme=stage.theme, margin=0.1)
            panel.set_title(f"{NAMES[kind]} (named: position {places - 1})" if kind == "sum" else NAMES[kind])
            texts = _texts(last, kind)
            trail = stage.moving(
                LineCollection([], colors=stage.theme.masked, linewidths=0.6 * stage.size.line, zorder=3)
            )
            panel.add_collection(trail, autolim=False)
            cloud = stage.moving(_draw.dots(panel, np.zeros((0, 2)), colour=stage.theme.rung, scale=0.6))
            told = _told(run, last, kind)
            names = Spread(stage, panel, [texts[k] for k in told], stage.theme.ink, above=0.9 if kind == "sum" else 0.0)
            movers[kind] = (names, told, trail, deque[Array](maxlen=TRAIL), cloud)

        def update(step: int) -> Result:
            now = embeddings(run, step=step, member=member, planes=last.planes)
            for kind, (names, told, trail, past, cloud) in movers.items():
                at = now.drawn[kind].values.reshape(-1, 2)
                if kind == "sum":  # every pair is a dot, with names only at the last position
                    cloud.set_offsets(at)
                    names.move(at[places - 1 :: places][told])
                else:  # a name stands for its point
                    cloud.set_offsets(np.delete(at, told, axis=0))
                    names.move(at[told])
                past.append(at)
                trail.set_segments(list(np.stack(past, axis=1)) if len(past) > 1 and kind != "sum" else [])
            return Moved(step=now.step, clock=now.clock, drawn=now.drawn)

        return update

    return Film(
        run, scene, title=words.title, caption=caption, alt=f"Film of the embeddings. {words.title}.", steps=moments,
        frames=frames, pace=pace, theme=theme, member=member,
    )  # fmt: skip


def _told(run: Run, last: Embeddings, kind: str) -> list[int]:
    """Which have a name, the same in all frames: all where they are few, else those that end farthest apart."""
    points = last.drawn[kind].values.reshape(-1, 2)
    if kind == "sum":
        places = len(last.summed.axes["position"])
        words, points = last.summed.axes["token"].labels, points[places - 1 :: places]
    else:
        words = last.tables[kind].axes[kind].labels
    special = {run.task.vocabulary[k] for k in run.task.groups.get("special", ())} if kind != "position" else set()
    some = [k for k, word in enumerate(words) if word not in special]
    most = SUMS if kind == "sum" else NAMED
    return list(range(len(words))) if len(words) <= most else few(points, most, some)


def _texts(seen: Embeddings, kind: str) -> list[str]:
    if kind != "sum":
        return [shown(word) for word in seen.tables[kind].axes[kind].labels]
    places = len(seen.summed.axes["position"])
    return [at_position(word, places - 1) for word in seen.summed.axes["token"].labels]
