"""What a training may spend on looking at itself, and where it looks."""

import jax
import numpy as np
import pytest

from glassformer import experiment
from glassformer.engine import Engine
from glassformer.experiment import load
from glassformer.plan import ENOUGH, JUDGING, LEAST, MOST, plan
from glassformer.training import begin

NEED_A_FILE = ("own_table", "own_text")
READY = [name for name in experiment.names() if name not in NEED_A_FILE and not name.startswith("shakespeare")]


def spent(one: experiment.Experiment, members: int) -> float:
    """Judging as a share of the steps, both in passes forward through a window; a step is three of them."""
    judged = Engine(one, list(range(members))).judged
    lines = len(plan(one, members).logged) - 1
    forward = lines * sum(judged.windows(last=False).values()) + sum(judged.windows().values())
    return forward / (3 * one.train.steps * one.train.batch)


@pytest.mark.parametrize(("name", "members", "steps"), [
    ("plus_last_even", 1, None), ("plus_last_even", 64, 4000), ("five_operations", 1, None), ("mary", 1, None),
    ("plus_last_even_as_published", 4, 40_000),
])  # fmt: skip
def test_judging_takes_its_share_and_no_more(name, members, steps):
    assert JUDGING / 2 < spent(load(name, steps=steps), members) <= JUDGING * 1.01


@pytest.mark.parametrize("name", READY)
def test_lines_are_few_enough_to_pay_for_and_dense_enough_to_see_learning(name):
    one = load(name)
    planned = plan(one, 1)
    assert planned.logged[0] == 0
    assert planned.logged[-1] == one.train.steps
    assert len(planned.logged) <= MOST + 1 or one.train.log_every is not None
    assert 0 < planned.share <= 1
    if one.train.log_every is None:
        early = np.sum((planned.logged > 0) & (planned.logged <= one.train.steps / 20))
        assert early >= 0.25 * len(planned.logged)  # evenly spaced it would be a twentieth
        assert (
            np.diff(planned.logged).max() <= 2.5 * one.train.steps / (len(planned.logged) - 1) + 1
        )  # and no blur later


def test_what_is_given_is_respected():
    given = plan(load("plus_last_even", ["train.log_every=1000"]), 1)
    np.testing.assert_array_equal(given.logged, np.arange(0, 20_001, 1000))
    assert given.share == 1.0  # twenty lines on all windows can be paid for
    crowded = plan(load("plus_last_even", ["train.log_every=10"]), 1)
    assert len(crowded.logged) == 2001
    assert crowded.share == pytest.approx(LEAST / 1000)
    many = plan(load("plus_last_even", ["train.judged=5000"]), 1)
    assert many.share == 1.0  # every line on the windows that were asked for, and fewer lines instead
    assert len(many.logged) < ENOUGH / 2


@pytest.mark.parametrize("setting", ["train.schedule=plateau", "train.stop_after=3"])
def test_a_training_that_decides_by_its_judgements_keeps_them(setting):
    planned = plan(load("plus_last_even", [setting]), 1)
    np.testing.assert_array_equal(planned.logged, np.arange(0, 20_001, 100))
    assert planned.share == 1.0


def test_lines_say_on_how_many_windows_they_rest_and_the_last_rests_on_all(tmp_path):
    """The losses of both kinds of line, found again with the NumPy pass on the windows that they name."""
    run = begin(load("plus_last_even", steps=40), out=tmp_path / "run").run
    assert run.about["judged"] == {
        "last": {"train": 1000, "validation": 1000}, "before": {"train": LEAST, "validation": LEAST}
    }  # fmt: skip
    assert run.metrics["judged.validation"].tolist() == [LEAST] * (len(run.metrics["step"]) - 1) + [1000]
    engine = Engine(run.experiment, run.seeds)
    rows = [engine.judged._behind[last]["validation"] for last in (False, True)]
    seen = run.task.examples(8, "validation", 1000)
    for line, chosen in ((0, rows[0]), (5, rows[0]), (-1, rows[1])):
        windows = seen.windows[chosen]
        trace = run.trace(windows[:, :-1], step=int(run.metrics["step"][line]))
        chances = np.take_along_axis(trace["probabilities"], windows[:, 1:, None], -1)[..., 0]
        loss = -np.log(chances.astype(np.float64)).mean()
        assert run.metrics["validation_loss"][line] == pytest.approx(loss, abs=2e-6)
        assert run.metrics["excess"][line] == pytest.approx(loss + seen.truth[chosen].mean(), abs=2e-6)
    floors = run.metrics["validation_loss"] - run.metrics["excess"]
    assert floors[0] == pytest.approx(floors[-1], abs=0.01)  # the few are as hard as all
    assert floors[-1] == pytest.approx(run.about["floors"]["validation"], abs=1e-6)


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations"])
def test_no_window_is_a_constant_of_a_compiled_program(name):
    """Constants are folded while compiling, with alarms where it takes long; what is judged comes as an argument."""
    engine = Engine(load(name, steps=3), [0])
    engine.compile = lambda _: None
    state = engine.start()
    judge = engine._judge.lower(jax.device_put(state.flat, engine._judged_at), engine._tables[0]).as_text()
    stretch = engine._stretch.lower(*engine._arguments(state, 0, 1)).as_text()
    for program in (judge, stretch):
        longest = max(len(line) for line in program.splitlines() if "stablehlo.constant" in line)
        assert longest < 4 * engine.experiment.architecture.parameters + 2000  # a mask over the parameters at the most
