"""How the model got there: replayed updates, derivatives and paths, each against a truth found another way."""

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import glassformer as gf
import hand_wired
from glassformer import reference
from glassformer.analyses import _clock, _life, _logged, _named, _replay
from glassformer.analyses._curvature import Curvature, lanczos
from glassformer.analyses._result import Labelled
from glassformer.analyses._scale import spaced
from glassformer.analyses.path import parameter_tracks as tracks
from glassformer.analyses.path.backward import backward
from glassformer.analyses.path.gradients import gradients
from glassformer.analyses.path.hand_update import hand_update
from glassformer.analyses.path.hessian import hessian
from glassformer.analyses.path.loss_surface import loss_surface
from glassformer.analyses.path.one_update import PHASES, one_update, pulls, reel, split
from glassformer.analyses.path.one_vector import one_vector
from glassformer.analyses.path.parameter_tracks import parameter_tracks
from glassformer.analyses.path.weight_change import _even, weight_change
from glassformer.architecture import nest
from glassformer.errors import CallError, MissingError
from glassformer.experiment import load
from glassformer.figures.path.embedding_paths import shades
from glassformer.record import Recorder
from glassformer.run import Run
from small_runs import NAN, RUNS, TEXT, run_of
from small_texts import noise

TRAINED = {  # every optimiser, with clipping, schedules, dropout, and decay on matrices alone
    "sgd": ("train.optimiser=sgd", "train.schedule=constant"),
    "clipped momentum": ("train.optimiser=momentum", "train.clip=0.3", "train.schedule=step", "train.drop_every=7"),
    "adam at a plateau": ("train.optimiser=adam", "train.schedule=plateau", "train.patience=1", "train.log_every=5"),
    "adamw": ("train.schedule=constant", "train.decay=0.3", "train.decay_on=matrices", "train.clip=0.5",
              "architecture.dropout=0.2"),
}  # fmt: skip


@pytest.fixture(scope="module", params=TRAINED)
def trained(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    return gf.train(
        "plus_last_even", steps=30, settings=("train.rate=0.1", "train.warmup=0", *TRAINED[request.param]), out=folder
    )


def flat_of(run, step):
    return _life.flat(run, [step])[0]


# ---- inside one update -----------------------------------------------------------------------------------------------


def test_the_replay_passes_through_the_kept_weights_bit_for_bit(trained):
    for move in _replay.moves(trained, 17, 20):
        np.testing.assert_array_equal(move.before, flat_of(trained, move.step - 1))
        np.testing.assert_array_equal(move.after, flat_of(trained, move.step))


def test_the_parts_of_an_update_sum_to_the_true_change(trained):
    for step in (1, 2, 30):
        seen = one_update(trained, step=step)
        before, after = flat_of(trained, step - 1), flat_of(trained, step)
        true = after - before
        np.testing.assert_array_equal(seen.true.values, true)
        parts, rounding = seen.change.values[:-1], seen.change.values[-1]
        assert_allclose(parts.sum(axis=0) + rounding, true, rtol=0, atol=1e-15)
        # a 32-bit sum is off by half a last place of the weight, and the step itself by a few of its own
        allowed = 2.0**-23 * np.maximum(np.abs(before), np.abs(after)) + 2e-6 * np.abs(true) + 1e-12
        assert (np.abs(rounding) <= allowed).all()
        assert seen.replayed == 0


def test_the_parts_are_those_of_the_optimiser_written_out_by_hand(trained):
    """Each part recomputed with NumPy from gradients of the NumPy pass, over the whole training so far."""
    train, shapes = trained.experiment.train, trained.architecture.shapes()
    rate = train.rate
    first, second = np.zeros(trained.parameters), np.zeros(trained.parameters)
    every = np.concatenate(
        [np.full(int(np.prod(s)), train.decay_on == "all" or len(s) > 1, float) for s in shapes.values()]
    )
    for move in _replay.moves(trained, 1, 4):  # before any plateau or drop
        gradient = move.gradients.sum(axis=0)
        size = np.linalg.norm(gradient)
        clipped = gradient * (train.clip / size if train.clip is not None and size > train.clip else 1)
        expected = {"gradient": -rate * gradient}
        if train.clip is not None:
            expected["clipping"] = -rate * (clipped - gradient)
        if train.optimiser == "momentum":
            first = train.momentum * first + clipped
            expected["momentum"] = -rate * (first - clipped)
        elif train.optimiser.startswith("adam"):
            first = train.beta_1 * first + (1 - train.beta_1) * clipped
            second = train.beta_2 * second + (1 - train.beta_2) * clipped**2
            mean, power = first / (1 - train.beta_1**move.step), second / (1 - train.beta_2**move.step)
            expected["momentum"] = -rate * (mean - clipped)
            expected["scaling"] = -rate * (mean / (np.sqrt(power) + train.epsilon) - mean)
        if train.optimiser == "adamw":
            expected["decay"] = -rate * train.decay * every * move.before
        parts = split(move, trained)
        assert list(parts) == list(expected)
        reach = np.abs(move.gradients).sum(axis=0) > 1e-7  # beyond: gradients that are rounding and nothing else
        for name, values in expected.items():
            scale = np.abs(values[reach]).max()
            assert_allclose(
                parts[name][reach], values[reach], rtol=2e-4, atol=2e-6 * max(scale, rate * size), err_msg=name
            )
        assert_allclose(move.rate, rate, rtol=1e-6)


@pytest.mark.parametrize("name", list(RUNS)[:3])
def test_the_examples_are_the_batch_and_their_gradients_are_finite_differences(name):
    """The loss of one example of the batch, in NumPy and float64, moved along a random direction and back."""
    run = run_of(name)
    (move,) = _replay.moves(run, 3, 3)
    a, train = run.architecture, run.experiment.train
    assert move.windows.shape == (train.batch, a.context + 1)
    places, rng = _life.tensors(run), np.random.default_rng(0)
    way = rng.normal(size=run.parameters)

    def loss(weights, window):
        params = nest({key: weights[place].reshape(a.shapes()[key]) for key, place in places.items()})
        logits = reference.forward(params, window[:-1], a)[0]
        logits = logits[:1] if a.read_position is not None else logits
        asked = window[-1:] if a.read_position is not None else window[1:]
        logs = (
            logits
            - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1, keepdims=True))
            - logits.max(-1, keepdims=True)
        )
        return -logs[np.arange(len(asked)), asked].mean() / train.batch

    for k in (0, train.batch - 1):
        h = 1e-6
        slope = (loss(move.before + h * way, move.windows[k]) - loss(move.before - h * way, move.windows[k])) / (2 * h)
        assert_allclose(move.gradients[k] @ way, slope, rtol=2e-3, atol=2e-6)


