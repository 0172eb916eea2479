"""Learned or memorised: training against held-out loss, what leaked, and the answers to questions never seen."""

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Array, Labelled, Result, fate, percent, result, shared
from glassformer.analyses._scale import Scale, spaced
from glassformer.run import Run
from glassformer.tasks import Data, Split, choose

ORDER = 20
ANSWERS = ("1.P9",)
COST = "b"
APPLIES = (_applies.logged,)

MOST, WINDOWS = 400, 200  # questions and windows of each kind that are judged
LEAK = 0.1  # share of held-out windows also in training that the title speaks of
PARTS = ("train", "validation", "test")


@result
class Generalisation(Result):
    """Excess by part over life, the share of each part already in training, and accuracy by how new a question is."""

    excess: dict[str, Labelled]  # (step,): train, validation, test
    gap: Labelled  # (step,): validation minus train
    leaked: Labelled  # (part,): share of held-out windows, answer included, that also occur in training
    accuracy: Labelled  # (kind, statistic): low, right, high; 95 % after Wilson
    judged: Labelled  # (kind,): how many were judged
    unseen: str  # the kind that training does not have; empty: there is none
    scale: Scale  # of the steps
    at: int
    in_view: bool  # whether only answers in view are counted, as of a rule
    questions: bool  # whether windows are questions with one answer

    @property
    def title(self) -> str:
        """Whether it generalises, and whether the test is fair."""
        if not {"train", "validation"} <= self.excess.keys():
            return "The losses on training and on held-out windows were not both logged, so no gap can be measured"
        known = np.flatnonzero(np.isfinite(self.gap.values))
        end = int(known[-1]) if len(known) else -1
        if end + 1 < len(self.gap.values):
            return fate("the loss is not a number", since=int(np.array(self.gap.axes["step"].values)[end + 1]))
        if not self.held_out:
            return "This task is to memorise: it is judged on the training text, so there is no gap to measure"
        gap, most = float(self.gap.values[end]), max(self.leaked.values.tolist(), default=0)
        of = "excess" if self.truth_known else "loss"  # of a text both are counted from one table
        title = f"Held-out {of} ends {_short(abs(gap))} nats {'above' if gap >= 0 else 'below'} that of training"
        if most >= LEAK:
            windows = "questions" if self.questions else "windows"
            title += f"; {percent(most)} of held-out {windows} also occur in training"
        kinds = self.accuracy.axes["kind"].labels
        right = float(self.accuracy.values[kinds.index(self.unseen), 1]) if self.unseen else np.nan
        if not np.isfinite(right):
            return title
        new = f"answers{' in view' if self.in_view else ''} in unseen windows"
        new = "answers to questions never seen" if self.unseen == "never seen" else new
        if not self.truth_known:
            return f"{title}, and {_judged.exactly(right)} of the tokens in unseen windows are guessed"
        return f"{title}, and {_judged.exactly(right)} of {new} are right"


