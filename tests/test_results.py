"""A result is complete, typed and portable: all of it as JSON values and back, as a Dataset, as a table."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glassformer import analyses, glossary, plain
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, result
from glassformer.analyses.path.birth import birth
from small_runs import NAN, run_of


class Pair(NamedTuple):
    one: int
    two: float


@dataclass(frozen=True)
class Inner:
    origin: Array
    words: tuple[str, str]
    odd: float


@result
class Everything(Result):
    """One field of every kind."""

    grid: Labelled
    tables: dict[str, Labelled]
    maybe: Labelled | None
    inner: Inner
    several: tuple[Inner, ...]
    named: Pair
    by_place: dict[tuple[int, int], str]
    texts: tuple[tuple[str, ...], ...]
    kind: Literal["a", "b"]
    number: float
    unknown: float | None
    yes: bool
    nested: "Result"

    @property
    def title(self) -> str:
        """A sentence from the fields."""
        return f"The number is {self.number:g}"


def everything(values=None, number=2.5, unknown=None):
    values = np.arange(6.0).reshape(2, 3) if values is None else values
    table = Labelled(values, {"token": ("a", "b"), "step": [0, 10, 200]}, "share")
    inner = Inner(np.eye(2, dtype=np.float32), ("x", "y"), -np.inf)
    return Everything(
        step=7, clock="step 7", grid=table, tables={"one": table}, maybe=None, inner=inner, several=(inner, inner),
        named=Pair(3, 0.5), by_place={(0, 1): "first", (2, 3): "second"}, texts=(("a", "b"), ()), kind="a",
        number=number, unknown=unknown, yes=True, nested=Result(step=3),
    )  # fmt: skip


def trip(seen):
    return type(seen).from_plain(json.loads(json.dumps(seen.plain(), allow_nan=False)))


@given(
    arrays.arrays(
        st.sampled_from([np.float64, np.float32, np.int16, np.bool_, np.uint8]),
        (2, 3),
        elements=None,
        fill=st.nothing(),
    ),
    st.floats(),
    st.none() | st.floats(),
)
def test_every_kind_of_field_comes_back_equal(values, number, unknown):
    seen = everything(values, number, unknown)
    back = trip(seen)
    assert back == seen
    assert type(back.inner) is Inner
    assert type(back.named) is Pair
    assert back.grid.values.dtype == values.dtype
    np.testing.assert_array_equal(back.grid.values, values)
    assert back.by_place == seen.by_place
    assert back.inner.origin.dtype == np.float32
    assert back.inner.odd == -np.inf
    assert isinstance(back.unknown, float | None)


def test_results_that_differ_in_any_field_are_not_equal():
    seen = everything()
    assert seen == everything()
    assert seen != everything(number=2.0)
    assert seen != everything(unknown=1.0)
    assert seen != everything(np.arange(6.0).reshape(2, 3).astype(np.float32))
    assert Labelled(np.zeros(1), {"step": [1]}) != Labelled(np.zeros(1), {"step": [2]})
    assert Labelled(np.zeros(1), {"token": Axis(("a",))}) != Labelled(np.zeros(1), {"token": Axis(("a",), ("b",))})


@pytest.mark.parametrize("kind", [Callable[[int], int], Any, object, Inner | Pair, tuple[Any, ...], dict[str, object]])
def test_a_field_that_cannot_be_given_is_refused_when_its_class_is_defined(kind):
    with pytest.raises(TypeError, match=r"Broken\.wrong: .* cannot be given as plain values"):

        @result
        class Broken(Result):
            wrong: kind


def test_an_array_may_be_named_as_newer_numpy_names_it():
    """From NumPy 2.5 on, NDArray[...] is an alias by name, whose origin is no array."""
    aliases = pytest.importorskip("typing_extensions")
    scalar = TypeVar("scalar")
    named = aliases.TypeAliasType("named", np.ndarray[Any, np.dtype[scalar]], type_params=(scalar,))
    assert plain.untold(named[Any]) is None
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(plain.taken(named[Any], plain.given(values)), values)


def test_a_field_must_not_take_the_place_of_what_every_result_has():
    with pytest.raises(TypeError, match=r"Broken\.table: every result has something of this name"):

        @result
        class Broken(Result):
            table: int


@pytest.mark.parametrize("value", [np.array([object()]), {1, 2}, b"bytes", 1j])
def test_a_value_that_cannot_be_given_is_an_error_and_never_silence(value):
    with pytest.raises(TypeError, match="cannot be given as plain values"):
        plain.given(value)


def test_plain_values_say_whose_they_are_and_what_they_show():
    told = everything().plain()
    assert told["result"] == "test_results.Everything"
    assert told["title"] == "The number is 2.5"
    axes = told["grid"]["axes"]
    assert axes["step"] == {"kind": "step", "values": [0, 10, 200]}
    assert axes["token"] == {"kind": "token", "values": ["a", "b"]}
    assert told["grid"]["values"] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert told["inner"]["odd"] == "-Infinity"


@pytest.mark.parametrize("kind", [np.int16, np.float32, np.float64, bool, "<U3"])
def test_a_long_array_that_repeats_itself_is_told_once_and_comes_back(kind):
    values = np.repeat(np.array([3, 0, 3, 0]), (900, 1, 600, 499)).astype(kind).reshape(40, 50)
    told = json.loads(json.dumps(plain.array(values)))
    assert told["times"] == [900, 1, 600, 499]
    assert len(told["values"]) == 4
    back = plain.taken(np.ndarray[Any, Any], told)
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


def test_what_only_looks_the_same_is_kept_apart():
    values = np.repeat([0.0, -0.0, np.nan, np.inf], 500)
    values[1200] = -np.nan  # another NaN, for the processor
    told = json.loads(json.dumps(plain.array(values), allow_nan=False))
    assert told["times"] == [500] * 4
    back = plain.taken(np.ndarray[Any, Any], told)
    np.testing.assert_array_equal(back, values)
    np.testing.assert_array_equal(np.signbit(back[:1000]), np.signbit(values[:1000]))
    assert "times" not in plain.array(np.arange(2000.0))


def test_arrays_and_facts_together_are_all_there_is():
    seen = everything()
    assert set(seen.arrays()) == {"grid", "tables.one"}
    assert set(seen.facts()) == {
        "step", "truth_known", "held_out", "maybe", "inner", "several", "named", "by_place", "texts", "kind", "number",
        "unknown",
        "yes", "nested",
    }  # fmt: skip
    assert seen.facts()["texts"] == [["a", "b"], []]


def test_a_table_has_the_values_of_its_places_and_labels_where_they_differ():
    placed = Axis((0, 1), ("+", "+"))
    seen = Everything(**{**vars(everything()), "grid": Labelled(np.eye(2), {"query_position": placed, "step": [5, 6]})})
    columns, rows = seen.table()
    assert columns == ["panel", "query_position", "query_position_label", "step", "token", "unit", "value"]
    first = list(rows)[:3]
    assert first[0] == ("grid", 0, "+", 5, "", "", 1.0)
    assert first[2] == ("grid", 1, "+", 5, "", "", 0.0)
    frame = seen.to_pandas()
    assert frame.query("panel == 'grid' and query_position == 1 and step == 6")["value"].tolist() == [1.0]


def test_a_dataset_has_real_coordinates_and_keeps_axes_that_differ_apart():
    other = Labelled(np.zeros(2), {"step": [5, 6]}, "nats")
    pairs = Labelled(np.zeros(2), {"pair": Axis((("+", 0), ("4", 1)), ("+₀", "4₁"))})
    seen = Everything(**{**vars(everything()), "tables": {"other": other, "pairs": pairs}}).to_xarray()
    assert seen["grid"].sel(step=200, token="b").item() == 5.0
    assert seen["tables.other"].dims == ("tables.other.step",)
    assert seen["tables.other"].coords["tables.other.step"].values.tolist() == [5, 6]
    assert seen["pair_position"].values.tolist() == [0, 1]
    assert seen["pair_token"].values.tolist() == ["+", "4"]
    assert seen["grid"].attrs["unit"] == "share"
    assert seen.attrs["number"] == 2.5
    assert seen.attrs["title"] == "The number is 2.5"


def test_an_axis_is_one_of_the_glossary():
    with pytest.raises(Exception, match="nothing called 'elephant' in the axes of the glossary"):
        Labelled(np.zeros(1), {"elephant": [1]})
    assert glossary.kind("key_token") == glossary.kind("other_token") == glossary.kind("token") == "token"
    assert Labelled(np.zeros(2), {"query_position": [0, 1]}).axes["query_position"].kind == "position"


def test_places_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        Labelled(np.zeros((2, 3)), {"token": ("a", "b"), "step": (1, 2)})


def test_what_happened_to_a_subject_is_one_sentence():
    lost = "the weights are not numbers"
    assert fate(lost, 5000) == "At step 5\u202f000 the weights are not numbers: the training has diverged"
    assert fate(lost, since=7) == "From step 7 on the weights are not numbers: the training has diverged"
    assert fate(lost) == "The weights are not numbers: the training has diverged"
    assert fate("no step was kept", lot="unfinished") == "No step was kept: the training is not finished"


def test_the_same_name_can_be_called_twice_in_one_process_and_read_from_its_file():
    run = run_of("plus_last_even")
    import glassformer.analyses.attend.attention  # noqa: F401 - which once shadowed the function

    assert analyses.attention(run) == analyses.attention(run)
    told = json.loads(json.dumps(analyses.attention(run).plain()))
    assert analyses.from_plain(told) == analyses.attention(run)
    with pytest.raises(Exception, match="no result"):
        analyses.from_plain({"result": "os.system"})


def test_what_is_no_number_survives_the_trip():
    seen = analyses.attention(run_of(NAN))
    assert np.isnan(seen.attention.values).any()
    assert trip(seen) == seen


def test_a_default_written_out_asks_for_the_same_result():
    run = run_of("plus_last_even")
    assert birth(run, neurons=0) is birth(run, step=-1, member=0, neurons=0, axis="auto")
    assert birth(run, neurons=0) is not birth(run, neurons=1)
