"""Gather the notes in changes/ into CHANGELOG.md, under the version in pyproject.toml, and empty the folder.

    python docs/making/changelog.py

A note is a line in changes/SLUG.KIND.md. Called again for a version that has its section, it adds to it.
"""

import re
import sys
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("added", "changed", "fixed", "removed")
HEAD = """# Changelog

What a user would notice, by version. What is not yet released is noted in `changes/`, and `make changelog` gathers it.
"""


def gathered(log: str, notes: dict[str, str], version: str, day: str) -> str:
    """The changelog with these notes (file name → sentence) in the section of a version, which is made if need be."""
    head, *sections = re.split(r"^(?=## )", log or HEAD, flags=re.MULTILINE)
    found = next((k for k, section in enumerate(sections) if section.startswith(f"## {version} ")), None)
    if found is None:
        sections.insert(0, f"## {version} · {day}\n")
        found = 0
    title, *parts = re.split(r"^### ", sections[found], flags=re.MULTILINE)
    told = {kind: [line for line in part.splitlines()[1:] if line.strip()] for kind, part in by_kind(parts).items()}
    for name in sorted(notes):
        kind = name.split(".")[1]
        line = f"- {notes[name].strip()}"
        if line not in told.setdefault(kind, []):
            told[kind].append(line)
    lists = [f"### {kind.capitalize()}\n\n" + "\n".join(told[kind]) + "\n" for kind in KINDS if told.get(kind)]
    sections[found] = "\n".join([title.strip() + "\n", *lists])
    return "\n".join(part.strip() + "\n" for part in [head, *sections])


def by_kind(parts: list[str]) -> dict[str, str]:
    return {part.split("\n", 1)[0].strip().lower(): part for part in parts}


def main() -> int:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    files = sorted((ROOT / "changes").glob("*.md"))
    log = ROOT / "CHANGELOG.md"
    notes = {path.name: path.read_text("utf-8") for path in files}
    before = log.read_text("utf-8") if log.exists() else ""
    log.write_text(gathered(before, notes, version, date.today().isoformat()), "utf-8")
    for path in files:
        path.unlink()
    print(f"{len(files)} notes are now in CHANGELOG.md, under {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
