"""The price of a part: the same by hand, window by window, in plain NumPy."""

import numpy as np
import pytest

import glassformer as gf
from command import call
from glassformer import training
from glassformer.errors import CallError, LimitError
from glassformer.experiment import for_text, load
from glassformer.score import every_window, score
from glassformer.tasks._task import Split
from small_runs import POPULATION, run_of
from small_texts import SETTINGS, TEXT, random_run


def by_hand(run, windows, step=-1):
    """(window, place): the loss of each prediction and whether it is right, by the reference pass."""
    chances = run.trace(windows[:, :-1], step=step)["probabilities"]
    given = np.take_along_axis(chances, windows[:, 1:, None], axis=2)[..., 0]
    return -np.log(given.astype(np.float64)), chances.argmax(axis=2) == windows[:, 1:]


def all_windows(run, part):
    """Every window of a text's part, cut one after the other."""
    context = run.architecture.context
    begin, end = run.task.bounds(context)[part]
    return np.array([run.task.stream[start : start + context + 1] for start in range(begin, end)])


def by_place(split, many):
    """The windows that are scored: all are sorted by how far into their sequence they begin, and evenly taken."""
    places = [(place, piece) for piece, long in enumerate(split.windows) for place in range(long)]
    order = sorted(range(len(places)), key=lambda k: places[k])
    return sorted(order[k * len(order) // many] for k in range(many))


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    return random_run(tmp_path_factory.mktemp("letters"), "characters")


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_every_window_of_a_text_is_counted_once(letters, part):
    windows = all_windows(letters, part)
    loss, right = by_hand(letters, windows, step=0)
    found = score(letters, part, step=0)
    assert (found.windows, found.of, found.step, found.part) == (len(windows), len(windows), 0, part)
    assert found.loss == pytest.approx(loss.mean(), rel=1e-5)
    assert found.accuracy == pytest.approx(right.mean(), abs=1e-9)
    np.testing.assert_allclose(found.by_position, loss.mean(axis=0), rtol=1e-4)
    assert found.perplexity == pytest.approx(np.exp(loss.mean()), rel=1e-4)
    assert found.uncertainty is None


def test_the_floor_of_a_rule_is_that_of_the_windows_scored():
    """Window by window, with the exact predictor asked afresh at every place."""
    run = run_of("plus_last_even")
    split = run.task.data(8).validation
    starts, weights = every_window(split)
    picked = by_place(split, 40)
    floors = []
    for start in starts[picked]:
        window = np.asarray(split.tokens)[start : start + 9]
        given = run.task.true_distribution(window[:-1], 8)[np.arange(8), window[1:]]
        floors.append(-np.log(given).mean())
    share = weights[picked] / weights[picked].sum()
    assert score(run, windows=40).floor == pytest.approx(share @ floors, abs=1e-12)
    assert score(run_of("five_operations"), windows=40).floor is None


def test_whole_answers_are_those_that_greedy_writing_gets_right(tmp_path):
    settings = ("train.judged=20", "train.keep_bytes=0", "train.rate=2e-3")
    run = training.begin(load("sort", settings, seed=1, steps=30), out=tmp_path / "sort").run
    rows, wrote = run.task._rows("validation"), []
    for row in rows:
        said = run.generate(" ".join(map(str, row[:6])), tokens=6, temperature=0)
        wrote.append(list(said) == row[6:].tolist())
    assert 0.05 < np.mean(wrote) < 0.95  # neither hopeless nor learnt
    assert score(run).whole == pytest.approx(np.mean(wrote), abs=1e-9)
    answer = call("score", run.path)
    assert f"{np.mean(wrote):.1%} of the answers are wholly right" in answer.out


def test_in_pieces_it_is_the_same(letters, monkeypatch):
    whole = score(letters)
    monkeypatch.setattr("glassformer.score.AT_ONCE", 8 * 16 * 3 * 7)  # a few windows at a time
    told = []
    pieces = score(letters, progress=lambda done, of: told.append((done, of)))
    assert pieces.loss == pytest.approx(whole.loss, rel=1e-6)
    assert pieces.accuracy == pytest.approx(whole.accuracy, abs=1e-9)
    np.testing.assert_allclose(pieces.by_position, whole.by_position, rtol=1e-5)
    assert len(told) > 10
    assert told[0] == (0, whole.of)
    assert told[-1] == (whole.of, whole.of)


def test_some_windows_are_spaced_evenly_and_their_error_is_honest(letters):
    whole, some = score(letters), score(letters, windows=62)
    windows = all_windows(letters, "validation")
    picked = windows[[k * len(windows) // 62 for k in range(62)]]
    each = by_hand(letters, picked)[0].mean(axis=1)
    assert some.loss == pytest.approx(each.mean(), rel=1e-5)
    overlap = 62 * 8 / (len(windows) + 7)  # predictions made, and tokens there are to predict
    assert overlap > 1.5
    assert some.uncertainty == pytest.approx(each.std() / np.sqrt(62) * np.sqrt(overlap), rel=1e-4)
    assert abs(some.loss - whole.loss) < 4 * some.uncertainty


def test_questions_that_never_overlap_are_drawn_apart():
    """Half of all questions, each a window of its own: the plain standard error of their mean."""
    run = run_of("five_operations")
    whole = score(run)
    some = score(run, windows=whole.of // 2)
    split = run.task.data(run.architecture.context).validation
    starts = split.starts[np.arange(some.windows) * whole.of // some.windows]
    windows = split.tokens[starts[:, None] + np.arange(run.architecture.context + 1)]
    chances = run.trace(windows[:, :-1])["probabilities"][:, run.architecture.read_position]
    each = -np.log(chances[np.arange(len(windows)), windows[:, -1]].astype(np.float64))
    assert some.loss == pytest.approx(each.mean(), rel=1e-5)
    assert some.uncertainty == pytest.approx(each.std() / np.sqrt(len(each)), rel=1e-4)


def test_a_model_that_is_no_number_has_no_accuracy(tmp_path):
    run = random_run(tmp_path, "characters", not_a_number=True)
    found = score(run, windows=20)
    assert np.isnan([found.loss, found.accuracy]).all()
    answer = call("score", run.path)
    assert answer.code == 0
    assert "not a number" in answer.out
    assert "nan" not in answer.out
    assert call("score", run.path, "--json").json["accuracy"] == "NaN"


def test_the_logged_loss_is_found_again(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    run = gf.train(for_text(path, "characters", None, SETTINGS), out=tmp_path / "run")
    judged = run.experiment.train.windows
    assert score(run, windows=judged).loss == pytest.approx(run.metrics["validation_loss"][-1], rel=1e-5)
    assert score(run, "train", windows=judged).loss == pytest.approx(run.metrics["train_loss"][-1], rel=1e-5)


def test_windows_weigh_what_training_gives_them():
    starts, weights = every_window(Split(np.arange(30), np.array([0, 10, 20]), np.array([4, 1, 2])))
    assert starts.tolist() == [0, 1, 2, 3, 10, 20, 21]
    np.testing.assert_allclose(weights, np.array([1 / 4] * 4 + [1] + [1 / 2] * 2) / 3)


def test_a_rule_is_scored_piece_by_piece():
    run = run_of("plus_last_even")
    split = run.task.data(8).validation
    means = []
    for start, many in zip(split.starts[:60], split.windows[:60], strict=True):
        windows = np.array([split.tokens[start + k : start + k + 9] for k in range(many)])
        means.append(by_hand(run, windows)[0].mean())
    few = Split(split.tokens, split.starts[:60], split.windows[:60])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glassformer.score._split", lambda *_: few)
        assert score(run).loss == pytest.approx(np.mean(means), rel=1e-5)


def test_one_answer_is_scored_where_it_is_read():
    run = run_of("five_operations")
    found = score(run, "test")
    examples = run.task.examples(run.architecture.context, "test", 10_000)
    chances = run.trace(examples.windows[:, :-1])["probabilities"][:, run.architecture.read_position]
    wanted = examples.windows[:, -1]
    assert found.windows == len(wanted) == 500
    assert found.loss == pytest.approx(-np.log(chances[np.arange(500), wanted]).mean(), rel=1e-4)
    assert found.accuracy == pytest.approx((chances.argmax(axis=1) == wanted).mean(), abs=1e-9)
    assert len(found.by_position) == 1


# ---- what it is compared with ----------------------------------------------------------------------------------------


def test_bits_per_character_belong_to_the_text_not_to_its_tokens(tmp_path):
    run = random_run(tmp_path, "byte_bpe")
    found = score(run)
    stream = run.task.stream
    begin, end = run.task.bounds(8)["validation"]
    before, whole = (len(run.task.decode(stream[: begin + 1])), len(run.task.decode(stream[: end + 8])))
    assert TEXT[before:whole] == run.task.decode(stream[begin + 1 : end + 8])
    assert found.characters == pytest.approx((whole - before) / (end + 8 - begin - 1))
    assert found.characters > 1.2
    assert found.bits(found.loss) == pytest.approx(found.loss / np.log(2) / found.characters)
    assert found.bits(0.0) == 0


def test_a_tokenizer_that_loses_text_has_no_price_per_character(tmp_path):
    run = random_run(tmp_path, "bpe")
    found = score(run)
    assert (found.characters, found.bits(found.loss), found.lossy) == (None, None, True)
    answer = call("score", run.path)
    assert "no bits per character" in answer.out
    assert call("score", run.path, "--json").json["bits_per_character"] is None


def test_the_ladder_is_counted_on_the_part_that_is_scored(letters):
    rungs = {rung.name: rung.nats for rung in letters.task.ladder(8)}
    found = dict(score(letters).ladder)
    assert found.keys() <= rungs.keys()
    assert list(found)[:2] == ["uniform guess", "token frequencies"]
    assert found == pytest.approx({name: rungs[name] for name in found})
    begin, end = letters.task.bounds(8)["train"]
    train = letters.task.stream[begin : end + 8]
    counts = np.bincount(train, minlength=len(letters.task.vocabulary))
    kinds, size = np.count_nonzero(counts), len(counts)  # Witten–Bell over no history at all
    begin, end = letters.task.bounds(8)["test"]
    test = letters.task.stream[np.arange(begin, end)[:, None] + np.arange(1, 9)]  # what each window predicts
    price = -np.log((counts[test] + kinds / size) / (len(train) + kinds)).mean()
    assert dict(score(letters, "test").ladder)["token frequencies"] == pytest.approx(price)


# ---- as a person meets it --------------------------------------------------------------------------------------------


def test_the_command_says_what_the_function_finds(letters):
    found, answer = score(letters), call("score", letters.path, "--json").json
    assert answer["loss"] == pytest.approx(found.loss)
    assert (answer["windows"], answer["of"], answer["step"]) == (found.windows, found.of, 2)
    assert [rung["name"] for rung in answer["ladder"]] == [name for name, _ in found.ladder]
    assert len(answer["loss_by_position"]) == 8
    lines = call("score", letters.path).out.splitlines()
    assert f"perplexity {found.perplexity:.2f}" in lines[1]
    assert lines[-1].split()[:3] == ["this", "model", f"{found.loss:.4f}"]
    assert "only on the others" in call("score", letters.path, "--part", "train").out


def test_what_cannot_be_scored_is_a_sentence(letters):
    with pytest.raises(LimitError, match="windows = 100000 is not between 1 and"):
        score(letters, windows=100_000)
    with pytest.raises(CallError, match="part = 'tst' is not one of: train, validation, test"):
        score(letters, "tst")
    for words, said in (
        (("--part", "tst"), "'tst'"),
        (("--windows", "many"), "'many'"),
        (("--windows", 0), "windows = 0"),
        (("--step", 1), "nearest kept"),
        (("--member", 3), "no member 3"),
    ):
        answer = call("score", letters.path, *words)
        assert (answer.code, answer.out) == (2, ""), words
        assert said in answer.err
    rule = call("score", run_of("plus_last_even").path, "--part", "test")
    assert rule.code == 2
    assert "no test part" in rule.err


def test_members_asked_together_pay_for_the_mean_of_their_chances():
    run = run_of(POPULATION)
    found = score(run, windows=40, member=None)
    starts, _ = every_window(run.task.data(8).validation)
    tokens = np.asarray(run.task.data(8).validation.tokens)
    rows = by_place(run.task.data(8).validation, 40)
    picked = starts[rows]
    windows = tokens[picked[:, None] + np.arange(9)]
    chances = np.mean([run.trace(windows[:, :-1], member=k)["probabilities"] for k in range(run.members)], axis=0)
    paid = -np.log(np.take_along_axis(chances, windows[:, 1:, None], axis=-1))[..., 0]
    alone = [score(run, windows=40, member=k).loss for k in range(run.members)]
    assert found.loss < np.mean(alone), "never worse than they are on average"
    weights = 1 / np.repeat(run.task.data(8).validation.windows, run.task.data(8).validation.windows)
    share = weights[rows]
    assert found.loss == pytest.approx(float(share @ paid.mean(axis=1) / share.sum()), rel=1e-5)
