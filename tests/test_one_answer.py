"""One answer, step by step: every number against the model's own, and the sentence against a model wired by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hand_wired
from glassformer import reference
from glassformer.analyses.decide.one_answer import one_answer
from small_runs import run_of
from test_analyses_decide import random_run

DEMO = "4 9 + 4 10 7 + 10"


@pytest.mark.parametrize("name", ["plus_last_even", "even_abs_diff", "five_operations"])
def test_every_number_is_the_models_own(name):
    run = run_of(name)
    seen, a = one_answer(run), run.architecture
    trace = run.trace(None)
    query, key = (trace[kind][-1, seen.head].astype(np.float64) for kind in ("query", "key"))
    in_view = seen.place + 1 if a.causal else len(seen.tokens)
    scores = key[:in_view] @ query[seen.place] / np.sqrt(a.per_head if a.score_scale == "head" else a.width)
    assert_allclose(seen.scores.values, scores, atol=1e-5)
    assert_allclose(seen.shares.values, np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum(), atol=1e-5)
    assert_allclose(seen.answer.values, trace["probabilities"][seen.place][: a.answers], atol=1e-6)
    last = a.blocks - 1
    nothing = {"attended": lambda value, block: 0 * value if block == last else value}
    without = run.trace(None, edits=nothing)["probabilities"]
    assert_allclose(seen.without.values, without[seen.place][: a.answers], atol=1e-5)


def test_the_way_on_the_plane_is_what_attention_adds():
    seen = one_answer(run_of("plus_last_even"), sequence=DEMO)
    before, added, after = seen.points.values
    assert_allclose(before + added, after, atol=1e-5)  # two features: the plane is the stream itself
    left, right, bottom, top = seen.regions.frame
    for x, y in (before, after):
        assert left < x < right
        assert bottom < y < top


def test_the_sentence_tells_of_the_place_that_must_look_up(tmp_path):
    run = hand_wired.previous_token(tmp_path / "run")
    seen = one_answer(run, sequence=DEMO)
    assert seen.tokens[seen.place] == "+"
    assert seen.place == 6
    assert int(seen.shares.values.argmax()) == 5
    assert seen.title.startswith("+₆ looks at 7₅ (")


@pytest.mark.parametrize(("width", "has"), [(4, True), (4, False), (6, True)])
def test_on_a_wider_model_the_map_under_both_points_is_what_the_model_says(tmp_path, width, has):
    run = random_run(tmp_path / "run", width=width, residual=has)
    seen, model = one_answer(run, sequence=DEMO), run.trace(DEMO)
    nothing = run.trace(DEMO, edits={"attended": lambda value, _: 0 * value})
    for point, says in ((seen.points.values[0], nothing), (seen.points.values[2], model)):
        stream = (seen.plane.origin + seen.plane.basis @ point).astype(np.float32)
        logits = hand_wired.logits_after(run, stream)
        assert_allclose(reference.softmax(logits), says["probabilities"][seen.place], atol=1e-5)
    assert seen.plane.width == width
    assert_allclose(seen.points.values[0, 1], seen.points.values[2, 1], atol=1e-9)  # the push is the first axis
