"""Experiment = task + architecture + training settings, read from TOML."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from glassformer import changed, corpora, own, settings, tasks
from glassformer.architecture import Architecture
from glassformer.errors import CallError, MissingError, unknown
from glassformer.settings import setting
from glassformer.tasks import Task
from glassformer.words import pasted

MOST_BYTES = 4_000_000  # of one TOML file
MOST_STEPS = 10_000_000
OWN_TABLE = "own_table"
OWN_TEXT = "own_text"
Reader = Callable[[str], bytes | None]  # the name of a file that a run keeps → its bytes
SHORT_TEXT = 200_000  # bytes; below, characters are the better tokens


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a model is trained and what is recorded on the way."""

    seed: int = setting("chooses initial weights, batches and dropout", 0, least=0, most=2**31 - 1)
    steps: int = setting("how many steps to train", least=1, most=MOST_STEPS)
    batch: int = setting("examples in each step", 8, least=1, most=65_536)
    optimiser: Literal["sgd", "momentum", "adam", "adamw"] = setting("how gradients become steps", "adamw")
    rate: float = setting("learning rate, at its highest", 1e-3, above=0.0)
    momentum: float = setting("of momentum: share of the last step kept", 0.9, least=0.0, below=1.0)
    beta_1: float = setting("of adam and adamw: memory for the gradient", 0.9, least=0.0, below=1.0)
    beta_2: float = setting("of adam and adamw: memory for its square", 0.999, least=0.0, below=1.0)
    epsilon: float = setting("of adam and adamw: added to the root of that square", 1e-8, above=0.0)
    decay: float = setting("of adamw: weight decay, multiplied by the rate", 0.01, least=0.0)
    decay_on: Literal["all", "matrices"] = setting("what decays; matrices: neither biases nor norms", "all")
    clip: float | None = setting("largest allowed norm of the whole gradient; absent: any", None, above=0.0)
    schedule: Literal["constant", "cosine", "step", "plateau"] = setting("how the rate changes", "constant")
    warmup: int = setting("steps in which the rate grows, at most half of all", 0, least=0, most=MOST_STEPS)
    final: float = setting("of cosine: the rate at the end, as a share of the rate", 0.0, least=0.0)
    drop_every: int = setting("of step: steps between two drops", 1000, least=1, most=MOST_STEPS)
    drop: float = setting("of step and plateau: the rate is multiplied by this", 0.5, above=0.0)
    patience: int = setting("of plateau: judgements without a better one", 2, least=1, most=MOST_STEPS)
    stop_after: int | None = setting("the same, until training stops early; absent: never", None, least=1,
                                     most=MOST_STEPS)  # fmt: skip
    log_every: int | None = setting("steps between two logged lines; absent: up to 200 lines, denser early", None,
                                    least=1, most=MOST_STEPS)  # fmt: skip
    keep_bytes: int = setting("budget for the kept weights", 64_000_000, least=0)
    precision: Literal["float32", "mixed"] = setting("mixed: products in bfloat16 where there is a GPU", "float32")
    judged: int | None = setting("windows behind each logged line; absent: 1,000, and all of them at the last step",
                                 None, least=1, most=100_000)  # fmt: skip

    @property
    def windows(self) -> int:
        """The most windows behind a logged number; none given: 1000, all of them at the last step (`plan.judging`)."""
        return 1000 if self.judged is None else self.judged


