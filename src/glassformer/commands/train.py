"""Train a model and keep its whole life in a folder."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer import terminal, words
from glassformer.commands import _next, _resuming, _shared
from glassformer.errors import CallError, Error

if TYPE_CHECKING:
    from glassformer.experiment import Experiment
    from glassformer.run import Run
    from glassformer.training import Outcome

ORDER = 30
SAMPLE = 160  # characters, about, of what a model of a text writes at the end
STOPPED = "stopped at once; a training begun here goes on with --resume"


def train(
    experiment: _shared.ExperimentName = None,
    text: Annotated[
        Path | None, typer.Option(help="A UTF-8 text of your own to learn, in place of an experiment.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="With --text: characters, words, bpe or byte_bpe; none: chosen by length.")
    ] = None,
    vocabulary: Annotated[int | None, typer.Option(help="With --text: how many entries the tokenizer learns.")] = None,
    seed: Annotated[int | None, typer.Option(help="Initial weights, batches and dropout.")] = None,
    seeds: Annotated[int, typer.Option(help="Train this many members together, from the seed upwards.")] = 1,
    steps: Annotated[int | None, typer.Option(help="How many steps to train.")] = None,
    set_: _shared.Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", parser=_shared.place, help="The run's folder; else runs/EXPERIMENT-SEED."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary; just the run's folder.")] = False,
    as_json: _shared.Json = False,
    json_lines: Annotated[
        bool,
        typer.Option("--json-lines", help="Print progress as JSON, a line each time, and last what --json prints."),
    ] = False,
    stop_on_stdin: Annotated[
        bool,
        typer.Option("--stop-on-stdin", help="Stop like Ctrl-C once standard input is written to, or closed."),
    ] = False,
    then: Annotated[bool, typer.Option("--then/--no-then", hidden=True, help="Name what to do next.")] = True,
) -> None:
    """Train a model and keep its whole life in a folder."""
    from glassformer import own

    if text is not None and experiment is not None:
        raise CallError(f"--text {text} and experiment {experiment} exclude each other; leave one out")
    if json_lines and (quiet or as_json):
        raise CallError("--json-lines prints more than --quiet and --json do; leave out one of them")
    silent = quiet or as_json or json_lines
    wanted = partial(settings_of, experiment, text, tokenizer, vocabulary, set_ or (), seed, steps)
    folder = None
    if resume and experiment is not None and experiment.endswith(".py"):
        own.load(experiment)  # the runs to choose from are its own
    if resume:
        given = _given(tokenizer, vocabulary, set_ or (), seed, steps)
        folder = _resuming.run_to_resume(_resuming.name_of(experiment, text), text, wanted, seeds, out, given)
    settings = wanted() if folder is None else None  # before JAX, so at once
    for sentence in _expected(settings) if settings is not None and not silent else ():
        typer.echo(sentence, err=True)
    if folder is None and out is not None and out.name in ("", ".."):
        raise CallError(f"--out {str(out)!r} does not name a folder to make; give it a name, such as runs/mine")
    if folder is not None and (done := _finished(folder)):
        if not silent:
            typer.echo(f"{done.path} is finished at step {done.last_step:,}; there is nothing left to train")
        _print(done, None, quiet=quiet, json=as_json or json_lines)
        return
    from glassformer import training

    tell = _shared.print_json if json_lines else None
    with terminal.safe_stop(stop_on_stdin) as stop, terminal.progress(not silent, tell) as progress:
        if settings is not None:
            outcome = training.begin(settings, seeds=seeds, out=out, progress=progress, stop=stop)
        elif folder is not None:
            outcome = training.resume(folder, progress=progress, stop=stop)
    for notice in outcome.notices:
        typer.echo(f"notice: {notice}", err=True)
    run = outcome.run
    if outcome.interrupted:
        needed = own.option(type(run.task))
        again = words.pasted(["glassformer", *needed, "train", "--resume", "--out", str(run.path)])
        last = run.experiment.train.steps
        sentence = f"stopped at step {run.last_step} of {last}; `{again}` goes on to the same bits"
        if json_lines:
            _shared.print_json({"status": "interrupted", "run": str(run.path), "error": sentence})
        raise Error(sentence)
    _print(run, outcome, quiet=quiet, json=as_json or json_lines)
    if not silent:
        _say_where(settings, run, seeds, out)
        if then:
            _next.say(run)


def _say_where(settings: "Experiment | None", run: "Run", seeds: int, out: Path | None) -> None:
    """That a run has a number behind its name, and why."""
    from glassformer.changed import run_name

    if settings is not None and out is None and run.name != (usual := run_name(settings, seeds)):
        typer.echo(f"{Path('runs') / usual} was there before, so this one is {run.path}")


def _expected(settings: "Experiment") -> Iterator[str]:
    """What a person should know before training begins."""
    from glassformer import sizing
    from glassformer.experiment import OWN_TABLE, OWN_TEXT, like

    yield from settings.task.expectations(settings.architecture, settings.train)
    if settings.task_name == OWN_TEXT:
        yield sizing.told(settings)
    if settings.name == OWN_TABLE:
        yield sizing.told_of_table(settings)
    if settings.code is not None:
        usual = like(type(settings.task))
        yield f"{settings.code} brings no settings but those of its data: model and training are those of {usual}"


def _finished(folder: Path) -> "Run | None":
    """The run that is to be resumed, if it has come to its end."""
    from glassformer.run import open as open_run

    run = open_run(folder)
    return run if run.status == "finished" else None


def _print(run: "Run", outcome: "Outcome | None", *, quiet: bool, json: bool) -> None:
    """What came of it; without an outcome, nothing was trained this time."""
    from glassformer import summary
    from glassformer.changed import told

    if json:
        result = {
            "status": run.status,
            "run": str(run.path),
            "experiment": run.experiment.name,
            "steps": run.last_step,
            "seconds": round(outcome.seconds, 3) if outcome else 0.0,
            "steps_per_second": round(outcome.steps_per_second, 1) if outcome else None,
            "floor": run.experiment.floor,
            "members": summary.members(run),
            **_shared.mark(run),
        }
        _shared.print_json(result)
        return
    if quiet:
        typer.echo(run.path)
        return
    if outcome:
        typer.echo(
            f"{outcome.steps:,} steps in {outcome.seconds:.1f} s on {outcome.device} "
            f"({outcome.compile_seconds:.1f} s of them compiling; then {outcome.steps_per_second:,.0f} steps a second)"
        )
    for sentence in summary.sentences(run):
        typer.echo(sentence)
    if outcome:
        for line in _sample(run):
            typer.echo(line)
    if changes := told(run.experiment):
        typer.echo(changes)
    typer.echo(f"run: {run.path} ({_shared.counted(len(run.steps), 'kept step')}, {_shared.megabytes(run.size)})")


def _sample(run: "Run") -> Iterator[str]:
    """A few lines that a model of a text writes by itself."""
    import numpy as np

    from glassformer.tasks._text import Text

    if isinstance(run.task, Text):
        tokens = max(20, round(SAMPLE * len(run.task.stream) / len(run.task.text)))
        written = run.task.readable(np.array(list(run.generate(tokens=tokens, temperature=0.8)), dtype=np.int32))
        lines = [line for line in words.shown(written).split("\n") if line.strip()]
        yield "it writes:"
        yield from (f"  {line}" for line in lines or ["(nothing but blanks)"])


def settings_of(
    experiment: str | None,
    text: Path | None,
    tokenizer: str | None,
    vocabulary: int | None,
    assignments: Sequence[str],
    seed: int | None,
    steps: int | None,
) -> "Experiment":
    """The experiment named, or one made for a text."""
    from glassformer.experiment import for_text, load

    if text is not None:
        return for_text(text, tokenizer, vocabulary, assignments, seed=seed, steps=steps)
    if experiment is None:
        raise CallError("nothing to train: name an experiment (`glassformer list experiments`), or a text with --text")
    if tokenizer is not None or vocabulary is not None:
        raise CallError("--tokenizer and --vocabulary go with --text; for an experiment use --set data.tokenizer=...")
    return load(experiment, assignments, seed=seed, steps=steps)


def _given(
    tokenizer: str | None, vocabulary: int | None, assignments: Sequence[str], seed: int | None, steps: int | None
) -> dict[str, Any]:
    """The settings that this very call names, by table."""
    from glassformer.settings import assign

    def named(**values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value is not None}

    tables = assign({"data": named(tokenizer=tokenizer, entries=vocabulary), "train": {}}, list(assignments))
    tables["train"] |= named(seed=seed, steps=steps)
    return tables
