"""Carry out a study: which cells are still to be trained, by whom, and what is written down as each one ends."""

import platform
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import import_module
from itertools import count
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Annotated, Any

import glassformer
from glassformer import own
from glassformer import study as opened
from glassformer.analyses._options import Option
from glassformer.errors import CallError, unknown
from glassformer.experiment import Experiment, from_tables, load
from glassformer.folder import TEXT
from glassformer.lock import NAME as LOCK
from glassformer.lock import Lock
from glassformer.settings import assign
from glassformer.storage import Folder, is_temporary, make_folder
from glassformer.study import ABOUT, CELLS, RESULT, RUNS, SCHEMA, Cell, Metric, Study, text

SEEDS = 8
WORK = 4e11  # multiplications per member: what a training takes if nobody says how many steps (about 10 s on one core)
KEPT = 20_000_000  # bytes of a cell's run that may stay beside the study
MOST_ROUNDS = 4  # times that results may ask for further cells


def _nobody(*_: Any) -> None:
    """Told, and silent."""


@dataclass
class Watch:
    """Who wants to know how a study goes; every call may be left as it is."""

    begin: Callable[[Study, list[Cell]], None] = _nobody
    progress: Callable[[dict[str, Any]], None] = _nobody
    done: Callable[[Study, Cell], None] = _nobody
    failed: Callable[[Cell, str], None] = _nobody
    notice: Callable[[str], None] = _nobody


def find(name: str) -> ModuleType:
    """The file of a study."""
    from glassformer import _discover, studies

    if name not in _discover.names(studies):
        raise unknown(name, "studies", _discover.names(studies))
    return import_module(f"glassformer.studies.{name}")


def run(
    name: str,
    experiment: str | Path | Experiment = "five_operations",
    *,
    seeds: Annotated[int, Option("how many seeds each cell is trained with", least=1, most=65_536)] = SEEDS,
    steps: Annotated[int | None, Option("steps of each training; none: as many as take seconds", least=1)] = None,
    settings: Annotated[Sequence[str], Option("settings of every cell, as train.rate=0.01")] = (),
    without: Annotated[Sequence[str], Option("further cells, each with one such setting")] = (),
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    watch: Watch | None = None,
) -> Study:
    """Carry out a study, or what is left of it: `run("ablation", "five_operations", seeds=8)`.

    The cells are trained by `executor`, else by the Dask cluster of `scheduler`, else by `workers` processes.
    """
    file, watch = find(name), watch or Watch()
    if workers is not None and workers < 1:
        raise CallError(f"workers = {workers} train nothing; the least is 1")
    if scheduler is not None and not re.fullmatch(r"(\w+://)?[^\s/]+:\d{1,5}", scheduler):
        raise CallError(f"scheduler = {scheduler!r} is not an address, such as tcp://machine:8786")
    base = shortened(load(experiment, settings), steps)
    if not own.portable(type(base.task)):
        workers = 1  # other processes cannot know a class that stands in no file
    plan = _plan(file, name, base, seeds, without)
    folder = place(plan, Path(out) if out is not None else None)
    make_folder(folder)
    lock = Lock(folder)
    try:
        failed = _carry_out(file, lock.folder, plan, base, _Means(executor, workers, scheduler), watch)
        _conclude(file, opened.open(folder), failed)
    finally:
        lock.release()
    return opened.open(folder)


def shortened(experiment: Experiment, steps: int | None) -> Experiment:
    """The experiment as a study trains it: so many steps, and only the first and the last weights kept."""
    tables = experiment.tables()
    a, train = experiment.architecture, experiment.train
    if steps is None:
        most = WORK / (6.0 * a.parameters * train.batch * a.context)
        steps = train.steps if train.steps <= most else _round_down(most)
    tables["train"] |= {"steps": steps, "keep_bytes": 0}
    return from_tables(tables, experiment.name)


