"""What all films share: one clock, the loss along the bottom, a background drawn once, and fast encoders."""

import csv
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from shutil import which
from threading import Thread
from types import TracebackType
from typing import IO, Any, Literal, ParamSpec

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from PIL import Image

from glassformer import storage
from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Result, Words
from glassformer.errors import CallError, Error, MissingError
from glassformer.figures import _draw, _style
from glassformer.run import Run
from glassformer.run import open as open_run

P = ParamSpec("P")
Update = Callable[[int], Result | None]
Scene = Callable[["Stage"], Update]
Progress = Callable[[int, int], None]  # frames drawn, frames in all
Pace = Literal["even", "change"]

FORMATS = ("mp4", "gif")
FPS = 20
WIDTH, GIF_WIDTH, LEAST_WIDTH = 1280, 960, 480  # pixels
HOLD = (1.0, 2.0)  # seconds for which the first and the last frame stand still
MOST_BYTES = 10_000_000  # of a GIF; above, its width is lowered
COLOURS = 128  # of a GIF
REACH = 15  # frames that a trail may reach back
SECOND = 40  # frames from which a second process pays


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


# ---- the stage: what stands still, and what moves --------------------------------------------------------------------


class Stage(_draw.Sheet):
    """A sheet with the clock at the top and the loss along the bottom; the rest is the film's."""

    foot = 8.0

    def __init__(self, run: Run, words: Words, theme: str, member: int | None, width: int) -> None:
        self.run, self.member = run, member
        self._pixels, self._moving = width, list[Any]()
        self._now: Text
        super().__init__(None, theme, "film", words, "step 00 000 of 00 000 · loss ≈ 0.00 · excess ≈ 0.00")
        self._strip()

    def moving(self, artist: Any) -> Any:
        """Draw this artist anew in every frame; all others stand still."""
        artist.set_animated(True)
        self._moving.append(artist)
        return artist

    def labels(self, ax: Axes, texts: Sequence[str], colours: Any, scale: float = 1.0) -> "Stamps":
        """Texts that move: drawn once, then pasted. `move(xy)` puts each one's centre at its point."""
        made = Stamps(texts, colours, self.size.text * scale, self.figure.dpi)
        ax.add_artist(made)
        self.moving(made)
        return made

    def picture(
        self, ax: Axes, *, kind: str, limit: tuple[float, float] | None = None, smooth: bool = False
    ) -> "Picture":
        """A matrix in colours that fills a panel. `show(values)` changes it; NaN lets what is below shine through."""
        low, high = limit or _style.RANGES[kind] or (0.0, 1.0)
        made = Picture(_style.colormap(kind, self.theme.name), low, high, smooth)
        ax.add_artist(made)
        self.moving(made)
        return made

    def text(self, ax: Axes, x: float, y: float, **more: Any) -> Text:
        """A line that changes with every frame: `set_text`. In the panel's data unless a transform is given."""
        made: Text = self.moving(ax.text(x, y, "", **more))
        return made

    def tick(self, step: int, clock: str) -> None:
        """Move the clock and the mark on the loss."""
        self._now.set_text(clock)
        self._line.set_xdata([step, step])
        near = _clock.logged(self.run, "validation_loss", step, self.member or 0)
        self._dot.set_data([step], [near[0] if near else np.nan])

    def draw(self) -> Array:
        """(height, width, 3): the frame as it stands."""
        canvas = self.figure.canvas
        assert isinstance(canvas, FigureCanvasAgg)
        if not hasattr(self, "_still"):
            canvas.draw()
            self._still = canvas.copy_from_bbox(self.figure.bbox)
            self._moving.sort(key=lambda artist: artist.get_zorder())
        canvas.restore_region(self._still)
        renderer = canvas.get_renderer()
        for artist in self._moving:
            artist.draw(renderer)
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def _new(self, height: float) -> Figure:
        figure = super()._new(height)
        figure.set_dpi(self._pixels / self.size.width)
        return figure

    def _clock(self, x: float, y: float, clock: str) -> None:  # noqa: ARG002
        self._now = self.moving(self._text(x, y, "", va="top", ha="right", color=self.theme.ink))

    def _strip(self) -> None:
        """The loss on its ladder; a line and a dot say where the film is."""
        width, height = (inches / self.em for inches in self.inches)
        names = 13.0
        ax = self.place((5.0 / width, 2.0 / height, 1 - (5.0 + names) / width, (self.foot - 3.2) / height))
        self.strip = ax
        if (losses := self.run.metrics.get("validation_loss")) is not None and len(losses):
            loss_curves(ax, self.run, self.theme, self.member)
        ax.set_xlim(0, max(_clock.total(self.run), 1))
        _draw.steps_axis(ax, "")
        ax.annotate("step", (1, 0), xycoords="axes fraction", xytext=(2.6 * self.size.text, -0.6 * self.size.text),
                    textcoords="offset points", va="top", ha="left", color=self.theme.quiet)  # fmt: skip
        ax.set_ylabel("loss (nats)")
        ax.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(3))
        self._line = self.moving(ax.axvline(0, color=self.theme.ink, linewidth=0.6 * self.size.line))
        (dot,) = ax.plot([], [], marker="o", color=self.theme.validation, markeredgecolor=self.theme.ink)
        self._dot = self.moving(dot)


