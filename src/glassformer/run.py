"""A run's folder, opened: the one way to read what training left. Nothing here needs JAX, or a lock, or to write."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glassformer import editing, folder, frame, generation, given, glance, notebook, own, reference, tensors
from glassformer.architecture import Architecture, nest
from glassformer.edits import Edit, Given, read, written
from glassformer.errors import CallError, DamagedError, Error, LimitError, MissingError, unknown
from glassformer.experiment import Experiment
from glassformer.folder import Entry
from glassformer.storage import Folder
from glassformer.tasks import Task
from glassformer.tensors import Array, Layout
from glassformer.trace import Trace, library
from glassformer.words import pasted, shown

if TYPE_CHECKING:
    import pandas
    import xarray

MOST_TEXT = 64_000  # characters of one input
MOST_TRACED = 1 << 30  # numbers of one trace: four gigabytes
MOST_TOKENS = 1_000_000  # of one call to generate
LARGEST = float(np.finfo(np.float32).max)
FIRST = "`glassformer train plus_last_even` makes one"
CREATED = re.compile(rb'"created": ?"([0-9T:.+-]{10,40})"')  # a time; inside a text of JSON its quotes would be escaped


def open(path: str | Path | None = None, *, task: Task | type[Task] | None = None) -> "Run":
    """The run in this folder, or the one that the beginning of a name under `runs/` means; None: the newest there.

    It is the run as it is now; `run.newer()` is what a training has made of it since. Of several that a name could mean
    it is the newest, and that is said. A run of a task from outside Glassformer needs its class, `task`, unless this
    process knows it already: what a folder holds is never executed.
    """
    if task is not None:
        own.remember(task)
    if not isinstance(path, str | Path | None):
        raise CallError(f"path = {given.written(path)} is neither a folder nor the name of a run")
    if not isinstance(path, Path) and (path is None or os.path.basename(path) == path):
        found = meant(path)
        if found.among > 1 and path is not None:
            notebook.say(f"{path} means {found.path}, the newest of {found.among:,} that begin so")
        path = found.path
    run = Run(path)
    if run.unverified:
        notebook.say(f"notice: {run.unverified_words}")
    return run


class Meant(NamedTuple):
    """Which run a name stands for."""

    path: Path
    among: int  # how many runs the name could mean; of several it is the newest


def find(name: str | None = None, root: Path = Path("runs")) -> "Run":
    """The run that a name means: `meant`, opened."""
    return Run(meant(name, root).path)


def meant(name: str | None = None, root: Path = Path("runs")) -> Meant:
    """The run of a folder, or of the beginning of a name under `root`, of several the newest; None: the newest of all.

    No run is opened; of those that could be meant, run.json is asked when they were created.
    """
    if name is not None and os.path.isfile(os.path.join(name, folder.ABOUT)):
        return Meant(Path(name), 1)
    if name is not None and name.endswith(".py") and (os.path.isfile(name) or not names(root, name)):
        return Meant(root / _trained_on(name, root), 1)
    if name == "":
        raise CallError("the name of the run is empty; leave it out for the newest one")
    if name is not None and os.path.isfile(root / name / folder.ABOUT):
        return Meant(root / name, 1)
    found = names(root, name or "")
    if found:
        newest = max(found, key=lambda each: (_created(f"{root}/{each}"), each))
        return Meant(root / newest, len(found))
    if name is not None and os.path.isdir(name):
        return Meant(Path(name), 1)  # opening it says what is wrong with it
    there = names(root)
    if not there:
        raise MissingError(f"there are no runs in {root}; {FIRST}")
    raise unknown(str(name), str(root), there)


def names(root: Path = Path("runs"), beginning: str = "") -> list[str]:
    """The runs in a folder by name, of those that begin so; none of them is opened."""
    try:
        with os.scandir(root) as inside:
            fitting = [each.name for each in inside if each.name.startswith(beginning)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(each for each in fitting if os.path.isfile(f"{root}/{each}/{folder.ABOUT}"))


def newest_first(root: Path = Path("runs"), beginning: str = "") -> list[str]:
    """The same in the order of their creation, the newest first."""
    return sorted(names(root, beginning), key=lambda each: (_created(f"{root}/{each}"), each), reverse=True)


def _trained_on(file: str, root: Path) -> str:
    """The newest run of the task in a file, which is executed, as its name was given for that."""
    kind = own.load(file).__name__
    found = [each for each in names(root) if _class(root / each) == kind]
    if not found:
        command = pasted(["glassformer", "train", file])
        raise MissingError(f"no run in {root} was trained on {kind} of {file}; `{command}` makes one")
    return max(found, key=lambda each: (_created(f"{root}/{each}"), each))


def _class(path: Path) -> Any:
    """The class from outside that a run was trained on, if it was on one."""
    try:
        return folder.about(path)["experiment"]["code"]["class"]
    except (Error, KeyError, TypeError):
        return None


def called(word: str, root: Path = Path("runs")) -> bool:
    """Whether a run is called so: by its folder, by its name, or by its name up to a hyphen, as plus_last_even."""
    if os.path.isfile(os.path.join(word, folder.ABOUT)) or (word.endswith(".py") and os.path.isfile(word)):
        return True
    return bool(word) and any(each[len(word) :][:1] in ("", "-") for each in names(root, word))


class Run:
    """One trained model, or a population of them, at every kept step of its life."""

    edits: tuple[Edit, ...] = ()  # through which it is seen; of a run as it was trained, none

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise CallError(f"path = {given.written(path)} is not a folder")
        path = Path(path)
        if not os.path.exists(path):
            raise MissingError(f"there is no folder {path}; {FIRST}")
        self.path, self.folder = path, Folder(path)
        self._stamp = folder.stamp(path)  # before anything is read, so that nothing can grow unnoticed
        self.about = folder.about(path)  # run.json, as it is
        self.experiment: Experiment
        self.experiment, loose = folder.experiment(self.about, path)
        lines = [name for name in (folder.INDEX, folder.METRICS) if folder.written(self.about, name, path) is None]
        self.unverified = (*loose, *lines)  # files without a digest: what they say may not be what was written
        self.seeds: list[int] = self.about["seeds"]
        self._layouts: dict[int, Layout] = {}

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.resolve().name

    @property
    def unverified_words(self) -> str:
        """The sentence that goes with numbers of a run without digests; empty where there are all."""
        names = " and ".join(self.unverified)
        return f"the numbers of {self.path} are unverified: {folder.ABOUT} has no sha256 of {names}" if names else ""

    @property
    def task(self) -> Task:
        """What was learned."""
        return self.experiment.task

    @property
    def architecture(self) -> Architecture:
        """The model's settings."""
        return self.experiment.architecture

    @property
    def members(self) -> int:
        """How many models were trained together, one per seed."""
        return len(self.seeds)

    @property
    def parameters(self) -> int:
        """How many numbers one model has learned."""
        return self.architecture.parameters

    @property
    def status(self) -> str:
        """running, interrupted (its writer is gone), finished, diverged, or what else the training said at its end."""
        return glance.status(self.about, self.path)

    @property
    def engine(self) -> str:
        """What trained it: python, or the page of a report, which computes by itself."""
        return "page" if self.about.get("engine") == "page" else "python"

    def must_resume(self) -> None:
        """Refuse a run that nothing here could go on with to the same bits."""
        if self.engine == "page":
            raise CallError(
                f"{self.path} was trained in a page, whose arithmetic is not this one's, up to step "
                f"{self.last_step:,}; its report continues it, and `glassformer train` begins anew"
            )

    @property
    def grown(self) -> bool:
        """Whether the folder holds more than when this run was opened; costs some microseconds."""
        return folder.stamp(self.path) != self._stamp

    def newer(self) -> "Run":
        """The run as it is now: this one while nothing was added, else the folder opened again.

        What an opened run has read it never reads again, so that whatever was found in it stays true of it.
        """
        return Run(self.path) if self.grown else self

    @cached_property
    def steps(self) -> Array:
        """The kept steps, in order."""
        return np.array(sorted(self._index), dtype=np.int64)

    @property
    def last_step(self) -> int:
        """How far the training has come, kept or not."""
        return int(max([self.about.get("last_step", 0), *self._index, *(line["step"] for line in self.lines)]))

    def best_step(self, member: int = 0) -> int:
        """The kept step at which the validation loss of a member was lowest; `--step best` on the command line."""
        losses, steps = self.metrics.get("validation_loss"), self.metrics["step"]
        if losses is None or not len(losses):
            raise MissingError(f"nothing is logged yet in {self.path}, so no step is known to be the best; name one")
        place = self.place(member)
        of_member = losses if losses.ndim == 1 else losses[:, place]
        there = np.isfinite(of_member) & np.isin(steps, self.steps)
        if not there.any():
            raise MissingError(f"no kept step of {self.path} has a validation loss that is a number; name one")
        return int(steps[there][np.argmin(of_member[there])])

    def place(self, member: int) -> int:
        """The place of a member among all, if there is one."""
        found = given.whole("member", member)
        if not 0 <= found < self.members:
            raise MissingError(f"there is no member {found} in {self.path}; there are 0 to {self.members - 1}")
        return found

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The metrics as logged, one table per line; what is not a number stands there as a text."""
        return self.logged.read

    @cached_property
    def metrics(self) -> dict[str, Array]:
        """Each metric over the logged lines: (line,), or (line, member) for a population; NaN where it was not logged.

        Nested tables are flattened: `gradient.embedding`.
        """
        flat = [_flatten(line) for line in self.lines]
        names = dict.fromkeys(name for line in flat for name in line)
        wide = (
            {name for line in flat for name, value in line.items() if type(value) is list} if self.members > 1 else ()
        )
        cells = len(flat) * (len(names) + len(wide) * self.members)
        if cells > folder.MOST_CELLS:
            raise DamagedError(f"{folder.METRICS} makes columns of {cells:,} numbers, more than {folder.MOST_CELLS:,}")
        columns = {name: _column([line.get(name) for line in flat], self.members) for name in names if name != "step"}
        step = np.array([line["step"] for line in flat], dtype=np.int64)
        if (np.diff(step) <= 0).any():
            raise DamagedError(f"{self.path / folder.METRICS} is damaged: its steps do not rise; {folder.AGAIN}")
        return {"step": step, **{name: column for name, column in columns.items() if column is not None}}

    @cached_property
    def times(self) -> dict[str, Array]:
        """Seconds, steps and tokens per second at the logged steps; two equal trainings differ in these alone."""
        found = folder.times(self.folder)
        lines = folder.verified(found, self.about, folder.TIMES, self.path).read if found.data else []
        names = dict.fromkeys(name for line in lines for name in line)
        return {name: np.array([_number(line.get(name)) for line in lines], dtype=np.float64) for name in names}

    @cached_property
    def problems(self) -> list[str]:
        """What is wrong with the folder, as far as a glance tells; `check` looks at every number."""
        problems = [*self.index_file.problems(folder.INDEX), *self.metrics_file.problems(folder.METRICS)]
        if (twice := len(self.listed.read) - len(self._index)) > 0:
            problems.append(f"{folder.INDEX} lists {twice} steps more than once; the first line of each counts")
        for number in sorted({entry.file for entry in self._index.values()}):
            if self.folder.stat(folder.weights_file(number)) is None:
                lost = [entry.step for entry in self._index.values() if entry.file == number]
                problems.append(f"{folder.weights_file(number)} is missing, and with it {_steps(lost)}")
        return problems

    def weights(self, step: int = -1, member: int | None = None) -> dict[str, Array]:
        """The parameters at a kept step by name; of a population all members, on a leading axis, or the one asked for.

        They are compared with their sha256 each time, and cannot be written to.
        """
        entry = self._entry(step)
        name = folder.weights_file(entry.file)
        path = f"{self.path}{os.sep}{name}"
        try:
            with self.folder.open(name) as file:
                layout = self._layouts.get(entry.file) or self._layout(tensors.layout(file, path), path)
                if entry.row >= layout.tensors["token"][1][0]:
                    raise tensors.damaged(path, f"it has no row {entry.row} for step {entry.step}")
                found = {name: tensors.slab(file, path, layout, name, entry.row) for name in self._shapes}
        except OSError as problem:
            reason = "is missing" if isinstance(problem, FileNotFoundError) else f"cannot be read ({problem.strerror})"
            raise DamagedError(f"{path} {reason}, and with it step {entry.step}; put it back") from None
        if tensors.digest(found) != entry.sha256:
            raise tensors.damaged(path, f"step {entry.step} is not what was written")
        self._layouts[entry.file] = layout
        return found if member is None else self._of(found, member)

    def trace(
        self,
        text: str | Sequence[int] | Sequence[Sequence[int]] | Array | None = None,
        step: int = -1,
        member: int = 0,
        edits: Given = None,
    ) -> Trace:
        """Every value inside the model on a text, on token ids, or on a batch of equally long ones.

        None is the task's first showcase. `edits` change values on their way, after those of an edited run: texts such
        as `zero(mixed, head=0)`, one or a list, or a table from points to functions, `{"mixed": function}`.

        A function takes `(value, block)`, or the value alone, and returns real numbers in the same shape; what it is
        given is a copy that it may change, with the axes of the glossary without `block` (of a batch, `batch` first).
        A point may have TransformerLens's name: `{"blocks.0.attn.hook_z": function}` is called for that block only.
        """
        tokens = self.tokens(text)
        if (many := (tokens.size // tokens.shape[-1]) * self.architecture.traced(tokens.shape[-1])) > MOST_TRACED:
            raise LimitError(
                f"a trace of {tokens.size // tokens.shape[-1]:,} inputs of {tokens.shape[-1]:,} tokens holds {many:,} "
                f"numbers; the most is {MOST_TRACED:,}: give fewer or shorter ones"
            )
        entry = self._entry(step)
        params = nest(self.unedited.weights(entry.step, self.place(member)))
        changes = editing.compiled(self, tokens, entry.step, member, edits)
        with np.errstate(over="ignore", invalid="ignore"):  # a diverged model is looked at like any other
            _, values = reference.forward(params, tokens, self.architecture, changes)
        return Trace(values, tokens, entry.step, self.task.vocabulary, self.architecture)

    def edited(self, edits: Given) -> "Run":
        """This run seen through edits, after those it has: whoever traces, asks or generates sees the edited model.

        Weights and metrics stay what was trained, and what has been read of the folder is shared.
        """
        if editing.is_functions(edits) and edits:
            raise CallError("edited takes written edits, as zero(mixed, head=0); functions go to trace, ask, generate")
        found = (*self.edits, *read(edits))
        for edit in found:
            editing.check(edit, self)
            if edit.point == "probabilities":
                raise CallError(f"{edit}: losses and samples are computed from the logits; edit those")
        return _Edited(self.unedited, found) if found else self

    @property
    def unedited(self) -> "Run":
        """The run as it was trained."""
        return self

    def ask(
        self,
        text: str | Sequence[int] | Array | None = None,
        step: int = -1,
        member: int = 0,
        edits: Given = None,
    ) -> list[tuple[str, float]]:
        """What the model answers, with the `edits` of `trace`: each token with its probability, the likeliest first."""
        tokens = self.tokens(text)
        place = self.architecture.read_position
        if tokens.ndim != 1:
            raise CallError("ask takes one text at a time; trace takes a batch")
        if place is not None and len(tokens) <= place:
            raise CallError(f"the answer is read at position {place}, but the text has {len(tokens)} tokens; add some")
        chances = self.trace(tokens, step, member, edits)["probabilities"][-1 if place is None else place]
        order = np.argsort(-chances, kind="stable")
        return [(self.task.vocabulary[token], float(chances[token])) for token in order]

    def generate(
        self,
        text: str | Sequence[int] | Array = "",
        tokens: int = 32,
        temperature: float = 1.0,
        top_k: int | None = None,
        seed: int = 0,
        step: int = -1,
        member: int = 0,
        *,
        top_p: float | None = None,
        stop: str | None = None,
        edits: Given = None,
    ) -> generation.Written:
        """What the model writes after a text, or after token ids: the ids one by one, `.text`, and a verdict on each.

        Nothing is computed before it is asked for; the model sees the last `context` tokens. Temperature 0 takes the
        likeliest each time; `stop` is a token after which nothing more is written. Without a text, the first token is
        one a sequence may begin with. `edits` are those of `trace`; one at a position waits until the text reaches it.
        """
        if self.task.answers != "next":
            raise CallError(f"task {self.experiment.task_name} has one answer and no next token; use ask")
        tokens = given.whole("tokens", tokens)
        if not 1 <= tokens <= MOST_TOKENS:
            raise LimitError(f"tokens = {tokens} is not between 1 and {MOST_TOKENS:,}")
        choice = generation.Choice(temperature, top_k, top_p)
        end = None if stop is None else generation.stop_token(stop, self.task.vocabulary)
        rng = np.random.default_rng(given.seed(seed))
        ids = self._read(text)
        if ids.ndim != 1:
            raise CallError("generate goes on from one text at a time; call it once for each of a batch")
        before = ids.tolist()
        params = nest(self.unedited.weights(step, self.place(member)))
        first = [] if before else [int(self.task.sample(rng, 1)[0])]
        more = 0 if first == [end] else tokens - len(first)
        changes = editing.while_writing(self, step, member, edits)
        new = generation.go_on(params, self.architecture, before + first, more, choice, rng, end, changes)
        return generation.Written(before, chain(first, new), self.task)

    def page(
        self,
        *,
        step: int = -1,
        input: str | None = None,
        edits: Given = None,
        member: int = 0,
        mode: str | None = None,
        hide: str | None = None,
        height: int = frame.HEIGHT,
    ) -> frame.Page:
        """The page on which this run lives, opened at a step, on an input, with edits, in a mode (watch, train, …).

        A notebook shows it in a frame of this height, in pixels; `.save("x.html")` writes it with more of the kept
        steps, `.show()` opens it in a browser. `hide` names controls to leave out, with commas.
        """
        from glassformer.analyses import _clock
        from glassformer.report import link

        self.tokens(input)  # refuses what this model cannot look at
        at = _clock.resolve(self, step)
        opened = link.link(
            member=self.place(member) or None,
            step=None if step == -1 else at,
            mode=link.mode(mode),
            input=input,
            edits=written(self.edited(edits).edits),
            hide=link.hidden(hide),
        )
        return frame.Page(self, at, opened, height)

    def widget(self, **asked: Any) -> Any:
        """The same page as a widget, asked for as `page` is: its `step`, `input`, `edits` and `link` go both ways."""
        return frame.widget(self.page(**asked))

    def to_pandas(self) -> "pandas.DataFrame":
        """The metrics as a tidy table: a row for each logged step of each member, with its seed, a column for each.

        What is one number for all members stands in the rows of each; what is several numbers has a column for each.
        """
        steps = self.metrics["step"]
        shape = (len(steps), self.members)
        columns: dict[str, Any] = {"step": np.repeat(steps, self.members), "seed": np.tile(self.seeds, len(steps))}
        for name, values in self.metrics.items():
            if name == "step":
                continue
            by_member = values.ndim > 1 and self.members > 1 and values.shape[1] == self.members
            rows = values if by_member else np.repeat(values[:, None], self.members, axis=1)
            flat = rows.reshape(shape[0] * shape[1], -1)
            many = flat.shape[1] > 1
            columns |= {f"{name}.{k}" if many else name: flat[:, k] for k in range(flat.shape[1])}
        return library("pandas").DataFrame(columns)

    def to_xarray(self) -> "xarray.Dataset":
        """The whole run as one labelled data set: weights over `step`, metrics over `logged_step`."""
        member = ("member",) if self.members > 1 else ()
        life = [self.weights(step) for step in self.steps]
        variables: dict[str, Any] = {}
        for name in self._shapes:
            variables[f"weights.{name}"] = (("step", *member, *_dimensions(name)), np.stack([at[name] for at in life]))
        for name, values in self.metrics.items():
            if name != "step" and values.ndim <= 1 + len(member):
                variables[name] = (("logged_step", *member)[: values.ndim], values)
        words = np.array(self.task.vocabulary)
        coordinates = {"step": self.steps, "logged_step": self.metrics["step"], "token": words}
        coordinates["answer"] = words[: self.architecture.answers]
        if member:
            coordinates["member"] = np.array(self.seeds)
        about = {"name": self.name, "digest": self.digest()}
        return library("xarray").Dataset(variables, coordinates, about)

    def digest(self) -> str:
        """One sha256 of all that was trained: experiment, seeds, weights and metrics; no times, no hardware."""
        found = sha256(json.dumps([self.about["experiment"], self.seeds], sort_keys=True).encode())
        for step in self.steps.tolist():
            found.update(f"{step} {self._index[step].sha256}\n".encode())
        found.update(self.logged.good())
        return found.hexdigest()

    def check(self) -> list[str]:
        """Look at every number of the folder, and for what is missing; a sentence for each thing that is wrong."""
        from glassformer import whole

        return whole.problems(self)

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return folder.size(self.path)

    def tokens(self, text: str | Sequence[int] | Sequence[Sequence[int]] | Array | None) -> Array:
        """Token ids that this model can look at, from a text or from ids; None: the task's first showcase."""
        if text is None:  # a showcase is made for the usual window; a smaller one sees its end
            return self.task.encode(self.task.showcase[0])[-self.architecture.context :]
        tokens = self._read(text)
        if tokens.size == 0:
            raise CallError(f"the text is empty; try {self.task.showcase[0]!r}")
        if tokens.shape[-1] > self.architecture.context:
            raise LimitError(
                f"{tokens.shape[-1]} tokens are more than the model's context = {self.architecture.context}"
            )
        return tokens

    def _read(self, text: str | Sequence[int] | Sequence[Sequence[int]] | Array) -> Array:
        """The token ids of a text, or ids as they are given, each of them one of this model's; of any length."""
        if isinstance(text, str) and len(text) > MOST_TEXT:
            raise LimitError(f"the text has {len(text):,} characters; the most is {MOST_TEXT:,}")
        tokens = self.task.encode(text) if isinstance(text, str) else _ids(text)
        wrong = np.argwhere((tokens < 0) | (tokens >= self.architecture.vocabulary))
        if len(wrong):
            at = tuple(wrong[0])
            raise CallError(
                f"token {tokens[at]} at position {at[-1]} is not between 0 and {self.architecture.vocabulary - 1}"
            )
        return tokens

    def __repr__(self) -> str:
        members = f", {self.members} members" if self.members > 1 else ""
        about = f"{self.name}: {self.status}, {len(self.steps)} kept steps up to {self.last_step}{members}"
        return f"<Run {shown(about)}>"

    def _repr_html_(self) -> str:
        rows: dict[str, str] = {
            "experiment": self.experiment.name,
            "status": self.status,
            "steps": f"{self.last_step:,}; kept: {len(self.steps):,}"
            + (", step 0 among them" if 0 in self._index else ""),
            "parameters": f"{self.parameters:,}" + (f" × {self.members} members" if self.members > 1 else ""),
        }
        if self.unverified:
            rows["unverified"] = self.unverified_words
        for name in ("validation_loss", "excess"):
            values = self.metrics.get(name)
            if values is not None and len(values):
                rows[f"{name} of the original training" if self.edits else name] = notebook.span(values[-1], "nats")
        if self.edits:
            rows["edited"] = written(self.edits)
        return frame.displayed(self, notebook.table(list(rows.items()), caption=self.name))

    @cached_property
    def index_file(self) -> folder.Lines[Entry]:
        """The whole index, whether it verifies or not."""
        return folder.index(self.folder)

    @cached_property
    def metrics_file(self) -> folder.Lines[dict[str, Any]]:
        """All the metrics, whether they verify or not."""
        return folder.metrics(self.folder)

    @cached_property
    def listed(self) -> folder.Lines[Entry]:
        """The index, verified."""
        return folder.verified(self.index_file, self.about, folder.INDEX, self.path)

    @cached_property
    def logged(self) -> folder.Lines[dict[str, Any]]:
        """The metrics, verified."""
        return folder.verified(self.metrics_file, self.about, folder.METRICS, self.path)

    @cached_property
    def _index(self) -> dict[int, Entry]:
        return {entry.step: entry for entry in reversed(self.listed.read)}  # of two for one step, the first counts

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        members = (self.members,) if self.members > 1 else ()
        return {name: (*members, *shape) for name, shape in self.architecture.shapes().items()}

    def _entry(self, step: int) -> Entry:
        step = given.step(step)
        if len(self.steps) == 0:
            raise MissingError(f"{self.path} has no kept step yet; wait for the training's first safe point")
        if step == -1:
            return self._index[int(self.steps[-1])]
        if (entry := self._index.get(step)) is not None:
            return entry
        after = int(np.searchsorted(self.steps, step))
        near = " and ".join(str(each) for each in self.steps[max(after - 1, 0) : after + 1])
        raise MissingError(f"step {step} of {self.path} was not kept; the nearest kept: {near}")

    def _layout(self, found: Layout, path: str) -> Layout:
        """A file's layout, if it holds exactly the tensors that run.json implies."""
        rows = {shape[:1] for _, shape, _ in found.tensors.values()}
        kinds = {kind for kind, _, _ in found.tensors.values()}
        shapes = {name: shape[1:] for name, (_, shape, _) in found.tensors.items()}
        if shapes != self._shapes or kinds != {np.dtype("<f4")} or len(rows) != 1:
            raise tensors.damaged(path, f"its tensors are not those of {folder.ABOUT}")
        return found

    def _of(self, weights: dict[str, Array], member: int) -> dict[str, Array]:
        place = self.place(member)
        return weights if self.members == 1 else {name: array[place] for name, array in weights.items()}