def test_batches_go_through_every_question_once_per_pass():
    run = run_of("five_operations")
    seen = [tuple(window) for move in _replay.moves(run, 1, 12) for window in move.windows]
    assert len(set(seen)) == len(seen) == 12 * 32
    questions, answers = run.task.questions()
    known = {(*q, int(x)) for q, x in zip(questions.tolist(), answers.tolist(), strict=True)}
    assert set(seen) <= known


def test_shares_of_the_examples_sum_to_one_and_pulls_to_the_gradient():
    seen = one_update(run_of("plus_last_even"), step=200)
    assert_allclose(seen.share.values.sum(), 1, rtol=1e-9)
    assert_allclose(seen.pulls.values.sum(), seen.waterfall.values[0], rtol=1e-9)
    assert 0 < seen.agreement <= 1
    place = seen.true.axes["parameter"].labels.index(seen.weight)
    assert_allclose(seen.waterfall.values.sum(), seen.true.values[place], rtol=0, atol=1e-15)
    assert len(seen.sequences) == 8
    assert all(len(text.split()) == 9 for text in seen.sequences)


def test_a_weight_is_chosen_by_name_and_a_wrong_name_is_refused():
    run = run_of("plus_last_even")
    assert one_update(run, step=5, weight="token[11, 1]").weight == "token[11,1]"
    assert one_update(run, step=5, weight="token[11,1]").called == "the embedding of “+”, feature 1"
    with pytest.raises(CallError, match="names no parameter"):
        one_update(run, step=5, weight="token[12,0]")


def test_pulls_are_the_rows_of_one_embedding():
    run = run_of("plus_last_even")
    felt = pulls(run, 11, 40, 42)
    for move, one in zip(_replay.moves(run, 40, 42), felt, strict=True):
        assert_allclose(one.pulls.values, -move.gradients[:, 22:24])
        assert_allclose(one.before.values + one.change.values, run.weights(one.step)["token"][11], rtol=1e-6)
        for text, row in zip(one.sequences, one.pulls.values, strict=True):
            if "+" not in text.split()[:-1]:
                assert not row.any(), "an example without the token cannot pull at it"


