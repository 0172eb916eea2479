"""What measures the claims of source S2, against truths found another way."""

import numpy as np
import pytest

from glassformer.claims import _heads, shakespeare
from glassformer.claims import _printed_shakespeare as printed


def _attention(row: "dict[int, np.ndarray] | None", many: int = 8) -> np.ndarray:
    """(1, 1, 1, query, key): everything in view alike, or what `row` gives each query."""
    found = np.tri(many) / np.tri(many).sum(axis=1, keepdims=True)
    for query, weights in (row or {}).items():
        found[query] = weights
    return found[None, None, None]


def test_heads_that_look_everywhere_alike() -> None:
    """Worked out by hand: evenness and punctuation are 1, the distance is half of what lies before."""
    seen = _heads.measured(_attention(None), np.arange(8)[None] % 3 == 0)
    assert seen.even == pytest.approx(1)
    assert seen.marks == pytest.approx(1)
    assert seen.distance == pytest.approx(np.mean(np.arange(8) / 2))
    assert seen.near == pytest.approx(np.mean([4 / 5, 4 / 6, 4 / 7, 4 / 8]))  # itself and three, of 5 to 8 in view


def test_heads_that_look_at_one_place() -> None:
    itself = _heads.measured(np.eye(8)[None, None, None], np.ones((1, 8), bool))
    assert (itself.near, itself.distance, itself.even, itself.marks) == (1, 0, 0, 0)
    mark = np.arange(8)[None] == 2  # everybody who can looks at position 2, where a mark stands
    striped = _attention({query: np.eye(8)[2] for query in range(3, 8)})
    due = sum(1 / (query + 1) for query in range(3, 8))
    assert _heads.measured(striped, mark).marks == pytest.approx(5 / due)


def test_halfway() -> None:
    assert _heads.halfway(np.array([0, 10, 20, 30]), np.array([1.0, 1.4, 1.6, 2.0])) == 20
    assert _heads.halfway(np.array([0, 10, 20]), np.array([5.0, 2.0, 1.0])) == 10


def test_the_scheduler_against_pytorchs() -> None:
    """Counted by PyTorch's own scheduler where it is installed, else by what its documentation says."""
    losses = [5.0, 4.0, 4.1, 4.1, 4.1, 3.9, 4.0, 4.0]
    try:
        import torch
    except ImportError:
        halved = 2  # after the second bad epoch in a row: at epochs 4 and 8
    else:
        optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.5, patience=printed.PATIENCE)
        for loss in losses:
            plateau.step(loss)
        halved = round(-np.log2(optimiser.param_groups[0]["lr"]))
    assert shakespeare._halvings(losses) == halved == 2
    assert shakespeare._stopped(losses) == 3


def test_order_is_invisible_to_one_block_and_seen_by_two() -> None:
    assert shakespeare._shuffled(1) < 1e-9
    assert shakespeare._shuffled(2) > 1e-3


def test_settings_that_differ() -> None:
    from glassformer.experiment import load

    one = load("plus_last_even").tables()
    other = load("plus_last_even", ["train.rate=1e-3", "architecture.width=4", "train.judged=10"]).tables()
    assert shakespeare._differing(one, other) == ["architecture.width", "train.rate"]


def test_rank_correlation() -> None:
    assert shakespeare._ranks([1.0, 5.0, 9.0], [[2.0, 3.0, 700.0]]) == pytest.approx(1)
    assert shakespeare._ranks([1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 3.0, 2.0]) == pytest.approx(1 - 6 * 14 / (4 * 15))


def test_the_printed_logs_end_where_training_stops() -> None:
    """Each of the three ends with its first epoch that is no better."""
    for log in printed.LOGS:
        assert shakespeare._stopped(log.validation) == len(log.validation) == len(log.train) == log.epoch + 1
