"""How many numbers the model learns, tensor by tensor, and how small that is."""

from dataclasses import dataclass

import numpy as np

from glassformer import architecture as model
from glassformer.analyses._result import Axis, Labelled, Result, percent, result, thousands
from glassformer.run import Run

ORDER = 20
ANSWERS = ("3.§3.4", "3.§12", "1.P12", "2.§3.4")
COST = "a"
EDITS = "data"

PUBLISHED = (  # name, parameters, where the number is printed
    ("Transformer base", 65e6, "Vaswani et al. 2017, table 3"),
    ("BERT large", 340e6, "Devlin et al. 2018, section 3"),
    ("GPT-2", 1.542e9, "Radford et al. 2019, table 2"),
    ("GPT-3", 175e9, "Brown et al. 2020, table 2.1"),
    ("PaLM", 540e9, "Chowdhery et al. 2022, abstract"),
)
GPT = {  # as printed in FROM; all were trained on 300 billion tokens
    "GPT-3 Small": (12, 768, 12, 125e6), "GPT-3 Medium": (24, 1024, 16, 350e6), "GPT-3 XL": (24, 2048, 24, 1.3e9),
    "GPT-3": (96, 12288, 96, 175e9),
}  # fmt: skip
FROM = "Brown et al. 2020, table 2.1 (vocabulary: that of GPT-2, Radford et al. 2019, section 2.3)"
COMPARED = ("blocks", "width", "heads", "vocabulary", "tokens trained on", "parameters")
SIDES = {  # tensor → what its rows and columns are
    "token": ("vocabulary", "width"), "position": ("context", "width"), "query": ("width", "all heads"),
    "key": ("width", "all heads"), "value": ("width", "all heads"),
    "output": ("all heads", "width"), "expand": ("width", "neurons"), "contract": ("neurons", "width"),
    "read_out": ("width", "answers"), "norm_1": ("width",), "norm_2": ("width",), "norm": ("width",),
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """One tensor, or one that every block has."""

    name: str
    sides: tuple[str, ...]  # what its rows and columns are
    shape: tuple[int, ...]
    times: int  # how many blocks have it


@result
class Parameters(Result):
    """The count of every tensor and part; tensors of equal blocks stand once, with how often they occur."""

    tensors: Labelled  # (tensor,): parameters of all blocks together
    parts: Labelled  # (part,): parameters
    published: Labelled  # (model,): parameters of well-known models
    cited: tuple[str, ...]
    compared: Labelled  # (model, quantity): COMPARED of this model, then of the GPTs
    compared_from: str  # where theirs are printed
    rows: tuple[Tensor, ...]
    total: int
    largest: str  # the kind of part that has the most, over all blocks
    largest_share: float

    @property
    def title(self) -> str:
        """Where most of the parameters sit."""
        first, size = self.published.axes["model"].labels[0], float(self.published.values[0])
        times = size / self.total
        many = thousands(int(round(times, -3)) if times >= 1e4 else round(times))
        fewer = f"{first} had {many} times as many" if times >= 1 else f"more than {first} had"
        return (
            f"{thousands(self.total)} parameters, {percent(self.largest_share)} of them in the {self.largest}; {fewer}"
        )


def _own(run: Run) -> tuple[float, ...]:
    """COMPARED of a run: every position of every batch counts as a token trained on, again each time it comes."""
    a = run.architecture
    tokens = run.last_step * run.experiment.train.batch * a.context
    return a.blocks, a.width, a.heads, a.vocabulary, tokens, a.parameters


def parameters(run: Run) -> Parameters:
    """Every tensor of a run's model with its shape, and the sums by part."""
    a = run.architecture
    rows: list[Tensor] = []
    tensors: dict[str, int] = {}
    parts: dict[str, int] = {}
    words: dict[str, str] = {}  # part → what it is called
    kinds: dict[str, int] = {}  # kind of part → parameters
    for name, shape in a.shapes().items():
        count = int(np.prod(shape))
        part, (*block, leaf) = model.part(name), name.removeprefix("blocks.").split(".")
        kind = part.removesuffix(f"_{block[0]}" if block else "").replace("_", "-")
        words[part] = f"{kind}, block {block[0]}" if block and a.blocks > 1 else kind
        kind += (" parts" if a.blocks > 1 else " part") if block else ""
        parts[part] = parts.get(part, 0) + count
        kinds[kind] = kinds.get(kind, 0) + count
        if leaf not in tensors:
            base = leaf.removesuffix("_bias")
            sides = SIDES[base][-1:] if leaf != base else SIDES[base]
            rows.append(Tensor(leaf.replace("_", " "), sides, shape, a.blocks if block else 1))
        tensors[leaf] = tensors.get(leaf, 0) + count
    largest = max(kinds, key=lambda kind: kinds[kind])
    return Parameters(
        tensors=Labelled(np.array(list(tensors.values()), dtype=float), {"tensor": tuple(tensors)}, "parameters"),
        parts=Labelled(
            np.array(list(parts.values()), dtype=float),
            {"part": Axis(tuple(parts), tuple(words.values()))},
            "parameters",
        ),
        published=Labelled(
            np.array([n for _, n, _ in PUBLISHED]), {"model": tuple(n for n, _, _ in PUBLISHED)}, "parameters"
        ),
        cited=tuple(where for _, _, where in PUBLISHED),
        compared=Labelled(
            np.array([_own(run), *((*shape, 50257, 300e9, size) for *shape, size in GPT.values())]),
            {"model": ("this model", *GPT), "quantity": COMPARED},
        ),
        compared_from=FROM,
        rows=tuple(rows),
        total=a.parameters,
        largest=largest,
        largest_share=kinds[largest] / a.parameters,
    )
