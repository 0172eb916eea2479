"""Numbers and lists as people read them."""

from math import isfinite


def percent(share: float) -> str:
    """84 %, 3.2 %, 0.4 %: two digits that count."""
    if not isfinite(share):
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
