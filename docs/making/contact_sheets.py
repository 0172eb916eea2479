"""Draw every figure of the fixture runs as two commits draw them, and put them side by side on contact sheets.

    make sheets OLD=v0.2.0            that commit, and the working tree
    make sheets OLD=v0.2.0 NEW=main   two commits

Each commit is checked out into a git worktree of its own and draws the runs in `tests/fixtures` of this checkout. The
figures of a commit are kept in `sheets/COMMIT/RUN` and not drawn again. `sheets/OLD-NEW/index.html` shows the sheets;
figures whose pixels differ come first.
"""

import argparse
import html
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "v0.2.0" / "runs"
RUNS = ("rule", "questions", "text", "population", "diverged")
WORKING_TREE = "working-tree"
WIDTH, MARGIN, TITLE = 900, 16, 28  # pixels: of a picture, around it, of the line above it
PER_SHEET = 6
Pictures = dict[str, Path]  # figure: file


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", help="a commit, branch or tag")
    parser.add_argument("new", nargs="?", help="another one (default: the working tree)")
    parser.add_argument("--runs", default=",".join(RUNS), help="fixture runs to draw, comma-separated")
    parser.add_argument("--figures", default="", help="figures to draw, comma-separated (default: all)")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help="a figure that has a new name")
    parser.add_argument("--out", type=Path, default=ROOT / "sheets", help="folder to write to")
    given = parser.parse_args(arguments)
    names = tuple(filter(None, given.figures.split(",")))
    renamed = dict(pair.split("=", 1) for pair in given.rename)
    old, new = commit(given.old), commit(given.new) if given.new else WORKING_TREE
    folder = given.out / f"{old}-{new}"
    folder.mkdir(parents=True, exist_ok=True)
    sheets, summary = [], []
    for run in given.runs.split(","):
        before = {renamed.get(name, name): path for name, path in draw(old, run, given.out, names).items()}
        after = draw(new, run, given.out, names)
        share = {name: changed(before.get(name), after.get(name)) for name in {**before, **after}}
        order = sorted(share, key=lambda name: -share[name])
        differ = sum(part > 0 for part in share.values())
        summary.append(f"{run}: {len(order)} figures, {differ} differ, {len(order) - differ} have the same pixels")
        print(summary[-1], flush=True)
        for first in range(0, len(order), PER_SHEET):
            rows = [(name, share[name], before.get(name), after.get(name)) for name in order[first : first + PER_SHEET]]
            sheets.append(folder / f"{run}_{first // PER_SHEET + 1:02}.png")
            sheet(rows, f"{run}: {given.old} left, {given.new or 'working tree'} right").save(sheets[-1])
    page = folder / "index.html"
    items = "".join(f"<p>{html.escape(line)}</p>" for line in summary)
    images = "".join(f'<p><img src="{path.name}" alt="{path.stem}" style="max-width:100%"></p>' for path in sheets)
    page.write_text(f'<!doctype html><meta charset="utf-8"><title>Contact sheets</title>{items}{images}', "utf-8")
    print(page)


def commit(name: str) -> str:
    """The short hash of a commit."""
    return subprocess.check_output(
        ["git", "rev-parse", "--short=10", f"{name}^{{commit}}"], cwd=ROOT, text=True
    ).strip()


def draw(version: str, run: str, out: Path, names: tuple[str, ...]) -> Pictures:
    """The figures of a run, drawn by a commit's own code; those of a commit that are there are not drawn again."""
    folder = (out / version / run).resolve()
    record = folder / ("figures.json" if not names else f"figures-{'-'.join(names)}.json")
    if version == WORKING_TREE or not record.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as place:
            code = ROOT
            if version != WORKING_TREE:
                code = Path(place) / "code"
                subprocess.run(["git", "worktree", "add", "--quiet", "--detach", code, version], cwd=ROOT, check=True)
            try:
                record.write_text(json.dumps(draw_with(code, run, folder, names)), "utf-8")
            finally:
                if code != ROOT:
                    subprocess.run(["git", "worktree", "remove", "--force", code], cwd=ROOT, check=True)
    return {name: folder / file for name, file in json.loads(record.read_text("utf-8")).items()}


def draw_with(code: Path, run: str, folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Draw with the package in a checkout; the name and file of every figure."""
    environment = {**os.environ, "PYTHONPATH": str(code / "src")}
    words = ["figures", str(FIXTURES / run), *names, "--format", "png", "--out", str(folder), "--json"]
    answer = subprocess.run(
        [sys.executable, "-m", "glassformer", *words], env=environment, cwd=folder, capture_output=True, text=True
    )
    if answer.returncode not in (0, 2):  # 2: some of the figures named do not apply to this run
        raise SystemExit(f"{code}: glassformer {' '.join(words)} ended with {answer.returncode}:\n{answer.stderr}")
    made = json.loads(answer.stdout)["figures"]
    return {
        each["name"] + (f" page {each['page']}" if each["pages"] > 1 else ""): file
        for each in made
        for file in each["files"]
        if file.endswith(".png")
    }


def changed(old: Path | None, new: Path | None) -> float:
    """The share of pixels that differ; 1 if one of the two is missing or has another size."""
    if old is None or new is None:
        return 1.0
    before, after = (np.asarray(Image.open(path).convert("RGB")) for path in (old, new))
    return float((before != after).any(-1).mean()) if before.shape == after.shape else 1.0


def sheet(rows: Sequence[tuple[str, float, Path | None, Path | None]], title: str) -> Image.Image:
    """One picture: a row for each figure, the old one left and the new one right."""
    pairs = [(f"{name}: {describe(share, old, new)}", scaled(old), scaled(new)) for name, share, old, new in rows]
    height = TITLE + sum(TITLE + max(left.height, right.height) + MARGIN for _, left, right in pairs)
    page = Image.new("RGB", (2 * WIDTH + 3 * MARGIN, height), "#dddddd")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(18)
    pen.text((MARGIN, 4), title, "black", font)
    top = TITLE
    for text, left, right in pairs:
        pen.text((MARGIN, top + 4), text, "black", font)
        page.paste(left, (MARGIN, top + TITLE))
        page.paste(right, (WIDTH + 2 * MARGIN, top + TITLE))
        top += TITLE + max(left.height, right.height) + MARGIN
    return page


def describe(share: float, old: Path | None, new: Path | None) -> str:
    """What changed, in words."""
    if old is None or new is None:
        return "only on the right" if old is None else "only on the left"
    return "same pixels" if share == 0 else f"{share:.1%} of the pixels differ" if share < 1 else "another size"


def scaled(path: Path | None) -> Image.Image:
    """A picture at the width of a sheet; a grey area for one that is missing."""
    if path is None:
        return Image.new("RGB", (WIDTH, WIDTH // 4), "#bbbbbb")
    image = Image.open(path).convert("RGB")
    return image.resize((WIDTH, max(1, round(image.height * WIDTH / image.width))))


if __name__ == "__main__":
    main(sys.argv[1:])
