"""Learned or memorised: training against held-out loss, what leaked, and the answers to questions never seen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, shared, thousands, result
from glassformer.run import Run
from glassformer.tasks import Data, Split

ORDER = 20
ANSWERS = ("1.P9",)
COST = "b"
APPLIES = (_applies.logged,)


MOST, WINDOWS = 400, 200  # questions and windows of each kind that are judged
MOST_HELD = 20_000  # held-out windows looked for in training
FLOORS = 0.1  # nats between what stands in for the floors of two parts of a text that chance explains
LEAK = 0.1  # share of held-out windows also in training that the title speaks of
PARTS = ("train", "validation", "test")


@result
class Generalisation(Result):
    """Excess by part over life, the share of each part already in training, and accuracy by how new a question is."""

    excess: dict[str, Labelled]  # (step,): train, validation, test
    gap: Labelled  # (step,): validation minus train
    leaked: Labelled  # (part,): share of held-out windows, answer included, that also occur in training
    accuracy: Labelled  # (kind, end): low, right, high; 95 % after Wilson
    judged: Labelled  # (kind,): how many were judged
    steps: int
    at: int
    in_view: bool  # whether only answers in view are counted, as of a rule
    questions: bool  # whether windows are questions with one answer
    by_heart: bool  # the held-out data are the training data: the task is to memorise


@shared
def generalisation(run: Run, *, step: int = -1, member: int = 0) -> Generalisation:
    """How far training and held-out loss part, how much of the test was seen in training, and who gets it right."""
    at = _clock.resolve(run, step)
    labels = tuple(map(str, run.metrics["step"].tolist()))
    excess = {part: values for part in PARTS if (values := _excess(run, part, member)) is not None}
    nothing = np.full(len(labels), np.nan)
    gap = excess.get("validation", nothing) - excess.get("train", nothing)
    data = run.task.data(run.architecture.context)
    leaked = {part: _leaked(data, part, run.architecture.context + 1) for part in PARTS[1:] if getattr(data, part)}
    groups = _groups(run, data)
    counts = np.array([_right(run, kind, windows, data, at, member) for kind, windows in groups.items()]).reshape(-1, 2)
    low, high = _judged.wilson(counts[:, 0], counts[:, 1])
    share = np.where(counts[:, 1] > 0, counts[:, 0] / np.maximum(counts[:, 1], 1), np.nan)
    kinds = {"kind": tuple(groups)}
    return Generalisation(
        step=None if step == -1 else at,
        clock=_clock.text(run, step, member),
        truth_known=run.task.exact,
        excess={part: Labelled(values, {"step": labels}, "nats per token") for part, values in excess.items()},
        gap=Labelled(gap, {"step": labels}, "nats per token"),
        leaked=Labelled(np.array(list(leaked.values())), {"part": tuple(leaked)}, "share"),
        accuracy=Labelled(np.stack([low, share, high], -1), kinds | {"end": ("low", "right", "high")}, "share"),
        judged=Labelled(counts[:, 1], kinds, "answers"),
        steps=_clock.total(run),
        at=at,
        in_view=run.task.measure == "rule_error",
        questions=run.task.answers == "one",
        by_heart=data.train is data.validation,
    )


def _excess(run: Run, part: str, member: int) -> Array | None:
    """(line,): loss over the floor of the same windows."""
    losses, floors = _clock.metric(run, f"{part}_loss", member), run.about.get("floors")
    if losses is None or not isinstance(floors, dict) or not {part, "validation"} <= floors.keys():
        name = {"train": "train_excess", "validation": "excess"}.get(part)
        return None if name is None else _clock.metric(run, name, member)
    floor, common = float(floors[part]), float(floors["validation"])
    near = run.task.exact or abs(floor - common) < FLOORS  # far apart: a text whose one half is known by heart
    return losses - (floor if near else common)


def windows_of(split: Split, span: int) -> Array:
    """(window, span): every window of a part."""
    begin = np.concatenate([
        start + np.arange(many) for start, many in zip(split.starts, split.windows, strict=True)
    ])  # fmt: skip
    found: Array = np.asarray(split.tokens)[begin[:, None] + np.arange(span)]
    return found


def _keys(windows: Array) -> Array:
    """(window,): one value per distinct row."""
    rows = np.ascontiguousarray(windows.astype(np.int32))
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]


def _hashes(split: Split, span: int) -> Array:
    """(window,): a number of 64 bits for each window of a part, the same for the same tokens; no window is laid out."""
    tokens = np.asarray(split.tokens).astype(np.uint64) + np.uint64(1)
    found = np.zeros(max(len(tokens) - span + 1, 0), dtype=np.uint64)
    for place in range(span):  # wraps around, as it should
        found *= np.uint64(0x9E3779B97F4A7C15)
        found += tokens[place : place + len(found)]
        found ^= found >> np.uint64(29)
    begin = [start + np.arange(many) for start, many in zip(split.starts, split.windows, strict=True)]
    return found[np.concatenate(begin)]  # type: ignore[no-any-return]


def _leaked(data: Data, part: str, span: int) -> float:
    """The share of a part's windows that training has too."""
    held = _hashes(getattr(data, part), span)
    held = held[:: max(1, len(held) // MOST_HELD)]
    return float(np.isin(held, _hashes(data.train, span)).mean())


def _groups(run: Run, data: Data) -> dict[str, Array]:
    """Windows by how new they are to the model; at most so many of each, evenly spaced."""
    span = run.architecture.context + 1
    if run.task.answers == "next" or not hasattr(run.task, "questions"):
        found = {"train windows": np.zeros(0)}
        if data.train is not data.validation:
            found |= {f"{part} windows not in training": np.zeros(0) for part in PARTS[1:] if getattr(data, part)}
        return found
    found = _questions(np.column_stack(run.task.questions()), windows_of(data.train, span))
    return {kind: _few(windows) for kind, windows in found.items()}


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


def _few(windows: Array) -> Array:
    return windows[np.arange(MOST) * len(windows) // MOST] if len(windows) > MOST else windows


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
    counted = np.ones_like(seen.examples.answerable) if seen.free else seen.examples.answerable
    if "not in training" in kind:
        rows = seen.examples.windows
        span = rows.shape[1]
        each = Split(rows.ravel(), np.arange(len(rows)) * span, np.ones(len(rows), dtype=int))
        counted = counted & ~np.isin(_hashes(each, span), _hashes(data.train, span))[:, None]
    return int(seen.right[counted].sum()), int(counted.sum())


def say(seen: Generalisation) -> Words:
    """Whether it generalises, and whether the test is fair."""
    names, right = seen.accuracy.axes["kind"].labels, seen.accuracy.values[:, 1]
    last = seen.gap.values[np.isfinite(seen.gap.values)]
    leak = _leak(seen)
    if not len(last) or not np.isfinite(seen.gap.values[-1]):
        title = "The loss is not a number at the end, so nothing can be said about generalising"
    elif seen.by_heart:
        title = "This task is to memorise: the held-out text is the training text, so there is no gap to measure"
    else:
        unseen = next(
            (k for k, name in enumerate(names) if name in ("never seen", "validation windows not in training")), None
        )
        good = ""
        if unseen is not None and np.isfinite(right[unseen]):
            good = f", and {_judged.exactly(float(right[unseen]))} of {_what(names[unseen], seen.in_view)} are right"
        side = "above" if last[-1] >= 0 else "below"
        title = f"Held-out excess ends {_short(abs(last[-1]))} nats {side} that of training{leak}{good}"
    caption = (
        f"Top: loss above {seen.least} on the same windows, on training (solid), validation (dashed) and test windows "
        "(dotted); the gap between training and validation is shaded; the axis is straight below 0.001 and logarithmic "
        "above where little is left at the end. The foot is the leak meter: the share of "
        f"held-out {'questions' if seen.questions else 'windows, next token included,'} that also occur in training; "
        "only the rest can show that something was learned. Below: the share of right answers at step "
        f"{thousands(seen.at)} with intervals of 95 %"
        + (
            ", by how new a question is: seen in training; never seen; of these, seen with its values in another "
            "order, with values never seen together, and with a repeated value (a tie)."
            if "never seen" in names
            else ", on training windows and on held-out ones that training does not have, where the answer is in view."
        )
        + " A gap that grows while training improves would mean memorising."
    )
    return Words(title, caption, f"Curves of excess by part, and bars of accuracy. {title}.")


def _short(nats: float) -> str:
    return "less than 0.001" if nats < 5e-4 else f"{nats:.3f}" if nats < 0.0995 else f"{nats:.2f}"


def _what(name: str, in_view: bool) -> str:
    return "answers to questions never seen" if name == "never seen" else (
        "answers in view in unseen windows" if in_view else "answers in unseen windows"
    )  # fmt: skip


def _leak(seen: Generalisation) -> str:
    shares: Sequence[float] = seen.leaked.values.tolist()
    what = "questions" if seen.questions else "windows"
    if max(shares, default=0) < LEAK:
        return ""
    return f"; {percent(max(shares))} of held-out {what} also occur in training"
