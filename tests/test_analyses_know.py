"""What the model knows, judged on models whose knowledge was put there and on numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

import hand_wired
from glassformer.analyses._result import Labelled
from glassformer.analyses.know.embeddings import distances, embeddings, features_that_tell
from glassformer.analyses.know.neurons import information, neurons
from glassformer.analyses.know.point_atlas import _means, _moved, _settled, point_atlas
from glassformer.analyses.know.probes import _last, probes, reader
from glassformer.analyses.know.sequence_embeddings import sequence_embeddings
from glassformer.analyses.know.similarity import cosines, similarity
from glassformer.analyses.know.sparsity import sparsity
from glassformer.analyses.know.weights import binned, weights
from glassformer.analyses.path.embedding_paths import embedding_paths, smoothed
from glassformer.experiment import load
from glassformer.figures.know.weights import _bands, _shelves
from small_texts import noise, random_run

EVEN = [0, 2, 4, 6, 8, 10]
TOKEN = np.zeros((12, 2))
TOKEN[EVEN] = (1, 0)
TOKEN[[1, 3, 5, 7, 9]] = (0, 2)
TOKEN[11] = (-3, 0)
PLACE = np.column_stack([np.zeros(8), np.arange(8) / 10])


@pytest.fixture
def groups(tmp_path):
    """Even numbers at (1, 0), odd ones at (0, 2), + at (-3, 0); positions a ladder; four neurons of known meaning.

    Neuron 0 fires on + alone, neuron 1 on all but +, neuron 2 never, neuron 3 always.
    """
    expand = np.array([[-1.0, 1, 0, 0], [0, 1, 0, 0]])
    block = {"value": np.zeros((2, 2)), "expand": expand, "expand_bias": np.array([-2.0, 0.5, -1, 1]),
             "contract": np.zeros((4, 2)), "contract_bias": np.zeros(2)}  # fmt: skip
    return hand_wired.write_run(
        tmp_path / "groups", token=TOKEN, position=PLACE, blocks=[block], attention="mean", output_projection=False
    )


def test_embeddings_are_the_tables_and_their_sums(groups):
    seen = embeddings(groups)
    assert np.array_equal(seen.tables["token"].values, TOKEN)
    np.testing.assert_allclose(seen.tables["position"].values, PLACE, atol=1e-7)
    np.testing.assert_allclose(seen.summed.values[1, 3, 5], 2.5, atol=1e-6)
    np.testing.assert_allclose(seen.drawn["sum"].values[3, 5], (0, 2.5), atol=1e-6)
    assert seen.within == 0
    five, ten = 30 * 5**0.5, 6 * 4 + 5 * 13**0.5  # even to odd; + to even and to odd
    assert seen.between == pytest.approx((five + ten) / 41)
    between, within, place = seen.spread.values  # (feature,) each
    np.testing.assert_allclose(between, TOKEN.var(axis=0))  # all tokens of a group lie at one place
    np.testing.assert_allclose(within, 0, atol=1e-12)
    np.testing.assert_allclose(place, PLACE.var(axis=0))
    assert features_that_tell(seen) == "feature 1 carries the position (100 %)"  # groups differ in both
    spread = PLACE.var(axis=0).sum()
    assert seen.position_share == pytest.approx(spread / (spread + TOKEN.var(axis=0).sum()))


def test_features_that_tell_groups_and_their_tokens_apart(tmp_path):
    token = np.array([[1.0 if k % 2 == 0 else -1.0, 0.1 * k if k % 2 == 0 else 0.0] for k in range(11)] + [[-3.0, 0.0]])
    run = hand_wired.write_run(tmp_path / "r", token=token, position=PLACE, blocks=[{"value": np.eye(2)}])
    told = features_that_tell(embeddings(run))
    assert "feature 0 tells even, odd and sign apart" in told
    assert "feature 1 tells even tokens apart (100 %) and carries the position (100 %)" in told


def test_distances_are_nan_where_no_two_tokens_are_there():
    within, between = distances(np.array([[0.0, 0], [3, 4]]), ["a", "b"])
    assert np.isnan(within)
    assert between == 5


def test_one_token_at_two_places_differs_by_the_positions(groups):
    seen = sequence_embeddings(groups, sequence="4 9 + 4")
    np.testing.assert_allclose(seen.embedded.values, [(1, 0), (0, 2.1), (-3, 0.2), (1, 0.3)], atol=1e-6)
    assert seen.distances.values[0, 3] == pytest.approx(0.3)
    assert seen.rows == (4, 9, 11, 4)
    np.testing.assert_allclose(seen.drawn["input"].values, seen.embedded.values, atol=1e-7)


def test_cosines_of_known_directions(groups):
    assert np.array_equal(cosines(np.array([[2.0, 0], [0, 3], [-1, 0], [0, 0]]))[0], [1, 0, -1, 0])
    seen = similarity(groups)
    assert seen.cosine.axes["token"].labels == ("0", "2", "4", "6", "8", "10", "1", "3", "5", "7", "9", "+")
    assert seen.cosine.values[0, 6] == 0
    assert seen.cosine.values[0, 11] == -1
    np.testing.assert_array_equal(seen.between.values, [[1, 0, -1], [0, 1, 0], [-1, 0, np.nan]])  # even, odd, sign
    assert seen.main == ("even", "odd")
    assert seen.apart.values.tolist() == [0]
    told = replace(seen, apart=Labelled(np.array([-0.15]), seen.apart.axes))
    assert told.title == (
        "The mean cosine of two even tokens is 1.00, of two odd tokens 1.00, of one of each \N{MINUS SIGN}0.15"
    )
    assert seen.length.values.tolist() == [1] * 6 + [2] * 5 + [3]


def test_nothing_has_moved_in_a_run_of_one_step(groups):
    seen = embedding_paths(groups)
    assert not seen.moved["token"].values.any()
    np.testing.assert_allclose(seen.drawn["token"].values[0], TOKEN, atol=1e-7)


def test_an_atlas_is_exact_where_nothing_else_enters(groups):
    exact = point_atlas(groups, point="embedded")
    np.testing.assert_allclose(exact.mean.values, TOKEN[:, None] + PLACE, atol=1e-6)
    assert exact.settled == 1
    mean = point_atlas(groups, point="middle")  # values are zero, so `middle` is `embedded` whatever the context
    there = mean.count.values > 0
    np.testing.assert_allclose(mean.mean.values[there], exact.mean.values[there], atol=1e-6)
    np.testing.assert_allclose(mean.spread.values[there], 0, atol=1e-6)
    assert mean.settled == pytest.approx(1)


def test_an_atlas_sees_what_context_moves(tmp_path):
    """One feature, averaged over the tokens in view: at position 1 it is half of this token and half of the last."""
    token = np.zeros((12, 2))
    token[11, 0] = 1
    run = hand_wired.write_run(
        tmp_path / "mean", token=token, blocks=[{"value": np.eye(2)}], attention="mean", residual=False, context=2,
        output_projection=False, feed_forward=0,
    )  # fmt: skip
    seen = point_atlas(run, point="middle")
    assert seen.mean.values[11, 0, 0] == 1
    assert seen.spread.values[11, 0] == 0
    mean = seen.mean.values[3, 1, 0]  # half of the share of windows in which + comes before 3
    assert seen.spread.values[3, 1] == pytest.approx((mean * (0.5 - mean)) ** 0.5)
    np.testing.assert_allclose(seen.ellipse.values[3, 1], [[mean * (0.5 - mean), 0], [0, 0]], atol=1e-9)


def test_information_is_the_entropy_of_what_is_known():
    label = np.array([0, 1] * 50)
    on = np.column_stack([label == 1, label == 0, np.zeros(100), np.arange(100) % 4 < 2]).astype(bool)
    np.testing.assert_allclose(information(label, on, 2), [1, 1, 0, 0], atol=1e-12)
    assert information(np.arange(4), np.array([[1], [0], [0], [0]], bool), 4)[0] == pytest.approx(2 - 0.75 * np.log2(3))


def test_neurons_are_described_by_what_they_fire_on(groups):
    seen = neurons(groups, sequence="4 9 +").blocks[0]
    assert set(seen.order[:2]) == {0, 1}
    where = {neuron: k for k, neuron in enumerate(seen.order)}
    assert seen.descriptions[where[0]] == "fires on + (100 %, else 0 %)"
    assert seen.descriptions[where[1]] == "is quiet on + (0 %, else 100 %)"
    assert seen.descriptions[where[2]] == "never fires"
    assert seen.descriptions[where[3]] == "always fires"
    assert seen.silent == 1
    kinds = seen.bits.axes["quantity"].labels
    p = seen.rate.values[where[0]]
    assert seen.bits.values[where[0], kinds.index("token")] == pytest.approx(-p * np.log2(p) - (1 - p) * np.log2(1 - p))
    assert seen.baseline.values[where[0], kinds.index("token")] < 0.05
    column = {neuron: k for k, neuron in enumerate(seen.hidden.axes["neuron"].values)}
    np.testing.assert_allclose(seen.hidden.values[:, column[0]], [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(seen.hidden.values[:, column[1]], [1.5, 2.6, 0], atol=1e-6)
    assert seen.lines is not None
    np.testing.assert_allclose(seen.lines.values[where[0]], [-1, 0, -2])


def test_sparsity_counts_who_works(groups):
    seen = sparsity(groups)
    plus = seen.rates.values[0, 0]
    assert 0.1 < plus < 0.4
    np.testing.assert_allclose(seen.rates.values[0], [plus, 1 - plus, 0, 1])
    np.testing.assert_allclose(seen.over_life.values[:, 0, 0], [0.5, 0.25, 0.25])
    assert seen.histogram.values.sum() == 4


def test_sparsity_and_neurons_count_the_same_places(groups):
    seen, one = sparsity(groups), neurons(groups).blocks[0]
    assert seen.places == one.samples
    last = [float(rates.mean()) for rates in (seen.rates.values, seen.rates.values == 0, seen.rates.values == 1)]
    np.testing.assert_allclose(seen.over_life.values[:, -1].mean(axis=-1), last)  # the curves end at the title's shares
    for k, neuron in enumerate(one.order):
        assert seen.rates.values[one.block, neuron] == pytest.approx(one.rate.values[k], abs=1e-12)


def test_a_linear_reader_reads_what_a_line_can_cut():
    rng = np.random.default_rng(0)
    label = np.arange(400) % 5
    x = np.column_stack([label * 3.0, np.zeros(400)]) + rng.normal(size=(400, 2)) * 0.3  # five classes in a row
    assert (reader(x, label)(x) == label).all()
    np.testing.assert_allclose(reader(x, label, x.T @ x).weights, reader(x, label).weights)
    cross = rng.integers(0, 2, (400, 2))
    xor = cross.sum(axis=1) % 2
    corners = np.bincount(cross @ [2, 1])
    right = (reader(cross + 0.0, xor)(cross + 0.0) == xor).mean()
    assert right <= 1 - corners.min() / 400  # a line gets at most three of the four corners


def test_the_last_even_number_is_carried_on():
    tokens = np.array([[1, 4, 3, 8, 5]])
    assert _last(tokens, tokens % 2 == 0).tolist() == [[-1, 4, 4, 8, 8]]


def test_context_moves_no_pair_that_was_met_once_by_nothing():
    """Of a sample, pairs met once tell nothing; the others are measured as a sample is, by n − 1."""
    points = np.array([[[0.0, 0.0]], [[2.0, 0.0]], [[9.0, 9.0]]])  # (window, position, feature)
    windows = np.array([[0], [0], [1]])
    _, count, square = _means(points, windows, 2)
    np.testing.assert_allclose(square[:, 0], [1, 0])
    known = np.where(count > 1, square * count / np.maximum(count - 1, 1), np.nan)
    np.testing.assert_allclose(_moved(np.zeros((2, 1, 2)), count, known, exact=False), [np.sqrt(2), np.nan])
    flat = points.reshape(-1, 2)
    assert _settled(flat, count, known) == pytest.approx(1 - 2 / flat.var(axis=0).sum())


def test_without_positions_only_tokens_are_drawn_and_an_input_has_all_of_its_own(tmp_path):
    run = random_run(tmp_path, "bpe", changes=("architecture.positions=rotary",))
    assert embeddings(run).kinds == ("token",)
    seen = sequence_embeddings(run)
    words = seen.tables["token"].axes["token"].labels
    assert tuple(words[row] for row in seen.rows) == seen.tokens
    assert len({seen.tokens[k] for k in seen.told}) == len(seen.told)  # one token at two places is one point


def test_probes_find_what_was_put_there_and_no_more(groups):
    seen = probes(groups)
    targets, points = (seen.above.axes[axis].values for axis in ("quantity", "point"))
    here = seen.accuracy.values[targets.index("token here"), points.index("embedded"), 0]
    assert 0.35 < here < 0.65  # group and place are there, which of its group a token is not
    answer = seen.above.values[targets.index("answer"), points.index("embedded"), 0]
    assert abs(answer) < 0.1  # the answer lies elsewhere in the input
    assert np.allclose(seen.above.values, seen.accuracy.values - seen.chance.values[:, None, None])
    wrong = (1 - seen.accuracy.values) / (1 - seen.chance.values[:, None, None])  # of what chance gets wrong
    assert np.allclose(seen.gained.values, 1 - wrong)


def test_every_varying_place_of_a_long_question_is_read(tmp_path):
    """Eight characters: five arguments have names of their own, the others are known by their position."""
    rng = np.random.default_rng(2)
    rows = ["".join(rng.choice(list("abc"), 8)) for _ in range(200)]
    path = tmp_path / "t.csv"
    path.write_text("question,answer\n" + "".join(f"{row},{row[6]}\n" for row in rows), encoding="utf-8")
    small = (f"data.file={path}", "architecture.width=4", "architecture.heads=2", "architecture.feed_forward=4")
    seen = probes(noise(tmp_path / "run", load("own_table", small)))
    arguments = [f"{name} argument" for name in ("first", "second", "third", "fourth", "fifth")]
    assert list(seen.accuracy.axes["quantity"].labels) == [*arguments, "token 5", "token 6", "token 7", "answer"]
    chance = dict(zip(seen.chance.axes["quantity"].labels, seen.chance.values, strict=True))
    assert chance["token 6"] == chance["answer"]  # the answer is the seventh character


def test_weights_are_the_tensors(groups):
    seen = weights(groups)
    assert np.array_equal(seen.tensors["token"].values, TOKEN)
    assert seen.tensors["blocks.0.expand_bias"].values.tolist() == [-2, 0.5, -1, 1]
    names = seen.typical.axes["tensor"].labels
    assert seen.typical.values[names.index("token")] == pytest.approx((TOKEN**2).mean() ** 0.5)
    assert seen.quantiles.values[names.index("token"), [0, -1]].tolist() == [-3, 2]
    assert seen.parameters == sum(each.values.size for each in seen.tensors.values())


@pytest.mark.parametrize("room", [70, 94])
def test_tensors_lie_beside_and_below_each_other_in_order_and_never_on_another(groups, room):
    seen = weights(groups)
    for high in (31.0, float("inf")):
        pages = _bands(_shelves(seen, room), high)
        assert [name for page in pages for name, _ in page] == list(seen.tensors)
        for page in pages:
            for k, (_, (x, y, wide, tall)) in enumerate(page):
                assert x + wide <= room
                for _, (left, top, across, down) in page[:k]:
                    assert x >= left + across or x + wide <= left or y >= top + down or y + tall <= top


def test_a_trail_is_a_running_mean_with_its_ends_in_place():
    way = np.random.default_rng(2).normal(size=(9, 3, 2))
    smooth = smoothed(way)
    assert np.array_equal(smooth[[0, -1]], way[[0, -1]])
    np.testing.assert_allclose(smooth[1], way[:3].mean(axis=0))
    for word in range(3):
        for axis in range(2):
            five = np.convolve(way[:, word, axis], np.ones(5) / 5, mode="valid")
            np.testing.assert_allclose(smooth[2:-2, word, axis], five)


def test_neighbours_in_a_large_tensor_share_a_cell_of_their_typical_size():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(130, 65))
    small = binned(table)
    assert small.shape == (44, 33)  # three rows, two columns to a cell; the last column stands alone
    cell = table[3:6, 4:6]
    assert small[1, 2] == pytest.approx(np.sign(cell.sum()) * (cell**2).mean() ** 0.5)
    assert small[-1, -1] == pytest.approx(table[-1, -1])
    assert (small**2).mean() == pytest.approx((table**2).mean(), rel=0.03)  # a mean would have a sixth of it
    assert np.array_equal(binned(table[:64, :64]), table[:64, :64])
