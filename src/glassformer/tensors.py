"""safetensors, written to the same bytes each time and read under our own limits.

The library shuffles metadata when it writes; when it reads, it accepts duplicate names, a hundred thousand entries and
megabytes of metadata, and a run's folder may come by mail. The format is a length, a JSON header and the numbers, so
both are done here, and the tests hold them against the library.
"""

import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from glassformer import folder
from glassformer.errors import CallError, DamagedError
from glassformer.storage import Folder

Array = NDArray[Any]
MOST_HEADER = 1_000_000  # bytes
STATE = 32  # times the parameters: more than any optimiser remembers
TYPES = {
    "F32": "<f4", "F64": "<f8", "F16": "<f2", "BOOL": "|b1", "I8": "|i1", "U8": "|u1",
    "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8", "U64": "<u8",
}  # fmt: skip
NAMES = {kind: name for name, kind in TYPES.items()}


@dataclass(frozen=True)
class Layout:
    """Where each tensor of a file lies."""

    tensors: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]]  # name → type, shape, byte where it begins
    metadata: dict[str, str]


def pack(arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file: the same for the same arrays, always."""
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))  # each at a multiple of its size
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name in order:
        kind = np.asarray(arrays[name]).dtype.newbyteorder("<").str
        if kind not in NAMES:
            raise CallError(
                f"{name} has the type {arrays[name].dtype}, which is not stored; make it float32 or an integer"
            )
        begin, end = end, end + arrays[name].nbytes
        header[name] = {"dtype": NAMES[kind], "shape": list(arrays[name].shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = (arrays[name].astype(arrays[name].dtype.newbyteorder("<"), copy=False).tobytes() for name in order)
    return b"".join([struct.pack("<Q", len(text)), text, *data])


def digest(arrays: Mapping[str, Array]) -> str:
    """sha256 of the bytes of some arrays, in the order given."""
    found = sha256()
    for array in arrays.values():
        found.update(np.asarray(array, order="C").tobytes())
    return found.hexdigest()


def layout(file: BinaryIO, path: str | Path) -> Layout:
    """The header of a file: of bounded size, each name once, and tensors that fill the rest without gap or overlap."""
    size = file.seek(0, 2)
    file.seek(0)
    start = file.read(8)
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
    if not 2 <= length <= min(MOST_HEADER, size - 8):
        raise damaged(path, "its header is cut off, or longer than a header may be")
    header = folder.table(file.read(length), str(path))
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise damaged(path, "its metadata is not a table of texts")
    tensors: dict[str, tuple[np.dtype[Any], tuple[int, ...], int]] = {}
    spans: list[tuple[int, int]] = []
    for name, given in header.items():
        kind, shape, begin, end = _tensor(given, name, path)
        tensors[name] = (kind, shape, 8 + length + begin)
        spans.append((begin, end))
    reached = 0
    for begin, end in sorted(spans):
        if begin != reached:
            raise damaged(path, f"its tensors leave a gap or overlap at byte {reached}")
        reached = end
    if 8 + length + reached != size:
        raise damaged(path, f"it has {size:,} bytes where its header tells of {8 + length + reached:,}")
    return Layout(tensors, metadata)


def read(inside: Folder, name: str, most: int) -> tuple[dict[str, Array], dict[str, str]]:
    """All tensors of a file of at most so many bytes, and its metadata."""
    path = inside.path / name
    with inside.open(name) as file:
        if file.seek(0, 2) > most:
            raise damaged(path, f"it is larger than {most:,} bytes, which no file of this run can be")
        found = layout(file, path)
        arrays = {name: slab(file, path, found, name) for name in found.tensors}
    return arrays, found.metadata


def slab(file: BinaryIO, path: str | Path, found: Layout, name: str, row: int | None = None) -> Array:
    """One tensor, or one row of it, and nothing else of the file."""
    kind, shape, begin = found.tensors[name]
    part = shape if row is None else shape[1:]
    size = kind.itemsize * math.prod(part)
    file.seek(begin + (row or 0) * size)
    data = file.read(size)
    if len(data) != size:
        raise damaged(path, "it was cut while it was read")
    return np.frombuffer(data, kind).reshape(part)


def damaged(path: str | Path, what: str) -> DamagedError:
    """A sentence about a file that is not what was written."""
    return DamagedError(f"{path} is damaged: {what}; put back the file that was written there")


def _tensor(given: Any, name: str, path: str | Path) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    try:
        kind = np.dtype(TYPES[given["dtype"]])
        shape = given["shape"]
        begin, end = given["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise damaged(path, f"its header does not say what {name!r:.60} is") from None
    numbers = [*shape, begin, end] if isinstance(shape, list) else [None]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise damaged(path, f"the shape or place of {name!r:.60} is not made of counts")
    if end - begin != kind.itemsize * math.prod(shape):
        raise damaged(path, f"{name!r:.60} has {end - begin} bytes, which is not what its shape needs")
    return kind, tuple(shape), begin, end


def saved(inside: Folder, numbers: int) -> tuple[dict[str, Array], dict[str, int]]:
    """The state of a resume point, and at which step, with how many files and bytes of lines, it was saved.

    `numbers` is how many parameters all members have; an optimiser keeps a few times as many.
    """
    path = inside.path / folder.RESUME
    arrays, metadata = read(inside, folder.RESUME, most=MOST_HEADER + STATE * 4 * numbers)
    given = {name: metadata.get(name, "") for name in ("step", "files", "index", "metrics")}
    if not all(re.fullmatch(r"[0-9]{1,15}", number) for number in given.values()):
        raise damaged(path, "it does not say at which step it was saved")
    if metadata.get("sha256") != digest({name: arrays[name] for name in sorted(arrays)}):
        raise damaged(path, "its numbers are not those that were saved")
    return arrays, {name: int(number) for name, number in given.items()}
