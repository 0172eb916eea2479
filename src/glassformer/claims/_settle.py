"""Settle claims: train what they need, compute, and keep each result with the terms under which it was found.

A folder holds runs/ and studies/, trained once for all claims that need them, and settled/, a small file for each
claim. Every file is written whole as soon as it is known: whoever is killed loses the claim in work and no other, and
an interrupted training goes on.
"""

import json
import math
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

from glassformer import __version__, storage
from glassformer import folder as files
from glassformer.claims import _sources
from glassformer.claims._claim import Claim, Need, Number, OverSeeds, verdict, written
from glassformer.errors import AbsentError, CallError, Error
from glassformer.plain import plain
from glassformer.storage import Folder
from glassformer.study import Spread

FOLDER = Path("claims")
EXPERIMENTS = Path(__file__).parents[1] / "experiments"
RUNS, STUDIES, SETTLED = "runs", "studies", "settled"
MOST_BYTES, MOST_TEXT = 1_000_000, 10_000  # of one result; characters of one of its texts
Outcome = dict[str, Any]


def _nobody(*_: Any) -> None:
    """Told, and silent."""


@dataclass
class Watch:
    """Who wants to know how it goes; every call may be left as it is."""

    begin: Callable[[list[Need], list[Claim]], None] = _nobody
    progress: Callable[[dict[str, Any]], None] = _nobody  # of a training, with its `cell`
    trained: Callable[[str, Outcome], None] = _nobody  # its name; empty, or why it could not be
    done: Callable[[Claim, Outcome], None] = _nobody
    notice: Callable[[str], None] = _nobody


# ---- what is known --------------------------------------------------------------------------------------------------


def terms(claim: Claim) -> Outcome:
    """What a result answers and what was trained for it; a result with other terms belongs to another question."""
    return {
        "statement": claim.statement,
        "stated": dict(claim.stated),
        "tolerance": claim.tolerance,
        "needs": [named(need) for need in claim.needs],
    }


def remembered(claim: Claim, folder: Path) -> Outcome | None:
    """What was found for a claim in this folder, if its terms are still the same."""
    name = f"{SETTLED}/{claim.id}.json"
    with suppress(Error, OSError):
        found, verified = files.open_sealed(Folder(folder).read(name, most=MOST_BYTES), name)
        if terms(claim).items() <= found.items() and _is_outcome(found):
            return found if verified else {**found, "unverified": "its record has no sha256"}
    return None


def _is_outcome(found: Outcome) -> bool:
    """Whether what a record says has the form of a result."""
    keys, numbers = (
        ("measured", "verdict", "truth", "settled", "version", "missing", "problem"),
        found.get("numbers", {}),
    )
    if not isinstance(numbers, dict) or not isinstance(found.get("seconds") or 0, float | int):
        return False
    good = all(isinstance(each, float | int | str | dict) for each in numbers.values())
    return good and all(isinstance(text := found.get(key) or "", str) and len(text) <= MOST_TEXT for key in keys)


