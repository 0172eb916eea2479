"""What training in the page draws from and is judged by: the arrays of a task, as long as they are few."""

from collections.abc import Iterator

import numpy as np

from glassformer import folder, tensors
from glassformer.counted import counted, interleave
from glassformer.plan import LEAST
from glassformer.report import blocks
from glassformer.run import Run
from glassformer.tasks._task import Part
from glassformer.tensors import Array
from glassformer.words import pasted

MOST_BYTES = 3_000_000  # of the block, packed
MOST_NUMBERS = 40_000_000  # of its arrays, above which nobody tries to pack them
MOST_WORK = 3e9  # multiplications of one step: some seconds in a page
WINDOWS, NUMBERS = 1_000, 4_000_000  # that are judged in each part, and what they may hold
PARTS: dict[str, Part] = {"validation": "validation", "fit": "train", "test": "test"}  # in the file → of the task
MOST_KIND = 127  # that fits a byte


def block(run: Run) -> tuple[bytes | None, str]:
    """The bytes of safetensors, or none and the sentence that says why the page cannot train this model."""
    train, a = run.experiment.train, run.architecture
    instead = f"`{pasted(['glassformer', 'train', run.experiment.name])}` trains it"
    if 6.0 * run.parameters * train.batch * a.context > MOST_WORK:
        return None, f"One step of this model would take the page seconds; {instead}."
    too_large = f"What it is trained on is too large for this file; {instead}."
    if run.task.data(a.context).train.tokens.size > MOST_NUMBERS:
        return None, too_large
    found = tensors.pack(arrays(run))
    return (None, too_large) if len(blocks.packed(found)) > MOST_BYTES else (found, "")


def arrays(run: Run) -> dict[str, Array]:
    """Every array by name, and the files that a run of this task keeps."""
    a, data = run.architecture, run.task.data(run.architecture.context)
    found: dict[str, Array] = {
        f"train.{name}": _whole(getattr(data.train, name)) for name in ("tokens", "starts", "windows")
    }
    each = a.context * (a.answers if run.task.measure == "rule_error" else 4)
    most = min(WINDOWS, run.experiment.train.windows, max(LEAST, NUMBERS // each))
    for name, part in PARTS.items():
        if part != "test" or data.test is not None:
            found |= {f"{name}.{key}": values for key, values in _examples(run, part, most)}
    digests = run.about.get("files", {})
    kept = folder.Kept(run.folder, digests)
    for name in dict.fromkeys([*digests, *run.task.needs]):
        found[f"file.{name}"] = np.frombuffer(kept.read(name), np.uint8)
    return found


def _examples(run: Run, part: Part, most: int) -> Iterator[tuple[str, Array]]:
    """What is known of the windows of a part; those that stand for all come first, and `few` says how many they are."""
    a, task = run.architecture, run.task
    seen = task.examples(a.context, part, most)
    some = interleave(seen, counted(a, task.skip).came, LEAST)  # a large model is judged on the first of them
    order = np.concatenate([some, np.setdiff1d(np.arange(len(seen.windows)), some)])
    windows = seen.windows[order]
    rule = task.measure == "rule_error"
    yield "few", _whole(np.array([len(some)]))
    yield "windows", _whole(windows)
    yield "constrained", seen.constrained[order].astype(np.uint8)
    yield "answerable", seen.answerable[order].astype(np.uint8)
    yield "allowed", seen.allowed[order][..., : a.answers].astype(np.uint8) if rule else np.zeros(0, np.uint8)
    yield "kind", np.where(seen.kind > MOST_KIND, -1, seen.kind)[order].astype(np.int8)
    yield "source", _sources(run, windows, seen.truth.shape[1])
    yield "truth", seen.truth[order].astype(np.float32)


def _sources(run: Run, windows: Array, places: int) -> Array:
    """(example, place): where in a window the answer can be read off."""
    found = [run.task.source_position(window[:-1])[-places:] for window in windows]  # the one answer comes last
    return _whole(np.array(found).reshape(len(windows), places))


def _whole(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.int32)
