"""What every analysis must know of a text: only the token that came is right, and nobody knows the least loss."""

from collections import Counter
from math import erf

import numpy as np
import pytest
from numpy.testing import assert_allclose

import glassformer as gf
import hand_wired
from glassformer import reference
from glassformer.analyses import _judged, _pairs
from glassformer.analyses._checks import _where
from glassformer.analyses._symptoms import Symptoms
from glassformer.analyses.attend.head_roles import INDUCTION, _induction, head_roles
from glassformer.analyses.health.generalisation import generalisation
from glassformer.analyses.learn.confusion import confusion, diagonal
from glassformer.analyses.learn.generated import generated
from glassformer.analyses.learn.loss import loss
from glassformer.analyses.trust.calibration import calibration
from glassformer.analyses.what.training_data import training_data
from glassformer.analyses.what.vocabulary import vocabulary
from glassformer.figures import _draw, plot_confusion, plot_generalisation, plot_loss, plot_training_log
from small_runs import MODULAR, TEXT, run_of


def test_the_error_function_to_the_last_digit():
    x = np.concatenate([np.linspace(-7, 7, 4001), [0.0, 1e-12, 30.0, -30.0, np.inf]])
    assert_allclose(reference._erf(x), [erf(v) for v in x], rtol=0, atol=3e-16)
    small = x.astype(np.float32)
    assert_allclose(reference._erf(small), [erf(v) for v in small], rtol=0, atol=1e-11)
    assert np.isnan(reference._erf(np.array([np.nan]))).all()


def test_one_product_for_all_examples_is_the_product_of_each():
    rng = np.random.default_rng(0)
    x, matrix = rng.normal(size=(3, 2, 5, 4)), rng.normal(size=(4, 6))
    assert_allclose(reference.product(x, matrix), np.einsum("abij,jk->abik", x, matrix))
    assert_allclose(reference.product(x[0, 0], matrix), x[0, 0] @ matrix)


def test_in_a_text_only_the_token_that_came_is_right():
    run = run_of(TEXT)
    seen = _judged.judged(run, int(run.steps[-1]), most=30)
    windows = run.task.examples(run.architecture.context, "validation", 30).windows
    chances = run.trace(windows[:, :-1])["probabilities"]
    assert not seen.rule
    np.testing.assert_array_equal(seen.right, chances.argmax(-1) == windows[:, 1:])
    given = np.take_along_axis(chances, windows[:, 1:, None], -1)[..., 0]
    assert_allclose(seen.chance_right, given)
    assert_allclose(seen.excess, seen.examples.truth - np.log(given), rtol=1e-5)
    assert confusion(run).matched == pytest.approx(
        float(np.mean(_judged.judged(run, int(run.steps[-1]), 0, _judged.enough(run, 1000)).right))
    )


def test_where_a_rule_holds_every_allowed_token_is_right():
    run = run_of("plus_last_even")
    seen = _judged.judged(run, int(run.steps[-1]), most=50)
    chances = run.trace(seen.examples.windows[:, :-1])["probabilities"]
    allowed = seen.examples.allowed
    assert_allclose(seen.chance_right, np.where(allowed, chances, 0).sum(-1), rtol=1e-5)
    rows, places = np.indices(seen.guess.shape)
    np.testing.assert_array_equal(seen.right, allowed[rows, places, seen.guess])


def test_pairs_of_a_large_vocabulary_are_those_of_the_most_frequent_tokens():
    run = run_of(TEXT)
    counts = np.bincount(run.task.stream, minlength=len(run.task.vocabulary))
    few = _pairs.MOST_PAIRS
    try:
        _pairs.MOST_PAIRS = 100
        found = _pairs.pairs(run, member=0, also=(int(np.argmin(counts)),))
    finally:
        _pairs.MOST_PAIRS = few
    assert len(found.ids) < len(run.task.vocabulary)
    assert {int(np.argmin(counts)), *map(int, run.tokens(None)), int(np.argmax(counts))} <= set(found.ids)
    window = np.array([found.ids[k] for k in range(run.architecture.context)])
    trace = run.trace(window)
    rows, places = [found.row(token) for token in window], np.arange(len(window))
    assert_allclose(found.at("embedded")[rows, places], trace["embedded"], rtol=1e-5)
    assert_allclose(found.at("query", 1)[rows, places], trace["query"][0, 1], rtol=1e-4, atol=1e-6)


def test_words_of_a_loss_on_a_text_speak_of_counts():
    run = run_of(TEXT)
    words = _draw.of(plot_loss(run)).words
    assert "best table of counts" in words.title
    assert "Nobody knows" in words.caption
    seen = loss(run)
    table = float(run.about["floors"]["validation"])
    assert_allclose(seen.curves["train_excess"].values, run.metrics["train_loss"] - table)
    assert_allclose(loss(run, unit="perplexity").rungs.values, np.exp(seen.rungs.values))


def test_the_surprise_of_a_written_token_is_minus_its_log_probability():
    run = run_of(TEXT)
    seen = generated(run)
    assert not seen.truth_known
    ids, cost = seen.tokens.values[-1, 0, 0].astype(int), seen.surprise.values[-1, 0, 0]
    assert np.isnan(cost[0])
    for place in (1, 5, len(ids) - 1):
        before = ids[max(0, place - run.architecture.context) : place]
        assert cost[place] == pytest.approx(-np.log(run.trace(before)["probabilities"][-1, ids[place]]), rel=1e-4)


