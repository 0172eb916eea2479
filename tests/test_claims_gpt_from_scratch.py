"""What the claims about the rhyme measure with: held against truths found another way."""

import math
from itertools import pairwise

import numpy as np
import pytest

from glassformer.claims import _mary, _printed_mary, gpt_from_scratch
from glassformer.claims._claim import verdict
from glassformer.claims._torch import Generator
from glassformer.experiment import load
from glassformer.record import Recorder
from glassformer.run import Run
from glassformer.tasks.mary import TEXT

WINDOW = ["mary", "had", "a", "little", "lamb", "<END>", "little"]


def test_the_generator_draws_what_pytorch_draws():
    """Numbers printed by PyTorch's documentation of its seeds: `torch.manual_seed(0); torch.rand(4)`."""
    assert Generator(0).uniform(4) == pytest.approx([0.49625659, 0.76822180, 0.08847743, 0.13203049], abs=1e-8)
    assert Generator(42).uniform(2) == pytest.approx([0.88226926, 0.91500396], abs=1e-8)


def test_what_is_drawn_has_the_spread_it_should():
    drawn = Generator(3)
    normal = drawn.normal(64, 1000)
    assert abs(normal.mean()) < 4 / math.sqrt(normal.size)
    assert normal.std() == pytest.approx(1, abs=4 / math.sqrt(2 * normal.size))
    even = drawn.linear(16, 2000)
    assert even.shape == (2000, 16)
    assert np.abs(even).max() <= 0.25
    assert even.std() == pytest.approx(0.25 / math.sqrt(3), rel=0.02)


def test_the_ten_rounds_go_down_the_gradient_of_their_loss():
    """Each round, the prediction moves by minus rate times the squared length of its own gradient, to first order."""
    said = gpt_from_scratch._ten_rounds()
    errors = [1 - each for each in said]
    assert all(0 < after < before for before, after in pairwise(errors))
    ratios = [after / before for before, after in pairwise(errors)]
    assert max(ratios) - min(ratios) < 0.05  # the same share each time, as long as no neuron changes sides


def test_the_demo_attends_with_rows_that_sum_to_one():
    assert np.sum(gpt_from_scratch._demo_attention(), axis=-1) == pytest.approx(np.ones((2, 3)), abs=1e-6)
    assert np.sum(_printed_mary.ATTENTION, axis=-1) == pytest.approx(
        np.ones((2, 3)), abs=0.0016
    )  # three rounded numbers


def test_copied_counts_the_runs_that_stand_in_the_text():
    assert _mary.copied(WINDOW, TEXT) == 1
    assert _mary.copied([*WINDOW, "mary"], TEXT) == 0.5  # the second run is new
    assert _mary.copied(["lamb", "little", "lamb", "mary", "had", "a"], TEXT) == 0
    assert _mary.copied(["mary", "went"], TEXT) == 1


def test_a_window_costs_what_the_chances_of_its_words_say(tmp_path):
    made = load("mary_as_published", steps=1)
    rng = np.random.default_rng(0)
    shapes = made.architecture.shapes()
    weights = {name: rng.normal(scale=0.3, size=(1, *shape)).astype(np.float32) for name, shape in shapes.items()}
    with Recorder.create(tmp_path / "run", made, [0]) as recorder:
        recorder.safe_point(0, [0], weights, [], {})
        recorder.finish("finished")
    run = Run(tmp_path / "run")
    windows = run.task.examples(run.architecture.context, "train", 10**6).windows
    losses = _mary.window_losses(run)
    assert len(losses) == len(windows)
    one = windows[0]
    by_hand = [
        -math.log(dict(run.ask(one[: place + 1]))[run.task.vocabulary[one[place + 1]]]) for place in range(len(one) - 1)
    ]
    assert losses[0] == pytest.approx(np.mean(by_hand), rel=1e-5)
    drawn = _mary.batch_losses(run, 0, batches=500)
    error = float(losses.std()) / math.sqrt(500 * run.experiment.train.batch)
    assert drawn.mean() == pytest.approx(float(losses.mean()), abs=6 * error)
    whole = _mary.window_losses(run, edits="zero(mixed, block=0, head=1)")
    assert np.abs(whole - losses).max() > 1e-3


def test_the_mountain_is_read_by_its_columns(monkeypatch):
    """Counted by hand in the source: 1 to 5 are in columns 15 to 47, the peak in 36, the arrow of the optimum in 27."""
    rows = _printed_mary.MOUNTAIN.splitlines()
    assert [(row.index("1"), row.index("5")) for row in rows if "1       2" in row] == [(15, 47)]
    assert [row.index("●") for row in rows if "●" in row] == [36, 18]
    found = gpt_from_scratch.mountain.measure()
    assert found.numbers["peak"] == 1 + (36 - 15) / 8 == 3.625
    assert found.numbers["arrow"] == 1 + (27 - 15) / 8 == 2.5
    assert (found.numbers["left_foot"], found.numbers["right_foot"]) == (1 + (18 - 15) / 8, 1 + (52 - 15) / 8)
    assert "the right flank, where uphill is to the left" in found.truth
    assert verdict(gpt_from_scratch.mountain, found) == "corrected"
    valley = [" ●               ●", "  ╲ go RIGHT    ╱", "         ●", "         ↑", " 1   2   3   4   5"]
    monkeypatch.setattr(_printed_mary, "MOUNTAIN", "\n".join(valley))
    assert verdict(gpt_from_scratch.mountain, gpt_from_scratch.mountain.measure()) == "reproduced"
