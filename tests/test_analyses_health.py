"""Signal, generalisation and timeline: on models and curves whose answer is known."""

import re
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import hand_wired
from glassformer.analyses import _clock
from glassformer.analyses._judged import Judged
from glassformer.analyses._result import Labelled, Words
from glassformer.analyses._scale import Scale
from glassformer.analyses._symptoms import Symptoms
from glassformer.analyses.attend.head_roles import head_roles
from glassformer.analyses.health.generalisation import _questions, generalisation, windows_of
from glassformer.analyses.health.stream_size import stream_size
from glassformer.analyses.know.similarity import _in_order, similarity
from glassformer.analyses.learn.by_kind import by_kind
from glassformer.analyses.learn.confusion import _credited
from glassformer.analyses.learn.every_question import every_question
from glassformer.analyses.learn.loss import loss
from glassformer.analyses.path import timeline as timelines
from glassformer.analyses.path.birth import birth
from glassformer.figures import _draw, plot_stream_size, plot_timeline
from glassformer.figures.path import timeline as figure_of_timeline
from glassformer.tasks import find
from small_runs import run_of

# ---- signal ----------------------------------------------------------------------------------------------------------


def copying(folder, gain):
    """One block without feed-forward over a window of one token: the head adds `gain` times what it sees."""
    width = 12
    block = {name: np.eye(width) for name in ("query", "key", "value")} | {"output": gain * np.eye(width)}
    return hand_wired.write_run(folder, token=3 * np.eye(12, width), blocks=[block], context=1)


@pytest.mark.parametrize("gain", [0.0, 0.05, 2.0])
def test_a_branch_that_adds_a_multiple_of_the_stream_has_that_ratio(tmp_path, gain):
    seen = stream_size(copying(tmp_path / "run", gain))
    assert seen.ratio.axes["point"].values == ("attended",)
    np.testing.assert_allclose(seen.ratio.values[0, 0], gain, atol=1e-6)
    np.testing.assert_allclose(seen.kept.values[0, 0], 1, atol=1e-6)  # the direction is kept
    size = 3 / np.sqrt(12)  # one feature of twelve is 3
    np.testing.assert_allclose(seen.stream.values[0], [size, (1 + gain) * size], rtol=1e-5)
    np.testing.assert_allclose(seen.mean.values[0], [3 / 12, (1 + gain) * 3 / 12], rtol=1e-5)
    spread = np.std([3] + [0] * 11)
    np.testing.assert_allclose(seen.spread.values[0], [spread, (1 + gain) * spread], rtol=1e-5)
    assert ("begin as the identity" in seen.title) == (gain < 0.1)
    said = {0.0: "add only 0 % of the stream", 0.05: "add only 5 % of the stream", 2.0: "write 2 times the stream"}
    assert said[gain] in seen.title


def test_a_small_branch_before_a_norm_is_not_the_identity(tmp_path):
    """The norm takes the mean away: of (3, 0, ..., 0) that turns the stream by a cosine of √(11/12)."""
    width = 12
    block = {name: np.eye(width) for name in ("query", "key", "value")} | {"output": 0.01 * np.eye(width)}
    block |= {"norm_1": np.ones(width), "norm_1_bias": np.zeros(width)}
    run = hand_wired.write_run(tmp_path / "run", token=3 * np.eye(12, width), blocks=[block], context=1, norm="layer",
                               norm_place="post")  # fmt: skip
    seen = stream_size(run)
    np.testing.assert_allclose(seen.ratio.values[0, 0], 0.01, atol=1e-6)
    np.testing.assert_allclose(seen.kept.values[0, 0], np.sqrt(11 / 12), atol=1e-5)
    assert "the identity" not in seen.title
    assert "add only 1 % of the stream, but the stream changes by its norms (cosine down to 0.96)" in seen.title


def test_sizes_are_those_of_the_trace():
    run = run_of("five_operations")
    seen = stream_size(run, steps=(0,))
    points = seen.stream.axes["point"].values
    trace = run.trace(run.task.examples(8, "validation", 64).windows[:, :-1], step=0)
    middle = trace["middle"][:, 1].astype(np.float64)
    at = points.index("middle 1")
    assert seen.stream.values[0, at] == pytest.approx(np.sqrt((middle**2).mean()), rel=1e-5)
    differs = np.sqrt(((middle - middle.mean(0)) ** 2).mean() / (middle**2).mean())
    assert seen.differs.values[0, at] == pytest.approx(differs, rel=1e-5)


