"""How long the gallery of a run and its films take, beside drawing every frame of a film from scratch.

`python benchmarks/figures.py [--run RUN] [--frames N] [--markdown FILE]`; without a run, `plus_last_even` is trained.
"""

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import matplotlib

from glassformer import figures, films, gallery
from glassformer.analyses import _clock
from glassformer.figures import _draw
from glassformer.run import Run
from glassformer.run import open as open_run

FILMS = ("embeddings", "qkv", "query_key_space", "landscape", "attention")
SCRATCH = 8  # frames drawn from scratch; the time of one is what counts


def main() -> None:
    """Draw the gallery, make the films, print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", default=None)
    parser.add_argument("--films", nargs="*", default=FILMS)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--markdown", type=Path, default=None)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(chosen.run or _trained(Path(folder) / "run"))
        lines = [*_machine(run), *_gallery(run, Path(folder)), *_films(run, chosen, Path(folder))]
    text = "\n".join(lines) + "\n"
    print(text)
    if chosen.markdown is not None:
        chosen.markdown.write_text(text, encoding="utf-8")


def _trained(path: Path) -> Path:
    from glassformer.training import train

    return train("plus_last_even", out=path).path


def _machine(run: Run) -> Iterator[str]:
    yield "# Speed of figures and films"
    yield ""
    yield (
        f"{os.cpu_count()} cores, {platform.system()}; Python {platform.python_version()}, Matplotlib "
        f"{matplotlib.__version__}; a run of {run.experiment.name}, {run.parameters:,} parameters, "
        f"{len(run.steps):,} kept steps. Seconds, after imports."
    )


def _gallery(run: Run, folder: Path) -> Iterator[str]:
    began = perf_counter()
    made = gallery.gallery(run, folder / "gallery")
    seconds = perf_counter() - began
    drawn = sum(1 for each in made if each.files)
    yield ""
    yield f"The whole gallery, {drawn} figures as SVG and PNG with their numbers: **{seconds:.1f} s**."


def _films(run: Run, chosen: argparse.Namespace, folder: Path) -> Iterator[str]:
    yield ""
    yield f"| film, {chosen.frames} frames, 1280 × 720, MP4 | as we make it, s | every frame from scratch, s | ratio |"
    yield "|---|---:|---:|---:|"
    for name in chosen.films:
        film = getattr(films, f"film_{name}")(run, frames=chosen.frames)
        began = perf_counter()
        film.save(folder / f"{name}.mp4")
        ours = perf_counter() - began
        plot = getattr(figures, f"plot_{name}")
        steps = _clock.kept(run, SCRATCH)
        began = perf_counter()
        for step in steps:
            _draw.save(plot(run, step=int(step)), folder / f"{name}.png")
        scratch = (perf_counter() - began) / len(steps) * chosen.frames
        yield f"| {name} | {ours:.1f} | {scratch:.1f} | {scratch / ours:.1f} |"


if __name__ == "__main__":
    main()
