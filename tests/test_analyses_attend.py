"""The analyses of attention, on models whose answers are known, and against plain recomputation."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer import tasks
from glassformer.analyses import _pairs, _sought
from glassformer.analyses._result import Labelled, percent
from glassformer.analyses.attend.attention import attention, say, told
from glassformer.analyses.attend.attention_history import attention_history
from glassformer.analyses.attend.attention_profile import attention_profile, favourite
from glassformer.analyses.attend.attention_profile import say as say_profile
from glassformer.analyses.attend.head_roles import head_roles
from glassformer.analyses.attend.qkv import qkv
from glassformer.analyses.attend.qkv import say as say_qkv
from glassformer.analyses.attend.qkv_overview import qkv_overview
from glassformer.analyses.attend.query_key_space import beats, by_position, latest_wins, means, query_key_space, recency, say_focus
from glassformer.analyses.attend.pair_scores import TERMS, pair_scores, spread
from glassformer.analyses.attend.scoring import scoring
from glassformer.errors import CallError
from glassformer.run import Run
from hand_wired import previous_token, write_run

TEXT = "4 9 + 4 10 7 + 10"


@pytest.fixture
def back(tmp_path: Path) -> Run:
    return previous_token(tmp_path / "back")


@pytest.fixture
def even(tmp_path: Path) -> Run:
    """+ asks along feature 0, where the keys of even numbers lie 1 out, the rest at -1; later ones 0.1 further."""
    numbers = np.array([[1.0 if k % 2 == 0 else -1.0, 0.0] for k in range(11)])
    token = np.vstack([numbers, [-1.0, 3.0]])  # feature 1 says: I am +
    position = np.column_stack([0.1 * np.arange(8), np.zeros(8)])
    block = {"query": np.array([[0.0, 0.0], [1.0, 0.0]]), "key": np.eye(2), "value": np.diag([2.0, 1.0])}
    return write_run(tmp_path / "even", token=token, position=position, blocks=[block])


def test_four_terms_sum_to_the_scores(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    block = {name: rng.normal(size=(4, 4)) for name in ("query", "key", "value")} | {
        "query_bias": rng.normal(size=4),
        "key_bias": rng.normal(size=4),
        "value_bias": np.zeros(4),
    }
    run = write_run(
        tmp_path / "r",
        token=rng.normal(size=(12, 4)),
        position=rng.normal(size=(6, 4)),
        blocks=[block],
        heads=2,
        head_width=2,
    )
    for head in (0, 1):
        seen = pair_scores(run, head=head)
        every = _pairs.pairs(run)
        exact = np.einsum("tpf,usf->tpus", every.at("query", head), every.at("key", head)) * every.scale
        total = sum(spread([seen.terms[name].values for name in TERMS], exact.shape))
        np.testing.assert_allclose(total, exact, atol=2e-5)
        drawn = seen.scores["scores"].values.reshape(exact.shape)
        future = np.broadcast_to(~np.tri(6, dtype=bool)[None, :, None, :], exact.shape)
        assert np.isnan(drawn[future]).all()
        np.testing.assert_allclose(drawn[~future], exact[~future], atol=2e-5)
        assert seen.shares.values.sum() == pytest.approx(1)


def test_means_and_shares_are_over_keys_that_can_be_met(tmp_path: Path) -> None:
    """A query meets any token elsewhere, but at its own position only itself; counted one query at a time."""
    rng = np.random.default_rng(4)
    block = {name: rng.normal(size=(2, 2)) for name in ("query", "key", "value")}
    run = write_run(tmp_path / "r", token=rng.normal(size=(12, 2)), position=rng.normal(size=(4, 2)), blocks=[block])
    seen, every = pair_scores(run), _pairs.pairs(run)
    scores = np.einsum("tpf,usf->tpus", every.at("query", 0), every.at("key", 0)) * every.scale
    terms = spread([seen.terms[name].values for name in TERMS], scores.shape)
    groups = {name: list(tokens) for name, tokens in run.task.groups.items()}
    gathered: dict[tuple[str, str], list[float]] = {}
    power, along = 0.0, np.zeros(4)
    for token in range(12):
        mine = next(name for name, tokens in groups.items() if token in tokens)
        for place in range(4):
            keys = [(u, s) for u in range(12) for s in range(4) if s < place or (s == place and u == token)]
            own = np.array([scores[token, place, u, s] for u, s in keys])
            power += ((own - own.mean()) ** 2).sum()
            for k, term in enumerate(terms):
                part = np.array([term[token, place, u, s] for u, s in keys])
                along[k] += ((part - part.mean()) * (own - own.mean())).sum()
            for (u, _), score in zip(keys, own, strict=True):
                yours = next(name for name, tokens in groups.items() if u in tokens)
                gathered.setdefault((mine, yours), []).append(float(score))
    np.testing.assert_allclose(seen.shares.values, along / power, rtol=1e-4)
    for (mine, yours), found in gathered.items():
        i, j = (seen.by_group.axes[axis].labels.index(name) for axis, name in (("query_group", mine), ("key_group", yours)))
        assert seen.by_group.values[i, j] == pytest.approx(np.mean(found), rel=1e-4)


def test_position_alone_carries_the_previous_token(back: Run) -> None:
    seen = pair_scores(back)
    np.testing.assert_allclose(seen.shares.values, [0, 0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(seen.terms["place·place"].values, 100 * np.eye(8, k=-1) / np.sqrt(8), rtol=1e-6)
    rows = pair_scores(back, rows="+").scores["scores"]
    assert rows.axes["query"].labels[2] == "+@2"
    np.testing.assert_array_equal(rows.values, seen.scores["scores"].values[88:96])


def test_focus_on_a_query_that_wants_even_numbers(even: Run) -> None:
    seen = query_key_space(even, query="+@5")
    scale = 1 / np.sqrt(2)
    assert seen.scores.values[4, 3] == pytest.approx(3 * 1.3 * scale)
    assert seen.scores.values[7, 0] == pytest.approx(3 * -1.0 * scale)
    assert recency(seen, "even") == pytest.approx(0.3 * scale)
    assert means(seen)["even"] == pytest.approx(3 * 1.2 * scale)  # positions 0 to 4
    assert seen.top.axes["key"].labels == ("0@4", "2@4", "4@4", "6@4", "8@4")
    can = seen.can_see.values.astype(bool)
    assert can[:, :5].all()
    assert not can[:, 6:].any()
    assert [t for t in range(12) if can[t, 5]] == [11]  # at its own position a query meets only itself
    x, y = (float(seen.field.axes[axis].labels[2]) for axis in ("horizontal", "vertical"))
    assert seen.field.values[2, 2] == pytest.approx(seen.queries.values[11, 5] @ [x, y] * scale, rel=1e-3)
    assert beats(seen, "even") == 1
    assert beats(seen, "odd") < 0.2  # odd keys never beat even ones, but the later + keys sometimes
    assert latest_wins(seen, "even") == 1
    told = say_focus(seen)
    assert told.title == (
        "+ at position 5 always scores an even key above any other key, "
        "and the later of two even keys above the earlier"
    )
    assert "gives even keys a score of 2.5 on average, odd keys −1.7 and sign keys −1.7" in told.caption


def test_the_answer_is_among_the_keys_of_the_focus(even: Run) -> None:
    seen = query_key_space(even)  # the last + of the showcase 4 9 + 4 10 7 + 10 must find the 10
    assert (seen.query, seen.answer) == ("+@6", "10@4")
    assert seen.top.axes["key"].labels == ("0@5", "2@5", "4@5", "6@5", "8@5", "10@4")
    assert seen.top.values[-1] == pytest.approx(3 * 1.4 / np.sqrt(2), rel=1e-6)
    assert query_key_space(even, query="+@5").answer == ""  # not a query of the showcase


def test_focus_on_a_query_that_wants_a_position(back: Run) -> None:
    seen = query_key_space(back, query="+@5")
    place, share = by_position(seen)
    assert place == 4
    assert share == pytest.approx(1)
    assert "keys at position 4 highest on average: the position accounts for 100 %" in say_focus(seen).title


def test_scoring_follows_the_input(even: Run) -> None:
    seen = scoring(even, sequence=TEXT)
    trace = even.trace(TEXT)
    np.testing.assert_array_equal(seen.scores.values, trace["scores"][0, 0])
    np.testing.assert_array_equal(seen.attention.values, trace["attention"][0, 0])
    np.testing.assert_allclose(
        seen.drawn_query.values @ seen.drawn_key.values.T / np.sqrt(2), trace["scores"][0, 0], atol=1e-6
    )
    assert seen.source[6] == 4
    assert seen.product == "query · key / √2"
    overview = qkv_overview(even, sequence=TEXT)
    np.testing.assert_allclose(overview.mixed.values, trace["mixed"][0, 0], atol=1e-6)
    np.testing.assert_allclose(overview.planes_of["position"].values[:, 0], 0.1 * np.arange(8), rtol=1e-6)


def test_qkv_images_and_singular_values(even: Run) -> None:
    seen = qkv(even)
    np.testing.assert_allclose(seen.singular.values, [[1, 0], [1, 1], [2, 1]], atol=1e-9)
    np.testing.assert_allclose(seen.drawn["value"].values, seen.exact["embedded"].values * [2, 1], atol=1e-6)
    np.testing.assert_allclose(seen.reads.values, [[0, 1], [0.5, 0.5], [0.8, 0.2]], atol=1e-9)
    assert say_qkv(seen).title == (
        "The query matrix reads almost only feature 1 (100 % of its squared weights); "
        "the value matrix stretches most, up to 2.00 ×"
    )
    circle = seen.circles["value"].values
    np.testing.assert_allclose((circle[:, 0] / 2) ** 2 + circle[:, 1] ** 2, 1, atol=1e-9)


def test_profile_and_roles_of_a_previous_token_head(back: Run) -> None:
    profile = attention_profile(back)
    by = dict(zip(profile.by_distance.axes["distance"].labels, profile.by_distance.values[0, 0, 0], strict=True))
    assert by["1"] == pytest.approx(1)
    assert by["0"] == pytest.approx(0, abs=1e-9)  # the first position, which has only itself, is never asked
    assert profile.uniform_by_distance.values[7] == pytest.approx(1 / 8)
    roles = head_roles(back)
    share = dict(zip(roles.share.axes["role"].labels, roles.share.values[0, 0], strict=True))
    assert share["previous"] == pytest.approx(1)
    assert share["2 back"] == pytest.approx(0, abs=1e-9)
    uniform = dict(zip(roles.uniform.axes["role"].labels, roles.uniform.values, strict=True))
    assert uniform["previous"] == pytest.approx(np.mean([1 / n for n in range(2, 9)]))
    assert uniform["self"] == pytest.approx(np.mean([1 / n for n in range(1, 9)]))
    np.testing.assert_allclose(roles.excess.values, 100 * (roles.share.values - roles.uniform.values))
    assert roles.entropy.values[0, 0] == pytest.approx(0, abs=1e-6)
    assert roles.distance.values[0, 0] == pytest.approx(7 / 8)


def test_profile_tells_queries_that_the_rule_asks_at_from_the_others(even: Run) -> None:
    profile = attention_profile(even)
    windows = even.task.examples(8, "validation", 256).windows[:, :8]
    asked: dict[int, list[tuple[float, float, float]]] = {d: [] for d in range(8)}
    other: dict[int, list[float]] = {d: [] for d in range(8)}
    count = 0
    for window in windows.tolist():
        weights = even.trace(np.array(window))["attention"][0, 0]
        for q in range(8):
            last = [k for k in range(q) if window[k] % 2 == 0]  # the rule, written once more: the last even number
            count += window[q] == 11 and bool(last)
            for k in range(q + 1):
                if window[q] == 11 and last:
                    asked[q - k].append((float(weights[q, k]), 1 / (q + 1), float(k == last[-1])))
                else:
                    other[q - k].append(float(weights[q, k]))
    assert profile.asked == count
    mean, alike, there = np.array([np.mean(asked[d], axis=0) for d in range(8)]).T
    np.testing.assert_allclose(profile.by_distance.values[0, 0, 0], mean, rtol=1e-5)
    np.testing.assert_allclose(profile.uniform_by_distance.values, alike)
    np.testing.assert_allclose(profile.answer["distance"].values, there)
    np.testing.assert_allclose(profile.by_distance.values[4, 0, 0], [np.mean(other[d]) for d in range(8)], rtol=1e-5)
    low = [np.quantile([each[0] for each in asked[d]], 0.1) for d in range(8)]
    np.testing.assert_allclose(profile.by_distance.values[1, 0, 0], low, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(profile.seen_by_distance.values, [len(asked[d]) / count for d in range(8)])
    title = say_profile(profile).title
    assert title.startswith("Where the rule asks, the position just before gets")
    assert title.endswith(f"the answer lies there in {percent(float(there[1]))}")


def test_a_position_that_few_queries_can_see_is_no_preference(back: Run) -> None:
    seen = attention_profile(back)
    lines = seen.by_position.values.copy()
    lines[0, 0, 0, 7] = 1  # only the last query can see position 7: what it gets there is the mask's doing
    by_distance = seen.by_distance.values.copy()
    by_distance[0, 0, 0] = [0.5, 0.3, *[0.0] * 6]
    other = replace(
        seen,
        by_position=replace(seen.by_position, values=lines),
        by_distance=replace(seen.by_distance, values=by_distance),
    )
    assert favourite(other, 0, 0).where == "the query's own position"
    lines[0, 0, 0, 0] = 1  # every query can see position 0
    assert favourite(other, 0, 0).where == "position 0"


def test_the_title_speaks_of_one_head_and_names_it(back: Run) -> None:
    seen = attention(back, sequence=TEXT)
    asks = [k for k, place in enumerate(seen.source) if place >= 0]
    assert len(asks) == 2
    first, second = seen.on_answer.values.copy(), seen.on_answer.values.copy()
    first[..., asks], second[..., asks] = (0.25, 0.5), (0.125, 0.75)  # the mean of the second head is larger
    axes = dict(seen.on_answer.axes) | {"head": ("0", "1")}
    both = np.concatenate([first, second], axis=1)
    weights = np.repeat(seen.attention.values, 2, axis=1)
    two = replace(
        seen,
        on_answer=Labelled(both, axes, "share"),
        attention=Labelled(weights, dict(seen.attention.axes) | {"head": ("0", "1")}, "share"),
    )
    assert told(two) == (0, 1)
    title = say(two).title
    assert "12 % of its attention (head 1)" in title or "13 % of its attention (head 1)" in title
    assert "75 %" in title
    assert "25 %" not in title
    assert "25 % of its attention (head 0)" in say(two, [(0, 0)]).title


@pytest.mark.parametrize(("name", "copies"), [("plus_last_even", True), ("lucky7", True), ("even_abs_diff", False)])
def test_what_is_framed_is_the_answer_only_where_the_rule_copies_it(name: str, copies: bool, tmp_path: Path) -> None:
    task = tasks.find(name)()
    run = write_run(
        tmp_path / "r",
        token=np.zeros((len(task.vocabulary), 2)),
        position=np.zeros((8, 2)),
        blocks=[{"value": np.eye(2)}],
        task=name,
    )
    assert _sought.copied(run) is copies
    assert _sought.sought(copies) == ("the answer" if copies else "the token the rule needs")


def test_history_of_one_step(back: Run) -> None:
    seen = attention_history(back, sequence=TEXT)
    assert seen.query == 6
    np.testing.assert_allclose(seen.weights.values[0], np.eye(8)[5], atol=1e-6)
    assert seen.entropy.values[0] == pytest.approx(0, abs=1e-6)
    assert seen.uniform == pytest.approx(1 / 7)
    with pytest.raises(CallError, match="query = 9"):
        attention_history(back, sequence=TEXT, query=9)


def test_a_model_that_asks_nothing_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", token=np.zeros((12, 2)), position=np.zeros((8, 2)), blocks=[{"value": np.eye(2)}])
    for analysis in (qkv, query_key, scoring, score_atlas):
        with pytest.raises(CallError, match="no queries"):
            analysis(run)
