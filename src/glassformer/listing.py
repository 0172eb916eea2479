"""Every setting of an experiment: its value here, its default, what it may be, and what it means."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from glassformer import own, settings, tasks
from glassformer.architecture import Architecture
from glassformer.errors import Error
from glassformer.experiment import Training, begun, load
from glassformer.settings import TABLES, Setting
from glassformer.tasks import Task

UNKNOWN = "(follows from the data)"
WIDE = 36  # characters before what a setting means


@dataclass(frozen=True)
class Line:
    """One setting of one experiment."""

    table: str
    about: Setting
    value: Any  # MISSING: nobody knows before the data are there; None: absent

    @property
    def here(self) -> str:
        """The value in this experiment, as one would write it."""
        if self.value is MISSING:
            return UNKNOWN if self.table == "architecture" else "(must be given)"
        return written(self.value)

    @property
    def default(self) -> str:
        """The value where an experiment says nothing."""
        return "" if self.about.default is MISSING else written(self.about.default)

    def plain(self) -> dict[str, Any]:
        """For programs."""
        given = {"value": self.value, "default": self.about.default}
        return {
            "table": self.table,
            "name": self.about.name,
            **{name: each for name, each in given.items() if each is not MISSING},
            "required": self.about.default is MISSING,
            "type": self.about.type,
            "optional": self.about.optional,
            **self.about.limits,
            **({"choices": list(self.about.choices)} if self.about.choices else {}),
            "meaning": self.about.meaning,
        }


def lines(experiment: str) -> tuple[type[Task], list[Line]]:
    """The task of an experiment, and every setting of its three tables."""
    tables, kind = begun(experiment)
    known = _values(experiment, tables)
    parts = {"data": kind, "architecture": Architecture, "train": Training}
    return kind, [
        Line(table, about, known[table].get(name, about.default))
        for table in TABLES
        for name, about in settings.described(parts[table]).items()
    ]


def _values(experiment: str, tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is set; with the data at hand also what follows from them."""
    try:
        return load(experiment).tables()
    except Error:  # a text or a table of one's own that was not named, or a corpus that is not here
        return {table: settings.table(tables, table) for table in TABLES}


def text(kind: type[Task], found: list[Line]) -> Iterator[str]:
    """For reading in a terminal: what the task is, then a line for each setting."""
    yield from about(kind).splitlines()
    for table in TABLES:
        inside = [(f"{line.about.name} = {line.here}", line) for line in found if line.table == table]
        wide = min(max((len(set_) for set_, _ in inside), default=0), WIDE)
        yield from ("", f"[{table}]")
        for set_, line in inside:
            usual = "no default" if not line.default else "the default" if line.default == line.here else (
                f"default {line.default}")  # fmt: skip
            yield f"{set_:{wide}}  {line.about.meaning} ({line.about.allowed}; {usual})"


def about(kind: type[Task]) -> str:
    """What a task is: the text of its file, and of its class."""
    from inspect import getdoc, getmodule

    module = getmodule(kind) if kind.__module__ != "__main__" else None
    said = [getdoc(each) or "" for each in (module, kind) if each is not None]
    return "\n\n".join(each for each in said if each)


def toml(experiment: str) -> str:
    """The settings of a task without a TOML of its own, as one."""
    tables, kind = begun(experiment)
    usual = {name: each.default for name, each in settings.described(kind).items() if each.default is not MISSING}
    written_out = [f"# glassformer --task {experiment} train THIS_FILE.toml", f"task = {json.dumps(own.word(kind))}"]
    for table in TABLES:
        values = {**(usual if table == "data" else {}), **settings.table(tables, table)}
        there = (f"{name} = {written(each)}" for name, each in values.items() if each is not None)
        written_out += ["", f"[{table}]", *there]
    return "\n".join(written_out) + "\n"


def page() -> str:
    """All settings there are, as the page docs/settings.md."""
    made = ["# Every setting", "", "Made by `glassformer show --all > docs/settings.md`. With the values of one "
            "experiment: `glassformer show EXPERIMENT --all`.", ""]  # fmt: skip
    made += ["Absent means that a setting is not there; `--set table.name=none` leaves it out.", ""]
    made += _section("[architecture]", Architecture) + _section("[train]", Training)
    made += ["## [data]", "", "The settings of the data are those of the task."]
    seed = settings.described(Task)["seed"]
    made += [f"Every task has `seed`: {seed.meaning} ({seed.allowed}; {written(seed.default)} if not set).", ""]
    for name in tasks.names():
        made += _section(f"[data] of {name}", tasks.find(name), ("seed",), "###")
    return "\n".join(made).rstrip() + "\n"


def _section(title: str, kind: type, without: tuple[str, ...] = (), mark: str = "##") -> list[str]:
    rows = [
        f"| `{name}` | {_cell(each.meaning)} | {_cell(each.allowed)} | "
        f"{'must be given' if each.default is MISSING else f'`{_cell(written(each.default))}`'} |"
        for name, each in settings.described(kind).items()
        if name not in without
    ]
    head = ["| setting | meaning | allowed | default |", "|---|---|---|---|"] if rows else ["None of its own."]
    return [f"{mark} {title}", "", *head, *rows, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def written(value: Any) -> str:
    """A value as TOML writes it; what is absent has no writing there."""
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:_}" if isinstance(value, int) else repr(value)
