"""Files drawn with a memory for texts show what Matplotlib's own canvases show."""

import io
import re

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from glassformer.figures import _draw, _style
from glassformer.figures._draw import canvas

TEXT = ' x="1.23456" d="0.98765"'  # what a token may be


def picture(text: str = "", colours: int = 12) -> Figure:
    figure = Figure(figsize=(4, 3), dpi=100)
    FigureCanvasAgg(figure)
    with matplotlib.rc_context(_style.rc("light", "screen")):
        ax = figure.add_axes((0.15, 0.15, 0.8, 0.8))
        shades = np.linspace(-1, 1, colours**2).reshape(colours, colours)
        _draw.heat(ax, shades, kind="signed", theme=_style.theme("light"), numbers=False)
        ax.plot([0, 7.123456, 3], [1.234567, 2, 9], color="black")
        if text:
            ax.set_xlabel(text)
            ax.set_title(text)
            ax.text(3.3, 4.4, text, rotation=90)
    return figure


def pixels(figure: Figure) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(_draw.data(figure, "png"))).convert("RGB")).astype(int)


def drawn_by_matplotlib(figure: Figure) -> np.ndarray:
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)


def test_a_palette_keeps_the_colours_of_a_map():
    figure = picture(colours=12)  # 144 cells
    ours, theirs = pixels(figure), drawn_by_matplotlib(figure)
    assert ours.shape == theirs.shape
    away = np.abs(ours - theirs).max(-1)
    assert (away > 0).mean() < 0.06  # shades so near each other that one stands for both
    assert (away > 4).mean() < 0.01  # the edges of the line


def test_more_shades_than_a_palette_has_are_hardly_changed():
    figure = picture(colours=24)  # 576 cells
    away = np.abs(pixels(figure) - drawn_by_matplotlib(figure)).max(-1)
    assert away[0, 0] == 0
    assert (away > 8).mean() < 0.01


def test_a_text_lies_where_matplotlib_draws_it_first_and_again():
    figure = picture("likeliest")
    theirs = drawn_by_matplotlib(figure)
    canvas._images.clear()
    first, again = pixels(figure), pixels(figure)
    assert (first == again).all()
    dark = [np.argwhere(each[:30].min(-1) < 128) for each in (first, theirs)]  # the title
    assert len(dark[0]) > 20
    assert np.abs(dark[0].mean(0) - dark[1].mean(0)).max() < 1
    assert np.abs(dark[0].max(0) - dark[1].max(0)).max() <= 1


def test_shorter_places_are_the_same_places_and_texts_stay_as_they_are():
    figure, out = picture(TEXT), io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "glassformer", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    theirs, ours = out.getvalue().decode(), _draw.data(figure, "svg").decode()
    assert len(ours) < 0.95 * len(theirs)
    assert ours.count(TEXT) == theirs.count(TEXT) == 3

    def places(svg: str) -> list[float]:
        paths = re.findall(r'<path[^>]* d="([^"]+)"', svg)
        return [float(each) for path in paths for each in re.findall(r"-?\d+(?:\.\d+)?", path)]

    np.testing.assert_allclose(places(ours), places(theirs), atol=0.01)
    rules = dict(re.findall(r"\.(s\d+) {(.*?)}", ours))
    kept = [rules[name] for name in re.findall(r'<(?:path|text)[^>]* class="(\w+)"', ours)]
    assert kept == re.findall(r'<(?:path|text)[^>]* style="([^"]*)"', theirs)
