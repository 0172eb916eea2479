"""What every analysis returns: labelled numbers and plain facts, complete, typed and portable."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from inspect import get_annotations, signature
from itertools import product
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeAlias, TypeVar, dataclass_transform
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from glassformer import glossary, notebook
from glassformer import plain as codec
from glassformer.errors import unknown
from glassformer.trace import library
from glassformer.words import capital as capital
from glassformer.words import listed as listed
from glassformer.words import percent as percent
from glassformer.words import power as power
from glassformer.words import shown
from glassformer.words import thousands as thousands

if TYPE_CHECKING:
    import pandas
    import xarray

Array = NDArray[Any]
Place: TypeAlias = int | float | str | tuple[int | float | str, ...]  # of an axis
Table = tuple[list[str], Iterator[tuple[Any, ...]]]
P = ParamSpec("P")
R = TypeVar("R")

MOST_FACT = 200  # characters of a fact that a notebook shows
REMEMBERED = 64  # results per run that `shared` keeps


@dataclass(frozen=True)
class Axis:
    """The places along an axis: what they are, numbers where they are numbers, and what people call them."""

    values: tuple[Place, ...]
    words: tuple[str, ...] = ()  # (): people call them by their values
    unit: str = ""
    kind: str = ""  # token, position, step, ...: follows from the axis's name

    @property
    def labels(self) -> tuple[str, ...]:
        """What people call the places; equal labels are told apart by their values."""
        return self.words or tuple(f"{each:.4g}" if isinstance(each, float) else str(each) for each in self.values)

    def __len__(self) -> int:
        return len(self.values)

    def plain(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {"kind": self.kind, "values": codec.given(self.values)} | {
            name: codec.given(value) for name, value in (("words", self.words), ("unit", self.unit)) if value
        }

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Self:
        """The equal axis from `plain`."""
        values = tuple(tuple(each) if isinstance(each, list) else each for each in given["values"])
        none = given["kind"] == "quantity" and {"NaN", *codec.SPECIAL.values()}.issuperset(values)
        if none or any(isinstance(each, float) for each in values):
            values = tuple(float(each) if isinstance(each, str) else each for each in values)
        return cls(values, tuple(given.get("words", ())), given.get("unit", ""), given["kind"])


class Labelled:
    """An array whose every axis has a name of the glossary, and every place along it a value and a label."""

    def __init__(self, values: Array, axes: Mapping[str, Axis | Iterable[Any]], unit: str = "") -> None:
        self.values, self.unit = values, unit
        self.axes: dict[str, Axis] = {name: _axis(name, places) for name, places in axes.items()}
        sizes = tuple(len(each) for each in self.axes.values())
        if sizes != np.shape(values):
            raise ValueError(f"places for a shape {sizes} do not fit values of shape {np.shape(values)}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labelled) and self.plain() == other.plain()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Labelled({' × '.join(f'{name} {len(axis)}' for name, axis in self.axes.items())})"

    def _repr_html_(self) -> str:
        axes = {name: axis.labels for name, axis in self.axes.items()}
        unit = f"<p>{notebook.text(self.unit)}</p>" if self.unit else ""
        return notebook.array(np.asarray(self.values), axes) + unit

    def plain(self) -> dict[str, Any]:
        """Everything, as JSON values; the numbers in one row, the last axis fastest (see `plain.row`)."""
        values = np.asarray(self.values)
        axes = {name: axis.plain() for name, axis in self.axes.items()}
        return {"axes": axes, "unit": self.unit, "dtype": values.dtype.str} | codec.row(values)

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Self:
        """The equal array from `plain`."""
        axes = {name: Axis.from_plain(each) for name, each in given["axes"].items()}
        values = codec.unrolled(given).reshape([len(axis) for axis in axes.values()])
        return cls(values, axes, given["unit"])


def _axis(name: str, places: Axis | Iterable[Any]) -> Axis:
    kind = glossary.kind(name)
    if kind is None:
        raise unknown(name, "the axes of the glossary", [*glossary.AXES, *(f"{each}..." for each in glossary.AGAIN)])
    if isinstance(places, Axis):
        return places if places.kind == kind else replace(places, kind=kind)
    listed = places.tolist() if isinstance(places, np.ndarray) else places
    return Axis(tuple(each.item() if isinstance(each, np.generic) else each for each in listed), kind=kind)


@dataclass(frozen=True)
class Words:
    """A title that is a sentence true of the numbers, how to read the picture, and what it shows to who cannot see."""

    title: str
    caption: str
    alt: str


@dataclass_transform(kw_only_default=True, frozen_default=True)
def result(kind: type[R]) -> type[R]:
    """A class of results: frozen, its fields given by name, each of a type that can be given as plain values."""
    for name in get_annotations(kind):
        if any(name in vars(above) and name not in above.__annotations__ for above in kind.__mro__[1:-1]):
            raise TypeError(f"{kind.__name__}.{name}: every result has something of this name")
    made = dataclass(frozen=True, kw_only=True, eq=False, repr=False)(kind)
    for name, each in codec.hints(made).items():
        if wrong := codec.untold(each):
            raise TypeError(f"{kind.__name__}.{name}: {wrong} cannot be given as plain values")
    return made


@result
class Result:
    """Labelled arrays and plain facts about one subject; `clock` is the text at the top right of its figure."""

    step: int | None = None  # None: about the whole life, or about no model
    clock: str = ""
    truth_known: bool = True  # whether the true chances are known; of a text they are not, and a count table stands in
    held_out: bool = True  # whether it is judged on what training did not see; what is learnt by heart has no such

    @property
    def title(self) -> str:
        """What the numbers say, as one sentence without a full stop."""
        return self.title_of()

    def title_of(self) -> str:
        """The same; where a figure shows a part of them, it can be asked for the sentence of that part."""
        return ""

    @property
    def predictor(self) -> str:
        """Who judges: the exact predictor, or for a text the best table of counts."""
        return "the exact predictor" if self.truth_known else "the best table of counts"

    @property
    def whose(self) -> str:
        """What the windows are on which it is judged."""
        return "held-out" if self.held_out else "judged"

    @property
    def of_part(self) -> str:
        """The part of the data that the windows are from; what is learnt by heart has only one."""
        return "validation" if self.held_out else "training"

    @property
    def least(self) -> str:
        """What excess is counted from: the least loss there is, or for a text what stands in for it."""
        return "the floor" if self.truth_known else "the best table of counts"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and type(self) is type(other) and self.plain() == other.plain()

    def __repr__(self) -> str:
        """What it says and what it holds; the numbers themselves are in its arrays."""
        lines = [f"  {name}: {array!r}" for name, array in self.arrays().items()]
        clock = f" ({shown(self.clock)})" if self.clock else ""
        return "\n".join([f"<{type(self).__name__}: {shown(self.title)}{clock}", *lines]) + ">"

    def _repr_html_(self) -> str:
        facts = notebook.table([(name, _short(value)) for name, value in self.facts().items()], caption="facts")
        arrays = [notebook.details(f"{name}: {array!r}", array._repr_html_()) for name, array in self.arrays().items()]
        told = f"<p>{notebook.text(self.title)}</p><p><small>{notebook.text(self.clock)}</small></p>"
        return f"{told}{''.join(arrays)}{facts}"

    __hash__ = object.__hash__  # by identity: results are large, and remembered by what they were asked

    def plain(self) -> dict[str, Any]:
        """Everything, recursively, as JSON values: whose result it is, its title, and every field."""
        about = {"result": f"{type(self).__module__.rpartition('.')[2]}.{type(self).__name__}", "title": self.title}
        return about | {field.name: codec.given(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Self:
        """The equal result from `plain`."""
        return cls(**{name: codec.taken(kind, given[name]) for name, kind in codec.hints(cls).items()})

    def arrays(self) -> dict[str, Labelled]:
        """Every labelled array by name; those inside tables, tuples and other results as `name.key`."""
        return dict(_arrays(self, ""))

    def facts(self) -> dict[str, Any]:
        """All that is no labelled array, by name, as plain values."""
        return {
            field.name: codec.given(value)
            for field in fields(self)
            if field.name != "clock" and not dict(_arrays(value := getattr(self, field.name), ""))
        }

    @property
    def size(self) -> int:
        """How many numbers the arrays hold."""
        return sum(int(np.size(each.values)) for each in self.arrays().values())

    def table(self) -> Table:
        """The arrays in long form: panel, value and label on each axis, unit, value. What an array has not is ''."""
        arrays = self.arrays()
        named = {axis: False for each in arrays.values() for axis in each.axes}
        for each in arrays.values():
            named |= {name: True for name, axis in each.axes.items() if axis.words}

        def cells(each: Labelled) -> list[list[tuple[Any, ...]]]:
            """For each axis of the table, the cells of each place."""
            found = []
            for name, axis in each.axes.items():
                places = [each if not isinstance(each, tuple) else " ".join(map(str, each)) for each in axis.values]
                found.append(list(zip(places, axis.labels, strict=True)) if named[name] else [(one,) for one in places])
            return found

        def rows() -> Iterator[tuple[Any, ...]]:
            for panel, each in arrays.items():
                order = {name: k for k, name in enumerate(each.axes)}
                empty = {name: ("", "") if labelled else ("",) for name, labelled in named.items()}
                values = np.asarray(each.values).ravel().tolist()
                for at, value in zip(product(*cells(each)), values, strict=True):
                    row = [cell for name in named for cell in (at[order[name]] if name in order else empty[name])]
                    yield (panel, *row, each.unit, value)

        columns = [column for name, two in named.items() for column in ((name, f"{name}_label") if two else (name,))]
        return ["panel", *columns, "unit", "value"], rows()

    def to_pandas(self) -> "pandas.DataFrame":
        """The arrays in long form, one row per number."""
        pandas = library("pandas")
        columns, rows = self.table()
        return pandas.DataFrame(rows, columns=columns)

    def to_xarray(self) -> "xarray.Dataset":
        """The arrays with real coordinates; labels that differ from the values stand in `AXIS_label`.

        Where two arrays use one axis for different places, the second's is `ARRAY.AXIS`. The facts are attributes.
        """
        dataset: type[xarray.Dataset] = library("xarray").Dataset
        coordinates: dict[str, Axis] = {}
        variables = {}
        for panel, each in self.arrays().items():
            dimensions = []
            for name, axis in each.axes.items():
                own = name if coordinates.setdefault(name, axis) == axis else f"{panel}.{name}"
                coordinates[own] = axis
                dimensions.append(own)
            variables[panel] = (dimensions, np.asarray(each.values), {"unit": each.unit})
        known: dict[str, Any] = {}
        for name, axis in coordinates.items():
            about = {"kind": axis.kind} | ({"unit": axis.unit} if axis.unit else {})
            pairs = [place for place in axis.values if isinstance(place, tuple)]
            for k in range(len(pairs[0]) if pairs else 0):
                part = ("token", "position")[k] if axis.kind == "pair" else str(k)
                known[f"{name}_{part}"] = (name, [place[k] for place in pairs], about)
            known |= {} if pairs else {name: (name, list(axis.values), about)}
            known |= {f"{name}_label": (name, list(axis.labels))} if axis.words or pairs else {}
        facts = {name: value if isinstance(value, str | int | float) else repr(value) for name, value in
                 ({"title": self.title, "clock": self.clock} | self.facts()).items()}  # fmt: skip
        return dataset(variables, known, facts)


def _short(value: Any) -> str:
    said = str(value)
    return said if len(said) <= MOST_FACT else f"{said[:MOST_FACT]}…"


def _arrays(value: Any, above: str) -> Iterator[tuple[str, Labelled]]:
    """Every labelled array in a value, under the name of its way there."""
    if isinstance(value, Labelled):
        yield above, value
        return
    if is_dataclass(value):
        inside: Iterable[tuple[Any, Any]] = [(field.name, getattr(value, field.name)) for field in fields(value)]
    elif isinstance(value, Mapping):
        inside = value.items()
    elif isinstance(value, tuple | list):
        inside = enumerate(value)
    else:
        return
    for name, each in inside:
        yield from _arrays(each, f"{above}.{name}" if above else str(name))


FATES = {
    "diverged": "the training has diverged",
    "unfinished": "the training is not finished",
    "untrained": "the model is not trained yet",
}


def fate(said: str, step: int | None = None, *, since: int | None = None, lot: str = "diverged") -> str:
    """The one sentence about a subject that cannot be read as usual.

    `fate("the weights are not numbers", 5000)` is "At step 5 000 the weights are not numbers: the training has
    diverged"; `since` says from which step on; without either no step is named.
    """
    when = f"At step {thousands(step)} " if step is not None else ""
    when = f"From step {thousands(since)} on " if since is not None else when
    told = f"{when}{said}: {FATES[lot]}"
    return capital(told)


def lost(who: str, many: int = 1) -> str:
    """The same of some among several: `seeds 6 and 7 have diverged`."""
    return f"{who} {'has' if many == 1 else 'have'} diverged"


_known: WeakKeyDictionary[Any, OrderedDict[Any, Any]] = WeakKeyDictionary()


def shared(analyse: Callable[P, R]) -> Callable[P, R]:
    """Remember what an analysis found, so that figures of one run share it: an opened run never changes."""
    usual = frozenset((name, each.default) for name, each in signature(analyse).parameters.items())

    @wraps(analyse)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            call = (analyse, args[1:], frozenset(kwargs.items()) - usual)
            known = _known.setdefault(args[0], OrderedDict())
        except TypeError:
            return analyse(*args, **kwargs)
        if call not in known:
            known[call] = analyse(*args, **kwargs)
            while len(known) > REMEMBERED:
                known.popitem(last=False)
        return known[call]

    return within


def numbers(count: int) -> tuple[int, ...]:
    """Places 0, 1, 2, ... of an axis."""
    return tuple(range(count))
