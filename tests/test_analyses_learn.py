"""What is said about learning, held against models whose every answer is known."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import hand_wired
from glassformer import analyses
from glassformer.analyses import _judged
from glassformer.analyses._result import Axis, Labelled
from glassformer.analyses._verdicts import CODES
from glassformer.analyses.learn.accuracy import accuracy
from glassformer.analyses.learn.by_kind import by_kind, passed
from glassformer.analyses.learn.confusion import confusion
from glassformer.analyses.learn.every_question import chance, every_question
from glassformer.analyses.learn.generated import generated, pick
from glassformer.analyses.learn.next_token import next_token
from glassformer.analyses.learn.rule_error import rule_error
from glassformer.analyses.learn.training_log import training_log
from glassformer.analyses.learn.unrolled import unrolled
from glassformer.analyses.trust import seeds_aligned as alignment
from glassformer.analyses.trust.seeds import seeds
from glassformer.errors import CallError
from glassformer.experiment import from_tables, load
from glassformer.figures import _draw, plot_by_kind, plot_every_question
from glassformer.figures.learn.next_token import _order
from glassformer.record import Recorder
from glassformer.run import Run
from glassformer.tasks.five_operations import ANSWER, WORDS
from small_runs import MODULAR, run_of
from small_texts import noise

CHANCES = np.array([1, 2, 3, 4, 20, 5, 6, 7, 8, 9, 10, 15]) / 90  # of 0 to 10 and +: the likeliest token is 4
FOUR, PLUS = 4, 11


@pytest.fixture(scope="module")
def gambler(tmp_path_factory):
    """A model that looks at nothing and expects the same chances everywhere."""
    idle = {"expand": np.zeros((2, 2)), "contract": np.zeros((2, 2))}
    return hand_wired.write_run(
        tmp_path_factory.mktemp("gambler") / "run", token=np.zeros((12, 2)), blocks=[idle], context=8,
        read_out_bias=np.log(CHANCES),
    )  # fmt: skip


def windows(run, most):
    return run.task.examples(8, "validation", most)


close = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-7)


def test_rule_error_of_a_model_that_always_bets_on_four(gambler):
    seen, known = rule_error(gambler), windows(gambler, 1000)  # as many as the logged lines are measured on
    answer = known.windows[:, 1:]
    hidden = known.constrained & ~known.answerable
    allowed = known.allowed[..., FOUR]
    close(seen.error.values[0, :, 0], [1 - (answer == FOUR)[known.answerable].mean(),
                                       1 - CHANCES[answer][known.answerable].mean()])  # fmt: skip
    close(seen.error.values[1, 0, 0], 1 - allowed[hidden].mean())
    right, wrong, away = seen.shares.values[:, 0]
    whole = known.constrained.sum()
    close([right, wrong, away], [(allowed & known.answerable).sum() / whole,
                                 (~allowed & known.answerable).sum() / whole, hidden.sum() / whole])  # fmt: skip
    exact = gambler.task.shares(8)
    close(seen.best.values, [0, exact.least_error / (1 - exact.answerable)])
    assert seen.by_distance.axes["distance"].labels[0] == "1 back"
    asked, count = seen.by_distance.values[:-1, 0], seen.counts.values[:-1]
    close(seen.reached, (asked * count).sum() / count.sum())


def test_error_by_distance_counts_each_answerable_place_once(gambler):
    seen = rule_error(gambler)
    known = windows(gambler, seen.windows)
    assert seen.counts.values.sum() == known.constrained.sum()
    close(seen.by_distance.values[-1], seen.error.values[1, :, -1])  # what is not in view: bar and curve agree
    rows, places = np.nonzero(known.answerable)
    back = [
        place - gambler.task.source(known.windows[row].tolist(), place) for row, place in zip(rows, places, strict=True)
    ]
    assert seen.counts.axes["distance"].values[-1] == np.inf
    for distance, count in zip(seen.counts.axes["distance"].values[:-1], seen.counts.values, strict=False):
        assert count == back.count(distance)


def test_accuracy_is_the_share_of_constrained_places_that_allow_four(gambler):
    seen, known = accuracy(gambler), windows(gambler, 1000)
    close(seen.curves["validation"].values, [known.allowed[..., FOUR][known.constrained].mean()])
    names = dict(zip(seen.rungs.axes["rung"].labels, seen.rungs.values, strict=True))
    close(names["token frequencies"], 0)  # the commonest token is +, which never follows +
    close(names["the rule"], 1 - gambler.task.shares(8).least_error)


def test_a_uniform_guess_is_among_the_tokens_that_may_be_answered():
    """Modular addition answers with one of 113 numbers; its 114th token, =, is never an answer."""
    seen = accuracy(run_of(MODULAR))
    assert seen.exact
    assert dict(zip(seen.rungs.axes["rung"].labels, seen.rungs.values, strict=True))["uniform guess"] == 1 / 113


def test_excess_by_kind_is_measured_against_the_exact_predictor(gambler):
    seen = by_kind(gambler)
    known = windows(gambler, seen.windows)
    excess = known.truth - np.log(CHANCES)[known.windows[:, 1:]]
    table = dict(zip(seen.now.axes["kind"].labels, seen.now.values, strict=True))
    close(table["1 back"][3], excess[known.kind == 1].mean())
    close(table["unconstrained"][3], excess[~known.constrained].mean())
    close(table["1 back"][4], (known.kind == 1).sum())
    assert np.isnan(table["unconstrained"][0])
    close(table["1 back"][0], (known.windows[:, 1:] == FOUR)[known.kind == 1].mean())  # it always says four
    close(seen.accuracy.values[:, -1], seen.now.values[:, 0])
    assert not seen.logged
    assert np.isnan(seen.passed.values).all()
    close(seen.now.values[:, 3], seen.excess.values[:, -1])  # bars and curves are of the same windows


def always_five(folder, lines):
    """A model of the five operations that answers 5 whatever it is asked, with a log of its own."""
    bias = np.zeros(len(WORDS))
    bias[WORDS.index("5")] = 9
    idle = {"expand": np.zeros((2, 2)), "contract": np.zeros((2, 2))}
    return hand_wired.write_run(
        folder, token=np.zeros((len(WORDS), 2)), blocks=[idle], context=8, read_out_bias=bias, lines=lines,
        task="five_operations", causal=False, read_position=0,
    )  # fmt: skip


def test_kinds_are_told_as_logged_and_their_bars_are_of_all_new_questions(tmp_path):
    shares = {"First": (0.2, 0.96, 0.99, 1.0), "Second": (0.1, 0.95, 0.90, 0.97), "Last": (0.3, 0.5, 0.6, 0.9),
              "Max": (0.1, 0.2, 0.96, 0.94), "Min": (0.0, 0.0, 0.0, 0.0)}  # fmt: skip
    lines = [
        {
            "step": 100 * k,
            "validation_loss": 2.0 - k / 10,
            "accuracy_by_kind": {name: row[k] for name, row in shares.items()},
        }
        for k in range(4)
    ]
    run = always_five(tmp_path / "run", lines)
    seen = by_kind(run)
    assert seen.logged
    close(seen.accuracy.values, list(shares.values()))
    np.testing.assert_array_equal(seen.passed.values, [100, 100, np.nan, 200, np.nan])
    np.testing.assert_array_equal(seen.lasting.values, [100, 300, np.nan, np.nan, np.nan])
    title = seen.title
    assert title.startswith("Questions “First” and “Second” pass 95 % first, by step 100; “")
    assert title.endswith("; not all that passed stay there")
    parts = [run.task.examples(8, part, run.experiment.train.windows).windows for part in ("validation", "test")]
    asked = np.concatenate(parts)
    for name, row in zip(seen.now.axes["kind"].labels, seen.now.values, strict=True):
        mine = [ANSWER[name](tuple(int(WORDS[token]) for token in window[[2, 4, 6]]))
                for window in asked if WORDS[window[0]] == name]  # fmt: skip
        assert row[4] == len(mine)
        close(row[0], np.mean([answer == 5 for answer in mine]))


def test_the_first_pass_and_the_lasting_one():
    axes = {"kind": ("a", "b", "c"), "step": (0, 10, 20, 30)}
    curves = Labelled(np.array([[0.0, 0.95, 0.9, 0.99], [0.0, 0.1, 0.96, 0.97], [1.0, 1.0, 1.0, 0.5]]), axes, "share")
    np.testing.assert_array_equal(passed(curves).values, [10, 20, 0])
    np.testing.assert_array_equal(passed(curves, lasting=True).values, [30, 20, np.nan])


def test_a_log_in_a_table_holds_the_logged_lines_where_the_loss_fell(tmp_path):
    losses = np.concatenate([[4.0, 2.0, 1.0, 0.5], np.linspace(0.45, 0.40, 97)])
    lines = [
        {"step": 10 * k, "validation_loss": loss, "train_loss": loss / 2, "excess": loss - 0.4, "accuracy": k / 100,
         "rate": 0.001, "update": {"all": 0.5}, "weights": {"all": 5.0}, "gradient": {"all": 3.0 + k}}
        for k, loss in enumerate(losses)
    ]  # fmt: skip
    run = always_five(tmp_path / "run", lines)
    seen = training_log(run)
    steps = list(seen.log.axes["step"].values)
    assert len(steps) == 12
    assert steps[:4] == [0, 10, 20, 30], "the fall is told line by line"
    assert steps[-1] == 1000
    assert max(np.diff(steps)) < 250, "and the rest is not forgotten"
    table = dict(zip(seen.log.axes["quantity"].labels, seen.log.values.T, strict=True))
    places = np.array(steps) // 10
    close(table["held-out loss"], losses[places])
    close(table["training loss"], losses[places] / 2)
    close(table["right"], places / 100)
    close(table["gradient"], 3.0 + places)
    close(table["update / weights"], 0.1)
    close(table["epoch"], np.array(steps) * run.experiment.train.batch / len(run.task.data(8).train.starts))
    assert "perplexity" not in table
    told = "loss goes from 4.00 to 0.40 and the share right from 0 % to 100 % of questions outside the training set"
    assert seen.title.endswith(told)


def test_a_table_of_ten_epochs_has_a_line_for_each(tmp_path):
    """Each is the logged line nearest to the end of its pass, with its own epoch."""
    lines = [{"step": step, "validation_loss": 4.0 / (1 + step), "train_loss": 1.0} for step in range(0, 9001, 30)]
    run = always_five(tmp_path / "run", lines)
    per_pass = len(run.task.data(8).train.starts) / run.experiment.train.batch
    seen = training_log(run, epochs=10)
    steps = np.array(seen.log.axes["step"].values)
    assert len(steps) == 11
    assert np.abs(steps - per_pass * np.arange(11)).max() <= 15
    close(seen.column("epoch"), steps / per_pass)
    assert f"{steps[-1] / per_pass:.3g} epochs" in seen.title
    with pytest.raises(CallError, match="no epochs"):
        training_log(run_of("plus_last_even"), epochs=10)


def test_a_text_has_a_perplexity_and_is_read_so_many_times():
    run = run_of("text")
    seen = training_log(run)
    table = dict(zip(seen.log.axes["quantity"].labels, seen.log.values.T, strict=True))
    close(table["perplexity"], np.exp(table["held-out loss"]))
    steps = np.array(seen.log.axes["step"].values)
    begin, end = run.task.bounds(10)["train"]  # of the first tokens of windows; the last window ends 10 later
    assert end - begin + 10 < len(run.task.stream)
    close(table["epoch"], steps * 8 * 10 / (end - begin + 10))  # batches of 8 windows of 10 tokens


def test_every_answer_is_confused_with_four(gambler):
    seen, known = confusion(gambler), windows(gambler, 1000)
    column = seen.share.axes["answer"].labels.index("4")
    asked = ~np.isnan(seen.share.values[0]).all(axis=1)
    close(seen.share.values[0, asked, column], 1)
    answers = known.windows[:, 1:][known.answerable]
    for row, word in enumerate(seen.count.axes["token"].labels):
        assert seen.count.values[0, row, column] == (answers == int(word)).sum()
    vocabulary = gambler.task.vocabulary  # a row for what came, a column for what came or was said
    assert set(seen.count.axes["token"].labels) == {vocabulary[token] for token in np.unique(answers)}
    assert set(seen.count.axes["answer"].labels) == {*seen.count.axes["token"].labels, "4"}
    assert seen.unused == len(vocabulary) - len(seen.count.axes["answer"].labels)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([[5, 1, 0], [1, 5, 2]], "the commonest mistake is “c” for “b” (2 times)"),
        ([[5, 2, 0], [0, 5, 2]], "the commonest mistakes are “b” for “a” and “c” for “b” (2 times each)"),
        ([[5, 1, 1], [1, 5, 1]], "no mistake is commonest: 4 occur 1 time each"),
    ],
)
def test_the_commonest_mistakes_are_all_named(gambler, counts, said):
    axes = {"step": (0,), "token": ("a", "b"), "answer": ("a", "b", "c")}
    table = Labelled(np.array([counts], dtype=float), axes)
    seen = replace(confusion(gambler), count=table, share=table, several=False, matched=0.8)
    assert said in seen.title


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.79, "0.79"), (0.9987, "0.9987"), (1 - 3e-5, "1 − 3 · 10⁻⁵"), (9e-6, "9 · 10⁻⁶"), (0.0002, "0.0002"),
     (0.000097, "0.0001"), (1.0, "1"), (0.0, "0"), (float("nan"), "–")],
)  # fmt: skip
def test_a_chance_is_0_or_1_only_if_it_is(p, said):
    assert chance(p) == said


@pytest.mark.parametrize(
    ("many", "cell"),
    [(2, "each cell one question, right (1) or wrong (0)"), (3, "the share right over the 10 third digits"),
     (4, "the share right over the 100 ways to go on")],
)  # fmt: skip
def test_a_cell_stands_for_what_is_left_of_the_question(many, cell, tmp_path):
    experiment = load("five_operations", (f"data.arguments={many}", f"architecture.context={2 * many + 2}",
                                          "architecture.width=4", "architecture.heads=1",
                                          "architecture.feed_forward=2"))  # fmt: skip
    seen = every_question(noise(tmp_path / "run", experiment))
    assert set(seen.count.values.ravel()) == {10 ** (many - 2)}
    assert cell in _draw.of(plot_every_question(seen)).words.caption


def test_windows_are_counted_and_not_those_that_would_be_allowed(tmp_path):
    """The rhyme has fewer windows than would be judged at one step."""
    run = noise(tmp_path / "run", load("mary"))
    there = len(run.task.examples(run.architecture.context, "validation", 10_000).windows)
    assert by_kind(run).windows == there < _judged.life(run)[1]
    words = _draw.of(plot_by_kind(run)).words
    assert f"the same {there} judged windows" in words.caption
    assert "held-out" not in words.caption + words.title + accuracy(run).title, "nothing is held back"
    assert "uestion" not in words.caption + words.title + accuracy(run).title, "nothing is asked"


def test_of_a_rhyme_bars_count_what_curves_count(tmp_path):
    """The token that came; that another one would be allowed is for what it writes by itself."""
    run = noise(tmp_path / "run", load("mary"))
    seen, known = by_kind(run), run.task.examples(run.architecture.context, "validation", 10_000)
    same = run.trace(known.windows[:, :-1])["probabilities"].argmax(-1) == known.windows[:, 1:]
    for k, name in enumerate(seen.now.axes["kind"].labels):
        close(seen.now.values[k, 0], same[known.kind == run.task.kinds.index(name)].mean())


def test_an_axis_of_nothing_in_view_comes_back_from_json():
    table = Labelled(np.ones(1), {"distance": Axis((np.inf,), ("not in view",), "tokens")})
    back = Labelled.from_plain(json.loads(json.dumps(table.plain(), allow_nan=False)))
    assert back == table
    assert back.axes["distance"].values == (np.inf,)


def test_only_questions_answered_by_four_are_right(gambler):
    seen = every_question(gambler)
    for answer, row in zip(seen.right.axes["token"].labels, seen.right.values, strict=True):
        np.testing.assert_array_equal(row[np.isfinite(row)], float(answer == "4"))
    close(seen.share, (np.nan_to_num(seen.right.values) * seen.count.values).sum() / seen.asked)
    chance, right, last, _ = seen.hardest.values.T
    close(chance[:1], CHANCES[0])  # the hardest answer is 0, the least likely even number
    assert not right.any()
    assert (last == 0).all()
    assert set(seen.likeliest) == {"4"}
    assert "4" not in seen.came


def test_what_is_written_follows_the_random_numbers():
    chances = np.tile([0.2, 0.5, 0.3], (5, 1))
    np.testing.assert_array_equal(pick(chances, np.array([0.0, 0.19, 0.2, 0.69, 0.999])), [0, 0, 1, 1, 2])
    np.testing.assert_array_equal(pick(chances, None), 1)


def test_the_gambler_writes_four_for_ever_and_is_never_constrained(gambler):
    seen = generated(gambler, sequences=20)
    likeliest = seen.tokens.values[0, 1]
    assert (likeliest[:, 1:] == FOUR).all()
    started = likeliest[:, 0] == PLUS
    assert seen.counts.values[0, 1, 1] == 0 or started.any()
    sampled, verdicts = seen.tokens.values[0, 0], seen.verdicts.values[0, 0]
    for text, said in zip(sampled, verdicts, strict=True):
        for place, judged in enumerate(gambler.task.verify(text)):
            expected = ("unconstrained",) if judged is None else ("right" if judged else "wrong", "not_in_view")
            assert said[place] in [CODES[each] for each in (("none",) if place == 0 else expected)]
    np.testing.assert_array_equal(sampled, generated(gambler, sequences=20).tokens.values[0, 0])


def test_next_token_and_unrolled_show_the_known_chances(gambler):
    seen = next_token(gambler, sequence="4 9 +")
    close(seen.chances.values[0, 0], CHANCES)
    np.testing.assert_array_equal(np.flatnonzero(seen.right.values[0]), [FOUR])
    close(seen.truth.values[0, FOUR], 1)
    written = unrolled(gambler)
    tokens = [gambler.task.vocabulary.index(token) for token in written.tokens[written.prompt :]]
    close(written.chance.values, CHANCES[tokens])
    close(written.surprise.values, -np.log(CHANCES[tokens]))
    assert written.surprise.axes["position"].values == tuple(range(written.prompt, len(written.tokens)))
    assert set(written.likeliest) == {("4", "+", "10")}
    close(written.top.values, np.tile(CHANCES[[FOUR, PLUS, 10]], (12, 1)))


def test_the_token_of_the_title_has_a_bar_at_every_step(gambler):
    seen = next_token(gambler, sequence="4 9 +")
    early, late = np.arange(12, 0, -1) / 78, np.eye(12)[11]  # the last of all at first, sure in the end
    chances = Labelled(np.stack([early, late])[None], {**seen.chances.axes, "step": (0, 10)})
    seen = replace(seen, chances=chances, steps=(0, 10))
    assert _order(seen, 0, 0) == [0, 1, 2, 3, 4, 11]
    assert _order(seen, 0, 1)[0] == 11
    assert len(_order(seen, 0, 1)) == 5


def test_a_wilson_interval_holds_textbook_values():
    low, high = _judged.wilson(np.array([0, 5, 10]), np.array([10, 10, 10]))
    close(low, [0, 0.2366, 0.7225], rtol=1e-3, atol=1e-9)
    close(high, [0.2775, 0.7634, 1], rtol=1e-3)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (1.0, "100 %"),
        (0.9967, "99.7 %"),
        (0.99991, "over 99.99 %"),
        (0.0, "0 %"),
        (0.5, "50 %"),
        (np.nan, "not a number"),
    ],
)
def test_nearly_all_is_not_all(share, said):
    assert _judged.exactly(share) == said


# ---- populations -----------------------------------------------------------------------------------------------------


def turned(shape, angle, scale, mirror):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return scale * shape @ turn @ np.diag([1, -1 if mirror else 1])


def test_alignment_undoes_rotation_reflection_and_scale():
    shape = np.random.default_rng(0).standard_normal((12, 2))
    shape -= shape.mean(axis=0)
    same = np.array([shape, turned(shape, 1.0, 3.0, False), turned(shape, -2.0, 0.2, True)])
    close(alignment.distances(same), np.zeros((3, 3)), atol=1e-6)
    found, turns = alignment.align(same)
    close(found[1], found[0], atol=1e-9)
    close(found[2], found[0], atol=1e-9)
    for turn, _ in turns:
        close(turn @ turn.T, np.eye(2), atol=1e-12)


def test_distance_of_two_shapes_that_share_half():
    line, cross = np.array([[1.0, 0], [-1, 0], [0, 0], [0, 0]]), np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    close(alignment.distances(np.array([line, cross]))[0, 1], np.sqrt(0.5))  # correlation 2 / (√2 · 2)


def test_close_members_stand_side_by_side():
    place = np.array([0.0, 10.0, 0.1, 10.1, 0.2])
    order = alignment.clustered(np.abs(place[:, None] - place))
    assert {*order[:3]} == {0, 2, 4} or {*order[2:]} == {0, 2, 4}


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three members of one shape: solved at once for good, solved late after a relapse, never solved."""
    folder = tmp_path_factory.mktemp("three") / "run"
    experiment = from_tables(
        {"task": "plus_last_even", "train": {"steps": 30},
         "architecture": {"width": 2, "blocks": 1, "attention": "off", "positions": "none", "context": 8,
                          "feed_forward": 2}},
        "three",
    )  # fmt: skip
    shape = np.random.default_rng(1).standard_normal((12, 2))
    members = [shape, turned(shape, 0.7, 2.0, True), turned(shape, 2.0, 0.5, False)]
    shapes = experiment.architecture.shapes()
    weights = {name: np.zeros((1, 3, *size), dtype=np.float32) for name, size in shapes.items()}
    weights["token"][0] = members
    floor = experiment.task.floor(8)
    errors = ([0.9, 0.9, 0.9], [0.01, 0.01, 0.8], [0.0, 0.5, 0.7], [0.0, 0.01, 0.7])
    losses = ([2.5, 2.5, 2.5], [floor, 2.0, 2.3], [floor, 2.1, 2.2], [floor, floor, 2.175])
    lines = [
        {
            "step": 10 * k,
            "validation_loss": loss,
            "excess": [each - floor for each in loss],
            "rule_error_answerable": error,
        }
        for k, (loss, error) in enumerate(zip(losses, errors, strict=True))
    ]
    with Recorder.create(folder, experiment, [5, 6, 7]) as recorder:
        recorder.safe_point(0, [0], weights, lines, {})
        recorder.finish("finished")
    return Run(folder)


