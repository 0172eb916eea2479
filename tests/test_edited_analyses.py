"""Every analysis of an edited run shows the edited model, says that it shows the training, or refuses with the reason.

The truth is another run whose weights were changed so that it computes the same values at every point.
"""

from functools import cache

import numpy as np
import pytest

import glassformer as gf
from glassformer import _discover, catalogue
from glassformer.analyses import ORIGINAL, _clock, _evaluation
from glassformer.errors import CallError
from glassformer.run import Run
from snapshot import FIXTURES

RUNS = ("rule", "questions", "text", "population")


class Changed(Run):
    """A run whose weights are changed as they are read."""

    def __init__(self, path, change):
        super().__init__(path)
        self.change = change

    def weights(self, step=-1, member=None):
        found = {name: value.copy() for name, value in super().weights(step, member).items()}
        for name in found:
            self.change(name.rpartition(".")[2], found[name])
        return found


@cache
def evaluated_steps(name):
    return tuple(_clock.metrics(run_of(name).edited("scale(embedded, 1)"))["step"].tolist())


@pytest.fixture
def evaluated(monkeypatch):
    """Curves of a changed run are evaluated at the same steps as those of an edited one."""

    def metrics(run):
        if not isinstance(run, Changed):
            return original(run)
        return _evaluation.metrics(run, evaluated_steps(run.name))

    for name in RUNS:
        evaluated_steps(name)
    original = _clock.metrics
    monkeypatch.setattr(_clock, "metrics", metrics)


def zero(*names):
    def change(leaf, value):
        if leaf in names:
            value[...] = 0

    return change


def scale(factor, *names):
    def change(leaf, value):
        if leaf in names:
            value *= factor

    return change


def silence_neuron(leaf, value):
    if leaf in ("expand", "expand_bias"):
        value[..., 3] = 0


# An edit, and a change of the weights after which every point of the forward pass has the same value.
SAME = {
    "zero(value)": zero("value", "value_bias"),
    "scale(query, 0.5)": scale(0.5, "query", "query_bias"),
    "zero(fed)": zero("contract", "contract_bias"),
    "zero(hidden_in, neuron=3)": silence_neuron,
    "scale(logits, 0.5)": scale(0.5, "read_out", "read_out_bias"),
}
# What is drawn from the weights themselves beside the values, or says which steps were looked at.
DIFFERS = {"forward": ("parts",), "backward": ("worst",), "pair_scores": ("terms", "shares", "why_no_terms")}
SCALES = ("clock", "scale", "axis")


@cache
def run_of(name):
    return gf.open(FIXTURES / "runs" / name)


def entries(name):
    """The analyses of a fixture run, each with what it says about edits."""
    for each in catalogue.entries("analyses"):
        if each.needs in ("run", "runs", "population") and not catalogue.why_not(each, run_of(name)):
            yield each.name, getattr(_discover.file(gf.analyses, each.name), "EDITS", "")


def analysed(name, run):
    return getattr(gf.analyses, name)(run)


def differences(name, found, expected):
    """The fields in which two results differ by more than rounding."""
    left = {key.replace(", edited", ""): array for key, array in found.arrays().items()}  # a run's name
    right = expected.arrays()
    facts = [name for name, value in found.facts().items() if str(value) != str(expected.facts().get(name))]
    wrong = [
        key
        for key in {*left, *right}
        if key not in left
        or key not in right
        or left[key].values.shape != right[key].values.shape
        or not np.allclose(left[key].values, right[key].values, rtol=2e-3, atol=2e-4, equal_nan=True)
    ]
    ignored = (*DIFFERS.get(name, ()), *SCALES)
    return [key for key in (*facts, *wrong) if not key.startswith(ignored)]


CASES = [
    ("rule", "zero(value)"), ("questions", "scale(query, 0.5)"), ("text", "zero(fed)"),
    ("population", "zero(hidden_in, neuron=3)"), ("population", "scale(logits, 0.5)"),
]  # fmt: skip
SLOW = ("birth", "backward", "runtime")  # compared on the smallest run


@pytest.mark.usefixtures("evaluated")
@pytest.mark.parametrize(("name", "edit"), CASES)
def test_every_analysis_shows_the_edited_model(name, edit):
    run, edited = run_of(name), run_of(name).edited(edit)
    changed = Changed(run.path, SAME[edit])
    assert np.abs(edited.trace()["logits"] - run.trace()["logits"]).max() > 0.01, "the edit does nothing"
    wrong, shown = [], 0
    for analysis, kind in entries(name):
        if kind or analysis == "operands" or (analysis in SLOW and name != "rule"):
            continue
        found = analysed(analysis, edited)
        assert ORIGINAL not in found.clock
        shown += 1
        wrong += [f"{analysis}: {key}" for key in differences(analysis, found, analysed(analysis, changed))]
    assert wrong == []
    assert shown > 40


