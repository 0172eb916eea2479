"""What there is, and what can be shown of a subject, without drawing it: neither Matplotlib nor JAX is loaded.

Every piece has a title, a place in the story, a cost, needs, and options. Figures and films have the names of the
analyses whose numbers they show, and what is said of them stands in the files of the analyses; a folder is a section.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module, resources
from inspect import Parameter, signature
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from glassformer import _discover, given
from glassformer.analyses._options import Option
from glassformer.errors import CallError, check_name, unknown
from glassformer.words import pasted

if TYPE_CHECKING:
    from glassformer.run import Run
    from glassformer.study import Study

KINDS = ("experiments", "tasks", "analyses", "figures", "films", "studies", "lessons", "claims")
SHOWN = ("analyses", "figures", "films", "studies")  # of these the catalogue knows when they apply
SECONDS = {"a": 0.15, "b": 0.5, "c": 1.5, "d": 5.0}  # of computing and drawing, by cost
PREFIXES = {"analyses": "", "figures": "plot_", "films": "film_"}  # of the public functions
TYPES = {int: "whole number", float: "number", str: "text", bool: "true or false"}
STUDIES = Path("studies")  # where they are kept unless somebody says otherwise
Subject: TypeAlias = "Run | Study | None"  # None: nothing in particular


@dataclass(frozen=True)
class Choice:
    """One thing that a piece can be asked for."""

    name: str
    type: str  # whole number, number, text, true or false; `list of ...` for several
    default: Any
    help: str
    optional: bool = False  # None may be given
    least: float | None = None
    most: float | None = None
    choices: tuple[Any, ...] = ()

    def taken(self, value: Any) -> Any:
        """A value as the piece takes it: texts with commas become lists; a wrong one is refused in one sentence."""
        if value is None and self.optional:
            return None
        several, one = self.type.startswith("list of "), self.type.removeprefix("list of ").removesuffix("s")
        each = value if isinstance(value, list | tuple) else str(value).split(",") if several else [value]
        found = [self._one(part, one) for part in each]
        if not several and len(found) != 1:
            raise self._wrong(value)
        return tuple(found) if several else found[0]

    def meant(self, value: Any) -> Any:
        """A value as Python gives it: a number is a number, and is not read from a text. Texts are as they are."""
        several, kind = self.type.startswith("list of "), self.type.removeprefix("list of ").removesuffix("s")
        if kind not in ("whole number", "number") or (value is None and self.optional):
            return value
        if several and (isinstance(value, str | bytes) or not isinstance(value, Iterable)):
            raise self._wrong(value)
        found = tuple(self._number(each, kind) for each in (value if several else (value,)))
        return found if several else found[0]

    def _number(self, value: Any, kind: str) -> int | float:
        if self.name in ("step", "steps"):
            return given.step(value)
        found = given.whole(self.name, value) if kind == "whole number" else given.number(self.name, value)
        if not self._allowed(found):
            raise self._wrong(value)
        return found

    def _allowed(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def _one(self, value: Any, kind: str) -> Any:
        if kind == "text":
            found: Any = value if isinstance(value, str) else json.dumps(value)
        elif kind == "true or false":
            found = value
            if not isinstance(value, bool):
                raise self._wrong(value)
        else:
            try:
                found = int(value) if kind == "whole number" else float(value)
            except (TypeError, ValueError, OverflowError):
                raise self._wrong(value) from None
            if isinstance(value, bool) or (isinstance(value, float) and found != value):
                raise self._wrong(value)
            if not self._allowed(found):
                raise self._wrong(value)
        if self.choices and found not in self.choices:
            raise unknown(str(value), f"the choices of {self.name}", map(str, self.choices))
        return found

    def _wrong(self, value: Any) -> CallError:
        limits = [f"at least {self.least:g}" if self.least is not None else "",
                  f"at most {self.most:g}" if self.most is not None else ""]  # fmt: skip
        article = "" if self.type == "true or false" else "a "
        allowed = ", ".join(filter(None, [f"{article}{self.type}", *limits, "or none" if self.optional else ""]))
        return CallError(f"{self.name} = {value!r} is not {allowed}")

    def plain(self) -> dict[str, Any]:
        """As JSON values, without what it does not say."""
        said = {"name", "type", "default", "help"}
        return {key: value for key, value in asdict(self).items() if key in said or not (value is None or value == ())}


@dataclass(frozen=True)
class Entry:
    """One analysis, figure, film or study, and what is known of it without drawing it."""

    kind: str
    name: str
    title: str
    section: str
    order: int
    cost: str
    needs: str  # run, population, runs, study, experiment or nothing
    options: tuple[Choice, ...]
    answers: tuple[str, ...] = ()  # codes of the sources
    figure: str = ""  # of a study: who draws it

    @property
    def place(self) -> tuple[int, int, str]:
        """Order in the story."""
        return list(sections()).index(self.section), self.order, self.name

    def option(self, name: str) -> Choice | None:
        """One of its options."""
        return next((each for each in self.options if each.name == name), None)

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        known = {key: value for key, value in asdict(self).items() if value != ""}
        return known | {"options": [each.plain() for each in self.options]}


@dataclass(frozen=True)
class Section:
    """A part of the story that the figures of a run tell."""

    title: str
    lead: str


def kinds() -> list[str]:
    """The kinds of pieces this installation has."""
    return [kind for kind in KINDS if _folder(kind).is_dir()]


def pieces(kind: str) -> dict[str, str]:
    """Name → title, nothing imported. A title is the first sentence of the file; an experiment has that of its task.

    A claim has no file of its own: its name is its id, and its title what it says.
    """
    if kind == "experiments":
        import tomllib

        titles = pieces("tasks")
        found = sorted(_folder(kind).glob("*.toml"))
        return {path.stem: titles[tomllib.loads(path.read_text("utf-8"))["task"]] for path in found}
    root = _folder(kind)
    if kind == "claims":
        return dict(sorted(found for path in root.glob("[!_]*.py") for found in _claims(path)))
    there = [path for pattern in ("*.py", "[!_]*/*.py") for path in root.glob(pattern) if not path.name.startswith("_")]
    return {path.stem: _title(path) for path in sorted(there, key=lambda path: path.stem)}


def sections() -> dict[str, Section]:
    """The sections of the story, in its order."""
    return dict(_sections())


@cache
def _sections() -> tuple[tuple[str, Section], ...]:
    names = [path.parent.name for path in _folder("analyses").glob("[!_]*/__init__.py")]
    rooms = [import_module(f"glassformer.analyses.{name}") for name in names]
    found = []
    for room in sorted(rooms, key=lambda room: int(room.ORDER)):
        title, _, lead = (room.__doc__ or "").strip().partition("\n\n")
        found.append((room.__name__.rpartition(".")[2], Section(title, " ".join(lead.split()))))
    return tuple(found)


@cache
def entry(kind: str, name: str) -> Entry:
    """What is known of one piece."""
    from glassformer import studies

    if kind == "studies":
        file = studies.find(name)
        asked = tuple(one for one in choices(studies.run) if one.name != "without" or hasattr(file, "WITHOUT"))
        return Entry(kind, name, _title(Path(str(file.__file__))), "trust", 100, "d", "experiment", asked,
                     figure=getattr(file, "FIGURE", "study_cells"))  # fmt: skip
    where = _places(kind)
    check_name(name, kind, where)
    file = _analysis(name)
    options = choices(file.reel if kind == "films" else getattr(file, name))
    options += LOOKS if kind == "figures" else (LOOKS[1], PACE) if kind == "films" else ()
    cost = "d" if kind == "films" else file.COST
    title = _title(Path(str(resources.files("glassformer"))).joinpath(*where[name].split(".")[1:]).with_suffix(".py"))
    section, needs = where[name].split(".")[2], getattr(file, "NEEDS", "run")
    return Entry(kind, name, title, section, file.ORDER, cost, needs, options, getattr(file, "ANSWERS", ()))


def entries(kind: str) -> list[Entry]:
    """Every piece of a kind, in the order of the story."""
    names = pieces("studies") if kind == "studies" else _places(kind)
    return sorted((entry(kind, name) for name in names), key=lambda each: each.place)


def why_not(each: Entry, subject: Subject, root: Path = STUDIES) -> str | None:
    """Why a piece cannot be had from this, as half a sentence; None: it can. `root` is where studies are kept."""
    from glassformer import studies
    from glassformer.analyses._applies import reason
    from glassformer.run import Run
    from glassformer.study import Study

    if each.needs == "nothing":
        return None
    if each.needs == "experiment":
        asks = getattr(studies.find(each.name), "needs", None)
        return asks(subject.experiment) if asks and subject else None
    if each.needs == "study":
        if not isinstance(subject, Study):
            return _no_study(each, subject, root)
        own = figure_of(subject.name)
        return None if each.name == own else f"the study {subject.name} is drawn by {own}"
    if not isinstance(subject, Run):
        return "it is drawn from a run, not from a study" if subject else "it is drawn from a run"
    if each.needs == "population" and subject.members == 1:
        return "it needs a population; `glassformer train ... --seeds 8` makes one"
    return reason(_analysis(each.name), subject, film=each.kind == "films")


def ask(kind: str, name: str, *subjects: Subject, **options: Any) -> Any:
    """What a piece gives of a subject, or of several where it compares: the result of an analysis, a figure, a film.

    `ask("analyses", "attention", run, step=5000).plain()` are numbers to send. Options may come as people write them;
    a wrong one is refused, and so is what the piece does not apply to, with the reason that `overview` gives.
    """
    from glassformer.run import Run
    from glassformer.study import Study

    each, subject = entry(kind, name), subjects[0] if subjects else None
    given = chosen(each, options)
    if isinstance(subject, Run | Study | None) and (why := why_not(each, subject)):  # the piece refuses all others
        raise CallError(why)
    asked = () if each.needs == "nothing" else (subjects,) if each.needs == "runs" else subjects
    return getattr(import_module(f"glassformer.{kind}"), PREFIXES[kind] + name)(*asked, **given)


def overview(subject: Subject, root: Path = STUDIES) -> dict[str, Any]:
    """All that can be had from a subject, and of the rest why not, as JSON values: what a client needs to offer it."""
    told = {name: asdict(section) for name, section in sections().items()}
    shown = {
        kind: [each.plain() | {"why_not": why_not(each, subject, root)} for each in entries(kind)] for kind in SHOWN
    }
    return {"subject": _about(subject), "sections": told, **shown}


def chosen(each: Entry, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options for a piece, each checked and as the piece takes it."""
    for name in options:
        if each.option(name) is None:
            raise unknown(name, f"the options of {each.name}", [one.name for one in each.options])
    return {one.name: one.taken(options[one.name]) for one in each.options if one.name in options}