def test_the_film_of_an_update_walks_the_way_of_the_kept_weights():
    """Its numbers are those of the training: the way is the embedding's own, length and distance follow from it."""
    run = run_of("plus_last_even")
    film = reel(run, step=40, token="+", frames=12)
    walk = film.still["walk"]
    assert walk.way.axes["step"].values == (39, 40, 41, 42)
    way = np.array([run.weights(step)["token"][11].astype(float) for step in (39, 40, 41, 42)])
    assert_allclose(walk.way.values, way, rtol=1e-6)
    assert_allclose(walk.length, np.linalg.norm(np.diff(way, axis=0), axis=1).sum(), rtol=1e-4)
    assert_allclose(walk.distance, np.linalg.norm(way[3] - way[0]), rtol=1e-4)
    every = [film.at(frame) for frame in film.frames]
    assert [each.step for each in every] == [step for step in (40, 41, 42) for _ in PHASES]
    assert [each.phase for each in every] == [*range(len(PHASES))] * 3
    low, high = walk.corners.values
    for each in every:
        tips = walk.plane.points(each.before.values + each.scale * each.pulls.values)
        assert (tips >= low - 1e-9).all()
        assert (tips <= high + 1e-9).all()


@pytest.mark.parametrize(("options", "said"), [({"token": "?"}, "token = '\\?'"), ({"frames": 1}, "frames = 1 ")])
def test_a_film_of_an_update_that_cannot_be_made_is_refused(options, said):
    with pytest.raises(CallError, match=f"^{said}"):
        reel(run_of("plus_last_even"), **options)


# ---- backward --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNS)
def test_every_gradient_agrees_with_the_slope_of_the_loss(name):
    seen = backward(run_of(name))
    assert seen.worst < 1e-5
    assert_allclose(seen.measured.values, seen.sizes.values, rtol=1e-5, atol=1e-10)


def test_the_gradient_of_the_logits_is_probability_minus_truth():
    run = run_of("plus_last_even")
    seen = backward(run, sequence="4 9 + 4 10 7", position=2)
    given = run.trace("4 9 + 4 10 7")["probabilities"][2].astype(float)
    expected = np.zeros_like(seen.gradients["logits"].values)
    expected[2] = given
    expected[2, 4] -= 1  # the token that came after '+' is 4
    assert_allclose(seen.gradients["logits"].values, expected, atol=1e-6)
    assert_allclose(seen.loss, -np.log(given[4]), rtol=1e-5)
    assert seen.asked == ("", "", "4", "", "", "")


def test_what_comes_back_by_the_residual_path_and_by_the_branch_is_all():
    for name in ("plus_last_even", "five_operations"):
        seen = backward(run_of(name))
        assert_allclose(seen.paths.values.sum(axis=1), 1)
    assert backward(run_of("five_operations")).paths.axes["part"].labels == (
        "attention 0", "feed-forward 0", "attention 1", "feed-forward 1")  # fmt: skip


def test_a_branch_that_answers_nothing_gives_all_to_the_residual_path(tmp_path):
    """A head whose values are zero adds nothing and hands nothing back."""
    rng = np.random.default_rng(0)
    zero = np.zeros((3, 3))
    run = hand_wired.write_run(
        tmp_path, token=rng.normal(size=(12, 3)), position=rng.normal(size=(4, 3)),
        blocks=[{"query": zero, "key": zero, "value": zero}], read_out=rng.normal(size=(3, 12)),
    )  # fmt: skip
    seen = backward(run, sequence="4 9 + 4")
    assert_allclose(seen.paths.values, [[1, 0]], atol=1e-12)
    assert_allclose(seen.gradients["embedded"].values, seen.gradients["middle"].values[0], atol=1e-12)


def test_only_whole_questions_and_asked_positions_have_a_loss():
    with pytest.raises(CallError, match="at least 2"):
        backward(run_of("plus_last_even"), sequence="4")
    with pytest.raises(CallError, match="position = 5"):
        backward(run_of("plus_last_even"), sequence="4 9 + 4", position=5)
    for name in ("block", "head"):
        with pytest.raises(CallError, match=f"^{name} = 9 is not between 0 and 0"):
            backward(run_of("plus_last_even"), **{name: 9})


# ---- curvature -------------------------------------------------------------------------------------------------------


def nats(run, weights, windows):
    """Mean loss in NumPy."""
    a, places = run.architecture, _life.tensors(run)
    params = nest({name: weights[place].reshape(a.shapes()[name]) for name, place in places.items()})
    logits = reference.forward(params, windows[:, :-1], a)[0]
    top = logits.max(-1, keepdims=True)
    logs = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, windows[:, 1:, None], -1).mean()


