"""Only predictions that count are counted: sort's five places before its answer are neither trained nor judged."""

import numpy as np
import pytest

import hand_wired
from glassformer import reference
from glassformer.analyses import _logged
from glassformer.analyses.decide.ablation import ablation
from glassformer.analyses.know.probes import probes
from glassformer.analyses.path.birth import birth
from glassformer.analyses.trust.calibration import calibration
from glassformer.analyses.what.batch import batch
from glassformer.architecture import nest
from glassformer.figures import _draw, plot_context_position
from glassformer.run import Run

LENGTH, FIRST = 11, 5  # tokens in view; the place of the first answer, after the sixth digit
ANSWERS = LENGTH - FIRST


@pytest.fixture(scope="module")
def sort(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A model of random weights that has not learnt to sort."""
    rng = np.random.default_rng(3)
    square = {name: rng.normal(size=(4, 4)) for name in ("query", "key", "value", "output")}
    feed = {"expand": rng.normal(size=(4, 5)), "contract": rng.normal(size=(5, 4))}
    return hand_wired.write_run(
        tmp_path_factory.mktemp("sort") / "run", task="sort", token=rng.normal(size=(3, 4)) / 2,
        position=rng.normal(size=(LENGTH, 4)), blocks=[square | feed], read_out=rng.normal(size=(4, 3)),
    )  # fmt: skip


def logs(run: Run, windows: np.ndarray) -> np.ndarray:
    """(window, answer, token): log-probabilities of the six answers, in double precision."""
    weights = nest({name: array.astype(np.float64) for name, array in run.weights(-1, 0).items()})
    logits = reference.forward(weights, windows[:, :LENGTH], run.architecture)[0][:, FIRST:]
    shifted = logits - logits.max(-1, keepdims=True)
    found: np.ndarray = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return found


def losses(run: Run, windows: np.ndarray) -> np.ndarray:
    """(window, answer)."""
    found: np.ndarray = -np.take_along_axis(logs(run, windows), windows[:, FIRST + 1 :, None], -1)[..., 0]
    return found


def test_a_step_learns_from_the_answers_alone(sort: Run) -> None:
    seen = batch(sort)
    asked = ANSWERS * seen.batch
    assert f"{asked} answers" in seen.title or f"{asked} next tokens" in seen.title
    assert np.isnan(seen.targets.values[:, :FIRST]).all()
    assert (seen.targets.values[:, FIRST:-1] == seen.inputs.values[:, FIRST + 1 :]).all()
    assert seen.weights.values == pytest.approx([0] * FIRST + [1 / asked] * ANSWERS)


def test_parts_are_taken_out_of_the_answers_alone(sort: Run) -> None:
    seen = ablation(sort)
    windows = _logged.windows(sort, seen.windows).windows
    assert seen.base_loss == pytest.approx(losses(sort, windows).mean(), rel=1e-5)
    assert seen.answers == ANSWERS * len(windows)
    wrong = logs(sort, windows).argmax(-1) != windows[:, FIRST + 1 :]
    assert seen.base_error == pytest.approx(wrong.mean())
    without = {name: array.copy() for name, array in sort.weights(-1, 0).items()}
    without["blocks.0.contract"] = 0 * without["blocks.0.contract"]
    logits = reference.forward(nest(without), windows[:, :LENGTH], sort.architecture)[0][:, FIRST:].astype(np.float64)
    cost = np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, windows[:, FIRST + 1 :, None], -1)[..., 0]
    rise = seen.loss.values[seen.loss.axes["part"].labels.index("feed-forward"), 0]
    assert rise == pytest.approx(cost.mean() - losses(sort, windows).mean(), rel=1e-4)


def test_births_are_measured_on_the_answers(sort: Run) -> None:
    seen = birth(sort)
    windows = _logged.windows(sort, seen.windows).windows
    without = {name: array.copy() for name, array in sort.weights(-1, 0).items()}
    without["token"] = 0 * without["token"]
    logits = reference.forward(nest(without), windows[:, :LENGTH], sort.architecture)[0][:, FIRST:].astype(np.float64)
    cost = np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, windows[:, FIRST + 1 :, None], -1)[..., 0]
    zero = seen.effect.axes["way"].labels.index("zero")
    rise = seen.effect.values[seen.effect.axes["part"].labels.index("token embedding"), zero, -1]
    assert rise == pytest.approx(cost.mean() - losses(sort, windows).mean(), rel=1e-4)


def test_confidence_is_that_of_the_answers(sort: Run) -> None:
    seen = calibration(sort)
    windows = _logged.windows(sort, seen.windows).windows
    chances = np.exp(logs(sort, windows))
    count, mean = seen.reliability["count"].values, seen.reliability["confidence"].values
    assert seen.predictions == count.sum() == ANSWERS * len(windows)
    assert np.nansum(count * mean) == pytest.approx(chances.max(-1).sum(), rel=1e-5)
    stated = np.take_along_axis(chances, windows[:, FIRST + 1 :, None], -1).ravel()
    assert seen.chances.values[..., 0].ravel() == pytest.approx(np.ones(len(stated)))  # the rule leaves nothing open
    assert seen.chances.values[..., 1].ravel() == pytest.approx(stated, rel=1e-4)
    assert seen.certain


def test_readers_are_judged_at_the_answers(sort: Run) -> None:
    seen = probes(sort)
    windows = sort.task.examples(LENGTH, "validation", 109).windows  # half of 2400 // 11
    assert set(seen.count.values) == {ANSWERS * len(windows)}
    here = seen.accuracy.axes["quantity"].labels.index("token here")
    train = sort.task.examples(LENGTH, "train", 218).windows[:, FIRST:LENGTH]
    usual = np.bincount(train.ravel()).argmax()
    assert seen.chance.values[here] == pytest.approx((windows[:, FIRST:LENGTH] == usual).mean())
    assert "kind of question" in seen.accuracy.axes["quantity"].labels
    assert "distance to the answer" not in seen.accuracy.axes["quantity"].labels  # sort's kinds are its six answers


def test_the_first_place_has_seen_the_whole_input(sort: Run) -> None:
    words = _draw.of(plot_context_position(sort)).words
    assert "nats after 6 tokens" in words.title
    assert "At position 5 the model has seen 6 tokens" in words.caption
