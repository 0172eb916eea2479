"""Passages of a text: what the model gives each token, found again token by token."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from glassformer import figures
from glassformer.analyses import _decide, _passage, _removal
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Labelled
from glassformer.analyses.decide.ablation import ablation
from glassformer.analyses.learn.context_position import applies, context_position
from glassformer.analyses.learn.continuation import LONG, continuation
from glassformer.analyses.learn.token_loss import token_loss
from glassformer.errors import CallError
from glassformer.experiment import for_text, load
from glassformer.figures import _draw
from glassformer.score import score
from glassformer.tasks.mary import TOKENS, WORDS
from small_runs import run_of
from small_texts import SETTINGS, TEXT, noise, random_run

NAMES = ("continuation", "token_loss", "context_position")


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    return random_run(tmp_path_factory.mktemp("letters"), "characters")


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A context that is not small: windows overlap by half."""
    return random_run(tmp_path_factory.mktemp("long"), "characters", changes=("architecture.context=24",))


def chance_after(run, before, token):
    """What `ask` says about one token."""
    return dict(run.ask(run.task.decode(before)))[run.task.vocabulary[token]]


# ---- passages --------------------------------------------------------------------------------------------------------


def test_a_passage_lies_in_the_validation_part_and_begins_a_line(letters):
    begin, end = letters.task.bounds(8)["validation"]
    tokens, held_out = _passage.part(letters)
    np.testing.assert_array_equal(tokens, letters.task.stream[begin : end + 8])
    assert held_out
    found = _passage.stretch(letters, 30)
    assert letters.task.decode(found.tokens[: found.first])[-1] == "\n"
    assert len(found.tokens) - found.first == 30
    assert letters.task.decode(found.tokens) in TEXT


def test_a_small_context_is_filled_before_every_token(letters):
    found = _passage.stretch(letters, 25)
    chances = _passage.expected(letters, found, 2, 0)
    for k, place in enumerate(range(found.first, len(found.tokens))):
        token = found.tokens[place]
        before = found.tokens[max(0, place - 8) : place]
        assert chances[k, token] == pytest.approx(chance_after(letters, before, token), rel=1e-5)


def test_a_longer_context_is_at_least_half_filled(long):
    found = _passage.stretch(long, 50)
    chances = _passage.expected(long, found, 2, 0)
    assert len(chances) == 50
    for k, place in enumerate(range(found.first, len(found.tokens))):
        token = found.tokens[place]
        views = [
            chance_after(long, found.tokens[place - seen : place], token) for seen in range(12, 25) if place >= seen
        ]
        assert np.min(np.abs(np.array(views) - chances[k, token])) < 1e-6


def test_runs_without_a_text_say_so():
    for name in ("plus_last_even", "five_operations"):
        run = run_of(name)
        assert _passage.reason(run)
        with pytest.raises(CallError):
            token_loss(run)
    assert "one answer" in applies(run_of("five_operations"))


def test_what_cannot_be_seen_is_shown_by_a_sign_or_its_number():
    assert shown(" a\n\t") == "␣a⏎⇥"
    assert shown("\x14é\u200b€") == "\\x14é\\x200b€"
    assert shown("") == "∅"
    assert (shown("20\u202f000"), shown("\u00a0")) == ("20\u202f000", "\\xa0")  # a space of ours in a number; a token


# ---- continuation ----------------------------------------------------------------------------------------------------


def test_the_text_really_goes_on_like_that(letters):
    seen = continuation(letters)
    text = "".join(seen.words["text"])
    assert len(seen.words["text"]) == LONG
    assert seen.prompt + text in TEXT
    context = letters.architecture.context
    tokens = letters.task.encode(seen.prompt + text)
    for k in range(LONG):
        place = len(seen.prompt) + k
        before = letters.task.decode(tokens[max(0, place - context) : place])
        answers = letters.ask(before)
        assert seen.chance.values[k] == pytest.approx(dict(answers)[text[k]], rel=1e-5)
        assert seen.words["expected"][k] == answers[0][0]
    np.testing.assert_allclose(seen.loss.values, -np.log(seen.chance.values))


