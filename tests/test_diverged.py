"""A training that went wrong says no token: what is not a number is neither right nor wrong, and is named as such."""

import numpy as np
import pytest

from glassformer import analyses, films
from glassformer.analyses.learn.accuracy import accuracy
from glassformer.analyses.learn.by_kind import by_kind
from glassformer.analyses.learn.confusion import confusion
from glassformer.analyses.learn.every_question import every_question
from glassformer.analyses.learn.generated import NOTHING, generated
from glassformer.analyses.learn.rule_error import rule_error
from glassformer.analyses.learn.unrolled import unrolled
from glassformer.experiment import load
from glassformer.figures import plot_confusion, plot_generated
from glassformer.films import film_confusion, film_generated
from glassformer.record import Recorder
from glassformer.run import Run
from small_runs import NAN, run_of
from small_texts import noise


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Kept at steps 0 and 2, of which the second is no numbers at all."""
    return noise(tmp_path_factory.mktemp("lost") / "run", load("plus_last_even", steps=2), not_a_number=True)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same of a task with one answer per question."""
    return noise(tmp_path_factory.mktemp("asked") / "run", load("five_operations", steps=2), not_a_number=True)


def test_no_answer_is_confused_with_another_where_there_are_none(lost: Run, asked: Run) -> None:
    for run in (lost, asked):
        seen = confusion(run)
        assert seen.steps == (0, 2)
        assert seen.count.values[0].sum() > 0
        assert not seen.count.values[-1].any()
        assert np.isnan(seen.matched)
        assert "diverged" in seen.title
        assert "diverged" not in confusion(run, step=0).title
    fits = confusion(asked).answered_as
    assert fits is not None
    np.testing.assert_allclose(fits.values[0].sum(axis=1), 1)
    assert np.isnan(fits.values[1]).all()


def test_nothing_is_written_where_there_are_no_numbers(lost: Run, asked: Run) -> None:
    for run in (lost, asked):
        seen = generated(run)
        nothing = len(run.task.vocabulary)
        written = slice(0, None) if seen.questions else slice(1, None)
        assert (seen.tokens.values[-1][..., written] == nothing).all()
        assert (seen.tokens.values[0] < nothing).all()
        assert (seen.verdicts.values[-1] == 0).all()
        assert not seen.counts.values[-1].any()
        assert seen.counts.values[0, 0, 1] > 0  # sampled, before
        assert "diverged" in seen.title
        assert "diverged" not in generated(run, step=0).title


def test_figures_and_films_show_no_token(lost: Run, asked: Run) -> None:
    for run in (lost, asked):
        plot_confusion(run).canvas.draw()
        plot_generated(run).canvas.draw()
    for film in (film_confusion(lost), film_generated(lost)):
        assert "diverged" in film.words.title
        assert len(list(film.frames([0, 2]))) == 2


@pytest.mark.parametrize("name", ["accuracy", "by_kind", "every_question", "rule_error", "loss_surface", "timeline"])
def test_what_judges_a_life_says_that_it_went_wrong(name: str) -> None:
    """The same run as long as its loss was a number is not called so."""
    analyse, run = getattr(analyses, name), run_of(NAN)
    assert "diverged" in analyse(run).title
    if name not in ("loss_surface", "timeline", "accuracy"):
        assert "diverged" not in analyse(run, step=0).title


def test_no_token_is_drawn_from_what_are_no_numbers(lost: Run) -> None:
    seen = unrolled(lost)
    assert set(seen.tokens[seen.prompt :]) == {NOTHING}
    assert set(seen.verdict) == {"none"}
    assert "diverged" in seen.title
    assert NOTHING not in unrolled(lost, step=0).tokens


def test_errors_without_answers_are_not_known(lost: Run) -> None:
    seen = rule_error(lost)
    assert np.isfinite(seen.error.values[0, :, 0]).all()
    assert np.isnan(seen.error.values[:, :, -1]).all()
    assert np.isnan(seen.by_distance.values).all()
    assert np.isnan(by_kind(lost).accuracy.values[:, -1]).all()
    assert np.isnan(accuracy(lost).curves["validation"].values[-1])
    assert not len(every_question(lost).hardest.values)


@pytest.mark.parametrize("name", ["embeddings", "query_key_space", "residual"])
def test_films_of_a_training_that_diverged_say_nothing_of_overflow(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Weights beyond every number, as a rate of 1e30 leaves them; warnings are errors here."""
    path, experiment = tmp_path_factory.mktemp("beyond") / "run", load("plus_last_even", steps=2)
    rng = np.random.default_rng(7)
    shapes = experiment.architecture.shapes()
    weights = {each: rng.normal(0, 0.5, (2, *shape)).astype(np.float32) for each, shape in shapes.items()}
    for value in weights.values():
        value[1] = np.where(rng.random(value[1].shape) < 0.2, np.inf, 1e30 * value[1])
    with Recorder.create(path, experiment, [7]) as recorder:
        recorder.safe_point(2, [0, 2], weights, [], {})
        recorder.finish("diverged")
    film = getattr(films, f"film_{name}")(Run(path))
    assert len(list(film.frames([0, 2], width=480))) == 2