def remember(folder: Path, found: Outcome) -> None:
    """Write down what was found for a claim."""
    storage.make_folder(folder)
    inside = Folder(folder)
    inside.make_folder(SETTLED)
    text = json.dumps(files.seal(found), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    inside.replace(f"{SETTLED}/{found['id']}.json", text.encode())


def settle(
    claims: Sequence[Claim], folder: Path = FOLDER, *, again: bool = False, workers: int | None = None,
    scheduler: str | None = None, watch: Watch | None = None,
) -> dict[str, Outcome]:  # fmt: skip
    """What is found for each claim: remembered, or computed now by processes of this machine or a Dask cluster.

    `again` computes every one of them, whatever the folder holds. A claim that cannot be settled has a `problem`, in a
    sentence; one whose text is not on this machine, `missing`.
    """
    watch = watch or Watch()
    if workers is not None and workers < 1:
        raise CallError(f"workers = {workers} settle nothing; the least is 1")
    known = {claim.id: found for claim in claims if not again and (found := remembered(claim, folder))}
    todo = [claim for claim in claims if claim.id not in known]
    needs = list(dict.fromkeys(need for claim in todo for need in claim.needs))
    watch.begin(needs, todo)
    if todo:
        from glassformer.lock import Lock

        storage.make_folder(folder)
        lock = Lock(folder)
        try:
            with _executor(len(needs) + len(todo), folder, workers, scheduler, watch) as (executor, topic):
                known |= _Work(executor, topic, folder, watch).done(todo, needs)
        finally:
            lock.release()
    return {claim.id: known[claim.id] for claim in claims}


# ---- who works ------------------------------------------------------------------------------------------------------


@contextmanager
def _executor(
    many: int, folder: Path, workers: int | None, scheduler: str | None, watch: Watch
) -> Iterator[tuple[Executor, str | None]]:  # fmt: skip
    """This process, processes of this machine, or a cluster whose machines share the folder, and how these report."""
    from glassformer.studies import _executors, _work

    if scheduler is not None:
        topic = f"glassformer-{folder.resolve().as_posix()}"
        with _executors.dask(scheduler, topic, watch.progress, watch.notice) as cluster:
            yield cluster, topic
        return
    many = min(many, workers if workers is not None else _executors.cores())
    if many == 1:
        _work.tell, before = watch.progress, _work.tell
        try:
            yield _executors.Here(), None
        finally:
            _work.tell = before
        return
    pool = _executors.Processes(many, watch.progress)
    try:
        yield pool, None
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


class _Work:
    """Hand out trainings and claims, a claim as soon as what it needs is trained, and write down what comes back."""

    def __init__(self, executor: Executor, topic: str | None, folder: Path, watch: Watch) -> None:
        from glassformer.studies._executors import Here

        self.executor, self.topic, self.folder, self.watch = executor, topic, folder, watch
        self.here = isinstance(executor, Here)
        self.waiting: dict[Future[Any], Claim | Need] = {}
        self.trained: dict[Need, Outcome] = {}  # empty, or why it could not be
        self.known: dict[str, Outcome] = {}

    def done(self, claims: Sequence[Claim], needs: Sequence[Need]) -> dict[str, Outcome]:
        """What is found for each claim."""
        left = list(claims)
        try:
            left = self._ready(left)
            for need in sorted(needs, key=effort, reverse=True):  # the longest must not be the last to begin
                self._hand_out(need)
                left = self._ready(left)
            while self.waiting or left:
                if self.waiting:
                    self._take(wait(self.waiting, return_when=FIRST_COMPLETED).done)
                left = self._ready(left)
        finally:
            for future in self.waiting:
                future.cancel()
        return self.known

    def _ready(self, left: list[Claim]) -> list[Claim]:
        """Hand out the claims whose trainings are done; those that still wait."""
        ready = [claim for claim in left if all(need in self.trained for need in claim.needs)]
        for claim in ready:
            self._hand_out(claim)  # meanwhile further trainings may be done: their claims are the next to be ready
        return [claim for claim in left if claim not in ready]

    def _hand_out(self, unit: Claim | Need) -> None:
        order: dict[str, Any] = {"folder": str(self.folder.resolve()), "topic": self.topic}
        if isinstance(unit, Claim):
            if lacking := next(filter(None, (self.trained[need] for need in unit.needs)), None):
                self._settled(unit, lacking)
                return
            places = [str(place(need, self.folder.resolve())) for need in unit.needs]
            order |= {"id": unit.id, "places": places}
            self.waiting[self.executor.submit(measured, order)] = unit
        elif unit.kind == "study" and not self.here:
            self.waiting[self._in_thread(unit)] = unit
        else:
            order |= {"need": {**asdict(unit), "settings": list(unit.settings)}}
            order |= {"place": str(place(unit, self.folder.resolve()))}
            self.waiting[self.executor.submit(train, order)] = unit
        self._take({future for future in self.waiting if future.done()})  # an executor may work at once

    def _in_thread(self, need: Need) -> "Future[Any]":
        """A study whose cells are handed out like trainings; it ends with the process, whatever happens."""
        future: Future[Any] = Future()

        def carry_out() -> None:
            try:
                found = carried_out(need, place(need, self.folder), executor=self.executor)
            except BaseException as problem:
                future.set_exception(problem)
            else:
                future.set_result(found)

        threading.Thread(target=carry_out, daemon=True).start()
        return future

    def _take(self, done: Iterable["Future[Any]"]) -> None:
        from glassformer.studies._executors import sentence

        for future in list(done):
            unit = self.waiting.pop(future)
            try:
                answer = future.result()
            except CancelledError:
                answer = {"problem": "it was taken back before it was done (has the scheduler gone away?)"}
            except Exception as problem:
                answer = {"problem": sentence(problem)}
            if isinstance(unit, Claim):
                self._settled(unit, answer)
            else:
                if "problem" in answer:
                    answer = {"problem": f"{named(unit)} could not be trained: {answer['problem']}"}
                self.trained[unit] = answer
                self.watch.trained(named(unit), answer)

    def _settled(self, claim: Claim, answer: Outcome) -> None:
        found = {"id": claim.id, **answer}
        if "verdict" in found:
            remember(self.folder, found)
        self.known[claim.id] = found
        self.watch.done(claim, found)


# ---- what a worker does ---------------------------------------------------------------------------------------------


def place(need: Need, folder: Path) -> Path:
    """Where what a claim needs is kept."""
    return folder / (RUNS if need.kind == "run" else STUDIES) / named(need)


def named(need: Need) -> str:
    """mary-18x16-1a2b3c4d: what is trained, and a short hash of its settings and of its experiment's tables."""
    text = json.dumps([asdict(need), _recipe(need)], sort_keys=True)
    return f"{begun(need)}-{sha256(text.encode()).hexdigest()[:8]}"


def begun(need: Need) -> str:
    """mary-18x16: an experiment, its first seed and how many, as a run is called."""
    if need.kind == "study":
        return f"{need.study}-{need.experiment}x{need.seeds}"
    seed = _recipe(need)["train"].get("seed", 0) if need.seed is None else need.seed
    return f"{need.experiment}-{seed}" + (f"x{need.seeds}" if need.seeds > 1 else "")


def effort(need: Need) -> float:
    """How long a training takes beside others, roughly; a study is many trainings."""
    if need.kind == "study":
        return math.inf
    made, how = _recipe(need)["architecture"], _recipe(need)["train"]
    words = how.get("batch", 8) * made.get("context", 8) * (how["steps"] if need.steps is None else need.steps)
    return float(need.seeds * words * made.get("blocks", 1) * made.get("width", 1) ** 2)


def _recipe(need: Need) -> dict[str, Any]:
    """The tables of a ready-made experiment."""
    return tomllib.loads((EXPERIMENTS / f"{need.experiment}.toml").read_text("utf-8"))


def train(order: Mapping[str, Any]) -> Outcome:
    """Train what claims need, or go on with it, or leave it as it is."""
    _shared(order["folder"])
    need, path = _need(order["need"]), Path(order["place"])
    if need.kind == "study":
        return carried_out(need, path, workers=1)
    try:
        from glassformer.studies._work import teller

        run_of(need, path, teller({"cell": path.name, "topic": order["topic"]}))
    except AbsentError as problem:
        return {"missing": str(problem)}
    return {}


def run_of(need: Need, path: Path, progress: Callable[[Any], None] = _nobody) -> Any:
    """The run that a need means, trained if it is not there; one that diverged is a result like any other."""
    from glassformer.experiment import load
    from glassformer.studies import _work

    made = load(need.experiment, need.settings, seed=need.seed, steps=need.steps)
    storage.make_folder(path.parent)
    first = made.train.seed
    run = _work.trained(made, list(range(first, first + need.seeds)), path, progress)
    if run.path != path:
        raise Error(f"{path} is there and is not what was trained; remove it")
    return run


def carried_out(need: Need, path: Path, **means: Any) -> Outcome:
    """Carry out a study that claims need, or what is left of it."""
    from glassformer import studies
    from glassformer.studies import _work
    from glassformer.studies._run import Watch as StudyWatch

    storage.make_folder(path.parent)
    watch = StudyWatch(progress=_work.tell)
    try:
        study = studies.run(need.study, need.experiment, seeds=need.seeds, steps=need.steps, settings=need.settings,
                            out=path, watch=watch, **means)  # fmt: skip
    except AbsentError as problem:
        return {"missing": str(problem)}
    for cell, sentence in study.failed.items():
        return {"problem": f"the cell {cell!r} failed: {sentence}"}
    return {}


def measured(order: Mapping[str, Any]) -> Outcome:
    """Compute what a claim says, and judge."""
    _shared(order["folder"])
    claim, began = _sources.find(order["id"]), monotonic()
    try:
        found = claim.measure(*map(_opened, claim.needs, map(Path, order["places"])))
        judged = verdict(claim, found)
    except AbsentError as problem:
        return {"missing": str(problem)}
    if judged in ("corrected", "refuted") and not found.truth:
        raise Error(f"{claim.id} is {judged}, and its function does not say what is true instead")
    return {
        **terms(claim),
        "version": __version__,
        "verdict": judged,
        "measured": found.measured or said(found.numbers),
        "numbers": {name: numbers(value) for name, value in found.numbers.items()},
        "truth": "" if judged == "reproduced" else found.truth,  # it says what is true instead
        "seconds": round(monotonic() - began, 3),
        "settled": datetime.now(UTC).date().isoformat(),
    }


def said(numbers: Mapping[str, Number]) -> str:
    """Numbers for a person: first entropy 4.374, steps 60."""
    return ", ".join(f"{name.replace('_', ' ')} {written(value)}" for name, value in numbers.items())


def numbers(value: Number) -> Any:
    """A number as JSON has it; over seeds the median, the interval and how many seeds."""
    if isinstance(value, Spread):
        many = {"seeds": value.seeds} if isinstance(value, OverSeeds) else {}
        return plain({"median": value.median, "low": value.low, "high": value.high, **many})
    return plain(value)


def _opened(need: Need, path: Path) -> Any:
    from glassformer import run, study

    return study.open(path) if need.kind == "study" else run.open(path)


def _need(given: Mapping[str, Any]) -> Need:
    return Need(**{**given, "settings": tuple(given["settings"])})


def _shared(folder: str) -> None:
    """Refuse to work where the folder is not to be seen: a worker on another machine may not share it."""
    if not Path(folder).is_dir():
        raise Error(f"this worker does not see {folder}; --out names a folder that all machines of the cluster share")
