"""Heads and neurons paired by what they do: a copy with its parts in another order must be recognised."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from glassformer.analyses import _match
from glassformer.analyses._result import Labelled
from glassformer.analyses.trust import seeds_aligned as alignment
from glassformer.analyses.trust.seeds_aligned import balanced_pairs, seeds_aligned
from glassformer.experiment import from_tables, load
from glassformer.figures import _draw, plot_seeds_aligned
from glassformer.record import Recorder
from glassformer.run import Run

HEADS, PER_HEAD, NEURONS = 3, 2, 8
HEAD_ORDER, NEURON_ORDER = [2, 0, 1], [5, 3, 7, 0, 1, 6, 2, 4]  # of the copy's parts, as parts of the first


def reordered(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same model with the heads and neurons of every block in another order."""
    columns = np.concatenate([np.arange(PER_HEAD) + PER_HEAD * head for head in HEAD_ORDER])
    found = dict(weights)
    for name, value in weights.items():
        part = name.rpartition(".")[2]
        if part in ("query", "key", "value"):
            found[name] = value[:, columns]
        elif part == "output":
            found[name] = value[columns]
        elif part in ("expand", "expand_bias"):
            found[name] = value[..., NEURON_ORDER]
        elif part == "contract":
            found[name] = value[NEURON_ORDER]
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three members: a model, the same with its parts in another order, and an unrelated one."""
    experiment = from_tables(
        {"task": "plus_last_even", "train": {"steps": 1},
         "architecture": {"width": HEADS * PER_HEAD, "blocks": 2, "heads": HEADS, "context": 8,
                          "feed_forward": NEURONS}},
        "three",
    )  # fmt: skip
    rng = np.random.default_rng(3)
    one, other = (
        {name: rng.standard_normal(size).astype(np.float32) for name, size in experiment.architecture.shapes().items()}
        for _ in range(2)
    )
    members = [one, reordered(one), other]
    weights = {name: np.stack([each[name] for each in members])[None] for name in one}
    folder = tmp_path_factory.mktemp("three") / "run"
    with Recorder.create(folder, experiment, [1, 2, 3]) as recorder:
        recorder.safe_point(0, [0], weights, [], {})
        recorder.finish("finished")
    return Run(folder)


@pytest.mark.parametrize("many", [1, 2, 4, 6])
def test_the_assignment_is_the_best_of_all_orders(many: int) -> None:
    rng = np.random.default_rng(many)
    for _ in range(20):
        gain = rng.standard_normal((many, many))
        found = _match.assignment(gain)
        assert sorted(found) == list(range(many))
        best = max(gain[range(many), order].sum() for order in permutations(range(many)))
        assert gain[range(many), found].sum() == pytest.approx(best)


def test_a_large_hidden_order_is_found() -> None:
    order = np.random.default_rng(0).permutation(60)
    noise = 0.1 * np.random.default_rng(1).random((60, 60))
    assert _match.assignment(np.eye(60)[order] + noise) == order.tolist()


def test_a_copy_in_another_order_is_recognised_part_by_part(run: Run) -> None:
    looks = [_match.looks(run, 0, member) for member in range(3)]
    fires = [_match.fires(run, 0, member) for member in range(3)]
    for block in range(2):
        assert _match.assignment(_match.same_looks(looks[1][block], looks[0][block])) == HEAD_ORDER
        alive = np.ptp(fires[0][block], axis=-1) > 0
        pairs = _match.assignment(_match.same_fires(fires[1][block], fires[0][block]))
        assert [p for p in pairs if alive[p]] == [p for p in NEURON_ORDER if alive[p]]
    assert _match.unlike_heads(looks[0], looks[1]) == pytest.approx(0, abs=1e-5)
    assert _match.unlike_neurons(fires[0], fires[1]) == pytest.approx(0, abs=1e-5)
    assert _match.unlike_heads(looks[0], looks[2]) > 0.2
    assert _match.unlike_neurons(fires[0], fires[2]) > 0.2


def test_aligned_tells_the_copy_from_the_stranger(run: Run) -> None:
    seen = seeds_aligned(run)
    for kind in ("heads", "neurons"):
        found = seen.matched[kind].values
        assert seen.matched[kind].axes["member"].labels == ("1", "2", "3")
        assert found[0, 1] == pytest.approx(0, abs=1e-5)
        assert found[0, 2] == pytest.approx(found[1, 2], abs=1e-4)
        np.testing.assert_array_equal(found, found.T)
        low, half, high = seen.by_chance[kind].values
        assert 0.1 < low <= half <= high
    assert "the 3 heads of each block, in any order," in _draw.of(plot_seeds_aligned(run)).words.caption


@pytest.mark.parametrize("many", [20, 64, 2])
def test_other_inputs_are_whole_inputs_however_many_there_are(many: int) -> None:
    parts = np.arange(2 * 3 * many * 4).reshape(2, 3, many * 4)
    for by in (1, 5, many):
        rows = parts.reshape(2, 3, many, 4)
        found = _match.elsewhere(parts, by, many).reshape(rows.shape)
        shift = int(np.flatnonzero((rows == found[:, :, :1]).all(axis=(0, 1, 3)))[0])
        assert shift != 0  # never an input of its own
        np.testing.assert_array_equal(found, rows[:, :, (np.arange(many) + shift) % many])
    assert np.isnan(_match.elsewhere(np.ones((1, 2, 4)), 1, 1)).all()  # of one input there is no other


def test_the_number_of_inputs_that_is_said_is_that_of_the_inputs(tmp_path: Path) -> None:
    experiment = load("mary", ("architecture.width=4", "architecture.heads=2"), steps=1)
    shapes = experiment.architecture.shapes()
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=(1, 2, *shape)).astype(np.float32) for name, shape in shapes.items()}
    with Recorder.create(tmp_path / "run", experiment, [1, 2]) as recorder:
        recorder.safe_point(0, [0], weights, [], {})
        recorder.finish()
    run = Run(tmp_path / "run")
    seen = seeds_aligned(run)
    many = len(run.task.examples(run.architecture.context, "validation", 64).windows)
    assert seen.inputs == many
    assert f"on {many} judged inputs" in _draw.of(plot_seeds_aligned(run)).words.caption


def with_lost(run: Run, folder: Path, lost: int) -> Run:
    """The same members, and so many more whose weights are no numbers."""
    weights = {
        name: np.concatenate([value, np.full((lost, *value.shape[1:]), np.nan, np.float32)])[None]
        for name, value in run.weights(0).items()
    }
    with Recorder.create(folder, run.experiment, [*run.seeds, *range(7, 7 + lost)]) as recorder:
        recorder.safe_point(0, [0], weights, [], {})
        recorder.finish()
    return Run(folder)


def test_a_seed_that_diverged_leaves_the_others_as_they_are(run: Run, tmp_path: Path) -> None:
    more = with_lost(run, tmp_path / "run", 1)
    seen, plain = seeds_aligned(more), seeds_aligned(run)
    np.testing.assert_allclose(seen.points.values[:3], plain.points.values)
    assert np.isnan(seen.points.values[3]).all()
    np.testing.assert_allclose(seen.mean.values, plain.mean.values)
    np.testing.assert_allclose(seen.spread.values, plain.spread.values)
    order = [seen.distance.axes["member"].labels.index(name) for name in plain.distance.axes["member"].labels]
    np.testing.assert_allclose(seen.distance.values[np.ix_(order, order)], plain.distance.values)
    for kind, each in plain.matched.items():
        np.testing.assert_allclose(seen.matched[kind].values[:3, :3], each.values)
        assert np.isnan(seen.matched[kind].values[3, :3]).all()
        np.testing.assert_allclose(seen.by_chance[kind].values, plain.by_chance[kind].values)
    assert (seen.diverged, plain.diverged) == (1, 0)
    assert "1 of the 4 seeds has diverged" in seen.title
    assert "diverged" not in plain.title
    plot_seeds_aligned(more).canvas.draw()


def test_one_seed_that_is_left_cannot_be_compared(run: Run, tmp_path: Path) -> None:
    alone = Run(run.path)
    many = with_lost(alone, tmp_path / "run", 5)
    weights = {name: value[None].copy() for name, value in many.weights(0).items()}
    for value in weights.values():
        value[:, 1:] = np.nan
    with Recorder.create(tmp_path / "alone", many.experiment, many.seeds) as recorder:
        recorder.safe_point(0, [0], weights, [], {})
        recorder.finish()
    seen = seeds_aligned(Run(tmp_path / "alone"))
    assert seen.diverged == 7
    assert "7 of the 8 seeds have diverged" in seen.title
    plot_seeds_aligned(Run(tmp_path / "alone")).canvas.draw()


def crowd(run: Run, folder: Path, seeds: int) -> Run:
    """Seed 0 is the stranger of the three; all other seeds are one model, every second one in another order."""
    every = run.weights(0)
    order = [2, *(k % 2 for k in range(seeds - 1))]
    weights = {name: value[order][None] for name, value in every.items()}
    with Recorder.create(folder, run.experiment, list(range(seeds))) as recorder:
        recorder.safe_point(0, [0], weights, [], {})
        recorder.finish()
    return Run(folder)


def test_one_odd_seed_does_not_speak_for_all(run: Run, tmp_path: Path) -> None:
    """Of 780 pairs only 39 hold seed 0, and in all others heads and neurons are the same."""
    many = crowd(run, tmp_path / "run", 40)
    seen = seeds_aligned(many)
    assert seen.pairs_compared == (780, 780)
    assert seen.title.endswith("; heads and neurons agree more than by chance")
    for each in seen.matched.values():
        assert np.isfinite(each.values).all()
        np.testing.assert_allclose(each.values[1:, 1:], 0, atol=1e-5)
        assert (each.values[0, 1:] > 0.2).all()
        assert np.median(each.values[np.triu_indices(40, 1)]) < 1e-5
    figure = plot_seeds_aligned(seen)
    assert "for all 780 pairs of seeds" in _draw.of(figure).words.caption
    assert "all pairs of seeds; grey: by chance" in [ax.get_title("left") for ax in figure.axes]


def test_a_sample_of_pairs_is_balanced_and_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = crowd(run, tmp_path / "run", 9)
    both = _match.cost(_match.looks(many, 0, 0)) + _match.cost(_match.fires(many, 0, 0))
    monkeypatch.setattr(alignment, "WORK", 20 * both)
    seen = seeds_aligned(many)
    assert seen.pairs_compared == (18, 36)  # twenty are affordable, and a seed takes part in four
    for each in seen.matched.values():
        assert (np.isfinite(each.values).sum(axis=0) - 1 == 4).all()
    assert "(18 of 36 pairs of seeds compared)" in seen.title
    figure = plot_seeds_aligned(seen)
    caption = _draw.of(figure).words.caption
    assert "for 18 of the 36 pairs of seeds, in which every seed takes part equally often" in caption
    assert "parts: 18 of 36 pairs of seeds; grey: by chance" in [ax.get_title("left") for ax in figure.axes]


@pytest.mark.parametrize("members", [2, 3, 8, 9, 64])
@pytest.mark.parametrize("most", [0, 1, 10, 70, 2016])
def test_every_member_takes_part_equally_often(members: int, most: int) -> None:
    names = list(range(100, 100 + members))
    found = balanced_pairs(names, most)
    assert len({frozenset(pair) for pair in found}) == len(found)
    assert all(one != other for one, other in found)
    often = {name: sum(name in pair for pair in found) for name in names}
    assert len(set(often.values())) == 1
    assert len(found) <= max(most, members)


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        ({"heads": 0.9, "neurons": 0.9}, "heads and neurons agree more than by chance"),
        ({"heads": 0.9, "neurons": 0.1}, "heads agree more than by chance, neurons agree no more than by chance"),
        ({"heads": 0.1, "neurons": 0.1}, "heads and neurons agree no more than by chance"),
        ({"heads": 0.1}, "heads agree no more than by chance"),
        ({"neurons": 0.9}, "neurons agree more than by chance"),
    ],
)
def test_the_title_speaks_of_the_parts_that_were_compared(run: Run, chance: dict[str, float], said: str) -> None:
    plain = seeds_aligned(run)
    half = Labelled(np.where(np.eye(3), 0, 0.5), plain.matched["heads"].axes, "distance")
    limits = {kind: Labelled(np.full(3, value), alignment.QUANTILES, "distance") for kind, value in chance.items()}
    seen = replace(plain, matched=dict.fromkeys(chance, half), by_chance=limits)
    assert seen.title == f"{plain.title_of('At')}; {said}"
