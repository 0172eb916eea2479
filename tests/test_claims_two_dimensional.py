"""What measures the claims of source S4, against truths found another way."""

import numpy as np
import pytest

from glassformer.claims import _plane, two_dimensional
from glassformer.claims._claim import OverSeeds
from glassformer.claims._said import fixed, share, steps


def test_a_line_parts_points_exactly_if_some_direction_does() -> None:
    """Compared with trying ten thousand directions; some of the sets can be parted, some cannot."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 7, 2))
    turn = np.linspace(0, 2 * np.pi, 10_000, endpoint=False)
    along = points @ np.stack([np.cos(turn), np.sin(turn)])  # (set, point, direction)
    tried = (along[:, :3].min(axis=1) > along[:, 3:].max(axis=1)).any(axis=1)
    found = _plane.parted(points, range(3), range(3, 7))
    assert 30 < tried.sum() < 270
    assert (found >= tried).all()  # a gap may be narrower than the directions tried
    assert (found != tried).sum() <= 2


def test_points_on_one_side_are_parted_and_a_point_inside_a_triangle_is_not() -> None:
    triangle = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]
    for inner, expected in (([1.0, 1.0], False), ([5.0, 5.0], True), ([-0.1, -0.1], True)):
        assert _plane.parted(np.array([*triangle, inner]), [3], range(3)) == expected


def test_how_far_outside() -> None:
    """The numbers lie on a circle of radius 2 around (1, 1), the other point 6 away from its centre."""
    turn = np.arange(5) * 2 * np.pi / 5
    circle = 1 + 2 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    assert _plane.outside(np.array([*circle, [7.0, 1.0]]), 5, range(5)) == pytest.approx(3)


def test_a_ladder_is_found_whichever_way_it_leans() -> None:
    """A line with two rungs exchanged: the rank correlation by its definition, as a correlation of ranks."""
    height = np.array([0.0, 1.0, 3.0, 2.0, 4.0, 5.0, 6.0, 7.0])
    for direction in ([1.0, 2.0], [-3.0, 1.0]):
        order, line = _plane.ladder(height[:, None] * np.array(direction) + 5)
        assert order == pytest.approx(np.corrcoef(height, np.arange(8))[0, 1])
        assert line == pytest.approx(1)
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    assert _plane.ladder(square)[1] == pytest.approx(0.5)


def test_since_when_something_holds_for_good() -> None:
    """Of four members: always, from the third step on, once but not for good, and never at the end."""
    told = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0]], dtype=bool)
    looked = (0, 100, 200, 300)
    found = _plane.since(looked, lambda step: told[looked.index(step)])
    np.testing.assert_array_equal(found, [0, 200, 200, np.nan])


def test_evenness_is_one_where_all_in_view_count_alike() -> None:
    even = np.tri(8) / np.tri(8).sum(axis=1, keepdims=True)
    assert two_dimensional._even(even)[1:] == pytest.approx(1)
    assert two_dimensional._even(np.eye(8)) == pytest.approx(0)


def test_numbers_in_sentences() -> None:
    assert share(OverSeeds(0.98061, 0.9756, 0.9824, 16)) == "98.1 % [97.6, 98.2]"
    assert share(OverSeeds(1.0, 1.0, 1.0, 16), 0) == "100 %"
    assert steps(OverSeeds(6700.0, 5700.0, float("nan"), 5)) == "6,700 [5,700, never]"
    assert steps(OverSeeds(500.0, 500.0, 500.0, 5)) == "500"
    assert fixed(OverSeeds(2.2134, 2.196, 2.249, 16)) == "2.213 [2.196, 2.249]"