def test_the_models_own_texts_are_those_it_writes(letters):
    seen = continuation(letters, sequence="lamb", seed=3, temperature=0.7)
    assert seen.prompt.endswith("lamb")
    for line, given in (("greedy", {"temperature": 0}), ("sampled", {"temperature": 0.7, "seed": 3})):
        written = letters.generate(seen.prompt, LONG, **given)
        assert seen.words[line] == tuple(letters.task.vocabulary[token] for token in written)
    same = [a == b for a, b in zip(seen.words["greedy"], seen.words["text"], strict=True)]
    kept = same.index(False) if False in same else LONG
    assert sum(seen.agrees["greedy"]) == kept
    assert all(seen.agrees["greedy"][:kept])


def test_a_sequence_that_is_not_in_the_text_is_refused(letters):
    with pytest.raises(CallError, match="'lamb lamb lamb' does not occur"):
        continuation(letters, sequence="lamb lamb lamb")
    with pytest.raises(CallError, match="empty"):
        continuation(letters, sequence="")


# ---- the price of tokens and positions -------------------------------------------------------------------------------


def test_counting_and_the_model_price_the_same_tokens(letters):
    seen = token_loss(letters)
    text = "".join(seen.tokens)
    assert text in TEXT
    assert seen.other == "count table"
    task, found = letters.task, _passage.stretch(letters, len(seen.tokens))
    cost = task.counts(8).cost(found.tokens, task.best(8))[found.first :]
    np.testing.assert_allclose(seen.loss.values[1][8:], cost[8:], rtol=1e-9)
    before = found.tokens[found.first - 8 : found.first]
    assert seen.loss.values[0, 0] == pytest.approx(-np.log(chance_after(letters, before, found.tokens[found.first])))


def test_positions_cost_what_every_window_costs_there(letters):
    seen, whole = context_position(letters), score(letters)
    mean, error = seen.loss.values[:2]
    assert np.all(np.abs(mean - whole.by_position) <= 5 * error + 1e-6)
    if seen.windows == whole.of:
        np.testing.assert_allclose(mean, whole.by_position, rtol=1e-5)
    windows = letters.task.examples(8, "validation", seen.windows).windows
    counts, best = letters.task.counts(8), letters.task.best(8)
    at_first = [-np.log(counts.chances(window[:1], best)[window[1]]) for window in windows]
    at_last = [-np.log(counts.chances(window[:8], best)[window[8]]) for window in windows]
    assert seen.floor.values[0] == pytest.approx(np.mean(at_first))
    assert seen.floor.values[-1] == pytest.approx(np.mean(at_last))
    np.testing.assert_allclose(seen.excess.values[0], mean - seen.floor.values, atol=1e-9)


@pytest.mark.parametrize(
    ("late", "said"),
    [(2.0, "a longer view does not help"), (1.75, "it cannot be told whether a longer view helps"),
     (1.5, "the loss falls from 2.00 nats")],
)  # fmt: skip
def test_a_fall_within_the_error_is_no_proof_that_nothing_falls(letters, late, said):
    """2 nats after one token, with a standard error of 0.2."""
    seen = context_position(letters)
    values = seen.loss.values.copy()
    values[0, 0], values[1, 0] = 2.0, 0.2
    assert said in replace(seen, loss=Labelled(values, seen.loss.axes), late=late).title


# ---- drawn -----------------------------------------------------------------------------------------------------------


def shaded(figure):
    """The numbers behind the shades: the chances of one row of boxes, or the losses of two texts."""
    gids = [patch.get_gid() or "" for axes in figure.axes for patch in axes.patches]
    chances = [float(gid.split()[1]) for gid in gids if gid.startswith("chance ")]
    losses = [each.get_array() for axes in figure.axes for each in axes.collections if each.get_gid() == "losses"]
    return losses or [chances]


