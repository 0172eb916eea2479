"""Edits as data: what is written is read again, and does to a model what it says, in both forward passes."""

import gc
import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import hand_wired
from command import call
from glassformer import editing, edits, glossary, model, reference
from glassformer.analyses._result import shared
from glassformer.architecture import Architecture, nest
from glassformer.edits import Edit, parse, read, written
from glassformer.errors import CallError, LimitError, MissingError
from glassformer.experiment import from_tables
from glassformer.record import Recorder
from glassformer.run import Run
from glassformer.trace import Trace
from small_runs import POPULATION, run_of

TEXT, OTHER = "4 9 + 6 2", "10 3 1 + 8"
SETTINGS = {"width": 4, "heads": 2, "blocks": 2, "feed_forward": 6, "norm": "layer", "context": 8}


def made(folder, seed=0, task="plus_last_even", steps=(0, 5), **architecture):
    """A run of random weights, other ones at each kept step."""
    experiment = from_tables({"task": task, "architecture": SETTINGS | architecture, "train": {"steps": 9}}, "edited")
    drawn = [model.init(experiment.architecture, np.random.default_rng([seed, step])) for step in steps]
    weights = {name: np.stack([each[name] for each in drawn]) for name in drawn[0]}
    with Recorder.create(folder, experiment, [seed]) as recorder:
        recorder.safe_point(max(steps), list(steps), weights, [], {})
        recorder.finish("finished")
    return Run(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made(tmp_path_factory.mktemp("edits") / "run")


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return made(tmp_path_factory.mktemp("edits") / "other", seed=1)


# Written and read


@st.composite
def any_edit(draw):
    verb, point = draw(st.sampled_from(edits.VERBS)), draw(st.sampled_from(glossary.POINTS))
    axes = draw(st.lists(st.sampled_from(glossary.axes(point)), unique=True))
    at = {axis: draw(st.lists(st.integers(0, 30), min_size=1)) for axis in axes}
    amount = draw(st.floats(-1e38, 1e38)) if verb in edits.NUMBERED else None
    source = {}
    if verb == "patch":
        kinds = {"text": st.text(min_size=1), "step": st.integers(-1, 10**12), "run": st.text(min_size=1)}
        kinds["member"] = st.integers(0, 10**12)
        names = draw(st.lists(st.sampled_from(list(kinds)), min_size=1, unique=True))
        source = {name: draw(kinds[name]) for name in names}
    return Edit(verb, point, at, amount, **source)


@settings(max_examples=200, deadline=None)
@given(st.lists(any_edit(), min_size=1, max_size=3))
def test_what_is_written_is_read_again(several):
    for edit in several:
        assert parse(str(edit)) == edit
        assert hash(parse(str(edit))) == hash(edit)
        assert Edit.from_plain(json.loads(json.dumps(edit.plain()))) == edit
    assert read(written(several)) == read(several) == tuple(several)


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("zero(mixed, block=0, head=1)", Edit("zero", "mixed", {"block": 0, "head": 1})),
        ("scale(attended, 0.5, block=1)", Edit("scale", "attended", {"block": 1}, 0.5)),
        ("add(middle, -1.5, position=3, feature=0)", Edit("add", "middle", {"position": 3, "feature": 0}, -1.5)),
        ("set(attention, 0.25, query_position=5)", Edit("set", "attention", {"query_position": [5]}, 0.25)),
        ("zero(hidden, neuron=[0-2, 7])", Edit("zero", "hidden", {"neuron": (7, 2, 0, 1, 1)})),
        ("mean(out, position=0-3)", Edit("mean", "out", {"position": range(4)})),
        ('patch(middle, from="4 9 + 6", block=0)', Edit("patch", "middle", {"block": 0}, text="4 9 + 6")),
        ("patch(out, step=500)", Edit("patch", "out", step=500)),
        ('patch(out, step=-1, run="runs/other")', Edit("patch", "out", step=-1, run="runs/other")),
    ],
)
def test_the_written_form(text, edit):
    assert parse(text) == edit
    assert str(edit) == text
    assert parse(f" {text} ".replace(", ", " ,\n").replace("=", " = ")) == edit
    assert parse(text.replace('"', "'")) == edit


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nil(mixed)", "nothing called 'nil' in the verbs of edits; there are: add, mean, patch, scale, set, zero"),
        ("zero(mixd)", "did you mean mixed"),
        ("zero(mixed, heads=0)", r"nothing called 'heads' in the axes of mixed .did you mean head"),
        ("zero(mixed, neuron=0)", "there are: block, feature, head, query_position"),
        ('patch(out, form="4")', "did you mean from"),
        ("zero(mixed, head=0, head=1)", "head is given twice"),
        ("zero(mixed, head=0.5)", "head = 0.5 in .* is not a whole number from 0 up, a range such as 0-3"),
        ("zero(mixed, head=-1)", "head = -1 in"),
        ("zero(mixed, head=3-1)", "head = 3-1 runs backwards"),
        ("zero(mixed, head=99999)", "head = 99999 is not between 0 and 65,535"),
        ("zero(mixed, head=[0, 1)", r"\) stands where '\]' should be"),
        ("zero(mixed, head)", r"\) stands where '=' should be"),
        ("zero(mixed", r"it ends where '\)' should be"),
        ("zero mixed", r"mixed stands where '\(' should be"),
        ("zero(mixed) zero(out)", "zero stands where a semicolon or the end should be"),
        ("zero($)", r"\$ stands where the name of a point"),
        ("", "it ends where a verb should be"),
        ("scale(out)", r"scale needs a number after the point, as in scale\(out, 0.5\)"),
        ("scale(out, 1e99)", r"amount = 1e\+99 of scale is not a number up to 3.4e\+38"),
        ("scale(out, block=0, 2)", "2 stands where the name of an axis"),
        ("zero(out, 3)", "zero takes no number, but 3.0 is given; add, scale, set take one"),
        ("zero(out, step=3)", "zero has no source, but step is given"),
        ("patch(out)", r"patch\(out\) has no source"),
        ("patch(out, run=other)", "run = other in .* is not a text in quotes"),
        ('patch(out, from="")', 'from = "" is not a text'),
        (r'patch(out, from="\x")', "a backslash that stands for nothing"),
        ("patch(out, step=-2)", "step = -2 is not a kept step"),
        ("patch(out, step=0.5)", "step = 0.5 in .* is not a whole number"),
        ("patch(out, member=-1)", "member = -1 in .* is not a whole number from 0 up"),
        ("zero(out); zero(final)", "2 edits where one is wanted"),
        ("zero(out)" + " " * edits.MOST_TEXT, "10,009 characters"),
    ],
)
def test_what_is_not_an_edit_is_refused_in_a_sentence(text, words):
    with pytest.raises((CallError, MissingError, LimitError), match=words) as problem:
        parse(text)
    assert problem.value.exit_code == 2


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"verb": "zero"}, "is not an edit"),
        ({"verb": "zero", "point": "out", "places": {}}, "nothing called 'places' in an edit"),
        ({"verb": "zero", "point": "out", "at": [0]}, "at = .0. is not a table"),
        ({"verb": "zero", "point": "out", "at": {"block": "0"}}, 'block = "0" is not a whole number'),
        ({"verb": "zero", "point": "out", "at": {"block": [True]}}, "block = .true. is not a whole number"),
        ({"verb": "zero", "point": "out", "at": {"block": []}}, "is not a whole number"),
        ({"verb": "set", "point": "out", "amount": "1"}, 'amount = "1" of set is not a number'),
        ({"verb": "patch", "point": "out", "from": 3}, "from = 3 is not a text"),
        ({"verb": "patch", "point": "out", "step": True}, "step = True is not"),
        ({"verb": ["zero"], "point": "out"}, "in the verbs"),
        (7, "7 is not an edit"),
    ],
)
def test_plain_values_are_as_strictly_read(value, words):
    with pytest.raises((CallError, MissingError), match=words):
        read([value])


