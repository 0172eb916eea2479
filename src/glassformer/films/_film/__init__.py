"""What all films share: one clock, the loss along the bottom, a background drawn once, and fast encoders."""

from glassformer.films._film.cells import Cells
from glassformer.films._film.encode import FORMATS, GIF_WIDTH, MOST_BYTES, WIDTH, ffmpeg
from glassformer.films._film.pasted import Picture, Stamps
from glassformer.films._film.scene import FPS, Film, Progress, Update
from glassformer.films._film.stage import Stage
