"""What training costs: steps per second, memory and operations of every part, counted and, on request, measured."""

from dataclasses import replace
from math import prod
from typing import Annotated

import numpy as np

from glassformer import folder
from glassformer.analyses import UNVERIFIED, _applies
from glassformer.analyses._options import Option
from glassformer.analyses._result import Array, Labelled, Result, percent, result
from glassformer.architecture import Architecture
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 40
ANSWERS = ("2.§5.5",)
COST = "a"
EDITS = "training"
APPLIES = (_applies.attention,)

BYTES = 4  # of a number in single precision
FACTORS = (0.25, 0.5, 1, 2, 4)
TOKENS = 4096  # in a measured step, about
FIRST = 0.2  # share of the logged lines at the beginning that the usual speed leaves out, for they are short


@result
class Runtime(Result):
    """Speed over the run; bytes and operations of one training step by part; the same at other sizes."""

    speed: Labelled  # (step,): steps per second since the logged line before
    memory: Labelled  # (part,): bytes in one training step, counted from the shapes
    operations: Labelled  # (part,): multiplications and additions of one step, forwards and backwards
    counted: dict[str, Labelled]  # context, width → (size, quantity): operations and bytes of one window's step
    measured: dict[str, Labelled]  # context, width → (size, quantity): seconds and bytes; empty if not asked for
    attention: Labelled | None  # (size, quantity): seconds and bytes of attention alone, per window; None: as above
    attention_slopes: Labelled | None  # (quantity,): of log cost against log context
    repeats: int  # of each measured step, of which the quickest counts; 0: none
    parts: Labelled | None  # (part, quantity): seconds and bytes of each part alone; None if not asked for
    slopes: dict[str, Labelled]  # context, width → (quantity,): of log cost against log size
    held: float  # bytes of one step, all parts together
    attention_held: float  # share of them that attention takes
    activations_held: float  # share of them that is kept for the backward pass
    busiest: str  # the part with the most operations
    busiest_share: float
    seconds: float
    usual: float  # steps per second, the middle one
    batch: int
    context: int
    heads: int
    blocks: int
    width: int
    overtakes: float  # the context from which attention costs more operations than all else in a block
    device: str

    @property
    def title(self) -> str:
        """How fast it went, and where memory and operations go."""
        pace = f"{_speed(self.usual)} steps a second; a" if np.isfinite(self.usual) else "A"
        takes = "takes" if self.busiest in ("attention", "feed-forward") else "take"
        return (
            f"{pace} step holds {size(self.held)}, of which attention takes {percent(self.attention_held)}; "
            f"{self.busiest} {takes} {percent(self.busiest_share)} of the operations"
        )


def runtime(
    run: Run,
    *,
    measure: Annotated[bool, Option("also time steps at other contexts and widths, on the machine at hand")] = False,
) -> Runtime:
    """Speed as logged, costs as counted; `measure` trains a few steps at other contexts and widths and times them."""
    a, train = run.architecture, run.experiment.train
    at, seconds = run.times.get("step", np.zeros(0)), run.times.get("seconds")
    seconds = np.full(len(at), np.nan) if seconds is None else seconds
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = np.diff(at) / np.diff(seconds) if len(at) > 1 else np.zeros(0)
    speed = np.where(np.isfinite(speed), speed, np.nan)
    state = {"sgd": 0, "momentum": 1}.get(train.optimiser, 2)
    memory, operations = costs(a, train.batch, state)
    sizes = {name: _sizes(a, name) for name in ("context", "width")}
    counted = {
        name: Labelled(
            np.array([_per_window(b) for b in several]),
            {"size": [getattr(b, name) for b in several], "quantity": ("operations", "activations")},
        )
        for name, several in sizes.items()
    }
    measured = {name: _measured(several, name) for name, several in sizes.items()} if measure else {}
    attention = _measured(sizes["context"], "context", alone=True) if measure else None
    whole, busiest = sum(memory.values()), max(operations, key=lambda part: operations[part])
    late, hardware = speed[int(FIRST * len(speed)) :], run.about.get("hardware")
    verified = not len(at) or folder.written(run.about, folder.TIMES, run.path) is not None
    return Runtime(
        clock="" if verified else UNVERIFIED,
        speed=Labelled(speed, {"step": at[1:].astype(int)}, "steps per second"),
        memory=Labelled(np.array(list(memory.values()), dtype=float), {"part": tuple(memory)}, "bytes"),
        operations=Labelled(
            np.array(list(operations.values()), dtype=float), {"part": tuple(operations)}, "operations"
        ),
        counted=counted,
        measured=measured,
        attention=attention,
        attention_slopes=None if attention is None else _fitted({"attention": attention}),
        repeats=_repeats() if measure else 0,
        parts=_parts(a, train.batch) if measure else None,
        slopes={name: _slopes(counted[name], measured.get(name)) for name in sizes},
        held=whole,
        attention_held=memory["attention"] / whole,
        activations_held=1 - (memory["parameters"] + memory["optimiser"]) / whole,
        busiest=busiest,
        busiest_share=operations[busiest] / sum(operations.values()),
        seconds=float(seconds[-1]) if len(seconds) else float("nan"),
        usual=float(np.nanmedian(late)) if np.isfinite(late).any() else float("nan"),
        batch=train.batch,
        context=a.context,
        heads=a.heads,
        blocks=a.blocks,
        width=a.width,
        overtakes=overtakes(a),
        device=str(hardware.get("device", "")) if isinstance(hardware, dict) else "",
    )


