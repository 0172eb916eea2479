"""The command line: one command per verb, everything heavy imported inside it."""

import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer import terminal
from glassformer.errors import CallError, Error, MissingError

if TYPE_CHECKING:
    from glassformer.experiment import Experiment
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

    with terminal.safe_stop() as stop, terminal.progress(show=not (quiet or as_json)) as progress:
        if folder is not None:
            outcome = training.resume(folder, progress=progress, stop=stop)
        else:
            outcome = training.begin(settings, seeds=seeds, out=out, progress=progress, stop=stop)
    for notice in outcome.notices:
        typer.echo(f"notice: {notice}", err=True)
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


@app.command("figures")
def figures_(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [NAME ...]", help="A run, then figures by name; none: all that apply."),
    ] = None,
    step: Step = -1,
    sequence: Annotated[
        list[str] | None, typer.Option(help="What to look at, in place of the task's own example; repeatable.")
    ] = None,
    member: Member = 0,
    size: Annotated[str, typer.Option(help="screen, slide, print or print_narrow.")] = "screen",
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    format_: Annotated[
        str | None, typer.Option("--format", help="svg, png, pdf, with commas; svg,png if none.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the figures named; repeatable."),
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="RUN", help="A further run, for figures that compare; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write; else figures/RUN.")] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show the page in a browser, where there is one.")] = False,
    as_json: Json = False,
) -> None:
    """Draw a run: every figure that applies with a page that shows them all, or the figures named."""
    from glassformer import gallery
    from glassformer.analyses import _clock
    from glassformer.figures import _draw, _style
    from glassformer.run import find

    run, names = _run_and_names(words or [], "figures")
    _style.theme(theme), _style.size(size), _clock.resolve(run, step)
    for text in sequence or ():
        run.tokens(text)  # refuses what this model cannot look at
    wish = gallery.Wish(
        step=step, member=_member(run, member), sequences=tuple(sequence or ()), size=size, theme=theme,
        formats=_formats(format_, _draw.FORMATS, "svg,png"), options=_options(set_ or (), names, "figures"),
        others=tuple(str(find(each).path) for each in with_ or ()),
    )  # fmt: skip
    folder = out or Path("figures") / run.name
    with terminal.counting("figures", show=not as_json) as progress:
        tell = lambda done, many, name: progress(done, many)  # noqa: E731, ARG005
        if names:
            made = gallery.draw(run, [gallery.piece(name) for name in names], wish, folder, tell)
        else:
            made = gallery.gallery(run, folder, wish, tell)
    failed, absent = [each for each in made if each.failed], [each for each in made if each.absent]
    if open_ and not names:
        terminal.show_page(folder / "index.html")
    if as_json:
        from dataclasses import asdict

        typer.echo(_json({"run": str(run.path), "folder": str(folder), "figures": [asdict(each) for each in made]}))
    else:
        for each in made:
            for file in each.files if names else ():
                typer.echo(folder / file)
        for each in absent if names else ():
            typer.echo(f"glassformer: {each.name} is not drawn for {run.name}: {each.absent}", err=True)
        for each in failed:
            typer.echo(f"glassformer: {each.name} could not be drawn: {each.failed}", err=True)
        if not names:
            typer.echo(f"{sum(bool(each.files) for each in made)} figures of {run.name}: {folder / 'index.html'}")
    if failed or (absent and names):
        raise typer.Exit(1 if failed else 2)


