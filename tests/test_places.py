"""Every section of the five sources has its place: a lesson or a claim, and a figure where the source has one."""

import pytest

from making import places
from making.places import Place


def test_no_section_is_without_its_place():
    assert places.gaps() == []


def test_nothing_names_a_section_that_no_source_has():
    assert places.unknown() == []


def test_the_table_is_that_of_today():
    assert places.PAGE.read_text("utf-8") == places.page(), "`make places` writes it anew"


def test_every_question_part_plot_and_figure_of_the_sources_is_listed():
    """Counted in the sources: 70 questions, 13 parts, 8 plots, 3 views, 8 figures, 18 figures and 5 films."""
    listed = set(places.sections())
    assert listed >= {f"1.Q{n}" for n in range(1, 71)} | {f"1.P{n}" for n in range(1, 14)}
    assert listed >= {f"0.{n}" for n in range(1, 9)} | {"0.V1", "0.V2", "0.V3"} | {f"2.F{n}" for n in range(1, 9)}
    assert listed >= {f"4.{n:02}" for n in range(1, 19)} | {f"4.D{n}" for n in range(1, 6)}
    assert listed >= {f"3.§{n}" for n in range(2, 13)}
    assert "1.Q71" not in listed
    assert "1.P14" not in listed


@pytest.mark.parametrize(("there", "kind", "lacks"), [
    (Place(), "explained", ["a lesson or a claim"]),
    (Place(figures={"loss"}), "drawn", ["a lesson or a claim"]),
    (Place(claims={"S1-01"}), "drawn", ["a figure"]),
    (Place(films={"qkv"}, lessons={"one_neuron"}), "drawn", []),
    (Place(), "again", ["a figure"]),
    (Place(lessons={"one_neuron"}), "asked", []),
])  # fmt: skip
def test_what_a_section_lacks(there, kind, lacks):
    assert there.lacks(kind) == lacks
