"""The doctor: ill runs made for the purpose are named, healthy ones are left in peace, and `check` says so.

The limits were chosen on other runs (other seeds, sizes and tasks); those trained here were not used for that.
"""

import atexit
import json
import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

import glassformer as gf
from command import call
from glassformer import summary
from glassformer.analyses import _checks
from glassformer.analyses._result import thousands
from glassformer.analyses._symptoms import Symptoms
from glassformer.analyses.health.health import diagnose, health
from glassformer.errors import DivergedError
from glassformer.experiment import for_text, load
from glassformer.record import Recorder
from glassformer.run import Run
from small_runs import NAN, run_of
from small_texts import SETTINGS, TEXT

FEW = ("train.judged=100", "train.log_every=20")
SMALL = ("architecture.width=32", "architecture.feed_forward=64", *FEW)  # of the five operations
BARE = ("architecture.residual=false", "architecture.blocks=9")


@cache
def trained(experiment: str, steps: int, *settings: str) -> Run:
    """A run trained here and now, once per session."""
    folder = Path(mkdtemp(prefix="glassformer-doctor-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "run"
    try:
        return gf.train(experiment, seed=11, steps=steps, settings=settings, out=path)
    except DivergedError:
        return gf.open(path)


HOT = ("lucky7", 400, "train.rate=1", *FEW)
NO_WAY = ("plus_last_even", 300, *BARE, *FEW)  # nine blocks that nothing passes
ILL = {
    "updates too large": HOT,
    "dead neurons": HOT,
    "spikes": HOT,
    "updates too small": ("successor", 300, "train.rate=1e-6", *FEW),
    "not falling": ("successor", 300, "train.rate=1e-6", *FEW),
    "vanishing gradients": NO_WAY,
    "signal lost": NO_WAY,
    "attention frozen": NO_WAY,
    "attention collapsed": ("plus_last_even", 300, "train.decay=30", *FEW),  # all weights shrink: every look is even
    "stuck on a rung": ("step_back", 500, "architecture.attention=off", "train.rate=0.03", *FEW),
    "overfitting": ("five_operations", 600, "data.draws=64", "data.seed=4", *SMALL),
    "labels contradict the rule": ("five_operations", 200, "data.shuffled=true", "data.seed=4", *SMALL),
    "exploding loss": ("five_operations", 200, "train.optimiser=sgd", "train.rate=1000", *SMALL),
}


@pytest.mark.parametrize("illness", ILL)
def test_an_ill_run_is_named(illness):
    run = trained(*ILL[illness])
    found = {finding.illness: finding for _, finding in diagnose(run)}
    assert illness in found, f"found {list(found)}"
    assert found[illness].serious
    assert not health(run).healthy
    for finding in found.values():
        assert len(finding.evidence.split()) > 3
        assert finding.remedy
    assert illness in health(run).title


@pytest.mark.parametrize(
    ("name", "illness"),
    [
        ("ill_overfitting", "overfitting"),
        ("ill_exploding", "exploding loss"),
        ("ill_stuck", "stuck on a rung"),
        ("ill_dead", "dead neurons"),
    ],
)
def test_an_experiment_that_is_ill_on_purpose_has_its_illness(name, illness):
    found = [finding.illness for _, finding in diagnose(trained(name, load(name).train.steps)) if finding.serious]
    assert illness in found, found


def test_the_evidence_of_a_trained_illness_is_what_its_weights_and_lines_say():
    """Looked up again, from the run's own files: neurons one by one, heads by their sums, rungs by their price."""
    hot, still = trained(*ILL["dead neurons"]), trained(*ILL["attention collapsed"])
    windows = hot.task.examples(hot.architecture.context, "validation", 64).windows[:, :-1]
    fires = np.stack([hot.trace(hot.task.decode(window))["hidden"] > 0 for window in windows]).any((0, 2))
    evidence = {f.illness: f.evidence for _, f in diagnose(hot)}["dead neurons"]
    assert evidence.startswith(f"{round(100 * (1 - fires.mean()))} % of the neurons")
    for window in still.task.examples(still.architecture.context, "validation", 3).windows[:, :-1]:
        (looks,) = still.trace(still.task.decode(window))["attention"]
        even = np.tril(np.ones(looks.shape[-2:])) / np.arange(1, looks.shape[-1] + 1)[:, None]
        np.testing.assert_allclose(looks[0], even, atol=1e-3)
    stuck = trained(*ILL["stuck on a rung"])
    evidence = {f.illness: f.evidence for _, f in diagnose(stuck)}["stuck on a rung"]
    end = float(np.median(stuck.metrics["validation_loss"][-5:]))
    blind = next(rung.nats for rung in stuck.task.ladder(16) if rung.name == "last token")
    assert abs(end - blind) < 0.03  # no more can be had without a look at earlier tokens
    (price,) = re.findall(r"on the rung “[^”]+” \((\d\.\d\d)\)", evidence)
    assert abs(float(price) - end) < 0.05, evidence


def test_a_gradient_that_explodes_is_named_with_its_step():
    run = run_of(NAN)
    found = {finding.illness: finding for _, finding in diagnose(run)}["exploding gradients"]
    lines = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text("utf-8").splitlines()]
    steep = [line["step"] for line in lines if "gradient" in line and float(line["gradient"]["all"]) > 1000]
    assert steep[0] == found.step


HEALTHY = {
    "successor": ("successor", 600, *FEW),
    "mary": ("mary", 500, *FEW),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_is_called_healthy(name):
    run = trained(*HEALTHY[name])
    seen = health(run)
    assert seen.healthy, [finding.illness for finding in seen.found]
    assert all(not finding.serious for finding in seen.found)
    assert seen.well
    (member,) = summary.members(run)
    assert seen.learnt >= (name == "successor")
    assert seen.learnt == summary.verdict(run, member).startswith("learnt: ")
    cause = {finding.illness: finding.cause for finding in seen.found}.get("converged", summary.verdict(run, member))
    assert cause in ("the task is learnt", summary.verdict(run, member))
    assert (cause == "the task is learnt") <= seen.learnt
    assert "none of 12 checks finds an illness" in health(run).title


# ---- made-up lives: every curve is known -----------------------------------------------------------------------------

STEPS = np.arange(0, 2001, 20)


def made(folder, validation, train=None, ratio=1e-3, experiment=None, rate=0.01, **more) -> Run:
    """A run whose lines say exactly this; weights are random, and the same at both kept steps."""
    experiment = experiment or load("plus_last_even", steps=int(STEPS[-1]))
    rate = np.broadcast_to(np.asarray(rate, dtype=float), STEPS.shape)
    floor = experiment.floor
    validation = np.broadcast_to(np.asarray(validation, dtype=float), STEPS.shape)
    train = validation if train is None else np.broadcast_to(np.asarray(train, dtype=float), STEPS.shape)
    lines = []
    for k, step in enumerate(STEPS.tolist()):
        line = {"step": step, "rate": rate[k], "train_loss": train[k], "validation_loss": validation[k]}
        line |= {"train_excess": train[k] - floor, "excess": validation[k] - floor, "rule_error_answerable": 0.5}
        gradient = {"all": 1.0, "embedding": 0.3, "read_out": 0.5} | more.get("gradient", {})
        line |= {"gradient": gradient, "update": {"all": ratio}, "weights": {"all": 1.0}}
        lines.append(line)
    rng = np.random.default_rng(0)
    shapes = experiment.architecture.shapes()
    weights = {name: np.repeat(rng.normal(size=(1, *shape)), 2, 0).astype(np.float32) for name, shape in shapes.items()}
    with Recorder.create(folder, experiment, [0]) as recorder:
        recorder.safe_point(int(STEPS[-1]), [0, int(STEPS[-1])], weights, lines, {})
        recorder.finish("finished")
    return Run(folder)


def falling(to, start=2.6):
    """From a start to an end, exponentially: at rest long before the last line."""
    return to + (start - to) * np.exp(-STEPS / 150)


def illnesses(run):
    return {finding.illness for _, finding in diagnose(run) if finding.serious}


def test_the_rung_is_named_on_which_it_is_stuck(tmp_path):
    ladder = [rung for rung in load("plus_last_even").task.ladder(8) if rung.reachable]
    for k, rung in enumerate(ladder[1:-1]):
        run = made(tmp_path / str(k), falling(rung.nats))
        found = {finding.illness: finding for _, finding in diagnose(run)}
        assert f"“{rung.name}”" in found["stuck on a rung"].evidence
    between = (ladder[2].nats + ladder[3].nats) / 2
    evidence = {f.illness: f.evidence for _, f in diagnose(made(tmp_path / "between", falling(between)))}
    assert f"between “{ladder[2].name}”" in evidence["stuck on a rung"]


def test_reaching_the_floor_is_healthy_and_says_when_it_could_have_stopped(tmp_path):
    floor = load("plus_last_even").floor
    run = made(tmp_path / "run", falling(floor))
    assert illnesses(run) == set()
    note = next(finding for _, finding in diagnose(run) if finding.illness == "converged")
    height = np.log(12) - floor
    reached = STEPS[falling(floor) <= falling(floor)[-1] + 0.02 * height][0]
    assert abs(note.step - reached) <= 40  # the smoothing may shift it by a line or two
    assert not note.serious


def test_nobody_is_told_to_stop_before_the_last_rung(tmp_path):
    floor = load("plus_last_even").floor
    height = np.log(12) - floor
    late = 1400  # near its best long before, but only here on the rung of the rule, which is the floor
    losses = np.where(STEPS < 600, falling(floor + 0.03 * height), floor + np.where(late > STEPS, 0.03, 0.015) * height)
    run = made(tmp_path / "run", losses)
    note = next(finding for _, finding in diagnose(run) if finding.illness == "converged")
    assert late <= note.step <= late + 60
    seen = health(run)
    np.testing.assert_array_equal(seen.curves["converged"].values, losses)
    row = seen.judged.axes["quantity"].labels.index("converged")
    assert seen.judged.values[row] == pytest.approx(losses[-1])
    assert seen.limits.values[row] == pytest.approx(losses.min() + 0.02 * height)


def test_what_lies_beyond_a_limit_is_in_the_title(tmp_path):
    floor = load("plus_last_even").floor
    once = falling(floor) + 0.4 * (STEPS == 1000)
    assert "beyond a limit: “attention moves” and “spikes”" in health(made(tmp_path / "once", once)).title
    assert health(made(tmp_path / "smooth", falling(floor))).title.endswith("beyond a limit: “attention moves”")


def test_a_gap_is_overfitting_unless_the_held_out_loss_still_falls(tmp_path):
    rising = np.where(STEPS < 600, falling(2.0), 2.0 + (STEPS - 600) / 2000)
    found = {finding.illness: finding for _, finding in diagnose(made(tmp_path / "a", rising, falling(1.7)))}
    assert abs(found["overfitting"].step - STEPS[np.argmin(rising)]) <= 20
    slow = 2.6 - STEPS / 5000  # far above training, but on its way
    assert "overfitting" not in illnesses(made(tmp_path / "b", slow, falling(1.8)))


def test_below_the_floor_on_training_alone_is_memorising(tmp_path):
    floor = load("plus_last_even").floor
    assert "overfitting" in illnesses(made(tmp_path / "run", falling(2.2), falling(floor - 0.4)))


def test_spikes_gradients_and_updates(tmp_path):
    jumping = falling(2.17) + 0.4 * (STEPS % 400 == 300)
    assert "spikes" in illnesses(made(tmp_path / "spikes", jumping))
    assert "spikes" not in illnesses(made(tmp_path / "smooth", falling(2.17)))
    assert "exploding gradients" in illnesses(made(tmp_path / "steep", falling(2.17), gradient={"all": 5e3}))
    assert "vanishing gradients" in illnesses(made(tmp_path / "flat", falling(2.17), gradient={"embedding": 1e-7}))
    assert "updates too large" in illnesses(made(tmp_path / "large", falling(2.17), ratio=0.5))
    assert "updates too small" in illnesses(made(tmp_path / "small", 2.59, ratio=1e-6))
    assert "attention frozen" in illnesses(made(tmp_path / "same", falling(2.17)))  # the weights never change


def test_what_is_not_a_number_is_an_exploding_loss():
    run = run_of(NAN)
    found = {finding.illness: finding for _, finding in diagnose(run)}
    assert found["exploding loss"].step == run.metrics["step"][np.isnan(run.metrics["validation_loss"])][0]


def test_a_run_that_learnt_its_task_is_not_ill_for_the_road_it_took(tmp_path):
    floor = load("plus_last_even").floor
    jumping = np.where(STEPS < 1000, falling(floor) + 0.5 * (STEPS % 200 == 100), floor + 0.001)
    run = made(tmp_path / "run", jumping, ratio=0.5, gradient={"embedding": 1e-9})
    assert illnesses(run) == set()
    verdicts = dict(zip(health(run).judged.axes["quantity"].labels, health(run).verdicts, strict=True))
    assert verdicts["spikes"] == verdicts["size of updates"] == "note"


def test_signs_to_stop_and_their_steps(tmp_path):
    rising = np.where(STEPS < 600, falling(2.0), 2.0 + (STEPS - 600) / 2000)
    signs = dict(_checks.signs(Symptoms(made(tmp_path / "run", rising, falling(1.7)))))
    assert signs["95 % right"] is None
    gap = rising - falling(1.7)
    assert signs["training loss far below held-out"] == STEPS[gap > 0.1][0]
    assert 600 < signs["held-out loss above its best"] < 700


# ---- texts, of which nobody knows how much is left -------------------------------------------------------------------

COSINE = 0.5 * (1 + np.cos(np.pi * STEPS / STEPS[-1]))


def of_text(folder, validation, train=None, **more):
    """A life of a text whose losses are counted from its best table of counts, and the notes on it."""
    folder.mkdir()
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    given = for_text(folder / "text.txt", "characters", None, SETTINGS, steps=int(STEPS[-1]))
    lift = given.floor
    run = made(folder / "run", validation + lift, None if train is None else train + lift, experiment=given, **more)
    return run, {finding.illness: finding for _, finding in diagnose(run)}


def test_a_text_below_the_best_table_that_still_falls_is_not_converged(tmp_path):
    """A table of counts is not the end of learning: nor does the advice to stop at it follow."""
    run, found = of_text(tmp_path / "falling", 0.8 - STEPS / 2000)
    assert set(found) == {"unfinished"}
    seen = health(run)
    assert seen.well
    assert not seen.learnt
    assert np.isnan(seen.signs.values[seen.signs.axes["quantity"].labels.index("no progress for a fifth of the run")])


def test_a_text_at_rest_is_converged_and_nobody_says_that_it_is_learnt(tmp_path):
    run, found = of_text(tmp_path / "rest", falling(-0.2, 1.0))
    assert set(found) == {"converged"}
    assert "learnt" not in found["converged"].cause
    near = STEPS[falling(-0.2, 1.0) <= -0.2 + 0.02][0]  # 2 % of its perplexity
    assert abs(found["converged"].step - near) <= 60
    signs = dict(_checks.signs(Symptoms(run)))
    assert signs["no progress for a fifth of the run"] >= found["converged"].step


def test_a_loss_that_comes_to_rest_with_its_rate_has_not_converged(tmp_path):
    """Half of the fall that a full rate would have made: the end is level because nothing moves any more."""
    spent = np.cumsum(COSINE) / COSINE.sum()
    run, found = of_text(tmp_path / "cosine", 0.5 - 0.8 * spent, rate=COSINE)
    assert set(found) == {"unfinished"}
    assert dict(_checks.signs(Symptoms(run)))["no progress for a fifth of the run"] is None


def test_a_text_learnt_by_heart_is_overfitting_also_below_the_table(tmp_path):
    rising = np.where(STEPS < 600, falling(-0.5, 1.0), -0.5 + (STEPS - 600) / 4000)
    _, found = of_text(tmp_path / "heart", rising, falling(-1.5, 1.0))
    assert found["overfitting"].serious


def test_a_text_is_stuck_where_it_knows_no_more_than_pairs(tmp_path):
    run, _ = of_text(tmp_path / "any", falling(0.0, 1.0))
    ladder = Symptoms(run).ladder
    pairs = ladder[2].nats - ladder[-1].nats
    assert ladder[2].name.startswith("last token")
    assert "stuck on a rung" in of_text(tmp_path / "stuck", falling(pairs + 0.02, 2.0))[1]
    assert "stuck on a rung" not in of_text(tmp_path / "well", falling(pairs - 0.1, 2.0))[1]


# ---- the command -----------------------------------------------------------------------------------------------------


def test_check_tells_health_and_keeps_its_exit_code_for_the_folder():
    ill = trained(*ILL["updates too small"])
    answer = call("check", ill.path, "--json")
    assert answer.code == 0
    told = answer.json
    assert {"run", "status", "kept_steps", "bytes", "problems"} <= told.keys()
    assert told["healthy"] is False
    assert {"illness", "evidence", "cause", "try", "step", "serious"} == told["findings"][0].keys()
    assert told["findings"][0]["illness"] == "updates too small"
    words = call("check", ill.path).out
    assert "health: ill" in words
    assert "try: train.rate" in words

    well = call("check", trained(*HEALTHY["successor"]).path, "--json").json
    assert well["healthy"] is True
    assert all(not finding["serious"] for finding in well["findings"])


def test_check_of_a_population_names_the_seed(tmp_path):
    run = gf.train("successor", seed=3, seeds=2, steps=200, settings=("train.rate=1e-6", *FEW), out=tmp_path / "run")
    told = call("check", run.path, "--json").json
    assert {finding["seed"] for finding in told["findings"]} == {3, 4}
    assert "2 of 2 members are ill" in call("check", run.path).out


def test_check_of_a_folder_without_lines_or_with_lost_weights_still_answers(tmp_path):
    run = made(tmp_path / "run", falling(2.17))
    for file in (run.path / "weights").iterdir():
        file.unlink()
    answer = call("check", run.path, "--json")
    assert answer.code == 1
    assert json.loads(answer.out)["healthy"] is False  # the lines alone say that it is stuck
    (run.path / "metrics.jsonl").write_text("")
    silent = call("check", run.path, "--json")
    assert silent.json["healthy"] is None, "nothing is known"
    assert silent.json["findings"] == []
    assert "health: not known, as nothing is logged" in call("check", run.path).out


def test_the_name_of_a_piece_is_not_taken_by_its_room():
    import glassformer.analyses.health.runtime  # noqa: F401 - which loads the room

    run = run_of("plus_last_even")
    assert gf.analyses.health(run) == gf.analyses.health(run) == health(run)


def test_a_finding_comes_back_as_it_was():
    seen = health(trained(*HOT))
    again = type(seen).from_plain(json.loads(json.dumps(seen.plain())))
    assert [each.illness for each in again.found] == [each.illness for each in seen.found] != []
    assert again.findings == seen.findings


def test_numbers_on_the_command_line_have_commas():
    said = _checks.Finding("late", f"at step {thousands(13_600)}", "x", f"stop at {thousands(1_013_600)}").told()
    assert (said["evidence"], said["try"]) == ("at step 13,600", "stop at 1,013,600")


def test_a_model_is_looked_at_where_its_loss_falls(tmp_path):
    """Everything is learnt between steps 100 and 200; six evenly spaced looks would come at 0, 400, 800, ..."""
    told = made(tmp_path / "told", np.interp(STEPS, [0, 100, 200, 2000], [2.6, 2.6, 1.0, 1.0]))
    weights = {name: np.repeat(value[None], len(STEPS), axis=0) for name, value in told.weights(0).items()}
    with Recorder.create(tmp_path / "run", told.experiment, [0]) as recorder:
        recorder.safe_point(int(STEPS[-1]), STEPS.tolist(), weights, told.lines, {})
        recorder.finish("finished")
    steps = health(Run(tmp_path / "run")).curves["signal reach"].axes["step"].values
    assert len(steps) <= 6
    assert (steps[0], steps[-1]) == (0, 2000)
    assert sum(100 < step <= 200 for step in steps) >= 2
