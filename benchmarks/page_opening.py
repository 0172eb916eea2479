"""How soon a report shows itself, and what it costs: from the disk, offline, in Chromium, on this machine.

`python benchmarks/page_opening.py REPORT.html`: medians of five openings, as fast as the machine is and slower.
"""

import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
READY = """() => new Promise(done => { const look = () => document.querySelector('.panel canvas, .panel svg')
  ? done(performance.now()) : requestAnimationFrame(look); look(); })"""
STOPS = """() => [...document.querySelectorAll('button, select, input, a[href], [tabindex="0"]')]
  .filter(e => e.tabIndex >= 0 && e.checkVisibility() && !e.disabled).length"""


def main(file: Path) -> None:
    """Print paint, readiness, requests and the number of stops a Tab key makes."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for slower in (1, 4):
            paints, ready, asked, stops = [], [], set(), 0
            for _ in range(5):
                page = browser.new_context(offline=True, viewport={"width": 1440, "height": 900}).new_page()
                page.on("request", lambda request, seen=asked: seen.add(request.url.split(":")[0]))
                page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
                page.goto(file.resolve().as_uri())
                ready.append(page.evaluate(READY))
                paints.append(page.evaluate(PAINT))
                stops = page.evaluate(STOPS)
                page.context.close()
            print(
                f"{slower} × slower: first paint {statistics.median(paints):.0f} ms, panels drawn "
                f"{statistics.median(ready):.0f} ms; requests to {', '.join(sorted(asked))}; {stops} tab stops"
            )
        browser.close()
    print(f"{file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
