"""Long names of tokens: no figure cuts them at its edge or sets one over another."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from glassformer import figures, films
from glassformer.experiment import load
from glassformer.run import Run
from small_runs import TEXT, run_of
from small_texts import noise

NAMED = ("scoring", "attention", "attention_history", "mixing", "residual", "readout", "qkv_overview", "attribution")


@pytest.fixture(scope="module")
def rhyme(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Its inputs end in <END>, the longest name of all."""
    return noise(tmp_path_factory.mktemp("rhyme") / "run", load("mary", steps=2))


def written(figure: Figure) -> list[tuple[str, Bbox]]:
    """Names of axes and of places along them that are in view, and where they stand."""
    figure.canvas.draw()
    found: list[Text] = []
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            found += [axis.label, *(tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)]
    return [(text.get_text(), text.get_window_extent()) for text in found if text.get_visible() and text.get_text()]


@pytest.mark.parametrize("size", ["screen", "print"])
@pytest.mark.parametrize("name", NAMED)
def test_no_name_is_cut_at_the_edge_of_the_sheet(name: str, size: str, rhyme: Run) -> None:
    figure = getattr(figures, f"plot_{name}")(rhyme, size=size)
    wide, high = figure.canvas.get_width_height()
    told = written(figure)
    assert any("<END>" in text for text, _ in told)
    for text, box in told:
        assert min(box.x0, box.y0) > -1, text
        assert box.x1 < wide + 1, text
        assert box.y1 < high + 1, text


def test_names_below_the_neurons_leave_the_panels_below_alone() -> None:
    figure = figures.plot_neurons(run_of(TEXT))
    for (text, one), (other, two) in combinations(written(figure), 2):
        shared = Bbox.intersection(one, two)
        assert shared is None or min(shared.width, shared.height) < 2, (text, other)


def test_every_token_has_its_name_beside_the_embeddings(rhyme: Run) -> None:
    figure = figures.plot_embeddings(rhyme)
    rows = [{tick.get_text() for tick in ax.get_yticklabels()} for ax in figure.axes]
    assert set(rhyme.task.vocabulary) in rows


def test_the_film_of_a_pass_leaves_its_left_edge_free(rhyme: Run) -> None:
    for frame in films.film_forward(rhyme, frames=8).frames():
        assert np.unique(frame[:600, :6].reshape(-1, 3), axis=0).shape == (1, 3), "paper alone, above the clock"
