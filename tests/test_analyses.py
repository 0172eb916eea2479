"""The shared parts of analyses, and some of these on models whose answer is known; test_figures.py holds them all."""

from dataclasses import fields
from math import log
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hand_wired
from glassformer import reference, summary
from glassformer.analyses import _clock, _pairs, _plane
from glassformer.analyses._result import listed, percent, thousands
from glassformer.architecture import nest
from glassformer.errors import CallError, MissingError
from glassformer.experiment import load
from glassformer.record import Recorder
from glassformer.run import Run
from small_runs import NAN, POPULATION, RUNS, run_of

# ---- the shared parts ------------------------------------------------------------------------------------------------


def test_numbers_in_words():
    assert [percent(x) for x in (0.843, 1, 0, 0.032, 0.9999, 0.09)] == ["84 %", "100 %", "0 %", "3.2 %", "100 %", "9 %"]
    assert thousands(20_000) == "20\u202f000"
    assert listed(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize("run", [*RUNS, NAN, POPULATION])
def test_the_clock_knows_every_run(run):
    run = run_of(run)
    text = _clock.text(run, 0)
    assert "step 0 of" in text
    assert "nan" not in text
    moments = _clock.moments(run)
    assert moments == sorted(set(moments))
    assert {int(run.steps[0]), int(run.steps[-1])} <= set(moments)
    assert set(moments) <= set(run.steps.tolist())
    with pytest.raises(MissingError, match="nearest"):
        _clock.resolve(run, 10**7)


def test_kept_steps_for_a_film_are_even_and_hold_both_ends():
    run = run_of("plus_last_even")
    for pace in ("even", "change"):
        steps = _clock.kept(run, 20, pace)
        assert steps[0] == run.steps[0]
        assert steps[-1] == run.steps[-1]
        assert len(steps) <= 20
        assert set(steps) <= set(run.steps.tolist())
    gaps = np.diff(_clock.kept(run, 20))
    assert gaps.max() <= gaps.min() + 1


def test_a_film_of_what_moves_goes_on_where_weights_are_no_numbers(tmp_path):
    """Ten equal moves, then nothing that can be measured: the first half is even, and the last step is shown."""
    experiment = load("plus_last_even", steps=20)
    weights = {
        name: np.arange(21, dtype=np.float32).reshape(-1, *[1] * len(shape)) * np.ones(shape, np.float32)
        for name, shape in experiment.architecture.shapes().items()
    }
    for array in weights.values():
        array[11:] = np.nan
    with Recorder.create(tmp_path / "run", experiment, [18]) as recorder:
        recorder.safe_point(20, list(range(21)), weights, [], {})
        recorder.finish("diverged")
    found = _clock.kept(Run(tmp_path / "run"), 6, pace="change")
    assert (found[0], found[-1], len(found)) == (0, 20, 6)
    np.testing.assert_allclose(found[:-1], [0, 2, 4, 6, 8], atol=1)  # of ten equal moves, every second


def test_a_life_is_judged_mostly_where_something_is_learnt():
    run = run_of("plus_last_even")
    losses, logged = np.full(11, 2.0), np.linspace(run.steps[0], run.steps[-1], 11)
    losses[:3] = 4.0, 3.0, 2.0  # all is learnt in the first fifth
    told = SimpleNamespace(
        steps=run.steps, metrics={"step": logged, "validation_loss": losses}, members=1, _entry=run._entry
    )
    looked = _clock.looks(told, 20)
    assert (looked[0], looked[-1]) == (run.steps[0], run.steps[-1])
    assert set(looked) <= set(run.steps.tolist())
    early = [step for step in looked if step <= 0.2 * run.steps[-1]]
    assert len(early) / len(looked) == pytest.approx(0.6, abs=0.06)  # half for what is learnt, a tenth for the time
    losses[:] = 2.0
    assert np.ptp(np.diff(_clock.looks(told, 20))) <= 1  # nothing learnt: even in time
    losses[:] = np.nan
    assert np.ptp(np.diff(_clock.looks(told, 20))) <= 1


def test_rungs_are_passed_in_order_and_only_once_the_loss_is_there():
    run = run_of("plus_last_even")
    losses, steps = run.metrics["validation_loss"], run.metrics["step"]
    slack = summary.SLACK * (log(12) - run.task.floor(8))
    for rung, step in _clock.passed(run):
        if step is not None:
            assert losses[steps == step][0] <= rung.nats + slack
    assert [rung.nats for rung in _clock.ladder(run)] == sorted((r.nats for r in _clock.ladder(run)), reverse=True)


def test_rungs_of_one_price_are_one():
    axis = _clock.rung_axis(_clock.ladder(run_of("lucky7")))
    assert dict(zip(axis.values, axis.labels, strict=True))["last token"] == "token frequencies, last token"


@pytest.mark.parametrize("run", [*RUNS])
def test_pairs_equal_the_reference_pass_on_real_windows(run):
    run = run_of(run)
    found = _pairs.pairs(run)
    windows = run.task.examples(run.architecture.context, "validation", 5).windows
    for window in windows[:, : run.architecture.context]:
        trace = reference.forward(nest(run.weights(-1)), window, run.architecture)[1]
        places = np.arange(len(window))
        assert_allclose(found.at("embedded")[window, places], trace["embedded"], rtol=1e-6)
        for point in ("query", "key", "value"):
            for head in range(run.architecture.heads):
                here = found.at(point, head)[window, places]
                assert_allclose(here, trace[point][0, head], rtol=2e-5, atol=1e-6)
    assert found.index(_pairs.in_file(found.tokens[-1], 2)) == (len(found.tokens) - 1, 2)
    with pytest.raises(CallError):
        found.index("no such pair")


def test_pairs_are_labelled_token_by_token():
    found = _pairs.pairs(run_of("plus_last_even"))
    assert found.labels[:9] == ["0₀", "0₁", "0₂", "0₃", "0₄", "0₅", "0₆", "0₇", "1₀"]
    assert _pairs.drawn(["+", " ", "a@b"]) == ["+", "␣", "a@b"]
    assert _pairs.drawn(_pairs.placed(["8", "3", " "])) == ["8₀", "3₁", "␣₂"]
    assert _pairs.drawn(_pairs.paired(["8", "+"], 2)) == ["8₀", "8₁", "+₀", "+₁"]


def test_a_plane_of_two_features_loses_nothing_and_of_one_is_a_line():
    points = np.random.default_rng(0).normal(size=(10, 2))
    assert_allclose(_plane.plane(points).points(points), points)
    line = _plane.plane(points[:, :1])
    drawn = line.points(points[:, :1], spread=np.linspace(0, 1, 10))
    assert_allclose(drawn[:, 0], points[:, 0])
    assert_allclose(drawn[:, 1], np.linspace(0, 1, 10))


def test_a_plane_of_more_features_is_that_of_the_principal_components():
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(200, 2)) * [5, 2]
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0][:2]
    points = hidden @ turn + 3
    found = _plane.plane(points)
    assert found.kept == pytest.approx(1)
    far = np.linalg.norm(points[:, None] - points[None], axis=-1)
    drawn = found.points(points)
    assert_allclose(np.linalg.norm(drawn[:, None] - drawn[None], axis=-1), far, atol=1e-8)
    assert_allclose(found.zero, found.points(np.zeros(6)))
    assert_allclose(found.zero, 0, atol=1e-12)  # the numbers on the axes count from the point with all features 0
    assert_allclose(found.origin + drawn @ found.basis.T, points)  # the plane goes through the points
    assert "component 1 · " in found.labels[0]
    assert not found.is_projection
    assert _plane.plane(rng.normal(size=(500, 12))).is_projection


