"""How strong the gradients were while training, part by part: neither vanishing nor exploding?"""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._checks import REACH, STEEP
from glassformer.analyses._life import called, parts, steps_per_pass
from glassformer.analyses._result import Array, Labelled, Result, Words, power, shared, thousands, result
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 50
ANSWERS = ("1.P2", "1.P4", "1.P13", "1.A")
COST = "b"


@result
class Gradients(Result):
    """Sizes of the gradient at the logged steps, as the optimiser met them."""

    rms: Labelled  # (part, step): root of the mean square over the parameters of a part; `all` first
    smooth: Labelled  # (part, step): running medians of the same
    band: Labelled  # (end, step): smallest and largest part
    ratio: Labelled  # (step,): first block over last; of a single block, embedding over read-out
    between: str  # what the ratio compares
    vanishing: Labelled  # (step,): the level under which a part counts as vanishing: a share of the largest part
    exploding: float  # the typical gradient at which the whole gradient is as long as the doctor allows
    longest: float  # that length
    reach: float  # that share
    per_pass: float
    blocks: int


@shared
def gradients(run: Run, *, step: int = -1, member: int = 0) -> Gradients:
    """Root-mean-square gradient of every part, from the lengths that were logged while training."""
    if reason := applies(run):
        raise CallError(reason)
    marked = None if step == -1 else _clock.resolve(run, step)
    counts = {name: np.arange(run.parameters)[place].size for name, place in parts(run).items()}
    counts = {"all": run.parameters, **counts}
    found = {name: _clock.metric(run, f"gradient.{name}", member) for name in counts}
    sizes = {name: values / np.sqrt(counts[name]) for name, values in found.items() if values is not None}
    there = np.isfinite(run.metrics["step"]) & (run.metrics["step"] > 0)  # before the first step there is none
    at = tuple(map(str, run.metrics["step"][there].tolist()))
    rms = np.array([values[there] for values in sizes.values()])
    alone = rms[1:] if len(rms) > 1 else rms
    ratio, between = _ratio(run, {name: values[there] ** 2 * counts[name] for name, values in sizes.items()}, counts)
    axes = {"part": tuple(sizes), "step": at}
    return Gradients(
        step=marked,
        clock=_clock.text(run, step, member),
        rms=Labelled(rms, axes, "nats per unit of weight"),
        smooth=Labelled(np.array([_clock.smooth(values) for values in rms]), axes, "nats per unit of weight"),
        band=Labelled(np.array([alone.min(axis=0), alone.max(axis=0)]), {"end": ("smallest", "largest"), "step": at}),
        ratio=Labelled(ratio, {"step": at}),
        between=between,
        vanishing=Labelled(REACH * _clock.smooth(alone.max(axis=0)), {"step": at}, "nats per unit of weight"),
        exploding=STEEP / float(np.sqrt(run.parameters)),
        longest=STEEP,
        reach=REACH,
        per_pass=steps_per_pass(run),
        blocks=run.architecture.blocks,
    )


def applies(run: Run) -> str | None:
    """Why there is nothing to see, as half a sentence."""
    column = run.metrics.get("gradient.all")
    return "no gradient was logged during this training" if column is None or len(column) < 2 else None


def _ratio(run: Run, squares: dict[str, Array], counts: dict[str, int]) -> tuple[Array, str]:
    """Typical gradient at the beginning of the model over that at its end."""

    def rms(names: list[str]) -> Array:
        names = [name for name in names if name in squares]
        if not names:
            return np.full_like(next(iter(squares.values())), np.nan)
        found: Array = np.sqrt(sum(squares[name] for name in names) / sum(counts[name] for name in names))
        return found

    last = run.architecture.blocks - 1
    if last:
        ends = [[f"attention_{b}", f"feed_forward_{b}"] for b in (0, last)]
        between = f"block 0 over block {last}"
    else:
        ends, between = [["embedding"], ["read_out"]], "embedding over read-out"
    top, bottom = rms(ends[0]), rms(ends[1])
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0), between


def say(seen: Gradients) -> Words:
    """From where to where, and whether any part vanished or all of it exploded."""
    caption = (
        "Top: typical gradient (root of the mean square) of the parameters of each part, at every logged step, before "
        "any clipping, on a logarithmic axis; thin as logged, thick as a running median, broad and pale that of all "
        "parts together; the band reaches from the "
        "smallest to the largest part. One batch each, so it scatters. Dashed: where a part counts as vanishing "
        f"({seen.reach:g} of the part that has most) and where the whole gradient counts as exploding (longer than "
        f"{thousands(round(seen.longest))}); both are the levels of `glassformer check`, and conventions. Bottom: "
        f"{seen.between}; far from 1 for long would mean that one end of the model learns and the other does not."
    )
    values, names = seen.rms.values, seen.rms.axes["part"].labels
    steps = [int(each) for each in seen.rms.axes["step"].labels]
    bad = np.flatnonzero(~np.isfinite(values).all(axis=0))
    over = np.flatnonzero(values[0] > seen.exploding)
    under = [name for name, curve in zip(names, values, strict=True)
             if np.median(curve - seen.vanishing.values) < 0 and name != "all"]  # fmt: skip
    if len(bad):
        title = f"The gradient is not a number from step {thousands(steps[bad[0]])} on: the training has diverged"
    elif len(over):
        title = f"The gradient explodes: at step {thousands(steps[over[0]])} it is longer than {seen.longest:g}"
    elif under:
        where = called(under[0], seen.blocks == 1)
        title = f"The gradient vanishes in {where}: most of the time it is under {seen.reach:g} of the largest"
    else:
        ends = [float(seen.smooth.values[0, k]) for k in (0, -1)]
        first, last = (f"{each:.2g}" if each >= 1e-3 else power(each, 2) for each in ends)
        title = f"The typical gradient of all parts goes from {first} to {last} and neither vanishes nor explodes"
    return Words(title, caption, f"Gradient size by part over training steps, and a ratio below. {title}.")
