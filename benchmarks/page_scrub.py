"""How smoothly the clock of a report moves: every frame of a sweep over 200 steps, in Chromium, on this machine.

`python benchmarks/page_scrub.py REPORT.html`: script and paint of a frame are what its thread did between two frames.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SWEEP = """async () => {
  const slider = document.querySelector('[role=slider]');
  const press = (key) => slider.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const frame = () => new Promise(requestAnimationFrame);
  press('Home');
  for (let k = 0; k < 30; k++) await frame();
  performance.mark('sweep');
  const at = [];
  for (let k = 0; k < 200; k++) { press('ArrowRight'); at.push(await frame()); }
  performance.mark('swept');
  return at;
}"""


def main(file: Path) -> None:
    """Print the frame times and, from the browser's own trace, the work of its main thread in each frame."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        browser.start_tracing(
            page=page, categories=["devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"]
        )
        page.goto(file.resolve().as_uri())
        page.locator("[role=slider]").wait_for()
        paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        at = np.array(page.evaluate(SWEEP))
        trace = json.loads(browser.stop_tracing())["traceEvents"]
        browser.close()
    marks = {each["name"]: each for each in trace if each["name"] in ("sweep", "swept")}
    thread = marks["sweep"]["tid"]
    begin, end = marks["sweep"]["ts"], marks["swept"]["ts"]
    tasks = [
        each
        for each in trace
        if each.get("tid") == thread and each["name"] == "RunTask" and begin <= each["ts"] <= end and "dur" in each
    ]
    edges = begin + (at - at[0]) * 1000
    work = np.zeros(len(edges) + 1)
    for each in tasks:
        work[np.searchsorted(edges, each["ts"])] += each["dur"] / 1000
    gaps = np.diff(at)
    print(f"first paint {paint:.0f} ms")
    print(f"frames {len(gaps)}: median {np.median(gaps):.1f} ms, 95 % {np.percentile(gaps, 95):.1f} ms")
    low, high = np.percentile(work, [50, 95])
    print(f"script and paint: median {low:.1f} ms, 95 % {high:.1f} ms, most {work.max():.1f} ms")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
