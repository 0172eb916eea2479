"""How steps are spaced along an axis."""

from itertools import pairwise

import numpy as np
import pytest

from glassformer import figures
from glassformer.analyses._scale import by_losses, spaced
from glassformer.errors import MissingError
from glassformer.figures import _draw
from small_runs import run_of

AT = np.arange(0, 10_001, 50)


def exponential(steps: float) -> np.ndarray:
    return 1 + 3 * np.exp(-AT / steps)


def test_an_even_axis_stays_where_learning_takes_its_time():
    assert by_losses(AT, exponential(4000), last=10_000).kind == "linear"


def test_learning_in_the_first_hundredth_makes_the_axis_logarithmic():
    assert by_losses(AT, exponential(100), last=10_000).kind == "log"


def test_a_short_fall_late_in_training_makes_room_for_itself():
    """As in grokking: neither even nor logarithmic steps would show it."""
    late = np.where(AT < 8000, 4.0, np.where(AT < 8300, 4 - (AT - 8000) / 100, 1.0))
    scale = by_losses(AT, late, last=10_000)
    assert scale.kind == "learning"
    assert np.ptp(scale.place(np.array([8000, 8300]))) > 0.5


def test_a_loss_that_only_rises_gives_way_to_that_in_training_and_noise_to_the_even_axis():
    assert by_losses(AT, 5 - exponential(100), exponential(100), last=10_000).kind == "log"
    assert by_losses(AT, np.full(len(AT), np.nan), last=10_000).kind == "linear"
    assert by_losses(AT[:0], last=0, axis="log").place(np.array([0, 1])).tolist() == [0, 1]


@pytest.mark.parametrize("axis", ["linear", "log", "learning"])
def test_a_step_has_one_place_and_a_place_one_step(axis: str):
    scale = by_losses(AT, exponential(300), last=12_000, axis=axis)
    steps = np.array([0, 1, 30, 50, 600, 5000, 10_000, 11_000, 12_000])
    places = scale.place(steps)
    assert places[0] == pytest.approx(0)
    assert places[-1] == pytest.approx(1)
    assert (np.diff(places) > 0).all()
    np.testing.assert_allclose(scale.step(places), steps, atol=1e-6)


def test_half_the_width_by_learning_goes_by_the_clock():
    scale = by_losses(AT, exponential(300), last=10_000, axis="learning")
    half = 300 * np.log(2)  # the step at which half is gained
    assert scale.place(half) == pytest.approx((half / 10_000 + 0.5) / 2, abs=0.005)


@pytest.mark.parametrize("axis", ["log", "learning"])
def test_marks_along_such_an_axis_have_room(axis: str):
    """Their boxes as drawn do not touch."""
    run = run_of("plus_last_even")
    figure = figures.plot_loss(run, axis=axis)
    panel = figure.axes[2]
    assert panel.get_xlim() == (0, 300)
    assert spaced(run, axis).kind == axis
    boxes = [text.get_window_extent() for text in panel.get_xticklabels() if text.get_text()]
    assert len(boxes) > 3
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    assert panel.get_xlabel().startswith("step (")
    _draw.data(figure, "svg")


def test_another_way_to_space_steps_is_refused():
    with pytest.raises(MissingError, match="logarithmic"):
        by_losses(AT, last=10, axis="logarithmic")