# What they do


def changed(run, text, *written, **given):
    """Every value of a pass with edits, after making sure that a list, a text and `Edit`s say the same."""
    seen = run.trace(text, edits=list(written), **given)
    for again in ("; ".join(written), read(written), [edit.plain() for edit in read(written)]):
        assert_array_equal(run.trace(text, edits=again, **given)["logits"], seen["logits"])
    return seen


@pytest.mark.parametrize(
    ("text", "point", "by_hand"),
    [
        ("zero(mixed, block=0, head=1)", "mixed", lambda v, at: np.stack([v[0], 0 * v[1]]) if at == 0 else v),
        ("scale(attended, 0.5, block=1)", "attended", lambda v, at: v / 2 if at == 1 else v),
        ("scale(fed, -2)", "fed", lambda v, _: -2 * v),
        ("add(embedded, 1.5, position=3)", "embedded", lambda v, _: v + 1.5 * np.eye(5, dtype=v.dtype)[3, :, None]),
        ("set(logits, 7, token=[0, 2])", "logits",
         lambda v, _: np.where(np.isin(np.arange(12), (0, 2)), v.dtype.type(7), v)),
        ("zero(hidden, neuron=1-3, block=1)", "hidden",
         lambda v, at: v * np.array([1, 0, 0, 0, 1, 1], v.dtype) if at else v),
        ("set(scores, 0, key_position=0)", "scores", lambda v, _: np.concatenate([0 * v[..., :1], v[..., 1:]], -1)),
    ],
)  # fmt: skip
def test_an_edit_does_what_a_function_does(run, text, point, by_hand):
    seen, expected = changed(run, TEXT, text), run.trace(TEXT, edits={point: by_hand})
    assert not np.allclose(seen["logits"], run.trace(TEXT)["logits"])
    for name in expected:
        assert_allclose(seen[name], expected[name], atol=1e-6, err_msg=name)


