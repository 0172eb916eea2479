"""How much was learned, and when: the loss by step, on the ladder of the task."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, shared, thousands, result
from glassformer.errors import unknown
from glassformer.run import Run

ORDER = 10
ANSWERS = ("4.02", "4.r03", "1.P2", "1.P3", "1.P4", "2.F3", "2.F4", "3.§10")
COST = "a"
APPLIES = (_applies.logged,)


UNITS = {"nats": "nats per token", "bits": "bits per token", "perplexity": "perplexity"}


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
    steps: int  # the whole training
    unit: str


@shared
def loss(run: Run, *, step: int = -1, member: int = 0, unit: str = "nats") -> Loss:
    """Every logged loss of one member, with the exact prices of the partial understandings behind it.

    `unit`: nats, bits, or perplexity (of the losses and rungs; an excess is then still in nats).
    """
    if unit not in UNITS:
        raise unknown(unit, "the units of a loss", UNITS)
    at = run.metrics["step"]
    labels = tuple(map(str, at.tolist()))
    names = {"train": "train_loss", "validation": "validation_loss", "train_excess": "train_excess", "excess": "excess"}
    names |= {name: name for name in ("rule_error", "rule_error_answerable", "accuracy") if name in run.metrics}
    curves, smooth = {}, {}
    for shown, name in names.items():
        if (values := _clock.metric(run, name, member)) is None:
            continue
        if name == "train_excess" and not run.task.exact:
            values = _over_held_out(run, values, member)
        if shown == "accuracy":
            curves["error"] = Labelled(1 - values, {"step": labels}, "share")
        elif "error" in shown:
            curves[shown] = Labelled(values, {"step": labels}, "share")
        else:
            of = unit if "excess" not in shown or unit == "bits" else "nats"
            curves[shown] = Labelled(_in(of, values), {"step": labels}, UNITS[of])
            smooth[shown] = Labelled(_in(of, _clock.smooth(values)), {"step": labels}, UNITS[of])
    ladder = _clock.ladder(run)
    passed = {rung.name: step for rung, step in _clock.passed(run, member)}
    prices = {"rung": tuple(rung.name for rung in ladder)}
    crossed = np.array([np.nan if passed.get(rung.name) is None else passed[rung.name] for rung in ladder], dtype=float)
    shares = getattr(run.task, "shares", None)
    return Loss(
        step=None if step == -1 else _clock.resolve(run, step),  # the whole life, with one step marked if asked for
        clock=_clock.text(run, step, member),
        truth_known=run.task.exact,
        curves=curves,
        smooth=smooth,
        rungs=Labelled(_in(unit, np.array([rung.nats for rung in ladder])), prices, UNITS[unit]),
        reachable=tuple(rung.reachable for rung in ladder),
        crossed=Labelled(crossed, prices, "step"),
        slack=float("nan") if unit == "perplexity" else float(_in(unit, np.array(_clock.slack(run)))),
        window_floor=float(_in(unit, np.array(_clock.window_floor(run, member)))),
        train_floor=float(_in(unit, np.array(_clock.window_floor(run, member, "train")))),
        least_error=float(shares(run.architecture.context).least_error) if shares else float("nan"),
        steps=_clock.total(run),
        unit=unit,
    )


def _over_held_out(run: Run, excess: Array, member: int) -> Array:
    """Training loss above the table's price of the held-out windows: those it has counted, it knows too well."""
    losses, floors = _clock.metric(run, "train_loss", member), run.about.get("floors")
    if losses is None or not isinstance(floors, dict) or "validation" not in floors:
        return excess
    return losses - float(floors["validation"])


@result
class Now(Result):
    """The logged losses at one step; between two logged ones, on the straight line from one to the other."""

    logged: Labelled  # (metric,)


def now(run: Run, *, step: int = -1, member: int = 0) -> Now:
    """Losses and excess at a step."""
    step = _clock.resolve(run, step)
    found = {name: _clock.logged(run, name, step, member) for name in ("train_loss", "validation_loss", "excess")}
    values = {name: value[0] for name, value in found.items() if value is not None}
    return Now(step=step, logged=Labelled(np.array(list(values.values())), {"metric": tuple(values)}, "nats per token"))


