"""How a model decides: analyses on models whose answer is known, and exact identities on any model."""

import re
from pathlib import Path

import numpy as np
import pytest

import hand_wired
from glassformer import reference
from glassformer.analyses import _decide, _land, _logged
from glassformer.analyses.decide.ablation import WAYS, ablation
from glassformer.analyses.decide.attribution import attribution
from glassformer.analyses.decide.landscape import landscape
from glassformer.analyses.decide.landscape_winners import closer, landscape_winners
from glassformer.analyses.decide.logit_lens import logit_lens
from glassformer.analyses.decide.mixing import mixing
from glassformer.analyses.decide.one_answer import one_answer
from glassformer.analyses.decide.patching import patching
from glassformer.analyses.decide.reachable import reachable
from glassformer.analyses.decide.readout import readout
from glassformer.analyses.decide.residual import residual
from glassformer.analyses.learn.next_token import next_token
from glassformer.architecture import nest
from glassformer.errors import CallError
from glassformer.run import Run
from small_runs import MODULAR, run_of

DEMO = "4 9 + 4 10 7 + 10"


def random_run(folder: Path, *, width: int = 2, heads: int = 1, blocks: int = 1, **more: object) -> Run:
    """A model of random weights: nothing to find in it, but every identity must hold."""
    rng = np.random.default_rng(5)

    def matrix(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    def block() -> dict[str, np.ndarray]:
        square = {name: matrix(width, width) for name in ("query", "key", "value", "output")}
        feed = {
            "expand": matrix(width, 6),
            "expand_bias": matrix(6),
            "contract": matrix(6, width),
            "contract_bias": matrix(width),
        }
        norms = {f"norm_{k}{kind}": matrix(width) for k in (1, 2) for kind in ("", "_bias")} if more.get("norm") else {}
        return square | feed | norms

    return hand_wired.write_run(
        folder, token=matrix(12, width), position=matrix(8, width), blocks=[block() for _ in range(blocks)],
        read_out=matrix(width, 12), read_out_bias=matrix(12), heads=heads, head_width=width // heads, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Width 2, one block."""
    return random_run(tmp_path_factory.mktemp("plain") / "run")


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Width 4, two blocks of two heads, layer norms after each sum."""
    return random_run(
        tmp_path_factory.mktemp("deep") / "run", width=4, heads=2, blocks=2, norm="layer", norm_place="post",
        biases=["feed_forward", "norm", "read_out"],
    )  # fmt: skip


@pytest.mark.parametrize("name", ["plain", "deep"])
def test_onward_from_middle_gives_the_models_own_answer(name: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    seen = run.trace(DEMO)
    logits = hand_wired.logits_after(run, seen["middle"][-1])
    np.testing.assert_allclose(logits, seen["logits"], atol=1e-4)


def test_landscape_at_middle_is_the_trace(plain: Run) -> None:
    seen, trace = landscape(plain, sequence=DEMO, points="middle"), plain.trace(DEMO)
    np.testing.assert_allclose(seen.points["end"].values, trace["middle"][0])
    x, y = trace["middle"][0, 3]
    here = landscape(plain, sequence=DEMO, frame=(x - 1, x + 1, y - 1, y + 1), grid=3)
    np.testing.assert_allclose(here.probabilities.values[:, 1, 1], trace["probabilities"][3], atol=6e-5)
    assert here.regions.winner.values[1, 1] == trace["probabilities"][3].argmax()
    final = landscape(
        plain, sequence=DEMO, at="final", frame=(*_around(trace["final"][3, 0]), *_around(trace["final"][3, 1])), grid=3
    )
    np.testing.assert_allclose(final.probabilities.values[:, 1, 1], trace["probabilities"][3], atol=6e-5)


def _around(value: float) -> tuple[float, float]:
    return float(value) - 1, float(value) + 1


def test_a_closer_look_at_a_landscape_is_the_landscape_of_its_frame(plain: Run) -> None:
    found = _land.laid(plain, sequence=DEMO, frame=(-40, 40, -40, 40))
    near = closer(found, ("end",))
    assert near.frame[1] - near.frame[0] < 80
    again = landscape(plain, sequence=DEMO, frame=near.frame)
    np.testing.assert_array_equal(near.winner.values, again.regions.winner.values)
    np.testing.assert_array_equal(near.best.values, again.regions.best.values)
    x, y = found.fields["points"]["end"].values.T
    assert (x > near.frame[0]).all()
    assert (x < near.frame[1]).all()
    assert (y > near.frame[2]).all()
    assert (y < near.frame[3]).all()


def test_landscape_edges_are_where_neurons_switch(plain: Run) -> None:
    a, b, c = landscape_winners(plain).edges.values[2]
    point = np.array([1.5, -(a * 1.5 + c) / b])
    block = nest(plain.weights())["blocks"][0]
    assert abs((point @ block["expand"] + block["expand_bias"])[2]) < 1e-4


@pytest.mark.parametrize("name", ["plain", "deep"])
def test_attribution_parts_add_up_to_the_difference(name: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    for position in (2, 5, 6):
        seen = attribution(run, sequence=DEMO, position=position)
        logits = run.trace(DEMO)["logits"][position]
        words = run.task.vocabulary
        difference = logits[words.index(seen.first)] - logits[words.index(seen.second)]
        assert seen.parts.values.sum() == pytest.approx(seen.total, abs=1e-9)
        assert seen.total == pytest.approx(float(difference), abs=1e-3)
        by_head = {head: row.sum() for head, row in zip(seen.keys.axes["part"].labels, seen.keys.values, strict=True)}
        whole = dict(zip(seen.parts.axes["part"].labels, seen.parts.values, strict=True))
        assert by_head == pytest.approx({head: whole[head] for head in by_head})


def test_attribution_compares_right_with_best_wrong(plain: Run) -> None:
    seen = attribution(plain, sequence=DEMO)
    assert (seen.position, seen.first, seen.judged) == (6, "10", True)
    logits = plain.trace(DEMO)["logits"][6].copy()
    logits[10] = -np.inf
    assert seen.second == plain.task.vocabulary[int(logits.argmax())]


@pytest.mark.parametrize("name", ["plain", "deep"])
def test_patching_everything_restores_everything(name: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    seen = patching(run, sequence=DEMO, other="4 9 + 4 8 7 + 10")
    assert (seen.changed, seen.position, seen.first, seen.second) == (4, 6, "10", "8")
    row = dict(zip(seen.share.axes["point"].values, np.moveaxis(seen.share.values, 1, 0), strict=True))
    np.testing.assert_allclose(seen.at_once.values[:, 0], 1, atol=1e-9)  # the embedding of all positions
    np.testing.assert_allclose(row["embedded"][:, 4], 1, atol=1e-9)  # only there do the inputs differ
    np.testing.assert_allclose(row["embedded"][:, [0, 1, 2, 3, 5, 6, 7]], 0, atol=1e-9)
    last = [values for point, values in row.items() if point.startswith("out")][-1]
    np.testing.assert_allclose(last[:, 6], 1, atol=1e-9)


def test_patching_wants_one_token_exchanged(plain: Run) -> None:
    with pytest.raises(CallError, match="differ in exactly one token"):
        patching(plain, sequence=DEMO, other=DEMO)


def test_ablating_an_unused_head_changes_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    block = {name: rng.normal(size=(4, 4)) for name in ("query", "key", "value", "output")}
    block["output"][2:] = 0  # the second head writes nothing
    run = hand_wired.write_run(
        tmp_path / "run", token=rng.normal(size=(12, 4)), position=rng.normal(size=(8, 4)), blocks=[block],
        read_out=rng.normal(size=(4, 12)), heads=2, head_width=2,
    )  # fmt: skip
    seen = ablation(run)
    row = dict(zip(seen.loss.axes["part"].labels, seen.loss.values, strict=True))
    np.testing.assert_array_equal(row["head 1"], 0)
    assert (np.abs(row["head 0"]) > 1e-3).all()


def test_ablation_of_neurons_is_that_of_a_full_pass(plain: Run, deep: Run) -> None:
    for run in (plain, deep):
        seen = ablation(run, windows=16)
        given = _logged.windows(run, 16)
        last = run.architecture.blocks - 1

        def silence(value: np.ndarray, block: int | None, last: int = last) -> np.ndarray:
            return value * (np.arange(value.shape[-1]) != 3) if block == last else value

        losses = []
        for edits in (None, {"hidden": silence}):
            logits = run.trace(given.windows[:, :-1], edits=edits)["logits"].astype(np.float64)
            chances = np.log(reference.softmax(logits))
            losses.append(-np.take_along_axis(chances, given.windows[:, 1:, None].astype(int), -1).mean())
        name = "neuron 3" if last == 0 else f"neuron {last}.3"
        found = seen.loss.values[seen.loss.axes["part"].labels.index(name), WAYS.index("zero")]
        assert seen.base_loss == pytest.approx(losses[0], abs=1e-5)
        assert found == pytest.approx(losses[1] - losses[0], abs=1e-4)


def test_residual_is_a_sum(plain: Run) -> None:
    seen = residual(plain, sequence=DEMO)
    np.testing.assert_allclose(seen.before.values + seen.attended.values, seen.middle.values, atol=1e-5)
    np.testing.assert_allclose(seen.points["begin"].values, seen.before.values)
    assert [seen.verdicts[k] in ("right", "wrong") for k in range(8)] == [k in (2, 6) for k in range(8)]


@pytest.mark.parametrize("has", [True, False])
def test_without_attention_is_a_full_pass_whose_attention_adds_nothing(tmp_path: Path, has: bool) -> None:
    run = random_run(tmp_path / "run", blocks=2, residual=has)
    last = run.architecture.blocks - 1
    silent = run.trace(DEMO, edits={"attended": lambda value, block: 0 * value if block == last else value})
    np.testing.assert_allclose(residual(run, sequence=DEMO).first.values, silent["probabilities"], rtol=1e-4, atol=1e-9)
    seen, held = one_answer(run, sequence=DEMO), reachable(run, sequence=DEMO)
    np.testing.assert_allclose(seen.without.values, silent["probabilities"][seen.place], rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(held.unmoved.values, silent["probabilities"][held.position], rtol=1e-4, atol=1e-9)
    before, added, after = seen.points.values
    np.testing.assert_allclose(before - seen.plane.zero + added, after, atol=1e-5)  # the arrow is what attention adds
    if not has:
        assert "to where" not in residual(run, sequence=DEMO).title


def test_mixing_of_the_previous_token(tmp_path: Path) -> None:
    seen = mixing(hand_wired.previous_token(tmp_path / "run"), sequence=DEMO)
    np.testing.assert_allclose(seen.mixed.values[0, 1:], seen.value.values[0, :-1], atol=1e-4)
    np.testing.assert_allclose(seen.attention.values[0] @ seen.value.values[0], seen.mixed.values[0], atol=1e-5)


def test_the_push_lies_in_the_hull(plain: Run) -> None:
    for position in range(8):
        seen = reachable(plain, sequence=DEMO, position=position)
        if len(seen.corners.values) > 2:
            grown = seen.corners.values.mean(0) + 1.0001 * (seen.corners.values - seen.corners.values.mean(0))
            assert _decide.inside(seen.push.values, grown)
        assert seen.values.values.shape == (1, position + 1, 2)  # only what is in view


def test_hull_of_a_square() -> None:
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5), (0.5, 0)])
    assert sorted(map(tuple, _decide.hull(square).tolist())) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert _decide.inside(np.array([[0.2, 0.9], [1.1, 0.5]]), _decide.hull(square)).tolist() == [True, False]


def test_readout_vectors_make_the_logits(plain: Run) -> None:
    seen = readout(plain, sequence=DEMO)
    np.testing.assert_allclose(
        seen.final.values @ seen.vectors.values.T + seen.bias.values, seen.logits.values, atol=1e-4
    )


@pytest.mark.parametrize("name", ["plain", "deep"])
def test_logit_lens_ends_with_the_models_answer(name: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    seen, trace = logit_lens(run, sequence=DEMO), run.trace(DEMO)
    np.testing.assert_array_equal(seen.guess.values[-1], trace["probabilities"].argmax(-1))
    assert seen.right.values[-1, 6] == pytest.approx(float(trace["probabilities"][6, 10]), abs=1e-5)
    assert np.isnan(seen.right.values[:, 0]).all()


def test_intervals_of_wrong_answers_stay_among_the_shares_there_are(plain: Run) -> None:
    seen = ablation(plain)
    share, ends = seen.error.values + seen.base_error, seen.error_interval.values + seen.base_error
    assert (ends >= -1e-12).all()
    assert (ends <= 1 + 1e-12).all()
    assert (ends[..., 0] <= share + 1e-12).all()
    assert (ends[..., 1] >= share - 1e-12).all()


def test_a_share_of_answers_is_as_sure_as_drawing_other_windows_makes_it(plain: Run) -> None:
    seen = ablation(plain, windows=64)
    given = _logged.windows(plain, 64)
    asked = given.answerable.sum(-1)

    def wrong(edits: dict[str, reference.Edit] | None) -> np.ndarray:
        guess = plain.trace(given.windows[:, :-1], edits=edits)["logits"].argmax(-1)
        right = np.take_along_axis(given.allowed, guess[..., None], -1)[..., 0]
        return np.asarray((~right & given.answerable).sum(-1))

    more = wrong({"token_embedding": lambda value, _: value * 0}) - wrong(None)
    part = seen.error.axes["part"].labels.index("token embedding")
    assert seen.error.values[part, 0] == pytest.approx(more.sum() / asked.sum())
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(asked), size=(4000, len(asked)))  # bootstrap: an independent estimate of the interval
    spread = (more[drawn].sum(-1) / asked[drawn].sum(-1)).std()
    low, high = seen.error_interval.values[part, 0]
    assert (high - low) / 2 == pytest.approx(1.96 * spread, rel=0.15)


def test_the_title_of_ablation_names_the_row_on_top(plain: Run, deep: Run) -> None:
    for run in (plain, deep):
        seen = ablation(run, windows=16)
        first = seen.loss.axes["part"].labels[seen.order()[0]]
        mean = seen.loss.values[:, WAYS.index("mean")]
        assert mean[seen.order()[0]] == mean.max()
        title = seen.title
        assert first in title
        if title.startswith("However"):
            assert (seen.loss.values.argmax(0) == seen.order()[0]).all()
            continue
        for way, word in (("zero", "zeroing"), ("mean", "averaging"), ("resample", "resampling")):
            cost = seen.loss.values[:, WAYS.index(way)]
            dearest = seen.loss.axes["part"].labels[int(cost.argmax())]
            (costs,) = re.findall(rf"{word}[a-z ]* (?:the )?{dearest} \(([^)]*) nats\)", title)
            assert min(abs(float(each) - cost.max()) for each in costs.split(" or ")) <= 0.05, (way, title)


@pytest.mark.parametrize("look", [next_token, one_answer, landscape, residual, reachable, readout, logit_lens])
def test_a_question_that_ends_before_its_answer_is_refused(look) -> None:
    run = run_of(MODULAR)
    short = run.task.decode(run.tokens(None)[: run.architecture.read_position])
    with pytest.raises(CallError, match=f"read at position {run.architecture.read_position}, but the text has"):
        look(run, sequence=short)


def test_undecided_is_where_no_token_has_half(plain: Run) -> None:
    seen = landscape(plain, sequence=DEMO, grid=9)
    x, y = np.meshgrid(*(seen.regions.winner.axes[axis].values for axis in ("horizontal", "vertical")))
    assert (x[0, 0], x[0, -1], y[0, 0], y[-1, 0]) == seen.frame
    logits = hand_wired.logits_after(plain, np.stack([x, y], -1)).astype(float)
    top = np.exp(logits.max(-1)) / np.exp(logits).sum(-1)
    np.testing.assert_allclose(seen.regions.best.values, top, atol=1e-5)
    assert 0 < seen.undecided < 1
    assert seen.undecided == pytest.approx((top < 0.5).mean())


def on_slice(seen: _land.Land, run: Run, point: np.ndarray) -> np.ndarray:
    """The stream at a point of what is drawn: of a slice, pulled to the points of DEMO, the nearer ones more."""
    stream, trace, last = seen.plane.origin + seen.plane.basis @ point, run.trace(DEMO), run.architecture.blocks - 1
    pull, total = np.zeros_like(stream), 1.0
    for each in (*_decide.entering(trace, last, run.architecture), *trace["middle"][last]):
        at = seen.plane.basis.T @ (each - seen.plane.origin)
        beside = each - seen.plane.origin - seen.plane.basis @ at
        weight = seen.reach**2 / max(float(((point - at) ** 2).sum()), 1e-12)
        pull, total = pull + weight * beside, total + weight
    return np.asarray(stream + pull / total, dtype=np.float32)


@pytest.mark.parametrize("name", ["plain", "deep"])
def test_fine_regions_are_what_the_model_says_there(name: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    seen = residual(run, sequence=DEMO)
    won, best, lead = seen.regions.fine_winner, seen.regions.fine_best, seen.regions.fine_lead
    assert won is not None
    assert won.values.shape == ((300, 300) if name == "plain" else (150, 150))
    rows = np.arange(0, len(won.values), 29)
    for row, column in zip(rows, rows[::-1], strict=True):
        point = np.array([won.axes["horizontal"].values[column], won.axes["vertical"].values[row]])
        stream = on_slice(seen, run, point)
        logits = hand_wired.logits_after(run, stream).astype(float)
        second, first = np.sort(logits)[-2:]
        assert won.values[row, column] == logits.argmax()
        here = np.s_[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        found, chance = {}, np.exp(first) / np.exp(logits).sum()
        for what, true, kinds in (("lead", first - second, won.values), ("best", chance, best.values < 0.5)):
            found[what] = len(np.unique(kinds[here])) > 1  # at a border to four digits that count, elsewhere to one
            values = (lead if what == "lead" else best).values
            assert (values[row, column] < 0.5) == (true < 0.5) or what == "lead"
            assert values[row, column] == pytest.approx(true, rel=1e-3 if found[what] else 1, abs=1e-5)


def test_a_frame_holds_its_points_and_has_the_shape_asked_for() -> None:
    points = np.array([[0.0, 0.0], [4.0, 1.0], [np.nan, 9.0]])
    for shape, ratio in ((1.0, 1.0), (1.47, 1.47), (None, 1.6)):  # their own would be 4: the widest there is
        x0, x1, y0, y1 = _land.around([points], shape=shape)
        assert (x1 - x0) / (y1 - y0) == pytest.approx(ratio)
        assert x0 < 0 < 4 < x1
        assert y0 < 0 < 1 < y1


def test_a_slice_passes_through_the_points_of_the_input(tmp_path: Path) -> None:
    run, found = random_run(tmp_path / "run", width=4), set()
    for text in (DEMO, "2 + 6 + 8 + 10 +", "0 + + 4 + 2 6 +"):
        seen, trace = landscape(run, sequence=text, points="middle"), run.trace(text)
        guess = trace["logits"].argmax(-1)
        np.testing.assert_array_equal(seen.under.values[-1], guess)
        flat = seen.plane.origin + seen.plane.points(trace["middle"][0]) @ seen.plane.basis.T
        under = hand_wired.logits_after(run, flat.astype(np.float32)).argmax(-1)
        found |= set(under != guess)
    assert found == {True, False}, "a flat slice would show another token beneath some of them"
    assert landscape(random_run(tmp_path / "two"), sequence=DEMO).reach == 0, "two features: nothing is off the plane"


def test_many_ends_are_those_of_held_out_windows(plain: Run) -> None:
    windows = plain.task.examples(8, "validation", 48).windows[:, :-1]
    ends = plain.trace(windows)["middle"][:, 0].reshape(-1, 2)
    np.testing.assert_allclose(landscape(plain).points["held_out"].values, ends[:: -(-len(ends) // 400)], atol=1e-6)


def test_patching_takes_the_pair_of_attribution_where_an_exchange_can_bring_it(plain: Run) -> None:
    met = set()
    for text in (DEMO, "2 3 5 +", "6 9 +", "8 1 1 7 +", "0 +", "1 4 3 +"):
        votes, seen = attribution(plain, sequence=text), patching(plain, sequence=text)
        assert seen.nearest == (votes.second in ("0", "2", "4", "6", "8", "10"))  # any even number can be put there
        met.add(seen.nearest)
        if seen.nearest:
            assert (seen.first, seen.second) == (votes.first, votes.second)
            assert seen.clean == pytest.approx(votes.total)
    assert met == {True, False}


def test_what_is_said_with_the_answer_out_of_view_stands_second() -> None:
    run = run_of("plus_last_even")
    seen = next_token(run)
    assert seen.unseen == (False, True, False)
    prompt = seen.chances.axes["window"].labels[1].split()
    assert prompt[-1] == "+"
    assert not {"0", "2", "4", "6", "8", "10"} & set(prompt)
    even = [word in ("0", "2", "4", "6", "8", "10") for word in seen.truth.axes["token"].labels]
    np.testing.assert_allclose(seen.truth.values[1], np.array(even) / 6, atol=1e-9)  # no even number is likelier
    assert not seen.right.values[1].any()
    says = run.trace(" ".join(prompt))["probabilities"][-1]
    np.testing.assert_allclose(seen.chances.values[1, -1], says, atol=1e-6)