def test_second_derivatives_are_finite_differences_of_the_gradient_and_of_the_loss():
    run = run_of("plus_last_even")
    bend, weights = Curvature(run, 10), flat_of(run, 300)
    whole = bend.matrix(weights)
    rng, h = np.random.default_rng(1), 1e-5
    for _ in range(3):
        way = rng.normal(size=len(weights))
        way /= np.linalg.norm(way)
        slope = (bend.gradient(weights + h * way) - bend.gradient(weights - h * way)) / (2 * h)
        assert_allclose(whole @ way, slope, atol=1e-6)
        assert_allclose(bend.times(weights, way), whole @ way, atol=1e-12)
        # so small a step that no neuron switches on or off in between, where the loss has no second derivative
        losses = [nats(run, weights + k * h * way, bend.windows) for k in (-1, 0, 1)]
        assert_allclose(way @ whole @ way, (losses[0] - 2 * losses[1] + losses[2]) / h**2, rtol=0.01, atol=5e-5)


def test_the_spectrum_is_that_of_the_matrix():
    run = run_of("plus_last_even")
    seen = hessian(run, steps=(0,))
    bend, weights = Curvature(run, 200), flat_of(run, 300)
    values, vectors = np.linalg.eigh(bend.matrix(weights))
    assert_allclose(seen.eigenvalues.values, values[::-1], atol=1e-9)
    assert seen.negative == (values < -1e-9 * np.abs(values).max()).sum()
    assert_allclose(seen.over_life.values[:, -1], values[::-1][:10], atol=1e-9)
    sharp = vectors[:, -1]  # along the sharpest direction the gradient changes by the eigenvalue
    slope = bend.gradient(weights + 1e-5 * sharp) - bend.gradient(weights - 1e-5 * sharp)
    assert_allclose(slope / 2e-5, values[-1] * sharp, atol=1e-5)
    assert seen.exact


def test_lanczos_finds_both_ends_of_a_known_spectrum():
    rng = np.random.default_rng(3)
    turn, _ = np.linalg.qr(rng.normal(size=(300, 300)))
    known = np.concatenate([[9, 7, 5, -3], rng.uniform(-0.5, 0.5, 296)])
    matrix = turn @ np.diag(known) @ turn.T
    values, weights = lanczos(lambda v: matrix @ v, 300, 60)
    assert_allclose(values[::-1][:3], [9, 7, 5], atol=1e-8)
    assert_allclose(values[0], -3, atol=1e-8)
    assert_allclose(weights.sum(), 1)
    assert abs(weights[values < 0].sum() - (known < 0).mean()) < 0.15


def test_descent_is_compared_with_its_edge_of_stability(tmp_path):
    run = gf.train(
        "plus_last_even",
        steps=20,
        settings=("train.optimiser=sgd", "train.rate=0.5", "train.warmup=0", "train.schedule=constant"),
        out=tmp_path / "r",
    )
    assert_allclose(hessian(run, steps=(0, 20)).edge.values[-1], 4.0)
    assert np.isnan(hessian(run_of("plus_last_even")).edge.values).all()


# ---- the surface -----------------------------------------------------------------------------------------------------


