"""Arithmetic as it is printed: read, computed anew, and written so that it is true to its last digit."""

import math
import re
from collections.abc import Callable, Iterable

FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": math.exp,
    "ln": math.log,
    "max": max,
    "tanh": math.tanh,
    "√": math.sqrt,
}
TOKEN = re.compile(r"\s*(\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?|[A-Za-z√]+|[-+−·×*/÷^²(),|])")
NUMBER = re.compile(r"\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?")
CODE_OR_MINUS = re.compile(r"(```.*?```|`[^`]*`)|(?<![\w)])-(?=\d)", re.DOTALL)


def equation(expression: str, value: float, digits: int = 4) -> str:
    """`expression = value`, with as many digits behind the point, up to `digits`, as the printed operands give.

    Operands that are rounded for printing may come to a last digit that differs from the value's: it is left away
    then, and the sign says "about". An expression that comes to something else is refused.
    """
    found = computed(expression)
    for kept in range(digits, -1, -1):
        text = written(value, kept)
        if written(found, kept) == text and (kept or digits == 0 or abs(value) >= 10):
            exact = kept == digits and abs(found - value) < 1e-9 and abs(found - round(found, kept)) < 1e-9
            return f"{expression} {'=' if exact else '≈'} {_trimmed(text) if exact else text}".replace("-", "−")
    raise ValueError(f"{expression} comes to {found}, not to {value}")


def computed(expression: str) -> float:
    """What an expression comes to: numbers, + − × / ^ ², brackets, exp, ln, max, tanh and √."""
    tokens = _tokens(expression)
    value, rest = _sum(tokens)
    if rest:
        raise ValueError(f"{expression!r} cannot be read from {rest[0]!r} on")
    return value


def written(value: float, digits: int = 2) -> str:
    """A number with so many digits behind the point and a true minus sign; what rounds to nothing has none."""
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def with_signs(text: str) -> str:
    """A text whose negative numbers have a true minus sign; what stands in code stays as it is typed."""
    return CODE_OR_MINUS.sub(lambda found: found[1] or "−", text)


def factor(value: float, digits: int = 2) -> str:
    """The same within an expression: a negative number in brackets."""
    text = written(value, digits)
    return f"({text})" if text.startswith("−") else text


def products(left: Iterable[float], right: Iterable[float], digits: int | tuple[int, int] = 2) -> str:
    """A sum of products to be printed: `0.80 × 0.60 + 0.20 × (−0.40)`; the two sides may differ in digits."""
    of_left, of_right = digits if isinstance(digits, tuple) else (digits, digits)
    pairs = zip(left, right, strict=True)
    return " + ".join(f"{factor(x, of_left)} × {factor(y, of_right)}" for x, y in pairs)


def _tokens(expression: str) -> list[str]:
    found, place = [], 0
    text = expression.rstrip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if not match:
            raise ValueError(f"{expression!r} cannot be read from {text[place:]!r} on")
        token = match[1]
        if NUMBER.fullmatch(token) and token.endswith(","):  # a comma between two arguments
            token, match_end = token.rstrip(","), match.end() - 1
        else:
            match_end = match.end()
        found.append(token)
        place = match_end
    return found


def _sum(tokens: list[str]) -> tuple[float, list[str]]:
    value, tokens = _product(tokens)
    while tokens and tokens[0] in "+-−":
        sign = 1 if tokens[0] == "+" else -1
        term, tokens = _product(tokens[1:])
        value += sign * term
    return value, tokens


def _product(tokens: list[str]) -> tuple[float, list[str]]:
    value, tokens = _power(tokens)
    while tokens and tokens[0] in "·×*/÷":
        divide = tokens[0] in "/÷"
        factor, tokens = _power(tokens[1:])
        value = value / factor if divide else value * factor
    return value, tokens


def _power(tokens: list[str]) -> tuple[float, list[str]]:
    if tokens and tokens[0] in "-−":
        value, tokens = _power(tokens[1:])
        return -value, tokens
    value, tokens = _atom(tokens)
    while tokens and tokens[0] in "^²":
        exponent, tokens = (2.0, tokens[1:]) if tokens[0] == "²" else _atom(tokens[1:])
        value = value**exponent
    return value, tokens


def _atom(tokens: list[str]) -> tuple[float, list[str]]:
    if not tokens:
        raise ValueError("an expression ends where a number should stand")
    head, *rest = tokens
    if NUMBER.fullmatch(head):
        return float(head.replace(",", "")), rest
    if head == "(":
        value, rest = _sum(rest)
        return value, _closed(rest)
    if head in FUNCTIONS:
        if head == "√" and rest and rest[0] != "(":
            value, rest = _atom(rest)
            return math.sqrt(value), rest
        if not rest or rest[0] != "(":
            raise ValueError(f"{head} is followed by no bracket")
        value, rest = _sum(rest[1:])
        values = [value]
        while rest and rest[0] == ",":
            value, rest = _sum(rest[1:])
            values.append(value)
        return float(FUNCTIONS[head](*values)), _closed(rest)
    raise ValueError(f"{head!r} stands where a number should stand")


def _closed(tokens: list[str]) -> list[str]:
    if not tokens or tokens[0] != ")":
        raise ValueError("a bracket is not closed")
    return tokens[1:]


def _trimmed(text: str) -> str:
    """Without zeros at the end that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text else text
