"""Small parts of the figures over a life: names that meet their lines, numbers on logarithmic axes, units."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from glassformer.figures import _draw, _life
from glassformer.figures.health.runtime import BYTES, OPERATIONS, _unit


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
def test_the_line_from_a_name_begins_where_its_curve_ends(scale):
    """Also where the limits still wait to be fitted to the curves."""
    figure = Figure(figsize=(6, 4))
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.1, 0.1, 0.6, 0.8))
    ax.set_yscale(scale)
    ends = (0.02, 3.0, 400.0)
    for end in ends:
        ax.plot([0, 1], [1.0, end], color="black")
    _draw.beside(ax, [(end, f"to {end}", "black") for end in ends])
    figure.canvas.draw()
    begins = sorted(line.get_ydata()[0] for line in ax.lines[len(ends) :])
    wanted = [ax.transAxes.inverted().transform(ax.transData.transform((1, end)))[1] for end in ends]
    np.testing.assert_allclose(begins, wanted, atol=1e-6)


@pytest.mark.parametrize(("low", "high"), [(0.002, 0.008), (1e-6, 0.1), (0.5, 30.0), (1e-12, 1.0)])
def test_a_logarithmic_axis_has_numbers(low, high):
    figure = Figure(figsize=(6, 2))
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.2, 0.2, 0.7, 0.7))
    ax.set_ylim(low, high)
    _life.logarithmic(ax)
    figure.canvas.draw()
    ticks, texts = ax.get_yticks(), [text.get_text() for text in ax.get_yticklabels()]
    assert len(ticks) >= 2
    assert all(low <= tick <= high for tick in ticks)
    assert all(texts)
    assert ax.get_ylim() == (low, high)


def test_numbers_are_plain_while_there_are_few_zeros():
    assert [_life.power(value) for value in (300, 1, 0.02, 0.0005, 1e-5, 5e-6)] == [
        "300", "1", "0.02", "0.0005", "10⁻⁵", "5 · 10⁻⁶",
    ]  # fmt: skip


def test_a_unit_is_never_larger_than_the_largest_bar():
    assert _unit(OPERATIONS, 49_152) == (1e3, "thousand operations")
    assert _unit(BYTES, 16_384) == (1e3, "kB")
    assert _unit(BYTES, 2.5e9) == (1e9, "GB")
    assert _unit(BYTES, 12) == (1, "bytes")