@pytest.mark.parametrize("head", [0, 1])
def test_a_head_set_to_zero_is_a_head_whose_output_rows_are_zero(run, head):
    weights = {name: array.copy() for name, array in run.weights(5).items()}
    weights["blocks.1.output"][2 * head : 2 * head + 2] = 0
    logits, _ = reference.forward(nest(weights), run.tokens(TEXT), run.architecture)
    assert_allclose(changed(run, TEXT, f"zero(mixed, block=1, head={head})")["logits"], logits, atol=1e-6)


def test_without_scores_everything_in_view_counts_the_same(tmp_path):
    run = hand_wired.previous_token(tmp_path / "run")
    seen = changed(run, "0 1 2 3", "zero(scores)")
    assert_allclose(seen["attention"][0, 0], np.tri(4) / np.arange(1, 5)[:, None], atol=1e-6)
    assert_allclose(changed(run, "0 1 2 3", "set(attention, 0.25, query_position=0)")["attention"][0, 0, 0], 0.25)


@pytest.mark.parametrize("point", glossary.POINTS)
def test_an_edit_that_changes_nothing_changes_no_bit(run, point):
    plain = run.trace(TEXT)
    for text in (f"scale({point}, 1)", f"add({point}, 0)", f'patch({point}, from="{TEXT}")', f"patch({point}, step=5)"):
        seen = changed(run, TEXT, text)
        for name in plain:
            assert_array_equal(seen[name], plain[name], err_msg=f"{text}: {name}")


@pytest.mark.parametrize(
    ("task", "changes"),
    [("plus_last_even", {}), ("five_operations", {"causal": False, "context": 4, "read_position": 0})],
)
def test_the_mean_is_over_the_positions_in_view(tmp_path, task, changes):
    run = made(tmp_path / "run", task=task, **changes)
    plain, seen = run.trace(), changed(run, None, "mean(middle, block=0, feature=2)")
    for position in range(len(plain.tokens)):
        view = plain["middle"][0, : position + 1 if run.architecture.causal else None, 2]
        assert seen["middle"][0, position, 2] == pytest.approx(view.mean(), abs=1e-6)
    assert_array_equal(seen["middle"][0, :, :2], plain["middle"][0, :, :2])
    attention = changed(run, None, "mean(attention, head=0)")["attention"][0]
    assert_allclose(attention.sum(-1), 1, atol=1e-6)
    assert_allclose(attention[0, -1], plain["attention"][0, 0].mean(0), atol=1e-6)
    assert_array_equal(attention[1], plain["attention"][0, 1])


@pytest.mark.parametrize("point", [point for point in glossary.POINTS if point != "position_embedding"])
def test_a_mean_never_looks_ahead(run, point):
    one, two = (changed(run, text, f"mean({point})")["logits"] for text in ("4 9 + 6 2", "4 9 + 5 1"))
    assert_array_equal(one[:3], two[:3])