class _Edited(Run):
    """A run seen through edits. Its attributes are those of the run itself, so nothing is read twice."""

    __slots__ = ("_run", "edits")

    def __init__(self, run: Run, edits: tuple[Edit, ...]) -> None:
        self.__dict__ = run.__dict__
        self._run, self.edits = run, edits

    @property
    def unedited(self) -> Run:
        return self._run

    def weights(self, step: int = -1, member: int | None = None) -> dict[str, Array]:  # noqa: ARG002
        """Refused: who computes from the weights does not see the edits; `unedited.weights` gives what was trained."""
        raise CallError("edits change values on their way through the model, and this is computed from its weights")

    def newer(self) -> Run:
        return self._run.newer().edited(self.edits) if self.grown else self

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, edited: {shown(written(self.edits))}>"


def _ids(given: Any) -> Array:
    try:
        tokens = np.asarray(given)
    except ValueError:
        raise CallError("the sequences of a batch have different lengths; make them equal") from None
    if tokens.dtype.kind == "U":
        raise CallError(f"{len(tokens)} texts in a list are neither one text nor ids; give one text, such as '4 9 +'")
    if tokens.size and (tokens.ndim not in (1, 2) or not np.issubdtype(tokens.dtype, np.integer)):
        raise CallError(
            f"tokens of shape {tokens.shape} and type {tokens.dtype} are neither one sequence of ids nor a batch"
        )
    return tokens


