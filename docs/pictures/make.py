"""The pictures of the README, made by the code of today: `make pictures`.

Beside them lies made.json, what they show in words and numbers; tests/test_pictures.py finds the same in a fresh run.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import glassformer as gf
from glassformer import report
from glassformer.figures import _draw
from glassformer.report.facts import facts as known
from glassformer.run import Run

HERE = Path(__file__).parent
MOST_BYTES = 1_500_000  # of all pictures together
STEPS = (0, *sorted({round(step) for step in np.geomspace(10, 20_000, 39)}))  # of the film: most happens early
FIGURES = ("loss", "score_field", "one_answer")
STEP, WIDTH, HEIGHT = 1_600, 1440, 900  # of the page: where it has begun to look, and its first screen
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def facts(run: Run) -> dict[str, Any]:
    """What the pictures show: the words of each, and every number behind it, arrays by their size and mean."""
    film = gf.films.film_residual(run, steps=STEPS)
    found: dict[str, Any] = {"plane": {"title": film.words.title, "alt": film.words.alt}}
    for name in FIGURES:
        figure = getattr(gf.figures, f"plot_{name}")(run)
        drawn = _draw.of(figure)
        found[name] = {"title": drawn.words.title, "alt": drawn.words.alt, "numbers": _numbers(drawn.result.plain())}
    found["page"] = {"title": run.experiment.title, "facts": _numbers(known(run, [STEP], 0)[0])}
    return found


def make(run: Run) -> None:
    """The film, the figures, the page as a browser shows it, and made.json."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        gf.films.film_residual(run, steps=STEPS).save(work / "plane.gif", fps=6)
        shutil.copy(work / "plane.gif", HERE)
        for name in FIGURES:
            _draw.save(getattr(gf.figures, f"plot_{name}")(run), work / f"{name}.png")
            _few_colours(work / f"{name}.png", HERE / f"{name}.png")
        (work / "page.html").write_text(report.page_of(run, f"#v1&step={STEP}"), encoding="utf-8")
        _photograph(work / "page.html", HERE / "page.png")  # small signs in many colours: a palette would lose them
    told = json.dumps(facts(run), ensure_ascii=False, indent=1)
    (HERE / "made.json").write_text(told + "\n", encoding="utf-8")


def _numbers(value: Any) -> Any:
    """Plain values, with each list of numbers as how many they are and their mean, to four digits."""
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        try:
            array = np.array(value, dtype=np.float64)
        except (ValueError, TypeError):
            return [_numbers(each) for each in value] if len(value) < 50 else f"{len(value)} things"
        return {"shape": list(array.shape), "mean": float(f"{np.nanmean(array):.4g}") if array.size else None}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _few_colours(path: Path, out: Path) -> None:
    """The same picture with a palette, which is a third of the bytes and cannot be told apart."""
    from PIL import Image

    Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(out, optimize=True)


def _photograph(page: Path, out: Path) -> None:
    """The first screen of a page as a browser shows it."""
    from playwright.sync_api import sync_playwright

    named = os.environ.get("GLASSFORMER_BROWSER")
    program = next((found for name in ([named] if named else BROWSERS) if (found := shutil.which(name))), None)
    if program is None:
        sys.exit("no browser to show the report: install Chromium, or name one in GLASSFORMER_BROWSER")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        sheet = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        sheet.goto(page.resolve().as_uri())
        sheet.locator("section.panel canvas").first.wait_for()
        sheet.wait_for_timeout(1000)  # until everything has come to rest
        sheet.screenshot(path=out)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make(gf.train("plus_last_even", seed=18, out=Path(folder) / "plus_last_even-18"))
    size = sum(path.stat().st_size for path in HERE.iterdir() if path.suffix in (".gif", ".png"))
    print(f"{HERE}: {size:,} bytes of pictures")
    if size > MOST_BYTES:
        sys.exit(f"that is more than {MOST_BYTES:,}; take fewer frames")
