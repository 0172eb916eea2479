"""How much depends on the seed: every member's curve, its last error, when it was solved, and where it stands."""

from dataclasses import dataclass

import numpy as np

from glassformer import summary
from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, percent, thousands, result
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 20
ANSWERS = ("1.Q40",)
COST = "b"
NEEDS = "population"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if run.members < 2:
        return "this run has one member; several seeds are needed"
    return None if len(run.metrics["step"]) else "nothing was logged during this training"


DIVERGED = "diverged"  # stands on no rung


@result
class Seeds(Result):
    """A population over its life; members are named by their seeds."""

    loss: Labelled  # (step, member): validation loss
    median: Labelled  # (step,)
    rungs: Labelled  # (rung,): the ladder, highest first
    error: Labelled  # (member,): the last error, or the last excess where there is no error
    solved_at: Labelled  # (member,): first step from which it stays solved; NaN: it is not solved at the end
    solved: Labelled  # (step,): share of all members that are solved for good by then
    rung: tuple[str, ...]  # (member,): where each stands at the end
    measure: str
    threshold: float  # solved is below this
    steps: int


def seeds(run: Run, *, step: int = -1) -> Seeds:
    """Every member's losses and its fate; a member that is never solved stays in the count."""
    if run.members < 2:
        raise CallError("this run has one member; a comparison of seeds needs several (`--seeds 8`)")
    at = run.metrics["step"]
    losses = run.metrics["validation_loss"]
    if "accuracy" in run.metrics and run.task.answers == "one":
        measure, values, threshold = "error", 1 - run.metrics["accuracy"], 1e-9
    elif "rule_error_answerable" in run.metrics and summary.one_answer(run):
        measure, values, threshold = "rule error in view", run.metrics["rule_error_answerable"], summary.SOLVED_ERROR
    else:
        measure, values, threshold = "excess loss", run.metrics["excess"], summary.SOLVED_EXCESS
    values = np.where(np.isfinite(losses), values, np.nan)  # what has diverged is neither right nor wrong
    good = values < threshold
    first = np.full(run.members, np.nan)
    for k in range(run.members):
        bad = np.flatnonzero(~good[:, k])
        if good[-1, k]:
            first[k] = at[bad[-1] + 1] if len(bad) else at[0]
    members = tuple(map(str, run.seeds))
    labels = tuple(map(str, at.tolist()))
    ladder = [rung for rung in _clock.ladder(run) if rung.reachable]
    stands = []
    for value in losses[-1]:
        reached = summary.rung(ladder, value)
        stands.append(DIVERGED if not np.isfinite(value) else reached.name if reached else "above the ladder")
    return Seeds(
        step=None if step == -1 else _clock.resolve(run, step),
        clock=f"{run.members} seeds · {thousands(_clock.total(run))} steps",
        loss=Labelled(losses, {"step": labels, "member": members}, "nats per token"),
        median=Labelled(_medians(losses), {"step": labels}, "nats per token"),
        rungs=Labelled(np.array([r.nats for r in ladder]), {"rung": tuple(r.name for r in ladder)}, "nats per token"),
        error=Labelled(values[-1], {"member": members}, "nats per token" if measure == "excess loss" else "share"),
        solved_at=Labelled(first, {"member": members}, "step"),
        solved=Labelled((first[None, :] <= at[:, None]).mean(axis=1), {"step": labels}, "share"),
        rung=tuple(stands),
        measure=measure,
        threshold=float(threshold),
        steps=_clock.total(run),
    )


def _medians(losses: Array) -> Array:
    """(step,): over the members that have a loss; NaN where none has."""
    return np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.nan for row in losses])


def say(seen: Seeds) -> Words:
    """How many are solved, when, and who is not."""
    first = seen.solved_at.values
    good = np.isfinite(first)
    limit = (
        f"{seen.threshold:g} nats"
        if seen.measure == "excess loss"
        else percent(seen.threshold)
        if seen.threshold > 1e-6
        else "0"
    )
    under = f"is below {limit}" if seen.threshold > 1e-6 else "is 0"
    caption = (
        "Top left: validation loss of every seed (thin; those not solved at the end in the colour of wrong) and their "
        "median (thick), in front of the ladder. Top right: share of all seeds solved for good by each step; the "
        f"unsolved stay in the count. Bottom: the last {seen.measure} of each seed, sorted, with the rung on which it "
        f"stands. Solved means that the {seen.measure} {under} from then on, at every logged step. All seeds share the "
        "data; they differ in first weights and in the order of batches. One seed that differs from the others shows "
        "that a single run proves nothing."
    )
    many = len(first)
    if not good.any():
        title = (
            f"None of {many} seeds is solved; the best stands at "
            f"“{_short(seen.rung[int(np.nanargmin(seen.error.values))])}”"
            if np.isfinite(seen.error.values).any()
            else f"All {many} seeds have diverged"
        )
    else:
        when = f"between steps {thousands(int(np.nanmin(first)))} and {thousands(int(np.nanmax(first)))}"
        if np.nanmin(first) == np.nanmax(first):
            when = f"at step {thousands(int(np.nanmin(first)))}"
        title = f"{int(good.sum())} of {many} seeds are solved, {when}"
        if not good.all():
            title += _unsolved(seen)
    return Words(title, caption, f"Loss curves of {many} seeds, share solved, and final errors. {title}.")


def _unsolved(seen: Seeds) -> str:
    """Who still stands on which rung, and who has diverged."""
    members, told = seen.error.axes["member"].labels, ""
    bad = np.flatnonzero(~np.isfinite(seen.solved_at.values))
    lost = [members[k] for k in bad if seen.rung[k] == DIVERGED]
    some = [members[k] for k in bad if seen.rung[k] != DIVERGED]
    if some:
        rungs = sorted({_short(seen.rung[k]) for k in bad} - {DIVERGED})
        one = len(some) == 1
        told = f"; seed{'' if one else 's'} {listed(some)} still stand{'s' if one else ''} on "
        told += listed([f"“{rung}”" for rung in rungs])
    if lost:
        told += f"; seed{' ' if len(lost) == 1 else 's '}{listed(lost)} {'has' if len(lost) == 1 else 'have'} diverged"
    return told


def _short(name: str) -> str:
    return name.rpartition(" = ")[2]