@pytest.mark.parametrize("blocks", [1, 3, 5])
def test_points_are_named_along_the_depth_or_blocks_are_numbered(tmp_path, blocks):
    """With a norm before each branch; of more than four blocks there is room for their numbers alone."""
    eye = np.eye(4)
    each = dict.fromkeys(("query", "key", "value", "output", "expand", "contract"), eye)
    each |= {"norm_1": np.ones(4), "norm_2": np.ones(4)}
    run = hand_wired.write_run(tmp_path / "run", token=np.eye(12, 4), blocks=[each] * blocks, context=4, norm="rms")
    ticks = [text.get_text() for text in plot_stream_size(run).axes[2].get_xticklabels()]
    assert len(ticks) == (1 + 4 * blocks if blocks < 5 else blocks)
    assert ("+ attention, block 2" in ticks) == (blocks == 3)
    assert ("4" in ticks) == (blocks == 5)


def test_a_constant_stream_does_not_depend_on_the_window(tmp_path):
    block = {name: np.eye(2) for name in ("query", "key", "value", "output")}
    run = hand_wired.write_run(tmp_path / "run", token=np.ones((12, 2)), position=np.ones((8, 2)), blocks=[block])
    assert (stream_size(run).differs.values < 1e-6).all()
    assert Symptoms(run).look("signal")[1][0] < 1e-6


# ---- symptoms --------------------------------------------------------------------------------------------------------


def test_dead_neurons_are_counted(tmp_path):
    block = {name: np.zeros((2, 2)) for name in ("query", "key", "value", "output")}
    expand = np.array([[1.0, -1, 0, 0], [0, 0, 0, -1]])  # the token is 1 to 12, the other feature 1
    block |= {"expand": expand, "contract": np.ones((4, 2))}
    token = np.stack([1 + np.arange(12), np.ones(12)], 1)
    run = hand_wired.write_run(tmp_path / "run", token=token, blocks=[block], context=8)
    assert Symptoms(run).look("silent")[1].tolist() == [0.75]


def test_even_attention_has_all_of_its_entropy(tmp_path):
    block = {name: np.zeros((2, 2)) for name in ("query", "key", "value", "output")}
    run = hand_wired.write_run(tmp_path / "run", token=np.ones((12, 2)), blocks=[block], context=8)
    patient = Symptoms(run)
    np.testing.assert_allclose(patient.look("spread")[1], 1, atol=1e-6)
    np.testing.assert_allclose(patient.look("varies")[1], 0, atol=1e-6)
    looking_back = Symptoms(hand_wired.previous_token(tmp_path / "previous"))
    assert looking_back.look("spread")[1][0] < 1e-3


# ---- generalisation --------------------------------------------------------------------------------------------------


def test_the_leak_meter_counts_what_a_set_counts():
    for settings in ({}, {"draws": 2000}, {"split": "multiset"}):
        task = find("five_operations")(**settings)
        data = task.data(8)
        train = {tuple(row) for row in windows_of(data.train, 9).tolist()}
        held = [tuple(row) for row in windows_of(data.validation, 9).tolist()]
        assert data.leak(9, data.validation) == pytest.approx(np.mean([row in train for row in held]))
        held += [tuple(row) for row in windows_of(data.test, 9).tolist()]
        assert data.leak(9) == pytest.approx(np.mean([row in train for row in held]))
    assert find("five_operations")().data(8).leak(9) == 0


def test_questions_are_sorted_by_how_new_they_are():
    """By brute force: every order of the digits of every question."""
    task = find("five_operations")(draws=500)
    every = np.column_stack(task.questions())
    train = windows_of(task.data(8).train, 9)
    seen = {(row[0], row[2], row[4], row[6]) for row in train.tolist()}
    found = _questions(every, train)
    counts = dict.fromkeys(found, 0)
    for operation, _, a, _, b, _, c, _, _ in every.tolist():
        if (operation, a, b, c) in seen:
            counts["seen in training"] += 1
            continue
        counts["never seen"] += 1
        known = any((operation, *order) in seen for order in permutations((a, b, c)))
        counts["seen in another order" if known else "values never seen together"] += 1
        counts["never seen, repeated value"] += len({a, b, c}) < 3
    assert {kind: len(rows) for kind, rows in found.items()} == counts


