"""How long the causal test takes: every part of the 250-parameter model taken out at 200 checkpoints.

    python benchmarks/causal.py [RUN]

Without a run it trains plus_last_even first (some seconds). Prints one JSON object; the target is 30 s on two cores.
"""

import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import glassformer as gf
from glassformer.analyses.path.birth import birth

CHECKPOINTS = 200
TARGET = 30.0  # seconds


def main() -> None:
    """Time the causal test, births and all."""
    if len(sys.argv) > 1:
        run = gf.open(sys.argv[1])
    else:
        run = gf.train("plus_last_even", out=Path(tempfile.mkdtemp()) / "run")
    began = perf_counter()
    seen = birth(run, checkpoints=CHECKPOINTS)
    seconds = perf_counter() - began
    parts, ways, steps = seen.effect.values.shape
    told = {
        "run": run.name, "parameters": run.parameters, "checkpoints": steps, "parts": parts, "ways": ways,
        "windows": seen.windows, "seconds": round(seconds, 2), "target": TARGET, "within": seconds < TARGET,
    }  # fmt: skip
    print(json.dumps(told))


if __name__ == "__main__":
    main()