def test_the_surface_holds_the_loss_that_the_weights_really_have():
    run = run_of("plus_last_even")
    seen = loss_surface(run)
    windows = _logged.windows(run, seen.windows).windows
    for k in (0, len(seen.looked_at) // 2, -1):
        assert_allclose(seen.on_path.values[0, k], nats(run, flat_of(run, seen.looked_at[k]), windows), rtol=1e-4)
    assert_allclose(
        seen.on_path.values[1, -1], seen.on_path.values[0, -1], rtol=1e-6
    )  # the plane passes through the end
    assert_allclose(seen.path.values[-1], 0, atol=1e-9)
    assert_allclose(seen.off.values[-1], 0, atol=1e-6)


def test_the_plane_keeps_what_principal_components_keep():
    run = run_of("plus_last_even")
    seen = loss_surface(run)
    life = _life.flat(run, list(seen.looked_at))
    spectrum = np.linalg.eigvalsh(np.cov(life, rowvar=False))[::-1]
    assert_allclose(seen.kept, spectrum[:2].sum() / spectrum.sum(), rtol=1e-6)
    out = life - life[-1]
    left = (out**2).sum(axis=1) - (seen.path.values**2).sum(axis=1)  # Pythagoras: what is not in the plane is off it
    assert_allclose(seen.off.values**2, left, atol=1e-6)


def test_a_cell_of_the_surface_is_the_loss_at_its_coordinates():
    """The weights at a cell are the last ones plus its two numbers along the principal directions of the path."""
    run = run_of("plus_last_even")
    seen = loss_surface(run)
    life = _life.flat(run, list(seen.looked_at))
    _, vectors = np.linalg.eigh(np.cov(life, rowvar=False))
    ways = vectors[:, ::-1][:, :2].T  # (direction, parameter), up to their signs
    ways = ways * np.sign((life[0] - life[-1]) @ ways.T * seen.path.values[0])[:, None]
    assert_allclose((life - life[-1]) @ ways.T, seen.path.values, atol=1e-5)
    windows = _logged.windows(run, seen.windows).windows
    across, up = (seen.loss.axes[name].values for name in ("horizontal", "vertical"))
    for i, j in ((0, 0), (5, 20), (len(up) - 1, len(across) - 1)):
        there = life[-1] + np.array([across[j], up[i]]) @ ways
        assert_allclose(seen.loss.values[i, j], nats(run, there, windows), rtol=1e-3)


# ---- parameters, changes, gradients ----------------------------------------------------------------------------------


def test_every_parameter_is_followed_in_a_small_model_and_some_in_a_large_one():
    run = run_of("plus_last_even")
    seen = parameter_tracks(run)
    assert seen.followed == run.parameters
    for name, table in seen.tracks.items():
        assert_allclose(table.values[-1], run.weights(300)[name].ravel())
        assert_allclose(table.values[0], run.weights(0)[name].ravel())
    large = run_of("five_operations")
    few = parameter_tracks(large)
    assert len(few.tracks) == 8
    for name, table in few.tracks.items():
        moved = (large.weights(12)[name].astype(float) - large.weights(0)[name]).ravel()
        if name != "read_out_bias":
            assert_allclose(abs(table.values[-1, 0] - table.values[0, 0]), np.abs(moved).max())
    assert_allclose(few.tracks["read_out_bias"].values[-1], large.weights(12)["read_out_bias"])


@pytest.mark.parametrize("name", [*RUNS, TEXT])
def test_the_tensor_that_the_title_names_is_drawn(name, monkeypatch):
    run = run_of(name)
    monkeypatch.setattr(tracks, "ALL", 0)  # small models as large ones
    for furthest in run.architecture.shapes():  # biases and norms too may move most
        few = tracks._few(run, {each: 1.0 + (each == furthest) for each in run.architecture.shapes()})
        assert furthest in few
        assert len(few) <= tracks.CHOSEN
    seen = tracks.parameter_tracks(run)
    furthest = seen.moved.axes["tensor"].labels[int(np.argmax(seen.moved.values))]
    assert furthest in seen.tracks
    assert f" {tracks.titled(furthest, seen.blocks == 1)} move most" in seen.title


def test_read_out_biases_move_by_the_groups_that_are_answered():
    """Digits are answers and rise; operations and syntax never are, and fall: the sign is forced by the gradient."""
    seen = parameter_tracks(run_of("five_operations"), preset="read_out_bias")
    means = dict(zip(seen.group_change.axes["group"].labels, seen.group_change.values, strict=True))
    assert means["digit"] > 0
    assert means["operation"] < 0
    assert means["syntax"] < 0
    assert "digit +" in seen.title
    with pytest.raises(MissingError, match="presets"):
        parameter_tracks(run_of("five_operations"), preset="biases")


@pytest.mark.parametrize("name", RUNS)
def test_a_weight_asked_for_by_name_is_the_one_followed(name):
    run = run_of(name)
    asked = ("token[3, 1]", "blocks.0.query[1,0]", "read_out_bias[2]")
    seen = parameter_tracks(run, weights=asked)
    for (weight, track), (tensor, place) in zip(
        seen.tracks.items(), (("token", (3, 1)), ("blocks.0.query", (1, 0)), ("read_out_bias", (2,))), strict=True
    ):
        assert weight.startswith(f"{tensor}[")
        wanted = [float(run.weights(step)[tensor][place]) for step in seen.looked_at]
        assert_allclose(track.values[:, 0], wanted, rtol=1e-6)
        middle = [np.quantile(run.weights(step)[tensor], 0.75) for step in seen.looked_at]
        assert_allclose(seen.bands[weight].values[:, 2], middle, atol=1e-6)
    title = seen.title
    assert f"the embedding of “{run.task.vocabulary[3]}”, feature 1 goes from" in title
    assert f"the read-out bias of “{run.task.vocabulary[2]}”" in title


@pytest.mark.parametrize(
    "weight",
    ["token[99,0]", "token[0]", "token", "nothing[0,0]", "token[0,-1]", "blocks.9.query[0,0]", "token[a,0]", 3],
)
def test_a_weight_that_is_not_there_is_refused_with_those_that_are(weight):
    with pytest.raises(
        CallError, match=r"names no parameter; write one like 'token\[0,0\]', .* within token\[\d+, 2\]"
    ):
        parameter_tracks(run_of("plus_last_even"), weights=(weight,))


def test_weights_are_a_short_list_and_no_second_choice():
    run = run_of("plus_last_even")
    for given in ("token[0,0]", ("token[0,0]",) * 17):
        with pytest.raises(CallError, match=r"^weights = .* is not a list of up to 16 names"):
            parameter_tracks(run, weights=given)
    with pytest.raises(CallError, match="preset = 'read_out_bias' does too"):
        parameter_tracks(run, weights=("token[0,0]",), preset="read_out_bias")


def test_changes_are_differences_of_kept_weights():
    run = run_of("plus_last_even")
    seen = weight_change(run)
    at = [0, *seen.looked_at]
    k = 5
    before, after, later = (flat_of(run, at[j]) for j in (k, k + 1, k + 2))
    scale = seen.per / (at[k + 1] - at[k])
    assert_allclose(seen.change.values[0, k], np.abs(after - before).mean() * scale)
    token = slice(0, 24)
    row = seen.change.axes["part"].labels.index("embedding")
    relative = np.abs(after - before)[token].mean() / np.abs(after[token]).mean()
    assert_allclose(seen.relative.values[row, k], relative * scale)
    one, two = (after - before)[token], (later - after)[token]
    assert_allclose(seen.cosine.values[row, k + 1], one @ two / np.linalg.norm(one) / np.linalg.norm(two))


@pytest.mark.parametrize(
    ("places", "title"),
    [
        ((1, 1, 1, 1), "No parameter changes between the kept steps"),
        ((0, 2, 3, 3), "The mean change per step falls from 2 to 0"),
        ((3, 3, 4, 6), "The mean change per step grows from 0 to 2"),
        ((0, 1, 3, 7), "The mean change per step grows from 1 to 4, 4-fold"),
    ],
)
def test_weights_that_stand_still_are_said_to(tmp_path, places, title):
    """Every weight stands at one number, known beforehand, at each of four steps."""
    experiment = load("plus_last_even", steps=3)
    shapes = experiment.architecture.shapes()
    weights = {name: np.stack([np.full(shape, at, np.float32) for at in places]) for name, shape in shapes.items()}
    with Recorder.create(tmp_path / "run", experiment, [18]) as recorder:
        recorder.safe_point(3, [0, 1, 2, 3], weights, [], {})
        recorder.finish()
    assert weight_change(Run(tmp_path / "run")).title == title


def test_looks_that_follow_too_closely_are_left_out():
    assert _even([0, 125, 250, 263, 375, 500]) == [0, 125, 250, 375, 500]
    assert _even([0, 100, 200, 290, 300]) == [0, 100, 200, 300]  # the last is always there
    assert _even([0, 20, 100, 130, 150]) == [0, 20, 100, 130, 150]
    assert _even([7]) == [7]


def test_a_steady_walk_changes_alike_however_long_the_intervals(tmp_path):
    """Every weight grows by 0.01 a step; the looks at it are 20 to 80 steps apart."""
    at = [0, 20, 100, 130, 150]
    experiment = load("plus_last_even", steps=150)
    shapes = experiment.architecture.shapes()
    weights = {
        name: np.stack([np.full(shape, 1 + step / 100, np.float32) for step in at]) for name, shape in shapes.items()
    }
    with Recorder.create(tmp_path / "run", experiment, [18]) as recorder:
        recorder.safe_point(150, at, weights, [], {})
        recorder.finish()
    seen = weight_change(Run(tmp_path / "run"))
    assert seen.per == 10
    assert_allclose(seen.change.values, 0.1, rtol=1e-5)
    assert_allclose(seen.relative.values[0], 0.1 / (1 + np.array(at[1:]) / 100), rtol=1e-5)
    assert "per 10 steps" in seen.title


def test_a_straight_walk_has_cosine_one_and_a_walk_to_and_fro_minus_one():
    from glassformer.analyses.path.weight_change import _cosine

    assert_allclose(_cosine(np.ones((4, 3)))[1:], 1)
    assert_allclose(_cosine(np.array([[1.0, 2], [-1, -2], [1, 2]]))[1:], -1)
    assert np.isnan(_cosine(np.zeros((2, 3)))).all()


def test_logged_gradients_are_those_of_the_replayed_batch():
    run = run_of("plus_last_even")
    seen = gradients(run)
    step = seen.rms.axes["step"].values[3]
    (move,) = _replay.moves(run, step, step)
    gradient = move.gradients.sum(axis=0)
    for name, place in {"all": slice(None), **_life.parts(run)}.items():
        row = seen.rms.axes["part"].labels.index(name)
        assert_allclose(seen.rms.values[row, 3], np.sqrt(np.mean(gradient[place] ** 2)), rtol=1e-4)
    ends = [np.sqrt(np.mean(gradient[_life.parts(run)[name]] ** 2)) for name in ("embedding", "read_out")]
    assert_allclose(seen.ratio.values[3], ends[0] / ends[1], rtol=1e-4)


def test_a_gradient_that_nearly_vanishes_with_time_is_said_to_fall_and_why():
    """Beside each other no part vanishes; what time does to all of them together is told apart from that."""
    seen = gradients(run_of("plus_last_even"))
    assert seen.title.startswith("The typical gradient of all parts goes from")
    shrunk = seen.smooth.values * np.geomspace(1, 1e-6, seen.smooth.values.shape[1])
    fallen = replace(seen, smooth=Labelled(shrunk, seen.smooth.axes))
    for told, why in (
        ({"settled": True, "excess": 0.0}, ", with the loss on its floor; no part vanishes beside the others"),
        ({"settled": False, "excess": 0.3}, ", though the loss ends 0.3 nats above its floor; no part vanishes"),
        ({"settled": False, "excess": float("nan")}, "; no part vanishes beside the others, and none explodes"),
    ):
        title = replace(fallen, **told).title
        assert title.startswith("The typical gradient of all parts falls from")
        assert why in title
    rungs = [rung.nats for rung in _clock.ladder(run_of("plus_last_even")) if rung.reachable]
    assert seen.excess == run_of("plus_last_even").metrics["excess"][-1]
    assert seen.settled == (seen.excess <= (rungs[0] - rungs[-1]) / 50)
    assert np.isnan(gradients(run_of(TEXT)).excess)  # the floor of a text is a table of counts, not the end of learning


def test_parts_and_tensors_cover_every_parameter_once():
    for name in RUNS:
        run = run_of(name)
        for pieces in (_life.parts(run), _life.tensors(run)):
            covered = np.concatenate([np.arange(run.parameters)[place] for place in pieces.values()])
            np.testing.assert_array_equal(np.sort(covered), np.arange(run.parameters))


def test_a_diverged_run_says_so(tmp_path):
    for each in (parameter_tracks, weight_change, loss_surface, one_update, backward, hessian, gradients):
        assert "diverged" in each(run_of(NAN)).title, each.__name__
    with pytest.raises(CallError, match="no gradient"):
        gf.analyses.gradients(noise(tmp_path / "run", load("plus_last_even", steps=2)))


def test_passes_are_counted_where_training_goes_in_passes():
    assert _life.steps_per_pass(run_of("five_operations")) == 125
    assert _life.steps_per_pass(run_of("plus_last_even")) == 0


# ---- how steps are spaced --------------------------------------------------------------------------------------------

OVER_STEPS = ("attention_history", "gradients", "loss_surface", "parameter_tracks", "similarity", "timeline",
              "weight_change")  # fmt: skip


@pytest.mark.parametrize("name", OVER_STEPS)
def test_steps_are_spaced_as_asked(name):
    run = run_of("plus_last_even")
    for axis in ("linear", "log", "learning"):
        figure = getattr(gf.figures, f"plot_{name}")(run, axis=axis)
        over = [panel for panel in figure.axes if panel.get_xlabel().startswith("step")]
        assert over
        for panel in over:
            places = panel.transScale.transform([(step, 1) for step in (0, 30, 150, 300)])[:, 0]
            wanted = spaced(run, axis).place(np.array([0, 30, 150, 300]))
            assert_allclose((places - places[0]) / (places[-1] - places[0]), wanted, atol=1e-9)


def test_trails_are_looked_at_and_shaded_as_steps_are_spaced():
    run = run_of("plus_last_even")
    for axis in ("linear", "log", "learning"):
        seen = gf.analyses.embedding_paths(run, axis=axis)
        steps = seen.drawn["token"].axes["step"].values
        assert (steps[0], steps[-1]) == (0, 300)
        assert_allclose(shades(seen, steps), spaced(run, axis).place(np.array(steps)), atol=1e-12)
    early = [sum(step < 30 for step in gf.analyses.embedding_paths(run, axis=axis).drawn["token"].axes["step"].values)
             for axis in ("linear", "log")]  # fmt: skip
    assert early[1] > 2 * early[0]


def test_every_token_of_a_table_of_cosines_has_its_name():
    seen = gf.analyses.similarity(run_of(TEXT))
    many = len(seen.cosine.axes["token"])
    assert many == 40
    table = gf.figures.plot_similarity(seen).axes[0]
    assert [len(table.get_xticks()), len(table.get_yticks())] == [many, many]
    boxes = [text.get_window_extent() for text in table.get_yticklabels()]
    assert max(box.height for box in boxes) <= 1.4 * (boxes[0].y0 - boxes[-1].y0) / (many - 1)


def test_gradients_of_a_model_that_has_learnt_are_not_all_white():
    """One position has nearly all of the gradient; the colours of the others are still seen."""
    run = run_of("plus_last_even")
    seen = backward(run)
    tiny = {name: table.values * np.where(np.arange(8) == 7, 1, 1e-2)[:, None] if name == "embedded" else table.values
            for name, table in seen.gradients.items()}  # fmt: skip
    small = {name: Labelled(values, seen.gradients[name].axes) for name, values in tiny.items()}
    figure = gf.figures.plot_backward(replace(seen, gradients=small))
    names = list(seen.values)
    columns = -(-len(names) // 2)
    image = figure.axes[columns + names.index("embedded")].images[0]
    assert_allclose(np.asarray(image.get_array()), tiny["embedded"])
    coloured = 2 * np.asarray(image.norm(image.get_array())) - 1  # from -1 to 1 of the colours
    assert_allclose(coloured, np.cbrt(tiny["embedded"] / np.abs(tiny["embedded"]).max()), atol=1e-9)


def test_maps_of_single_features_keep_clear_of_each_other():
    figure = gf.figures.plot_qkv(run_of(TEXT), extended=True)
    maps = [ax for ax in figure.axes if ", feature " in ax.get_title(loc="left")]
    assert len(maps) == 12
    boxes = [ax.get_tightbbox() for ax in maps]
    assert not any(box.overlaps(other) for k, box in enumerate(boxes) for other in boxes[:k])


# ---- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plus_last_even", "step_back"])
def test_an_update_can_be_done_again_by_hand(name):
    """Weight and gradient against the replay, the losses against a second way to compute them."""
    run = run_of(name)
    seen = hand_update(run)
    (move,) = _replay.moves(run, seen.step, seen.step)
    tensor, place = _named.place(run, seen.weight)
    index = _life.tensors(run)[tensor].start + place
    assert seen.before == move.before[index]
    assert seen.trained == move.after[index]
    assert seen.gradient == pytest.approx(move.gradients.sum(axis=0)[index])
    assert abs(seen.gradient) == pytest.approx(np.abs(move.gradients.sum(axis=0)).max())
    assert seen.measured == pytest.approx(seen.gradient, rel=1e-3)
    assert seen.by_descent == pytest.approx(seen.before - seen.rate * seen.gradient, abs=1e-15)
    assert seen.loss_before == pytest.approx(nats(run, move.before, move.windows), rel=1e-5)
    assert seen.loss_trained == pytest.approx(nats(run, move.after, move.windows), rel=1e-5)
    alone = move.before.copy()
    alone[index] = seen.by_descent
    assert seen.loss_by_descent == pytest.approx(nats(run, alone, move.windows), rel=1e-5)
    promised, real = seen.loss_expected - seen.loss_before, seen.loss_by_descent - seen.loss_before
    assert real == pytest.approx(promised, rel=0.1)
    assert promised < 0


def test_the_sum_in_the_title_of_an_update_is_right():
    title = hand_update(run_of("plus_last_even")).title.replace("\N{MINUS SIGN}", "-")
    before, rate, gradient, after = map(float, re.match(r"(\S+) - (\S+) × \(?([^ )]+)\)? = (\S+):", title).groups())
    assert before - rate * gradient == pytest.approx(after, abs=1.1e-6)


def test_with_dropout_nothing_is_checked_by_hand(tmp_path):
    run = noise(tmp_path / "run", load("plus_last_even", ("architecture.dropout=0.1",), steps=2))
    with pytest.raises(CallError, match="one of chance"):
        gf.analyses.hand_update(run)


def test_one_vector_is_that_of_its_token_before_and_after():
    run = run_of("plus_last_even")
    seen = one_vector(run)
    moves = np.linalg.norm(run.weights(300)["token"] - run.weights(0)["token"], axis=1)
    farthest = int(np.argmax(moves))
    assert seen.token == run.task.vocabulary[farthest]
    assert seen.moved == pytest.approx(moves[farthest])
    for token in ("3", "+"):
        mine = one_vector(run, token=token, step=150)
        place = run.task.vocabulary.index(token)
        assert_allclose(mine.features.values, [run.weights(at)["token"][place] for at in (0, 150)])
        for at, name in zip((0, 150), mine.nearest, strict=True):
            rows = run.weights(at)["token"]
            cosines = rows @ rows[place] / np.linalg.norm(rows, axis=1) / np.linalg.norm(rows[place])
            assert run.task.vocabulary[int(np.argsort(-cosines)[1])] == name
    assert "not moved yet" in one_vector(run, step=0).title
    with pytest.raises(MissingError, match="tokens"):
        one_vector(run, token="lamb")
    assert "diverged" in one_vector(run_of(NAN)).title