@dataclass(frozen=True)
class Experiment:
    """A task, a model and a way to train it, under a name."""

    name: str
    task_name: str
    task: Task
    architecture: Architecture
    train: Training
    code: own.Code | None = None  # of a task from outside the package
    changed: tuple[str, ...] = field(default=(), compare=False)  # settings that are not those of the recipe: train.rate

    @cached_property
    def floor(self) -> float:
        """The least loss this model can reach on average, in nats per predicted token."""
        return self.task.floor(self.architecture.context)

    @property
    def title(self) -> str:
        """The first sentence of the task's file, or of its class where it stands in none."""
        import sys

        kind = type(self.task)
        said = sys.modules[kind.__module__].__doc__ if kind.__module__ != "__main__" else kind.__doc__
        return (said or kind.__name__).strip().split("\n")[0]

    def tables(self) -> dict[str, Any]:
        """The experiment as plain values; `from_tables` gives it back."""
        train, data, architecture = (_plain(part) for part in (self.train, self.task, self.architecture))
        code = {} if self.code is None else {"code": self.code.table()}
        return {"name": self.name, "task": self.task_name, **code, "data": data, "architecture": architecture,
                "train": train}  # fmt: skip

    def files(self) -> dict[str, bytes]:
        """What a run must keep beside its weights: what its task needs, and for reading the source of one's own."""
        source = self.code.source if self.code else None
        return self.task.files() | ({own.SOURCE: source} if source is not None else {})


def _plain(part: Any) -> dict[str, Any]:
    values = {name: value for name, value in asdict(part).items() if value is not None}
    return json.loads(json.dumps(values))


def names() -> list[str]:
    """The ready-made experiments."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def text(name: str) -> str:
    """The TOML of an experiment, to begin your own from: a ready-made one, one's own, or what a task in a .py gets."""
    if name in names():
        return (_folder() / f"{name}.toml").read_text(encoding="utf-8")
    if name.endswith(".py"):
        from glassformer import listing

        return listing.toml(name)
    return _own_toml(name)


def begun(experiment: str) -> tuple[dict[str, Any], type[Task]]:
    """The tables that an experiment begins from, as far as they are known without its data, and its task."""
    if experiment.endswith(".py"):
        kind = own.load(experiment)
        recipe = tomllib.loads(text(like(kind)))
        return {"task": own.word(kind), **{table: recipe.get(table, {}) for table in ("architecture", "train")}}, kind
    tables, _ = _tables(experiment)
    return tables, _known(_task_name(tables))


def load(
    experiment: str | Path | Experiment | Task | type[Task], assignments: Iterable[str] = (), **train: Any
) -> Experiment:
    """An experiment by name, by the path of one's own TOML file, or as it is; then settings changed by name.

    A task of one's own, as a class, an object or a .py file, gets the model and the training of `like(it)`.
    """
    if isinstance(experiment, Task | type) or str(experiment).endswith(".py"):
        return _of_task(experiment, list(assignments), train)  # type: ignore[arg-type]
    given_as, assignments = experiment if isinstance(experiment, Experiment) else None, list(assignments)
    begun, name = (given_as.tables(), given_as.name) if given_as else _tables(str(experiment))
    tables = settings.assign(begun, assignments)
    if experiment == OWN_TEXT and isinstance(file := settings.table(tables, "data").get("file"), str):
        found = _of_text({"file": file}, name, assignments, train)
        return replace(found, changed=("data.file", *found.changed))  # its name alone does not tell of which text
    if experiment == OWN_TABLE and "file" in settings.table(tables, "data"):
        from glassformer import sizing
        from glassformer.tasks.own_table import OwnTable

        begun = sizing.sized_to_table(begun, settings.read(OwnTable, tables["data"], "data"))
        tables = settings.assign(begun, assignments)
    given = {key: value for key, value in train.items() if value is not None}
    tables["train"] = {**settings.table(tables, "train"), **given}
    if given_as is not None and tables == begun:
        return given_as
    kept = given_as.task.kept.get if given_as and given_as.task.kept and tables["data"] == begun["data"] else None
    return _named(from_tables(tables, name, kept), begun, tables, given_as.changed if given_as else ())


def like(kind: type[Task]) -> str:
    """The ready-made experiment whose model and training a task without one gets."""
    from glassformer.tasks._text import Text

    if kind.__module__.startswith(own.PACKAGE) and own.word(kind) in names():
        return own.word(kind)
    return "own_table" if kind.answers == "one" else OWN_TEXT if issubclass(kind, Text) else "plus_last_even"


