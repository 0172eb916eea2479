"""What films are made of: labels that make room for one another, cells, stages of a pass, winners of a plane."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from architectures import architectures
from glassformer import reference
from glassformer.analyses import _decide
from glassformer.analyses.residual import residual
from glassformer.architecture import nest
from glassformer.figures import _style
from glassformer.films import _depth, _film, _labels
from glassformer.films import residual as residual_film
from glassformer.trace import Trace
from small_runs import POPULATION, RUNS, run_of

WORDS = SimpleNamespace(title="A title", caption="", alt="")


@pytest.fixture
def stage():
    with matplotlib.rc_context(_style.rc("light", "film")):
        yield _film.Stage(run_of("plus_last_even"), WORDS, "light", 0, _film.WIDTH)


def covered(at, halves):
    """Pairs of boxes that lie over each other, by more than the fiftieth part that is allowed."""
    return [
        (i, j)
        for i, j in product(range(len(at)), repeat=2)
        if i < j and (np.abs(at[i] - at[j]) < 0.97 * (halves[i] + halves[j])).all()
    ]


@pytest.mark.parametrize("many", [2, 5, 12, 21])
@pytest.mark.parametrize("spread", [0.0, 3.0, 6.0])
def test_labels_make_room(many, spread):
    rng = np.random.default_rng(7)
    at, halves = spread * rng.normal(size=(many, 2)), np.column_stack([rng.uniform(4, 16, many), np.full(many, 7.5)])
    assert covered(at, halves), "there must be something to part"
    to = _labels.apart(at, halves)
    assert covered(to, halves) == []
    farthest = np.hypot(*(to - at).T).max()
    assert farthest < 2.5 * np.sqrt((4 * halves.prod(axis=1)).sum()), "no farther than all of them need"


def test_labels_with_room_stay():
    at, halves = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 20.0]]), np.full((3, 2), [15.0, 8.0])
    np.testing.assert_allclose(_labels.apart(at, halves), at, atol=0.2)


def test_labels_move_little_when_points_do():
    """No jumps from frame to frame: two slow points that meet and part again."""
    halves = np.full((2, 2), [12.0, 8.0])
    path = [np.array([[-x, 0.3 * x], [x, -0.2 * x]]) for x in np.linspace(20, 0.2, 80)]
    to = np.array([_labels.apart(at, halves) for at in path])
    assert np.abs(np.diff(to, axis=0)).max() < 4


def test_a_tied_label_names_the_place_it_belongs_to(stage):
    ax = stage.panels(1, 1)[0, 0]
    names = _labels.Spread(stage, ax, list("abcdefghi"), stage.theme.ink)
    points = np.array([[0.5, 0.5]] * 8 + [[0.1, 0.1]])
    names.move(points)
    tied = names.ties.get_segments()
    assert {tuple(segment[0]) for segment in tied} == {(0.5, 0.5)}
    assert {tuple(segment[1]) for segment in tied} <= {tuple(point) for point in names.stamps.points}
    np.testing.assert_allclose(names.stamps.points[-1], points[-1], atol=0.01)


def test_a_label_at_the_edge_moves_in(stage):
    """Drawn at the corner of a panel, the whole of it is to be seen."""
    ax = stage.panels(1, 1)[0, 0]
    ax.set_axis_off()
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    stamp = stage.labels(ax, ["WWWW"], "#ff0000")
    seen = []
    for place in ([0.5, 0.5], [1.0, 1.0], [0.0, 0.0]):
        stamp.move(np.array([place]))
        red = stage.draw().astype(int)
        seen.append(int(((red[..., 0] - red[..., 1]) > 100).sum()))
    assert seen[0] > 50
    assert seen == [seen[0]] * 3


def test_texts_can_be_written_anew(stage):
    ax = stage.panels(1, 1)[0, 0]
    stamp = stage.labels(ax, ["1"], "#ff0000")
    stamp.write(["22", "333"], ["#00ff00", "#0000ff"])
    assert np.isnan(stamp.points).all()
    assert stamp.points.shape == (2, 2)
    assert [tuple(image[image[..., 3] > 200][0, :3]) for image in stamp.images] == [(0, 255, 0), (0, 0, 255)]


def test_cells_have_the_colour_of_their_verdict(stage):
    ax = stage.panels(1, 1)[0, 0]
    cells = _film.Cells(stage, ax, 1, 5, ["0", "1"])
    cells.show(np.arange(5)[None], np.zeros((1, 5), dtype=int))
    high, wide = cells.size
    upright = cells.image[::-1]
    corner = [upright[4, k * wide + 4, :3] / 255 for k in range(5)]
    rgb = matplotlib.colors.to_rgb
    paper, t = np.array(rgb(stage.theme.paper)), stage.theme
    for found, colour, wash in zip(
        corner, (t.paper, t.unconstrained, t.right, t.wrong), (1, 1, 0.3, 0.3), strict=False
    ):
        np.testing.assert_allclose(found, paper + wash * (np.array(rgb(colour)) - paper), atol=0.01)
    hatched = {tuple(pixel) for pixel in upright[4 : high - 4, 4 * wide + 4 : 5 * wide - 4, :3].reshape(-1, 3)}
    whole = {tuple((np.array(rgb(colour)) * 255).round().astype(int)) for colour in (t.unconstrained, t.masked)}
    assert whole <= hatched, "diagonal lines in the colour of what is not allowed"


def test_the_mark_stays_on_the_curve_of_the_loss():
    """Between two logged steps, too, and for a population on the median."""
    run = run_of(POPULATION)
    with matplotlib.rc_context(_style.rc("light", "film")):
        made = _film.Stage(run, WORDS, "light", None, 640)
    steps, middle = run.metrics["step"], np.median(run.metrics["validation_loss"], axis=1)
    for k in (0, len(steps) - 1):
        made.tick(int(steps[k]), "")
        assert made._dot.get_ydata()[0] == pytest.approx(middle[k])
    between = int(steps[0] + steps[1]) // 2
    made.tick(between, "")
    low, high = sorted(middle[:2])
    assert low <= made._dot.get_ydata()[0] <= high


def follow(run, seen):
    """Check of every stage that its result is what its operands give; how many could be checked comes back."""
    stages = _depth.parts(run, seen, 0)
    ids, table = stages[0].operands
    np.testing.assert_array_equal(stages[0].result.values, table.values[ids.values[:, 0].astype(int)])
    np.testing.assert_array_equal(stages[-1].result.values, seen["probabilities"])
    checked = 0
    for part in stages[1:]:
        got, operands = np.nan_to_num(part.result.values), [np.nan_to_num(each.values) for each in part.operands]
        want = operands[0]
        if "softmax" in part.says:
            scores = part.operands[0].values.astype(float)
            e = np.exp(scores - np.nanmax(scores, axis=-1, keepdims=True))
            want = np.nan_to_num(e / np.nansum(e, axis=-1, keepdims=True))
        elif part.says.startswith("query · key"):
            a = run.architecture
            scale = (a.per_head if a.score_scale == "head" else a.width) ** -0.5
            want = np.where(np.isfinite(part.result.values), scale * operands[0] @ operands[1].T, 0)
        elif " + what" in part.says or part.says.startswith("token embedding +"):
            want = operands[0] + operands[1]
        elif ", then " in part.says or "turned" in part.says:
            continue
        elif "in place" not in part.says:
            want = operands[0] @ operands[1]
        if "bias" in part.says:  # the same for every position
            got, want = got - got[:1], want - want[:1]
        size = max(1.0, float(np.abs(want).max()))
        np.testing.assert_allclose(got / size, want / size, atol=2e-4, err_msg=part.says)
        checked += 1
    return checked


@pytest.mark.parametrize("name", RUNS)
def test_each_stage_follows_from_its_operands(name):
    """Sums are sums, products are products and shares are shares of what is shown beside them."""
    run = run_of(name)
    assert follow(run, run.trace()) >= 8


@settings(max_examples=40, deadline=None)
@given(architectures(), st.integers(0, 2**32 - 1))
def test_each_stage_of_any_architecture_follows_from_its_operands(architecture, seed):
    task = run_of("plus_last_even").task
    a = replace(architecture, vocabulary=len(task.vocabulary), outputs=len(task.vocabulary), context=8)
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in a.shapes().items()}
    tokens = rng.integers(0, len(task.vocabulary), 8)
    values = reference.forward(nest(weights), tokens, a)[1]
    run = SimpleNamespace(architecture=a, task=task, weights=lambda _step, _member: weights)
    assert follow(run, Trace(values, tokens, 0, task.vocabulary)) >= 2


def test_what_is_framed_is_what_the_task_accepts():
    run = run_of("plus_last_even")
    seen = run.trace()
    framed = _depth.parts(run, seen, 0)[-1].result.marked
    judged = run.task.answerable(seen.tokens) & run.task.constrained(seen.tokens)
    assert {row for row, _ in framed} == set(np.flatnonzero(judged).tolist())
    for row, column in framed:
        assert run.task.verify([*seen.tokens[: row + 1], column])[-1] is True


def test_the_winners_are_those_the_model_names():
    """The quick way, asking again only near borders, against asking everywhere."""
    land = residual(run_of("plus_last_even"), grid=56).land
    won = residual_film._winners(land)
    side = residual_film.COARSE * residual_film.TIMES
    assert won.shape == (side, side)
    x, y = (land.frame[k] + (land.frame[k + 1] - land.frame[k]) * (np.arange(side) + 0.5) / side for k in (0, 2))
    everywhere = np.array(land.shown_tokens)[land.said_at(np.stack(np.meshgrid(x, y), -1)).argmax(-1)]
    assert len(np.unique(everywhere)) > 1
    assert (won != everywhere).mean() < 1e-3


def test_a_gif_runs_in_a_circle_and_keeps_its_pace(tmp_path):
    from glassformer.films import film_loss

    film_loss(run_of("plus_last_even"), frames=6).save(tmp_path / "x.gif", fps=20)
    with Image.open(tmp_path / "x.gif") as picture:
        assert picture.info["loop"] == 0
        times = []
        for k in range(picture.n_frames):
            picture.seek(k)
            times.append(picture.info["duration"])
    assert times[0] == 1000
    assert times[-1] == 2000
    assert sum(times) == 3000 + 50 * 4


def test_the_title_of_a_pass_says_what_is_said_and_whether_it_is_right():
    from glassformer.films import film_forward

    run = run_of("plus_last_even")
    title = film_forward(run).words.title
    seen = run.trace()
    place = _decide.place(_decide.asked(run, seen.tokens), None)
    said = run.task.vocabulary[int(seen["probabilities"][place].argmax())]
    right = run.task.verify([*seen.tokens[: place + 1], int(seen["probabilities"][place].argmax())])[-1]
    assert f" to {said} after " in title
    assert ("which is right" if right else "which is wrong") in title
