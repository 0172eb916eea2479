"""What measures the claims of source S2, against truths found another way."""

import os
import re
from collections import Counter
from math import exp, log

import numpy as np
import pytest

from glassformer.claims import _heads, shakespeare
from glassformer.claims import _printed_shakespeare as printed
from glassformer.claims._claim import verdict
from glassformer.experiment import load


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
    one = load("plus_last_even").tables()
    other = load("plus_last_even", ["train.rate=1e-3", "architecture.width=4", "train.judged=10"]).tables()
    assert shakespeare._differing(one, other) == ["architecture.width", "train.rate"]


def test_rank_correlation() -> None:
    assert shakespeare._ranks([1.0, 5.0, 9.0], [[2.0, 3.0, 700.0]]) == pytest.approx(1)
    assert shakespeare._ranks([1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 3.0, 2.0]) == pytest.approx(1 - 6 * 14 / (4 * 15))


def test_the_printed_logs_end_where_training_stops() -> None:
    """Each of the three ends with its first epoch that is no better."""
    for each in printed.LOGS:
        assert shakespeare._stopped(each.validation) == len(each.validation) == len(each.train) == each.epoch + 1


def test_what_length_and_width_cost_by_hand() -> None:
    """Two blocks and 500 entries; tokens, width, heads and neurons of the three models, as the source gives them."""

    def step(context: int, width: int, heads: int, neurons: int, parameters: int) -> "tuple[int, int]":
        """Numbers held for a step of 512 windows with Adam, and operations for each window."""
        tokens, maps = 512 * context, 512 * heads * context**2
        block = 4 * tokens * width + 4 * tokens * width + 2 * maps + 2 * tokens * neurons
        matrices = 4 * width**2 + 2 * width * neurons
        products = 2 * 2 * context**2 * width  # queries with keys, attention with values
        operations = 3 * (2 * (2 * context * matrices + products) + 2 * context * width * 500)
        return 4 * parameters + tokens * width + 2 * block + 2 * tokens * 500, operations

    base, long, wide = step(64, 128, 4, 256, 391_552), step(128, 128, 4, 256, 391_552), step(64, 256, 8, 512, 1_307_392)
    found = shakespeare.cost_of_length.measure()
    for name, other, kind in (("memory, longer", long, 0), ("memory, wider", wide, 0), ("whole, longer", long, 1),
                              ("whole, wider", wide, 1)):  # fmt: skip
        assert found.numbers[name] == pytest.approx(other[kind] / base[kind], rel=1e-12), name
    assert (round(long[0] / base[0], 2), round(wide[0] / base[0], 2)) == (2.38, 1.82)
    assert f"holds {4 * base[0] / 1e6:.0f} MB" in found.truth
    assert verdict(shakespeare.cost_of_length, found) == "corrected"


def test_a_table_of_two_tokens_with_a_chosen_weight_beats_the_published_models() -> None:
    """Counted with dictionaries, token by token; words are cut by another expression."""
    if not os.environ.get("GLASSFORMER_DATA"):
        pytest.skip("GLASSFORMER_DATA names no folder of data sets")
    task = load("shakespeare_bpe").task
    stream = task.stream.tolist()

    def costs(counted: "list[int]", new: "list[int]", weight: float) -> "list[float]":
        follow = [Counter(zip(*(counted[k:] for k in range(n + 1)), strict=False)) for n in range(3)]
        total, kinds = ([Counter() for _ in range(3)] for _ in range(2))
        for n, pairs in enumerate(follow):
            for key, many in pairs.items():
                total[n][key[:-1]] += many
                kinds[n][key[:-1]] += 1
        found = []
        for place, token in enumerate(new):
            chance = 1 / 500
            for n in range(min(place, 2) + 1):
                history = tuple(new[place - n : place])
                if history in total[n]:
                    due = weight * kinds[n][history]
                    chance = (follow[n][*history, token] + due * chance) / (total[n][history] + due)
            found.append(-log(chance))
        return found

    train, held_out = stream[:358_122], stream[358_122:]
    most = len(train) * 9 // 10
    chosen = min((3.0, 3.5, 4.0), key=lambda weight: sum(costs(train[:most], train[most:], weight)))
    often = [min(k, len(held_out) - k, 64) for k in range(1, len(held_out))]
    lost = sum(a * b for a, b in zip(often, costs(train, held_out, chosen)[1:], strict=True)) / sum(often)
    found = shakespeare.like_counting.measure()
    assert (found.numbers["weight"], found.numbers["with a chosen weight"]) == (chosen, pytest.approx(exp(lost)))
    assert exp(lost) < min(each.best for each in printed.LOGS)
    words = re.findall(r"[A-Za-z0-9]+", task.text)
    pieces = {word: len(task.encode(word)) for word in set(words)}
    assert found.numbers["words in pieces"] == pytest.approx(np.mean([pieces[word] > 1 for word in words]))
    assert "3 of the 3 published models (60.00, 63.24, 58.35) are worse than that" in found.truth