def _round_down(number: float) -> int:
    """To two digits that count."""
    size: int = 10 ** max(len(str(int(number))) - 2, 0)
    return max(int(number) // size * size, 1)


def _plan(file: ModuleType, name: str, base: Experiment, seeds: int, without: Sequence[str]) -> dict[str, Any]:
    """What study.json says at the beginning; a study goes on only where all of this is the same."""
    if not 1 <= seeds <= 65_536:
        raise CallError(f"seeds = {seeds} is not possible; allowed are 1 to 65,536")
    if hasattr(file, "needs") and (reason := file.needs(base)):
        raise CallError(f"study {name} cannot be asked of {base.name}: {reason}")
    if without and not getattr(file, "WITHOUT", False):
        raise CallError(f"study {name} takes no --without; it is for the study ablation")
    from glassformer.studies import _measure

    cells: list[Cell] = getattr(file, name)(base, *([without] if without else []))
    for file_name in {cell.file for cell in cells}:
        if len(same := [cell.name for cell in cells if cell.file == file_name]) > 1:
            raise CallError(f"the cells {' and '.join(map(repr, same))} would share one file; leave one of them out")
    for cell in cells:
        changed(base, cell)  # a wrong setting is answered before anything is trained
    own = file.metrics(base) if hasattr(file, "metrics") else getattr(file, "METRICS", {})
    metrics = _ordered(_measure.metrics(base) | own, own, getattr(file, "MAIN", None))
    return {
        "schema": SCHEMA,
        "study": name,
        "experiment": base.tables(),
        "seeds": seeds,
        "without": list(without),
        "files": {TEXT: sha256(base.files()[TEXT]).hexdigest()} if "file" in base.tables()["data"] else {},
        "metrics": {key: asdict(metric) for key, metric in metrics.items()},
        "cells": [asdict(cell) for cell in cells],
        "versions": {"glassformer": glassformer.__version__, "python": platform.python_version()},
    }


def _ordered(metrics: dict[str, Metric], own: dict[str, Metric], main: str | None) -> dict[str, Metric]:
    """The metric that answers the study's question first, with the others of its own if it is one of them."""
    main = main or next(iter(metrics))
    first = [main, *(own if main in own else ())]
    return {name: metrics[name] for name in dict.fromkeys([*first, *metrics])}


def changed(base: Experiment, cell: Cell) -> Experiment:
    """The experiment of a cell."""
    return from_tables(assign(base.tables(), list(cell.settings)), base.name)


SAME = ("study", "experiment", "seeds", "without", "files", "metrics")


def place(plan: dict[str, Any], out: Path | None, root: Path = Path("studies")) -> Path:
    """The folder of this very study: the one where it was begun, or a new one.

    A folder that was named and holds another study is refused; under `root` the next free name is taken.
    """
    wanted = out or root / f"{plan['study']}-{plan['experiment']['name']}"
    for number in count(1):
        path = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            return path
        if out is not None and not path.is_dir():
            raise CallError(f"{path} is not a folder, so no study can be kept there; choose another with --out")
        if (path / ABOUT).is_file():
            begun = opened.open(path).about
            if all(begun.get(key, plan[key]) == plan[key] for key in SAME):
                return path
            if out is not None:
                raise CallError(f"{path} holds another study ({_difference(begun, plan)}); choose another folder")
        elif all(name in (CELLS, RUNS, TEXT, LOCK) or is_temporary(name) for name, _ in Folder(path).entries()):
            return path  # killed before it was begun
        elif out is not None:
            raise CallError(f"{path} is not empty and holds no study; choose another folder")
    raise AssertionError


def _difference(begun: dict[str, Any], plan: dict[str, Any]) -> str:
    """The first thing that differs, as `name = there, not here`."""
    for key in SAME:
        if key == "experiment" and isinstance(begun.get(key), dict):
            for table, values in plan[key].items():
                old = begun[key].get(table)
                if isinstance(values, dict) and isinstance(old, dict):
                    for name in sorted({*values, *old}):
                        if values.get(name) != old.get(name):
                            return f"{table}.{name} = {old.get(name)}, not {values.get(name)}"
                elif values != old:
                    return f"{table} = {old}, not {values}"
        elif begun.get(key) != plan[key]:
            return f"{key} = {begun.get(key)!s:.100}, not {plan[key]!s:.100}"
    return "of other settings"


@dataclass(frozen=True)
class _Means:
    """Who trains the cells."""

    executor: Executor | None
    workers: int | None
    scheduler: str | None

    @contextmanager
    def open(self, cells: int, watch: Watch, topic: str) -> Iterator[tuple[Executor, str | None, bool]]:
        """An executor, the topic its workers report under, and whether they write to the folders of this machine."""
        from glassformer.studies import _executors, _work

        if self.executor is not None:
            yield self.executor, None, False
            return
        if self.scheduler is not None:
            with _executors.dask(self.scheduler, topic, watch.progress, watch.notice) as cluster:
                yield cluster, topic, False
            return
        many = min(cells, self.workers if self.workers is not None else _executors.cores())
        if many == 1:
            _work.tell, before = watch.progress, _work.tell
            try:
                yield _executors.Here(), None, True
            finally:
                _work.tell = before
            return
        pool = _executors.Processes(many, watch.progress)
        try:
            yield pool, None, True
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        pool.shutdown()


def _carry_out(
    file: ModuleType, inside: Folder, plan: dict[str, Any], base: Experiment, means: _Means, watch: Watch
) -> dict[str, str]:
    """Train what is not there yet, and what the results ask for then; which cells failed, and why."""
    failed: dict[str, str] = {}
    folder = inside.path
    if inside.stat(ABOUT) is None:
        write_plan(inside, plan, base)
    for _ in range(MOST_ROUNDS):
        found = opened.open(folder)
        _refuse_stale(found, base)
        todo = [cell for cell in found.missing if cell.name not in failed]
        watch.begin(found, todo)
        if todo:
            topic = f"glassformer-{folder.resolve().as_posix()}"
            with means.open(len(todo), watch, topic) as (executor, heard, here):
                _train(executor, found, base, todo, heard, here, failed, watch)
        if not hasattr(file, "follow"):
            break
        found = opened.open(folder)
        further = [cell for cell in file.follow(base, found) if cell.name not in {each.name for each in found.cells}]
        if not further:
            break
        cells = [*found.about["cells"], *(asdict(cell) for cell in further)]
        inside.replace(ABOUT, text({**found.about, "cells": cells}))
    return failed


def write_plan(inside: Folder, plan: dict[str, Any], base: Experiment) -> None:
    """Begin a study's folder: its own copy of a text that a person named, then what it is going to do."""
    inside.make_folder(CELLS)
    if plan["files"]:
        inside.replace(TEXT, base.files()[TEXT])
    inside.replace(ABOUT, text(plan))


def _refuse_stale(found: Study, base: Experiment) -> None:
    """A cell counts as trained only if it was trained with the settings it would have now."""
    for row in found.trained.values():
        if row.experiment.tables() != _tables(base, row.cell):
            raise CallError(
                f"{found.path}: the cell {row.cell.name!r} was trained with other settings than this version gives it; "
                "choose another folder with --out"
            )


def _train(
    executor: Executor, found: Study, base: Experiment, todo: list[Cell], topic: str | None, here: bool,
    failed: dict[str, str], watch: Watch,
) -> None:  # fmt: skip
    """Hand the cells out, and write each one down as it ends."""
    from glassformer.studies import _work

    waiting: dict[Future[Any], Cell] = {}
    began = monotonic() - found.seconds

    def settle(done: Iterator[Future[Any]] | set[Future[Any]]) -> None:
        for future in list(done):
            cell = waiting.pop(future)
            sentence = _written(found, cell, future, monotonic() - began)
            if sentence is None:
                watch.done(opened.open(found.path), cell)
            else:
                failed[cell.name] = sentence
                watch.failed(cell, sentence)

    try:
        for cell in todo:
            waiting[executor.submit(_work.train, _order(found, base, cell, topic, here))] = cell
            settle(future for future in list(waiting) if future.done())  # an executor may work at once
        while waiting:
            settle(wait(waiting, return_when=FIRST_COMPLETED).done)
    finally:
        for future in waiting:
            future.cancel()


def _order(found: Study, base: Experiment, cell: Cell, topic: str | None, here: bool) -> dict[str, Any]:
    """All that a worker needs to know, as plain values."""
    tables = _tables(base, cell)
    if here:
        found.folder.make_folder(RUNS)  # which refuses a link that leads elsewhere
    first = tables["train"]["seed"]
    return {
        "study": found.name,
        "cell": cell.name,
        "file": cell.file,
        "x": cell.x,
        "experiment": tables,
        "seeds": list(range(first, first + (cell.seeds or found.seeds))),
        "folder": str((found.path / RUNS).resolve()) if here else None,
        "topic": topic,
    }


def _tables(base: Experiment, cell: Cell) -> dict[str, Any]:
    """The experiment of a cell as plain values, beginning with the cell's first seed."""
    tables = changed(base, cell).tables()
    tables["train"]["seed"] += cell.after
    return tables


def _written(found: Study, cell: Cell, future: "Future[Any]", after: float) -> str | None:
    """Write a cell's numbers down; the sentence that says why there are none."""
    from glassformer.studies import _executors, _work

    try:
        answer = future.result()
    except CancelledError:
        return "it was taken back before it was trained (has the scheduler gone away?)"
    except Exception as problem:
        return _executors.sentence(problem)
    found.folder.replace(f"{CELLS}/{cell.file}.json", text({**answer, "after": round(after, 3)}))
    if answer["run"]["folder"] is not None:
        _work.forget(found.path / RUNS / answer["run"]["folder"], KEPT)
    return None


def _conclude(file: ModuleType, found: Study, failed: dict[str, str]) -> None:
    """The table, as JSON and CSV, and the sentence that follows from it."""
    from glassformer.studies._say import compare_and_time, uncertain, unlearnt

    rows = found.table()
    conclude = getattr(file, "conclude", lambda study: compare_and_time(study, study.main))
    sentence = unlearnt(found) + conclude(found) + uncertain(found) if rows else "No cell was trained."
    result = {
        "study": found.name,
        "experiment": found.experiment.name,
        "seeds": found.seeds,
        "steps": found.experiment.train.steps,
        "seconds": round(found.seconds, 1),
        "interval": found.interval,
        "conclusion": sentence,
        "complete": not found.missing,
        "failed": failed,
        "rows": rows,
        "search": found.table("search"),
    }
    found.folder.replace(RESULT, text(result))
    found.folder.replace("table.csv", found.csv())


__all__ = ["Watch", "find", "place", "run", "shortened"]
