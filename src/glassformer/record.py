"""The writer: what training hands over at each safe point, laid down so that any instant may be the last.

Order is the whole idea. The weights come first, then the lines of the index that name them, then the metrics, and last
the state to go on from; then run.json tells how far it is. Whoever is cut off in between goes on from the older state,
computes the same numbers again and hands them over again; what is already there is recognised and left alone.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from glassformer import folder, storage, tensors
from glassformer.errors import CallError, DamagedError, LockedError, MissingError, StorageError
from glassformer.experiment import Experiment
from glassformer.folder import Entry
from glassformer.lock import NAME as LOCK
from glassformer.lock import Lock
from glassformer.lock import read as read_lock
from glassformer.plain import plain
from glassformer.storage import Folder
from glassformer.tensors import Array

RESUMABLE = "what was recorded before is safe: {}, then continue with --resume"
LINES = (folder.INDEX, folder.METRICS)  # files of which run.json tells how much was written


class _Written:
    """How much has been written to a file of lines, and its digest."""

    def __init__(self) -> None:
        self.lines, self.digest = 0, sha256()

    def add(self, data: bytes) -> None:
        self.lines += data.count(b"\n")
        self.digest.update(data)

    def table(self) -> dict[str, Any]:
        return {"lines": self.lines, "sha256": self.digest.hexdigest()}


class Recorder:
    """One run's folder, held for writing. `notices` says what was found and mended on the way in."""

    def __init__(self, about: dict[str, Any], experiment: Experiment, lock: Lock) -> None:
        self.path, self.experiment, self.seeds = lock.folder.path, experiment, list(about["seeds"])
        self._folder = lock.folder
        self.notices: list[str] = []
        self._about, self._lock = about, lock
        self._listed: dict[int, Entry] = {}
        self._logged: set[int] = set()
        self._length = {folder.INDEX: 0, folder.METRICS: 0, folder.TIMES: 0}
        self._written = {name: _Written() for name in (*LINES, folder.TIMES)}
        self._files = 0  # weights files listed so far
        self._since = time.monotonic()

    @classmethod
    def create(
        cls, path: Path, experiment: Experiment, seeds: Sequence[int], facts: Mapping[str, Any] | None = None
    ) -> Self:
        """Begin a run in a folder that does not exist yet, or is empty."""
        path = Path(path)
        storage.make_folder(path)
        inside = Folder(path)
        lock = Lock(inside)
        try:
            # A creation that failed leaves at most its lock, the task's files and temporary ones behind.
            files = experiment.files()
            names = sorted(name for name, _ in inside.entries() if name not in (LOCK, *files))
            if found := [name for name in names if not storage.is_temporary(name)]:
                raise CallError(f"{path} is not empty (it holds {found[0]}); choose another folder, or --resume")
            for name in names:
                inside.remove(name)
            facts = dict(facts or {})
            times = {"created": _now(), "seconds": 0.0, **facts.pop("times", {})}
            about = {
                "schema": folder.SCHEMA,
                "status": "running",
                "experiment": experiment.tables(),
                "seeds": [int(seed) for seed in seeds],
                "members": len(seeds),
                "parameters": experiment.architecture.parameters,
                "last_step": 0,
                "kept": 0,
                "written": {name: _Written().table() for name in LINES},
            }
            if experiment.changed:
                about["changed"] = list(experiment.changed)
            if files:
                about["files"] = {name: sha256(data).hexdigest() for name, data in files.items()}
                for name, data in files.items():  # before run.json, which makes the folder a run
                    inside.replace(name, data)
            recorder = cls({**about, **_without(facts, about), "times": times}, experiment, lock)
            recorder._describe()
        except StorageError as problem:
            lock.release()
            if inside.stat(folder.ABOUT) is None:
                raise
            raise StorageError(problem.what, problem.remedy, RESUMABLE) from problem  # only its name was not synced
        except BaseException:
            lock.release()
            raise
        return recorder

    @classmethod
    def resume(cls, path: Path) -> tuple[Self, dict[str, Array] | None, int]:
        """Take up a run: the recorder, the newest state and its step; None and 0 where there is no state yet."""
        path = Path(path)
        if not path.is_dir():
            raise MissingError(f"there is no folder {path} to resume; leave out --resume to begin there")
        inside = Folder(path)
        about = folder.about(inside)
        experiment, _ = folder.experiment(about, inside)
        lock = Lock(inside)
        try:
            recorder = cls(about, experiment, lock)
            state, saved = recorder._newest()
            with storage.advising(RESUMABLE):
                recorder._mend(saved)
        except BaseException:
            lock.release()
            raise
        return recorder, state, saved["step"]

    @storage.advising(RESUMABLE)
    def safe_point(
        self,
        step: int,
        kept: Sequence[int],
        weights: Mapping[str, Array],
        lines: Iterable[Mapping[str, Any]],
        state: Mapping[str, Array],
        times: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        """Lay down all that happened since the last one; calling it again with the same changes nothing but times."""
        if self._folder.stat(folder.ABOUT) is None:
            raise StorageError(f"{self.path} was removed, or is being removed, while the training wrote there")
        self._keep([int(each) for each in kept], weights)
        self._log([plain(line) for line in lines])
        if slow := "".join(json.dumps(plain(line)) + "\n" for line in times):
            self._append(folder.TIMES, slow)
        self._save(int(step), state)
        self._about |= {"last_step": int(step), "kept": len(self._listed)}
        self._count_lines()
        self._describe()

    @storage.advising(RESUMABLE)
    def finish(self, status: str = "finished", **facts: Any) -> None:
        """Say how it ended, with any facts worth keeping, and let go of the folder."""
        times = self._about["times"] if isinstance(self._about.get("times"), dict) else {}
        before = times.get("seconds")
        seconds = (before if isinstance(before, float | int) else 0.0) + time.monotonic() - self._since
        times = {**times, "finished": _now(), "seconds": round(seconds, 3), **facts.pop("times", {})}
        core = ("schema", "experiment", "seeds", "members", "parameters", "times")
        self._about = {**self._about, "status": status, **_without(facts, core), "times": times}
        self._describe()
        self.close()

    def close(self) -> None:
        """Let go of the folder and leave everything as it is."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _describe(self) -> None:
        self._folder.replace(folder.ABOUT, (json.dumps(plain(self._about), indent=1) + "\n").encode())

    def _keep(self, kept: list[int], weights: Mapping[str, Array]) -> None:
        """Weights first, then the lines that name them."""
        if not kept:
            return
        stacks = self._stacks(kept, weights)
        flat = np.concatenate([stack.reshape(len(kept), -1) for stack in stacks.values()], axis=1)
        digests = [sha256(row).hexdigest() for row in flat]  # `tensors.digest` of each step
        known = [self._listed.get(step) for step in kept]
        rows = [row for row, entry in enumerate(known) if entry is None]
        if any(entry and (entry.row, entry.sha256) != (row, digests[row]) for row, entry in enumerate(known)):
            # Computed again with other bits, on another machine say: what is listed stays, the rest gets its own file.
            self._keep([kept[row] for row in rows], {name: stack[rows] for name, stack in stacks.items()})
            return
        number = next((entry.file for entry in known if entry), self._files)
        name = folder.weights_file(number)
        if number == self._files or self._folder.stat(name) is None:  # a file the index names is sealed
            self._folder.make_folder(folder.WEIGHTS)
            self._folder.replace(name, tensors.pack(stacks))
        if not rows:
            return
        entries = [Entry(kept[row], number, row, digests[row]) for row in rows]
        self._append(folder.INDEX, "".join(entry.line() for entry in entries))
        self._listed.update((entry.step, entry) for entry in entries)
        self._files = max(self._files, number + 1)

    def _stacks(self, kept: list[int], weights: Mapping[str, Array]) -> dict[str, Array]:
        """The weights as they are stored, if they are what the architecture says."""
        members = () if len(self.seeds) == 1 else (len(self.seeds),)
        shapes = self.experiment.architecture.shapes()
        if weights.keys() != shapes.keys():
            raise CallError(f"the weights are {sorted(weights)}, the architecture has {sorted(shapes)}")
        for name, shape in shapes.items():
            if np.shape(weights[name]) != (wanted := (len(kept), *members, *shape)):
                raise CallError(f"{name} has the shape {np.shape(weights[name])}, where {wanted} is kept")
        if any(later <= step for step, later in pairwise(kept)):
            raise CallError(f"the kept steps {kept} do not rise")
        return {name: np.asarray(weights[name], dtype="<f4", order="C") for name in shapes}

    def _log(self, lines: list[dict[str, Any]]) -> None:
        fresh = [line for line in lines if line["step"] not in self._logged]
        if fresh:
            self._append(folder.METRICS, "".join(json.dumps(line, allow_nan=False) + "\n" for line in fresh))
            self._logged.update(line["step"] for line in fresh)

    def _save(self, step: int, state: Mapping[str, Array]) -> None:
        """The state to go on from, with how far each file reached: what lies beyond was never relied on."""
        arrays = {name: np.asarray(state[name], order="C") for name in sorted(state)}
        counts = {"step": step, "files": self._files, "index": self._length[folder.INDEX]}
        counts["metrics"] = self._length[folder.METRICS]
        metadata = {name: str(number) for name, number in counts.items()} | {"sha256": tensors.digest(arrays)}
        self._folder.replace(folder.RESUME, tensors.pack(arrays, metadata))

    def _append(self, name: str, text: str) -> None:
        self._length[name] = self._folder.append(name, text, at=self._length[name])
        self._written[name].add(text.encode())

    def _newest(self) -> tuple[dict[str, Array] | None, dict[str, int]]:
        try:
            return tensors.saved(self._folder, self.experiment.architecture.parameters * len(self.seeds))
        except FileNotFoundError:
            return None, {"step": 0, "files": 0, "index": 0, "metrics": 0}
        except OSError as problem:
            raise DamagedError(f"{self.path / folder.RESUME} cannot be read: {problem.strerror}") from None

    def _mend(self, saved: Mapping[str, int]) -> None:
        """Cut off what a write left unfinished, and learn what is there already."""
        index, metrics = folder.index(self._folder), folder.metrics(self._folder)
        files: dict[str, folder.Lines[Any]] = {folder.INDEX: index, folder.METRICS: metrics}
        files[folder.TIMES] = folder.times(self._folder)
        for name, relied in ((folder.INDEX, saved["index"]), (folder.METRICS, saved["metrics"]), (folder.TIMES, 0)):
            if name != folder.TIMES:
                folder.verified(files[name], self._about, name, self.path)
            self._cut(name, files[name], relied)
            self._written[name].add(files[name].data[: self._length[name]])
        for entry in index.read:
            self._listed.setdefault(entry.step, entry)
        self._logged = {line["step"] for line in metrics.read}
        self._files = max([saved["files"], *(entry.file + 1 for entry in self._listed.values())])
        self._about["last_step"] = max(saved["step"], self._about.get("last_step", 0))
        self._about["kept"] = len(self._listed)
        self._count_lines()

    def _count_lines(self) -> None:
        """Have run.json say how much was written; of the times, outside what two equal trainings share."""
        self._about["written"] = {name: self._written[name].table() for name in LINES}
        times = self._about["times"] if isinstance(self._about.get("times"), dict) else {}
        self._about["times"] = {**times, "written": {folder.TIMES: self._written[folder.TIMES].table()}}

    def _cut(self, name: str, found: folder.Lines[Any], relied: int) -> None:
        """Cut off a torn end; bad lines before the place the state relied on are damage, and stay as they are."""
        torn = next((begin for begin, _, _ in found.bad if begin >= relied), None)
        if torn is None and found.bad and found.bad[-1][1] == len(found.read) + len(found.bad):
            torn = found.bad[-1][0]
        if torn is not None:
            self._folder.cut(name, torn)
            self.notices.append(f"{name}: the last {len(found.data) - torn} bytes were torn, and are cut off")
        self._length[name] = len(found.data) if torn is None else torn
        if self._length[name] < relied:
            self.notices.append(f"{name} is shorter than when the training was last saved: lines are missing")
        self.notices += [f"{name}, line {number}: {what}" for begin, number, what in found.bad if begin != torn]


def free_name(root: Path, wanted: str) -> Path:
    """The folder of this name, or with the first number after it that is still free.

    An empty folder is free, and so is one whose creation was killed before it became a run.
    """
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
    return next(path for path in (Path(root) / name for name in names) if is_free(path))


def is_free(path: Path) -> bool:
    """Whether a run can begin in this folder."""
    if path.is_symlink() or not path.is_dir():
        return not (path.is_symlink() or path.exists())
    if any(name != LOCK and not storage.is_temporary(name) for name, _ in Folder(path).entries()):
        return False
    try:
        holder = read_lock(path)
    except LockedError:  # somebody's, not for us to judge
        return False
    return holder is None or not holder.alive


def _without(facts: Mapping[str, Any], taken: Iterable[str]) -> dict[str, Any]:
    taken = set(taken)
    return {name: fact for name, fact in facts.items() if name not in taken}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
