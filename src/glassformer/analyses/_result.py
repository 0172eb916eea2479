"""What every analysis returns: labelled numbers, and the words that say what they show."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from itertools import product
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Axes = Mapping[str, tuple[str, ...]]
Table = tuple[list[str], Iterator[tuple[Any, ...]]]
P = ParamSpec("P")
R = TypeVar("R")

REMEMBERED = 64  # results per run that `shared` keeps


@dataclass(frozen=True)
class Labelled:
    """An array whose every axis has a name and every place along it a label."""

    values: Array
    axes: Axes  # axis → the label of each place, in the order of `values`
    unit: str = ""

    def __post_init__(self) -> None:
        sizes = tuple(len(labels) for labels in self.axes.values())
        if sizes != np.shape(self.values):
            raise ValueError(f"labels for a shape {sizes} do not fit values of shape {np.shape(self.values)}")


@dataclass(frozen=True)
class Words:
    """A title that is a sentence true of the numbers, how to read the picture, and what it shows to who cannot see."""

    title: str
    caption: str
    alt: str


@dataclass(frozen=True, kw_only=True)
class Result:
    """Labelled arrays and plain facts about one subject; `clock` is the text at the top right of its figure."""

    step: int | None = None  # None: about the whole life, or about no model
    clock: str = ""
    truth_known: bool = True  # whether the true chances are known; of a text they are not, and a count table stands in

    @property
    def predictor(self) -> str:
        """Who judges: the exact predictor, or for a text the best table of counts."""
        return "the exact predictor" if self.truth_known else "the best table of counts"

    @property
    def least(self) -> str:
        """What excess is counted from: the least loss there is, or for a text what stands in for it."""
        return "the floor" if self.truth_known else "the best table of counts"

    def arrays(self) -> dict[str, Labelled]:
        """Every labelled array by name; those in a table of arrays as `name.key`."""
        found: dict[str, Labelled] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Labelled):
                found[field.name] = value
            elif isinstance(value, Mapping):
                found |= {f"{field.name}.{key}": each for key, each in value.items() if isinstance(each, Labelled)}
        return found

    def facts(self) -> dict[str, Any]:
        """The plain numbers and texts, by name."""
        plain = (int, float, str, bool)
        return {
            field.name: value
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), plain) and field.name != "clock"
        }

    @property
    def size(self) -> int:
        """How many numbers the arrays hold."""
        return sum(int(np.size(each.values)) for each in self.arrays().values())

    def table(self) -> Table:
        """The arrays in long form: panel, the label on each axis, unit, value. Labels an array does not have are ''."""
        arrays = self.arrays()
        axes = list(dict.fromkeys(axis for each in arrays.values() for axis in each.axes))

        def rows() -> Iterator[tuple[Any, ...]]:
            for panel, each in arrays.items():
                place = {axis: k for k, axis in enumerate(each.axes)}
                columns = [place.get(axis, -1) for axis in axes]
                values = np.asarray(each.values).ravel().tolist()
                for names, value in zip(product(*each.axes.values()), values, strict=True):
                    yield (panel, *("" if k < 0 else names[k] for k in columns), each.unit, value)

        return ["panel", *axes, "unit", "value"], rows()


_known: WeakKeyDictionary[Any, OrderedDict[Any, Any]] = WeakKeyDictionary()


def shared(analyse: Callable[P, R]) -> Callable[P, R]:
    """Remember what an analysis found, so that figures of one run share it: an opened run never changes."""

    @wraps(analyse)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        call = (analyse, args[1:], tuple(sorted(kwargs.items())))
        try:
            hash(call)
            known = _known.setdefault(args[0], OrderedDict())
        except TypeError:
            return analyse(*args, **kwargs)
        if call not in known:
            known[call] = analyse(*args, **kwargs)
            while len(known) > REMEMBERED:
                known.popitem(last=False)
        found: R = known[call]
        return found

    return within


def numbers(count: int) -> tuple[str, ...]:
    """Labels 0, 1, 2, ... for an axis without words."""
    return tuple(map(str, range(count)))


def percent(share: float) -> str:
    """84 %, 3.2 %, 0.4 %: two digits that count."""
    if not np.isfinite(share):
        return "not a number"
    shown = f"{100 * share:.1f}" if abs(share) < 0.0995 and round(100 * share, 1) % 1 else f"{100 * share:.0f}"
    return f"{shown} %"


def thousands(number: int) -> str:
    """5 000: groups of three, set apart by narrow spaces that do not break."""
    return f"{number:,}".replace(",", "\u202f")


def power(value: float, digits: int = 1) -> str:
    """6.6 · 10⁻⁵, 10⁻³, 0.2 as 2 · 10⁻¹: so many digits that count, and a power of ten unless that is one."""
    number, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    number = number.replace("-", "\u2212")
    if int(exponent) == 0:
        return number
    raised = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return raised if float(number.replace("\u2212", "-")) == 1 and digits == 1 else f"{number} · {raised}"


def listed(words: list[str]) -> str:
    """one, two and three."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"
