"""How long it takes to list, open and read runs, in this version and in another one, turn by turn.

    python benchmarks/reading.py RUN OTHER_SRC

RUN is a run's folder, of which a thousand copies are made; OTHER_SRC is the `src` folder of another checkout. Prints
one JSON object: median seconds of processor time over five turns in each version, and the ratio of the two.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

MANY, TURNS = 1_000, 5
CODE = """
import contextlib, io, json, sys
from time import process_time
from glassformer.commands import _runs
from glassformer.run import Run
run = sys.argv[1]

def listed():
    with contextlib.redirect_stdout(io.StringIO()):
        _runs.listed("copy", False)

def weights():
    found = Run(run)
    for step in found.steps:
        found.weights(int(step))

works = {"list 1,000 runs": (listed, 1), "open": (lambda: Run(run), 100), "metrics": (lambda: Run(run).metrics, 30),
         "kept steps": (lambda: Run(run).steps, 5), "weights of all kept steps": (weights, 1)}
found = {}
for name, (work, times) in works.items():
    work()
    began = process_time()
    for _ in range(times):
        work()
    found[name] = (process_time() - began) / times
print(json.dumps(found))
"""


def main() -> None:
    """Measure both versions in turns, so that what else the machine does meets both alike."""
    run, other = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    sources = {"this": Path(__file__).parents[1] / "src", "other": other}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(MANY):
            shutil.copytree(run, Path(folder) / "runs" / f"copy-{number}", symlinks=True)
        turns: dict[str, list[dict[str, float]]] = {name: [] for name in sources}
        for _ in range(TURNS):
            for name, source in sources.items():
                command = [sys.executable, "-c", CODE, str(Path(folder) / "runs" / "copy-0")]
                environment = os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
                said = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout
                turns[name].append(json.loads(said))
    seconds = {name: {work: median(turn[work] for turn in each) for work in each[0]} for name, each in turns.items()}
    ratios = {work: round(seconds["this"][work] / seconds["other"][work], 3) for work in seconds["this"]}
    print(json.dumps({"seconds": seconds, "ratio": ratios}, indent=1))


if __name__ == "__main__":
    main()