def loss_curves(ax: Axes, run: Run, theme: _style.Theme, member: int | None) -> None:
    """Validation loss by step in front of the ladder, for the strip; without a member, all and their median."""
    steps, line = run.metrics["step"], float(matplotlib.rcParams["lines.linewidth"])
    losses = run.metrics["validation_loss"]
    many = losses if losses.ndim == 2 else losses[:, None]
    rungs = [rung for rung in _clock.ladder(run) if rung.reachable]
    for rung in rungs:
        last = rung is rungs[-1]
        ax.axhline(
            rung.nats,
            color=theme.ink if last else theme.rung,
            linestyle="--",
            linewidth=line * (0.7 if last else 0.4),
            zorder=1,
        )
    if member is None and many.shape[1] > 1:
        ax.plot(steps, many, color=theme.validation, linewidth=0.4 * line, alpha=0.6)
    mean = np.nanmedian(many, axis=1) if member is None else many[:, member if many.shape[1] > 1 else 0]
    ax.plot(steps, mean, color=theme.validation, linewidth=0.9 * line)
    finite = mean[np.isfinite(mean)]
    top = max([rungs[0].nats, *finite[:1]])
    low = min([rungs[-1].nats, *finite])
    ax.set_ylim(low - 0.12 * (top - low), top + 0.08 * (top - low))
    dot = float(matplotlib.rcParams["font.size"]) * ax.figure.dpi / 72
    free = np.inf
    for rung in [rungs[-1], *rungs[:-1][::-1]]:  # names beside their rungs, the floor's first, none over another
        y = ax.transData.transform((0, rung.nats))[1]
        if free == np.inf or y - free > 1.1 * dot:
            free = y
            ax.annotate(_short(rung.name), (1, rung.nats), xycoords=("axes fraction", "data"), xytext=(6, 0),
                        va="center", textcoords="offset points", color=theme.ink if rung is rungs[-1] else theme.quiet,
                        annotation_clip=False)  # fmt: skip


def _short(name: str) -> str:
    return name if len(name) <= 20 else name.rpartition(" = ")[2]


class Stamps(Artist):
    """Texts at moving points, each drawn once as a small image and pasted from then on."""

    def __init__(self, texts: Sequence[str], colours: Any, points: float, dpi: float) -> None:
        super().__init__()
        one = isinstance(colours, str)
        self.images = [_stamp(text, colours if one else colours[k], points, dpi) for k, text in enumerate(texts)]
        self.points: Array = np.full((len(texts), 2), np.nan)
        self.alpha: Array | None = None
        self.set_zorder(5)

    def move(self, points: Array) -> None:
        """Put each text's centre at its point, (text, 2) in the panel's data; NaN hides it."""
        self.points = np.reshape(points, (-1, 2))

    def draw(self, renderer: RendererAgg) -> None:
        """Paste those inside the panel."""
        if not self.get_visible() or self.axes is None:
            return
        box, gc = self.axes.bbox, renderer.new_gc()
        gc.set_clip_rectangle(box)
        for (x, y), image in zip(self.axes.transData.transform(self.points), self.images, strict=True):
            if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1:
                high, wide = image.shape[:2]
                renderer.draw_image(gc, round(x - wide / 2), round(y - high / 2), image)
        gc.restore()


def _stamp(text: str, colour: Any, points: float, dpi: float) -> Array:
    """A text as a small picture with a clear background, bottom row first."""
    font = FontProperties(family=["DejaVu Sans"], size=points)
    probe = RendererAgg(8, 8, dpi)
    wide, high, below = probe.get_text_width_height_descent(text, font, False)
    renderer = RendererAgg(int(wide) + 4, int(high) + 4, dpi)
    gc = renderer.new_gc()
    gc.set_foreground(colour)
    renderer.draw_text(gc, 2, int(high) + 2 - below, text, font, 0)
    return np.ascontiguousarray(np.asarray(renderer.buffer_rgba())[::-1])