def test_a_patch_of_everything_is_the_other_input(run):
    there = run.trace(OTHER)
    assert_array_equal(changed(run, TEXT, f'patch(embedded, from="{OTHER}")')["logits"], there["logits"])
    seen = changed(run, TEXT, f'patch(out, from="{OTHER}", block=1, position=[1, 4])')
    assert_allclose(seen["logits"][[1, 4]], there["logits"][[1, 4]], atol=1e-6)
    assert_allclose(seen["logits"][[0, 2, 3]], run.trace(TEXT)["logits"][[0, 2, 3]], atol=1e-6)
    at_0 = run.trace(OTHER, step=0)
    both = changed(run, TEXT, f'patch(mixed, from="{OTHER}", step=0, block=0, head=1)')
    assert_array_equal(both["mixed"][0, 1], at_0["mixed"][0, 1])


def test_a_patch_from_a_step_and_from_a_run(run, other):
    seen = changed(run, TEXT, "patch(final, step=0)")
    assert_array_equal(seen["final"], run.trace(TEXT, step=0)["final"])
    named = json.dumps(str(other.path))
    for step, wanted in (("", 5), (", step=0", 0)):
        seen = changed(run, TEXT, f"patch(logits, run={named}{step})", step=0)
        assert_array_equal(seen["logits"], other.trace(TEXT, step=wanted)["logits"])


def test_a_patch_from_another_member():
    population = run_of(POPULATION)
    seen = changed(population, TEXT, "patch(final, member=2)", step=30, member=1)
    assert_array_equal(seen["final"], population.trace(TEXT, step=30, member=2)["final"])
    named = json.dumps(str(population.path))
    seen = changed(population, TEXT, f"patch(final, run={named}, member=1)", step=30, member=2)
    assert_array_equal(seen["final"], population.trace(TEXT, member=1)["final"])
    with pytest.raises(MissingError, match="there is no member 3"):
        population.trace(TEXT, edits="patch(final, member=3)")


def test_edits_act_in_order_and_on_what_came_before(run):
    plain = run.trace(TEXT)
    assert_allclose(
        changed(run, TEXT, "add(final, 1)", "scale(final, 2)")["final"], 2 * (plain["final"] + 1), atol=1e-6
    )
    assert_allclose(changed(run, TEXT, "scale(final, 2)", "add(final, 1)")["final"], 2 * plain["final"] + 1, atol=1e-6)
    seen = changed(run, TEXT, "zero(embedded)", "patch(final, step=5)")  # from the model without any edit
    assert_array_equal(seen["final"], plain["final"])


EVERY = (
    "zero(mixed, block=0, head=1)",
    "mean(middle, block=0)",
    "mean(attention, block=1, head=0)",
    "add(hidden, 0.5, position=1-3, neuron=[0, 2])",
    "scale(position_embedding, 0.5, position=2)",
    "set(value, 0.25, key_position=0)",
    f'patch(query, from="{OTHER}", block=1)',
    "patch(out, step=0, block=0, position=4)",
)


def test_a_batch_is_its_sequences_side_by_side(run):
    rows = [run.tokens(text) for text in (TEXT, OTHER, "1 2 3 4 5")]
    together = changed(run, np.stack(rows), *EVERY)
    for place, row in enumerate(rows):
        alone = changed(run, row, *EVERY)
        for name in alone:
            here = together[name] if name == "position_embedding" else together[name][place]
            assert_allclose(here, alone[name], atol=1e-6, err_msg=name)
    doubled = np.stack([np.stack(rows), np.stack(rows[::-1])])  # two batch axes
    logits, _ = reference.forward(
        nest(run.weights()), doubled, run.architecture, editing.compiled(run, doubled, more=EVERY)
    )
    assert_allclose(logits[1, 0], together["logits"][2], atol=1e-6)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_both_passes_give_the_same_numbers(run, batch):
    tokens = np.random.default_rng(0).integers(0, 12, (*batch, 5))
    changes = editing.compiled(run, tokens, more=EVERY)
    params, a = nest(run.weights()), run.architecture
    _, fast = jax.jit(lambda params, tokens: model.forward(params, tokens, a, changes))(params, tokens)
    _, slow = reference.forward(params, tokens, a, changes)
    for name in slow:
        assert_allclose(fast[name], slow[name], atol=2e-5, rtol=2e-5, err_msg=name)


