"""How large a model a text gets, and how long a training: docs/decisions/sized-to-the-text.md has the measurements.

The recipe in own_text.toml is for long texts. A short one has little to learn: a small model has read it dozens of
times within seconds, and a large one would only learn it by heart more slowly.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from glassformer.tasks.own_table import OwnTable
from glassformer.tasks.own_text import OwnText

if TYPE_CHECKING:
    from glassformer.experiment import Experiment

SMALL = {"rate": 5e-3, "batch": 16}
RUNGS: tuple[tuple[int, dict[str, Any], dict[str, Any]], ...] = (  # for texts of fewer characters than: model, training
    (20_000, {"context": 32, "width": 64, "feed_forward": 256}, {**SMALL, "steps": 300, "warmup": 20, "log_every": 15}),
    (100_000, {"width": 64, "feed_forward": 256}, {**SMALL, "steps": 800, "warmup": 40, "log_every": 40}),
    (200_000, {"width": 96, "feed_forward": 384}, {**SMALL, "steps": 1200, "warmup": 60, "log_every": 60}),
)
CONTEXTS = (16, 32)  # of texts that would not fill the rung's
WINDOWS_EACH = 20  # a context that goes into the text so many times: then a tenth of it still holds two


def sized(tables: Mapping[str, Any], task: OwnText) -> dict[str, Any]:
    """A recipe for texts, with the model and the training that this text gets; of a long text, the recipe itself."""
    letters, tokens = len(task.text), len(task.stream)
    model, train = next(((model, train) for most, model, train in RUNGS if letters < most), ({}, {}))
    model = {**tables["architecture"], **model}
    fits = [context for context in (*CONTEXTS, model["context"]) if tokens >= WINDOWS_EACH * (context + 1)]
    model["context"] = min(model["context"], max(fits, default=CONTEXTS[0]))
    return {**tables, "architecture": model, "train": {**tables["train"], **train}}


SMALL_TABLE = 500  # questions to train on, below which a table gets the small model and the short training
OF_SMALL_TABLES: tuple[dict[str, Any], dict[str, Any]] = (
    {"width": 32, "blocks": 1, "feed_forward": 128},
    {"steps": 1000, "batch": 16, "warmup": 50, "rate": 3e-3},
)


def sized_to_table(tables: Mapping[str, Any], task: OwnTable) -> dict[str, Any]:
    """A recipe for tables, with the model and the training that this table gets; of a large one, the recipe itself."""
    small = len(task.every.parts["train"]) < SMALL_TABLE
    model, train = OF_SMALL_TABLES if small else ({}, {})
    return {**tables, "architecture": {**tables["architecture"], **model}, "train": {**tables["train"], **train}}


def told_of_table(experiment: "Experiment") -> str:
    """What was chosen for a table, and how to choose otherwise."""
    train = experiment.train
    return (
        f"sized to the table: {_model(experiment)}, {train.steps:,} steps of {train.batch} questions; "
        "choose otherwise with --steps or --set architecture.width=64 "
        "(`glassformer show own_table --all` has every setting)"
    )


def told(experiment: "Experiment") -> str:
    """What was chosen for a text, and how to choose otherwise."""
    train = experiment.train
    return (
        f"sized to the text: {_model(experiment)} that see {experiment.architecture.context} tokens, "
        f"{train.steps:,} steps of {train.batch} windows; choose otherwise with --steps, --tokenizer or "
        "--set architecture.width=128 (`glassformer show own_text --all` has every setting)"
    )


def _model(experiment: "Experiment") -> str:
    a = experiment.architecture
    return f"{a.blocks} {'block' if a.blocks == 1 else 'blocks'} of width {a.width} ({a.parameters:,} parameters)"
