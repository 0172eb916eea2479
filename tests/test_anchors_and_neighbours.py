"""Which keys everybody looks at, and which words lie near which: on models whose answer is known."""

import numpy as np
import pytest

import hand_wired
from glassformer.analyses.attend.anchors import anchors
from glassformer.analyses.know.neighbours import neighbours
from glassformer.errors import CallError, MissingError
from glassformer.figures import plot_anchors, plot_neighbours
from small_runs import TEXT, run_of


def looking_for_plus(folder):
    """Every position gives e² times the weight to a + that it gives to any other token, wherever it stands."""
    token = np.eye(12)
    key = np.zeros((12, 12))
    key[11] = 2 * np.sqrt(12)  # scores are divided by the root of the width
    block = {"query": np.full((12, 12), 1 / 12), "key": key, "value": np.zeros((12, 12))}
    return hand_wired.write_run(folder, token=token, position=np.zeros((8, 12)), blocks=[block])


def test_a_token_that_all_look_for_is_the_anchor(tmp_path):
    run = looking_for_plus(tmp_path / "run")
    seen = anchors(run)
    windows = run.task.examples(8, "validation", seen.windows).windows[:, :8]
    got, due = np.zeros(12), np.zeros(12)
    for window in windows.tolist():
        for query in range(8):
            weights = np.exp([2.0 * (token == 11) for token in window[: query + 1]])
            for key in range(query):
                got[window[key]] += weights[key] / weights.sum()
                due[window[key]] += 1 / (query + 1)
    words = seen.received.axes["token"].labels
    assert words[0] == "+"
    ratio = dict(zip(run.task.vocabulary, got / due, strict=True))
    np.testing.assert_allclose(seen.received.values[0, 0], [ratio[word] for word in words], rtol=1e-4)
    assert f"“+”: it receives {ratio['+']:.1f} times" in seen.title
    assert seen.by_group.values[0, 0, seen.by_group.axes["group"].labels.index("sign")] == pytest.approx(
        ratio["+"], rel=1e-4
    )


def test_without_a_preference_no_token_is_an_anchor(tmp_path):
    flat = {name: np.zeros((12, 12)) for name in ("query", "key", "value")}
    run = hand_wired.write_run(tmp_path / "run", token=np.eye(12), position=np.zeros((8, 12)), blocks=[flat])
    seen = anchors(run)
    np.testing.assert_allclose(seen.received.values, 1, rtol=1e-5)
    assert seen.title.startswith("No token is an anchor")


def test_neighbours_are_the_tokens_of_the_largest_cosine():
    run = run_of(TEXT)
    table = run.weights()["token"].astype(float)
    word = run.task.vocabulary[30]
    cosine = table @ table[30] / np.linalg.norm(table, axis=1) / np.linalg.norm(table[30])
    order = [k for k in np.argsort(-cosine) if k != 30][:15]
    seen = neighbours(run, token=word)
    assert seen.nearest == (tuple(run.task.vocabulary[k] for k in order),)
    np.testing.assert_allclose(seen.cosine.values[0], cosine[order], rtol=1e-5)
    every = neighbours(run)
    assert all(name not in near for name, near in zip(every.words, every.nearest, strict=True))
    assert len(plot_neighbours(seen).axes[0].patches) >= 15


def test_an_analogy_that_was_built_in_is_found(tmp_path):
    rng = np.random.default_rng(3)
    token = rng.normal(size=(12, 24))
    token /= np.linalg.norm(token, axis=1, keepdims=True)
    token[7] = token[4] - token[1] + token[2] + 0.05 * rng.normal(size=24)
    block = {name: np.zeros((24, 24)) for name in ("query", "key", "value")}
    run = hand_wired.write_run(tmp_path / "run", token=token, position=np.zeros((8, 24)), blocks=[block])
    seen = neighbours(run, token="4", minus="1", plus="2")
    assert seen.nearest[0][0] == "7"
    assert not {"4", "1", "2"} & set(seen.nearest[0])
    assert seen.title.startswith("Nearest to 4 − 1 + 2 lie 7 (0.9")
    with pytest.raises(CallError, match="three tokens"):
        neighbours(run, token="4", minus="1")
    with pytest.raises(MissingError, match="vocabulary"):
        neighbours(run, token="king")


def test_anchors_stand_as_drawn_in_the_numbers():
    seen = anchors(run_of(TEXT))
    panel = plot_anchors(seen).axes[0]
    drawn = np.ma.filled(panel.images[0].get_array(), np.nan)
    np.testing.assert_allclose(drawn, seen.received.values.reshape(-1, drawn.shape[0]).T)
