"""Numbers, lists and foreign texts as people read them."""

import os
import re
import shlex
from collections.abc import Sequence
from math import isfinite

# What a terminal or a browser obeys instead of showing: controls, marks that turn the direction of writing, line ends
# that are none elsewhere, and halves of characters.
UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    r"""The same text, fit to be shown: new lines and tabs stay, whatever else would be obeyed is written as \uXXXX.

    Inside a JSON string that is the same character, so a line of JSON stays one, with the same meaning.
    """
    return UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def pasted(words: Sequence[str]) -> str:
    """Words as one types them into a shell, in quotes where they need some."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    return shlex.join(words)


def percent(share: float) -> str:
    """84 %, 3.2 %, 0.4 %: two digits that count."""
    if not isfinite(share):
        return "not a number"
    number = f"{100 * share:.1f}" if abs(share) < 0.0995 and round(100 * share, 1) % 1 else f"{100 * share:.0f}"
    return f"{number} %"


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


def capital(text: str) -> str:
    """With a capital letter, as a sentence begins."""
    return text[:1].upper() + text[1:]


def listed(words: list[str]) -> str:
    """one, two and three."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"
