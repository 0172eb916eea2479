"""A number that a caller gives is taken as it is meant, or refused by a sentence that names the field."""

import numpy as np
import pytest

import glassformer as gf
from command import call
from glassformer import given
from glassformer.errors import CallError, MissingError
from small_runs import POPULATION, run_of

RUN, FOUR = "plus_last_even", "1 2 3 +"
WRONG = (1.5, 5.0, True, np.True_, "5", -2, None, np.nan, [5], np.array([5]), 2j)


@pytest.mark.parametrize("value", [0, 5, np.int64(5), np.uint8(5), np.array(5)])
def test_a_whole_number_is_taken_whoever_made_it(value):
    assert given.whole("n", value, 0, 9) == int(value)
    assert type(given.whole("n", value)) is int
    assert given.step(value) == int(value)


def test_limits_are_named():
    with pytest.raises(CallError, match=r"^n = -1 is not a whole number between 0 and 65,536$"):
        given.whole("n", -1, 0, 65_536)
    with pytest.raises(CallError, match=r"^n = 0 is not a whole number from 1 up$"):
        given.whole("n", 0, 1)
    with pytest.raises(CallError, match=r"^x = nan is not a number$"):
        given.number("x", float("nan"))
    with pytest.raises(CallError, match=r"^n = a number of thousands of digits is not"):
        given.whole("n", 10**5000, 0, 9)
    with pytest.raises(CallError, match=r"^n = '\\x1b\[2J' is not a whole number$"):
        given.whole("n", "\x1b[2J")


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize(
    "work",
    [
        lambda run, step: run.weights(step),
        lambda run, step: run.trace(FOUR, step=step),
        lambda run, step: run.ask(FOUR, step=step),
        lambda run, step: run.generate(FOUR, step=step),
        lambda run, step: gf.analyses.attention(run, step=step),
        lambda run, step: gf.figures.plot_attention(run, step=step),
    ],
    ids=["weights", "trace", "ask", "generate", "analysis", "figure"],
)
def test_a_step_that_is_none_is_refused_everywhere(work, value):
    with pytest.raises(
        CallError, match=r"^step = .* is not a kept step: a whole number from 0 up, or -1 for the last$"
    ):
        work(run_of(RUN), value)


@pytest.mark.parametrize(
    "work",
    [
        lambda run, member: run.weights(0, member),
        lambda run, member: run.best_step(member),
        lambda run, member: run.trace(FOUR, member=member),
        lambda run, member: run.ask(FOUR, member=member),
        lambda run, member: run.generate(FOUR, member=member),
        lambda run, member: gf.analyses.loss(run, member=member),
        lambda run, member: gf.figures.plot_loss(run, member=member),
        lambda run, member: gf.films.film_loss(run, member=member),
    ],
    ids=["weights", "best_step", "trace", "ask", "generate", "analysis", "figure", "film"],
)
def test_a_member_that_is_none_is_refused_everywhere(work):
    for run in (run_of(RUN), run_of(POPULATION)):
        for value in (0.5, True, "0", np.nan):
            with pytest.raises(CallError, match=r"^member = .* is not a whole number$"):
                work(run, value)
        with pytest.raises(MissingError, match="no member 7"):
            work(run, 7)
        with pytest.raises((CallError, MissingError), match=r"member (= )?-2"):
            work(run, -2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, "^seed = -1 is not a whole number between 0 and"),
        ({"seed": 1.5}, "^seed = 1.5 is not"),
        ({"seed": "x"}, "^seed = 'x' is not"),
        ({"tokens": 1.5}, "^tokens = 1.5 is not a whole number$"),
        ({"tokens": True}, "^tokens = True is not a whole number$"),
        ({"temperature": "warm"}, "^temperature = 'warm' is not a number from 0 up$"),
        ({"temperature": True}, "^temperature = True is not"),
        ({"top_k": 2.5}, "^top_k = 2.5 is not a whole number$"),
        ({"top_p": "x"}, "^top_p = 'x' is not a probability"),
        ({"text": [[1, 2]]}, "one text at a time"),
        ({"text": [1, 99]}, "token 99 at position 1"),
    ],
)
def test_what_generate_cannot_take(options, words):
    with pytest.raises(CallError, match=words):
        run_of(RUN).generate(**options)


