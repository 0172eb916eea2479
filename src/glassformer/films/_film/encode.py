"""Encoders: MP4 by ffmpeg, GIF by Pillow, and the joining of segments."""

import io
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

from PIL import Image

from glassformer import stopping, storage
from glassformer.errors import Error, MissingError

FORMATS = ("mp4", "gif")
WIDTH, GIF_WIDTH, LEAST_WIDTH = 1280, 960, 480  # pixels
HOLD = (1.0, 2.0)  # seconds for which the first and the last frame stand still
MOST_BYTES = 10_000_000  # of a GIF; above, its width is lowered
COLOURS = 128  # of a GIF


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


def encoder(path: Path, shape: tuple[int, ...], rate: int) -> subprocess.Popen[bytes]:
    colours = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
    command = [
        ffmpeg(), "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{shape[1]}x{shape[0]}",
        "-r", str(rate), "-i", "-", "-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv", *colours,
        "-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", "-threads", "1",
        "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart", str(path),
    ]  # fmt: skip
    with stopping.unheard():
        return subprocess.Popen(command, stdin=subprocess.PIPE)


def joined_video(folder: Path, path: Path) -> Path:
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
        with stopping.unheard():
            joining = subprocess.Popen(command)
        if joining.wait():
            raise Error("ffmpeg could not join the two halves of the film")
    storage.replace(path, whole.read_bytes())
    return path


def scaled(shape: tuple[int, ...], width: int) -> tuple[int, int]:
    """The width and height of a frame of this shape, made so wide."""
    return width, round(shape[0] * width / shape[1])


def gif_bytes(folder: Path, palette: Image.Image, rate: int, width: int) -> bytes:
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


def joined_rows(folder: Path, path: Path) -> Path:
    parts = sorted(folder.glob("rows.*.csv"))
    storage.replace(path, b"".join(part.read_bytes() for part in parts))
    return path
