"""Reports for the tests of the page, and a browser to open them in: each is made once, for all tests and processes."""

import os
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import glassformer
from browsing import Watched
from glassformer import report
from glassformer.report import filling
from small_runs import run_of

REPORT = Path(report.__file__).parent


@cache
def report_of(*names: str, link: str = "") -> Path:
    """The report of small runs (small_runs.py), as a file."""
    user = getattr(os, "getuid", lambda: 0)()
    runs = [run_of(name) for name in names]
    source = b"".join(path.read_bytes() for path in sorted(REPORT.glob("*.py")))
    page = filling.template() + "".join(filling.further())
    made_of = page.encode() + source + link.encode() + b"".join(str(run.path).encode() for run in runs)
    stamp = sha256(made_of).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"glassformer-pages-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{'-'.join(names)}-{glassformer.__version__}-{stamp}.html"
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, suffix=".part", delete=False) as file:
            file.write(report.made(runs, link=link).html)
        with suppress(OSError):
            Path(file.name).rename(path)
    return path


def visit(browser, file: Path, link: str = "", width: int = 1440, height: int = 900, **context) -> Watched:
    """A report opened from the disk with the network off, once its clock is there; what it complains of is watched."""
    page = browser.new_context(offline=True, viewport={"width": width, "height": height}, **context).new_page()
    seen = Watched(page)
    page.goto(file.as_uri() + link)
    page.locator("section.clock").wait_for()
    return seen
