"""Numbers, formulas and paragraphs for the three views: everything that turns a result into text."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from glassformer.words import thousands

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "\u2212"
SIGN = re.compile(r"_\{([^}]*)\}|\^\{([^}]*)\}|_(\w)|\^(\S)|([A-Za-zℓαηεδθ]+)|(.)", re.S)
UPRIGHT = {"ln", "LN", "KL"}  # as are all longer names


@dataclass(frozen=True)
class Part:
    """One stretch of a view: paragraphs of HTML, perhaps a formula before them, a figure after, remarks at the end."""

    heading: str
    paragraphs: Sequence[str]
    formulas: Sequence[str] = ()
    figure: str = ""  # the name under which the page finds it
    remarks: Sequence[str] = ()  # against the source; empty ones are left out
    table: Sequence[Sequence[str]] = ()  # the first row is the head
    points: Sequence[str] = ()


@dataclass(frozen=True)
class View:
    """One telling of the result."""

    title: str
    reader: str
    lead: Sequence[str]
    parts: Sequence[Part] = field(default_factory=tuple)


def number(x: float, digits: int = 3) -> str:
    """A few digits that count, never in computer notation: 0.0148, 12 400, 2.8 × 10⁻⁶."""
    if x == 0:
        return "0"
    if not 1e-3 <= abs(x) < 1e5:
        mantissa, _, exponent = f"{x:.{max(digits - 1, 1)}e}".partition("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}".replace("-", MINUS)
    if abs(x) >= 10 ** (digits - 1):
        return thousands(round(x)).replace("-", MINUS)
    return f"{float(f'{x:.{digits}g}'):f}".rstrip("0").rstrip(".").replace("-", MINUS)


def nats(x: float) -> str:
    """An entropy, a loss or a temperature: three digits behind the point, more where that would round to nothing."""
    return number(x, 2) if abs(x) < 0.001 else f"{x + 0.0:.3f}".replace("-", MINUS)


def degrees(x: float) -> str:
    """A temperature: four digits that count, so that 0.9966 is not taken for 1."""
    return number(x, 4)


def power(x: float) -> str:
    """A chance as a share: 98.9 %, 1.48 %, and small ones as they are."""
    if 0 < x < 1e-4:
        return number(x, 2)
    if 0.9995 <= x < 1:
        return f"{100 * x:.3f} %" if x < 0.999995 else "more than 99.999 %"
    return f"{float(f'{100 * x:.3g}'):g} %"


def many(count: int, word: str) -> str:
    """1 step, 60 steps."""
    return f"{thousands(count)} {word}" if count == 1 else f"{thousands(count)} {word}s"


def formula(written: str) -> str:
    """HTML from plain writing: `p_i = e^{ℓ_i/T}`. Single letters become slanted, names of functions stay upright."""

    def turn(found: re.Match[str]) -> str:
        low, high, low1, high1, letters, other = found.groups()
        if low is not None or low1 is not None:
            return f"<sub>{formula(low if low is not None else low1)}</sub>"
        if high is not None or high1 is not None:
            return f"<sup>{formula(high if high is not None else high1)}</sup>"
        if letters is not None:
            return letters if letters in UPRIGHT or len(letters) > 2 else f"<var>{letters}</var>"
        return html.escape(other, quote=False)

    return SIGN.sub(turn, written)
