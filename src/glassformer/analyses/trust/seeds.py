"""How much depends on the seed: every member's curve, its last error, when it was solved, and where it stands."""

import numpy as np

from glassformer import summary
from glassformer.analyses import _applies, _clock
from glassformer.analyses._options import Step
from glassformer.analyses._result import Array, Axis, Labelled, Result, listed, lost, numbers, result, thousands
from glassformer.run import Run

ORDER = 20
ANSWERS = ("1.Q40",)
COST = "b"
NEEDS = "population"
APPLIES = (_applies.population, _applies.logged)

DIVERGED, ABOVE = "diverged", "above the ladder"  # on no rung


@result
class Seeds(Result):
    """A population over its life; members are named by their seeds."""

    loss: Labelled  # (step, member): validation loss
    median: Labelled  # (step,)
    rungs: Labelled  # (rung,): the ladder, highest first
    error: Labelled  # (member,): the last error, or the last excess where there is no error
    solved_at: Labelled  # (member,): first step from which it stays solved; NaN: it is not solved at the end
    solved: Labelled  # (step,): share of all members that are solved for good by then
    rung: tuple[str, ...]  # (member,): the rung on which each stands at the end, or the two between which it does
    measure: str
    threshold: float  # solved is below this
    steps: int

    @property
    def title(self) -> str:
        """How many are solved, when, and who is not."""
        first, many = self.solved_at.values, len(self.solved_at.values)
        good = np.isfinite(first)
        if not good.any():
            if not np.isfinite(self.error.values).any():
                return lost(f"All {many} seeds", many)
            best = self.rung[np.nanargmin(self.error.values)]
            return f"None of {many} seeds is solved; the best stands {_where(best)}"
        early, late = thousands(int(np.nanmin(first))), thousands(int(np.nanmax(first)))
        when = f"at step {early}" if early == late else f"between steps {early} and {late}"
        return f"{int(good.sum())} of {many} seeds are solved, {when}{_unsolved(self)}"


def seeds(run: Run, *, step: Step = -1) -> Seeds:
    """Every member's losses and its fate; a member that is never solved stays in the count."""
    at = _clock.metrics(run)["step"]
    losses = _clock.metrics(run)["validation_loss"]
    metric, measure, threshold = summary.mark(run)
    values = 1 - _clock.metrics(run)[metric] if metric == "accuracy" else _clock.metrics(run)[metric]
    values = np.where(np.isfinite(losses), values, np.nan)  # what has diverged is neither right nor wrong
    good = values < threshold
    first = np.full(run.members, np.nan)
    for k in range(run.members):
        bad = np.flatnonzero(~good[:, k])
        if good[-1, k]:
            first[k] = at[bad[-1] + 1] if len(bad) else at[0]
    members = Axis(numbers(run.members), tuple(map(str, run.seeds)))
    ladder = [rung for rung in _clock.ladder(run) if rung.reachable]
    stands = []
    for value, left in zip(losses[-1], _clock.metrics(run)["excess"][-1], strict=True):
        above, below, _ = summary.place(ladder, value, left if run.task.exact else np.inf)
        where = f"between “{above.name}” and “{below.name}”" if above and below else above.name if above else ABOVE
        stands.append(where if np.isfinite(value) else DIVERGED)
    return Seeds(
        step=None if step == -1 else _clock.resolve(run, step),
        clock=f"{run.members} seeds · {thousands(_clock.total(run))} steps{_clock.edited(run)}",
        loss=Labelled(losses, {"step": at, "member": members}, "nats per token"),
        median=Labelled(_medians(losses), {"step": at}, "nats per token"),
        rungs=Labelled(np.array([r.nats for r in ladder]), {"rung": _clock.rung_axis(ladder)}, "nats per token"),
        error=Labelled(values[-1], {"member": members}, "nats per token" if measure == "excess loss" else "share"),
        solved_at=Labelled(first, {"member": members}, "step"),
        solved=Labelled((first[None, :] <= at[:, None]).mean(axis=1), {"step": at}, "share"),
        rung=tuple(stands),
        measure=measure,
        threshold=float(threshold),
        steps=_clock.total(run),
    )


def _medians(losses: Array) -> Array:
    """(step,): over the members that have a loss; NaN where none has."""
    return np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.nan for row in losses])


def _unsolved(seen: Seeds) -> str:
    """Where the unsolved stand, and who has diverged."""
    members, told = seen.error.axes["member"].labels, ""
    bad = np.flatnonzero(~np.isfinite(seen.solved_at.values))
    gone = [members[k] for k in bad if seen.rung[k] == DIVERGED]
    some = [members[k] for k in bad if seen.rung[k] != DIVERGED]
    if some:
        rungs = sorted({seen.rung[k] for k in bad} - {DIVERGED})
        one = len(some) == 1
        told = f"; seed{'' if one else 's'} {listed(some)} still stand{'s' if one else ''} "
        told += listed([_where(rung) for rung in rungs])
    if gone:
        told += "; " + lost(f"seed{'s' * (len(gone) > 1)} {listed(gone)}", len(gone))
    return told


def _where(rung: str) -> str:
    """On a rung, between two of them, or above all."""
    return rung if rung == ABOVE or rung.startswith("between “") else f"on “{rung}”"
