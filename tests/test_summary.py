"""What a run learnt, in words: of single runs, of populations, and of trainings that went wrong."""

from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from command import call
from glassformer import summary
from glassformer.analyses.learn.training_log import training_log
from glassformer.analyses.path.timeline import timeline
from glassformer.analyses.trust.seeds import seeds
from glassformer.engine import Engine
from glassformer.experiment import load
from glassformer.run import Run
from glassformer.score import score
from glassformer.studies._measure import metrics
from glassformer.tasks import Rung
from glassformer.training import begin
from small_runs import NAN, POPULATION, run_of

FIXTURES = Path(__file__).parent / "fixtures" / "v0.2.0" / "runs"
POPULATED = FIXTURES / "population"
LADDER = [Rung(name, nats, None) for name, nats in (("uniform", 3.0), ("frequencies", 2.5), ("the rule", 1.0))]


@pytest.mark.parametrize(
    ("loss", "name"),
    [(0.5, "the rule"), (1.039, "the rule"), (1.041, "frequencies"), (2.539, "frequencies"), (2.541, "uniform"),
     (3.039, "uniform"), (3.041, None), (np.nan, None), (np.inf, None)],
)  # fmt: skip
def test_a_rung_is_reached_within_a_fiftieth_of_the_ladder(loss, name):
    """The ladder is 2 nats high, a fiftieth of it 0.04."""
    found = summary.rung(LADDER, loss)
    assert (found and found.name) == name


def test_windows_harder_than_the_average_do_not_hide_the_rule():
    """Hardly any excess over the floor of the judged windows is the rule itself, whatever those windows cost."""
    assert summary.rung(LADDER, 1.3, 0.039) is LADDER[-1]
    assert summary.rung(LADDER, 1.3, 0.041) is LADDER[1]


@pytest.mark.parametrize(
    ("loss", "excess", "above", "below", "way"),
    [(2.99, 2.0, "uniform", None, 0), (2.951, 2.0, "uniform", "frequencies", 0.098),
     (2.53, 1.5, "frequencies", None, 0), (2.0, 1.0, "frequencies", "the rule", 1 - 1.0 / 1.5),
     (2.0, np.inf, "frequencies", "the rule", 1 - 1.0 / 1.5), (1.06, 0.06, "frequencies", "the rule", 0.96),
     (1.3, 0.06, "frequencies", "the rule", 0.96), (1.02, 0.02, "the rule", None, 0), (3.2, 2.2, None, None, 0)],
)  # fmt: skip
def test_a_loss_between_two_rungs_is_told_with_the_share_of_the_way(loss, excess, above, below, way):
    """Nearly at the rule is not “frequencies reached”: how far it is on the way to the next rung counts as well."""
    found = summary.place(LADDER, loss, excess)
    assert [each and each.name for each in found[:2]] == [above, below]
    assert found[2] == pytest.approx(way)


def test_a_run_between_two_rungs_is_not_called_by_the_upper_one():
    """Its answers are right where they can be known; only its probabilities are not those of the rule yet."""
    run = gf.open(FIXTURES / "rule")
    *_, upper, floor = [rung.nats for rung in run.task.ladder(8) if rung.reachable]
    way = 1 - run.metrics["excess"][-1] / (upper - floor)
    told = "\n".join(summary.sentences(run))
    assert f"{100 * way:.1f} % of the way from “last two tokens” ({upper:.4f}) to “the rule” ({floor:.4f})" in told
    assert "has reached" not in told
    assert "it ends between the rungs “last two tokens” and “the rule”" in timeline(run).title
    assert "stand between “last token” and “last two tokens” and on “last token”" in seeds(gf.open(POPULATED)).title


def test_the_share_of_hidden_answers_is_told_with_what_it_is_an_average_over():
    (told,) = (each for each in summary.sentences(gf.open(FIXTURES / "rule")) if "no answer in view" in each)
    assert told == (
        "over all positions of all possible windows (1 to 8 tokens in view), 18.3 % of those the rule speaks about "
        "have no answer in view, and even a perfect model is wrong at 14.3 %; with all 8 tokens in view these shares "
        "are 0.035 % and 0.026 %"
    )


