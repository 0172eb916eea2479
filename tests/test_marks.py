"""One fixed mark per token group in all figures of a run, and what else must not depend on a figure's size."""

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D

from glassformer import figures
from glassformer.analyses._result import Words
from glassformer.figures import _draw, _style
from small_runs import run_of

FIGURES = (
    "embedding_paths", "embeddings", "landscape", "landscape_winners", "point_atlas", "sequence_embeddings",
    "token_counts",
)  # fmt: skip


def _legend(figure) -> dict[str, str]:
    """Label → marker of all legends."""
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    return {
        each.get_label(): each.get_marker()
        for legend in legends for each in legend.legend_handles if isinstance(each, Line2D)
    }  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("task", ["lucky7", "step_back"])  # in these the vocabulary does not begin with the first group
def test_a_group_wears_the_same_mark_in_every_figure(name, task):
    run = run_of(task)
    first, other = run.task.groups
    assert 0 not in run.task.groups[first]
    worn = _legend(getattr(figures, f"plot_{name}")(run))
    assert (worn[first], worn[other]) == ("o", "D")


def test_marks_are_given_by_all_groups_of_the_task():
    task = run_of("five_operations").task
    assert list(_style.markers(task)) == [*task.groups, ""]
    assert len(set(_style.markers(task).values())) == len(task.groups) + 1


@pytest.mark.parametrize("name", ["embeddings", "embedding_paths", "sequence_embeddings", "positions"])
def test_positions_wear_no_groups_mark(name):
    run = run_of("lucky7")
    figure = getattr(figures, f"plot_{name}")(run)
    paper = to_rgba(_style.theme("light").paper)
    heading = {"positions": "joined in order", "embedding_paths": "positions"}.get(name, "position")
    (panel,) = (
        ax for ax in figure.axes
        if ax.get_title(loc="left") == heading and any(line.get_gid() == "origin" for line in ax.lines)
    )  # fmt: skip
    marks = [c for c in panel.collections if len(c.get_offsets()) == run.architecture.context and len(c.get_paths())]
    assert any(len(c.get_paths()[0].vertices) == 5 and (c.get_facecolor()[0] == paper).all() for c in marks)


@pytest.mark.parametrize("name", ["landscape", "landscape_winners"])
@pytest.mark.parametrize("task", ["lucky7", "even_abs_diff"])
def test_what_a_landscape_says_does_not_depend_on_its_size(name, task):
    plot = getattr(figures, f"plot_{name}")
    drawn = [_draw.of(plot(run_of(task), size=size)) for size in ("screen", "slide", "print")]
    assert len({each.words.title for each in drawn}) == 1
    assert len({each.result.frame for each in drawn}) == 1


def test_every_token_that_a_title_calls_likely_has_a_map():
    drawn = figures.plot_landscape(run_of("even_abs_diff"))
    seen = _draw.of(drawn).result
    peak = seen.probabilities.values.max((1, 2))
    titles = {ax.get_title(loc="left") for ax in drawn.axes}
    for token, most in zip(seen.probabilities.axes["token"].labels, peak, strict=True):
        assert f"next is {token}" in titles or most < 0.25


def _crowd(*, tied: bool) -> tuple[int, int]:
    """How many of nine labels of points on one another are written, and how many lines tie them."""
    with matplotlib.rc_context(_style.rc("light", "screen")):
        ax = _draw.Sheet(None, "light", "screen", Words("", "", "")).panels(1, 1)[0, 0]
        written = _draw.labels(ax, np.full((9, 2), 0.5), list("abcdefghi"), colours="black", tied=tied)
        return len(written), len(ax.lines)


def test_labels_without_room_are_tied_to_their_points():
    alone, none = _crowd(tied=False)
    assert none == 0
    assert alone < 9
    assert _crowd(tied=True) == (9, 9 - alone)