def _created(path: str) -> str:
    """When a run was begun, as its run.json says; searched for and not parsed, as there may be thousands of them."""
    try:
        data = Folder(path).read(folder.ABOUT, folder.MOST_ABOUT)
    except (Error, OSError):
        return ""
    said = CREATED.search(data)
    return said[1].decode() if said else ""


def _flatten(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= _flatten(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
    return flat


def _column(values: list[Any], members: int) -> Array | None:
    """One metric over all lines; None if it is no number, nor one per member. What is missing, or unfit, is NaN.

    No training computes a number beyond float32, and pictures of one have no scale.
    """
    arrays = [_numbers(value) for value in values]
    shape = next((array.shape for array in arrays if array is not None), None)
    if shape is None or shape not in ((), (members,)):
        return None
    unknown = np.full(shape, np.nan)
    column = np.stack([unknown if array is None or array.shape != shape else array for array in arrays])
    large = np.abs(column) > LARGEST
    return np.where(large & np.isfinite(column), np.nan, column) if large.any() else column


def _numbers(value: Any) -> Array | None:
    try:
        return None if value is None else np.array(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return None


def _number(value: Any) -> float:
    """One number; NaN where it is none, or several."""
    found = _numbers(value)
    return np.nan if found is None or found.ndim else float(found)


def _dimensions(name: str) -> tuple[str, ...]:
    """The axes of a parameter."""
    leaf = name.rpartition(".")[2]
    matrix = {
        "token": ("token", "feature"),
        "position": ("position", "feature"),
        "output": ("head_feature", "feature"),
        "expand": ("feature", "neuron"),
        "contract": ("neuron", "feature"),
        "read_out": ("feature", "answer"),
    }.get(leaf.removesuffix("_bias"), ("feature", "head_feature"))
    if leaf.startswith("norm"):
        return ("feature",)
    return matrix[1:] if leaf.endswith("_bias") else matrix


def _steps(steps: list[int]) -> str:
    return f"step {steps[0]}" if len(steps) == 1 else f"{len(steps)} steps from {min(steps)} to {max(steps)}"
