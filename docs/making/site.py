"""Write the documentation as a site into site/: pages of docs/, the course, a gallery of galleries and the reference.

    python -m making.site [--runs FOLDER] [--out FOLDER] [--no-gallery]

Everything is staged first, in the places it has in the project, so that links between pages hold; Sphinx makes the
pages of it. The site needs no server and no network.
"""

import argparse
import re
import shutil
import sys
from os.path import relpath
from pathlib import Path

from sphinx.cmd.build import build_main

from glassformer.teaching.script import Script, course
from making import api

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<=\]\()([^)\s#]+)")
GROUPS = {  # of the pages in docs/: what their names begin with; all others are reference
    "Guides": ("lessons", "ablate", "add-a-", "report", "edits"),
    "What was measured": ("claims", "places", "rules", "studies", "language-models", "physics", "page-beside"),
    "Reference": (),
    "Benchmarks": ("benchmarks", "limits"),
}
MENDED = {  # what a screen reader or a keyboard misses in the theme's pages → what it is given
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<th class="head"><p></p></th>': '<td class="head"></td>',
}
INDEX = "docs/decisions/README"  # leads to the pages beside it


def pages() -> dict[Path, str]:
    """Where a page of the project stands in the site, without its ending."""
    there = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    found = {path: path.relative_to(ROOT).with_suffix("").as_posix() for path in sorted(there) if path.exists()}
    lessons = {each.path.resolve(): f"lessons/{each.name}" for each in course()}
    return found | {ROOT / "README.md": "index"} | lessons


def led(text: str, page: Path, where: dict[Path, str], stage: Path) -> str:
    """The text of a page with its links as they are in the site; files it leads to are staged beside it.

    What is not there yet, such as a page that is made by a long computation, is named and not led to.
    """
    missing = []

    def turned(found: re.Match[str]) -> str:
        target = found[1]
        if "://" in target or target.startswith("mailto:"):
            return target
        there = (page.parent / target).resolve()
        if there in where:
            return relpath(f"/{where[there]}.md", Path("/", where[page]).parent)
        if there.is_file():
            copied = stage / there.relative_to(ROOT)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(there, copied)
            return relpath(copied, (stage / where[page]).parent)
        missing.append(target)
        return target

    text = LINK.sub(turned, text)
    for target in missing:
        text = re.sub(rf"\[([^\]]*)\]\({re.escape(target)}(#[^)]*)?\)", r"\1", text)
    return text


def lesson_page(each: Script, number: int) -> str:
    """One lesson as it is written. Its numbers are computed when it is run."""
    told = {one.name: one.title for one in course()}
    before = ", ".join(f"[{told[name].rstrip('.')}]({name}.md)" for name in each.before if name in told)
    aims = "\n".join(f"- {aim}" for aim in each.aims)
    lines = [
        f"# {number}. {each.title.rstrip('.')}",
        f"{each.minutes} minutes. Afterwards you can",
        aims,
        *([f"Before it: {before}."] if before else []),
        "This is the lesson as it is written; its numbers are computed while you read. Run it in a terminal, as a page,"
        " or as a notebook:",
        f"```\nglassformer lesson {each.name}\nglassformer lesson {each.name} --html\n"
        f"glassformer lesson {each.name} --notebook\n```",
    ]
    for cell in each.cells:
        if cell.kind != "head":
            lines.append(cell.source if cell.kind == "text" else f"````python\n{cell.source}\n````")
    return "\n\n".join(lines) + "\n"


def course_page(lessons: list[Script]) -> str:
    """The table of the course."""
    minutes = sum(each.minutes for each in lessons)
    lines = [
        "# The course",
        f"{len(lessons)} lessons, {minutes // 60} hours {minutes % 60} minutes in all. Each is one script that runs in "
        "a terminal, as a page that drives a report, or as a notebook; `glassformer lesson` lists them.",
        "| | lesson | minutes | afterwards you can |\n|---|---|---|---|\n"
        + "\n".join(
            f"| {k} | [{each.title.rstrip('.')}]({each.name}.md) | {each.minutes} | {'; '.join(each.aims)} |"
            for k, each in enumerate(lessons, 1)
        ),
        contents("", [each.name for each in lessons]),
    ]
    return "\n\n".join(lines) + "\n"


def contents(caption: str, names: list[str]) -> str:
    """A part of the list at the left."""
    said = f":caption: {caption}\n" if caption else ""
    return "```{toctree}\n:hidden:\n" + said + "\n" + "\n".join(names) + "\n```"


def grouped(where: dict[Path, str]) -> dict[str, list[str]]:
    """The pages of docs/ by what they are for."""
    found: dict[str, list[str]] = {name: [] for name in GROUPS}
    for place in where.values():
        if not place.startswith("docs/") or place.startswith("docs/decisions/"):
            continue
        name = place.removeprefix("docs/")
        found[next((group for group, begins in GROUPS.items() if name.startswith(begins)), "Reference")].append(place)
    return found


def staged(stage: Path, runs: Path, gallery: bool) -> None:
    """Everything Sphinx reads, in a folder that is made anew."""
    shutil.rmtree(stage, ignore_errors=True)
    where, lessons = pages(), course()
    first = ["lessons/index"] if lessons else []
    texts = {f"api/{name}": text for name, text in api.pages().items()}
    texts |= {f"lessons/{each.name}.md": lesson_page(each, k) for k, each in enumerate(lessons, 1)}
    if lessons:
        texts["lessons/index.md"] = course_page(lessons)
    if gallery:
        from making import galleries

        texts["gallery/index.md"] = galleries.page(runs, stage / "gallery")
        first.append("gallery/index")
    parts = {"Begin": first, **grouped(where), "Python": ["api/index"], "Project": ["CHANGELOG", "CONTRIBUTING", INDEX]}
    beside = sorted(path.stem for path in (ROOT / INDEX).parent.glob("*.md") if path.stem != "README")
    trees = {
        "index": "\n\n".join(contents(caption, names) for caption, names in parts.items() if names),
        INDEX: contents("", beside),
    }
    for page, place in where.items():
        if page.suffix == ".md":
            texts[f"{place}.md"] = f"{led(page.read_text('utf-8'), page, where, stage)}\n{trees.get(place, '')}\n"
    for name, text in texts.items():
        (stage / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).write_text(text, "utf-8")


def mend(out: Path) -> None:
    """Make every page whole for those who do not see it, or have no mouse."""
    for page in out.rglob("*.html"):
        text = page.read_text("utf-8")
        for old, new in MENDED.items():
            text = text.replace(old, new)
        page.write_text(text, "utf-8")


def main(words: list[str]) -> int:
    asked = argparse.ArgumentParser(description="Write the documentation as a site.")
    asked.add_argument("--out", type=Path, default=ROOT / "site")
    asked.add_argument("--stage", type=Path, default=ROOT / "build/site", help="where the pages are gathered")
    asked.add_argument("--runs", type=Path, default=ROOT / "runs", help="where finished runs may be")
    asked.add_argument("--no-gallery", dest="gallery", action="store_false")
    given = asked.parse_args(words)
    staged(given.stage, given.runs, given.gallery)
    shutil.rmtree(given.out, ignore_errors=True)
    back = build_main(["-q", "-W", "--keep-going", "-d", str(given.stage / "_built"), "-b", "html",
                       "-c", str(Path(__file__).parent), str(given.stage), str(given.out)])  # fmt: skip
    if back == 0:
        mend(given.out)
        print(f"{given.out / 'index.html'}: open it in a browser")
    return back


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