@pytest.mark.parametrize("name", ["rule", "population"])
def test_what_shows_the_training_says_so_and_what_reads_the_weights_refuses(name):
    run, edited = run_of(name), run_of(name).edited("zero(attended)")
    for analysis, kind in entries(name):
        if kind == "weights":
            with pytest.raises(CallError, match="is about the trained weights, which edits do not change"):
                analysed(analysis, edited)
        elif kind == "training":
            found, before = analysed(analysis, edited), analysed(analysis, run)
            assert found.clock.endswith(ORIGINAL)
            assert found.title == before.title
            assert "edited" not in found.clock
        elif kind == "data":
            assert "edited" not in analysed(analysis, edited).clock


def test_what_claims_to_show_only_data_never_asks_the_model(monkeypatch):
    run = Run(run_of("rule").path)

    def refuse(*_, **__):
        raise AssertionError("it asks the model")

    monkeypatch.setattr(Run, "weights", refuse)
    monkeypatch.setattr(Run, "trace", refuse)
    data = [analysis for analysis, kind in entries("rule") if kind == "data"]
    assert len(data) > 5
    for analysis in data:
        analysed(analysis, run)


@pytest.mark.parametrize("name", RUNS)
def test_an_evaluation_finds_what_the_training_logged(name):
    """Of an unedited model, by NumPy: the metrics that the training computed with JAX on the same windows."""
    run = run_of(name)
    steps = [step for step in run.metrics["step"].tolist() if step in run.steps.tolist()]
    last = run.metrics["step"][-1]
    assert last in steps
    if _evaluation.most_windows(run) < run.experiment.train.windows:
        pytest.skip("a large model is evaluated on fewer windows than its training logged")
    found = _evaluation.metrics(run, (int(last),))
    for metric in set(found) - {"step"}:
        kind, _, part = metric.partition(".")
        logged = run.about["floors"][part] if kind == "floor" else run.metrics[metric][-1]
        np.testing.assert_allclose(np.ravel(found[metric][-1]), np.ravel(logged), rtol=1e-3, atol=1e-5, err_msg=metric)


def exact_loss(run, edits, step=-1, member=0):
    """The mean loss on the validation windows, from the logits alone."""
    windows = run.task.examples(run.architecture.context, "validation", run.experiment.train.windows).windows
    logits = run.trace(windows[:, :-1], step=step, member=member, edits=edits)["logits"].astype(np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, windows[:, 1:, None], -1).mean()


def test_the_loss_of_an_edited_model_is_its_own():
    """0.2.0 showed the curve of the training under the words "edited: …"."""
    run = run_of("rule")
    edited = run.edited("zero(value)")
    truth = exact_loss(run, "zero(value)")
    assert truth > run.metrics["validation_loss"][-1] + 0.1
    loss = gf.analyses.loss(edited)
    np.testing.assert_allclose(loss.curves["validation"].values[-1], truth, rtol=1e-4)
    assert f"to {truth:.2f} nats" in loss.title
    comparison = gf.analyses.comparison([edited], metric="loss")
    np.testing.assert_allclose(comparison.reached.values[0, 2], truth, rtol=1e-4)
    general = gf.analyses.generalisation(edited).excess["validation"]
    np.testing.assert_allclose(general.values[-1], loss.curves["excess"].values[-1], rtol=1e-3)


@pytest.mark.parametrize("edit", [
    "zero(attended)", "add(middle, 0.5, position=2)", "set(mixed, 0.25)", "mean(fed)", 'patch(out, from="4 9 + 6 2 +")',
    "scale(logits, 3); add(logits, 1, token=3)", "add(attended, 0.3); mean(embedded)", "set(final, 1, feature=0)",
])  # fmt: skip
def test_the_parts_of_an_edited_answer_add_up(edit):
    run = run_of("rule").edited(edit)
    text = "10 + 10 6 2 +"
    found = gf.analyses.attribution(run, sequence=text)
    logits = run.trace(text)["logits"][found.position].astype(np.float64)
    words = run.task.vocabulary
    truth = logits[words.index(found.first)] - logits[words.index(found.second)]
    np.testing.assert_allclose(found.total, truth, atol=1e-4)
    np.testing.assert_allclose(found.parts.values.sum(), truth, atol=1e-4)