@app.command()
def film(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [NAME ...]", help="A run, then films by name; none: all that apply."),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="mp4, gif, with commas; mp4 if none, and gif without ffmpeg.")
    ] = None,
    fps: Annotated[int | None, typer.Option(help="Frames per second.")] = None,
    frames: Annotated[int | None, typer.Option(help="How many of the kept steps to show.")] = None,
    pace: Annotated[str | None, typer.Option(help="even (in steps) or change (in how far the weights move).")] = None,
    step: Annotated[int | None, typer.Option(help="The step of a film that shows a single one.")] = None,
    steps: Annotated[str | None, typer.Option(help="The very steps to show, with commas.")] = None,
    sequence: Annotated[
        list[str] | None, typer.Option(help="What to look at, in place of the task's own example; repeatable.")
    ] = None,
    member: Member = 0,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the films named; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write; else films/RUN.")] = None,
) -> None:
    """Let a training run before your eyes: films of what moves, as MP4 or GIF."""
    from glassformer.figures import _style
    from glassformer.films import _film, _make

    run, names = _run_and_names(words or [], "films")
    _style.theme(theme)
    for text in sequence or ():
        run.tokens(text)  # refuses what this model cannot look at
    kinds = _formats(format_, _film.FORMATS, "mp4" if _film.ffmpeg(needed=False) else "gif")
    wanted = {"frames": frames, "pace": pace, "step": step, "steps": _steps(run, steps), "theme": theme,
              "member": _member(run, member)}  # fmt: skip
    asked = _options(set_ or (), names, "films")
    wrong = 0
    for name in names or [each for each in _make.names() if _make.suits(each, run) is None]:
        try:
            with terminal.counting(f"film {name}") as progress:
                written = list(_make.write(
                    name, run, out or Path("films") / run.name, formats=kinds, fps=fps, sequences=tuple(sequence or ()),
                    wanted=wanted, asked=asked, progress=progress,
                ))  # fmt: skip
            for path in written:
                typer.echo(path)
        except Error as problem:  # the other films are still made
            typer.echo(f"glassformer: {problem}", err=True)
            wrong = wrong or problem.exit_code
    if wrong:
        raise typer.Exit(wrong)


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


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e6:.2g} MB"


def _run_and_names(words: list[str], kind: str) -> "tuple[Run, list[str]]":
    """The run, and the pieces named after it; where the first word is a piece, the run is the newest."""
    from glassformer import catalogue
    from glassformer.errors import unknown
    from glassformer.run import find

    there = catalogue.pieces(kind)
    run: Run
    if words and words[0] in there and not Path(words[0]).is_dir():
        run, names = find(None), words
    else:
        run, names = find(words[0] if words else None), words[1:]
    for name in names:
        if name not in there:
            raise unknown(name, kind, there)
    return run, list(dict.fromkeys(names))


def _formats(given: str | None, known: Sequence[str], otherwise: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(word.strip().lower().lstrip(".") for word in (given or otherwise).split(",")))
    for each in found:
        if each not in known:
            from glassformer.errors import unknown

            raise unknown(each, "the formats", known)
    return found


def _options(assignments: Sequence[str], names: list[str], kind: str) -> dict[str, Any]:
    """NAME=VALUE texts as options: whole numbers, numbers, true, false, none, or the text itself."""
    if assignments and not names:
        raise CallError(f"--set needs the names of the {kind} it is for")
    found: dict[str, Any] = {}
    for text in assignments:
        name, sign, value = text.partition("=")
        if not sign or not name.isidentifier():
            raise CallError(f"--set {text!r} is not of the form NAME=VALUE")
        try:
            found[name] = {"true": True, "false": False, "none": None}.get(value.lower(), json.loads(value))
        except json.JSONDecodeError:
            found[name] = {"true": True, "false": False, "none": None}.get(value.lower(), value)
    return found


def _steps(run: "Run", text: str | None) -> list[int] | None:
    """Kept steps written with commas; none may be missing."""
    from glassformer.analyses import _clock

    if text is None:
        return None
    try:
        return [_clock.resolve(run, int(word)) for word in text.split(",")]
    except ValueError:
        raise CallError(f"--steps {text!r} is not a list of whole numbers with commas, such as 0,500,20000") from None


def _member(run: "Run", member: int) -> int:
    if not 0 <= member < run.members:
        raise MissingError(f"there is no member {member} in {run.path}; there are 0 to {run.members - 1}")
    return member


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
