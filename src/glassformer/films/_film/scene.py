"""A film: a scene, and the steps at which it is shown."""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Literal, ParamSpec

import matplotlib
import numpy as np
from PIL import Image

from glassformer import storage
from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Result, Words
from glassformer.errors import CallError
from glassformer.figures import _style
from glassformer.films._film.encode import (
    COLOURS,
    FORMATS,
    GIF_WIDTH,
    LEAST_WIDTH,
    MOST_BYTES,
    WIDTH,
    ffmpeg,
    gif_bytes,
    joined_rows,
    joined_video,
)
from glassformer.films._film.stage import Stage
from glassformer.films._film.workers import SECOND, Other, segment
from glassformer.run import Run

P = ParamSpec("P")
Update = Callable[[int], Result | None]
Scene = Callable[["Stage"], Update]
Progress = Callable[[int, int], None]  # frames drawn, frames in all
Pace = Literal["even", "change"]

FPS = 20
REACH = 15  # frames that a trail may reach back


def glance(run: Run, steps: Iterable[int] | None, most: int) -> list[int]:
    """Some of a film's steps, evenly spread, to find limits that hold all of it."""
    every = _clock.kept(run, most) if steps is None else [_clock.resolve(run, int(step)) for step in steps]
    return [every[k] for k in np.unique(np.round(np.linspace(0, len(every) - 1, most)).astype(int))] if every else []


def film(make: Callable[P, "Film"]) -> Callable[P, "Film"]:
    """Remember how a film was asked for, so that a second process can make the same one and draw half of it."""
    names = signature(make)

    @wraps(make)
    def within(*args: P.args, **kwargs: P.kwargs) -> "Film":
        made = make(*args, **kwargs)
        given = dict(names.bind(*args, **kwargs).arguments)
        subject = given.pop(next(iter(names.parameters)), None)
        made.name = make.__name__.removeprefix("film_")
        if isinstance(subject, Run) and make.__module__.startswith("glassformer.films."):
            made.recipe = {
                "file": make.__module__,
                "make": make.__name__,
                "run": str(subject.path.resolve()),
                "given": given,
            }
        return made

    return within


