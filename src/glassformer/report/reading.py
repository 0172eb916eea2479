"""How the page reads a typed text into tokens: what `frontend/src/task/reading.ts` needs to do what `encode` does."""

import json
from typing import Any

from glassformer.tasks import Task
from glassformer.tasks._text import Text
from glassformer.tasks.five_operations import FiveOperations
from glassformer.tasks.mary import Mary
from glassformer.tasks.own_table import OwnTable


def reading(task: Task) -> dict[str, Any]:
    """The way a task reads, as JSON values; `unknown` where a class of one's own has its own way."""
    encode = type(task).encode
    if encode is Task.encode:
        return {"kind": "spaces"}
    if encode is Mary.encode:
        return {"kind": "rhyme"}
    if encode is FiveOperations.encode:
        return {"kind": "operations", "padded": task.padded}  # type: ignore[attr-defined]
    if encode is OwnTable.encode and isinstance(task, OwnTable):
        return {"kind": "table", "tokens": task.tokens, "length": task.length, "file": task.file}
    if encode is Text.encode and isinstance(task, Text):
        kind = task.cutter.kind
        return {"kind": kind} if kind in ("characters", "words") else _pairs(task)
    return {"kind": "unknown"}


def _pairs(task: Text) -> dict[str, Any]:
    """A byte-pair encoding: its pieces as the library writes them, and the pairs that are merged, by their ids."""
    saved = json.loads(task.cutter.saved()["library"])
    ids: dict[str, int] = saved["model"]["vocab"]
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in saved["model"]["merges"]]
    return {
        "kind": "pairs",
        "bytes": task.cutter.kind == "byte_bpe",
        "pieces": sorted(ids, key=lambda piece: ids[piece]),
        "merges": [[ids[left], ids[right]] for left, right in pairs],
        "special": [each["id"] for each in saved["added_tokens"]],
    }
