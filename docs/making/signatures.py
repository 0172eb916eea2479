"""How docstrings and signatures of the package become pages: a Sphinx extension.

Docstrings are plain text with `names` in backticks, aligned lines and examples. Types that carry an `Option` for people
are shown without it; the table of options beside a function tells what it says.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from sphinx.application import Sphinx
from sphinx.util.inspect import signature as known
from sphinx.util.inspect import stringify_signature

from glassformer.analyses._options import Option

CODE = re.compile(r"`([^`]+)`")
LISTED = re.compile(r"(\S.*?) {2,}(\S.*)")  # a word, a gap, what it means


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True}


def docstring(_app: Sphinx, _what: str, _name: str, _it: Any, _options: Any, lines: list[str]) -> None:
    """In place, as autodoc wants it."""
    lines[:] = as_rst("\n".join(lines)).split("\n")


def signature(_app: Sphinx, what: str, _name: str, it: Any, _options: Any, _said: str, _back: str) -> Any:
    """Parameters with their types, and what comes back; None leaves it to autodoc."""
    if what not in ("function", "method"):
        return None
    found = known(it, bound_method=what == "method")
    plain = [each.replace(annotation=bare(each.annotation)) for each in found.parameters.values()]
    written = stringify_signature(found.replace(parameters=plain), unqualified_typehints=True)
    given, _, back = written.partition(" -> ")
    return given, back


def bare(kind: Any) -> Any:
    """A type without the words for people that it carries."""
    if any(isinstance(each, Option) for each in getattr(kind, "__metadata__", ())):
        return get_args(kind)[0]
    return kind if get_origin(kind) is not inspect.Parameter.empty else inspect.Parameter.empty


def as_rst(text: str) -> str:
    """A docstring as reStructuredText: paragraphs, lists of words with their meanings, and what is indented."""
    parts = re.split(r"\n\s*\n", text.strip("\n"))
    return "\n\n".join(_paragraph(part) for part in parts if part.strip())


def _paragraph(part: str) -> str:
    lines = part.split("\n")
    if lines[0].lstrip().startswith(">>>"):
        return part
    if len(lines) > 1 and all(LISTED.fullmatch(line) or line.startswith("  ") for line in lines):
        return "\n".join(_listed(lines))
    if lines[0].startswith(" "):
        return "::\n\n" + "\n".join(f"    {line}" for line in lines)
    return "\n".join(_line(line.strip()) for line in lines)


def _listed(lines: list[str]) -> Iterator[str]:
    """Words with their meanings, which may go on in the next line."""
    for line in lines:
        if found := None if line.startswith(" ") else LISTED.fullmatch(line):
            yield f"{_line(found[1])}\n    {_line(found[2])}"
        else:
            yield f"    {_line(line.strip())}"


def _line(line: str) -> str:
    """Names as code, and nothing else as a mark."""
    pieces = CODE.split(line)
    for k in range(0, len(pieces), 2):
        pieces[k] = re.sub(r"([\\*|_`])", r"\\\1", pieces[k])
    for k in range(1, len(pieces), 2):
        joined = pieces[k + 1][:1].isalnum()
        pieces[k] = f"``{pieces[k].strip()}``" + ("\\ " if joined else "")
    return "".join(pieces)
