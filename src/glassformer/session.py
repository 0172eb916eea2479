"""Trainings begun from Python, at a prompt or in a notebook: watched, stopped by Ctrl-C, and not made twice.

A training is a function of its experiment and seeds, so that asking for the same one again is answered by the run that
is there; docs/decisions/same-training-once.md.
"""

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from glassformer import changed, folder, given, notebook
from glassformer.errors import CallError, DivergedError, Error, LockedError
from glassformer.experiment import Experiment, load
from glassformer.run import Run, names
from glassformer.run import open as open_run
from glassformer.settings import assignments
from glassformer.tasks import Task

if TYPE_CHECKING:
    from glassformer.notes import Progress
    from glassformer.training import Outcome

ROOT = Path("runs")
OFTEN = 0.2  # seconds between two looks at a training, in a notebook
Show = Callable[["Progress"], None]


def train(
    experiment: str | Path | Experiment | Task | type[Task],
    *,
    seed: int | None = None,
    seeds: int = 1,
    steps: int | None = None,
    settings: Mapping[str, Any] | Iterable[str] = (),
    out: str | Path | None = None,
    again: bool = False,
    progress: bool = True,
) -> Run:
    """Train an experiment and open its run: `train("plus_last_even", seed=18)`.

    experiment  a ready-made name (`gf.catalogue.pieces("experiments")`), a path to a TOML file, or a task of your own:
                its class, an object of it, or the path of the .py file it stands in.
    seeds       how many models to train together, from `seed` upwards.
    settings    changes by name: `{"train.rate": 1e-3}`, or as on the command line `["train.rate=1e-3"]`.
    out         the run's folder; else `runs/EXPERIMENT-SEED`.
    again       train anew, into the next free name. Otherwise a finished run of the very same experiment, seeds and
                data is opened, and an interrupted one goes on, to the same bits; either is said in one line.
    progress    False: nothing is printed. Else a bar on a terminal, a line that moves in a notebook, and neither where
                the output goes elsewhere.

    Ctrl-C (the stop button of a notebook) stops at the next safe point and raises KeyboardInterrupt, which says how to
    go on; a second one stops at once, and the run can be resumed from its last safe point.
    """
    seed, steps = (
        None if each is None else given.whole(name, each) for name, each in (("seed", seed), ("steps", steps))
    )
    seeds = given.whole("seeds", seeds, 1, 65_536)
    wanted = load(experiment, assignments(settings), seed=seed, steps=steps)
    there = None if again else _there(wanted, seeds, out)
    if there is not None:
        return _taken_up(there, progress)
    if out is not None:
        out = _free(Path(out), again)
    from glassformer import training

    return _watched(lambda show, stop: training.begin(wanted, seeds=seeds, out=out, progress=show, stop=stop), progress)


def resume(run: str | Path | Run, *, progress: bool = True) -> Run:
    """Go on with an interrupted run, to the bits of an uninterrupted one; a finished one is opened.

    It is named as for `open`; `progress` and Ctrl-C are those of `train`.
    """
    return _taken_up(run.unedited.newer() if isinstance(run, Run) else open_run(run), progress)


def _there(wanted: Experiment, seeds: int, out: str | Path | None) -> Run | None:
    """The run that such a training has left: in `out`, or under the name that it would get."""
    if out is not None:
        path = Path(out)
        if not (path / folder.ABOUT).is_file():
            return None
        if _same(found := open_run(path), wanted, seeds):
            return found
        raise CallError(
            f"out = {path} is a run of other settings, seeds or data; choose another folder, or give again=True "
            "for the next free name beside it"
        )
    name = changed.run_name(wanted, seeds)
    own = re.compile(rf"{re.escape(name)}(-[0-9]+)?")
    runs = []
    for each in names(ROOT, name):
        with suppress(Error):  # a damaged run beside the one we look for
            if own.fullmatch(each) and _same(found := open_run(ROOT / each), wanted, seeds):
                runs.append(found)
    worse = ("interrupted", "running", "diverged")  # than one that has come to its end
    return min(runs, key=lambda run: worse.index(run.status) if run.status in worse else -1, default=None)


