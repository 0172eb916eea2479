"""What a model answers on held-out windows, beside what is known about their answers; shared by what judges it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._evaluation import LARGE as LARGE
from glassformer.analyses._evaluation import LEAST, TOGETHER, WORK, most_steps, most_windows
from glassformer.analyses._fitting import fitting
from glassformer.analyses._result import Array, percent
from glassformer.counted import counted
from glassformer.run import Run
from glassformer.tasks import Examples

NUMBERS = 4_000_000  # probabilities held at a time
Z = 1.96  # 95 % of a normal distribution


@dataclass(frozen=True)
class Judged:
    """Predictions at one step: (example, place) as in `Examples`; the probabilities themselves are not kept."""

    examples: Examples
    targets: Array  # the token that came
    guess: Array  # the likeliest token
    given: Array  # the probability of the token that came
    accepted: Array  # the probability of all tokens that the verifier accepts
    finite: Array  # whether the prediction consists of numbers
    rule: bool = False  # whether all that a rule allows is right; else only the token that came, as it is logged

    @property
    def right(self) -> Array:
        """(example, place): whether the likeliest token is right."""
        if not self.rule:
            return np.asarray((self.guess == self.targets) & self.finite)
        found: Array = np.take_along_axis(self.examples.allowed, self.guess[..., None], axis=-1)[..., 0]
        return found & self.finite

    @property
    def error(self) -> Array:
        """(example, place): 0 where the likeliest token is right, 1 where it is not; NaN where it is no number."""
        return np.where(self.finite, ~self.right, np.nan)

    @property
    def chance_right(self) -> Array:
        """(example, place): the probability of being right when sampling at T = 1."""
        return self.accepted if self.rule else self.given

    @property
    def excess(self) -> Array:
        """(example, place): loss minus that of the exact predictor on the same token, in nats."""
        return self.examples.truth - np.log(np.maximum(self.given, 1e-30))

    @property
    def hidden(self) -> Array:
        """(example, place): constrained, but what is in view does not settle the answer."""
        return self.examples.constrained & ~self.examples.answerable


@lru_cache(maxsize=16)
def _examples(run: Run, part: str, most: int) -> Examples:
    return run.task.examples(run.architecture.context, part, most)  # type: ignore[arg-type]


@lru_cache(maxsize=128)
def judged(run: Run, step: int, member: int = 0, most: int = 1000, part: str = "validation") -> Judged:
    """Every prediction on at most so many windows of a part, always the same ones; `step` must be a kept one."""
    return judge(run, _examples(run, part, most), step, member)


def judge(run: Run, examples: Examples, step: int, member: int = 0) -> Judged:
    """Every prediction on these windows."""
    windows, (read, came) = examples.windows, counted(run.architecture, skip=0)
    targets = windows[:, 1:][:, came]
    rule = run.task.measure == "rule_error"
    each = fitting(run, int(np.clip(NUMBERS // (run.architecture.context * run.architecture.answers), 1, TOGETHER)))
    parts = []
    for begin in range(0, len(windows), each):
        some = slice(begin, begin + each)
        chances = run.trace(windows[some, :-1], step=step, member=member)["probabilities"][:, read]
        given = np.take_along_axis(chances, targets[some][..., None], axis=-1)[..., 0].astype(np.float64)
        finite = np.isfinite(chances).all(axis=-1)
        accepted = given
        if rule:
            allowed = examples.allowed[some, ..., : chances.shape[-1]]
            accepted = np.where(allowed, chances, 0).sum(axis=-1, dtype=np.float64)
        parts.append((chances.argmax(axis=-1), given, accepted, finite))
    guess, given, accepted, finite = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Judged(examples, targets, guess, given, accepted, finite, rule)


def held_out(run: Run) -> bool:
    """Whether anything is held back from training to judge by."""
    return run.task.data(run.architecture.context).held_out


def about(run: Run) -> dict[str, Any]:
    """`truth_known` and `held_out` of a result that judges a run."""
    return {"truth_known": run.task.exact, "held_out": held_out(run)}


def asked(run: Run) -> str:
    """What right answers are a share of, where no rule picks some of them."""
    return "questions" if run.task.answers == "one" else "tokens"


def enough(run: Run, most: int, share: float = 5.0) -> int:
    """How many windows to judge at one step: `most` for small models, fewer for large ones."""
    return fitting(run, int(np.clip(share * WORK / (run.parameters * run.architecture.context), 2 * LEAST, most)))


def life(run: Run, step: int = -1, member: int = 0, most: int | None = None) -> tuple[list[int], int]:
    """The kept steps at which a whole life is judged (the asked one among them), and on how many windows.

    Of a small model on all that the logged lines are measured on, so that both say the same number.
    """
    found = {*_clock.looks(run, most or most_steps(run), member), _clock.resolve(run, step)}
    return sorted(found), most_windows(run)


def wilson(right: Array, many: Array) -> tuple[Array, Array]:
    """95 % interval of a share, after Wilson; NaN where nothing was counted."""
    many = np.asarray(many, dtype=np.float64)
    safe = np.maximum(many, 1)
    share = np.asarray(right) / safe
    centre = (share + Z**2 / (2 * safe)) / (1 + Z**2 / safe)
    half = Z * np.sqrt(share * (1 - share) / safe + Z**2 / (4 * safe**2)) / (1 + Z**2 / safe)
    some = many > 0
    return np.where(some, np.maximum(centre - half, 0), np.nan), np.where(some, np.minimum(centre + half, 1), np.nan)


def mean(values: Array, chosen: Array) -> float:
    """The mean over the chosen places; NaN where there are none."""
    return float(np.mean(values[chosen])) if chosen.any() else float("nan")


def exactly(share: float) -> str:
    """A share as a text; never 100 % or 0 % unless it is all or nothing."""
    if not np.isfinite(share) or share == round(share) or 0.0005 <= share < 0.995:
        return percent(share)
    return (
        f"{100 * share:.{1 if 0.995 <= share < 0.9995 else 2}f} %"
        if 0.0001 <= share < 0.9999
        else "under 0.01 %"
        if share < 0.5
        else "over 99.99 %"
    )
