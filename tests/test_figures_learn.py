"""Figures of learning: what is drawn stands where its numbers say."""

from itertools import combinations

import numpy as np
import pytest

import glassformer as gf
import hand_wired
from glassformer import analyses, figures
from glassformer.analyses.learn.by_kind import by_kind
from glassformer.analyses.learn.every_question import every_question
from glassformer.errors import Error
from glassformer.experiment import load
from glassformer.figures import _draw
from glassformer.optimiser import schedule
from glassformer.tasks import find
from small_runs import TEXT, run_of
from small_studies import study_of
from small_texts import noise


def test_marks_stand_at_the_step_and_kinds_differ_in_colour_and_dash():
    """All five operations pass between the same two looks, so that their marks share a step."""
    seen = by_kind(run_of("five_operations"))
    steps = seen.accuracy.axes["step"].values
    values = np.repeat(np.linspace(0, 1, len(steps))[None], len(seen.accuracy.values), 0)
    values[:2] = values[:2] ** 0.5
    seen.accuracy.values[:] = values
    passed = np.array([steps[int(np.argmax(row >= 0.95))] for row in values], dtype=float)
    seen.passed.values[:] = passed
    panel = figures.plot_by_kind(seen).axes[0]
    curves = [line for line in panel.lines if line.get_marker() in "oD^sv" and len(line.get_xdata()) > 1]
    looks = [(line.get_color(), line.get_linestyle()) for line in curves]
    assert len(looks) == 5
    assert all(a[0] != b[0] for a, b in combinations(looks, 2))
    marks = [line for line in panel.lines if line.get_markerfacecolor() == "#FFFFFF" and len(line.get_xdata()) == 1]
    at = sorted(panel.transData.inverted().transform(mark.get_transform().transform(mark.get_xydata()))[0, 0]
                for mark in marks)  # fmt: skip
    np.testing.assert_allclose(at, sorted(passed), rtol=1e-6)
    places = [tuple(mark.get_xydata()[0]) for mark in marks]
    assert len(set(places)) == 5, "none lies on another"
    assert max(height for _, height in places) == pytest.approx(0.95, abs=0.15)


def test_the_hundred_hardest_questions_fill_three_pages_and_each_is_listed_once():
    seen = every_question(run_of("plus_last_even"), hardest=100)
    told = []
    for page in range(3):
        figure = figures.plot_every_question(seen, page=page)
        assert _draw.of(figure).pages == 3
        told += [text.get_text() for panel in figure.axes for text in panel.texts if text.get_text().endswith("✓")]
        told += [text.get_text() for panel in figure.axes for text in panel.texts if "✗" in text.get_text()]
    assert len(told) == len(seen.hardest.values) == 100
    few = _draw.of(figures.plot_every_question(run_of("plus_last_even")))
    assert f"{len(few.result.hardest.values)} of " in few.words.caption


def test_perplexity_is_e_to_the_loss_and_told_of_texts_alone():
    run = run_of(TEXT)
    seen = analyses.perplexity(run)
    np.testing.assert_allclose(seen.curves["validation"].values, np.exp(run.metrics["validation_loss"]), rtol=1e-6)
    assert f"to {np.exp(run.metrics['validation_loss'][-1]):.1f} in" in seen.title
    panel = figures.plot_perplexity(seen).axes[0]
    assert all("10^" not in text.get_text() for text in panel.get_yticklabels())
    with pytest.raises(Error, match="perplexity is told of texts"):
        analyses.perplexity(run_of("plus_last_even"))


def test_the_learning_rate_is_the_one_of_the_schedule():
    run = run_of("plus_last_even")
    train, seen = run.experiment.train, analyses.learning_rate(run)
    expected = [float(schedule(train)(step)) for step in seen.at[1:]]
    assert max(abs(a - b) for a, b in zip(seen.rate.values[1:], expected, strict=True)) <= 0.02 * train.rate
    assert f"rises to {train.rate:.2g}" in seen.title


