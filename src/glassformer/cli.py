"""The command line: one command per verb, everything heavy imported inside it."""

import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.errors import CallError, Error, MissingError

if TYPE_CHECKING:
    from glassformer.experiment import Experiment
    from glassformer.notes import Progress
    from glassformer.run import Run

app = typer.Typer(
    name="glassformer",
    help="A laboratory for tiny transformers: train one in seconds, and look at every number inside it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

INTERRUPTED = 130  # how typer ends a command that Ctrl-C cut short

RunName = Annotated[
    str | None,
    typer.Argument(metavar="[RUN]", help="A run's folder, or the beginning of its name under runs/; none: the newest."),
]
Step = Annotated[int, typer.Option(help="A kept step of the training; -1 is the last.")]
Member = Annotated[int, typer.Option(help="Which member of a population, counted from 0.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.command("list")
def list_(
    kind: Annotated[str | None, typer.Argument(help="experiments, tasks, ...; none: all of them.")] = None,
) -> None:
    """What there is: experiments, tasks and the other pieces, each with its title."""
    from glassformer import catalogue

    kinds = catalogue.kinds()
    if kind is not None and kind not in kinds:
        from glassformer.errors import unknown

        raise unknown(kind, "the things that can be listed", kinds)
    for each in kinds if kind is None else [kind]:
        pieces = catalogue.pieces(each)
        if kind is None:
            typer.echo(f"{each}:")
        width = max(map(len, pieces), default=0)
        for name, title in pieces.items():
            typer.echo(f"  {name:{width}}  {title}")


@app.command()
def show(experiment: Annotated[str, typer.Argument(help="The name of a ready-made experiment.")]) -> None:
    """The settings of an experiment as TOML, to begin your own from."""
    from glassformer.experiment import text

    typer.echo(text(experiment), nl=False)


@app.command()
def train(
    experiment: Annotated[str, typer.Argument(help="A ready-made experiment, or a path to your own TOML file.")],
    seed: Annotated[int | None, typer.Option(help="Initial weights, batches and dropout.")] = None,
    seeds: Annotated[int, typer.Option(help="Train this many members together, from the seed upwards.")] = 1,
    steps: Annotated[int | None, typer.Option(help="How many steps to train.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TABLE.NAME=VALUE", help="Change a setting, as train.rate=3e-3; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; else runs/EXPERIMENT-SEED.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary; just the run's folder.")] = False,
    as_json: Json = False,
) -> None:
    """Train a model and keep its whole life in a folder."""
    from glassformer.experiment import load

    settings = load(experiment, set_ or (), seed=seed, steps=steps)  # before JAX: a wrong setting is answered at once
    folder = _interrupted(settings, seeds, out, _given(set_ or (), seed, steps)) if resume else None
    if folder is None and out is not None and out.name in ("", ".."):
        raise CallError(f"--out {str(out)!r} does not name a folder to make; give it a name, such as runs/mine")
    from glassformer import training

    with _safe_stop() as stop, _progress(show=not (quiet or as_json)) as progress:
        if folder is not None:
            outcome = training.resume(folder, progress=progress, stop=stop)
        else:
            outcome = training.begin(settings, seeds=seeds, out=out, progress=progress, stop=stop)
    run = outcome.run
    if outcome.interrupted:
        again = shlex.join(["glassformer", "train", experiment, "--resume", "--out", str(run.path)])
        last = run.experiment.train.steps
        raise Error(f"stopped at step {run.last_step} of {last}; `{again}` goes on to the same bits")
    from glassformer import summary

    if as_json:
        result = {
            "run": str(run.path),
            "experiment": run.experiment.name,
            "steps": run.last_step,
            "seconds": round(outcome.seconds, 3),
            "steps_per_second": round(outcome.steps_per_second, 1),
            "floor": run.experiment.floor,
            "members": summary.members(run),
        }
        typer.echo(_json(result))
        return
    if quiet:
        typer.echo(run.path)
        return
    typer.echo(
        f"{outcome.steps:,} steps in {outcome.seconds:.1f} s on {outcome.device} "
        f"({outcome.compile_seconds:.1f} s of them compiling; then {outcome.steps_per_second:,.0f} steps a second)"
    )
    for sentence in summary.sentences(run):
        typer.echo(sentence)
    typer.echo(f"run: {run.path} ({_count(len(run.steps), 'kept step')}, {_megabytes(run.size)})")


@app.command()
def ask(
    run: Annotated[str, typer.Argument(metavar="[RUN] TEXT", help="A run (none: the newest), then the text.")],
    text: Annotated[str | None, typer.Argument(metavar="", hidden=True)] = None,
    step: Step = -1,
    top: Annotated[int, typer.Option(help="How many tokens to show.")] = 5,
    member: Member = 0,
    as_json: Json = False,
) -> None:
    """Next-token probabilities after a text, beside those of the exact predictor."""
    from glassformer.run import find

    opened = find(None if text is None else run)
    given = run if text is None else text
    if top < 1:
        raise CallError(f"--top {top} shows nothing; the least is 1")
    answers = opened.ask(given, step=step, member=member)[:top]
    if as_json:
        tokens, chances = [token for token, _ in answers], [chance for _, chance in answers]
        typer.echo(_json({"run": str(opened.path), "step": _resolved(opened, step), "text": given, "tokens": tokens,
                          "probabilities": chances}))  # fmt: skip
        return
    truth = _truth(opened, given)
    typer.echo(f"{'token':>8}  {'model':>7}  {'exact':>7}")
    for token, chance in answers:
        typer.echo(f"{token:>8}  {chance:7.1%}  {truth[token]:7.1%}")


@app.command()
def generate(
    run: RunName = None,
    prompt: Annotated[str, typer.Argument(help="What to go on from; none: begin as the task begins.")] = "",
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest token each time.")] = 1.0,
    top_k: Annotated[int | None, typer.Option(help="Choose among this many likeliest tokens.")] = None,
    tokens: Annotated[int, typer.Option(help="How many tokens to write.")] = 30,
    seed: Annotated[int, typer.Option(help="Randomness of the choice.")] = 0,
    step: Step = -1,
    member: Member = 0,
    as_json: Json = False,
) -> None:
    """Let a model write, and mark what its rule calls right and wrong."""
    from glassformer.run import find

    opened = find(run)
    task = opened.task
    start = [int(token) for token in task.encode(prompt)]
    new = opened.generate(prompt, tokens, temperature, top_k, seed, step, member)
    written = [*start, *new]
    import numpy as np

    verdicts = task.verify(np.array(written, dtype=np.int32))
    if as_json:
        words = [task.vocabulary[token] for token in written]
        typer.echo(_json({"run": str(opened.path), "step": _resolved(opened, step), "prompt": prompt, "tokens": words,
                          "text": task.decode(np.array(written)), "right": verdicts}))  # fmt: skip
        return
    if len(start) > opened.architecture.context:
        typer.echo(f"(the model sees the last {opened.architecture.context} tokens at a time)", err=True)
    typer.echo(task.decode(np.array(written)))
    judged = [verdict for verdict in verdicts[len(start) :] if verdict is not None]
    if judged:
        typer.echo(f"the rule spoke about {len(judged)} of these tokens; {sum(judged)} of them are right")


@app.command()
def check(run: RunName = None, as_json: Json = False) -> None:
    """Whether a run's folder is whole: every listed step, every line, every checksum."""
    from glassformer.run import find

    opened = find(run)
    problems = opened.check()
    if as_json:
        typer.echo(_json({"run": str(opened.path), "status": opened.status, "kept_steps": len(opened.steps),
                          "bytes": opened.size, "problems": problems}))  # fmt: skip
    else:
        for problem in problems:
            typer.echo(problem)
        budget = opened.experiment.train.keep_bytes
        typer.echo(f"{opened.path}: {opened.status}, {len(opened.steps):,} kept steps up to {opened.last_step:,}")
        typer.echo(f"{_megabytes(opened.size)} on disk; the budget for weights is {_megabytes(budget)}")
        typer.echo(f"{_count(len(problems), 'problem')} found" if problems else "everything listed verifies")
    if problems:
        raise typer.Exit(1)


def main() -> None:
    """Run a command; anything wrong is one sentence and an exit code: 1 the work failed, 2 the call was wrong."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows a question mark, not a traceback
    try:
        app(standalone_mode=True)
    except Error as problem:
        typer.echo(f"glassformer: {problem}", err=True)
        sys.exit(problem.exit_code)
    except OSError as problem:
        typer.echo(f"glassformer: {problem.strerror}: {problem.filename}", err=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            typer.echo("glassformer: stopped at once; a training begun here goes on with --resume", err=True)
            sys.exit(1)
        raise


def _given(assignments: Sequence[str], seed: int | None, steps: int | None) -> dict[str, Any]:
    """The settings that this very call names, by table."""
    from glassformer.settings import assign

    tables = assign({"train": {}}, list(assignments))
    tables["train"] |= {name: value for name, value in {"seed": seed, "steps": steps}.items() if value is not None}
    return tables


def _interrupted(settings: "Experiment", seeds: int, out: Path | None, given: dict[str, Any]) -> Path:
    """The run to resume: the folder named, or the newest interrupted one with these settings."""
    from glassformer.run import Run
    from glassformer.run import open as open_run

    def fits(run: Run) -> bool:
        return run.status == "interrupted" and run.experiment.tables() == settings.tables() and run.members == seeds

    root = out or Path("runs")
    if out is not None and (out / "run.json").exists():
        _agree(open_run(out), settings, seeds, given)
        return out
    runs = []
    for path in sorted(root.glob("*/run.json")) if root.is_dir() else []:
        with suppress(Error):  # a damaged run beside the one we look for
            runs.append(open_run(path.parent))
    found = sorted((run for run in runs if fits(run)), key=lambda run: str(run.about.get("times")))
    if not found:
        raise MissingError(
            f"no interrupted run of {settings.name} with these settings in {root}; leave out --resume to begin one"
        )
    return found[-1].path


def _agree(run: "Run", settings: "Experiment", seeds: int, given: dict[str, Any]) -> None:
    """A resumed run keeps the settings it was begun with; to ask for others is refused, not ignored."""
    if run.experiment.name != settings.name:
        raise CallError(f"{run.path} is a run of {run.experiment.name}, not of {settings.name}; name the one it is")
    if seeds not in (1, run.members):
        raise CallError(f"{run.path} was begun with {run.members} seeds, not {seeds}; leave out --seeds")
    begun = run.experiment.tables()
    for table, values in given.items():
        for name, value in values.items():
            if begun[table].get(name) != value:
                raise CallError(
                    f"{run.path} was begun with {table}.{name} = {begun[table].get(name)}, not {value}; "
                    "a resumed run keeps its settings"
                )


@contextmanager
def _safe_stop() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks the training to stop at its next safe point; a second one stops it at once."""
    asked = False

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        if asked:
            signal.default_int_handler(number, frame)
        asked = True
        typer.echo("\nstopping at the next safe point (Ctrl-C again stops at once)", err=True)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(show: bool) -> Iterator[Callable[["Progress"], None]]:
    """A bar on a terminal, about ten plain lines elsewhere, nothing when not shown."""
    if not show:
        yield lambda _: None
    elif sys.stderr.isatty():
        from rich import progress as rich
        from rich.console import Console

        columns = (
            rich.TextColumn("step"), rich.MofNCompleteColumn(), rich.BarColumn(), rich.TextColumn("{task.description}"),
            rich.TimeRemainingColumn(),
        )  # fmt: skip
        with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("compiling", total=None)

            def draw(p: "Progress") -> None:
                words = f"{p.steps_per_second:,.0f} steps/s, loss {p.loss:.4f}, excess {p.excess:.4f}"
                bar.update(task, completed=p.step, total=p.steps, description=words)

            yield draw
    else:
        tenths = -1

        def line(p: "Progress") -> None:
            nonlocal tenths
            if 10 * p.step // p.steps > tenths:
                tenths = 10 * p.step // p.steps
                left = (p.steps - p.step) / p.steps_per_second if p.steps_per_second else float("nan")
                speed = f"{p.steps_per_second:,.0f} steps/s, {left:.0f} s left" if p.steps_per_second else "compiling"
                typer.echo(f"step {p.step:,}/{p.steps:,}  loss {p.loss:.4f}  excess {p.excess:.4f}  {speed}", err=True)

        yield line


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e6:.2g} MB"


def _resolved(run: "Run", step: int) -> int:
    return run.last_step if step == -1 else step


def _truth(run: "Run", text: str) -> dict[str, float]:
    """The exact predictor's probabilities at the place where the model answers."""
    tokens = run.tokens(text)
    chances = run.task.true_distribution(tokens, run.architecture.context)[-1]
    return dict(zip(run.task.vocabulary, chances.tolist(), strict=False))


def _json(value: Any) -> str:
    from glassformer.record import plain

    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