# What a model has no place for


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("zero(mixed, head=2)", "this model has no head 2; there are 0 to 1"),
        ("zero(query, feature=2)", "no feature 2; there are 0 to 1"),
        ("zero(out, feature=4)", "no feature 4; there are 0 to 3"),
        ("zero(logits, token=12)", "no token 12; there are 0 to 11"),
        ("zero(hidden, neuron=[0, 6], block=1)", "no neuron 6; there are 0 to 5"),
        ("zero(mixed, block=2)", "no block 2"),
        ("zero(out, position=8)", "this model has no position 8; there are 0 to 7"),
        ("zero(scores, key_position=5)", "this input has no key_position 5; there are 0 to 4"),
        ("patch(out, step=3)", "step 3 of .* was not kept; the nearest kept: 0 and 5"),
        ('patch(out, from="4 9")', "its text has 2 tokens and this input 5; a patch needs as many"),
        ('patch(out, from="4 x")', "'x' at position 1"),
        ('patch(out, run="nowhere")', "no runs|nothing called 'nowhere'"),
        ("patch(out, member=1)", "there is no member 1 in .*; there are 0 to 0"),
    ],
)
def test_an_edit_without_its_place_is_refused(run, text, words):
    with pytest.raises((CallError, MissingError), match=words):
        run.trace(TEXT, edits=text)


def test_a_point_that_the_model_lacks_is_refused_with_those_it_has(tmp_path):
    run = made(tmp_path / "run", feed_forward=0, positions="none", blocks=1)
    for point in ("hidden", "fed", "normed_2", "position_embedding"):
        with pytest.raises(
            MissingError, match=f"this model has no {point}; it has: token_embedding, embedded, normed_1"
        ):
            run.edited(f"zero({point})")
    with pytest.raises(CallError, match="no block 1; there is only 0"):
        run.edited("zero(out, block=1)")


def test_a_run_of_another_shape_is_no_source(run, tmp_path):
    for task, settings_, words in (
        ("plus_last_even", {"width": 6}, "out has block 2, feature 6 in .* and block 2, feature 4 in"),
        ("plus_last_even", {"blocks": 1}, "out has block 1, feature 4"),
        ("lucky7", {}, "the tokens of .* are not those of"),
        ("plus_last_even", {"context": 4}, "5 tokens are more than the model's context = 4"),
    ):
        source = made(tmp_path / f"{task}{len(list(tmp_path.iterdir()))}", task=task, **settings_)
        with pytest.raises((CallError, LimitError), match=words):
            run.trace(TEXT, edits=Edit("patch", "out", run=str(source.path)))


def test_sizes_are_those_of_the_trace(run):
    seen = run.trace("1 2 3 4 5 6 7 8")
    assert {name: tuple(axes.values()) for name, axes in editing.sizes(run.architecture).items()} == {
        name: seen[name].shape for name in glossary.POINTS
    }


# A run seen through edits


def test_an_edited_run_is_the_run_seen_through_its_edits(run):
    seen = run.edited("zero(mixed, head=1)").edited(Edit("scale", "fed", amount=0.5))
    expected = run.trace(TEXT, edits="zero(mixed, head=1); scale(fed, 0.5)")
    assert_array_equal(seen.trace(TEXT)["logits"], expected["logits"])
    assert_array_equal(editing.compiled(seen, run.tokens(TEXT))["fed"](np.ones((5, 4)), 0), 0.5)
    assert seen.ask(TEXT) == run.ask(TEXT, edits=seen.edits) != run.ask(TEXT)
    assert written(seen.edits) == "zero(mixed, head=1); scale(fed, 0.5)"
    assert "edited: zero(mixed, head=1); scale(fed, 0.5)" in repr(seen)
    assert seen.unedited is run
    assert (run.edits, run.edited(()), run.edited(None)) == ((), run, run)
    assert_array_equal(seen.unedited.weights()["token"], run.weights()["token"])
    with pytest.raises(CallError, match="computed from its weights"):  # who did so would not see the edits
        seen.weights()
    doubled = seen.trace(TEXT, edits={"fed": lambda value, _: 2 * value})  # a function comes after
    assert_allclose(doubled["logits"], run.trace(TEXT, edits="zero(mixed, head=1)")["logits"], atol=1e-6)


def test_an_edited_run_shares_what_was_read_and_nothing_that_was_found(run):
    opened = Run(run.path)
    seen = opened.edited("zero(embedded)")
    assert seen != opened
    assert seen.steps is opened.steps  # read through the one, known to the other
    assert seen.newer() is seen

    @shared
    def last(run):
        return run.trace(TEXT)["logits"][-1]

    assert last(opened) is last(opened)
    assert not np.allclose(last(opened), last(seen))
    del seen
    gc.collect()
    assert opened.edits == ()