def test_accuracy_on_unseen_questions_is_that_of_asking_each():
    run = run_of("five_operations")
    seen = generalisation(run)
    kinds = seen.accuracy.axes["kind"].labels
    task = run.task
    train = {tuple(row) for row in windows_of(task.data(8).train, 9)[:, :-1].tolist()}
    questions, answers = task.questions()
    unseen = [k for k, row in enumerate(questions.tolist()) if tuple(row) not in train]
    chosen = [unseen[i * len(unseen) // 400] for i in range(400)]
    right = [run.ask(questions[k])[0][0] == task.vocabulary[answers[k]] for k in chosen]
    assert seen.accuracy.values[kinds.index("never seen"), 1] == pytest.approx(np.mean(right))
    assert seen.judged.values[kinds.index("never seen")] == 400
    np.testing.assert_allclose(seen.gap.values, run.metrics["excess"] - run.metrics["train_excess"])
    assert "test" in seen.excess


# ---- timeline --------------------------------------------------------------------------------------------------------


def test_phases_end_where_three_straight_lines_meet():
    at = np.arange(0, 1001, 10)
    curve = np.interp(at, [0, 120, 600, 1000], [3.0, 2.0, 0.5, 0.4])
    assert timelines._phases(at, curve).tolist() == [0, 120, 600, 1000]
    rng = np.random.default_rng(0)
    noisy = timelines._phases(at, curve + rng.normal(scale=0.01, size=len(at)))
    assert abs(noisy[1] - 120) <= 20
    assert abs(noisy[2] - 600) <= 40
    np.testing.assert_allclose(timelines._fall(at, curve, np.array([0, 120, 600, 1000])), np.array([1, 1.5, 0.1]) / 2.6)
    assert np.isnan(timelines._phases(at, np.full(len(at), 2.0))).all()
    coarse = np.interp(at, [0, 10, 30, 1000], [4.4, 2.3, 0.1, 0.0])  # all within three lines: bends of the log
    assert np.isnan(timelines._phases(at, coarse)).all()
    assert np.isnan(timelines._phases(at, np.full(len(at), np.nan))).all()


def test_straight_lines_have_the_error_of_least_squares():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.normal(size=9)), rng.normal(size=9)
    found = timelines._straight(x, y)
    for i in range(9):
        for j in range(i + 2, 9):
            line = np.polyfit(x[i : j + 1], y[i : j + 1], 1)
            error = ((np.polyval(line, x[i : j + 1]) - y[i : j + 1]) ** 2).sum()
            assert found[i, j] == pytest.approx(error, abs=1e-9)


def test_plateaus_are_stretches_without_a_fall_above_the_floor():
    run = run_of("plus_last_even")
    rungs = [rung.nats for rung in run.task.ladder(8) if rung.reachable]
    at = np.arange(0, 1001, 10)
    curve = np.interp(at, [0, 100, 500, 600, 1000], [rungs[0], rungs[2], rungs[2], rungs[-1], rungs[-1]])
    ((begin, end),) = timelines._plateaus(run, at, curve).values.tolist()
    assert 80 <= begin <= 100
    assert 500 <= end <= 520
    assert not len(timelines._plateaus(run, at, np.interp(at, [0, 1000], [rungs[0], rungs[-1]])).values)


def test_events_of_a_run_agree_with_the_analyses_they_come_from():
    run = run_of("plus_last_even")
    seen = timelines.timeline(run)
    expected = [np.nan if step is None else step for _, step in _clock.passed(run)]
    np.testing.assert_array_equal(seen.rungs.values, expected)
    np.testing.assert_array_equal(seen.born.values, birth(run, member=0, neurons=0).born.values[:, 1])
    assert not set(seen.kinds.axes["kind"].labels) & {"unconstrained", "not in view"}
    judged = by_kind(run)
    expected = dict(zip(judged.passed.axes["kind"].labels, judged.passed.values, strict=True))
    np.testing.assert_array_equal(seen.kinds.values, [expected[name] for name in seen.kinds.axes["kind"].labels])
    last = run.metrics["step"][-1]
    np.testing.assert_allclose(seen.by_time.values[:, 1], [0.2 * last, 0.6 * last, last])


def test_right_answers_are_dated_apart_from_right_probabilities(tmp_path):
    ladder = [rung.nats for rung in find("plus_last_even")().ladder(8) if rung.reachable]
    losses = np.interp(np.arange(11), [0, 5, 10], [ladder[0], ladder[2], ladder[-1]])
    lines = [{"step": 10 * k, "validation_loss": loss, "rule_error_answerable": max(0.0, 1 - 0.25 * k)}
             for k, loss in enumerate(losses)]  # fmt: skip
    idle = {"expand": np.zeros((2, 2)), "contract": np.zeros((2, 2))}
    run = hand_wired.write_run(tmp_path / "run", token=np.zeros((12, 2)), blocks=[idle], context=8, lines=lines)
    seen = timelines.timeline(run)
    assert seen.right == 40
    assert seen.rungs.values[-1] == 100
    assert seen.title.startswith(
        "95 % of answers in view are right by step 40, probabilities (rung “the rule”) by step 100;"
    )
    np.testing.assert_array_equal(
        loss(run).crossed.values[[rung.reachable for rung in _clock.ladder(run)]], seen.rungs.values
    )


def test_attention_levels_are_dated_to_the_look_from_which_a_head_stays_there(monkeypatch):
    run = run_of("plus_last_even")
    whole = head_roles(run)
    role = whole.life.axes["role"].labels.index("answer")
    uniform = whole.uniform.values[role]
    many = len(whole.steps)
    best = np.full(many, 0.2)
    best[many // 4 :] = 0.7  # over a half from here on ...
    best[many // 2] = 0.4  # ... but for one look
    best[-2:] = 0.95
    life = whole.life.values.copy()
    life[..., role] = 100 * (best - uniform)[:, None, None]
    changed = replace(whole, life=Labelled(life, whole.life.axes, whole.life.unit))
    monkeypatch.setattr(timelines, "head_roles", lambda *_, **__: changed)
    levels, last = timelines._attention(run, 0)
    assert levels.tolist() == [whole.steps[many // 2 + 1], whole.steps[-2]]
    assert last == pytest.approx(0.95)


def test_no_event_of_a_lane_is_dropped_in_silence():
    """Many long names at few steps, in every size: each is written, or counted."""
    names = [f"a rung with a rather long name, number {k}" for k in range(7)]
    events = Labelled(np.array([10.0, 10, 10, 10, 12, 990, np.nan]), {"rung": tuple(names)}, "step")
    for size in ("screen", "slide", "print"):
        sheet = _draw.Sheet(None, "light", size, Words("A title", "", ""), "", height=4)
        ax = sheet.panels(1, 1, left=11, right=2, bottom=20, top=1)[0, 0]
        figure_of_timeline._lane(ax, "rungs reached", events, sheet.theme.ink, sheet, Scale("linear", 1000))
        said = " ".join(text.get_text() for text in ax.texts).replace("\n", " ")
        more = sum(int(number) for number in re.findall(r"(\d+) (?:more|not reached)", said))
        written = sum(name in said for name in names)
        assert written + more == 7, (size, said)


@pytest.mark.parametrize("size", ["screen", "slide", "print"])
@pytest.mark.parametrize("scale", [Scale("linear", 1000), Scale("log", 1000, first=10)])
def test_no_name_of_a_lane_lies_on_another_or_leaves_the_lane(scale, size):
    """A part that is needed late and has a long name, and a line of parts that never are."""
    heads = [f"head {block}.{head}" for block in (1, 2) for head in range(3)]
    parts = ("token embedding", "feed-forward and attention of the first block", *heads)
    whole = timelines.timeline(run_of("plus_last_even"))
    for when in (5, 60, 300, 500, 980):
        events = Labelled(np.array([1.0, when, *[np.nan] * 6]), {"part": parts}, "step")
        figure = plot_timeline(replace(whole, scale=scale, born=events), size=size)
        lane = figure.axes[3]
        *boxes, name = [text.get_window_extent() for text in lane.texts if text.get_text().strip()]
        around = lane.get_window_extent()
        for k, box in enumerate(boxes):
            assert around.x0 - 1 <= box.x0 < box.x1 <= around.x1 + 1, (when, k)
            assert not any(box.overlaps(other) for other in (*boxes[:k], name)), (when, k)


# ---- what the tables of the five operations rest on ------------------------------------------------------------------


def test_numbers_on_a_line_are_in_order():
    rng = np.random.default_rng(3)
    value = np.arange(10)
    line = np.outer(value - 4.5, rng.normal(size=6))
    for points in (line, -line):
        along, agreement, _, chance = _in_order(points + 5, value)
        assert agreement == pytest.approx(1)
        assert (np.diff(along) > 0).all()
        assert chance == pytest.approx(18 / 90)
    circle = np.stack([np.cos(0.3 * value), np.sin(0.3 * value)], 1)  # the nearest are the neighbours
    assert _in_order(circle, value)[2] == 1
    assert np.isnan(_in_order(line[:3], value[:3])[1])


def test_mean_cosine_by_group_is_the_mean_of_the_table():
    seen = similarity(run_of("five_operations"))
    words, table = seen.cosine.axes["token"].labels, seen.cosine.values
    for name, own in seen.groups.items():
        places = [words.index(word) for word in own]
        pairs = [table[i, j] for i in places for j in places if i != j]
        k = seen.between.axes["group"].labels.index(name)
        assert seen.between.values[k, k] == pytest.approx(np.mean(pairs))
        assert seen.by_group.values[-1, k] == pytest.approx(np.mean(pairs))
    np.testing.assert_allclose(seen.between.values, seen.between.values.T, atol=1e-6)


def test_a_head_that_looks_at_one_number_has_that_role(tmp_path):
    """Positions are one-hot, and every query looks at position 4: the second number of a question."""
    here = np.eye(8)
    key = np.zeros((8, 8))
    key[4] = 100  # the key of position 4 answers to every query
    block = {"query": np.ones((8, 8)), "key": key, "value": here}
    run = hand_wired.write_run(
        tmp_path / "run", token=np.zeros((20, 8)), position=here, blocks=[block], task="five_operations",
        causal=False, read_position=0, context=8,
    )  # fmt: skip
    seen = head_roles(run)
    share = dict(zip(seen.share.axes["role"].labels, seen.share.values[0, 0], strict=True))
    assert share["number 2"] == pytest.approx(1)
    assert share["number 1"] == share["number 3"] == pytest.approx(0)
    assert seen.roles(0, 0)[0] == "number 2"
    windows = run.task.examples(8, "validation", seen.windows).windows
    digits = windows[:, [2, 4, 6]]
    at_four = [
        digits[w, 1] == digits[w].max() and q != 4 for w in range(len(windows)) for q in range(8)
        if any(digits[w, k] == digits[w].max() and q != 2 + 2 * k for k in range(3))
    ]  # fmt: skip
    assert share["largest"] == pytest.approx(np.mean(at_four))


def test_confusions_are_corrected_for_coincidence():
    """Someone who answers every Max as Min, and guesses at random elsewhere, is found out; the guessing is not."""
    run = run_of("five_operations")
    given = run.task.examples(8, "validation", 500)
    windows = given.windows
    rng = np.random.default_rng(0)
    digits, kind = windows[:, [2, 4, 6]], given.kind[:, 0]
    answer = np.where(kind == 3, digits.min(1), np.where(kind == 4, windows[:, -1], rng.integers(2, 12, len(windows))))
    sure = np.ones((len(windows), 1))
    seen = Judged(given, windows[:, -1:], answer[:, None], sure, sure, sure > 0)
    shares, by_chance = _credited(run, seen)
    np.testing.assert_allclose(shares.sum(1), 1)
    np.testing.assert_allclose(by_chance.sum(1), 1)
    beyond = shares - by_chance
    assert beyond[3, 4] > 0.3  # Max answered as Min
    assert np.abs(beyond[0]).max() < 0.1  # First answered at random: nothing beyond coincidence
    assert shares[0, 1:5].sum() > 0.1  # though many of those answers are what another operation would give
    assert by_chance[4, 4] == shares[4, 4] == 1  # Min is always right


def test_when_a_question_was_first_right_and_last_wrong():
    run = run_of("five_operations")
    seen = every_question(run)
    for question, row in list(zip(seen.hardest.axes["question"].labels, seen.hardest.values, strict=True))[:3]:
        tokens = run.task.encode(question)[:8]
        answer = np.flatnonzero(run.task.allowed(tokens)[-1])[0]
        looked = _clock.looks(run, 24)
        right = [run.ask(tokens, step=s)[0][0] == run.task.vocabulary[answer] for s in looked]
        wrong = [s for s, good in zip(looked, right, strict=True) if not good]
        good = [s for s, fine in zip(looked, right, strict=True) if fine]
        np.testing.assert_equal(row[2], wrong[-1] if wrong else np.nan)
        np.testing.assert_equal(row[3], good[0] if good else np.nan)
