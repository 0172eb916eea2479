"""What all films share: one clock, the loss along the bottom, a background drawn once, and fast encoders."""

from glassformer.films._film.cells import Cells
from glassformer.films._film.encode import COLOURS, FORMATS, GIF_WIDTH, HOLD, LEAST_WIDTH, MOST_BYTES, WIDTH, ffmpeg
from glassformer.films._film.pasted import Picture, Stamps
from glassformer.films._film.scene import FPS, REACH, Film, Progress, Scene, Update
from glassformer.films._film.stage import Stage
from glassformer.films._film.strip import loss_curves
from glassformer.films._film.workers import SECOND

__all__ = [
    "COLOURS",
    "FORMATS",
    "FPS",
    "GIF_WIDTH",
    "HOLD",
    "LEAST_WIDTH",
    "MOST_BYTES",
    "REACH",
    "SECOND",
    "WIDTH",
    "Cells",
    "Film",
    "Picture",
    "Progress",
    "Scene",
    "Stage",
    "Stamps",
    "Update",
    "ffmpeg",
    "loss_curves",
]