def test_a_longer_input_meets_an_edit_that_a_shorter_one_does_not_reach(run):
    seen = run.edited("zero(embedded, position=3)")
    assert_array_equal(seen.trace("4 9")["logits"], run.trace("4 9")["logits"])
    assert_array_equal(seen.trace(TEXT)["embedded"][3], 0)
    with pytest.raises(CallError, match="this input has no position 3"):
        run.trace("4 9", edits=seen.edits)


@pytest.mark.parametrize("text", ["mean(attended)", "zero(embedded, position=5)", "patch(out, step=0, block=0)"])
def test_writing_asks_the_edited_model_anew_for_every_token(run, text):
    seen, tokens = run.edited(text), [int(token) for token in run.tokens(TEXT)]
    new = list(run.generate(TEXT, 8, temperature=0, edits=text))
    assert new == list(seen.generate(TEXT, 8, temperature=0))
    for token in new:
        assert token == seen.trace(tokens[-8:])["logits"][-1].argmax()
        tokens.append(token)


def test_writing_takes_functions_and_refuses_what_has_no_meaning(run):
    ban: Mapping = {"logits": lambda value, _: np.where(np.arange(12) == 3, value + 100, value)}
    assert (
        list(run.generate(TEXT, 3, edits=ban))
        == list(run.generate(TEXT, 3, edits="add(logits, 100, token=3)"))
        == [3] * 3
    )
    assert list(run.generate(TEXT, 3, edits={})) == list(run.generate(TEXT, 3, edits=[])) == list(run.generate(TEXT, 3))
    with pytest.raises(CallError, match="a text that grows has not the length of another"):
        run.generate(TEXT, edits=f'patch(out, from="{OTHER}")')
    with pytest.raises(CallError, match="computed from the logits"):
        run.generate(TEXT, edits="zero(probabilities)")


# On the page and on the command line


def test_the_page_shows_every_verb_as_it_is_written():
    page = (Path(__file__).parents[1] / "docs/edits.md").read_text("utf-8")
    shown = [parse(text) for text in re.findall(rf"[`\"]((?:{'|'.join(edits.VERBS)})\(.*?\))[`\"]", page)]
    assert {edit.verb for edit in shown} == set(edits.VERBS)
    assert all(str(edit) in page for edit in shown)


def test_ask_shows_the_edited_answer_beside_the_other(run):
    words = ("zero(mixed, head=0)", "add(logits, 9, token=3)")
    flags = ("--edit", words[0], "--edit", words[1])
    answer = call("ask", run.path, TEXT, *flags, "--json", "--top", 4).json
    assert answer["edits"] == list(words)
    assert list(zip(answer["tokens"], answer["probabilities"], strict=True)) == run.ask(TEXT, edits=words)[:4]
    assert answer["unedited"] == [dict(run.ask(TEXT))[token] for token in answer["tokens"]]
    lines = call("ask", run.path, TEXT, *flags, "--top", 1).out.splitlines()
    assert lines[0] == "edited: zero(mixed, head=0); add(logits, 9, token=3)"
    assert lines[1].split() == ["token", "edited", "model", "exact"]
    first = run.ask(TEXT)[0]
    assert [line.split()[0] for line in lines[2:]] == ["3", first[0]]
    assert lines[3].split()[2] == f"{first[1]:.1%}"
    assert "edits" not in call("ask", run.path, TEXT, "--json").json


def test_generate_writes_with_the_edited_model(run):
    words = ("generate", run.path, TEXT, "--tokens", 3, "--edit", "add(logits, 100, token=3)")
    answer = call(*words, "--json").json
    assert answer["edits"] == ["add(logits, 100, token=3)"]
    assert answer["tokens"][-3:] == ["3"] * 3
    spoken = call(*words)
    assert spoken.out.startswith(f"{TEXT} 3 3 3\n")
    assert spoken.err == "run at step 5\n(edited: add(logits, 100, token=3))\n"


@pytest.mark.parametrize("command", ["ask", "generate"])
def test_a_wrong_edit_is_one_sentence_and_exit_code_2(run, command):
    for text, words in (("zero(mixd)", "did you mean mixed?"), ("zero(mixed, head=2)", "no head 2; there are 0 to 1")):
        answer = call(command, run.path, TEXT, "--edit", text)
        assert answer.code == 2
        assert answer.out == ""
        assert answer.err.startswith("glassformer: ")
        assert words in answer.err
        assert len(answer.err.splitlines()) == 1