def test_seeds_that_relapse_or_fail_stay_in_the_count(three):
    seen = seeds(three)
    np.testing.assert_array_equal(seen.solved_at.values, [10, 30, np.nan])
    close(seen.solved.values, [0, 1 / 3, 1 / 3, 2 / 3])
    assert list(seen.rung) == ["the rule", "the rule", "last token"]
    title = seen.title
    assert "2 of 3 seeds are solved" in title
    assert "seed 7" in title
    assert "last token" in title


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ((0.0, np.nan, 0.7), "; seed 7 still stands on “last token”; seed 6 has diverged"),
        ((0.0, np.nan, np.nan), "; seeds 6 and 7 have diverged"),
        ((np.nan, np.nan, np.nan), "All 3 seeds have diverged"),
        ((np.nan, 0.7, 0.7), "None of 3 seeds is solved; the best stands on “last token”"),
    ],
)
def test_a_seed_that_diverged_stands_on_no_rung(tmp_path, three, last, said):
    """Its loss is no number; what else is logged of it does not count."""
    floor = three.task.floor(8)
    loss = [np.nan if np.isnan(error) else floor if error == 0 else 2.175 for error in last]
    lines = [
        {"step": 0, "validation_loss": [2.5] * 3, "excess": [1.0] * 3, "rule_error_answerable": [0.9] * 3},
        {"step": 10, "validation_loss": loss, "excess": [each - floor for each in loss],
         "rule_error_answerable": np.nan_to_num(last).tolist()},
    ]  # fmt: skip
    weights = {name: value[None] for name, value in three.weights(0).items()}
    with Recorder.create(tmp_path / "run", three.experiment, [5, 6, 7]) as recorder:
        recorder.safe_point(0, [0], weights, lines, {})
        recorder.finish("finished")
    assert said in seeds(Run(tmp_path / "run")).title


def test_one_shape_in_three_disguises_is_recognised(three):
    seen = alignment.seeds_aligned(three)
    close(seen.distance.values, np.zeros((3, 3)), atol=1e-3)
    close(seen.points.values[1], seen.points.values[0], atol=1e-5)
    close(seen.spread.values[:, :2], np.zeros((12, 2)), atol=1e-5)
    low, half, high = seen.random.values
    assert 0.5 < low < half < high <= 1
    assert "closer than chance" in seen.title


def test_one_member_is_no_population(gambler):
    for analyse in (analyses.seeds, analyses.seeds_aligned):
        with pytest.raises(CallError, match="one member"):
            analyse(gambler)