@pytest.mark.parametrize("name", ["rule", "questions"])
def test_a_part_is_removed_from_the_edited_model(name):
    """By a second edit after the first, on the same windows."""
    from glassformer.analyses import _removal

    run = run_of(name)
    edit, read = "scale(fed, 0.5)", run.architecture.read_position
    given = _removal.held_out(run)
    found = gf.analyses.ablation(run.edited(edit))
    rows, ways = found.loss.axes["part"].labels, found.loss.axes["way"].values
    head = next(row for row in rows if row.startswith("head") or row == "attention")
    at = "block=0, head=0"

    def loss(edits):
        logits = run.trace(given.windows[:, :-1], edits=edits)["logits"].astype(np.float64)
        logits, targets = (logits, given.windows[:, 1:]) if read is None else (logits[:, :1], given.windows[:, -1:])
        logs = logits - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1, keepdims=True))
        logs = logs - logits.max(-1, keepdims=True)
        return -np.take_along_axis(logs, targets[..., None], -1).mean()

    truth = loss([edit, f"zero(mixed, {at})"]) - loss(edit)
    np.testing.assert_allclose(found.loss.values[rows.index(head), ways.index("zero")], truth, atol=1e-4)


def test_parts_are_removed_alike_with_and_without_edits():
    """An edit that changes nothing takes the way by whole passes, no edit the short cuts."""
    for name in ("rule", "questions", "text"):
        run = run_of(name)
        short, whole = (gf.analyses.ablation(each) for each in (run, run.edited("scale(embedded, 1)")))
        np.testing.assert_allclose(whole.loss.values, short.loss.values, atol=1e-4)
        np.testing.assert_allclose(whole.error.values, short.error.values, atol=1e-6)


@pytest.mark.parametrize(
    ("analysis", "edit", "reason"),
    [
        ("landscape", "zero(fed, position=1)", "differs from position to position"),
        ("landscape", "mean(hidden)", "differs from position to position"),
        ("pair_scores", "zero(scores)", "decides scores"),
        ("query_key_space", "mean(embedded)", "mixes positions"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(analysis, edit, reason):
    with pytest.raises(CallError, match=reason):
        analysed(analysis, run_of("rule").edited(edit))


def test_a_figure_of_an_edited_model_does_not_pass_an_evaluation_off_as_a_log():
    from glassformer.figures import _draw

    evaluated = "evaluated at saved steps instead"
    for run, says in ((run_of("rule"), False), (run_of("rule").edited("zero(value)"), True)):
        assert (evaluated in _draw.of(gf.figures.plot_loss(run)).words.caption) is says


def test_an_edited_value_is_not_taken_apart_and_probabilities_are_not_edited():
    run = run_of("rule").edited("add(middle, 1)")
    with pytest.raises(CallError, match="acts on this value"):
        gf.analyses.operands(run, value="middle")
    assert gf.analyses.operands(run, value="logits").agrees
    with pytest.raises(CallError, match="computed from the logits; edit those"):
        run_of("rule").edited("set(probabilities, 0.1)")


def test_what_an_edit_puts_in_place_of_a_mix_is_not_called_a_mix():
    run = run_of("rule")
    assert "picks up is the value of" in gf.analyses.mixing(run).title
    assert gf.analyses.mixing(run.edited("mean(mixed)")).title.startswith("An edit decides what")


@pytest.mark.parametrize("edit", ['patch(attended, from="4 9 + 4 10 7 + 10")', "mean(middle); scale(fed, 0.5)"])
def test_edits_before_the_point_of_a_map_do_not_hinder_it(edit):
    """The map begins after them: where the input ends on it, the answer is the edited model's."""
    run = run_of("rule").edited(edit)
    found = gf.analyses.readout(run, sequence="4 9 + 4 10 7 + 10")
    np.testing.assert_allclose(
        found.final.values @ found.vectors.values.T + found.bias.values, found.logits.values, atol=1e-4
    )


def test_curves_of_an_edited_run_have_the_parts_of_the_training_and_its_label():
    assert set(gf.analyses.generalisation(run_of("questions").edited("zero(fed)")).excess) == {
        "train", "validation", "test",
    }  # fmt: skip
    assert gf.analyses.seeds(run_of("population").edited("zero(fed)")).clock.endswith("edited: zero(fed)")
