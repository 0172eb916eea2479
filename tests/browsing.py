"""A browser for the tests of pages, what a page complains of, and what axe does."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
AXE = Path(__file__).parent.parent / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


def program() -> str | None:
    """The browser of this machine: the one named in GLASSFORMER_BROWSER, else the first that is found."""
    if named := os.environ.get("GLASSFORMER_BROWSER"):
        return shutil.which(named) or pytest.fail(f"GLASSFORMER_BROWSER = {named!r} is not a program that can be run")
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@contextmanager
def browsing() -> "Iterator":
    """A browser; without one the tests are skipped, with a sentence."""
    api = pytest.importorskip("playwright.sync_api", reason="no Playwright; `pip install playwright` brings it")
    if (path := program()) is None:
        pytest.skip(
            "no browser: install Chromium (`apt-get install chromium`), or name one in the variable GLASSFORMER_BROWSER"
        )
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


class Watched:
    """A page, with what it complained of and what it asked the network for."""

    def __init__(self, page) -> None:
        self.page, self.problems, self.asked = page, [], []
        page.on("console", lambda said: self.problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("requestfailed", lambda request: self.problems.append(f"not loaded: {request.url[:100]}"))
        page.on("request", lambda request: self.asked.append(request.url))

    def outside(self) -> list[str]:
        """Every address that is not on this disk or inside the page."""
        return [url for url in self.asked if urlsplit(url).scheme not in ("file", "data", "blob")]


def found_by_axe(page) -> list[str]:
    """What axe complains of; its source is evaluated, for the policy of the file refuses script tags."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `npm ci` in frontend/ brings it")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("() => axe.run().then(found => found.violations)")
    return [f"{each['id']}: {each['nodes'][0]['html'][:160]} ({len(each['nodes'])})" for each in violations]
