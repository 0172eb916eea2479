"""What the figures of a decision promise beyond what all figures do: signs, names and pages."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from glassformer.analyses.logit_lens import logit_lens
from glassformer.analyses.logit_lens import say as say_lens
from glassformer.analyses.mixing import mixing
from glassformer.analyses.mixing import say as say_mixing
from glassformer.figures import _draw, plot_attribution, plot_decision_grid, plot_frozen, plot_mixing
from glassformer.run import Run
from test_analyses_decide import DEMO, random_run


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
    figure = plot_decision_grid(request.getfixturevalue(name), sequence=DEMO, size=size)
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
def test_frozen_has_no_page_that_is_not_drawn(plain: Run, size: str) -> None:
    figure = plot_frozen(plain, sequence=DEMO, size=size)
    assert _draw.of(figure).pages == 1
    assert not any("page" in text.get_text() for text in figure.findobj(Text))


def test_each_page_of_mixing_tells_of_its_own_head(heads: Run) -> None:
    seen = mixing(heads, sequence=DEMO)
    for page in range(2):
        title = _draw.of(plot_mixing(heads, sequence=DEMO, size="slide", page=page)).words.title
        weights = seen.attention.values[page, 6]
        assert title == say_mixing(seen, [page]).title
        assert f"in head {page} is the value" in title
        assert f"at position {weights.argmax()}" in title


def test_the_lens_counts_what_it_draws(plain: Run, tmp_path: Path) -> None:
    for run in (plain, random_run(tmp_path / "run", width=4, heads=2, blocks=2)):
        seen = logit_lens(run, sequence=DEMO)
        counts = [sum(row[k] == "right" for k in (2, 6)) for row in seen.verdicts]
        title = say_lens(seen).title
        assert seen.judged == (2, 6)
        assert [seen.wanted[k] for k in (2, 6)] == [("4",), ("10",)]
        if max(counts) > counts[-1]:
            assert f"{max(counts)} of 2 answers would be right" in title
        else:
            assert f"{counts[-1] or 'none'} of 2 answers" in title
