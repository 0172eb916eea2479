"""A sample of windows, questions or places has the composition of what it is taken from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import small_texts
from glassformer import experiment, reference
from glassformer.analyses import _land, _match, _removal, _uncertain_run
from glassformer.analyses.learn import accuracy
from glassformer.analyses.what.training_data import training_data
from glassformer.architecture import Architecture, nest
from glassformer.counted import as_hard_as_all, counted
from glassformer.judge import Judged
from glassformer.plan import LEAST
from glassformer.report import facts
from glassformer.report import training_data as page_data
from glassformer.score import every_window, score
from glassformer.studies import arguments, context
from glassformer.tasks import Task, five_operations
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import MOST_HELD, choose
from glassformer.tasks._text import Text
from glassformer.tasks.five_operations import FIRST, ZERO, FiveOperations
from glassformer.tasks.modular_addition import ModularAddition
from glassformer.tasks.plus_last_even import PlusLastEven
from small_runs import run_of
from small_texts import noise, random_run
from test_experiments import _extra

SIZES = (8, 16, 29, 48, 50, 64, 100, 128, 200, 300, 400, 500, 1000, 2000)  # what the code asks for, and some more
DRAWS = (50, 100, 1_000, 8_000, 10_000, 50_000)
SMALL = ("architecture.width=8", "architecture.heads=2", "architecture.feed_forward=8", "train.judged=1000")


# ---- the one place where a sample is chosen --------------------------------------------------------------------------


@given(st.lists(st.integers(0, 6), min_size=1, max_size=300), st.integers(1, 320), st.booleans())
def test_every_value_of_the_first_key_has_its_share(kinds, most, middle):
    kinds = np.array(kinds)
    chosen = choose(len(kinds), most, kinds, middle=middle)
    assert len(chosen) == min(most, len(kinds)) == len(set(chosen.tolist()))
    assert (np.diff(chosen) > 0).all()
    assert chosen[0] >= 0
    assert chosen[-1] < len(kinds)
    for kind in np.unique(kinds):
        assert abs((kinds[chosen] == kind).sum() - len(chosen) * (kinds == kind).mean()) < 1 + 1e-9


def test_without_keys_items_are_taken_at_even_distances():
    assert choose(10, 4).tolist() == [0, 2, 5, 7]
    assert choose(10, 4, middle=True).tolist() == [1, 3, 6, 8]
    assert choose(3, 4).tolist() == [0, 1, 2]
    assert choose(6, 3, np.array([0, 1, 0, 1, 0, 1])).tolist() == [
        0,
        3,
        4,
    ]  # sorted 0 2 4 1 3 5: the first of each two


# ---- every task ------------------------------------------------------------------------------------------------------


def features(task: Task, windows: np.ndarray, often: np.ndarray) -> np.ndarray:
    """(window, feature): the shares of some tokens, which of them comes first and last, and what a rule costs."""
    tokens = np.stack([(windows == token).mean(axis=1) for token in often], axis=1)
    found = [tokens, windows[:, :1] == often, windows[:, -1:] == often]
    if isinstance(task, Rule):
        found.append(task.floors(windows)[:, None])
    return np.concatenate(found, axis=1)


def all_windows(task: Task, context: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Every window of a part, at most 4,000 of a long text, and the chance with which training draws each."""
    split = getattr(task.data(context), part)
    starts, chance = every_window(split)
    if len(starts) > 4_000 and isinstance(task, Text):
        some = np.random.default_rng(0).choice(len(starts), 4_000, replace=False)
        starts, chance = starts[some], chance[some]
    return split.tokens[starts[:, None] + np.arange(context + 1)], chance / chance.sum()


