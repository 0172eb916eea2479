"""What measures the claims of source S1, against truths found another way."""

from itertools import pairwise

import numpy as np
import pytest

import glassformer as gf
from glassformer.analyses.know.similarity import cosines
from glassformer.claims import _five_operations as five
from glassformer.claims import _printed_training as printed
from glassformer.experiment import load
from glassformer.tasks.five_operations import FiveOperations

SMALL = {"architecture.width": 8, "architecture.heads": 2, "architecture.feed_forward": 16, "train.judged": 50}


def test_the_mean_of_a_log_sum_is_what_draws_give():
    """One logit alone has mean 0; of twenty, a hundred thousand draws."""
    draws = np.random.default_rng(0).uniform(-1, 1, (100_000, 20))
    sums = np.log(np.exp(draws).sum(axis=1))
    assert five.mean_log_sum(1) == pytest.approx(0, abs=1e-6)
    assert five.mean_log_sum(20) == pytest.approx(sums.mean(), abs=4 * sums.std() / 100_000**0.5)


def test_draws_hold_as_many_questions_as_drawing_them_shows():
    rng = np.random.default_rng(0)
    held = [len(np.unique(rng.integers(1000, size=2000))) / 1000 for _ in range(400)]
    assert five.covered(10_000, 5_000) == pytest.approx(np.mean(held), abs=4 * np.std(held) / 20)


def test_multiply_adds_are_those_of_the_forward_pass_written_out():
    block = 8 * (4 * 64 * 64 + 2 * 64 * 256) + 2 * 8 * 8 * 64  # matrices at 8 positions; scores and mixing of 4 × 16
    assert five.multiply_adds(load("five_operations").architecture) == 2 * block + 64 * 20


def test_cosines_within_a_group_and_between_two():
    points = np.random.default_rng(0).normal(size=(7, 5))
    table = cosines(points)
    assert np.sort(five.among(points[:3])) == pytest.approx(np.sort([table[0, 1], table[0, 2], table[1, 2]]))
    assert five.among(points[:3], points[3:]).reshape(3, 4) == pytest.approx(table[:3, 3:])


@pytest.mark.parametrize("many", [2, 3, 4, 8])
def test_drawn_questions_have_their_answers(many):
    meaning = {"First": lambda d: d[0], "Second": lambda d: d[1], "Last": lambda d: d[-1], "Max": max, "Min": min}
    tokens, truth = five.drawn(many, 50)
    task = FiveOperations()
    for row, right in zip(tokens, truth, strict=True):
        name, _, inside = task.decode(row).partition("(")
        digits = [int(digit) for digit in inside.rstrip(")").split(",")]
        assert len(digits) == many
        assert task.vocabulary[right] == str(meaning[name](digits))


def test_one_largest_digit_stands_where_it_is_said_to():
    tokens, places = five.one_largest()
    words = np.array(FiveOperations().vocabulary)[tokens]
    digits = words[:, [2, 4, 6]].astype(int)
    assert len(tokens) == 1000 - 10 - 270 + 135  # not all equal, nor two equal ones above the third
    assert (words[:, 0] == "Max").all()
    assert (words[np.arange(len(words)), places].astype(int) == digits.max(1)).all()
    assert ((digits == digits.max(1, keepdims=True)).sum(1) == 1).all()


def test_printed_rows_are_as_many_as_the_table_has():
    assert [row.epoch for row in printed.TABLE] == [0, 1, *range(5, 51, 5)]
    assert all(a.loss > b.loss and a.accuracy < b.accuracy for a, b in pairwise(printed.TABLE))


def test_members_are_measured_one_by_one(tmp_path):
    """A population of two small models: what they answer, how far they moved, and what a block passes on."""
    run = gf.train("five_operations", seeds=2, steps=3, settings=SMALL, out=tmp_path / "run")
    question = run.tokens("Max(5,3,9)")
    for member, chances in enumerate(five.answers(run, question[None])):
        asked = run.ask("Max(5,3,9)", member=member)
        assert {run.task.vocabulary[k]: pytest.approx(p, abs=1e-6) for k, p in enumerate(chances[0])} == dict(asked)

    before, after = run.weights(0, 1), run.weights(3, 1)
    every = np.concatenate([abs(after[name] - before[name]).ravel() for name in after])
    assert five.moved(run, 0, 3)["all"][1] == pytest.approx(every.mean(), rel=1e-5)
    assert five.moved(run, 0, 3)["embedding"][1] == pytest.approx(
        abs(after["token"] - before["token"]).mean(), rel=1e-5
    )

    cosine, ratio, added = five.passed_on(run)
    seen = [run.trace(row, step=0, member=1) for row in five.asked(run, 100)]  # question by question, place by place
    pairs = [(each["embedded"][k], each["normed_2"][0, k]) for each in seen for k in range(8)]
    lengths = [(np.sqrt(into @ into), np.sqrt(out @ out)) for into, out in pairs]
    turned = [into @ out / (a * b) for (into, out), (a, b) in zip(pairs, lengths, strict=True)]
    assert cosine[1, 0] == pytest.approx(np.mean(turned), abs=1e-5)
    assert ratio[1, 0] == pytest.approx(np.mean([b / a for a, b in lengths]), abs=1e-5)
    assert added[1, 0] >= five.size(seen[0]["attended"][0]) / five.size(seen[0]["embedded"]) * 0.5
    assert five.logged(run, "accuracy", [0, 3]).tolist() == run.metrics["accuracy"][[0, -1]].tolist()


def test_attention_is_settled_from_where_it_stays_near_its_end(monkeypatch):
    """Rows made by hand: block 0 jumps to its end at step 2 and stays, block 1 leaves it again at step 3."""
    there, away = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    rows = {0: (away, away), 1: (away, away), 2: (there, there), 3: (there, away), 4: (there, there)}

    def attention(_run, step, _member, _inputs):
        return np.broadcast_to(np.array(rows[step])[None, :, None, None, :], (3, 2, 1, 1, 2))

    class Life:
        members, steps = 1, np.arange(5)

    monkeypatch.setattr(five, "attention", attention)
    monkeypatch.setattr(five, "asked", lambda *_: None)
    assert five.settled(Life()).tolist() == [[2, 4]]