class Picture(Artist):
    """A matrix in colours filling a panel, row 0 at the top (`origin` "upper") or at the bottom ("lower")."""

    def __init__(self, palette: Any, low: float, high: float, smooth: bool) -> None:
        super().__init__()
        self.low, self.high, self.smooth, self.origin = low, high, smooth, "upper"
        self.values: Array = np.full((1, 1), np.nan)
        self._table = (palette(np.linspace(0, 1, 256)) * 255).round().astype(np.uint8)
        self.set_zorder(0.5)

    def show(self, values: Array) -> None:
        """Draw these from now on, (row, column)."""
        self.values = np.asarray(values, dtype=float)

    def draw(self, renderer: RendererAgg) -> None:
        """Look the colours up, enlarge, paste."""
        if not self.get_visible() or self.axes is None:
            return
        box = self.axes.bbox
        x0, x1, y0, y1 = round(box.x0), round(box.x1), round(box.y0), round(box.y1)
        share = (self.values - self.low) / ((self.high - self.low) or 1)
        place = np.clip(np.nan_to_num(share) * 255, 0, 255)
        if self.smooth:  # enlarge the numbers, not the colours: the map stays true between the cells
            place = np.asarray(
                Image.fromarray(place.astype(np.float32)).resize((x1 - x0, y1 - y0), Image.Resampling.BILINEAR)
            )
            image = self._table[place.round().astype(np.uint8)]
        else:
            small = self._table[place.round().astype(np.uint8)]
            small[~np.isfinite(self.values), 3] = 0
            rows = np.arange(y1 - y0) * small.shape[0] // (y1 - y0)
            columns = np.arange(x1 - x0) * small.shape[1] // (x1 - x0)
            image = small[rows][:, columns]
        gc = renderer.new_gc()
        upright = image[::-1] if self.origin == "upper" else image
        renderer.draw_image(gc, x0, y0, np.ascontiguousarray(upright))
        gc.restore()


