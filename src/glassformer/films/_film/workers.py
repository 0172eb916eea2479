"""Who draws a film: this process its first half, a second process the rest."""

import csv
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from PIL import Image

from glassformer import films
from glassformer.analyses._result import Array, Result
from glassformer.errors import Error
from glassformer.figures import _draw
from glassformer.films._film.encode import HOLD, WIDTH, encoder, scaled
from glassformer.run import open as open_run
from glassformer.second import GoneError, Second

if TYPE_CHECKING:
    from glassformer.films._film.scene import Film

SECOND = 40  # frames from which a second process pays
PARTING = 10  # seconds that it may take to end when it is stopped


def segment(made: "Film", job: dict[str, Any]) -> Iterator[int]:
    """Draw the frames from `begin` to `end` and write them, encoded, into the folder; counted as they are done."""
    folder, begin, end, rate = Path(job["folder"]), job["begin"], job["end"], job["rate"]
    last = len(made.steps) - 1
    with Sinks(folder, begin, job) as sinks:
        for k, (frame, numbers) in enumerate(made.shots(made.steps[begin:end], job["width"]), start=begin):
            again = round(rate * HOLD[0]) if k == 0 else round(rate * HOLD[1]) if k == last else 1
            sinks.add(k, made.steps[k], frame, numbers, again)
            if k == last and job["width"] == WIDTH:
                Image.fromarray(frame).save(folder / "poster.png", optimize=True)
            yield k - begin + 1


class Sinks:
    """Where the frames of one segment go: an encoder, a file of palette indices, a table."""

    def __init__(self, folder: Path, begin: int, job: dict[str, Any]) -> None:
        self.folder, self.begin, self.job = folder, begin, job
        self.video: subprocess.Popen[bytes] | None = None
        self.gif: IO[bytes] | None = None
        self.palette: Image.Image | None = None
        self.rows = (folder / f"rows.{begin:06}.csv").open("w", encoding="utf-8", newline="")
        self.table = csv.writer(self.rows, lineterminator="\n")
        if "gif" in job["formats"]:
            self.gif = (folder / f"gif.{begin:06}.raw").open("wb")
            self.palette = Image.open(folder / "palette.png")

    def __enter__(self) -> "Sinks":
        return self

    def add(self, k: int, step: int, frame: Array, numbers: Result | None, again: int) -> None:
        """One frame, shown so many times."""
        if "mp4" in self.job["formats"]:
            if self.video is None:
                self.video = encoder(self.folder / f"video.{self.begin:06}.mp4", frame.shape, self.job["rate"])
            assert self.video.stdin is not None
            for _ in range(again):
                self.video.stdin.write(frame.data)
        if self.gif is not None:
            image = Image.fromarray(frame)
            if frame.shape[1] != self.job["gif_width"]:
                image = image.resize(scaled(frame.shape, self.job["gif_width"]), Image.Resampling.BOX)
            self.gif.write(image.quantize(palette=self.palette, dither=Image.Dither.NONE).tobytes())
        columns, rows = numbers.table() if numbers is not None else ([], iter(()))
        if k == 0:
            self.table.writerow(["frame", "step", *columns])
        many = numbers.size * self.job["frames"] if numbers is not None else 0
        if many and k % -(-many // _draw.MOST_ROWS) == 0:  # of too many numbers, those of every n-th frame
            self.table.writerows((k, step, *_draw.legible_row(row)) for row in rows)
        else:
            self.table.writerow([k, step, *([""] * len(columns))])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.rows.close()
        if self.gif is not None:
            self.gif.close()
        if self.video is not None and self.video.stdin is not None:
            if kind is not None:
                self.video.kill()
            with suppress(BrokenPipeError):
                self.video.stdin.close()
            if self.video.wait() and kind is None:
                raise Error("ffmpeg could not encode the film")


class Other:
    """A second process that draws the rest of a film; it counts its frames."""

    def __init__(self, recipe: dict[str, Any] | None, job: dict[str, Any], count: Callable[[int], None]) -> None:
        self.failed = False
        self.other: Second | None = None
        self.thread = Thread(target=self._draw, args=(recipe, job, count), daemon=True)
        self.thread.start()

    def _draw(self, recipe: dict[str, Any] | None, job: dict[str, Any], count: Callable[[int], None]) -> None:
        try:
            with Second("glassformer.films._film.workers:begin", recipe) as other:
                self.other = other
                other.ready()
                for frames in other.ask(job):
                    count(frames)
        except GoneError:
            self.failed = True

    def stop(self) -> None:
        """Nobody waits for the rest any more."""
        if self.other:
            self.other.stop()
        self.thread.join(PARTING)

    def join(self) -> None:
        """Wait for it, and say so if it failed."""
        self.thread.join()
        if self.failed:
            raise Error("the second half of the film could not be drawn")


def begin(recipe: dict[str, Any]) -> Callable[[dict[str, Any]], Iterator[int]]:
    """What the second process does: make the film again, draw the part it is told to."""
    make = getattr(films, f"film_{recipe['film']}")
    run = open_run(recipe["run"]).edited(recipe["edits"])
    made = make(run, theme=recipe["theme"], **recipe["options"])
    return lambda job: segment(made, job)
