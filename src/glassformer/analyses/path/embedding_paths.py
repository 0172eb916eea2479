"""How the embeddings came to lie where they do: the way of every token and position through training."""

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import DIRECTIONS, Plane, plane
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, result, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.analyses.know.embeddings import few, members, projection, vectors
from glassformer.run import Run

ORDER = 80
ANSWERS = ("4.D1", "1.P7")
COST = "b"
EDITS = "weights"

MOST_STEPS = 32
HALF = 2  # steps on both sides over which a trail is averaged


@result
class EmbeddingPaths(Result):
    """Places at the kept steps, in one fixed plane each, and how far each one came in all features."""

    drawn: dict[str, Labelled]  # token: (step, token, direction); position: (step, position, direction), where learned
    trails: dict[str, Labelled]  # the same as running means over five of the steps, ends as they are
    moved: dict[str, Labelled]  # token: (token,); position: (position,): distance from the first to the chosen step
    planes: dict[str, Plane]
    groups: dict[str, tuple[str, ...]]  # the drawn tokens of each group
    task_groups: tuple[str, ...]  # all groups of the task, in its order
    first: int
    vocabulary: int  # tokens there are, of which a large one has only the most frequent drawn
    scale: Scale

    @property
    def title(self) -> str:
        """Who went farthest."""
        token, width = self.moved["token"], self.planes["token"].width
        if not np.isfinite(token.values).all():
            return fate("the embeddings are not numbers", self.step)
        if self.step == self.first:
            return f"At step {thousands(self.first)}, the first one kept, nothing has moved yet"
        far, many = int(np.argmax(token.values)), len(token.values)
        some = f"Of the {many} most frequent tokens, " if many < self.vocabulary else ""
        title = (
            f"{some}“{shown(token.axes['token'].labels[far])}” ends farthest from its start, {token.values[far]:.2f} "
            f"away{f' in all {width} features' if width > 2 else ''}; {'they' if some else 'tokens'} end "
            f"{token.values.mean():.2f} away on average"
        )
        if "position" in self.moved:
            title += f", positions {self.moved['position'].values.mean():.2f}"
        return title + projection(self.planes)


def embedding_paths(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> EmbeddingPaths:
    """The ways from the first kept step to `step`; each plane is fitted once, on the last kept step."""
    step, ids = _clock.resolve(run, step), few(run)
    scale = spaced(run, axis, member)
    steps = _moments(run, step, scale)
    life = [vectors(run, at, member) for at in steps]
    last = vectors(run, _clock.resolve(run), member)
    labels: dict[str, tuple[str | int, ...]] = {"token": tuple(run.task.vocabulary[k] for k in ids)}
    points = {"token": np.array([token[ids] for token, _ in life])}  # (step, token, feature)
    ends = {"token": last[0][ids]}
    if run.architecture.positions == "learned":
        labels["position"] = numbers(run.architecture.context)
        points["position"] = np.array([position for _, position in life])
        ends["position"] = np.array(last[1])
    planes = {kind: plane(end) for kind, end in ends.items()}
    drawn, trails, moved = {}, {}, {}
    for kind, way in points.items():
        fan = np.broadcast_to(np.linspace(0, 1, way.shape[1]), way.shape[:2])
        axes = {"step": steps, kind: labels[kind], "direction": DIRECTIONS}
        drawn[kind] = Labelled(planes[kind].points(way, fan), axes)
        trails[kind] = Labelled(smoothed(drawn[kind].values), axes)
        moved[kind] = Labelled(np.linalg.norm(way[-1] - way[0], axis=-1), {kind: labels[kind]})
    return EmbeddingPaths(
        **_clock.at_step(run, step, member),
        drawn=drawn,
        trails=trails,
        moved=moved,
        planes=planes,
        groups=members(run, ids),
        task_groups=tuple(run.task.groups),
        first=steps[0],
        vocabulary=len(run.task.vocabulary),
        scale=scale,
    )


def smoothed(way: Array) -> Array:
    """(step, …): the mean over so many steps on both sides, fewer near the ends, which stay where they are."""
    many = len(way)
    reach = [min(HALF, k, many - 1 - k) for k in range(many)]
    return np.array([way[k - each : k + each + 1].mean(axis=0) for k, each in enumerate(reach)])


def _moments(run: Run, step: int, scale: Scale) -> list[int]:
    """Kept steps up to this one, evenly apart as the scale has it: most of the way may be made early."""
    kept = np.array([at for at in run.steps if at <= step])
    there = scale.place(kept)
    wanted = np.linspace(there[0], there[-1], MOST_STEPS)
    return [int(at) for at in np.unique(kept[np.abs(there[:, None] - wanted).argmin(axis=0)])]
