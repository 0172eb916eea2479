"""Whether a run's folder is whole, and whether its training is healthy."""

from typing import TYPE_CHECKING, Any

import typer

from glassformer.commands import _shared
from glassformer.errors import DamagedError

if TYPE_CHECKING:
    from glassformer.analyses.health.health import Finding
    from glassformer.run import Run

ORDER = 60
SHOWN = 12  # findings of a population that are written out


def check(run: _shared.RunName = None, as_json: _shared.Json = False) -> None:
    """Whether a run's folder is whole, and whether its training is healthy: illness, evidence, what to try.

    The exit code is about the folder alone: 0 when everything listed verifies, 1 when something is damaged or missing.
    Where nothing is logged yet, `healthy` is null; `whole` is null where the folder does not tell how much there
    should be.
    """
    from glassformer.changed import told

    opened = _shared.opened(run, say=not as_json, verify=False)
    problems = opened.check()
    found, healthy, kept = _diagnose(opened)
    if as_json:
        _shared.print_json(
            {
                "run": str(opened.path),
                "status": opened.status,
                "kept_steps": kept,
                "bytes": opened.size,
                "problems": problems,
                "whole": None if opened.unverified and not problems else not problems,
                "healthy": healthy,
                "findings": [_plain(opened, *each) for each in found],
                **_shared.mark(opened),
            }
        )
    else:
        for problem in problems:
            typer.echo(problem)
        budget = opened.experiment.train.keep_bytes
        steps = "its kept steps are not known" if kept is None else f"{kept:,} kept steps up to {opened.last_step:,}"
        typer.echo(f"{opened.path}: {opened.status}, {steps}")
        if changes := told(opened.experiment):
            typer.echo(changes)
        typer.echo(f"{_shared.megabytes(opened.size)} on disk; the budget for weights is {_shared.megabytes(budget)}")
        _say(opened, found, healthy)
        fine = opened.unverified_words or "everything listed verifies, and nothing is missing"
        typer.echo(f"{_shared.counted(len(problems), 'problem')} found" if problems else fine)
    if problems:
        raise typer.Exit(1)


def _diagnose(run: "Run") -> "tuple[list[tuple[int, Finding]], bool | None, int | None]":
    """What is wrong with the training, whether it is healthy, how many steps were kept; None where nobody can tell."""
    from glassformer.analyses.health.health import diagnose

    try:
        found, kept = diagnose(run) if len(run.lines) else [], len(run.steps)
        return found, not any(finding.serious for _, finding in found) if len(run.lines) else None, kept
    except DamagedError:
        return [], None, None


def _plain(run: "Run", member: int, finding: "Finding") -> dict[str, Any]:
    seed = {"seed": run.seeds[member]} if run.members > 1 else {}
    return {**seed, **finding.told()}


def _say(run: "Run", found: "list[tuple[int, Finding]]", healthy: bool | None) -> None:
    from glassformer import summary

    if healthy is None:
        typer.echo("health: not known, as nothing is logged or what is logged is damaged")
        return
    ill = {member for member, finding in found if finding.serious}
    many = (
        f" ({len(ill)} of {run.members} members {'is' if len(ill) == 1 else 'are'} ill)"
        if run.members > 1 and ill
        else ""
    )
    typer.echo(f"verdict: {summary.verdicts(run)}")
    typer.echo("health: no illness found" if healthy else f"health: ill{many}")
    shown = [each for each in found if each[1].serious or run.members == 1][:SHOWN]
    for member, finding in shown:
        who = f", seed {run.seeds[member]}" if run.members > 1 else ""
        told = finding.told()
        typer.echo(f"  {'✗' if finding.serious else '·'} {told['illness']}{who}: {told['evidence']}")
        typer.echo(f"      cause: {told['cause']}")
        typer.echo(f"      try: {told['try']}")
    left = sum(finding.serious for _, finding in found) - sum(finding.serious for _, finding in shown)
    if left:
        typer.echo(f"  and {_shared.counted(left, 'finding')} more; --json lists all")