@pytest.mark.parametrize("size", ["screen", "slide", "print", "print_narrow"])
@pytest.mark.parametrize("kind", ["characters", "words", "byte_bpe", "bpe"])
@pytest.mark.parametrize("name", ["continuation", "token_loss"])
def test_what_is_drawn_is_what_was_found(tmp_path, name, kind, size):
    figure = getattr(figures, f"plot_{name}")(random_run(tmp_path, kind), size=size)
    seen = _draw.of(figure).result
    found = [seen.chance.values] if name == "continuation" else seen.loss.values
    for drawn, values in zip(shaded(figure), found, strict=True):
        assert len(drawn) >= 10
        np.testing.assert_allclose(drawn, values[: len(drawn)])
    figure.canvas.draw()
    for axes in figure.axes:
        if axes.get_label() != "<colorbar>":
            box = axes.get_window_extent()
            inside = [text.get_window_extent() for text in axes.texts if text.get_ha() == "center"]
            assert inside
            assert max(each.x1 for each in inside) <= box.x1 + 1
            assert max(each.y1 for each in inside) <= box.y1 + 1


@pytest.mark.parametrize("name", NAMES)
def test_they_draw_where_they_are_told_and_leave_no_trace(letters, name):
    before, host = dict(matplotlib.rcParams), Figure(figsize=(12, 9))
    left, right = host.subfigures(1, 2)
    plot = getattr(figures, f"plot_{name}")
    assert plot(letters, ax=left, theme="dark") is host
    assert left.axes
    assert not right.axes
    assert plot(letters, ax=right.add_subplot()) is host
    assert dict(matplotlib.rcParams) == before
    once, again = (_draw.data(plot(letters), "svg") for _ in range(2))
    assert once == again


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_diverged_is_told(tmp_path, name):
    run = random_run(tmp_path, "characters", not_a_number=True)
    figure = getattr(figures, f"plot_{name}")(run)
    words = _draw.of(figure).words
    assert "not numbers" in words.title or "not a number" in words.title
    assert "nan" not in (words.title + words.caption + words.alt).lower().split()
    assert "At step 0" in _draw.of(getattr(figures, f"plot_{name}")(run, step=0)).words.title


def test_the_rhyme_is_its_own_validation(tmp_path):
    run = noise(tmp_path / "run", load("mary"))
    tokens, held_out = _passage.part(run)
    assert not held_out
    np.testing.assert_array_equal(tokens, TOKENS[: len(tokens)])
    seen = context_position(run)
    np.testing.assert_allclose(seen.floor.values, [0.6429, 0.2661, 0.1786, 0.0946, 0.0560, 0.0420], atol=6e-5)
    assert continuation(run).words["text"][0] == WORDS[TOKENS[5]]
    assert "of the training text itself" in _draw.of(figures.plot_token_loss(run)).words.caption


def test_two_texts_of_one_file_are_two_texts(tmp_path):
    """A file may be edited between two trainings; each run keeps its own text and is looked at with it."""
    path = tmp_path / "text.txt"
    runs = []
    for k, text in enumerate((TEXT, TEXT[::-1])):
        path.write_text(text, encoding="utf-8")
        runs.append(noise(tmp_path / f"run{k}", for_text(path, "characters", None, SETTINGS)))
    one, other = (_decide.examples(run, 20).windows for run in runs)
    assert one.shape == other.shape
    assert (one != other).any()
    for run in runs:
        windows = _removal.held_out(run, 64).windows
        own = {tuple(row) for row in run.task.examples(8, "validation", 10**6).windows}
        assert all(tuple(row) in own for row in windows)
        logits = run.trace(windows[:, :-1])["logits"].astype(np.float64)
        cost = np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, windows[:, 1:, None], -1)[..., 0]
        assert ablation(run, windows=64).base_loss == pytest.approx(cost.mean(), rel=1e-5)