def test_questions_that_occur_in_training_are_not_called_new(tmp_path):
    """Those of the source are drawn with replacement: most are in both parts. A set tells how many."""
    settings = ["train.judged=50", "train.log_every=1", "train.batch=2"]
    run = begin(load("five_operations_as_published", settings, steps=1), out=tmp_path / "run").run
    data, span = run.task.data(run.architecture.context), run.architecture.context + 1

    def rows(split):
        return [tuple(split.tokens[begin : begin + span].tolist()) for begin in split.starts]

    train = set(rows(data.train))
    share = np.mean([row in train for row in rows(data.validation) + rows(data.test)])
    assert 0.75 < share < 0.82
    said = f"questions, of which {100 * share:.1f} % occur in training"
    assert said in " ".join(summary.sentences(run))
    assert training_log(run).title.endswith(said)
    assert metrics(run.experiment)["accuracy"].title == "accuracy"
    assert metrics(load("five_operations"))["accuracy"].title == "accuracy on new questions"


def test_a_diverged_training_is_told_as_such():
    (sentence,) = summary.sentences(run_of(NAN))
    assert sentence == "plus_last_even: the training diverged; by step 6 its loss was no longer a number"


def test_a_loss_above_the_ladder_has_reached_no_rung(tmp_path):
    """One step of a rate far too high: worse than guessing blindly."""
    settings = ["train.optimiser=sgd", "train.rate=100", "train.judged=50", "train.log_every=1"]
    run = begin(load("plus_last_even", settings, steps=1), out=tmp_path / "run").run
    assert run.metrics["validation_loss"][-1] > np.log(12)
    told = " ".join(summary.sentences(run))
    assert "above the whole ladder, worse than “uniform guess” (2.4849)" in told
    assert "has reached" not in told


def test_diverged_members_are_counted_and_left_out_of_the_medians(tmp_path, monkeypatch):
    whole: Run = run_of(POPULATION)  # trained, if at all, before anything is poisoned
    start = Engine.start

    def poisoned(self):
        state = start(self)
        return state._replace(flat=self.place(np.asarray(state.flat) * np.array([[1], [np.nan], [1]], np.float32)))

    monkeypatch.setattr(Engine, "start", poisoned)
    run = begin(load("plus_last_even", ["train.judged=50"], steps=3), seeds=3, out=tmp_path / "run").run
    first, excess, errors, *_ = summary.sentences(run)
    sound = run.metrics["excess"][-1][[0, 2]]
    assert first == "plus_last_even: 0 of 3 seeds learnt the rule, 1 diverged"
    assert f"median {sound.mean():.4f} nats per token, from {sound.min():.4f} to {sound.max():.4f}" in excess
    assert f"{np.mean(run.metrics['rule_error'][-1][[0, 2]]):.1%}".replace("%", " %") + " overall" in errors
    assert "diverged" not in next(summary.sentences(whole))


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations", POPULATION, "text"])
def test_train_score_and_check_give_one_verdict(name):
    """The training's summary, `score` and `check` speak the same sentence, or there is none to speak."""
    run = run_of(name)
    verdict = summary.verdicts(run)
    told, scored, checked = list(summary.sentences(run)), call("score", run.path).out, call("check", run.path).out
    assert f"verdict: {verdict}\n" in checked
    assert any(verdict in sentence for sentence in told) == run.task.exact
    (mine,) = [line for line in scored.splitlines() if line.startswith("verdict")] or [None]
    assert (mine is None) == (not run.task.exact)
    if run.members == 1 and mine:
        assert mine.endswith(verdict)
    if run.members > 1:  # one member's verdict, and it is said whose
        assert f"{run.name}, member 0 (seed {run.seeds[0]}) of {run.members}, at step" in call("score", run.path).err


def test_a_score_says_how_its_windows_differ_from_the_training_s():
    """Two numbers for one thing are explained where they are printed: other windows, other parts."""
    run = run_of("plus_last_even")
    line = next(line for line in call("score", run.path).out.splitlines() if line.startswith("the training judged"))
    assert f"1,000 of these windows: loss {run.metrics['validation_loss'][-1]:.4f}" in line
    found = score(run)
    assert f"over all of them it is {found.loss - found.floor:.4f} above theirs" in line
    run = run_of("five_operations")
    line = next(line for line in call("score", run.path).out.splitlines() if "accuracy," in line)
    shares = [score(run, part).accuracy for part in ("validation", "test")]
    assert f"{run.metrics['accuracy'][-1]:.1%}" in line
    assert run.metrics["accuracy"][-1] == pytest.approx(np.mean(shares))  # both parts have 500 questions
