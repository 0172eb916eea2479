"""Language models: what is shown of a window, of two models beside each other, of words and of their counts."""

import re
from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from numpy.testing import assert_allclose

from glassformer.analyses import _pairs, _passage
from glassformer.analyses.attend.attention import attention
from glassformer.analyses.attend.head_roles import head_roles
from glassformer.analyses.attend.query_key_space import query_key_space
from glassformer.analyses.attend.scoring import scoring
from glassformer.analyses.learn.generated import generated
from glassformer.analyses.learn.next_token import next_token
from glassformer.analyses.trust.comparison import comparison
from glassformer.analyses.what.batch import batch
from glassformer.analyses.what.coverage import coverage
from glassformer.analyses.what.vocabulary import vocabulary
from glassformer.errors import CallError
from glassformer.experiment import for_text, load
from glassformer.figures import _draw, plot_attention, plot_comparison, plot_coverage, plot_token_counts
from glassformer.record import Recorder
from glassformer.run import Run
from small_runs import TEXT, run_of
from small_texts import SETTINGS, noise, once, random_run
from small_texts import TEXT as WORDS


def validation(run):
    """The tokens of the validation part: the second of three, as shares of all tokens."""
    stream, task = run.task.stream, run.task
    begin = int((1 - task.validation - task.test) * len(stream))
    return stream[begin : int((1 - task.test) * len(stream))].tolist()


def occurs(some, text):
    return any(text[k : k + len(some)] == some for k in range(len(text) - len(some) + 1))


def logged(folder, tokenizer, losses, *changes):
    """An untrained run on a text that has logged these losses at steps 0, 1, 2, ...; the count table costs 2 nats."""
    folder.mkdir()
    path = folder / "text.txt"
    path.write_text(WORDS, encoding="utf-8")
    experiment = for_text(path, tokenizer, {"bpe": 120, "byte_bpe": 300}.get(tokenizer), once(*SETTINGS, *changes))
    shapes = experiment.architecture.shapes()
    weights = {name: np.zeros((1, *shape), np.float32) for name, shape in shapes.items()}
    lines = [{"step": k, "validation_loss": loss, "excess": loss - 2} for k, loss in enumerate(losses)]
    with Recorder.create(folder / "run", experiment, [7]) as recorder:
        recorder.safe_point(len(losses) - 1, [0], weights, lines, {})
        recorder.finish()
    return Run(folder / "run")


# ---- attention on a text --------------------------------------------------------------------------------------------


def test_attention_on_a_text_is_shown_on_a_whole_window_that_was_held_out():
    run = run_of(TEXT)
    tokens = _passage.looked_at(run, None)
    assert len(tokens) == run.architecture.context
    assert occurs(tokens.tolist(), validation(run))
    seen = attention(run)
    assert_allclose(seen.attention.values, run.trace(tokens)["attention"], rtol=1e-6)
    plain = [k for k, word in enumerate(seen.tokens) if not any(letter.isalnum() for letter in word)]
    assert plain
    assert list(seen.marks) == plain
    assert "a window of the validation part" in _draw.of(plot_attention(seen)).words.caption
    assert attention(run, sequence="mary had").tokens == ("mary", "had")


def test_figures_of_queries_follow_one_of_the_input_and_keep_the_case_of_its_token():
    run = run_of(TEXT)
    space, scored = query_key_space(run), scoring(run)
    assert space.row(space.query) in space.example  # else its scores with the keys of the input cannot be drawn
    assert space.left_out == len(run.task.vocabulary) - len(space.queries.axes["token"])
    assert scored.title.startswith(f"{_pairs.spoken(scored.tokens[scored.followed])} at position")
    assert [_pairs.spoken(each) for each in ("had", ":", "+", "--")] == ["had", "“:”", "+", "“--”"]


def test_one_head_alone_is_drawn_large():
    run = run_of(TEXT)
    one, every = plot_attention(run, block=1, head=0), plot_attention(run)
    (large,), small = ([ax for ax in each.axes if ax.images] for each in (one, every))
    shown = np.ma.filled(large.images[0].get_array(), 0)
    assert_allclose(shown, np.tril(attention(run).attention.values[1, 0]), atol=1e-12)
    assert large.get_position().height * one.get_figheight() > (
        1.5 * small[0].get_position().height * every.get_figheight()
    )
    assert large.get_title(loc="left").startswith("block 1, head 0")
    assert len([ax for ax in plot_attention(run, block=1).axes if ax.images]) == run.architecture.heads
    with pytest.raises(CallError, match="head = 9 is not between 0 and 1"):
        attention(run, head=9)


def test_a_rhyme_keeps_its_showcase(tmp_path):
    run = noise(tmp_path / "run", load("mary", steps=2))
    assert attention(run).tokens == tuple(run.task.showcase[0].split())


