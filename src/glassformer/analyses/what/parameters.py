"""How many numbers the model learns, tensor by tensor, and how small that is."""

from dataclasses import dataclass

import numpy as np

from glassformer import architecture as model
from glassformer.analyses._result import Labelled, Result, Words, percent, thousands, result
from glassformer.run import Run

ORDER = 20
ANSWERS = ("3.§3.4", "3.§12", "1.P12", "2.§3.4")
COST = "a"

PUBLISHED = (  # name, parameters, where the number is printed
    ("Transformer base", 65e6, "Vaswani et al. 2017, table 3"),
    ("BERT large", 340e6, "Devlin et al. 2018, section 3"),
    ("GPT-2", 1.542e9, "Radford et al. 2019, table 2"),
    ("GPT-3", 175e9, "Brown et al. 2020, table 2.1"),
    ("PaLM", 540e9, "Chowdhery et al. 2022, abstract"),
)
SIDES = {  # tensor → what its rows and columns are
    "token": ("vocabulary", "width"), "position": ("context", "width"), "query": ("width", "all heads"),
    "key": ("width", "all heads"), "value": ("width", "all heads"),
    "output": ("all heads", "width"), "expand": ("width", "neurons"), "contract": ("neurons", "width"),
    "read_out": ("width", "answers"), "norm_1": ("width",), "norm_2": ("width",), "norm": ("width",),
}  # fmt: skip


@result
class Parameters(Result):
    """The count of every tensor and part; tensors of equal blocks stand once, with how often they occur."""

    tensors: Labelled  # (tensor,): parameters of all blocks together
    parts: Labelled  # (part,): parameters
    published: Labelled  # (model,): parameters of well-known models
    cited: tuple[str, ...]
    rows: tuple[tuple[str, str, str, str], ...]  # tensor, what its sides are, shape, times
    total: int


def parameters(run: Run) -> Parameters:
    """Every tensor of a run's model with its shape, and the sums by part."""
    a = run.architecture
    rows: list[tuple[str, str, str, str]] = []
    tensors: dict[str, int] = {}
    parts: dict[str, int] = {}
    for name, shape in a.shapes().items():
        count = int(np.prod(shape))
        parts[model.part(name)] = parts.get(model.part(name), 0) + count
        leaf = name.rpartition(".")[2]
        block = name.startswith("blocks.")
        if leaf not in tensors:
            base = leaf.removesuffix("_bias")
            sides = SIDES[base][-1:] if leaf != base else SIDES[base]
            times = f"× {a.blocks}" if block and a.blocks > 1 else ""
            rows.append((leaf.replace("_", " "), " · ".join(sides), " × ".join(map(str, shape)), times))
        tensors[leaf] = tensors.get(leaf, 0) + count
    return Parameters(
        tensors=Labelled(np.array(list(tensors.values()), dtype=float), {"tensor": tuple(tensors)}, "parameters"),
        parts=Labelled(np.array(list(parts.values()), dtype=float), {"part": tuple(parts)}, "parameters"),
        published=Labelled(
            np.array([n for _, n, _ in PUBLISHED]), {"model": tuple(n for n, _, _ in PUBLISHED)}, "parameters"
        ),
        cited=tuple(where for _, _, where in PUBLISHED),
        rows=tuple(rows),
        total=a.parameters,
    )


def part_name(part: str, blocks: int = 1) -> str:
    """feed_forward_0 → feed-forward, block 0."""
    word, _, number = part.rpartition("_")
    if number.isdigit():
        return f"{word.replace('_', '-')}{f', block {number}' if blocks > 1 else ''}"
    return part.replace("_", "-")


def say(seen: Parameters) -> Words:
    """Where most of the parameters sit."""
    counts, names = seen.parts.values, seen.parts.axes["part"].labels
    kinds: dict[str, float] = {}
    for name, count in zip(names, counts, strict=True):
        word, _, number = name.rpartition("_")
        kind = f"{word.replace('_', '-')} part" if number.isdigit() else name.replace("_", "-")
        kinds[kind] = kinds.get(kind, 0) + float(count)
    most = max(kinds, key=lambda kind: kinds[kind])
    blocks = len({name.rpartition("_")[2] for name in names if name.rpartition("_")[2].isdigit()})
    times = seen.published.values[0] / seen.total
    fewer = (
        f"{seen.published.axes['model'].labels[0]} had "
        f"{thousands(int(round(times, -3)) if times >= 1e4 else round(times))} times as many"
    )
    if times < 1:
        fewer = f"more than {seen.published.axes['model'].labels[0]} had"
    title = (
        f"{thousands(seen.total)} parameters, {percent(kinds[most] / seen.total)} of them in the "
        f"{most}{'s' if blocks > 1 and most.endswith('part') else ''}; {fewer}"
    )
    caption = (
        "Left: every tensor with what its sides are, its shape and its count; a matrix maps rows to columns, and "
        "tensors that all blocks have stand once. Right, above: the same counts by part. Right, below: this model on a "
        "logarithmic axis beside published sizes, as printed in: "
        + "; ".join(f"{name} {where}" for name, where in zip(seen.published.axes["model"].labels, seen.cited, strict=True))
        + ". Our counts are exact and add up to the total."
    )
    alt = "; ".join(f"{part_name(n, blocks)} {int(c)}" for n, c in zip(names, counts, strict=True))
    return Words(title, caption, f"A table of tensors, bars of parameters by part and a size axis. {alt}. {title}.")