@shared
def generalisation(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> Generalisation:
    """How far training and held-out loss part, how much of the test was seen in training, and who gets it right."""
    at = _clock.resolve(run, step)
    steps = {"step": _clock.metrics(run)["step"]}
    excess = {part: values for part in PARTS if (values := _excess(run, part, member)) is not None}
    nothing = np.full(len(_clock.metrics(run)["step"]), np.nan)
    gap = excess.get("validation", nothing) - excess.get("train", nothing)
    data = run.task.data(run.architecture.context)
    span = run.architecture.context + 1
    leaked = {part: data.leak(span, split) for part in PARTS[1:] if (split := getattr(data, part))}
    groups = _groups(run, data)
    counts = np.array([_right(run, kind, windows, data, at, member) for kind, windows in groups.items()]).reshape(-1, 2)
    low, high = _judged.wilson(counts[:, 0], counts[:, 1])
    share = np.where(counts[:, 1] > 0, counts[:, 0] / np.maximum(counts[:, 1], 1), np.nan)
    kinds = {"kind": tuple(groups)}
    return Generalisation(
        **_clock.over_life(run, step, member),
        truth_known=run.task.exact,
        excess={part: Labelled(values, steps, "nats per token") for part, values in excess.items()},
        gap=Labelled(gap, steps, "nats per token"),
        leaked=Labelled(np.array(list(leaked.values())), {"part": tuple(leaked)}, "share"),
        accuracy=Labelled(np.stack([low, share, high], -1), kinds | {"statistic": ("low", "right", "high")}, "share"),
        judged=Labelled(counts[:, 1], kinds, "answers"),
        unseen=next((kind for kind in groups if kind in ("never seen", "validation windows not in training")), ""),
        scale=spaced(run, axis, member),
        at=at,
        in_view=run.task.measure == "rule_error",
        questions=run.task.answers == "one",
        held_out=data.held_out,
    )


def _excess(run: Run, part: str, member: int) -> Array | None:
    """(line,): loss over the floor of the same windows; of a text, over the best table of counts on held-out ones."""
    losses = _clock.metric(run, f"{part}_loss", member)
    floor, common = (_clock.floors(run, each) for each in (part, "validation"))
    if losses is None or floor is None or common is None:
        name = {"train": "train_excess", "validation": "excess"}.get(part)
        return None if name is None else _clock.metric(run, name, member)
    return losses - (floor if run.task.exact else common)  # a table of counts knows the text it has counted too well


def windows_of(split: Split, span: int) -> Array:
    """(window, span): every window of a part."""
    begin = np.concatenate([
        start + np.arange(many) for start, many in zip(split.starts, split.windows, strict=True)
    ])  # fmt: skip
    return np.asarray(split.tokens)[begin[:, None] + np.arange(span)]


def _keys(windows: Array) -> Array:
    """(window,): one value per distinct row."""
    rows = np.ascontiguousarray(windows.astype(np.int32))
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]


def _groups(run: Run, data: Data) -> dict[str, Array]:
    """Windows by how new they are to the model; at most so many of each, evenly spaced."""
    span = run.architecture.context + 1
    if run.task.answers == "next" or not hasattr(run.task, "questions"):
        found = {"train windows": np.zeros(0)}
        if data.held_out:
            found |= {f"{part} windows not in training": np.zeros(0) for part in PARTS[1:] if getattr(data, part)}
        return found
    found = _questions(np.column_stack(run.task.questions()), windows_of(data.train, span))
    return {kind: windows[choose(len(windows), MOST, windows[:, 0])] for kind, windows in found.items()}


def _questions(every: Array, train: Array) -> dict[str, Array]:
    """All questions, seen and unseen; of the unseen: known in another order, not known so, and with a tie."""
    seen = np.isin(_keys(every[:, :-1]), _keys(train[:, :-1]))
    known = np.isin(_keys(np.sort(every[:, :-1], axis=1)), _keys(np.sort(train[:, :-1], axis=1)))
    distinct = np.array([len(np.unique(row)) for row in every[:, :-1]])
    tie = distinct < distinct.max()
    return {
        "seen in training": every[seen],
        "never seen": every[~seen],
        "seen in another order": every[~seen & known],
        "values never seen together": every[~seen & ~known],
        "never seen, repeated value": every[~seen & tie],
    }


def _right(run: Run, kind: str, windows: Array, data: Data, step: int, member: int) -> tuple[int, int]:
    """How many answers are right, of how many that can be known."""
    if run.task.answers == "one" and len(windows):
        place = run.architecture.read_position
        chances = run.trace(windows[:, :-1], step=step, member=member)["probabilities"][:, place]
        right = (chances.argmax(-1) == windows[:, -1]) & np.isfinite(chances).all(-1)
        return int(right.sum()), len(right)
    if kind.split()[0] not in PARTS:
        return 0, 0
    seen = _judged.judged(run, step, member, _judged.enough(run, WINDOWS), kind.split()[0])
    counted = seen.examples.answerable if seen.rule else np.ones_like(seen.examples.answerable)
    if "not in training" in kind:
        rows = seen.examples.windows
        span = rows.shape[1]
        counted = counted & ~np.isin(Split.of(rows).hashes(span), data.train.hashes(span))[:, None]
    return int(seen.right[counted].sum()), int(counted.sum())


def _short(nats: float) -> str:
    return "less than 0.001" if nats < 5e-4 else f"{nats:.3f}" if nats < 0.0995 else f"{nats:.2f}"
