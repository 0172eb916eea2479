"""Whether a training is healthy: what ails it, by which evidence, and what to try."""

import numpy as np

from glassformer import summary
from glassformer.analyses import _applies, _checks, _clock, _judged
from glassformer.analyses._checks import Finding
from glassformer.analyses._options import Member, Step
from glassformer.analyses._result import Labelled, Result, listed, result, shared, thousands
from glassformer.analyses._symptoms import Symptoms
from glassformer.run import Run

ORDER = 10
ANSWERS = ("1.P4", "1.P13")
COST = "b"
EDITS = "training"
APPLIES = (_applies.logged,)

__all__ = ["Finding", "Health", "diagnose", "health"]


@result
class Health(Result):
    """Every check with its curve, limit and verdict, and the signs by which one would stop."""

    curves: dict[str, Labelled]  # (step,) each, by check; those that have one
    judged: Labelled  # (quantity,): of each check, the number that was judged
    limits: Labelled  # (quantity,): the line it should not cross
    signs: Labelled  # (quantity,): the first logged step at which each sign to stop was met
    verdicts: tuple[str, ...]  # healthy, ill, note, not measured; by check
    units: tuple[str, ...]
    ill_above: tuple[bool, ...]
    findings: tuple[Finding | None, ...]  # by check
    questions: tuple[str, ...]  # what each check calls healthy
    healthy: bool
    learnt: bool  # by the one measure there is, `summary.solved`; never of a text: nobody knows what is left
    well: bool  # at the end of its ladder, so that the road there is no illness
    last: int

    @property
    def title(self) -> str:
        """What ails it, or that it is well."""
        steps = thousands(self.last)
        ill, notes = ([each.illness for each in self.found if each.serious == serious] for serious in (True, False))
        if not any(np.isfinite(self.judged.values)):
            return "Nothing was logged during this training, so nothing can be said of its health"
        if ill:
            return f"Ill after {steps} steps: {listed(ill)}"
        rest = f", but note: {listed(notes)}" if notes else ""
        checks = zip(self.judged.axes["quantity"].labels, self.verdicts, self.findings, strict=True)
        past = [f"“{name}”" for name, verdict, finding in checks if verdict == "note" and finding is None]
        rest += f"; beyond a limit: {listed(past)}" if past else ""
        measured = sum(verdict != "not measured" for verdict in self.verdicts)
        return f"After {steps} steps none of {measured} checks finds an illness{rest}"

    @property
    def found(self) -> list[Finding]:
        """The findings, serious ones first, causes before consequences."""
        some = [finding for finding in self.findings if finding is not None]
        return sorted(some, key=lambda finding: not finding.serious)


@shared
def health(run: Run, *, step: Step = -1, member: Member = 0) -> Health:
    """Look at one member's logged lines, and at its weights at a few kept steps, for every illness known here."""
    patient = Symptoms(run, member)
    with np.errstate(all="ignore"):
        rows = _checks.checks(patient)
        signs = dict(_checks.signs(patient))
    names = {"quantity": tuple(row.name for row in rows)}
    curves = {
        row.name: Labelled(row.values, {"step": row.steps.astype(int)}, row.unit) for row in rows if len(row.steps)
    }
    met = np.array([np.nan if at is None else at for at in signs.values()], dtype=float)
    return Health(
        step=None if step == -1 else _clock.resolve(run, step),
        clock=_clock.text(run, step, member) if len(run.steps) else "",
        curves=curves,
        judged=Labelled(np.array([row.value for row in rows]), names),
        limits=Labelled(np.array([row.limit for row in rows]), names),
        signs=Labelled(met, {"quantity": tuple(signs)}, "step"),
        verdicts=tuple(row.verdict for row in rows),
        units=tuple(row.unit for row in rows),
        ill_above=tuple(row.ill_above for row in rows),
        findings=tuple(row.finding for row in rows),
        questions=_checks.questions(),
        healthy=not any(row.finding is not None and row.finding.serious for row in rows),
        learnt=run.task.exact and summary.solved(run, summary.members(run)[member]),
        well=_checks.well(patient),
        **_judged.about(run),
        last=run.last_step,
    )


def diagnose(run: Run) -> list[tuple[int, Finding]]:
    """(member, finding) for every member, serious findings first."""
    found = [(member, finding) for member in range(run.members) for finding in health(run, member=member).found]
    return sorted(found, key=lambda each: not each[1].serious)
