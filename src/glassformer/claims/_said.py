"""Numbers over seeds as a sentence has them."""

from glassformer.claims._claim import Number
from glassformer.study import Spread


def share(number: Number, digits: int = 1) -> str:
    """A share in percent: `98.1 % [97.6, 98.2]`."""
    if not isinstance(number, Spread):
        return f"{100 * number:.{digits}f} %"
    middle, low, high = (f"{100 * each:.{digits}f}" for each in (number.median, number.low, number.high))
    return f"{middle} %" if low == high else f"{middle} % [{low}, {high}]"


def steps(number: Number) -> str:
    """A number of steps; never, where no seed got there."""
    if not isinstance(number, Spread):
        return f"{number:,.0f}"
    middle, low, high = (
        "never" if each != each else f"{each:,.0f}" for each in (number.median, number.low, number.high)
    )
    return middle if low == high else f"{middle} [{low}, {high}]"


def fixed(number: Number, digits: int = 3) -> str:
    """A number with so many digits: `2.213 [2.196, 2.249]`."""
    if not isinstance(number, Spread):
        return f"{number:.{digits}f}"
    middle, low, high = (f"{each:.{digits}f}" for each in (number.median, number.low, number.high))
    return middle if low == high else f"{middle} [{low}, {high}]"
