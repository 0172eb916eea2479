"""Train one cell: what a worker does, in this process, in another one, or on another machine.

Orders and answers are plain values, so that they can be sent anywhere.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from glassformer.errors import DivergedError, Error, LockedError, StorageError
from glassformer.experiment import Experiment, from_tables
from glassformer.run import Run
from glassformer.run import open as open_run
from glassformer.studies import _measure

Progress = Callable[[dict[str, Any]], None]
PATIENCE = 20.0  # seconds that a worker which is just being stopped may still hold its run

tell: Progress = lambda _: None  # noqa: E731  where this process reports how far it has come


def train(order: Mapping[str, Any]) -> dict[str, Any]:
    """Train (or go on training) one cell and give back its numbers."""
    experiment = from_tables(order["experiment"], order["experiment"]["name"])
    seeds = list(order["seeds"])
    kept = order["folder"]
    temporary = tempfile.TemporaryDirectory(prefix="glassformer-") if kept is None else nullcontext(kept)
    with temporary as where:
        run = trained(experiment, seeds, Path(where) / order["file"], teller(order))
        study = import_module(f"glassformer.studies.{order['study']}")
        measured = _measure.measure(run) | (study.measure(run) if hasattr(study, "measure") else {})
        if hasattr(study, "measure_at"):  # what is done to the trained model is what sets the cells apart
            measured |= study.measure_at(run, order["x"])
        return {
            "cell": order["cell"],
            "experiment": order["experiment"],
            "seeds": seeds,
            "status": run.status,
            "steps": run.last_step,
            "parameters": run.parameters,
            "seconds": _measure.seconds(run),
            "diverged": run.about.get("diverged", {}),
            "versions": run.about.get("versions", {}),
            "hardware": run.about.get("hardware", {}),
            "run": {"folder": run.path.name if kept is not None else None, "bytes": run.size},
            "measured": {name: values.tolist() for name, values in measured.items()},
            "curves": {name: values.tolist() for name, values in _measure.curves(run).items()},
        }


def trained(experiment: Experiment, seeds: list[int], folder: Path, progress: Callable[[Any], None]) -> Run:
    """The trained population of this folder: as it lies there, gone on with, or begun."""
    from glassformer import training
    from glassformer.record import free_name

    begun = _begun(folder, experiment, seeds)
    where = folder if begun else free_name(folder.parent, folder.name)
    try:
        if begun and begun.status in ("running", "interrupted"):
            outcome = _patiently(lambda: training.resume(where, progress=progress))
        elif begun:
            return begun
        else:
            outcome = training.begin(experiment, seeds=len(seeds), out=where, progress=progress)
    except DivergedError:  # a result like any other
        return open_run(where)
    except StorageError as problem:  # of a study, the same command goes on
        raise StorageError(problem.what, problem.remedy) from problem
    return outcome.run


def _begun(folder: Path, experiment: Experiment, seeds: list[int]) -> Run | None:
    """The run that lies here, if it is one of this very cell."""
    with suppress(Error):
        run = open_run(folder)
        if run.experiment.tables() == experiment.tables() and run.seeds == seeds:
            return run
    return None


def _patiently(resume: Callable[[], Any]) -> Any:
    """Try again while a worker that is being stopped still holds the folder."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return resume()
        except LockedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def teller(order: Mapping[str, Any]) -> Callable[[Any], None]:
    """Where the progress of a training goes: to the process that asked, wherever it is."""
    say = _dask_teller(order["topic"]) if order.get("topic") else tell

    def report(p: Any) -> None:
        say({"cell": order["cell"], "step": p.step, "steps": p.steps, "loss": p.loss, "excess": p.excess})

    return report


def _dask_teller(topic: str) -> Progress:
    from distributed import get_worker

    worker = get_worker()

    def say(message: dict[str, Any]) -> None:
        worker.log_event(topic, message)

    return say


def forget(folder: Path, most: int) -> None:
    """Remove a finished run of ours that is too large to keep beside its study."""
    if sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) > most:
        shutil.rmtree(folder, ignore_errors=True)