# ---- the film --------------------------------------------------------------------------------------------------------


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
        for frame, _ in self._shots(self.steps if steps is None else list(steps), width):
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

    def _shots(self, steps: Sequence[int], width: int) -> Iterator[tuple[Array, Result | None]]:
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

        other = _Other(self.recipe, job | {"begin": cut, "end": many}, count(1)) if second else None
        try:
            _segment(self, job | {"begin": 0, "end": cut}, count(0))
        finally:
            if other:
                other.join()
        written = [_joined_rows(folder, stem.with_suffix(".csv"))]
        if "mp4" in targets:
            written.insert(0, _joined_video(folder, targets["mp4"]))
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
        shots = [frame for frame, _ in self._shots([self.steps[k] for k in picked], GIF_WIDTH // 2)]
        found = Image.fromarray(np.concatenate(shots)).quantize(
            COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
        found.crop((0, 0, 8, 8)).save(path)
        return found

    def _gif(self, folder: Path, path: Path, palette: Image.Image, rate: int, progress: Progress) -> Path:
        width = GIF_WIDTH
        content = _gif_bytes(folder, palette, rate, width)
        while len(content) > MOST_BYTES and width > LEAST_WIDTH:  # smaller before fewer colours
            width = max(LEAST_WIDTH, int(width * max(0.5, 0.95 * (MOST_BYTES / len(content)) ** 0.5)) // 16 * 16)
            job = {"formats": ["gif"], "rate": rate, "folder": str(folder), "width": width, "gif_width": width,
                   "frames": len(self.steps)}  # fmt: skip
            for old in folder.glob("gif.*"):
                old.unlink()
            _segment(self, job | {"begin": 0, "end": len(self.steps)}, lambda n: progress(n, len(self.steps)))
            content = _gif_bytes(folder, palette, rate, width)
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


def _segment(made: Film, job: dict[str, Any], count: Callable[[int], None]) -> None:
    """Draw the frames from `begin` to `end` and write them, encoded, into the folder."""
    folder, begin, end, rate = Path(job["folder"]), job["begin"], job["end"], job["rate"]
    last = len(made.steps) - 1
    with _Sinks(folder, begin, job) as sinks:
        for k, (frame, numbers) in enumerate(made._shots(made.steps[begin:end], job["width"]), start=begin):
            again = round(rate * HOLD[0]) if k == 0 else round(rate * HOLD[1]) if k == last else 1
            sinks.add(k, made.steps[k], frame, numbers, again)
            if k == last and job["width"] == WIDTH:
                Image.fromarray(frame).save(folder / "poster.png", optimize=True)
            count(k - begin + 1)


class _Sinks:
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

    def __enter__(self) -> "_Sinks":
        return self

    def add(self, k: int, step: int, frame: Array, numbers: Result | None, again: int) -> None:
        """One frame, shown so many times."""
        if "mp4" in self.job["formats"]:
            if self.video is None:
                self.video = _encoder(self.folder / f"video.{self.begin:06}.mp4", frame.shape, self.job["rate"])
            assert self.video.stdin is not None
            for _ in range(again):
                self.video.stdin.write(frame.data)
        if self.gif is not None:
            image = Image.fromarray(frame)
            if frame.shape[1] != self.job["gif_width"]:
                image = image.resize(_even(frame.shape, self.job["gif_width"]), Image.Resampling.BOX)
            self.gif.write(image.quantize(palette=self.palette, dither=Image.Dither.NONE).tobytes())
        columns, rows = numbers.table() if numbers is not None else ([], iter(()))
        if k == 0:
            self.table.writerow(["frame", "step", *columns])
        many = numbers.size * self.job["frames"] if numbers is not None else 0
        if many and k % -(-many // _draw.MOST_ROWS) == 0:  # of too many numbers, those of every n-th frame
            self.table.writerows((k, step, *row) for row in rows)
        else:
            self.table.writerow([k, step, *([""] * len(columns))])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.rows.close()
        if self.gif is not None:
            self.gif.close()
        if self.video is not None and self.video.stdin is not None:
            self.video.stdin.close()
            if self.video.wait() and kind is None:
                raise Error("ffmpeg could not encode the film")


class _Other:
    """A second process that draws the rest of a film; it counts its frames on its output."""

    def __init__(self, recipe: dict[str, Any] | None, job: dict[str, Any], count: Callable[[int], None]) -> None:
        order = "from glassformer.films import _film; _film.work()"
        self.process = subprocess.Popen([sys.executable, "-c", order], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([recipe, job]).encode())
        self.process.stdin.close()
        self.reader = Thread(target=self._read, args=(count,), daemon=True)
        self.reader.start()

    def _read(self, count: Callable[[int], None]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            count(int(line))

    def join(self) -> None:
        """Wait for it, and say so if it failed."""
        self.reader.join()
        if self.process.stdout:
            self.process.stdout.close()
        if self.process.wait():
            raise Error("the second half of the film could not be drawn")


def work() -> None:
    """What the second process does: make the film again, draw the part it was told to."""
    recipe, job = json.load(sys.stdin)
    made = getattr(import_module(recipe["file"]), recipe["make"])(open_run(recipe["run"]), **recipe["given"])
    _segment(made, job, lambda frames: print(frames, flush=True))


# ---- encoders --------------------------------------------------------------------------------------------------------


def ffmpeg(needed: bool = True) -> str:
    """The program that writes MP4; '' where there is none and none is needed."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        if found := which("ffmpeg"):
            return found
    if not needed:
        return ""
    raise MissingError("an MP4 needs ffmpeg; `pip install 'glassformer[video]'` brings it, or ask for a .gif")


def _encoder(path: Path, shape: tuple[int, ...], rate: int) -> subprocess.Popen[bytes]:
    colours = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
    command = [
        ffmpeg(), "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{shape[1]}x{shape[0]}",
        "-r", str(rate), "-i", "-", "-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv", *colours,
        "-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", "-threads", "1",
        "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart", str(path),
    ]  # fmt: skip
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def _joined_video(folder: Path, path: Path) -> Path:
    """The segments one after the other, without encoding them again."""
    parts = sorted(folder.glob("video.*.mp4"))
    whole = parts[0]
    if len(parts) > 1:
        (folder / "parts.txt").write_text("".join(f"file '{part.name}'\n" for part in parts), encoding="utf-8")
        whole = folder / "whole.mp4"
        command = [
            ffmpeg(), "-loglevel", "error", "-y", "-f", "concat", "-safe", "0", "-i", str(folder / "parts.txt"),
            "-c", "copy", "-fflags", "+bitexact", "-movflags", "+faststart", str(whole),
        ]  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            raise Error("ffmpeg could not join the two halves of the film")
    storage.replace(path, whole.read_bytes())
    return path


def _even(shape: tuple[int, ...], width: int) -> tuple[int, int]:
    return width, round(shape[0] * width / shape[1])


def _gif_bytes(folder: Path, palette: Image.Image, rate: int, width: int) -> bytes:
    """One looping GIF with one palette; Pillow keeps of each frame what changed."""
    height = round(width * 9 / 16)
    colours = palette.getpalette()
    assert colours is not None

    def images() -> Iterator[Image.Image]:
        for part in sorted(folder.glob("gif.*.raw")):
            with part.open("rb") as file:
                while raw := file.read(width * height):
                    image = Image.frombytes("P", (width, height), raw)
                    image.putpalette(colours)
                    yield image

    frames = images()
    first = next(frames)
    rest = list(frames)
    pause = round(100 / rate) * 10  # milliseconds; a GIF counts in hundredths of a second
    times = [pause] * (1 + len(rest))
    times[0], times[-1] = int(1000 * HOLD[0]), int(1000 * HOLD[1])
    out = io.BytesIO()
    first.save(out, "GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=False, disposal=1)
    return out.getvalue()


def _joined_rows(folder: Path, path: Path) -> Path:
    parts = sorted(folder.glob("rows.*.csv"))
    storage.replace(path, b"".join(part.read_bytes() for part in parts))
    return path
