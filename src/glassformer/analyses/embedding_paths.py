"""How the embeddings came to lie where they do: the way of every token and position through training."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._result import Labelled, Result, Words, numbers, thousands
from glassformer.analyses.embeddings import few, members, projection, vectors
from glassformer.run import Run

MOST_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class EmbeddingPaths(Result):
    """Places at the kept steps, in one fixed plane each, and how far each one came in all features."""

    drawn: dict[str, Labelled]  # token: (step, token, axis); position: (step, position, axis), if positions are learned
    moved: dict[str, Labelled]  # token: (token,); position: (position,): distance from the first to the chosen step
    travelled: dict[str, Labelled]  # the same along the way, over the kept steps that are drawn
    planes: dict[str, Plane]
    groups: dict[str, tuple[str, ...]]
    first: int


def embedding_paths(run: Run, *, step: int = -1, member: int = 0) -> EmbeddingPaths:
    """The ways from the first kept step to `step`; each plane is fitted once, on the last kept step."""
    step, ids = _clock.resolve(run, step), few(run)
    steps = [at for at in _clock.kept(run, MOST_STEPS) if at < step] + [step]
    life = [vectors(run, at, member) for at in steps]
    last = vectors(run, _clock.resolve(run), member)
    labels = {"token": tuple(run.task.vocabulary[k] for k in ids)}
    points = {"token": np.array([token[ids] for token, _ in life])}  # (step, token, feature)
    ends = {"token": last[0][ids]}
    if run.architecture.positions == "learned":
        labels["position"] = numbers(run.architecture.context)
        points["position"] = np.array([position for _, position in life])
        ends["position"] = np.array(last[1])
    planes = {kind: plane(end) for kind, end in ends.items()}
    drawn, moved, travelled = {}, {}, {}
    for kind, way in points.items():
        fan = np.broadcast_to(np.linspace(0, 1, way.shape[1]), way.shape[:2])
        axes = {"step": tuple(map(str, steps)), kind: labels[kind], "axis": ("across", "up")}
        drawn[kind] = Labelled(planes[kind].points(way, fan), axes)
        moved[kind] = Labelled(np.linalg.norm(way[-1] - way[0], axis=-1), {kind: labels[kind]})
        along = np.linalg.norm(np.diff(way, axis=0), axis=-1).sum(axis=0)
        travelled[kind] = Labelled(along, {kind: labels[kind]})
    return EmbeddingPaths(
        step=step,
        clock=_clock.text(run, step, member),
        drawn=drawn,
        moved=moved,
        travelled=travelled,
        planes=planes,
        groups=members(run, ids),
        first=steps[0],
    )


def say(seen: EmbeddingPaths) -> Words:
    """Who went farthest."""
    token = seen.moved["token"]
    many = len(seen.drawn["token"].axes["step"])
    caption = (
        f"The way of each vector over {many} kept steps, early in dark and late in light shades (on a dark page "
        "as the bar "
        "says); a ring marks the start, the label the end. Every plane is fitted once, on the last kept step, so "
        "nothing "
        "moves because the view does; the cross is zero. Distances are exact and counted in all features. A "
        "vector that "
        "training never needed to move would end inside its ring."
    )
    if not np.isfinite(token.values).all():
        title = f"By step {seen.step} the embeddings are not numbers: the training has diverged"
    elif many == 1:
        title = f"At step {thousands(seen.first)}, the first one kept, nothing has moved yet"
    else:
        far = int(np.argmax(token.values))
        title = (
            f"“{shown(token.axes['token'][far])}” ends farthest from where it began, {token.values[far]:.2f} away; "
            f"the mean of all tokens is {token.values.mean():.2f}"
        )
        if "position" in seen.moved:
            title += f", of all positions {seen.moved['position'].values.mean():.2f}"
        title += projection(seen.planes)
    return Words(title, caption, f"Trails of all token and position embeddings through training. {title}.")