def check(task: Task, context: int) -> None:
    """Samples of every size and part have the composition of the part: of its kinds exactly, of all else by chance."""
    data = task.data(context)
    for part in ("train", "validation", "test"):
        if getattr(data, part) is None:
            continue
        windows, chance = all_windows(task, context, part)
        often = np.argsort(-np.bincount(windows[:, 0]), kind="stable")[:40]  # the most frequent tokens
        every = features(task, windows, often)
        mean = chance @ every
        deviation = np.sqrt(chance @ (every - mean) ** 2)
        kinds = task.examples(context, part, 10**9 if task.answers == "one" else 1).kind
        for size in SIZES:
            sample = task.examples(context, part, size)
            assert len(sample.windows) <= size
            some = features(task, sample.windows, often)
            apart = np.abs(some.mean(axis=0) - mean) - 5 * deviation / np.sqrt(len(some))
            assert apart.max() <= 2 / len(some), (part, size, int(apart.argmax()))
            if task.answers == "one":
                exact = np.bincount(kinds[:, 0] + 1) / len(kinds)
                found = np.bincount(sample.kind[:, 0] + 1, minlength=len(exact))
                assert (np.abs(found - len(sample.kind) * exact) < 1).all(), (part, size, found)
                chosen = as_hard_as_all(sample, slice(-1, None), max(1, size // 3))
                fewer = np.bincount(sample.kind[chosen, 0] + 1, minlength=len(exact))
                assert (np.abs(fewer - len(chosen) / len(sample.kind) * found) < 1).all(), (part, size, fewer)


@pytest.mark.parametrize("name", experiment.names())
def test_a_sample_has_the_composition_of_the_data(name, tmp_path):
    extra = [str(word) for word in _extra(name, tmp_path) if str(word).startswith("data.")]
    if name == "own_text":
        (tmp_path / "mine.txt").write_text(small_texts.TEXT, encoding="utf-8")
    mine = experiment.load(name, extra)
    check(mine.task, mine.architecture.context)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("seed", [0, 18])
def test_a_sample_of_drawn_questions_has_every_operation_in_its_share(draws, seed):
    check(FiveOperations(draws=draws, seed=seed), 8)


@pytest.mark.parametrize(
    "task",
    [
        FiveOperations(split="multiset"),
        FiveOperations(fraction=0.3),
        FiveOperations(operations=("First", "Max", "Min")),
        FiveOperations(draws=8_000, shuffled=True),
        ModularAddition(share=0.9),
        ModularAddition(split="unordered"),
    ],
)
def test_other_settings_of_questions(task):
    check(task, task.length)


def test_windows_of_sequences_of_one_length_begin_everywhere():
    check(PlusLastEven(shortest=32, longest=32), 8)


# ---- what is logged --------------------------------------------------------------------------------------------------


def by_operation(task: FiveOperations) -> tuple[Architecture, dict[str, np.ndarray]]:
    """A model written down by hand: it reads the operation alone, and is the less sure of a digit the later that is."""
    a = Architecture(
        vocabulary=len(task.vocabulary), context=task.length, width=5, feed_forward=0, attention="off",
        positions="none", causal=False, read_position=0, biases=(),
    )  # fmt: skip
    flat = {name: np.zeros(shape, np.float32) for name, shape in a.shapes().items()}
    flat["token"][FIRST : FIRST + 5] = np.eye(5)
    flat["read_out"][:, ZERO : ZERO + 10] = np.arange(5)[:, None]
    return a, flat


def exact_losses(a: Architecture, flat: dict[str, np.ndarray], windows: np.ndarray) -> np.ndarray:
    logits = reference.forward(nest(flat), windows[:, :-1], a)[0][:, 0].astype(np.float64)
    own = np.take_along_axis(logits, windows[:, -1:].astype(np.int64), axis=1)[:, 0]
    return np.log(np.exp(logits).sum(axis=1)) - own


@pytest.mark.parametrize("draws", [8_000, 10_000, 50_000])
def test_the_logged_losses_are_those_of_the_whole_parts(draws):
    """On the last line, on 1,000 questions of a part, and between, on 128 of them."""
    task = FiveOperations(draws=draws)
    a, flat = by_operation(task)
    judged = Judged(task, a, most=1_000, share=0.1, members=1)
    for tables in (judged.tables, judged.tables[: judged.between]):
        counts = [{k: np.asarray(v)[None] for k, v in judged.count(nest(flat), table).items()} for table in tables]
        line = judged.line(counts)
        for part in ("train", "validation", "test"):
            every = exact_losses(a, flat, all_windows(task, 8, part)[0])
            within = np.ptp(every) / line["judged"][part]  # the shares of the operations are exact up to one question
            assert every.std() > 0.1
            assert line[f"{part}_loss"][0] == pytest.approx(every.mean(), abs=1.01 * within), (part, line["judged"])


def test_a_scored_sample_has_every_operation_and_every_beginning_in_its_share(tmp_path, monkeypatch):
    seen = []
    losses = score.__globals__["_losses"]
    monkeypatch.setattr("glassformer.score._losses", lambda *given: seen.append(given[-3]) or losses(*given))
    run = noise(tmp_path / "drawn", experiment.load("five_operations", ["data.draws=8000", *SMALL]))
    score(run, "train", windows=400)
    tokens = run.task.data(8).train.tokens
    assert np.bincount(tokens[seen[-1]] - FIRST).tolist() == [80] * 5
    fixed = ["data.shortest=32", "data.longest=32"]
    rule = noise(tmp_path / "rule", experiment.load("plus_last_even", fixed))
    score(rule, windows=150)  # as many as there are sequences, of 24 windows each
    assert np.ptp(np.bincount(seen[-1] % 32, minlength=24)) <= 1


def test_shown_and_compared_questions_are_of_every_operation(tmp_path):
    run = noise(tmp_path / "drawn", experiment.load("five_operations", ["data.draws=8000", *SMALL]))
    assert {row[0] for row in training_data(run, count=5).tokens} == set(run.task.kinds)
    split = FiveOperations(draws=1_000_000).data(8)
    held = choose(len(split.validation.starts), MOST_HELD, *split.validation.strata)
    assert np.bincount(split.validation.kind[held]).tolist() == [MOST_HELD // 5] * 5


# ---- places of windows -----------------------------------------------------------------------------------------------


def test_rungs_are_asked_at_every_place_of_a_window(tmp_path, monkeypatch):
    """As many windows as there are guesses of a rung: at even distances they would all be asked at one place."""
    run = random_run(tmp_path, "characters")
    ladder = [rung for rung in run.task.ladder(8) if rung.reachable]
    windows, tokens = run.task.examples(8, "validation", accuracy.WINDOWS).windows, np.arange(len(run.task.vocabulary))
    every = np.array([
        [accuracy._hit(ladder[-1].guess(row[: place + 1]), tokens == row[place + 1]) for place in range(8)]
        for row in windows
    ])  # fmt: skip
    monkeypatch.setattr(accuracy, "GUESSES", len(windows) * len(ladder))
    accuracy._rungs.cache_clear()
    names, found, _ = accuracy._rungs(run)
    accuracy._rungs.cache_clear()
    assert names.labels[-1].endswith(ladder[-1].name)
    assert abs(every[:, 0].mean() - every.mean()) > 0.2  # with one token in view it is another matter
    assert found[-1] == pytest.approx(every.mean(), abs=0.05)


def test_tables_of_counts_are_asked_at_every_place_how_sure_they_are(tmp_path, monkeypatch):
    run = random_run(tmp_path, "characters")
    ladder = [rung for rung in run.task.ladder(8) if rung.reachable]
    examples = run.task.examples(8, "validation", 80)
    monkeypatch.setattr(_uncertain_run, "VIEWS", 10**9)
    exact = _uncertain_run._rung_entropies(run, ladder, examples)
    monkeypatch.setattr(_uncertain_run, "VIEWS", len(examples.windows) + 1)
    np.testing.assert_allclose(_uncertain_run._rung_entropies(run, ladder, examples), exact, atol=0.1)


def test_points_of_a_landscape_are_of_every_position(tmp_path):
    run = random_run(tmp_path, "characters", changes=("architecture.context=32",))
    kept = _land.laid(run).fields["points"]["held_out"].axes["window"].values
    assert len(kept) == _land.MOST_ENDS
    many = np.bincount([place for _, place in kept], minlength=32)
    assert np.ptp(many) <= 1


def test_attention_is_looked_at_at_every_place(tmp_path):
    run = random_run(tmp_path, "characters", changes=("architecture.context=16", "train.judged=200"))
    asked = facts.looked_at(run).asked
    assert len(asked) == facts.QUERIES
    assert np.ptp(np.bincount(asked[:, 1], minlength=16)) <= 1


@pytest.mark.parametrize("many", [4, 8, 16, 32])
def test_what_a_whole_window_gains_is_measured_at_every_place(many, tmp_path, monkeypatch):
    """Costs written down by hand: what a token costs falls with every token before it in its window."""
    run = random_run(tmp_path, "characters", changes=(f"architecture.context={many}",))
    costs = np.arange(many, 0.0, -1)  # by place
    monkeypatch.setattr(context, "_costs", lambda _run, windows, _member: np.tile(costs, (len(windows), 1)))
    length = len(context.predicted(run))
    monkeypatch.setattr(context, "VIEWED", -(-length // 32))
    gained = context.measure(run)["gain_view"][0]
    assert gained == pytest.approx((many - 1) / 2, abs=0.15 * many)


# ---- questions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("trained", "digits"), [(3, 4), (2, 3)])
def test_questions_of_another_length_have_all_answers(trained, digits, tmp_path):
    """Listed by their digits, every 25th of four digits ends with 00, 25, 50 or 75."""
    settings = [*SMALL, f"data.arguments={trained}", f"architecture.context={2 * trained + 2}"]
    run = noise(tmp_path / "run", experiment.load("five_operations", settings))
    tokens, answers = arguments._asked(run, digits)
    assert len(tokens) == arguments.MOST
    every, right = five_operations.questions(digits)
    for operation in range(FIRST, FIRST + 5):
        found = np.bincount(answers[tokens[:, 0] == operation] - ZERO, minlength=10)
        share = np.bincount(right[every[:, 0] == operation] - ZERO, minlength=10) / (every[:, 0] == operation).sum()
        assert found.sum() == len(tokens) / 5
        assert (np.abs(found - found.sum() * share) <= 1 + 4 * np.sqrt(found.sum() * share)).all()


def test_operations_with_the_same_digits_are_asked_about_different_ones():
    """Of 100 held-out sets of digits, each asked in all five operations, 50 questions hold more than ten."""
    asked = FiveOperations(split="multiset").examples(8, "validation", 50).windows
    assert len(np.unique(asked[:, [2, 4, 6]], axis=0)) > 35


def test_resampled_values_come_from_windows_of_every_kind():
    run = run_of("five_operations")
    kind = run.task.examples(8, "validation", 200).kind[:, 0]
    donors = _removal.replaced("resample", np.arange(len(kind)))
    assert sorted(donors.tolist()) == list(range(len(kind)))  # each once
    assert (donors != np.arange(len(kind))).all()
    table = np.zeros((5, 5))
    np.add.at(table, (kind, kind[donors]), 1)
    np.testing.assert_allclose(table, 8, atol=11)  # four standard deviations of a draw by chance


def test_inputs_compared_with_others_are_not_beside_their_like():
    """`_match.elsewhere` compares each input with one some places on: mostly of another operation."""
    asked = _match.inputs(run_of("five_operations"))[:, 0]
    alike = [np.mean(asked == np.roll(asked, by)) for by in range(1, 9)]
    assert max(alike) < 0.45  # a fifth by chance, of 60 questions
    assert np.mean(alike) == pytest.approx(0.2, abs=0.06)


# ---- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [(), ("data.draws=8000",), ("data.split=multiset",)])
def test_the_first_windows_of_the_page_are_of_every_operation(changes, tmp_path):
    """A large model is judged there on fewer windows than stand for all: on the first of them."""
    run = noise(tmp_path / "run", experiment.load("five_operations", [*SMALL, *changes]))
    arrays = page_data.arrays(run)
    for part, of in page_data.PARTS.items():
        kind, few = arrays[f"{part}.kind"][:, 0], int(arrays[f"{part}.few"][0])
        seen = run.task.examples(8, of, 1000)
        chosen = as_hard_as_all(seen, counted(run.architecture, 0).came, LEAST)
        rows = {tuple(row) for row in seen.windows[chosen].tolist()}
        assert {tuple(row) for row in arrays[f"{part}.windows"][:few].tolist()} == rows
        for many in range(16, few + 1):
            assert np.abs(np.bincount(kind[:many], minlength=5) - many / 5).max() < 2, (part, many)