class Film:
    """A scene and the steps at which it is shown.

    `scene(stage)` sets up what stands still and returns `update(step)`, which moves the rest and may return numbers.
    Where the frames are not kept steps (a film through the depth of a model), `clock(frame)` gives the text at the
    top right and `mark(frame)` the step at which the mark on the loss stands.
    """

    def __init__(
        self,
        run: Run,
        scene: Scene,
        *,
        title: str,
        caption: str,
        alt: str = "",
        steps: Iterable[int] | None = None,
        frames: int = 200,
        pace: Pace = "even",
        theme: str = "light",
        member: int | None = 0,
        fps: int = FPS,
        clock: Callable[[int], str] | None = None,
        mark: Callable[[int], int] | None = None,
    ) -> None:
        if not 2 <= frames <= 5000:
            raise CallError(f"frames = {frames} is not between 2 and 5,000")
        _style.theme(theme)
        self.run, self.scene, self.theme, self.member, self.fps = run, scene, theme, member, fps
        self.words = Words(title, caption, alt or f"Film. {title}.")
        if steps is None:
            self.steps = _clock.kept(run, frames, pace, member or 0)
        else:
            self.steps = [int(step) for step in steps] if clock else [_clock.resolve(run, int(step)) for step in steps]
        if not self.steps:
            raise CallError("a film needs at least one step")
        self._clock, self._mark = clock, mark
        self.name = "film"
        self.recipe: dict[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def frames(self, steps: Iterable[int] | None = None, width: int = WIDTH) -> Iterator[Array]:
        """(height, width, 3) for each step, or for these."""
        for frame, _ in self.shots(self.steps if steps is None else list(steps), width):
            yield frame

    def save(
        self, *paths: Path | str, fps: int | None = None, progress: Progress | None = None, processes: int = 2
    ) -> list[Path]:
        """Write the film, once drawn for all paths (.mp4, .gif), with poster, numbers and words beside the first."""
        targets = {Path(path).suffix.removeprefix(".").lower(): Path(path) for path in paths}
        for kind in targets:
            if kind not in FORMATS:
                raise CallError(
                    f"a film is written as {' or '.join(FORMATS)}, not as {kind or 'a file without suffix'!r}"
                )
        rate = fps if fps is not None else self.fps
        if not 1 <= rate <= 100:
            raise CallError(f"fps = {rate} is not between 1 and 100")
        if "mp4" in targets:
            ffmpeg()
        stem = Path(paths[0]).with_suffix("")
        with tempfile.TemporaryDirectory() as folder:
            written = self._encode(targets, rate, progress or (lambda _, __: None), processes, Path(folder), stem)
        return [*written, *self._words(stem)]

    # ---- drawing

    def shots(self, steps: Sequence[int], width: int) -> Iterator[tuple[Array, Result | None]]:
        with matplotlib.rc_context(_style.rc(self.theme, "film")):
            stage = Stage(self.run, self.words, self.theme, self.member, width)
            update = self.scene(stage)
        if steps and steps[0] in self.steps:  # trails reach back: whoever begins later must have seen a little
            begin = self.steps.index(steps[0])
            with matplotlib.rc_context(_style.rc(self.theme, "film")):
                for step in self.steps[max(0, begin - REACH) : begin]:
                    update(step)
        for step in steps:
            with matplotlib.rc_context(_style.rc(self.theme, "film")):
                numbers = update(step)
                at = self._mark(step) if self._mark else step
                stage.tick(at, self._clock(step) if self._clock else _clock.text(self.run, step, self.member or 0))
                frame = stage.draw()
            yield frame, numbers

    # ---- writing

    def _encode(
        self, targets: dict[str, Path], rate: int, progress: Progress, processes: int, folder: Path, stem: Path
    ) -> list[Path]:
        palette = self._palette(folder / "palette.png") if "gif" in targets else None
        many = len(self.steps)
        job = {"formats": sorted(targets), "rate": rate, "folder": str(folder), "width": WIDTH, "gif_width": GIF_WIDTH,
               "frames": many}  # fmt: skip
        second = processes > 1 and many >= SECOND and self._portable()
        cut = many // 2 if second else many
        done = [0, 0]

        def count(which_one: int) -> Callable[[int], None]:
            def one(frames: int) -> None:
                done[which_one] = frames
                progress(sum(done), many)

            return one

        other = Other(self.recipe, job | {"begin": cut, "end": many}, count(1)) if second else None
        try:
            segment(self, job | {"begin": 0, "end": cut}, count(0))
        finally:
            if other:
                other.join()
        written = [joined_rows(folder, stem.with_suffix(".csv"))]
        if "mp4" in targets:
            written.insert(0, joined_video(folder, targets["mp4"]))
        if palette is not None:
            written.insert(0, self._gif(folder, targets["gif"], palette, rate, progress))
        poster = stem.with_suffix(".png")
        storage.replace(poster, (folder / "poster.png").read_bytes())
        return [*written, poster]

    def _portable(self) -> bool:
        """Whether another process can be told how to make this film."""
        try:
            return self.recipe is not None and bool(json.dumps(self.recipe))
        except TypeError:
            return False

    def _palette(self, path: Path) -> Image.Image:
        """The colours of all frames, from a few spread over the film."""
        picked = sorted({round(k * (len(self.steps) - 1) / 5) for k in range(6)})
        shots = [frame for frame, _ in self.shots([self.steps[k] for k in picked], GIF_WIDTH // 2)]
        found = Image.fromarray(np.concatenate(shots)).quantize(
            COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
        found.crop((0, 0, 8, 8)).save(path)
        return found

    def _gif(self, folder: Path, path: Path, palette: Image.Image, rate: int, progress: Progress) -> Path:
        width = GIF_WIDTH
        content = gif_bytes(folder, palette, rate, width)
        while len(content) > MOST_BYTES and width > LEAST_WIDTH:  # smaller before fewer colours
            width = max(LEAST_WIDTH, int(width * max(0.5, 0.95 * (MOST_BYTES / len(content)) ** 0.5)) // 16 * 16)
            job = {"formats": ["gif"], "rate": rate, "folder": str(folder), "width": width, "gif_width": width,
                   "frames": len(self.steps)}  # fmt: skip
            for old in folder.glob("gif.*"):
                old.unlink()
            segment(self, job | {"begin": 0, "end": len(self.steps)}, lambda n: progress(n, len(self.steps)))
            content = gif_bytes(folder, palette, rate, width)
        storage.replace(path, content)
        return path

    def _words(self, stem: Path) -> list[Path]:
        about = {
            "title": self.words.title, "caption": self.words.caption, "alt": self.words.alt, "run": self.run.name,
            "first_step": self.steps[0], "last_step": self.steps[-1], "frames": len(self.steps), "theme": self.theme,
        }  # fmt: skip
        path = stem.with_suffix(".json")
        storage.replace(path, json.dumps(about, ensure_ascii=False, indent=1).encode())
        return [path]