def test_stretches_of_a_text_are_of_its_training_part():
    run = run_of(TEXT)
    seen = training_data(run)
    begin, end = run.task.bounds(run.architecture.context)["train"]
    assert seen.text == end - begin + run.architecture.context
    for start, words in zip(seen.ids.axes["window"].values, seen.tokens, strict=True):
        there = run.task.stream[start : start + len(words)]
        assert tuple(run.task.vocabulary[token] for token in there) == words
        assert start + len(words) <= end + run.architecture.context


def test_what_the_window_leaves_open_of_a_text_learnt_by_heart_is_counted(tmp_path):
    run = gf.train("mary", steps=4, out=tmp_path / "run")
    seen, row = training_data(run), run.task.data(6).train.tokens.tolist()
    after: dict[tuple[int, ...], set[int]] = {}
    for place in range(1, len(row)):
        for begin in range(max(0, place - 6), place):
            after.setdefault(tuple(row[begin:place]), set()).add(row[place])
    open_ = [place for place in range(1, len(row)) if len(after[tuple(row[max(0, place - 6) : place])]) > 1]
    assert [k for k, verdict in enumerate(seen.verdicts[0]) if verdict == "not_in_view"] == open_
    assert seen.several == len(open_) == 7
    assert "7 of the 105 after the first are left open by the 6 tokens before" in seen.title
    sure = calibration(run)  # here, too, only what came is right
    assert not sure.settles
    assert sure.wrong == pytest.approx((1 - sure.comes) * sure.predictions)


def test_where_a_rule_or_a_question_settles_the_answer_confidence_is_told_of_that():
    assert calibration(run_of("plus_last_even")).settles
    assert calibration(run_of(MODULAR)).settles


def test_the_commonest_difference_is_that_of_all_tokens_also_of_those_not_shown(tmp_path):
    run = gf.train("mary", steps=4, out=tmp_path / "run")
    seen, all_ = confusion(run), _judged.judged(run, int(run.steps[-1]), 0, _judged.enough(run, 500))
    off = Counter(zip(all_.targets.ravel().tolist(), all_.guess.ravel().tolist(), strict=True))
    most = max(times for (came, said), times in off.items() if came != said)
    shown = np.where(diagonal(seen), 0, seen.count.values[-1])
    assert seen.left_out
    assert max(shown.max(), seen.unshown_times) == most
    words = run.task.vocabulary
    for came, said in seen.unshown:
        assert off[words.index(came), words.index(said)] == seen.unshown_times
    rows = seen.share.values.sum(axis=-1)
    assert "sums to 1" not in _draw.of(plot_confusion(run)).words.caption or np.allclose(rows, 1)


def test_the_gap_of_a_text_is_that_of_its_losses():
    run = run_of(TEXT)
    losses = run.metrics["validation_loss"] - run.metrics["train_loss"]
    assert_allclose(generalisation(run).gap.values, losses.ravel(), atol=1e-6)


def test_a_tokenizer_that_loses_spaces_is_found_out():
    seen = vocabulary(run_of(TEXT))
    assert seen.lost == ("" if seen.text == seen.back else "with other spaces")
    assert vocabulary(run_of(TEXT), sequence="mary  had").lost == "with other spaces"
    assert vocabulary(run_of(MODULAR)).lost == ""


def test_first_choices_of_a_text_are_counted_as_they_came():
    seen = calibration(run_of(TEXT))
    right, wrong = (seen.confidence[name].values.sum() for name in ("right", "wrong"))
    assert (right + wrong, wrong) == (seen.predictions, seen.wrong)
    came = seen.reliability["came"].values * seen.reliability["count"].values
    assert np.nansum(came) == pytest.approx(right)


def test_a_head_that_looks_one_back_is_no_induction_head(tmp_path):
    run = hand_wired.previous_token(tmp_path)
    assert_allclose(_induction(run, 0, 0), 0, atol=1e-6)


def test_induction_is_the_attention_on_what_followed_the_first_copy():
    run = run_of(TEXT)
    half = run.architecture.context // 2
    seen = head_roles(run)
    used = np.unique(run.task.examples(run.architecture.context, "validation", 96).windows)
    once = used[np.random.default_rng(0).integers(0, len(used), (16, half))]
    total = np.zeros((run.architecture.blocks, run.architecture.heads))
    for row in once:
        looks = run.trace(np.concatenate([row, row]))["attention"]
        total += np.mean([looks[:, :, q, q - half + 1] for q in range(half, 2 * half - 1)], axis=0)
    assert_allclose(seen.induction.values, total / 16, rtol=1e-4)
    assert 0 < INDUCTION < 1


def test_nobody_speaks_of_the_floor_of_a_text():
    """Its least loss is not known; the best table of counts stands in for it under its own name."""
    run, rule = run_of(TEXT), run_of("plus_last_even")
    for plot, windows in ((plot_training_log, "same"), (plot_generalisation, "held-out")):
        of_text, of_rule = (_draw.of(plot(each)).words.caption for each in (run, rule))
        assert f"above the best table of counts on the {windows} windows" in of_text
        assert "floor" not in of_text
        assert "above the floor on the same windows" in of_rule
    for s, least in ((Symptoms(run), "the best table of counts"), (Symptoms(rule), "the floor")):
        assert _where(s, -1.0)[0].endswith(f"and {least}")
