"""The analyses of attention, on models whose answers are known, and against plain recomputation."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer import analyses, tasks
from glassformer.analyses import _pairs, _sought
from glassformer.analyses._result import Labelled, percent
from glassformer.analyses.attend.attention import attention, told
from glassformer.analyses.attend.attention_history import attention_history
from glassformer.analyses.attend.attention_profile import attention_profile, favourite
from glassformer.analyses.attend.attention_space import attention_space
from glassformer.analyses.attend.head_roles import head_roles
from glassformer.analyses.attend.pair_scores import TERMS, pair_scores, spread
from glassformer.analyses.attend.qkv import qkv
from glassformer.analyses.attend.qkv_overview import qkv_overview
from glassformer.analyses.attend.query_key_space import QueryKeySpace, query_key_space
from glassformer.analyses.attend.score_field import score_field
from glassformer.analyses.attend.scoring import scoring
from glassformer.errors import CallError, MissingError
from glassformer.figures import _draw, plot_score_field
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
        assert seen.scores is not None
        drawn = seen.scores.values
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
        i, j = (
            seen.by_group.axes[axis].labels.index(name) for axis, name in (("query_group", mine), ("key_group", yours))
        )
        assert seen.by_group.values[i, j] == pytest.approx(np.mean(found), rel=1e-4)


def test_position_alone_carries_the_previous_token(back: Run) -> None:
    seen = pair_scores(back)
    np.testing.assert_allclose(seen.shares.values, [0, 0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(seen.terms["place·place"].values, 100 * np.eye(8, k=-1) / np.sqrt(8), rtol=1e-6)
    rows = pair_scores(back, rows="+").scores
    assert rows is not None
    assert seen.scores is not None
    assert rows.axes["query_token"].values == ("+",)
    np.testing.assert_array_equal(rows.values, seen.scores.values[11:])


def by_group(seen: QueryKeySpace, statistic: str) -> dict[str, float]:
    values = getattr(seen, f"group_{statistic}")
    return dict(zip(values.axes["group"].labels, values.values.tolist(), strict=True))


def test_focus_on_a_query_that_wants_even_numbers(even: Run) -> None:
    field = score_field(even, query="+@5")
    seen = field.one
    assert seen is not None
    scale = 1 / np.sqrt(2)
    assert seen.scores.values[4, 3] == pytest.approx(3 * 1.3 * scale)
    assert seen.scores.values[7, 0] == pytest.approx(3 * -1.0 * scale)
    assert by_group(seen, "slope")["even"] == pytest.approx(0.3 * scale)
    assert seen.means["even"] == pytest.approx(3 * 1.2 * scale)  # positions 0 to 4
    assert seen.top.axes["key_pair"].values == tuple((str(even), 4) for even in (0, 2, 4, 6, 8))
    assert seen.top.axes["key_pair"].labels[:2] == ("0₄", "2₄")
    can = seen.can_see.values.astype(bool)
    assert can[:, :5].all()
    assert not can[:, 6:].any()
    assert [t for t in range(12) if can[t, 5]] == [11]  # at its own position a query meets only itself
    x, y = (seen.field.axes[axis].values[2] for axis in ("horizontal", "vertical"))
    assert seen.field.values[2, 2] == pytest.approx(seen.queries.values[11, 5] @ [x, y] * scale)
    assert by_group(seen, "above")["even"] == 1
    assert by_group(seen, "above")["odd"] < 0.2  # odd keys never beat even ones, but the later + keys sometimes
    assert by_group(seen, "later")["even"] == 1
    assert field.title == (
        "+ at position 5 always scores an even key above any other key, "
        "and the later of two even keys above the earlier"
    )
    told = _draw.of(plot_score_field(field)).words
    assert "gives even keys a score of 2.5 on average, odd keys −1.7 and sign keys −1.7" in told.caption


def test_the_answer_is_among_the_keys_of_the_focus(even: Run) -> None:
    seen = query_key_space(even)  # the last + of the showcase 4 9 + 4 10 7 + 10 must find the 10
    assert (seen.query, seen.answer) == (("+", 6), ("10", 4))
    assert seen.top.axes["key_pair"].values == (*((str(even), 5) for even in (0, 2, 4, 6, 8)), ("10", 4))
    assert seen.top.values[-1] == pytest.approx(3 * 1.4 / np.sqrt(2), rel=1e-6)
    assert query_key_space(even, query="+@5").answer is None  # not a query of the showcase
    other = query_key_space(even, sequence="8 + 3 7")  # here the + at position 1 must find the 8
    assert (other.query, other.answer) == (("+", 1), ("8", 0))
    assert {other.pairs.values[k] for k in other.example} == {("8", 0), ("+", 1), ("3", 2), ("7", 3)}


def test_focus_on_a_query_that_wants_a_position(back: Run) -> None:
    field = score_field(back, query="+@5")
    assert field.one is not None
    assert field.one.best_position == 4
    assert field.one.position_share == pytest.approx(1)
    assert "keys at position 4 highest on average: the position accounts for 100 %" in field.title


def test_every_query_of_an_input_has_a_field_and_a_span(even: Run) -> None:
    seen = score_field(even, sequence=TEXT, every=True)
    assert seen.fields is not None
    assert seen.spans is not None
    scores, query = even.trace(TEXT)["scores"][0, 0], even.trace(TEXT)["query"][0, 0]
    for q in range(1, 8):
        assert seen.spans.values[q] == pytest.approx(np.ptp(scores[q, : q + 1]))
    assert np.isnan(seen.spans.values[0])  # it can look at itself only
    assert seen.order[0] == 6  # no + stands further back than this one
    x, y = (seen.fields.axes[axis].values[k] for axis, k in (("horizontal", 1), ("vertical", 7)))
    np.testing.assert_allclose(seen.fields.values[:, 7, 1], query @ [x, y] / np.sqrt(2), rtol=1e-6, atol=1e-9)
    assert seen.title.startswith("+ at position 6 tells its keys apart most")
    with pytest.raises(CallError, match="exclude each other"):
        score_field(even, query="+@5", every=True)


def test_attention_among_all_pairs_is_that_of_a_crowd(even: Run) -> None:
    seen, scores = attention_space(even), pair_scores(even).scores
    assert seen.shares is not None
    assert scores is not None
    words, even_share = seen.shares.axes["query_token"].labels, []
    for token, place in (("+", 5), ("4", 2), ("7", 0)):
        row = words.index(token)
        crowd = [(other, at) for at in range(place) for other in range(12)] + [(row, place)]
        weights = np.exp([scores.values[row, place, other, at] for other, at in crowd])
        found = seen.shares.values[row, place]
        for (other, at), weight in zip(crowd, weights / weights.sum(), strict=True):
            assert found[other, at] == pytest.approx(weight * len(crowd), rel=1e-5)
        assert np.isfinite(found).sum() == len(crowd)
        even_share.append(np.nanmean(found))
    np.testing.assert_allclose(even_share, 1, rtol=1e-6)  # 1 is what each would get if it looked everywhere alike
    assert seen.scores is None


def test_the_space_of_attention_has_the_scores_of_all_pairs_or_the_attention_on_an_input(even: Run) -> None:
    atlas, demo = attention_space(even, maps="scores"), attention_space(even, maps="demo", sequence=TEXT)
    assert atlas.scores == pair_scores(even).scores
    assert atlas.attention is None
    assert demo.scores is None
    assert demo.attention is not None
    weights = even.trace(TEXT)["attention"][0, 0]
    np.testing.assert_array_equal(demo.attention.values[np.tri(8, dtype=bool)], weights[np.tri(8, dtype=bool)])
    assert np.isnan(demo.attention.values[~np.tri(8, dtype=bool)]).all()
    with pytest.raises(MissingError, match="'neither' in maps"):
        attention_space(even, maps="neither")  # type: ignore[arg-type]


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
    np.testing.assert_allclose(overview.parts["position"].values[:, 0], 0.1 * np.arange(8), rtol=1e-6)
    assert overview.scored == seen
    assert overview.images == replace(qkv(even, sequence=TEXT), exact={})
    assert (seen.followed, seen.best) == (6, 4)
    row = trace["scores"][0, 0, 6, :7]
    assert seen.lead == pytest.approx(np.sort(row)[-1] - np.sort(row)[-2])


def test_qkv_images_and_singular_values(even: Run) -> None:
    seen = qkv(even)
    np.testing.assert_allclose(seen.singular.values, [[1, 0], [1, 1], [2, 1]], atol=1e-9)
    np.testing.assert_allclose(seen.drawn["value"].values, seen.exact["embedded"].values * [2, 1], atol=1e-6)
    np.testing.assert_allclose(seen.reads.values, [[0, 1], [0.5, 0.5], [0.8, 0.2]], atol=1e-9)
    assert seen.title == (
        "The query matrix reads almost only feature 1 (100 % of its squared weights); "
        "the value matrix stretches most, up to 2.00 ×"
    )
    circle = seen.circles["value"].values
    np.testing.assert_allclose((circle[:, 0] / 2) ** 2 + circle[:, 1] ** 2, 1, atol=1e-9)


def test_profile_and_roles_of_a_previous_token_head(back: Run) -> None:
    profile = attention_profile(back)
    by = dict(zip(profile.by_distance.axes["distance"].values, profile.by_distance.values[0, 0, 0], strict=True))
    assert by[1] == pytest.approx(1)
    assert by[0] == pytest.approx(0, abs=1e-9)  # the first position, which has only itself, is never asked
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
    title = profile.title
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
        by_position=Labelled(lines, seen.by_position.axes, "share"),
        by_distance=Labelled(by_distance, seen.by_distance.axes, "share"),
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
    axes = dict(seen.on_answer.axes) | {"head": (0, 1)}
    both = np.concatenate([first, second], axis=1)
    weights = np.repeat(seen.attention.values, 2, axis=1)
    two = replace(
        seen,
        on_answer=Labelled(both, axes, "share"),
        attention=Labelled(weights, dict(seen.attention.axes) | {"head": (0, 1)}, "share"),
    )
    assert told(two) == (0, 1)
    title = two.title
    assert "12 % of its attention (head 1)" in title or "13 % of its attention (head 1)" in title
    assert "75 %" in title
    assert "25 %" not in title
    assert "25 % of its attention (head 0)" in two.title_of([(0, 0)])


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
    for name in ("qkv", "qkv_overview", "query_key_space", "scoring", "pair_scores", "score_field", "attention_space"):
        with pytest.raises(CallError, match="no queries"):
            getattr(analyses, name)(run)
