"""What films are made of: labels that make room for one another, cells, stages of a pass, winners of a plane."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from PIL import Image

import hand_wired
from architectures import architectures
from glassformer import films, reference
from glassformer.analyses import _clock, _decide, _land, _stages
from glassformer.analyses._pairs import shown
from glassformer.analyses._reel import strip
from glassformer.analyses._verdicts import CODES
from glassformer.analyses.decide.forward import HOLD
from glassformer.analyses.decide.residual import residual
from glassformer.architecture import nest
from glassformer.figures import _style
from glassformer.films import _film, _labels
from glassformer.films.decide import residual as residual_film
from glassformer.trace import Trace
from small_runs import POPULATION, RUNS, run_of

WORDS = SimpleNamespace(title="A title", caption="", alt="")


@pytest.fixture
def stage():
    with matplotlib.rc_context(_style.rc("light", "film")):
        yield _film.Stage(strip(run_of("plus_last_even")), WORDS, "light", _film.WIDTH)


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
        made = _film.Stage(strip(run, None), WORDS, "light", 640)
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
    stages = _stages.parts(run, seen, 0)
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
    run = SimpleNamespace(architecture=a, task=task, edits=(), weights=lambda _step, _member: weights)
    run.unedited = run
    assert follow(run, Trace(values, tokens, 0, task.vocabulary, run.architecture)) >= 2


def test_what_is_framed_is_what_the_task_accepts():
    run = run_of("plus_last_even")
    seen = run.trace()
    framed = _stages.parts(run, seen, 0)[-1].result.marked
    judged = run.task.answerable(seen.tokens) & run.task.constrained(seen.tokens)
    assert {row for row, _ in framed} == set(np.flatnonzero(judged).tolist())
    for row, column in framed:
        assert run.task.verify([*seen.tokens[: row + 1], column])[-1] is True


def test_the_winners_are_those_the_model_names():
    """The quick way, asking again only near borders, against asking everywhere."""
    run = run_of("plus_last_even")
    won = residual(run, borders="sharp").regions.fine_winner
    x, y = (np.array(won.axes[axis].values) for axis in ("horizontal", "vertical"))
    assert won.values.shape == (len(y), len(x)) == (_land.SHARP * _land.EACH,) * 2
    places = np.stack(np.meshgrid(x, y), -1).astype(np.float32)  # two features: the plane is the stream itself
    everywhere = hand_wired.logits_after(run, places, -1).argmax(-1)
    assert len(np.unique(everywhere)) > 1
    assert (won.values != everywhere).mean() < 1e-3


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
    assert f" becomes {said} after " in title
    assert (", right)" if right else ", wrong)") in title


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations", "even_abs_diff"])
def test_clock_and_mark_tell_the_same_loss(name):
    """Also at steps that were not logged: the number at the top is the height of the dot on the curve."""
    run = run_of(name)
    logged = run.metrics["step"]
    with matplotlib.rc_context(_style.rc("light", "film")):
        made = _film.Stage(strip(run), WORDS, "light", 640)
    for step in run.steps[:: max(1, len(run.steps) // 7)].tolist():
        made.tick(step, "")
        height = made._dot.get_ydata()[0]
        assert height == pytest.approx(np.interp(step, logged, run.metrics["validation_loss"]))
        about = "" if step in logged else "≈ "
        assert f"loss {about}{height:.2f}" in _clock.text(run, step)


def test_the_strip_draws_the_floor_that_excess_is_counted_from():
    run = run_of("even_abs_diff")
    floor = run.metrics["validation_loss"][-1] - run.metrics["excess"][-1]  # the last line is judged on all windows
    rule = [rung.nats for rung in _clock.ladder(run) if rung.reachable][-1]
    assert abs(floor - rule) > 0.05, "these windows are not the average ones"
    with matplotlib.rc_context(_style.rc("light", "film")):
        drawn = _film.Stage(strip(run), WORDS, "light", 1280).strip
    heights = [line.get_ydata()[0] for line in drawn.lines if line.get_linestyle() == ":"]
    assert heights == [pytest.approx(floor)]
    assert any("floor of these windows" in text.get_text() for text in drawn.texts)


def scene_of(made):
    """The stage of a film, and what moves it to a frame, whose numbers come back."""
    with matplotlib.rc_context(_style.rc("light", "film")):
        stage = _film.Stage(made.reel.strip, made.words, "light", 1280)
        update = made.scene(stage, made.reel)

    def show(frame):
        seen = made.reel.at(frame)
        update(seen)
        return seen

    return stage, show


def test_the_loss_begins_with_a_dot_and_ends_its_curve_where_the_clock_stands():
    from glassformer.films import film_loss

    run = run_of("five_operations")
    stage, update = scene_of(film_loss(run))
    lines = [artist for artist in stage._moving if getattr(artist, "get_linestyle", str)() == "--"]
    heads = [artist for artist in stage._moving if getattr(artist, "get_marker", str)() == "o"]
    for step in (int(run.steps[0]), int(run.steps[len(run.steps) // 3])):
        update(step)
        expected = np.interp(step, run.metrics["step"], run.metrics["validation_loss"])
        assert lines[0].get_xdata()[-1] == step
        assert lines[0].get_ydata()[-1] == pytest.approx(expected)
        assert any(len(head.get_xdata()) and head.get_ydata()[0] == pytest.approx(expected) for head in heads)


@pytest.mark.parametrize("name", ["plus_last_even", "step_back", "five_operations"])
def test_dots_of_a_landscape_are_filled_with_what_the_model_says(name):
    """Every position that is read has a dot in every map, in the colour of the probability that the model gives."""
    from glassformer.films import film_landscape

    run = run_of(name)
    stage, update = scene_of(film_landscape(run, frames=5))
    step = int(run.steps[-1])
    update(step)
    true = run.trace(step=step)["probabilities"]
    true = true if run.architecture.read_position is None else true[[run.architecture.read_position]]
    palette = _style.colormap("probability", "light")
    clouds = [artist for artist in stage._moving if isinstance(artist, PathCollection) and len(artist.get_edgecolor())]
    clouds = [artist for artist in clouds if len(artist.get_offsets()) == len(true)]
    titles = {cloud.axes.get_title("left"): cloud for cloud in clouds}
    assert titles
    for title, cloud in titles.items():
        token = [shown(word) for word in run.task.vocabulary].index(title.removeprefix("next is "))
        np.testing.assert_allclose(cloud.get_facecolor(), palette(true[:, token]), atol=1e-6)


@pytest.mark.parametrize("name", ["plus_last_even", "step_back"])
def test_the_frame_holds_the_input_at_every_step(name):
    run = run_of(name)
    steps = run.steps.tolist()
    plane = _land.fitted(run)
    for shape in (None, 1.5):
        x0, x1, y0, y1 = _land.over_life(run, plane, steps, shape=shape)
        for step in steps:
            seen = residual(run, step=step, on=plane, frame=(x0, x1, y0, y1), grid=2, borders="none")
            for where in ("begin", "end"):
                x, y = seen.points[where].values.T
                assert (x0 < x).all()
                assert (x < x1).all()
                assert (y0 < y).all()
                assert (y < y1).all()
    assert (x1 - x0) / (y1 - y0) == pytest.approx(1.5)


def test_borders_are_drawn_on_both_sides():
    won = np.array([[0, 0, 1, 1]] * 3 + [[2, 2, 2, 2]])
    expected = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]], dtype=bool)
    np.testing.assert_array_equal(residual_film._borders(won), expected)


@pytest.mark.parametrize("name", ["step_back", "plus_last_even"])
def test_token_ids_are_written_and_masked_cells_hatched(name):
    from glassformer.films import film_forward

    run = run_of(name)
    made = film_forward(run)
    stage, update = scene_of(made)
    written = []
    for stamps in [artist for artist in stage._moving if isinstance(artist, _film.Stamps)]:
        stamps.write = lambda texts, colours, own=stamps: (  # noqa: ARG005
            written.append(list(texts)), setattr(own, "points", np.full((len(texts), 2), np.nan)))  # fmt: skip
    update(made.steps[0])
    assert [str(token) for token in run.trace().tokens] in written
    hatched = [artist for artist in stage._moving if getattr(artist, "get_hatch", str)() == "xxxx"]
    each, masked = len(run.trace().tokens) + HOLD, 0
    for frame in range(each - 1, len(made.steps), each):
        update(made.steps[frame])
        masked = max(masked, sum(len(boxes.get_paths()) for boxes in hatched))
    many = len(run.trace().tokens)
    assert masked >= many * (many - 1) // 2


def test_generated_counts_the_signs_on_the_frame():
    from glassformer.films import film_generated

    run = run_of("plus_last_even")
    stage, update = scene_of(film_generated(run))
    for step in (int(run.steps[0]), int(run.steps[-1])):
        codes = update(step).verdicts.values[0, 0]
        (told,) = [text.get_text() for text in stage._moving if "in these six" in getattr(text, "get_text", str)()]
        right, wrong, hidden = (int((codes == CODES[each]).sum()) for each in ("right", "wrong", "not_in_view"))
        assert f"{wrong} of {right + wrong} answers are wrong" in told
        assert (f"{hidden} more lie out of view" in told) == (hidden > 0)


def test_confusion_has_a_column_for_every_guess_and_a_row_for_every_answer():
    from glassformer.films import film_confusion

    run = run_of("plus_last_even")
    _, update = scene_of(film_confusion(run))
    for step in run.steps.tolist():
        table = update(step).share
        assert table.axes["answer"].labels == tuple(run.task.vocabulary)
        np.testing.assert_allclose(table.values.sum(axis=1), 1, err_msg="no guess is dropped")


def test_few_names_stand_apart():
    points = np.array([[0.0, 0.0], [0.1, 0.0], [10.0, 0.0], [0.0, 10.0], [np.nan, 0.0], [10.0, 0.1]])
    assert _labels.few(points, 3) == [0, 3, 5] or set(_labels.few(points, 3)) == {2, 3, 0}
    assert 4 not in _labels.few(points, 9)
    assert _labels.few(points, 2, [1, 2]) == [1, 2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_gif_has_the_colours_of_its_theme(tmp_path, theme):
    """Few pixels of thin letters have them, so that colours taken from frames alone would be shades of others."""
    films.film_qkv(run_of("plus_last_even"), frames=3, theme=theme).save(tmp_path / "x.gif")
    colours = _style.theme(theme)
    with Image.open(tmp_path / "x.gif") as picture:
        picture.seek(picture.n_frames - 1)
        found = {tuple(pixel) for pixel in np.unique(np.array(picture.convert("RGB")).reshape(-1, 3), axis=0).tolist()}
    for meaning in ("query", "key", "value", "ink", "paper"):
        assert tuple(int(colours[meaning][k : k + 2], 16) for k in (1, 3, 5)) in found, meaning


@pytest.mark.parametrize("name", ["text", "five_operations"])
def test_headings_of_the_film_of_neurons_keep_apart(name):
    made = films.film_neurons(run_of(name), frames=2)
    with matplotlib.rc_context(_style.rc("light", "film")):
        stage = _film.Stage(made.reel.strip, made.words, "light", 1280)
        made.scene(stage, made.reel)
        boxes = [ax._left_title.get_window_extent() for ax in stage.figure.axes if ax.get_title(loc="left")]
    assert len(boxes) > 2
    assert not any(box.overlaps(other) for k, box in enumerate(boxes) for other in boxes[:k])