def _in(unit: str, nats: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.exp(nats) if unit == "perplexity" else nats / np.log(2) if unit == "bits" else nats


def steps_of(seen: Loss) -> Array:
    """The logged steps."""
    return (
        np.array([int(label) for label in next(iter(seen.curves.values())).axes["step"]])
        if seen.curves
        else np.zeros(0)
    )


def say(seen: Loss) -> Words:
    """From where to where, and on which rung it stands."""
    caption = (
        f"Top: loss in {UNITS[seen.unit]} by training step, raw (thin) and as a running median over five logged lines "
        "(thick), in training (solid) and on held-out windows (dashed); dots are the logged lines where they are few, "
        "and nothing is known between them. "
    ) + (_of_rule() if seen.truth_known else _of_text())
    if "validation" not in seen.curves:
        return Words("Nothing was logged during this training", caption, "An empty chart: no losses were logged.")
    at, losses = steps_of(seen), seen.curves["validation"].values
    bad = np.flatnonzero(~np.isfinite(losses))
    floor = [nats for nats, ok in zip(seen.rungs.values, seen.reachable, strict=True) if ok][-1]
    if len(bad):
        title = f"The loss is not a number from step {thousands(int(at[bad[0]]))} on: the training has diverged"
    elif len(at) == 1:
        title = (
            f"Only step {thousands(int(at[0]))} was logged: loss {losses[0]:.2f}, "
            f"{'floor' if seen.truth_known else 'best table of counts'} {floor:.2f} {UNITS[seen.unit]}"
        )
    else:
        excess = seen.curves["excess"].values if "excess" in seen.curves else losses - floor
        words = "falls" if losses[-1] < losses[0] else "rises"
        title = (
            f"{_name(seen)} {words} from {losses[0]:.2f} to {losses[-1]:.2f}{_after(seen)} in {thousands(int(at[-1]))} "
            f"steps{_passed(seen)} and ends {_left(float(excess[-1]), seen)}"
        )
    errors = [name for name in ("rule_error_answerable", "error", "rule_error") if name in seen.curves]
    last = f" The last error is {percent(float(seen.curves[errors[0]].values[-1]))}." if errors else ""
    return Words(title, caption, f"Three charts over training steps: loss, excess and error. {title}.{last}")


def _name(seen: Loss) -> str:
    return "Perplexity" if seen.unit == "perplexity" else "Loss"


def _after(seen: Loss) -> str:
    return "" if seen.unit == "perplexity" else f" {seen.unit}"


def _passed(seen: Loss) -> str:
    """The lowest rung that was reached, and when."""
    reached = [
        (name, int(step))
        for name, step in zip(seen.rungs.axes["rung"].labels, seen.crossed.values, strict=True)
        if np.isfinite(step)
    ]
    if not reached:
        return ", stays above every rung of the ladder"
    name, step = reached[-1]
    lowest = name == [each for each, ok in zip(seen.rungs.axes["rung"].labels, seen.reachable, strict=True) if ok][-1]
    if not lowest:
        return f", passes “{_short(name)}” as its last rung by step {thousands(step)}"
    near = f"comes within {seen.slack:.2g} of" if np.isfinite(seen.slack) else "reaches"
    return f", {near} “{_short(name)}” by step {thousands(step)}"


def _left(excess: float, seen: Loss) -> str:
    """How far from the price of the very windows on which the loss is measured, which differs from the long run's."""
    unit = "bits" if seen.unit == "bits" else "nats"
    floor = "the floor of these windows" if seen.truth_known else "the best table of counts"
    much = "less than 0.001" if abs(excess) < 5e-4 else f"{abs(excess):.3f}"
    return f"{much} {unit} {'above' if excess > 0 else 'below'} {floor}"


def _of_rule() -> str:
    return (
        "Dashed horizontal lines are exact prices of partial understandings, from blind guessing down to the floor, "
        "the least that any model with this window can reach on average; a tick on one marks the first logged step by "
        "which the held-out loss stands on it, or within a fiftieth of the ladder's height above it. Dotted lines are "
        "what the exact predictor pays on the very windows that are judged, held out or of training, which differ a "
        "little from the average. Middle: what is left above the floor of the very same windows, on a "
        "logarithmic axis; values below zero, where the model knows these windows better than the rule does, are "
        "memorising and are drawn in the shaded band. Bottom: the share of wrong answers. Losses are measured on a "
        "fixed sample of windows; the ladder is exact. A curve that stays above a rung refutes that the model has "
        "understood so much."
    )


def _of_text() -> str:
    return (
        "Nobody knows the least loss a text allows. Dashed horizontal lines are what counting can do: tables of the "
        "training part that look back so many tokens (interpolated after Witten and Bell), scored on the whole "
        "validation part; a tick marks the first logged step by which the held-out loss stands on one. Middle: the "
        "loss less that of the best table on the held-out windows (those of training it has counted, so it knows them "
        "too well to be a measure); in the shaded band below zero the model knows more than any "
        "such table. That is good where it holds for held-out windows (dashed); where only the training curve is "
        "there, the model learns its text by heart. Bottom: the share of tokens that the likeliest guess misses."
    )


def _short(name: str) -> str:
    return name.rpartition(" = ")[2]