def test_of_a_long_context_a_part_is_shown(tmp_path):
    run = random_run(tmp_path, "characters", changes=("architecture.context=90",))
    tokens = _passage.looked_at(run, None)
    assert len(tokens) == 64
    assert occurs(tokens.tolist(), validation(run))


def test_punctuation_is_named_where_not_every_token_can_be(tmp_path):
    run = random_run(tmp_path, "characters", changes=("architecture.context=64",))
    seen, figure = attention(run), plot_attention(run)
    figure.canvas.draw()
    panel = next(ax for ax in figure.axes if ax.get_xlabel() == "key position")
    named = [int(place) for place in panel.get_xticks()]
    marks = set(seen.marks)
    assert 0 < len(named) < 64
    assert all(later - earlier >= 2 for earlier, later in pairwise(named)), "they would overlap"
    left_out = [place for place in marks if place not in named]
    assert all(min(abs(place - other) for other in marks & set(named)) < 5 for place in left_out)
    lines = [line for line in panel.lines if len(set(line.get_xdata())) == 1]
    assert {int(line.get_xdata()[0]) for line in lines} == marks


@pytest.fixture
def stripes(tmp_path):
    """Every query gives the same to each mark in view and next to nothing to words; without a mark, to all alike."""
    path = tmp_path / "text.txt"
    path.write_text(WORDS, encoding="utf-8")
    plain = ("blocks=1", "heads=1", "norm=none", "final_norm=false", "positions=none", "feed_forward=0",
             "output_projection=false", "tied_embedding=false", "dropout=0", "biases=[]")  # fmt: skip
    experiment = for_text(path, "bpe", 120, once(*SETTINGS, *(f"architecture.{each}" for each in plain)))
    words = experiment.task.vocabulary
    shapes = experiment.architecture.shapes()
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    weights["token"][:, 0] = 1
    weights["token"][[not any(letter.isalnum() for letter in word) for word in words], 1] = 1
    weights["blocks.0.query"][0, 0] = 1
    weights["blocks.0.key"][1, 0] = 200
    with Recorder.create(tmp_path / "run", experiment, [7]) as recorder:
        recorder.safe_point(0, [0], {name: value[None] for name, value in weights.items()}, [], {})
        recorder.finish()
    return Run(tmp_path / "run")


def test_stripes_of_punctuation_are_found_and_named(stripes):
    seen, words = head_roles(stripes), stripes.task.vocabulary
    shares = []
    for window in stripes.task.examples(8, "validation", 96).windows[:, :8]:
        mark = [not any(letter.isalnum() for letter in words[token]) for token in window]
        for query in range(8):
            before = sum(mark[:query])
            if before:
                shares.append(before / (before + mark[query]))
    role = seen.share.axes["role"].labels.index("punctuation tokens")
    assert seen.share.values[0, 0, role] == pytest.approx(np.mean(shares), rel=1e-5)
    assert seen.roles(0, 0)[0] == "punctuation tokens"
    assert seen.described(0, 0).startswith("punctuation stripes (")


# ---- several models of a text ---------------------------------------------------------------------------------------


def test_models_of_one_text_are_ranked_by_their_best_perplexity(tmp_path):
    short = logged(tmp_path / "short", "characters", [4.0, 2.0, 3.5])
    long = logged(tmp_path / "long", "characters", [4.0, 2.5, 2.5], "architecture.context=12")
    seen = comparison([long, short])
    assert (seen.metric, seen.same, seen.best) == ("perplexity", False, 1)
    assert_allclose(seen.reached.values[:, :3], np.exp([[2.5, 0, 2.5], [2.0, 0, 3.5]]) * [1, 0, 1] + [[0, 1, 0]] * 2)
    assert "7.39 at step 1" in seen.title
    figure = plot_comparison([long, short])
    drawn = [line.get_ydata() for line in figure.axes[0].lines if len(line.get_xdata()) == 3]
    assert_allclose(drawn, np.exp([[4, 2.5, 2.5], [4, 2, 3.5]]))
    assert figure.axes[0].get_yscale() == "log"


def test_models_of_one_text_cut_in_different_ways_are_compared_by_character(tmp_path):
    letters, pieces = logged(tmp_path / "a", "characters", [2.0]), logged(tmp_path / "b", "byte_bpe", [2.0])
    seen = comparison([letters, pieces])
    part = validation(pieces)
    per_token = len(pieces.task.decode(np.array(part[1:]))) / (len(part) - 1)
    assert seen.metric == "bits"
    assert_allclose(seen.reached.values[:, 0], [2 / log(2), 2 / log(2) / per_token], rtol=1e-3)
    assert (seen.best, per_token > 1.2) == (1, True)


