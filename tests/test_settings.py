"""Settings come in as plain values and leave as they were meant, or as one sentence about what is wrong."""

import os
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer import experiment, settings
from glassformer.errors import CallError, LimitError, MissingError


@dataclass(frozen=True, kw_only=True)
class Lamp:
    """Something with settings of every type."""

    name: str
    bulbs: int = field(default=1, metadata={"least": 1, "most": 9})
    volts: float = field(default=230.0, metadata={"above": 0.0, "below": 1000.0})
    dim: float | None = field(default=None, metadata={"least": 0.0})
    on: bool = False
    colour: Literal["red", "white"] = "white"
    switches: tuple[Literal["wall", "cord"], ...] = ()
    serial: int = 0


def test_values_arrive_as_their_types_want_them():
    lamp = settings.read(Lamp, {"name": "a", "volts": 12, "switches": ["wall", "cord"], "on": True}, "lamp")
    assert lamp == Lamp(name="a", volts=12.0, switches=("wall", "cord"), on=True)
    assert type(lamp.volts) is float  # a whole number may stand for a real one
    assert settings.read(Lamp, {"name": "a", "dim": 2}, "lamp").dim == 2.0
    assert settings.read(Lamp, {"name": "a", "dim": None}, "lamp").dim is None


WRONG = {
    "type": ({"bulbs": 2.0}, CallError, "lamp.bulbs = 2.0 is not a whole number"),
    "truth for a number": ({"bulbs": True}, CallError, "lamp.bulbs = True is not a whole number"),
    "number for truth": ({"on": 1}, CallError, "lamp.on = 1 is not true or false"),
    "number for text": ({"name": 3}, CallError, "lamp.name = 3 is not a text in quotes"),
    "text for number": ({"volts": "12"}, CallError, "lamp.volts = '12' is not a number"),
    "nothing": ({"bulbs": None}, CallError, "lamp.bulbs = None is not a whole number"),
    "choice": ({"colour": "blue"}, CallError, "lamp.colour = 'blue' is not allowed; it is one of 'red', 'white'"),
    "choice in a list": ({"switches": ["wall", "dor"]}, CallError, "lamp.switches[1] = 'dor' is not allowed"),
    "unhashable choice": ({"colour": ["red"]}, CallError, "lamp.colour = ['red'] is not allowed"),
    "no list": ({"switches": "wall"}, CallError, "lamp.switches = 'wall' is not a list"),
    "too small": ({"bulbs": 0}, LimitError, "lamp.bulbs = 0 is too small; the least is 1"),
    "too large": ({"bulbs": 10}, LimitError, "lamp.bulbs = 10 is too large; the most is 9"),
    "not above": ({"volts": 0}, LimitError, "lamp.volts = 0.0 is too small; it must be above 0"),
    "not below": ({"volts": 1000}, LimitError, "lamp.volts = 1000.0 is too large; it must be below 1000"),
    "not a number": ({"dim": float("nan")}, CallError, "lamp.dim = nan is not a finite number"),
    "endless": ({"dim": float("inf")}, CallError, "lamp.dim = inf is not a finite number"),
    "beyond a double": ({"dim": 10**400}, LimitError, "lamp.dim = 1000000000… (401 digits) is too large"),
    "beyond a file": ({"serial": 2**53 + 1}, LimitError, "lamp.serial = 9007199254740993 is too large"),
    "name": ({"bulb": 1}, MissingError, "nothing called 'bulb' in [lamp] (did you mean bulbs?)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    table, kind, sentence = WRONG[name]
    with pytest.raises(kind) as problem:
        settings.read(Lamp, {"name": "a", **table}, "lamp")
    assert str(problem.value).startswith(sentence)
    assert problem.value.exit_code == 2


def test_what_is_missing_is_named():
    with pytest.raises(CallError, match=r"\[lamp\] lacks name"):
        settings.read(Lamp, {}, "lamp")


def test_assignments_read_what_toml_reads():
    before = {"task": "mary", "train": {"steps": 3, "clip": 1.0}}
    given = ["train.rate = 3e-3", "train.steps=1_000", "train.clip=None", "train.schedule=cosine", "data.on=true",
             "architecture.biases=['norm', 'read_out']", 'data.text="a = b"', "data.word=two words"]  # fmt: skip
    after = settings.assign(before, given)
    assert after == {
        "task": "mary",
        "train": {"steps": 1000, "rate": 3e-3, "schedule": "cosine"},
        "data": {"on": True, "text": "a = b", "word": "two words"},
        "architecture": {"biases": ["norm", "read_out"]},
    }
    assert before == {"task": "mary", "train": {"steps": 3, "clip": 1.0}}  # left as it was
    assert settings.assign({}, ["train.clip=none"]) == {"train": {}}
    named = [f"architecture.{name}=none" for name in ("positions", "norm", "head_width")]
    assert settings.assign({}, named) == {"architecture": {"positions": "none", "norm": "none"}}  # theirs as a word


@pytest.mark.parametrize("assignment", ["train.rate", "rate=1", "=1", "", "train", "weights.rate=1", "Train.rate=1"])
def test_an_assignment_that_is_none(assignment):
    with pytest.raises((CallError, MissingError)):
        settings.assign({}, [assignment])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["train.rate=1e-3\nfoo"], r"--set 'train.rate=1e-3\\nfoo' is more than one line"),
        (["train.rate=1e-3\u2028foo"], "is more than one line"),
        (["train.rate="], "gives no value"),
        (["data.file=  "], "gives no value"),
        (["train.rate=1", "train.rate=2"], "train.rate is set twice, to '1' and to '2'"),
        (["train.rate=1e-3 # the best"], "train.rate = '1e-3 # the best' is not a number"),
        (["train.rate=1,"], "train.rate = '1,' is not a number"),
        (["train.rate={a = 1}"], r"train.rate = \{'a': 1\} is not a number"),
        (["train.rate=[1, 2]"], r"train.rate = \[1, 2\] is not a number"),
        (["train.rate=2020-01-01"], "train.rate = '2020-01-01' is not a number"),
        (["train.rate=inf"], "train.rate = inf is not a finite number"),
        (["train.rate=nan"], "train.rate = nan is not a finite number"),
        (["train.steps=-inf"], "train.steps = -inf is not a whole number"),
        (["train.steps=1e400"], "train.steps = inf is not a whole number"),
        (["train.steps=true"], "train.steps = True is not a whole number"),
        (["train.ratе=1"], r"nothing called 'ratе' in \[train\] .did you mean rate"),
        (["train.a.b=1"], r"nothing called 'a.b' in \[train\]"),
        (["train.=1"], r"nothing called '' in \[train\]"),
        (["tráin.rate=1"], "nothing called 'tráin' in the tables of an experiment .did you mean train"),
        (["architecture.biases=norm"], "architecture.biases = 'norm' is not a list"),
        (["architecture.biases=[[]]"], r"architecture.biases\[0\] = \[\] is not allowed"),
        (["architecture.norm=''"], "architecture.norm = '' is not allowed"),
        (["train.rate='" + "x" * 999 + "'"], "train.rate = 'x{99}… is not a number"),
        (["architecture.width=[" * 3000], "architecture.width = .* is not a whole number"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_is_dropped(given, sentence):
    with pytest.raises((CallError, LimitError, MissingError), match=sentence) as problem:
        experiment.load("mary", given)
    assert "\n" not in str(problem.value)


def test_the_same_twice_and_texts_with_signs_are_taken_as_they_are():
    assert settings.assign({}, ["train.rate=1", "train.rate=1"]) == {"train": {"rate": 1}}
    given = settings.assign({}, ["data.file=a # b.csv", "data.other=2020-01-01", "data.third=1, 2"])
    assert given == {"data": {"file": "a # b.csv", "other": "2020-01-01", "third": "1, 2"}}


def test_a_changed_default_keeps_what_is_said_of_the_setting():
    from glassformer.tasks import find

    about = settings.described(find("lucky7"))["sequences"]
    assert (about.default, about.limits["least"], bool(about.meaning)) == (5000, 2, True)
    with pytest.raises(LimitError, match=r"data.sequences = 1 is too small; the least is 2"):
        find("lucky7")(sequences=1)


def values(part: type, name: str) -> st.SearchStrategy:
    """What a setting may be, by its own type and limits."""
    setting = next(each for each in fields(part) if each.name == name)
    hint, limits = settings.get_type_hints(part)[name], setting.metadata
    if get_args(hint) and type(None) in get_args(hint):
        hint = get_args(hint)[0]
    if hint is bool:
        return st.booleans()
    if hint is int:
        return st.integers(limits.get("least", 0), min(limits.get("most", 50), 50))
    if hint is float:
        edges = {"exclude_min": "above" in limits, "exclude_max": "below" in limits}
        return st.floats(limits.get("above", limits.get("least", 0.0)), limits.get("below", 1.0), **edges)
    if settings.get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    return st.lists(st.sampled_from(get_args(get_args(hint)[0])), unique=True)


@st.composite
def tables(draw: st.DrawFn) -> dict:
    """Tables of an experiment, each setting allowed, not every combination."""
    train, model = experiment.Training, experiment.Architecture
    free = [each.name for each in fields(model) if each.name not in ("vocabulary", "context")]
    names = [each.name for each in fields(train) if each.name != "steps"]
    return {
        "task": "plus_last_even",
        "data": draw(st.fixed_dictionaries({}, optional={"plus": st.floats(0, 1), "seed": st.integers(0, 2**53)})),
        "architecture": draw(st.fixed_dictionaries(
            {"context": st.integers(1, 16)}, optional={name: values(model, name) for name in free})),
        "train": draw(st.fixed_dictionaries(
            {"steps": st.integers(1, 10**7)}, optional={name: values(train, name) for name in names})),
    }  # fmt: skip


@given(tables())
def test_an_experiment_survives_its_tables(given):
    """What is accepted comes back equal from plain values; what is not is a sentence."""
    try:
        made = experiment.from_tables(given, "mine")
    except (CallError, LimitError):
        return
    again = experiment.from_tables(made.tables(), "mine")
    assert again == made
    assert again.tables() == made.tables()


@pytest.mark.parametrize("name", [name for name in experiment.names() if name not in ("own_text", "own_table")])
def test_every_ready_made_experiment_survives_its_tables(name):
    if name.startswith("shakespeare") and not os.environ.get("GLASSFORMER_DATA"):
        pytest.skip("needs tinyshakespeare.txt: let GLASSFORMER_DATA name its folder")
    made = experiment.load(name)
    assert experiment.from_tables(made.tables(), name) == made
    assert made.title.endswith(".")


def test_seed_and_steps_given_by_name_win_over_the_file():
    made = experiment.load("mary", ["train.steps=7", "train.seed=1"], steps=9, seed=None)
    assert (made.train.steps, made.train.seed) == (9, 1)
