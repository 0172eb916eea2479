"""What measures the claims of source S4, against truths found another way."""

from types import SimpleNamespace

import numpy as np
import pytest

from glassformer.claims import _plane, two_dimensional
from glassformer.claims._claim import OverSeeds, verdict
from glassformer.claims._said import fixed, share, steps
from glassformer.experiment import load
from glassformer.record import Recorder
from glassformer.run import Run


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


def plus_without_an_even() -> "tuple[list[float], list[float]]":
    """By place in a window of eight: the chance of a '+', and of a '+' before which only odd numbers are in view.

    Worked out from the rule: after '+' comes an even number, after a number '+' with 0.3, otherwise any of 11 numbers.
    So a '+' without an even number in view has only odd numbers before it, each of which follows a number.
    """
    plus, odd = [0.0], [5 / 11]  # at the first place of a sequence; the chances of the later ones follow
    for _ in range(50):
        number = 1 - plus[-1]
        plus, odd = [*plus, 0.3 * number], [*odd, 0.7 * 5 / 11 * number]
    begins = [(start, 1 / 31 / (length - 8)) for length in range(20, 51) for start in range(length - 8)]
    every = [sum(weight * plus[start + place] for start, weight in begins) for place in range(8)]
    bare = [sum(weight * odd[start] for start, weight in begins) * (0.7 * 5 / 11) ** (place - 1) * 0.3
            for place in range(1, 8)]  # fmt: skip
    return every, [every[0], *bare]


def test_how_many_answers_are_out_of_view() -> None:
    every, bare = plus_without_an_even()
    task = load("plus_last_even").task
    assert 1 - task.shares(8).answerable == pytest.approx(sum(bare) / sum(every), rel=1e-9)
    assert two_dimensional._hidden_in_full_view(task) == pytest.approx(bare[-1] / every[-1], rel=1e-9)
    assert sum(bare) / sum(every) == pytest.approx(0.1825, abs=5e-5)
    assert bare[-1] / every[-1] == pytest.approx(0.000345, abs=5e-7)


def test_errors_with_eight_tokens_in_view_are_those_of_asking(tmp_path, monkeypatch) -> None:
    """A model with random weights, asked window by window."""
    made = load("plus_last_even_as_published", steps=1)
    rng = np.random.default_rng(0)
    shapes = made.architecture.shapes()
    weights = {name: rng.normal(size=(2, *shape)).astype(np.float32) for name, shape in shapes.items()}
    with Recorder.create(tmp_path / "run", made, [0, 1]) as recorder:
        recorder.safe_point(0, [0], {name: value[None] for name, value in weights.items()}, [], {})
        recorder.finish("finished")
    run = Run(tmp_path / "run")
    monkeypatch.setattr(two_dimensional, "LAST_WINDOWS", 150)
    seen = run.task.examples(8, "validation", 150)
    for member, error in enumerate(two_dimensional._last_errors(run)):
        wrong = []
        for window, allowed, asked in zip(seen.windows, seen.allowed[:, -1], seen.constrained[:, -1], strict=True):
            if asked:
                likeliest, _ = run.ask(window[:8], member=member)[0]
                wrong.append(not allowed[run.task.vocabulary.index(likeliest)])
        assert len(wrong) > 20
        assert error == pytest.approx(np.mean(wrong))


@pytest.mark.parametrize(
    ("average", "last", "expected"), [(0.0, 0.0, "reproduced"), (0.434, 0.0, "corrected"), (0.434, 0.3, "refuted")]
)
def test_the_last_rule_error_is_judged_by_what_is_measured(monkeypatch, average, last, expected) -> None:
    """Averaged over all positions, and with eight tokens in view, for the published settings."""
    metrics = {"rule_error": np.full((1, 16), average), "rule_error_answerable": np.full((1, 16), last)}
    run = SimpleNamespace(task=load("plus_last_even").task, metrics=metrics, members=16)
    monkeypatch.setattr(two_dimensional, "_solved", lambda _: np.arange(16) < 5)
    monkeypatch.setattr(two_dimensional, "_last_errors", lambda _: np.full(16, last))
    found = two_dimensional.last_error.measure(run, run)
    assert verdict(two_dimensional.last_error, found) == expected
    assert "over one to eight tokens in view, 18.3 % of the constrained positions have no answer in view" in found.truth
    assert "there 0.03 % of the constrained positions have no answer in view" in found.truth