def test_a_text_that_lost_its_spaces_is_not_compared_by_character(tmp_path):
    letters, lossy = logged(tmp_path / "a", "characters", [3.0, 1.5]), logged(tmp_path / "b", "bpe", [3.0, 1.8])
    figure = plot_comparison([letters, lossy])
    seen = _draw.of(figure)
    assert seen.result.metric == "excess"
    assert "throws characters away" in seen.words.caption
    drawn = [line.get_ydata() for line in figure.axes[0].lines if list(line.get_xdata()) == [0, 1]][:2]
    assert_allclose(drawn, [[1, -0.5], [1, -0.2]])  # below nought, and drawn
    assert figure.axes[0].get_yscale() == "linear"
    with pytest.raises(CallError, match="cannot be restored"):
        comparison([letters, lossy], metric="bits")


# ---- words and counts -----------------------------------------------------------------------------------------------


def test_the_letters_of_the_whole_text_are_counted(tmp_path):
    run = random_run(tmp_path, "characters")
    seen, truth = vocabulary(run), Counter(WORDS)
    assert dict(zip(seen.counts.axes["token"].labels, seen.counts.values, strict=True)) == truth
    assert (seen.total, seen.counted) == (len(WORDS), "the whole text")
    assert "of the whole text" in _draw.of(plot_token_counts(run)).words.caption
    assert vocabulary(run_of("plus_last_even")).counted == "the training part"


def test_windows_of_a_batch_lie_in_the_training_part_alone(tmp_path):
    run = random_run(tmp_path, "characters")
    seen = batch(run, count=200)
    assert seen.corpus == int(0.8 * len(WORDS))
    assert (seen.begins.values + run.architecture.context < seen.corpus).all()
    rule = run_of("plus_last_even")
    assert batch(rule).corpus == len(rule.task.data(8).train.tokens)


def test_what_is_printed_of_a_text_is_true(tmp_path):
    run = random_run(tmp_path, "byte_bpe")
    seen = coverage(run)
    assert seen.distinct == len(Counter(WORDS))
    parts = dict(zip(seen.parts.axes["part"].labels, seen.parts.values, strict=True))
    assert parts["validation"] == len(validation(run))
    assert sum(parts.values()) == len(run.task.stream)
    assert WORDS.splitlines()[0] in _draw.of(plot_coverage(seen)).words.caption


@pytest.mark.parametrize("size", ["slide", "print_narrow"])
def test_words_that_have_no_room_are_owned_up_to(tmp_path, size):
    run = random_run(tmp_path, "byte_bpe")
    figure = plot_coverage(run, size=size)
    many = len(coverage(run).cut)
    boxes = max(sum(isinstance(patch, Rectangle) for patch in ax.patches) for ax in figure.axes)
    notes = [match for text in figure.findobj(lambda each: hasattr(each, "get_text"))
             if (match := re.match(r"the first (\d+) of (\d+) words; (\d+)", text.get_text()))]  # fmt: skip
    assert boxes == many if not notes else [int(n) for n in notes[0].groups()] == [boxes, many, many - boxes]
    assert bool(notes) == (boxes < many)


def test_ticks_are_how_often_a_token_followed_in_training():
    run = run_of(TEXT)
    stream = run.task.stream.tolist()
    train = stream[: int((1 - run.task.validation - run.task.test) * len(stream))]
    prompt = run.task.encode("mary went").tolist()
    after = Counter(train[k + 2] for k in range(len(train) - 2) if train[k : k + 2] == prompt)
    seen = next_token(run, sequence="mary went")
    assert len(prompt) == 2
    assert seen.times.values[0] == sum(after.values()) > 3
    assert_allclose(seen.truth.values[0], [after[token] / sum(after.values()) for token in range(90)])
    never = next_token(run, sequence="lamb lamb lamb")
    assert never.times.values[0] == 0
    assert np.isnan(never.truth.values).all()
    assert "never stand" in never.title


# ---- what it writes -------------------------------------------------------------------------------------------------


def test_a_rhyme_goes_on_from_the_words_it_is_known_by(tmp_path):
    run = noise(tmp_path / "run", load("mary", steps=2))
    seen = generated(run, sequences=7)
    first = [run.task.vocabulary[int(token)] for token in seen.tokens.values[0, 0, :, 0]]
    assert first[:5] == ["mary", "the", "it", "little", "lamb"]


def test_it_goes_on_from_the_texts_asked_for(tmp_path):
    run = noise(tmp_path / "run", load("mary", steps=2))
    seen = generated(run, starts=("mary had", "the lamb"), tokens=9, choices=("arg-max",))
    for row, text in enumerate(["mary had", "the lamb"]):
        said = list(run.generate(text, tokens=7, temperature=0))
        assert seen.tokens.values[-1, 0, row].tolist() == [*run.task.encode(text).tolist(), *said]
    assert seen.written == 2
    assert (seen.verdicts.values[..., :2] == 0).all()
    assert (seen.verdicts.values[..., 2:] > 0).all()
    with pytest.raises(CallError, match="same number of tokens"):
        generated(run, starts=("mary", "the lamb"))
