"""Whether a run's folder is whole."""

import typer

from glassformer.commands import _shared

ORDER = 60


def check(run: _shared.RunName = None, as_json: _shared.Json = False) -> None:
    """Whether a run's folder is whole: every listed step, every line, every checksum."""
    from glassformer.run import find

    opened = find(run)
    problems = opened.check()
    if as_json:
        _shared.print_json(
            {
                "run": str(opened.path),
                "status": opened.status,
                "kept_steps": len(opened.steps),
                "bytes": opened.size,
                "problems": problems,
            }
        )
    else:
        for problem in problems:
            typer.echo(problem)
        budget = opened.experiment.train.keep_bytes
        typer.echo(f"{opened.path}: {opened.status}, {len(opened.steps):,} kept steps up to {opened.last_step:,}")
        typer.echo(f"{_shared.megabytes(opened.size)} on disk; the budget for weights is {_shared.megabytes(budget)}")
        typer.echo(f"{_shared.counted(len(problems), 'problem')} found" if problems else "everything listed verifies")
    if problems:
        raise typer.Exit(1)