def _of_task(given: Task | type[Task] | str | Path, assignments: list[str], train: Mapping[str, Any]) -> Experiment:
    """An experiment for a task: settings that its own sizes leave open are those of `like`."""
    from glassformer import contract

    kind = own.load(given) if isinstance(given, str | Path) else own.remember(given)
    contract.check_class(kind)
    name = name_of_text(Path(given)) if isinstance(given, str | Path) else own.word(kind)
    recipe, code = tomllib.loads(text(like(kind))), own.code(kind)
    begun: dict[str, Any] = {"task": own.word(kind), **({"code": code.table()} if code else {}), "data": {}, **{
        table: dict(recipe.get(table, {})) for table in ("architecture", "train")}}  # fmt: skip
    data = _changed_data(given) if isinstance(given, Task) else {}
    tables = settings.assign({**begun, "data": data}, assignments)
    with own.blamed(kind):
        task = settings.read(kind, settings.table(tables, "data"), "data")
        contract.check_words(task)
        sizes = task.sizes()
    for table in (begun, tables):
        table["architecture"] = {**sizes, **{
            key: value for key, value in table["architecture"].items()
            if key not in sizes or value != recipe["architecture"].get(key)}}  # fmt: skip
    tables["train"] |= {key: value for key, value in train.items() if value is not None}
    made = from_tables(tables, name)
    if code:
        contract.check(made)
    return _named(made, begun, tables)


def _changed_data(task: Task) -> dict[str, Any]:
    """The settings of a task that are not its usual ones."""
    usual = settings.described(type(task))
    return {key: value for key, value in _plain(task).items() if getattr(task, key) != usual[key].default}


def for_text(
    path: Path, tokenizer: str | None, entries: int | None, assignments: Iterable[str] = (), **train: Any
) -> Experiment:
    """The experiment that learns a text: settings of own_text, sized to the text and named after the file."""
    given = {"file": str(path), "tokenizer": tokenizer, "entries": entries}
    return _of_text(given, name_of_text(path), list(assignments), train)


def name_of_text(path: Path) -> str:
    """What the experiment that learns a text is called."""
    return re.sub(r"[^\w-]+", "_", path.stem) or "text"


def _of_text(given: Mapping[str, Any], name: str, assignments: list[str], train: Mapping[str, Any]) -> Experiment:
    """Sized to its text, of which the recipe knows nothing; a setting that is given is never chosen."""
    from glassformer import sizing
    from glassformer.tasks.own_text import OwnText

    named = {key: value for key, value in given.items() if value is not None}
    recipe = tomllib.loads(text(OWN_TEXT))
    recipe["data"] |= {"file": given["file"], "tokenizer": _tokenizer_for(Path(given["file"]))}
    data = settings.assign({**recipe, "data": recipe["data"] | named}, assignments)["data"]
    begun = sizing.sized(recipe, settings.read(OwnText, data, "data"))
    tables = settings.assign({**begun, "data": begun["data"] | named}, assignments)
    tables["train"] |= {key: value for key, value in train.items() if value is not None}
    return _named(from_tables(tables, name), begun, tables)


def _tokenizer_for(path: Path) -> str:
    """A short text has too few pairs worth merging."""
    try:
        return "characters" if path.stat().st_size < SHORT_TEXT else "byte_bpe"
    except OSError:
        return "characters"  # the text itself is read next, and its absence said there