def _same(run: Run, wanted: Experiment, seeds: int) -> bool:
    """Whether a training would make this run again: its settings, its seeds, and the data that its folder keeps."""
    first = wanted.train.seed
    if run.seeds != list(range(first, first + seeds)) or run.experiment.tables() != wanted.tables():
        return False
    if run.engine != "python":  # a page has chances of its own
        return False
    files = {name: sha256(data).hexdigest() for name, data in wanted.files().items()}
    return bool(run.about.get("files", {}) == files)


def _free(path: Path, again: bool) -> Path:
    from glassformer.record import free_name

    found = free_name(path.parent, path.name)
    if found != path and not again:
        raise CallError(f"out = {path} exists already; choose another folder, or give again=True for {found}")
    return found


def _taken_up(run: Run, progress: bool) -> Run:
    """A run that is there, at its end: as it is, or gone on with."""
    say = notebook.say if progress else lambda _: None
    if run.status == "running":
        raise LockedError(
            f"{run.path} is being trained by another process; wait for it, or give again=True for another"
        )
    if run.status == "diverged":
        raise DivergedError(f"{run.path} has diverged with these settings; try a lower train.rate, or train.clip = 1.0")
    if run.status != "finished":
        run.must_resume()
    if run.status != "interrupted":
        say(f"{run.path} is {run.status} at step {run.last_step:,}: opened, not trained again")
        return run
    steps = run.experiment.train.steps
    say(f"{run.path} was interrupted at step {run.last_step:,} of {steps:,}: going on, to the same bits")
    from glassformer import training

    return _watched(lambda show, stop: training.resume(run.path, progress=show, stop=stop), progress)


def _watched(work: "Callable[[Show, Callable[[], bool]], Outcome]", progress: bool) -> Run:
    """Carry out a training before somebody's eyes."""
    with _stopped_by_hand() as stop, _shown(progress) as (show, say):
        outcome = work(show, stop)
        run = outcome.run
        for notice in outcome.notices:
            say(f"notice: {notice}")
        if not outcome.interrupted:
            say(_summary(outcome))
            return run
    raise KeyboardInterrupt(
        f"stopped at step {run.last_step:,} of {run.experiment.train.steps:,}; gf.resume({str(run.path)!r}), or the "
        "same gf.train again, goes on to the same bits"
    )


def _summary(outcome: "Outcome") -> str:
    run = outcome.run
    words = f"{run.path}: {outcome.steps:,} steps in {outcome.seconds:.1f} s"
    for name, word in (("validation_loss", "loss"), ("excess", "excess")):
        values = run.metrics.get(name)
        if values is not None and len(values):
            words += f", {word} {notebook.span(values[-1])}"
    return words


@contextmanager
def _stopped_by_hand() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks to stop at the next safe point, a second one stops at once; threads other than the main hear none."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    asked = False

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        if asked:
            signal.default_int_handler(number, frame)
        asked = True
        notebook.say("stopping at the next safe point (once more: at once)")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)


@contextmanager
def _shown(progress: bool) -> Iterator[tuple[Show, Callable[[str], None]]]:
    """How a training shows itself, and what it says: on a terminal, in a notebook, or not at all."""
    if not progress:
        yield (lambda _: None), (lambda _: None)
    elif notebook.kernel() is not None:
        yield from _in_notebook()
    elif sys.stderr is not None and sys.stderr.isatty():
        from glassformer import terminal

        said: list[str] = []
        with terminal.progress(show=True) as draw:
            yield draw, said.append
        for line in said:  # below the bar, which is gone by now
            notebook.say(line)
    else:
        yield (lambda _: None), (lambda line: notebook.say(line) if line.startswith("notice: ") else None)


def _in_notebook() -> Iterator[tuple[Show, Callable[[str], None]]]:
    """One line that is written anew as the training goes on, and stays with what it came to."""
    line, before = notebook.Line("compiling"), 0.0
    line.show()

    def show(p: "Progress") -> None:
        nonlocal before
        if monotonic() - before < OFTEN and p.step < p.steps:
            return
        before, left = monotonic(), p.seconds_left
        speed = "" if left is None else f", {p.steps_per_second:,.0f} steps a second, {left:.0f} s left"
        line.change(
            f"step {p.step:,} of {p.steps:,}, loss {p.loss:.4f}, excess {p.excess:.4f}{speed}", p.step / p.steps
        )

    try:
        yield show, line.change
    finally:
        line.change(line.words)  # without a bar
