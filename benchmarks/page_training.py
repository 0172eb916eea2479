"""How fast a report trains its model in front of a class: press Train in Chromium and count.

    python benchmarks/page_training.py REPORT.html [REPORT.html ...] [--seeds 5 6 7] [--steps N]

Prints a row for each seed: seconds from the press to the sentence that it has learnt its rule, and to the last step;
and, as this machine may have other work, the processor time of the threads that train and draw (on Linux).
"""

import argparse
import os
import re
import shutil
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Page, sync_playwright

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
LONG = 1_800_000  # milliseconds
HEAD = (
    "| report | seed | steps | learnt after, s | all steps after, s | steps a second "
    "| of CPU: trains, s | steps a second of it | draws, s |"
)


def threads() -> dict[tuple[str, str], float]:
    """Seconds of processor time of every thread below this process, by number and name."""
    found, todo = {}, [str(os.getpid())]
    while todo:
        process = Path("/proc") / todo.pop()
        try:
            for task in (process / "task").iterdir():
                todo += (task / "children").read_text().split()
                spent = int((task / "schedstat").read_text().split()[0]) / 1e9
                found[task.name, (task / "comm").read_text().strip()] = spent
        except (OSError, IndexError):  # it has just ended
            continue
    return found


def trained(page: Page, seed: int, steps: int | None) -> tuple[int, float | None, float, float, float]:
    """One press: steps, seconds to the rule (None: not said) and to the end, those of CPU for training and drawing."""
    page.goto(page.url.split("#")[0] + f"#v1&mode=train&train=seed:{seed}" + (f",steps:{steps}" if steps else ""))
    page.reload()
    box, clock = page.locator("section.train"), page.get_by_role("slider", name="Step of the training").first
    button = box.get_by_role("button", name="Train", exact=True)
    button.wait_for()
    page.wait_for_timeout(500)
    before, began, learnt = threads(), perf_counter(), None
    button.click()
    page.locator("header option:checked", has_text="trained here").wait_for(state="attached")
    while box.get_by_role("button", name="Pause the training").count():
        if learnt is None and page.locator("p.said").inner_text().startswith("It has learnt"):
            learnt = perf_counter() - began
        page.wait_for_timeout(50)
    seconds, spent = perf_counter() - began, {key: each - before.get(key, 0) for key, each in threads().items()}
    trains = max((each for (_, name), each in spent.items() if "Worker" in name), default=0)
    draws = max((each for (_, name), each in spent.items() if re.match("chrom|Renderer|CrRenderer", name)), default=0)
    return int(clock.get_attribute("aria-valuenow") or 0), learnt, seconds, trains, draws


def main() -> None:
    """Train every report with every seed, one after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--seeds", nargs="+", type=int, default=[5, 6, 7])
    parser.add_argument("--steps", type=int)
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n\n{HEAD}\n|---|" + "---:|" * 8)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(LONG)
        for file in given.reports:
            page.goto(file.resolve().as_uri())
            for seed in given.seeds:
                steps, learnt, seconds, trains, draws = trained(page, seed, given.steps)
                said = "–" if learnt is None else f"{learnt:.1f}"
                print(
                    f"| {file.stem} | {seed} | {steps:,} | {said} | {seconds:.1f} | {steps / seconds:,.0f} | "
                    f"{trains:.1f} | {steps / trains if trains else 0:,.0f} | {draws:.1f} |", flush=True
                )  # fmt: skip
        browser.close()


if __name__ == "__main__":
    main()
