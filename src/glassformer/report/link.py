"""The link that opens the page where one wants: those fields of frontend/src/page/page.ts that are asked for."""

import re
from collections.abc import Iterable
from typing import Any

from glassformer.errors import LimitError, unknown

VERSION = "v1"
MOST = 4096  # characters
MODES = ("watch", "predict", "change", "train", "compare")
CONTROLS = (  # what the page can be without
    "modes", "tools", "runs", "play", "steps", "speed", "jump", "train", "input", "examples", "temperature", "next",
    "edits", "panels", "look", "menus",
)  # fmt: skip
PANELS = (  # by name, as frontend/src/panels has them
    "analyses", "attention", "curves", "embedding", "feed_forward", "landscape", "neurons", "output", "query_key",
    "residual", "scores", "stream", "thermodynamics", "updates", "values", "weights",
)  # fmt: skip
UNESCAPED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")


def link(**fields: Any) -> str:
    """`#v1&step=5000&mode=watch`: what is None, or empty, is as on a page that nobody has touched; "" if all is."""
    given = {name: str(value) for name, value in fields.items() if value is not None and value != ""}
    if not given:
        return ""
    made = "#" + "&".join([VERSION, *(f"{name}={escaped(value)}" for name, value in given.items())])
    if len(made) > MOST:
        raise LimitError(f"the link has {len(made):,} characters; the most is {MOST:,}: shorten the input or the edits")
    return made


def fields(link: str) -> dict[str, str]:
    """What a link says, by the names of its fields; nothing if it is none of this version."""
    version, *parts = link.removeprefix("#").split("&")
    if version != VERSION:
        return {}
    named = (part.partition("=") for part in parts)
    return {name: _unescaped(value) for name, _, value in named}


def mode(name: str | None) -> str | None:
    """The name of a mode, if there is one."""
    if name is not None and name not in MODES:
        raise unknown(name, "the modes", MODES)
    return name


def hidden(names: str | None) -> str:
    """Names of controls with commas, as the page wants them."""
    found = [name.strip() for name in (names or "").split(",")] if names is not None else []
    for name in found:
        if name not in CONTROLS:
            raise unknown(name, "the controls of the page", CONTROLS)
    return ",".join(dict.fromkeys(found))


def panels(names: Iterable[str]) -> str:
    """Names of panels, as the page wants them."""
    found = list(names)
    for name in found:
        if name not in PANELS:
            raise unknown(name, "the panels of the page", PANELS)
    return ",".join(found)


def escaped(text: str) -> str:
    """As JavaScript's encodeURIComponent writes it."""
    return "".join(chr(byte) if byte in UNESCAPED else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))


def _unescaped(text: str) -> str:
    """As JavaScript's decodeURIComponent reads it."""
    codes = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode("utf-8", "replace"))
    return codes.decode("utf-8", "replace")