def shows_model(each: Entry) -> bool:
    """Whether a figure depends on what the model computes, or on how it was trained."""
    return each.needs in ("run", "runs", "population") and getattr(_analysis(each.name), "EDITS", "") != "data"


def figure_of(study: str) -> str:
    """The figure that draws a study."""
    return entry("studies", study).figure


def drawn_from(each: Entry, subject: Subject, root: Path = STUDIES) -> list[Subject]:
    """The subject itself; where that is a run and the piece shows a study, every such study of its experiment."""
    from glassformer.run import Run
    from glassformer.study import of

    if each.needs != "study" or not isinstance(subject, Run):
        return [subject]
    return [found for found in of(subject.experiment.name, root) if figure_of(found.name) == each.name]


def opened(path: str | Path) -> "Run | Study":
    """The study or the run in this folder."""
    from glassformer import run, study

    return study.open(path) if (Path(path) / study.ABOUT).is_file() else run.open(path)


@cache
def choices(asked: Callable[..., Any]) -> tuple[Choice, ...]:
    """What people may choose of a function's parameters: those whose types carry an `Option`."""
    hints = get_type_hints(asked, include_extras=True)
    found = []
    for name, parameter in signature(asked).parameters.items():
        about = next((each for each in getattr(hints.get(name), "__metadata__", ()) if isinstance(each, Option)), None)
        if parameter.kind is Parameter.KEYWORD_ONLY and about:
            found.append(_choice(name, hints[name].__origin__, parameter.default, about))
    return tuple(found)