def from_tables(
    tables: Mapping[str, Any], name: str, kept: Reader | None = None, folder: Path | None = None
) -> Experiment:
    """An experiment from plain values; that of a run is made from the files that its folder keeps."""
    for key in tables:
        if key not in ("name", "task", "code", "data", "architecture", "train"):
            raise unknown(key, "an experiment", ("task", "data", "architecture", "train"))
    task_name = _task_name(tables)
    code = own.recorded(tables["code"], folder) if "code" in tables else None
    kind = own.found(code, folder) if code else _known(task_name)
    code = own.code(kind) if code is None or folder is None else code  # a run was trained on what it tells of
    with own.blamed(kind):
        task = settings.read(kind, settings.table(tables, "data"), "data")
        if kept is not None:
            task = task.within({each: data for each in kind.needs if (data := kept(each)) is not None})
        vocabulary = len(task.vocabulary)
    model = settings.table(tables, "architecture")
    architecture = settings.read(Architecture, {"vocabulary": vocabulary, **task.sizes(), **model}, "architecture")
    train = settings.read(Training, settings.table(tables, "train"), "train")
    if architecture.vocabulary != vocabulary:
        raise CallError(
            f"architecture.vocabulary = {architecture.vocabulary}, but task {task_name} has {vocabulary} tokens; "
            "leave it out"
        )
    if task.answers == "one" and architecture.read_position is None:
        raise CallError(
            f"task {task_name} has one answer per question; "
            "set architecture.read_position to the position it is read at"
        )
    if task.answers == "next" and architecture.read_position is not None:
        raise CallError(
            f"task {task_name} predicts every next token; leave architecture.read_position = "
            f"{architecture.read_position} out"
        )
    if task.answers == "next" and not architecture.causal:
        raise CallError(
            f"task {task_name} predicts every next token, which a model with architecture.causal = false already sees; "
            "set it to true"
        )
    return Experiment(name, task_name, task, architecture, train, code)


def _task_name(tables: Mapping[str, Any]) -> str:
    name = tables.get("task")
    if not isinstance(name, str):
        raise CallError(f"task = {name!r:.100} is not the name of a task; there are: {', '.join(tasks.names())}")
    return name


def _known(task_name: str) -> type[Task]:
    """A task of Glassformer's own, or else one that was given to this process."""
    given = None if task_name in tasks.names() else own.named(task_name)
    return given or tasks.find(task_name)


def _named(
    found: Experiment, begun: Mapping[str, Any], now: Mapping[str, Any], before: tuple[str, ...] = ()
) -> Experiment:
    """The experiment with the names of the settings that are no longer those of the recipe it was begun from."""
    return replace(found, changed=tuple(dict.fromkeys((*before, *changed.settings(begun, now, found)))))


def _folder() -> Any:
    return resources.files("glassformer") / "experiments"


def _tables(name: str) -> tuple[dict[str, Any], str]:
    if name in names():
        return tomllib.loads(text(name)), name
    path = Path(name)
    content = _own_toml(name)
    try:
        return tomllib.loads(content), path.stem
    except RecursionError:
        raise CallError(f"{path} is not an experiment: its brackets are nested too deeply") from None
    except tomllib.TOMLDecodeError as problem:
        raise CallError(f"{path} is not TOML: {problem}{_rather(path)}") from None
    except ValueError:  # Python refuses to read such a number
        raise CallError(f"{path} is not an experiment: it holds a number of thousands of digits") from None


def _rather(path: Path) -> str:
    """What a file that is no experiment may be meant as, and how that is written."""
    kind = path.suffix.lower()
    words = ["own_table", "--set", f"data.file={path}"] if kind in (".csv", ".tsv") else ["--text", str(path)]
    what = "table of questions" if kind in (".csv", ".tsv") else "text"
    return "" if kind == ".toml" else f"; for a {what}: {pasted(['glassformer', 'train', *words])}"


def _own_toml(name: str) -> str:
    """The text of a file of one's own."""
    path = Path(name)
    if path.suffix != ".toml" and not os.path.exists(path):  # unlike path.exists(), at ease with names too long
        raise unknown(name, "experiments", names())
    try:
        if corpora.is_stream(path):
            raise CallError(f"{path} is a pipe or a device; save the experiment to a file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        made = f"glassformer show plus_last_even > {pasted([str(path)])}"
        raise MissingError(f"there is no file {path}; `{made}` makes one") from None
    except OSError as problem:
        raise CallError(f"cannot read {path}: {problem.strerror}; name a TOML file") from None
    if len(content) > MOST_BYTES:
        raise CallError(f"{path} is larger than {MOST_BYTES:,} bytes; an experiment is a page of TOML")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CallError(f"{path} is not UTF-8 at byte {problem.start}; save it as UTF-8") from None
