"""The link that opens the page where one wants: the fields of frontend/src/page/page.ts, as far as they are asked for."""

from collections.abc import Sequence
from typing import Any

from glassformer.errors import CallError, LimitError, unknown

VERSION = "v1"
MOST = 4096  # characters
MODES = ("watch", "predict", "change", "train", "compare")
UNESCAPED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")


def link(**fields: Any) -> str:
    """`#v1&step=5000&mode=watch`: what is None, or empty, is as on a page that nobody has touched; "" if all is."""
    given = {name: str(value) for name, value in fields.items() if value is not None and value != ""}
    if not given:
        return ""
    made = "#" + "&".join([VERSION, *(f"{name}={_escaped(value)}" for name, value in given.items())])
    if len(made) > MOST:
        raise LimitError(f"the link has {len(made):,} characters; the most is {MOST:,}: give a shorter input or fewer edits")
    return made


def mode(name: str) -> str:
    """The name of a mode, if there is one."""
    if name not in MODES:
        raise unknown(name, "the modes", MODES)
    return name


def _escaped(text: str) -> str:
    """As JavaScript's encodeURIComponent writes it."""
    return "".join(chr(byte) if byte in UNESCAPED else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))
