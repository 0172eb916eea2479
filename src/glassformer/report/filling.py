"""The built page, filled: its policy, its title and the blocks of data it reads."""

import base64
import hashlib
import html
import re
from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable

from glassformer.errors import DamagedError, MissingError
from glassformer.report.blocks import block
from glassformer.words import shown

POLICY, DATA, TITLE = "<!--glassformer:policy-->", "<!--glassformer:data-->", "<title>Glassformer</title>"
ELEMENT = r"<{0}(?:\s[^>]*)?>(.*?)</{0}\s*>"
BUILD = "`python hatch_build.py`, in the folder of the sources, builds it"
NOT_BUILT = f"the page that a report is made of is not built; {BUILD}"


def template() -> str:
    """The page as it was built with the package."""
    try:
        found = (_built() / "report.html").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingError(NOT_BUILT) from None
    for mark in (POLICY, DATA, TITLE):
        if found.count(mark) != 1:
            raise DamagedError(f"the page that a report is made of has {found.count(mark)} {mark}, not one; {BUILD}")
    return found


def further() -> list[str]:
    """What the page needs beside its first screen, as blocks: its second script, and its words in every language."""
    folder = _built() / "words"
    try:
        files = sorted(folder.iterdir(), key=lambda each: each.name)
        script = _second()
    except FileNotFoundError:
        raise MissingError(NOT_BUILT) from None
    words = [block(f"words/{file.name.removesuffix('.json')}", file.read_bytes()) for file in files]
    return [block("further", script), *words]


def filled(page: str, title: str, blocks: Iterable[str]) -> str:
    """The page with its policy, a title, and these blocks."""
    seal = f'<meta http-equiv="Content-Security-Policy" content="{policy(page)}">'
    named = page.replace(POLICY, seal).replace(TITLE, f"<title>{html.escape(shown(title))}</title>")
    before, after = named.split(DATA)
    return "".join([before, *blocks, after])


def policy(page: str) -> str:
    """What the file may do: run its own two scripts and no other, and ask nobody for anything.

    Blocks of data are no scripts, so they need no hash; the worker is made from the page's own text, as a blob. The
    second script lies in a block, too: the page runs it as an element, which the policy knows by its hash.
    """
    scripts, styles = (_hashes(re.findall(ELEMENT.format(kind), page, re.DOTALL)) for kind in ("script", "style"))
    second = _hashes([_second().decode("utf-8")])
    return (
        f"default-src 'none'; script-src {scripts} {second}; style-src {styles}; img-src data: blob:; "
        "worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _built() -> Traversable:
    return resources.files("glassformer") / "web" / "static"


def _second() -> bytes:
    return (_built() / "further.js").read_bytes()


def _hashes(inside: Iterable[str]) -> str:
    """The sha256 of the text of every element, as a policy names them."""
    sums = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inside)
    return " ".join(f"'sha256-{each}'" for each in sums) or "'none'"
