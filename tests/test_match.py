"""Heads and neurons paired by what they do: a copy with its parts in another order must be recognised."""

import numpy as np
import pytest

from glassformer.analyses import _match
from glassformer.analyses.aligned import aligned, say
from glassformer.experiment import from_tables
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
        found, best = _match.assignment(gain), _match.ordered(gain)
        assert sorted(found) == list(range(many))
        assert gain[range(many), found].sum() == pytest.approx(gain[range(many), best].sum())


def test_a_large_hidden_order_is_found() -> None:
    order = np.random.default_rng(0).permutation(60)
    noise = 0.1 * np.random.default_rng(1).random((60, 60))
    assert _match.assignment(np.eye(60)[order] + noise) == order.tolist()


def test_a_copy_in_another_order_is_recognised_part_by_part(run: Run) -> None:
    looks = [_match.looks(run, 0, member) for member in range(3)]
    fires = [_match.fires(run, 0, member) for member in range(3)]
    for block in range(2):
        assert _match.ordered(_match.same_looks(looks[1][block], looks[0][block])) == HEAD_ORDER
        alive = np.ptp(fires[0][block], axis=-1) > 0
        pairs = _match.assignment(_match.same_fires(fires[1][block], fires[0][block]))
        assert [p for p in pairs if alive[p]] == [p for p in NEURON_ORDER if alive[p]]
    assert _match.unlike_heads(looks[0], looks[1]) == pytest.approx(0, abs=1e-5)
    assert _match.unlike_neurons(fires[0], fires[1]) == pytest.approx(0, abs=1e-5)
    assert _match.unlike_heads(looks[0], looks[2]) > 0.2
    assert _match.unlike_neurons(fires[0], fires[2]) > 0.2


def test_aligned_tells_the_copy_from_the_stranger(run: Run) -> None:
    seen = aligned(run)
    for kind in ("heads", "neurons"):
        found = dict(zip(seen.matched[kind].axes["pair"], seen.matched[kind].values, strict=True))
        assert found["1 and 2"] == pytest.approx(0, abs=1e-5)
        assert found["1 and 3"] == pytest.approx(found["2 and 3"], abs=1e-4)
        low, half, high = seen.by_chance[kind].values
        assert 0.1 < low <= half <= high
    assert "the 3 heads of each block, in any order," in say(seen).caption