# ---- functions


class Zero:
    """A callable."""

    def __call__(self, value):
        return 0 * value


def zero_in_place(value):
    value[...] = 0
    return value


ZEROS = {
    "value": lambda value: 0 * value,
    "value, block": lambda value, _: 0 * value,
    "value, head=1": lambda value, head=1: (1 - head) * value,
    "callable": Zero(),
    "method": Zero().__call__,
    "partial": partial(np.multiply, 0.0),
    "partial by name": partial(np.clip, a_min=0, a_max=0),
    "of NumPy": np.zeros_like,
    "in place": zero_in_place,
    "float64": lambda value: np.zeros(value.shape),
    "whole numbers": lambda value: np.zeros(value.shape, dtype=int),
    "list": lambda value: (0 * value).tolist(),
}


@pytest.mark.parametrize("name", ZEROS)
@pytest.mark.parametrize("point", ["attended", "position_embedding"])
def test_a_function_takes_the_value_or_the_block_as_well(run, name, point):
    plain, edited = run.trace(TEXT, edits=f"zero({point})"), run.trace(TEXT, edits={point: ZEROS[name]})
    for each in plain:
        assert_array_equal(edited[each], plain[each])
        assert edited[each].dtype == plain[each].dtype
    assert not np.array_equal(run.trace(TEXT)["logits"], edited["logits"])


def test_the_block_goes_to_whoever_asks_for_it(run):
    asked = []
    for function in (
        lambda value, at: asked.append(at) or value,
        lambda value, block=9: asked.append(block) or value,
        lambda value, *, block: asked.append(block) or value,
        lambda *given: asked.append(given[1]) or given[0],
        partial(lambda found, value, at: found.append(at) or value, asked),
    ):
        for point, blocks in (("attended", [0, 1]), ("embedded", [None]), ("blocks.1.hook_attn_out", [1])):
            asked.clear()
            run.trace(TEXT, edits={point: function})
            assert asked == blocks
    asked.clear()
    run.trace(TEXT, edits={"attended": lambda value, head=7: asked.append(head) or value})
    assert asked == [7, 7]


def test_a_function_of_numpy_with_one_argument(run):
    plain, edited = run.trace(TEXT, edits="scale(attended, -1)"), run.trace(TEXT, edits={"attended": np.negative})
    assert_array_equal(edited["logits"], plain["logits"])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda _: 0.0, r"^the edit of attended returned shape \(\); wanted is \(\d+, \d+\), as it was given$"),
        (lambda value: value[:1], r"returned shape \(1, "),
        (lambda value: value[None], r"returned shape \(1, \d+, \d+\); wanted is \(\d+, \d+\)"),
        (lambda value: value.sum(-1, keepdims=True), r"returned shape \(\d+, 1\)"),
        (lambda _: None, "returned nothing; return the value"),
        (lambda value: value.astype(complex), "numbers of type complex128; wanted are real numbers"),
        (lambda value: value.astype(object), "numbers of type object"),
        (lambda value: value > 0, "numbers of type bool"),
        (lambda _: [[1.0], [1.0, 2.0]], r"returned \[\[1.0\], \[1.0, 2.0\]\], which is no array"),
        (lambda: 0, "takes no arguments; give a function that takes"),
        (lambda value, block, more: value, "takes 3 arguments"),  # noqa: ARG005
        (np.add, "takes 2 arrays"),
        (0.5, r"^edits\['attended'\] = 0.5 is not a function that takes \(value, block\), or the value alone"),
    ],
)
def test_what_a_function_may_not_do_is_refused(run, function, words):
    with pytest.raises(CallError, match=words):
        run.ask(TEXT, edits={"attended": function})
    with pytest.raises(CallError, match=words):
        list(run.generate(TEXT, 2, edits={"attended": function}))


def test_what_is_no_number_goes_through(run):
    assert np.isnan(run.trace(TEXT, edits={"attended": lambda value: value * np.nan})["logits"]).all()