def test_a_first_near_zero_is_told_before_the_last_step():
    seen = analyses.rule_error(run_of("plus_last_even"))
    at, error = seen.error.axes["step"].values, seen.error.values[0, 0]
    near = next(step for step, each in zip(at, error, strict=True) if each <= seen.reached + 0.01)
    assert seen.near == near
    assert (f"first within a point of that by step {near}" in seen.title) == (near < at[-1])


def test_the_share_right_is_one_number_in_all_figures(tmp_path):
    """Of a rhyme to be learnt by heart several words may be allowed, but one came."""
    run = gf.train("mary", steps=60, out=tmp_path / "run")
    logged = run.metrics["accuracy"][-1]
    assert analyses.generalisation(run).accuracy.values[0, 1] == pytest.approx(logged, abs=1e-6)
    kinds = analyses.by_kind(run).now.values
    assert (kinds[:, 0] * kinds[:, 4]).sum() / kinds[:, 4].sum() == pytest.approx(logged, abs=1e-6)


def test_every_token_of_a_confusion_is_named_or_those_of_the_large_map_stand_for_them(tmp_path):
    run = noise(tmp_path / "run", load("mary"))
    seen = analyses.confusion(run)
    *small, large = [
        panel for panel in figures.plot_confusion(seen).axes if panel.get_title(loc="left").startswith("step")
    ]
    many = len(seen.share.axes["token"])
    assert len(large.get_yticklabels()) == many
    assert all(len(panel.get_yticklabels()) in (0, many) for panel in small)


def test_small_chances_fill_the_axis_and_large_ones_are_not_cut(tmp_path):
    seen = analyses.next_token(noise(tmp_path / "run", load("mary")))
    seen.chances.values[:] /= 30
    seen.truth.values[:] = np.nan
    small = {panel.get_xlim()[1] for panel in figures.plot_next_token(seen).axes}
    assert len(small) == 1
    most = float(seen.chances.values.max())
    assert most < small.pop() < 4 * most
    seen.chances.values[0, 0, 0] = 0.97
    assert all(panel.get_xlim()[1] > 1 for panel in figures.plot_next_token(seen).axes)


def test_a_sequence_too_long_for_its_row_begins_with_its_prompt(tmp_path):
    run = noise(tmp_path / "run", load("mary"))
    seen = analyses.unrolled(run)
    panel = figures.plot_unrolled(seen).axes[0]
    first = sorted((text.get_position()[0], text.get_text()) for text in panel.texts if text.get_position()[1] == 0)
    words = [text for _, text in first if text in seen.tokens]
    assert tuple(words[: seen.prompt]) == seen.tokens[: seen.prompt]


def test_the_table_of_a_study_fits_a_terminal_and_loses_nothing():
    found = study_of("study_cells")
    whole, narrow = list(found.lines(10_000)), list(found.lines(60))
    assert len(whole) == 1 + len(found.rows())
    assert max(map(len, narrow)) <= 60 < max(map(len, whole))
    blocks = [block.splitlines() for block in "\n".join(narrow).split("\n\n")]
    for k, name in enumerate(["cell", *(row.cell.name for row in found.rows())]):
        told = [word for block in blocks for word in block[k].removeprefix(name).split()]
        assert told == whole[k].removeprefix(name).split()


def test_nothing_is_called_memorising_where_no_model_gets_below_the_floor(tmp_path):
    """Of a rhyme the floor is counted on the very windows that are judged; of a rule it is not."""
    lines = [{"step": 10 * k, "train_loss": 0.3 - k / 10, "validation_loss": 0.3 - k / 10, "train_excess": 0.1 - k / 10,
              "excess": 0.1 - k / 10} for k in range(2)]  # fmt: skip
    for task, below in (("mary", False), ("plus_last_even", True)):
        size = len(find(task).vocabulary)
        run = hand_wired.write_run(
            tmp_path / task, token=np.zeros((size, 2)), blocks=[{}], context=6, task=task, lines=lines
        )
        drawn = figures.plot_loss(run)
        told = [text.get_text() for panel in drawn.axes for text in panel.texts]
        assert any("floor of these windows" in text for text in told), "the picture reaches down to the floor"
        assert any("memorising" in text for text in told) == below
        assert ("memorises" in _draw.of(drawn).words.caption) == below
