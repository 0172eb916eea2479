"""Costs: operations and bytes against a count by hand, slopes against powers, times against what was logged."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from glassformer.analyses import _stopwatch
from glassformer.analyses.health.runtime import costs, overtakes, runtime, slope
from glassformer.architecture import Architecture
from glassformer.figures import plot_runtime
from glassformer.figures._draw import of
from small_runs import run_of

MODEL = Architecture(vocabulary=50, context=16, width=8, heads=2, feed_forward=32, blocks=2, biases=())


def test_operations_are_those_of_the_products_of_one_step():
    batch, length = 3, 16
    _, done = costs(MODEL, batch)
    once = {
        "queries, keys, values": 2 * 4 * (2 * batch * length * 8 * 8),  # two blocks, four matrices
        "attention": 2 * 2 * (2 * batch * 2 * length * length * 4),  # scores and mix, two heads of width 4
        "feed-forward": 2 * 2 * (2 * batch * length * 8 * 32),
        "logits": 2 * batch * length * 8 * 50,
    }
    assert done == {part: 3 * n for part, n in once.items()}  # backwards costs twice as much again


def test_attention_holds_a_square_and_all_else_a_line():
    one, two = (costs(replace(MODEL, context=length), 5)[0] for length in (16, 32))
    assert one["attention"] == 4 * 2 * 5 * 2 * 16**2 * 2  # bytes, scores and shares, windows, heads, pairs, blocks
    assert two["attention"] == 4 * one["attention"]
    for part in ("stream", "queries, keys, values", "feed-forward", "logits"):
        assert two[part] == 2 * one[part]
    assert two["optimiser"] == 2 * 4 * replace(MODEL, context=32).parameters


def test_attention_overtakes_where_both_cost_the_same():
    length = overtakes(MODEL)
    _, done = costs(replace(MODEL, context=int(length)), 1)
    assert length == int(length)
    assert done["attention"] == pytest.approx(done["queries, keys, values"] + done["feed-forward"])


def test_slopes_are_powers():
    sizes = np.array([16.0, 32, 64, 128])
    assert slope(sizes, 3 * sizes**2) == pytest.approx(2)
    assert slope(sizes, 7 * np.sqrt(sizes)) == pytest.approx(0.5)
    assert np.isnan(slope(sizes[:1], sizes[:1]))


def test_speed_is_what_was_logged():
    run = run_of("plus_last_even")
    seen = runtime(run)
    at, seconds = run.times["step"], run.times["seconds"]
    passed = np.array([b - a for a, b in pairwise(seconds)])
    expected = (at[1:] - at[:-1]) / np.where(passed > 0, passed, np.nan)
    assert_allclose(seen.speed.values, expected)
    assert seen.measured == {}


def test_measured_costs_grow_with_the_context():
    seen = runtime(run_of("plus_last_even"), measure=True)
    table = seen.measured["context"]
    assert table.axes["size"].values == (2, 4, 8, 16, 32)
    assert (table.values[:, 0] > 0).all()
    assert table.values[-1, 1] > table.values[0, 1]
    assert np.isfinite(seen.slopes["context"].values).all()
    sizes = np.log([2, 4, 8, 16, 32])
    fitted = [np.polyfit(sizes, np.log(column), 1)[0] for column in seen.attention.values.T]
    assert_allclose(seen.attention_slopes.values, fitted)
    caption = of(plot_runtime(seen)).words.caption
    assert f"quickest of {_stopwatch.REPEATS} gradient steps" in caption
    assert f"its power {fitted[1]:.2f}, where L² would give 2" in caption


def test_memory_of_attention_grows_with_the_square_of_the_context():
    a = Architecture(vocabulary=10, context=32, width=16, heads=4, feed_forward=16, blocks=1)
    held = [_stopwatch.attention(replace(a, context=length), 4)[1] for length in (32, 64, 128)]
    assert slope(np.array([32.0, 64, 128]), np.array(held)) == pytest.approx(2, abs=0.2)


def test_a_part_alone_sets_aside_what_was_counted_for_it():
    """The compiled step keeps each big array once or twice; a wrong shape would be off by the context or the width."""
    a = Architecture(vocabulary=300, context=64, width=32, heads=4, feed_forward=128, blocks=2)
    held, _ = costs(a, 16)
    found = _stopwatch.parts(a, 16)
    assert set(found) == {"queries, keys, values", "attention", "feed-forward", "logits"}
    for part in ("attention", "feed-forward", "logits"):
        assert 0.4 < found[part][1] / held[part] < 2.5, part
    far = _stopwatch.parts(replace(a, context=128), 16)
    assert 3.5 < far["attention"][1] / found["attention"][1] < 4.5  # with the square of the context
    assert 1.8 < far["feed-forward"][1] / found["feed-forward"][1] < 2.2  # in proportion to it
