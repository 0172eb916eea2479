"""A film: a scene, and the steps at which it is shown."""

import json
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_rgb
from PIL import Image

from glassformer import given, notebook, storage
from glassformer.analyses import UNVERIFIED
from glassformer.analyses._lost import quietly
from glassformer.analyses._reel import Reel
from glassformer.analyses._result import Array, Result, Words
from glassformer.errors import CallError
from glassformer.figures import _style
from glassformer.films._film import encode
from glassformer.films._film.stage import Stage
from glassformer.films._film.workers import SECOND, Other, segment
from glassformer.words import shown

Update = Callable[[Any], None]  # the result of a frame → the picture of it
Scene = Callable[["Stage", Reel], Update]
Progress = Callable[[int, int], None]  # frames drawn, frames in all

FPS = 20
REACH = 15  # frames that a trail may reach back
MOST_INLINE = 10_000_000  # bytes of a film inside a notebook
NEAR = 8  # of 255: colours of a GIF that are no farther apart are taken for each other


class Film:
    """A reel and the scene that shows it.

    `scene(stage, reel)` sets up what stands still and returns `update(seen)`, which shows the numbers of a frame.
    """

    def __init__(
        self,
        reel: Reel,
        scene: Scene,
        caption: str,
        *,
        theme: str = "light",
        fps: int = FPS,
        recipe: dict[str, Any] | None = None,
        subject: Any = None,
    ) -> None:
        _style.theme(theme)
        self.subject = subject
        fps = given.whole("fps", fps, 1, 100)
        self.reel, self.scene, self.theme, self.fps = reel, scene, theme, fps
        self.words = Words(reel.title, caption, f"Film. {reel.title}.")
        self.steps = list(reel.frames)
        self._inline: str | None = None  # as a notebook shows it
        self.recipe = recipe  # how it was asked for, so that a second process can make the same one and draw half of it

    def __len__(self) -> int:
        return len(self.steps)

    def frames(self, steps: Iterable[int] | None = None, width: int = encode.WIDTH) -> Iterator[Array]:
        """(height, width, 3) for each step, or for these."""
        for frame, _ in self.shots(self.steps if steps is None else list(steps), width):
            yield frame

    def save(
        self, *paths: Path | str, fps: int | None = None, progress: Progress | None = None, processes: int = 2
    ) -> list[Path]:
        """Write the film, once drawn for all paths (.mp4, .gif), with poster, numbers and words beside the first."""
        targets = {Path(path).suffix.removeprefix(".").lower(): Path(path) for path in paths}
        for kind in targets:
            if kind not in encode.FORMATS:
                raise CallError(
                    f"a film is written as {' or '.join(encode.FORMATS)}, not as {kind or 'a file without suffix'!r}"
                )
        rate = given.whole("fps", fps, 1, 100) if fps is not None else self.fps
        if "mp4" in targets:
            encode.ffmpeg()
        stem = Path(paths[0]).with_suffix("")
        with tempfile.TemporaryDirectory() as folder:
            written = self._encode(targets, rate, progress or (lambda _, __: None), processes, Path(folder), stem)
        return [*written, *self._words(stem)]

    def __repr__(self) -> str:
        return f"<Film of {len(self)} frames: {shown(self.words.title)}>"

    def _repr_html_(self) -> str:
        """The film itself, as a video or where nothing writes one as a GIF; made when it is first looked at."""
        if self._inline is None:
            kind = "mp4" if encode.ffmpeg(needed=False) else "gif"
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"film.{kind}"
                self.save(path)
                large = path.stat().st_size > MOST_INLINE
                content = b64encode((path.with_suffix(".png") if large else path).read_bytes()).decode()
            if large:
                told = f"The last frame of a film of more than {MOST_INLINE // 10**6} MB; film.save(...) writes it."
                self._inline = f"{notebook.picture(content, 'png', self.words.alt)}<p>{told}</p>"
            else:
                shows = notebook.video if kind == "mp4" else partial(notebook.picture, kind="gif")
                self._inline = shows(content, words=self.words.alt)
        return f"<figure>{self._inline}<figcaption>{notebook.text(self.words.title)}</figcaption></figure>"

    # ---- drawing

    def shots(self, steps: Sequence[int], width: int) -> Iterator[tuple[Array, Result]]:
        """Each frame with its numbers."""
        with self._drawing():
            stage = Stage(self.reel.strip, self.words, self.theme, width)
            update = self.scene(stage, self.reel)
        if steps and steps[0] in self.steps:  # trails reach back: whoever begins later must have seen a little
            begin = self.steps.index(steps[0])
            with self._drawing():
                for step in self.steps[max(0, begin - REACH) : begin]:
                    update(self.reel.at(step))
        for step in steps:
            with self._drawing():
                seen = self.reel.at(step)
                update(seen)
                mark = f" · {UNVERIFIED}" if getattr(self.subject, "unverified", ()) else ""
                stage.tick(seen.step or 0, seen.clock + mark)
                frame = stage.draw()
            yield frame, seen

    @contextmanager
    def _drawing(self) -> Iterator[None]:
        with matplotlib.rc_context(_style.rc(self.theme, "film")), quietly(self.subject):
            yield

    # ---- writing

    def _encode(
        self, targets: dict[str, Path], rate: int, progress: Progress, processes: int, folder: Path, stem: Path
    ) -> list[Path]:
        palette = self._palette(folder / "palette.png") if "gif" in targets else None
        many = len(self.steps)
        job = {"formats": sorted(targets), "rate": rate, "folder": str(folder), "width": encode.WIDTH,
               "gif_width": encode.GIF_WIDTH, "frames": many}  # fmt: skip
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
            for frames in segment(self, job | {"begin": 0, "end": cut}):
                count(0)(frames)
        except BaseException:
            if other:
                other.stop()
            raise
        if other:
            other.join()
        written = [encode.joined_rows(folder, stem.with_suffix(".csv"))]
        if "mp4" in targets:
            written.insert(0, encode.joined_video(folder, targets["mp4"]))
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
        """The colours of all frames: those of the theme, with the edges of what has them, and others from a few frames.

        Thin lines and letters have few pixels, and frames alone would leave them a share of some other colour each.
        """
        picked = sorted({round(k * (len(self.steps) - 1) / 5) for k in range(6)})
        shots = [frame for frame, _ in self.shots([self.steps[k] for k in picked], encode.GIF_WIDTH // 2)]
        own = _shades(_style.theme(self.theme))
        many = Image.fromarray(np.concatenate(shots)).quantize(
            encode.COLOURS - len(own), method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
        more = np.array(many.getpalette() or [], dtype=int).reshape(-1, 3)
        apart = np.abs(more[:, None] - own).max(-1).min(-1) > NEAR
        found = Image.new("P", (8, 8))
        found.putpalette([*own.ravel().tolist(), *more[apart].ravel().tolist()])
        found.save(path)
        return found

    def _gif(self, folder: Path, path: Path, palette: Image.Image, rate: int, progress: Progress) -> Path:
        width = encode.GIF_WIDTH
        content = encode.gif_bytes(folder, palette, rate, width)
        while len(content) > encode.MOST_BYTES and width > encode.LEAST_WIDTH:  # smaller before fewer colours
            width = max(
                encode.LEAST_WIDTH, int(width * max(0.5, 0.95 * (encode.MOST_BYTES / len(content)) ** 0.5)) // 16 * 16
            )
            job = {"formats": ["gif"], "rate": rate, "folder": str(folder), "width": width, "gif_width": width,
                   "frames": len(self.steps)}  # fmt: skip
            for old in folder.glob("gif.*"):
                old.unlink()
            for frames in segment(self, job | {"begin": 0, "end": len(self.steps)}):
                progress(frames, len(self.steps))
            content = encode.gif_bytes(folder, palette, rate, width)
        storage.replace(path, content)
        return path

    def _words(self, stem: Path) -> list[Path]:
        about = {
            "title": self.words.title, "caption": self.words.caption, "alt": self.words.alt,
            "run": self.reel.strip.subject,
            "first_step": self.steps[0], "last_step": self.steps[-1], "frames": len(self.steps), "theme": self.theme,
        }  # fmt: skip
        path = stem.with_suffix(".json")
        storage.replace(path, shown(json.dumps(about, ensure_ascii=False, indent=1)).encode())
        return [path]


def _shades(theme: _style.Theme) -> Array:
    """(colour, 3): every colour of a theme, and halfway from it to the paper, as at the edge of a letter."""
    paper = np.array(to_rgb(theme.paper))
    pure = np.array([to_rgb(theme[name]) for name in _style.MEANINGS])
    return np.unique(np.round(255 * np.concatenate([pure, (pure + paper) / 2])).astype(int), axis=0)
