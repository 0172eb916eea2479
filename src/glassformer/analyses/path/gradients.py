"""How strong the gradients were while training, part by part: neither vanishing nor exploding?"""

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._checks import REACH, STEEP
from glassformer.analyses._life import called, parts, steps_per_pass
from glassformer.analyses._options import Member, Step, StepAxis
from glassformer.analyses._result import Array, Labelled, Result, fate, power, result, shared, thousands
from glassformer.analyses._scale import Scale, spaced
from glassformer.run import Run

ORDER = 50
ANSWERS = ("1.P2", "1.P4", "1.P13", "1.A")
COST = "b"
EDITS = "training"

FADES = 0.01  # of its first size: a gradient that ends below is said to fall, and why


@result
class Gradients(Result):
    """Sizes of the gradient at the logged steps, as the optimiser met them."""

    rms: Labelled  # (part, step): root of the mean square over the parameters of a part; `all` first
    smooth: Labelled  # (part, step): running medians of the same
    band: Labelled  # (statistic, step): smallest and largest part
    ratio: Labelled  # (step,): first block over last; of a single block, embedding over read-out
    between: str  # what the ratio compares
    vanishing: Labelled  # (step,): the level under which a part counts as vanishing: a share of the largest part
    exploding: float  # the typical gradient at which the whole gradient is as long as the doctor allows
    longest: float  # that length
    reach: float  # that share
    vanished: tuple[str, ...]  # the parts that are under that level most of the time
    exploded: int | None  # the first logged step at which the whole gradient is longer than that; None: at none
    excess: float  # nats of the last logged loss above its floor; NaN: not known, as of a text
    settled: bool  # whether that counts as on the floor
    per_pass: float
    blocks: int
    tied: bool  # whether the read-out is the embedding turned round, and has but the last norm of its own
    scale: Scale

    @property
    def title(self) -> str:
        """From where to where, and whether any part vanished or all of it exploded."""
        bad = np.flatnonzero(~np.isfinite(self.rms.values).all(axis=0))
        if len(bad):
            return fate("the gradient is not a number", since=int(np.array(self.rms.axes["step"].values)[bad[0]]))
        if self.exploded is not None:
            return f"The gradient explodes: at step {thousands(self.exploded)} it is longer than {self.longest:g}"
        if self.vanished:
            where = called(self.vanished[0], self.blocks == 1)
            return f"The gradient vanishes in {where}: most of the time it is under {self.reach:g} of the largest"
        ends = [float(self.smooth.values[0, k]) for k in (0, -1)]
        first, last = (f"{each:.2g}" if each >= 1e-3 else power(each, 2) for each in ends)
        verb, why = "goes", ""
        if ends[1] < FADES * ends[0]:
            verb = "falls"
            above = f", though the loss ends {self.excess:.2g} nats above its floor" if np.isfinite(self.excess) else ""
            why = ", with the loss on its floor" if self.settled else above
        return (
            f"The typical gradient of all parts {verb} from {first} to {last}{why}; no part vanishes beside the "
            "others, and none explodes"
        )


@shared
def gradients(run: Run, *, step: Step = -1, member: Member = 0, axis: StepAxis = "auto") -> Gradients:
    """Root-mean-square gradient of every part, from the lengths that were logged while training."""
    counts = {name: np.arange(run.parameters)[place].size for name, place in parts(run).items()}
    counts = {"all": run.parameters, **counts}
    found = {name: _clock.metric(run, f"gradient.{name}", member) for name in counts}
    sizes = {name: values / np.sqrt(counts[name]) for name, values in found.items() if values is not None}
    there = np.isfinite(run.metrics["step"]) & (run.metrics["step"] > 0)  # before the first step there is none
    at = run.metrics["step"][there]
    rms = np.array([values[there] for values in sizes.values()])
    alone = rms[1:] if len(rms) > 1 else rms
    ratio, between = _ratio(run, {name: values[there] ** 2 * counts[name] for name, values in sizes.items()}, counts)
    axes = {"part": tuple(sizes), "step": at}
    vanishing, exploding = REACH * _clock.smooth(alone.max(axis=0)), STEEP / float(np.sqrt(run.parameters))
    vanished = [name for name, curve in zip(sizes, rms, strict=True) if np.mean(curve < vanishing) > 0.5]
    over = np.flatnonzero(rms[0] > exploding)
    above = _clock.metric(run, "excess", member)
    excess = float("nan") if above is None or not run.task.exact else float(above[-1])
    return Gradients(
        **_clock.over_life(run, step, member),
        rms=Labelled(rms, axes, "nats per unit of weight"),
        smooth=Labelled(np.array([_clock.smooth(values) for values in rms]), axes, "nats per unit of weight"),
        band=Labelled(
            np.array([alone.min(axis=0), alone.max(axis=0)]), {"statistic": ("smallest", "largest"), "step": at}
        ),
        ratio=Labelled(ratio, {"step": at}),
        between=between,
        vanishing=Labelled(vanishing, {"step": at}, "nats per unit of weight"),
        exploding=exploding,
        longest=STEEP,
        reach=REACH,
        vanished=tuple(name for name in vanished if name != "all"),
        exploded=int(at[over[0]]) if len(over) else None,
        excess=excess,
        settled=bool(excess <= _clock.slack(run)),
        per_pass=steps_per_pass(run),
        blocks=run.architecture.blocks,
        tied=run.architecture.tied_embedding,
        scale=spaced(run, axis, member),
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
        return np.sqrt(sum(squares[name] for name in names) / sum(counts[name] for name in names))

    last = run.architecture.blocks - 1
    if last:
        ends = [[f"attention_{b}", f"feed_forward_{b}"] for b in (0, last)]
        between = f"block 0 over block {last}"
    else:
        ends, between = [["embedding"], ["read_out"]], "embedding over read-out"
    top, bottom = rms(ends[0]), rms(ends[1])
    with np.errstate(invalid="ignore"):  # of a training that diverges
        return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0), between