def test_the_command_refuses_the_same():
    answer = call("generate", run_of(RUN).path, "--seed", "-1")
    assert (answer.code, answer.out) == (2, "")
    assert "seed = -1 is not a whole number" in answer.err


def test_options_of_analyses_and_films_are_numbers_within_their_limits():
    run = run_of(RUN)
    with pytest.raises(CallError, match=r"^frames = 1.5 is not a whole number$"):
        gf.films.film_loss(run, frames=1.5)
    with pytest.raises(CallError, match=r"^frames = 1 is not a whole number, at least 2, at most 5000$"):
        gf.films.film_loss(run, frames=1)
    with pytest.raises(CallError, match=r"^fps = 0 is not a whole number between 1 and 100$"):
        gf.films.film_loss(run, fps=0)
    with pytest.raises(CallError, match="is a name, not a run"):
        gf.figures.plot_loss("plus_last_even")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 1.5}, "seed = 1.5"),
        ({"seeds": True}, "seeds = True"),
        ({"seeds": 0}, "seeds = 0"),
        ({"steps": "5"}, "'5'"),
    ],
)
def test_what_train_cannot_take(options, words):
    with pytest.raises(CallError, match=words):
        gf.train("plus_last_even", **options)


def test_a_name_that_is_not_there_is_answered_with_the_nearest():
    for folder, name, meant in (
        (gf.figures, "attention", "plot_attention"),
        (gf.figures, "plot_attentin", "plot_attention"),
        (gf.analyses, "plot_loss", "loss"),
        (gf, "trian", "train"),
    ):
        with pytest.raises(AttributeError, match=f"did you mean {meant}"):
            getattr(folder, name)
    assert not hasattr(gf, "_nothing")
    assert {"open", "train", "resume", "Run", "figures", "__version__"} <= set(dir(gf))
    assert all(hasattr(gf, name) for name in dir(gf))


def test_a_member_left_open_is_refused_where_one_is_meant():
    """The weights of all members are no model: a pass through them would be over the wrong axis."""
    population = run_of(POPULATION)
    for asked in (population.trace, population.ask):
        with pytest.raises(CallError, match="member = None is not a whole number"):
            asked([0, 1, 2], member=None)


class Unwritable:
    def __repr__(self):
        raise RuntimeError("not today")


@pytest.mark.parametrize("value", [None, 1.5, np.nan, np.array([]), b"4", Unwritable(), [["4"]]])
def test_values_of_any_kind_are_refused_in_a_sentence(value):
    run = run_of("plus_last_even")
    with pytest.raises(CallError, match="path = "):
        gf.Run(value)
    if value is not None:
        with pytest.raises(CallError, match=r"^stop = .* is not a text$"):
            run.generate("4 9 +", stop=value)
    if isinstance(value, Unwritable):
        with pytest.raises(CallError, match="an object of the class Unwritable is not an edit"):
            run.ask("4 9 +", edits=value)


def test_an_error_holds_nothing_that_a_terminal_obeys():
    """Python itself prints the text of an error, past every stream of ours; and a name is not repeated without end."""
    with pytest.raises(MissingError) as refused:
        gf.open("runs/\x1b[2J\u202e")
    assert r"\u001b[2J\u202e" in str(refused.value)
    with pytest.raises(CallError) as refused:
        run_of("plus_last_even").ask("4 9 +", edits="\x1b[2J")
    assert "\x1b" not in str(refused.value)
    with pytest.raises(MissingError) as refused:
        gf.open("x" * 100_000)
    assert len(str(refused.value)) < 10_000
