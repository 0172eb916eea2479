"""The shared parts of all figures: a sheet with fixed margins, heat maps, planes, labels, verdicts, files."""

from matplotlib.axes import Axes

from glassformer.figures._draw.axes import bare, beside, heading, name_rows, places, remove_spare, steps_axis, widest
from glassformer.figures._draw.drawn import drawn, of
from glassformer.figures._draw.files import FORMATS, MOST_ROWS, data, legible_row, save, save_numbers
from glassformer.figures._draw.glyphs import LegibleAgg
from glassformer.figures._draw.heatmap import bar, hatch, heat, limits, number, numbers_fit, outline
from glassformer.figures._draw.label import labels
from glassformer.figures._draw.legend import handle
from glassformer.figures._draw.look import Look, paged
from glassformer.figures._draw.plane import arrows, dots, frame, plane_axes, squares
from glassformer.figures._draw.sheet import Sheet
from glassformer.figures._draw.text import text_width, wrap
from glassformer.figures._draw.verdict import cell, cells
