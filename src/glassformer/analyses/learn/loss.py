"""How much was learned, and when: the loss by step, on the ladder of the task."""

from typing import Annotated, Literal

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._options import Frames, Member, Option, Pace, Shown, Step, StepAxis
from glassformer.analyses._reel import Reel, frames_of, strip
from glassformer.analyses._result import Array, Labelled, Result, fate, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.errors import check_name
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.02", "4.r03", "1.P2", "1.P3", "1.P4", "2.F3", "2.F4", "3.§10")
COST = "a"
APPLIES = (_applies.logged,)
UNITS = {"nats": "nats per token", "bits": "bits per token", "perplexity": "perplexity"}
Unit = Annotated[Literal["nats", "bits", "perplexity"], Option("of the losses and rungs")]


@result
class Loss(Result):
    """Losses, excess over the floor and error by logged step, of one member."""

    curves: dict[str, Labelled]  # (step,): train, validation; train_excess, excess; and the errors that were logged
    smooth: dict[str, Labelled]  # (step,): running medians of the losses and excesses
    rungs: Labelled  # (rung,): price, highest first
    reachable: tuple[bool, ...]
    crossed: Labelled  # (rung,): the first logged step on or below each rung; NaN where it never was
    slack: float  # how far above a rung counts as on it; NaN for perplexity, where it is no fixed distance
    window_floor: float  # what the exact predictor pays on the very windows that are judged; NaN where not known
    train_floor: float  # the same on the training windows
    least_error: float  # the smallest error any model with this window can reach; NaN where that is not known
    windows: tuple[int, int]  # behind every line before the last, behind the last; zeros where a run does not say
    steps: int  # the whole training
    unit: str
    scale: Scale  # of the steps

    @property
    def title(self) -> str:
        """From where to where, and on which rung it stands."""
        if "validation" not in self.curves:
            return "Nothing was logged during this training"
        at, losses, floor = self.at, self.curves["validation"].values, float(self.rungs.values[self.lowest])
        if len(bad := np.flatnonzero(~np.isfinite(losses))):
            return fate("the loss is not a number", since=int(at[bad[0]]))
        if len(at) == 1:
            best = "floor" if self.truth_known else "best table of counts"
            of = f"loss {losses[0]:.2f}, {best} {floor:.2f} {UNITS[self.unit]}"
            return f"Only step {thousands(int(at[0]))} was logged: {of}"
        excess = self.curves["excess"].values if "excess" in self.curves else losses - floor
        name, unit = ("Perplexity", "") if self.unit == "perplexity" else ("Loss", f" {self.unit}")
        words = "falls" if losses[-1] < losses[0] else "rises"
        return (
            f"{name} {words} from {losses[0]:.2f} to {losses[-1]:.2f}{unit} in {thousands(int(at[-1]))} steps"
            f"{_passed(self)} and ends {_left(float(excess[-1]), self)}"
        )

    @property
    def at(self) -> Array:
        """The logged steps."""
        return np.array(next(iter(self.curves.values())).axes["step"].values if self.curves else (), dtype=int)

    @property
    def lowest(self) -> int:
        """The lowest rung that can be reached."""
        return max(k for k, ok in enumerate(self.reachable) if ok)


