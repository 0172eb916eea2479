"""Landscapes: every pair after attention, every token on request, and a film that fills its frame."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose

from glassformer.analyses._reel import strip
from glassformer.analyses.decide.landscape import FEWEST, landscape, reel
from glassformer.analyses.decide.landscape_input import landscape_input
from glassformer.errors import CallError
from glassformer.figures import _draw, _style, plot_landscape, plot_landscape_input
from glassformer.films import _film
from glassformer.films.decide.landscape import scene
from small_runs import TEXT, run_of
from test_film_parts import WORDS


def maps(figure):
    return [ax.get_title(loc="left") for ax in figure.axes if ax.images and ax.get_label() != "<colorbar>"]


def test_every_pair_stands_where_attention_puts_it_in_a_window_that_has_it():
    run = run_of("plus_last_even")
    seen = landscape(run, points="after", grid=8)
    pairs = seen.points["after"].axes["pair"].values
    assert len(set(pairs)) == len(pairs) == 96
    windows = run.task.examples(8, "validation", 400).windows[:, :-1]
    for (token, place), spot, said in zip(pairs, seen.points["after"].values, seen.says.values, strict=True):
        window = next(each for each in windows if run.task.vocabulary[each[place]] == token)
        trace = run.trace(window)
        assert_allclose(spot, trace["middle"][-1, place], atol=1e-5)
        assert said == trace["logits"][place].argmax()
    with pytest.raises(CallError, match="after"):
        landscape(run, points="after", at="final")


def test_tokens_that_never_win_have_a_map_on_request():
    run = run_of("plus_last_even")
    assert len(maps(plot_landscape(run))) < 12
    assert maps(plot_landscape(run, tokens="all")) == [f"next is {word}" for word in run.task.vocabulary]


def test_a_text_has_some_maps_even_where_no_token_gets_likely():
    seen = landscape(run_of(TEXT), grid=8)
    peak = seen.peak.values[list(seen.shown_tokens)]
    assert (peak < 0.25).sum() > len(peak) - FEWEST
    assert len(seen.telling) == FEWEST
    assert peak[seen.telling].min() >= np.delete(peak, seen.telling).max()


@pytest.mark.parametrize(("size", "pages"), [("screen", 1), ("slide", 3)])
def test_one_input_is_drawn_three_times_on_the_map_of_every_token(size, pages):
    run, found = run_of("plus_last_even"), []
    seen = landscape_input(run)
    for page in range(pages):
        figure = plot_landscape_input(seen, size=size, page=page)
        assert _draw.of(figure).pages == pages
        columns = {}
        for ax in figure.axes:
            if ax.images and ax.get_label() != "<colorbar>":
                columns.setdefault(round(ax.get_position().x0, 3), []).append(ax)
        for stack in columns.values():
            for k in range(0, len(stack), 3):
                stack[k:] = [*sorted(stack[k : k + 3], key=lambda ax: -ax.get_position().y0), *stack[k + 3 :]]
                title, tips = stack[k].get_title(), stack[k + 2].collections[-1].get_offsets()
                found.append(title.partition("(")[2].partition(")")[0])
                assert_allclose(tips, seen.points["end"].values)
    assert sorted(found) == sorted(run.task.vocabulary)


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations", TEXT])
def test_the_maps_of_a_film_fill_it(name):
    run = run_of(name)
    made = reel(run, frames=2)
    with matplotlib.rc_context(_style.rc("light", "film")):
        stage = _film.Stage(strip(run), WORDS, "light", _film.WIDTH)
        scene(stage, made)
    boxes = [rect for ax, rect in stage.rects.items() if ax.get_title(loc="left").startswith(("next", "answer"))]
    assert len(boxes) == len(made.still["last"].shown_tokens)
    if name == "plus_last_even":
        assert len(boxes) == 12
    assert max(x + width for x, _, width, _ in boxes) > 0.85
