"""How curved the loss is around the weights: the eigenvalues of its second derivatives, at a step and over life."""

from collections.abc import Sequence

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._curvature import Curvature, lanczos
from glassformer.analyses._life import flat
from glassformer.analyses._options import CurveSteps, Member, Step, StepAxis
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, percent, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.run import Run

ORDER = 100
ANSWERS = ("1.P8",)
COST = "d"
EDITS = "weights"

EXACT = 2000  # parameters up to which the whole matrix is made
TOP = 10
ROUNDS = 40  # of Lanczos, for larger models
FLAT = 1e-9  # share of the largest eigenvalue within which one counts as zero


@result
class Hessian(Result):
    """Eigenvalues of the matrix of second derivatives of the training loss."""

    eigenvalues: Labelled  # (rank,): at the step, largest first; estimates (Ritz values) if not `exact`
    over_life: Labelled  # (rank, step): the ten largest
    smallest: Labelled  # (step,): the smallest
    edge: Labelled  # (step,): the largest curvature at which plain descent (or momentum) is stable; NaN for Adam
    negative: float  # how many eigenvalues are below zero; if not exact, an estimate
    zero: float  # how many are zero to within rounding
    gradient: float  # length of the gradient there
    exact: bool
    windows: int
    parameters: int
    optimiser: str
    steps: tuple[int, ...]
    scale: Scale

    @property
    def title(self) -> str:
        """How sharp, and in how many directions downhill."""
        values = self.eigenvalues.values
        if not np.isfinite(values).all():
            return fate("the weights are not numbers", self.step)
        counted = (
            f"{thousands(round(self.negative))} of {thousands(self.parameters)} eigenvalues are below zero"
            if self.exact
            else f"an estimated {percent(self.negative / self.parameters)} of all eigenvalues lie below zero"
        )
        title = f"The sharpest direction has curvature {values[0]:.3g}; {counted}, the lowest is {values[-1]:.2g}"
        return title.replace("-", "\u2212")


@shared
def hessian(
    run: Run,
    *,
    step: Step = -1,
    steps: CurveSteps = None,
    member: Member = 0,
    axis: StepAxis = "auto",
) -> Hessian:
    """Eigenvalues at a step, and the ten largest at a few steps; exact up to 2 000 parameters, else by Lanczos."""
    age = _clock.resolve(run, step)
    exact = run.parameters <= EXACT
    most = 200 if run.parameters <= 400 else 64
    bend = Curvature(run, most)
    life = sorted({*(_life(run, member) if steps is None else _clock.chosen(run, steps)), age})
    found = {at: _spectrum(bend, flat(run, [at], member)[0], exact) for at in life}
    values, weights = found[age]
    here = flat(run, [age], member)[0]
    top = np.array([_largest(found[at][0]) for at in life]).T
    labels = {"step": life}
    count = len(values) if exact else run.parameters
    level = FLAT * float(np.max(np.abs(values), initial=0)) if np.isfinite(values).all() else 0.0
    zero = np.abs(values) <= level
    return Hessian(
        **_clock.at_step(run, age, member),
        eigenvalues=Labelled(values[::-1], {"rank": numbers(len(values))}, "nats per square of weight"),
        over_life=Labelled(top, {"rank": numbers(len(top)), **labels}, "nats per square of weight"),
        smallest=Labelled(np.array([found[at][0][0] for at in life]), labels, "nats per square of weight"),
        edge=Labelled(_edge(run, life, member), labels, "nats per square of weight"),
        negative=float(weights[(values < 0) & ~zero].sum() * count),
        zero=float(weights[zero].sum() * count),
        gradient=float(np.linalg.norm(bend.gradient(here))) if np.isfinite(here).all() else float("nan"),
        exact=exact,
        windows=len(bend.windows),
        parameters=run.parameters,
        optimiser=run.experiment.train.optimiser,
        steps=tuple(life),
        scale=spaced(run, axis, member),
    )


def _life(run: Run, member: int) -> list[int]:
    """As many steps as the size of the matrix allows: more for small models."""
    many = 20 if run.parameters <= 400 else 8 if run.parameters <= EXACT else 5
    return sorted({*_clock.kept(run, many - 4, member=member), *_clock.kept(run, 6, "change", member)})


def _spectrum(bend: Curvature, weights: Array, exact: bool) -> tuple[Array, Array]:
    """Eigenvalues (or Ritz values) in rising order, and the share of the spectrum that each stands for."""
    if not np.isfinite(weights).all():
        return np.full(TOP, np.nan), np.full(TOP, 1 / TOP)
    if exact:
        values = np.linalg.eigvalsh(bend.matrix(weights))
        return values, np.full(len(values), 1 / len(values))
    return lanczos(lambda vector: bend.times(weights, vector), len(weights), ROUNDS)


def _largest(values: Array) -> Array:
    top = values[::-1][:TOP]
    return np.concatenate([top, np.full(TOP - len(top), np.nan)])


def _edge(run: Run, steps: Sequence[int], member: int) -> Array:
    """2 / rate for plain descent, 2 (1 + momentum) / rate with momentum: sharper, and a quadratic bowl overflows."""
    train = run.experiment.train
    factor = {"sgd": 2.0, "momentum": 2 * (1 + train.momentum)}.get(train.optimiser, np.nan)
    rates = [_clock.logged(run, "rate", step, member) for step in steps]
    return np.array([np.nan if rate is None or not rate[0] else factor / rate[0] for rate in rates])