def _parts(a: Architecture, batch: int) -> Labelled:
    """(part, quantity): seconds and bytes of one step, each part trained alone."""
    from glassformer.analyses import _stopwatch

    found = _stopwatch.parts(a, batch)
    return Labelled(np.array(list(found.values())), {"part": tuple(found), "quantity": ("seconds", "bytes")})


def costs(a: Architecture, batch: int, state: int = 2) -> tuple[dict[str, float], dict[str, float]]:
    """Bytes and operations of one training step by part.

    Bytes: what must be held for the backward pass, with B windows of L tokens, H heads, width d, N neurons and V
    answers: the stream and its norms, queries, keys and values, attention B·H·L² twice (scores and shares), hidden
    values before and after the activation, logits. A product of (m, k) with (k, n) costs 2·m·k·n operations forwards
    and twice that backwards.
    """
    tokens, inner = batch * a.context, a.inner
    pre = 2 if a.norm != "none" else 0
    held = {
        "parameters": 2 * a.parameters,  # and their gradients
        "optimiser": state * a.parameters,
        "stream": tokens * a.width * (1 + a.blocks * (2 + pre)),
        "queries, keys, values": tokens * inner * 4 * a.blocks,  # and what they are mixed to
        "attention": 2 * batch * a.heads * a.context**2 * a.blocks,
        "feed-forward": 2 * tokens * a.feed_forward * a.blocks,
        "logits": 2 * tokens * a.answers,
    }
    matrices = {name: prod(shape) for name, shape in a.shapes().items() if len(shape) == 2}
    projections = sum(
        n for name, n in matrices.items() if name.rpartition(".")[2] in ("query", "key", "value", "output")
    )
    forward = sum(n for name, n in matrices.items() if name.rpartition(".")[2] in ("expand", "contract"))
    done = {
        "queries, keys, values": 6.0 * tokens * projections,
        "attention": 3.0 * 4 * batch * a.context**2 * inner * a.blocks,  # scores, and the mix
        "feed-forward": 6.0 * tokens * forward,
        "logits": 6.0 * tokens * a.width * a.answers,
    }
    return {name: float(BYTES * n) for name, n in held.items()}, {name: n for name, n in done.items() if n}


def _per_window(a: Architecture) -> tuple[float, float]:
    """Operations of one window's step, and bytes of its activations; parameters are held once for all windows."""
    held, done = costs(a, 1)
    return sum(done.values()), sum(n for part, n in held.items() if part not in ("parameters", "optimiser"))


def overtakes(a: Architecture) -> float:
    """The context from which the products of queries, keys and values with each other outweigh the block's matrices."""
    block = sum(prod(shape) for name, shape in a.shapes().items() if name.startswith("blocks.0.") and len(shape) == 2)
    return block / (2 * a.inner)  # 6 L block = 12 L² inner


def _sizes(a: Architecture, name: str) -> list[Architecture]:
    """The model at a quarter to four times its context or width, where heads can still share it."""
    found = []
    for factor in FACTORS:
        size = getattr(a, name) * factor
        if size < 1 or size != int(size):
            continue
        try:
            if name == "width":
                inner = int(a.feed_forward * factor)
                found.append(replace(a, width=int(size), head_width=None, feed_forward=inner))
            else:
                place = None if a.read_position is None else min(a.read_position, int(size) - 1)
                found.append(replace(a, context=int(size), read_position=place))
        except CallError:
            continue
    return found


def _repeats() -> int:
    from glassformer.analyses import _stopwatch

    return _stopwatch.REPEATS


def _measured(several: list[Architecture], name: str, alone: bool = False) -> Labelled:
    """(size, quantity): seconds of one window's training step, and the bytes that the compiled step sets aside for it.

    `alone`: of the attention of one block, without anything else.
    """
    from glassformer.analyses import _stopwatch

    rows = []
    for a in several:
        batch = max(1, TOKENS // a.context)
        seconds, held = _stopwatch.attention(a, batch) if alone else _stopwatch.whole(a, batch)
        rows.append([seconds / batch, held / batch])
    return Labelled(np.array(rows), {"size": [getattr(a, name) for a in several], "quantity": ("seconds", "bytes")})


def slope(sizes: Array, cost: Array) -> float:
    """Of the straight line through log cost against log size: 1 where cost grows with the size, 2 with its square."""
    fine = np.isfinite(cost) & (cost > 0)
    return float(np.polyfit(np.log(sizes[fine]), np.log(cost[fine]), 1)[0]) if fine.sum() > 1 else float("nan")


def _slopes(counted: Labelled, measured: Labelled | None) -> Labelled:
    return _fitted({"counted": counted} | ({} if measured is None else {"measured": measured}))


def _fitted(tables: dict[str, Labelled]) -> Labelled:
    """(quantity,): the slope of each column of each table over its sizes."""
    found: dict[str, float] = {}
    for kind, table in tables.items():
        sizes = np.array(table.axes["size"].values, dtype=float)
        names = table.axes["quantity"].labels
        found |= {f"{kind} {name}": slope(sizes, cost) for name, cost in zip(names, table.values.T, strict=True)}
    return Labelled(np.array(list(found.values())), {"quantity": tuple(found)}, "slope")


def _speed(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def size(value: float) -> str:
    """2.5 MB: so many bytes, three digits that count."""
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= least:
            return f"{value / least:.3g}\u202f{unit}"
    return f"{value:.0f} bytes"
