"""The windows with which a life is looked at: some of those behind the logged loss, and as hard as these."""

import numpy as np
import pytest

from glassformer.analyses import _clock, _logged
from glassformer.analyses._uncertain_run import uncertainty
from glassformer.analyses.trust.calibration import calibration
from small_runs import run_of


@pytest.mark.parametrize("name", ["plus_last_even", "even_abs_diff", "step_back"])
def test_few_windows_have_the_floor_of_all(name):
    run = run_of(name)
    every = run.task.examples(run.architecture.context, "validation", run.experiment.train.windows)
    some = _logged.windows(run, 40)
    assert some.windows.shape == (40, run.architecture.context + 1)
    rows = {tuple(row): float(truth.sum()) for row, truth in zip(every.windows.tolist(), every.truth, strict=True)}
    for row, truth in zip(some.windows.tolist(), some.truth, strict=True):
        assert rows[tuple(row)] == pytest.approx(float(truth.sum()))  # one of them, with what is known of it
    blind = every.truth.mean(axis=1).std() / np.sqrt(40)  # how far a blind draw would be off
    assert abs(some.truth.mean() - every.truth.mean()) < 0.2 * blind


def test_all_windows_are_taken_where_there_are_no_more():
    run = run_of("plus_last_even")
    every = run.task.examples(run.architecture.context, "validation", run.experiment.train.windows)
    np.testing.assert_array_equal(_logged.windows(run, 10**6).windows, every.windows)


def test_the_path_ends_at_the_logged_loss():
    run = run_of("plus_last_even")
    seen = uncertainty(run)
    logged, exact = _clock.logged(run, "validation_loss", run.last_step)
    assert exact
    assert seen.by_step["loss"].values[0, -1] == pytest.approx(logged, abs=0.01)


def test_title_and_curve_of_calibration_are_one_number():
    seen = calibration(run_of("plus_last_even"))
    at = seen.error_by_step.axes["step"].values.index(seen.step)
    assert seen.error_by_step.values[at] == pytest.approx(seen.error)