def _choice(name: str, kind: Any, default: Any, about: Option) -> Choice:
    inner = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    optional, (main,) = NoneType in inner, [each for each in inner if each is not NoneType]
    words = get_args(main) if get_origin(main) is Literal else about.choices
    if get_origin(main) in (tuple, list, Sequence):
        said = f"list of {TYPES[get_args(main)[0]]}s"
    else:
        said = TYPES[str if get_origin(main) is Literal else main]
    return Choice(name, said, default, about.help, optional, about.least, about.most, tuple(words))


LOOKS = (
    Choice("size", "text", "screen", "how large it is drawn", choices=("screen", "slide", "print", "print_narrow")),
    Choice("theme", "text", "light", "on light or on dark paper", choices=("light", "dark")),
    Choice("page", "whole number", 0, "which of its pages, where it has several", least=0),
)
PACE = Choice("fps", "whole number", None, "frames per second; none: the film's own pace", True, 1, 100)


def _no_study(each: Entry, run: "Run | None", root: Path) -> str:
    """That there is no study to draw, and the command that makes one, where this experiment can be asked."""
    reasons = {one.name: why_not(one, run) for one in entries("studies") if one.figure == each.name}
    possible = [name for name, reason in reasons.items() if not reason]
    if not possible:
        return f"it is drawn from a study, and {next(iter(reasons.values()))}"
    command = pasted(["glassformer", "study", possible[0], run.experiment.name if run else "EXPERIMENT"])
    return f"it is drawn from a study, and {root}/ has none; `{command}` makes one"


def _about(subject: Subject) -> dict[str, Any] | None:
    """What a client must know of a run or a study to choose options within it."""
    from glassformer.run import Run

    if subject is None:
        return None
    a, task = subject.experiment.architecture, subject.experiment.task
    known = {"name": subject.name, "experiment": subject.experiment.name, "title": subject.experiment.title}
    if not isinstance(subject, Run):
        return {"kind": "study", **known}
    return {"kind": "run", **known, "status": subject.status, "steps": subject.steps.tolist(), "seeds": subject.seeds,
            "blocks": a.blocks, "heads": a.heads, "context": a.context, "vocabulary": task.vocabulary,
            "examples": task.showcase}  # fmt: skip


def _places(kind: str) -> Mapping[str, str]:
    return _discover.places(import_module(f"glassformer.{kind}"))


def _analysis(name: str) -> ModuleType:
    from glassformer import analyses

    return _discover.file(analyses, name)


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')


def _claims(path: Path) -> Iterator[tuple[str, str]]:
    """The claims of a file: the first two words of each `@claim`."""
    import ast

    for node in ast.parse(path.read_text("utf-8")).body:
        for made in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(made, ast.Call) and ast.unparse(made.func) == "claim":
                yield ast.literal_eval(made.args[0]), ast.literal_eval(made.args[1])


def _folder(kind: str) -> Path:
    return Path(str(resources.files("glassformer"))) / kind