@shared
def loss(run: Run, *, step: Step = -1, member: Member = 0, unit: Unit = "nats", axis: StepAxis = "auto") -> Loss:
    """Every logged loss of one member, with the exact prices of the partial understandings behind it.

    `unit`: nats, bits, or perplexity (of the losses and rungs; an excess is then still in nats).
    """
    check_name(unit, "the units of a loss", UNITS)
    at = _clock.metrics(run)["step"]
    names = {"train": "train_loss", "validation": "validation_loss", "train_excess": "train_excess", "excess": "excess"}
    names |= {name: name for name in ("rule_error", "rule_error_answerable", "accuracy") if name in _clock.metrics(run)}
    curves, smooth = {}, {}
    for shown, name in names.items():
        if (values := _clock.metric(run, name, member)) is None:
            continue
        if name == "train_excess" and not run.task.exact:
            values = _over_held_out(run, values, member)
        if shown == "accuracy":
            curves["error"] = Labelled(1 - values, {"step": at}, "share")
        elif "error" in shown:
            curves[shown] = Labelled(values, {"step": at}, "share")
        else:
            of = unit if "excess" not in shown or unit == "bits" else "nats"
            curves[shown] = Labelled(_in(of, values), {"step": at}, UNITS[of])
            smooth[shown] = Labelled(_in(of, _clock.smooth(values)), {"step": at}, UNITS[of])
    ladder = _clock.ladder(run)
    passed = {rung.name: step for rung, step in _clock.passed(run, member)}
    prices = {"rung": _clock.rung_axis(ladder)}
    crossed = np.array([np.nan if passed.get(rung.name) is None else passed[rung.name] for rung in ladder], dtype=float)
    shares = getattr(run.task, "shares", None)
    return Loss(
        **_clock.over_life(run, step, member),
        **_judged.about(run),
        curves=curves,
        smooth=smooth,
        rungs=Labelled(_in(unit, np.array([rung.nats for rung in ladder])), prices, UNITS[unit]),
        reachable=tuple(rung.reachable for rung in ladder),
        crossed=Labelled(crossed, prices, "step"),
        slack=float("nan") if unit == "perplexity" else float(_in(unit, np.array(_clock.slack(run)))),
        window_floor=float(_in(unit, np.array(_clock.window_floor(run, member)))),
        train_floor=float(_in(unit, np.array(_clock.window_floor(run, member, "train")))),
        least_error=float(shares(run.architecture.context).least_error) if shares else float("nan"),
        windows=(0, 0) if (many := _clock.judged(run)) is None or not len(many) else (int(many[0]), int(many[-1])),
        steps=_clock.total(run),
        unit=unit,
        scale=spaced(run, axis, member),
    )


def _over_held_out(run: Run, excess: Array, member: int) -> Array:
    """Training loss above the table's price of the held-out windows: those it has counted, it knows too well."""
    losses, floors = _clock.metric(run, "train_loss", member), _clock.floors(run, "validation")
    return excess if losses is None or floors is None else losses - floors


@result
class Now(Result):
    """The logged losses at one step; between two logged ones, on the straight line from one to the other."""

    logged: Labelled  # (quantity,)


def now(run: Run, *, step: int = -1, member: int = 0) -> Now:
    """Losses and excess at a step."""
    step = _clock.resolve(run, step)
    every = {name: _clock.logged(run, name, step, member) for name in ("train_loss", "validation_loss", "excess")}
    values = {name: value[0] for name, value in every.items() if value is not None}
    found = Labelled(np.array(list(values.values())), {"quantity": values}, "nats per token")
    return Now(step=step, clock=_clock.text(run, step, member), logged=found)


def _in(unit: str, nats: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(nats) if unit == "perplexity" else nats / np.log(2) if unit == "bits" else nats


def _passed(seen: Loss) -> str:
    """The lowest rung that was reached, and when."""
    reached = np.flatnonzero(np.isfinite(seen.crossed.values))
    if not len(reached):
        return ", stays above every rung of the ladder"
    rung = int(reached[-1])
    name = seen.rungs.axes["rung"].values[rung]
    step = thousands(int(seen.crossed.values[rung]))
    if rung != seen.lowest:
        return f", passes “{name}” as its last rung by step {step}"
    near = f"comes within {seen.slack:.2g} of" if np.isfinite(seen.slack) else "reaches"
    return f", {near} “{name}” by step {step}"


def _left(excess: float, seen: Loss) -> str:
    """How far from the price of the very windows on which the loss is measured, which differs from the long run's."""
    unit = "bits" if seen.unit == "bits" else "nats"
    floor = "the floor of these windows" if seen.truth_known else "the best table of counts on the same windows"
    much = "less than 0.001" if abs(excess) < 5e-4 else f"{abs(excess):.3f}"
    return f"{much} {unit} {'above' if excess > 0 else 'below'} {floor}"


def reel(
    run: Run,
    *,
    member: Member = 0,
    axis: StepAxis = "auto",
    frames: Frames = 200,
    pace: Pace = "even",
    steps: Shown = None,
) -> Reel:
    """The whole life, which stands still, and the losses at each frame."""
    whole, every = loss(run, member=member, axis=axis), frames_of(run, frames, pace, steps, member)

    def at(step: int) -> Now:
        return now(run, step=step, member=member)

    return Reel(whole.title, every, at, strip(run, member, axis), {"loss": whole})