def test_a_function_for_no_point_or_one_that_nobody_reads_is_refused(run):
    for work in (run.trace, run.ask, run.generate):
        with pytest.raises(MissingError, match=r"nothing called 'mixd' in the trace \(did you mean mixed\?\)"):
            work(TEXT, edits={"mixd": np.negative})
    with pytest.raises(CallError, match="the next token is chosen by the logits"):
        run.generate(TEXT, edits={"probabilities": np.negative})
    with pytest.raises(CallError, match="functions go to trace, ask, generate"):
        run.edited({"mixed": np.negative})


# ---- TransformerLens's names


def two_blocks(**options):
    a = Architecture(vocabulary=6, context=5, width=4, heads=2, blocks=2, norm="layer", final_norm=True, **options)
    rng = np.random.default_rng(0)
    return a, nest({name: rng.normal(size=shape) for name, shape in a.shapes().items()})


@pytest.mark.parametrize("batch", [(), (3,)])
def test_a_name_of_transformerlens_is_the_block_s_part_of_the_point(batch):
    a, params = two_blocks()
    tokens = np.random.default_rng(0).integers(0, 6, (*batch, 5))
    seen = Trace(reference.forward(params, tokens, a)[1], tokens, 0, "abcdef", a)
    for point, theirs in glossary.LENS.items():
        if point not in glossary.PER_BLOCK:
            assert_array_equal(seen[theirs], seen[point])
            continue
        assert_array_equal(seen[theirs], seen[point])
        for block in range(2):
            name = f"blocks.{block}.{theirs}"
            assert name in seen
            assert_array_equal(seen[name], seen[point][(slice(None),) * len(batch) + (block,)])
            assert list(seen.axes(name)) == [axis for axis in seen.axes(point) if axis != "block"]
    assert_array_equal(seen["blocks.1.hook_resid_pre"], seen["blocks.0.hook_resid_post"])
    assert_array_equal(seen["blocks.0.hook_resid_pre"], seen["embedded"])
    assert set(seen) <= set(glossary.POINTS)
    for name, words in (
        ("blocks.2.attn.hook_z", "this model has no block 2; it has 2, counted from 0"),
        ("blocks.2.hook_resid_pre", "this model has no block 2"),
        ("blocks.0.attn.hook_result", "has no counterpart here; of TransformerLens's names these have one: "),
        ("blocks.0.hook_embed", "has no counterpart here"),
        ("hook_resid_pre", "has no counterpart here"),
        ("blocks.0.attn.hook_rot_q", "not rotary: its query is called attn.hook_q"),
    ):
        assert name not in seen
        with pytest.raises((CallError, MissingError), match=words):
            seen[name]


def test_what_has_another_meaning_there_is_refused():
    rotary, _ = two_blocks(positions="rotary")
    assert glossary.point("blocks.1.attn.hook_rot_k", rotary) == ("key", 1)
    with pytest.raises(CallError, match=r"are rotary, and its key is called attn.hook_rot_k"):
        glossary.point("blocks.1.attn.hook_k", rotary)
    post, _ = two_blocks(norm_place="post")
    assert glossary.point("blocks.0.hook_resid_pre", post) == ("embedded", None)
    with pytest.raises(CallError, match="a norm stands between out and the next block"):
        glossary.point("blocks.1.hook_resid_pre", post)


def test_edits_take_these_names_as_well(run):
    wanted = run.trace(TEXT, edits="zero(mixed, block=0, head=0)")
    for changes in (
        "zero(blocks.0.attn.hook_z, head=0)",
        Edit("zero", "blocks.0.attn.hook_z", {"head": 0}),
        {"blocks.0.attn.hook_z": lambda value: np.where(np.arange(len(value))[:, None, None] == 0, 0, value)},
    ):
        assert_array_equal(run.trace(TEXT, edits=changes)["logits"], wanted["logits"])
    assert str(parse("add(blocks.0.attn.hook_z, 0.5, head=0)")) == "add(mixed, 0.5, block=0, head=0)"
    for wrong, words in (
        ("zero(blocks.0.attn.hook_z, block=0)", "block is given twice"),
        ("zero(blocks.9.attn.hook_z)", "has no block 9"),
        ({"blocks.9.attn.hook_z": np.negative}, "has no block 9"),
    ):
        with pytest.raises((CallError, MissingError), match=words):
            run.trace(TEXT, edits=wrong)
    with pytest.raises(CallError, match=r"block = 1 is not the block 0 that the point's name has"):
        Edit("zero", "blocks.0.attn.hook_z", {"block": 1})