def test_a_pair_plane_draws_the_scores_it_can():
    rng = np.random.default_rng(2)
    queries, keys = rng.normal(size=(30, 5)), rng.normal(size=(40, 5))
    found = _plane.pair_plane(queries, keys)
    scores, drawn = queries @ keys.T, found.queries(queries) @ found.keys(keys).T
    left, sizes, right = np.linalg.svd(scores)
    assert_allclose(drawn, left[:, :2] * sizes[:2] @ right[:2], atol=1e-8)
    lost = ((scores - drawn) ** 2).sum() / ((scores - scores.mean()) ** 2).sum()
    assert found.kept == pytest.approx(1 - lost)
    flat = _plane.pair_plane(queries[:, :2], keys[:, :2])
    assert flat.lossless
    assert flat.kept == 1
    assert_allclose(flat.queries(queries[:, :2]), queries[:, :2])


# ---- one by one, on models whose answer is known ---------------------------------------------------------------------


def test_previous_token_head_looks_one_back(tmp_path):
    from glassformer.analyses.attend.attention import attention

    expected = np.eye(8, k=-1)
    expected[0, 0] = 1  # nothing lies before the first token
    seen = attention(hand_wired.previous_token(tmp_path))
    assert_allclose(seen.attention.values[0, 0], expected, atol=1e-6)
    for query, key in enumerate(seen.source):
        there = seen.on_answer.values[0, 0, query]
        assert np.isnan(there) if key < 0 else there == pytest.approx(expected[query, key], abs=1e-6)


def test_attention_equals_the_reference_pass():
    from glassformer.analyses.attend.attention import attention

    for name in RUNS:
        run = run_of(name)
        trace = reference.forward(nest(run.weights(0)), run.tokens(None), run.architecture)[1]
        assert_allclose(attention(run, step=0).attention.values, trace["attention"], rtol=1e-6)


def test_loss_holds_what_was_logged_and_the_exact_ladder():
    from glassformer.analyses.learn.loss import loss

    run = run_of("plus_last_even")
    seen = loss(run)
    np.testing.assert_array_equal(seen.curves["validation"].values, run.metrics["validation_loss"])
    assert_allclose(seen.rungs.values[0], log(12))
    assert_allclose(loss(run, unit="bits").rungs.values, seen.rungs.values / log(2))
    assert_allclose(loss(run, unit="perplexity").rungs.values[0], 12)
    assert "diverged" in loss(run_of(NAN)).title
    assert f"{run.metrics['validation_loss'][-1]:.2f}" in seen.title
    assert {field.name for field in fields(seen)} >= {"curves", "rungs", "crossed"}
