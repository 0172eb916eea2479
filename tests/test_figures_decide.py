"""What the figures of a decision promise beyond what all figures do: signs, names and pages."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

import hand_wired
from glassformer import _discover, figures, reference
from glassformer.analyses.decide.logit_lens import logit_lens
from glassformer.analyses.decide.mixing import mixing
from glassformer.figures import (
    _draw,
    plot_attribution,
    plot_landscape_input,
    plot_landscape_winners,
    plot_mixing,
    plot_probes,
    plot_reachable,
    plot_residual,
)
from glassformer.gallery.brief import BRIEF
from glassformer.run import Run
from small_runs import run_of
from test_analyses_decide import DEMO, on_slice, random_run


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Width 2, one head."""
    return random_run(tmp_path_factory.mktemp("plain") / "run")


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Width 4, two heads."""
    return random_run(tmp_path_factory.mktemp("heads") / "run", width=4, heads=2)


@pytest.mark.parametrize("size", ["screen", "slide", "print"])
@pytest.mark.parametrize("name", ["plain", "heads"])
def test_the_place_the_title_speaks_of_has_its_name(name: str, size: str, request: pytest.FixtureRequest) -> None:
    figure = plot_landscape_input(request.getfixturevalue(name), sequence=DEMO, size=size)
    assert "+ at position 6" in _draw.of(figure).words.title
    assert any(text.get_text() in ("+₆ ✓", "+₆ ✗") for text in figure.findobj(Text))


def test_a_sign_has_one_colour_in_both_panels_of_attribution(plain: Run) -> None:
    figure = plot_attribution(plain, sequence=DEMO)
    panels = [[bar for bar in ax.patches if isinstance(bar, Rectangle)] for ax in figure.axes]
    colours: dict[bool, set[tuple[float, ...]]] = {True: set(), False: set()}
    for bars in (panels[0][:-1], panels[1]):  # the last bar on the left is the sum
        for bar in bars:
            if bar.get_width():
                colours[bar.get_width() > 0].add(tuple(bar.get_facecolor()))
    assert [len(found) for found in colours.values()] == [1, 1]
    assert colours[True] != colours[False]
    seen = _draw.of(figure).result
    np.testing.assert_allclose([bar.get_width() for bar in panels[1]], seen.keys.values[0, :7])  # not the future


@pytest.mark.parametrize("size", ["screen", "slide", "print"])
def test_reachable_has_no_page_that_is_not_drawn(plain: Run, size: str) -> None:
    figure = plot_reachable(plain, sequence=DEMO, size=size)
    assert _draw.of(figure).pages == 1
    assert not any("page" in text.get_text() for text in figure.findobj(Text))


def test_each_page_of_mixing_tells_of_its_own_head(heads: Run) -> None:
    seen = mixing(heads, sequence=DEMO)
    for page in range(2):
        title = _draw.of(plot_mixing(heads, sequence=DEMO, size="slide", page=page)).words.title
        weights = seen.attention.values[page, 6]
        assert title == seen.title_of([page])
        assert f"in head {page} is the value" in title
        assert f"at position {weights.argmax()}" in title


def test_the_lens_counts_what_it_draws(plain: Run, tmp_path: Path) -> None:
    for run in (plain, random_run(tmp_path / "run", width=4, heads=2, blocks=2)):
        seen = logit_lens(run, sequence=DEMO)
        counts = [sum(row[k] == "right" for k in (2, 6)) for row in seen.verdicts]
        title = seen.title
        assert seen.judged == (2, 6)
        assert [seen.wanted[k] for k in (2, 6)] == [("4",), ("10",)]
        if max(counts) > counts[-1]:
            assert f"{max(counts)} of 2 answers would be right" in title
        else:
            assert f"{counts[-1] or 'none'} of 2 answers" in title


def test_the_lens_says_what_the_feed_forward_does(plain: Run) -> None:
    seen = logit_lens(plain, sequence=DEMO)
    rows = [tuple(verdict if k in (2, 6) else "unconstrained" for k in range(8)) for verdict in ("wrong", "right")]
    one = tuple("right" if k == 2 else verdict for k, verdict in enumerate(rows[0]))
    for middle, before in ((one, "only 1"), (rows[0], "none")):
        title = replace(seen, verdicts=(rows[0], middle, rows[1])).title
        assert title == f"2 of 2 answers are right at the end; without the feed-forward {before} would be"


@pytest.mark.parametrize("name", ["plain", "heads"])
def test_the_name_of_a_region_stands_in_it(name: str, request: pytest.FixtureRequest) -> None:
    figure = plot_landscape_winners(request.getfixturevalue(name), sequence=DEMO)
    seen, panel = _draw.of(figure).result, figure.axes[1]
    named = [text for text in panel.texts if text.get_fontweight() == "bold"]
    assert named
    run = request.getfixturevalue(name)
    for text in named:
        stream = on_slice(seen, run, np.array(text.get_position()))
        chances = reference.softmax(hand_wired.logits_after(run, stream))
        word = seen.words[int(chances.argmax())]
        assert text.get_text() == (word if chances.max() >= 0.5 else f"{word} likeliest")


def test_on_a_slice_each_tip_tells_what_is_said(heads: Run) -> None:
    figure = plot_residual(heads, sequence=DEMO)
    seen = _draw.of(figure).result
    says = [seen.words[int(seen.at_end.values[k].argmax())] for k in (2, 6)]
    texts = {text.get_text()[:-2] for text in figure.findobj(Text)}
    assert {f"+₂ → {says[0]}", f"+₆ → {says[1]}"} <= texts


def test_maps_of_what_attention_can_reach_are_of_the_tokens_it_can_reach(plain: Run) -> None:
    figure = plot_reachable(plain, sequence=DEMO)
    seen = _draw.of(figure).result
    drawn = {
        title.partition("(")[2].partition(")")[0]
        for ax in figure.axes
        if (title := ax.get_title("left"))
        if "P(" in title
    }
    reach = {seen.words[k] for k in np.flatnonzero(seen.reachable.values)}
    others = {seen.words[k] for k in (*seen.right, int(seen.said.values.argmax()))}
    likely = {seen.words[k] for k in np.flatnonzero(seen.said.values >= 0.01)}  # where few can be reached
    assert reach | others <= drawn <= reach | others | likely
    assert len(drawn) <= max(4, len(reach | others))


def test_the_numbers_of_probes_are_percent_right() -> None:
    figure = plot_probes(run_of("plus_last_even"))
    seen = _draw.of(figure).result
    for panel, accuracy in zip(figure.axes, seen.accuracy.values, strict=False):
        written = [text.get_text() for text in panel.texts]
        assert written == [f"{100 * value:.0f}" for value in accuracy.ravel()]


def test_the_story_in_brief_begins_with_one_answer_and_names_only_figures() -> None:
    assert next(iter(BRIEF)) == "one_answer"
    assert set(BRIEF) <= set(_discover.names(figures))
