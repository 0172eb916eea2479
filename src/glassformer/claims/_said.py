"""Numbers over seeds as a sentence has them."""

from collections.abc import Callable

from glassformer.claims._claim import Number
from glassformer.study import Spread


def share(number: Number, digits: int = 1) -> str:
    """A share in percent: `98.1 % [97.6, 98.2]`."""
    return _with_interval(number, lambda each: f"{100 * each:.{digits}f}", " %")


def steps(number: Number) -> str:
    """A number of steps; never, where no seed got there."""
    return _with_interval(number, lambda each: "never" if each != each else f"{each:,.0f}")


def fixed(number: Number, digits: int = 3) -> str:
    """A number with so many digits: `2.213 [2.196, 2.249]`."""
    return _with_interval(number, lambda each: f"{each:.{digits}f}")


def _with_interval(number: Number, text: Callable[[float], str], unit: str = "") -> str:
    if not isinstance(number, Spread):
        return f"{text(number)}{unit}"
    middle, low, high = (text(each) for each in (number.median, number.low, number.high))
    return f"{middle}{unit}" if low == high else f"{middle}{unit} [{low}, {high}]"
