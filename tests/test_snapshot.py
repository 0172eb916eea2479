"""The numbers are those of the snapshot: every analysis on one run here, everything in `make snapshot`."""

from zlib import crc32

import pytest

import glassformer as gf
import snapshot
from fingerprint import differences, fingerprint, fingerprint_csv, same_numbers

SLOW = ("physics", "study", "train", "report", "claims", "figures rule")  # commands that `make snapshot` runs


def run_for(kind: str, name: str) -> str:
    """One of the subjects that a piece applies to, the same every time; what compiles for long takes the smallest."""
    held = [each for each in snapshot.SUBJECTS if name in snapshot.read(f"{kind}_{each}")]
    slow = name in gf.catalogue.pieces("analyses") and gf.catalogue.entry("analyses", name).cost == "d"
    return held[0 if slow else crc32(name.encode()) % len(held)]


@pytest.mark.parametrize("subject", snapshot.SUBJECTS)
def test_every_analysis_says_what_it_said_about_one_of_the_runs(subject):
    found = snapshot.analyses(subject, lambda name: run_for("analyses", name) == subject)
    assert found
    assert snapshot.compare(snapshot.read(f"analyses_{subject}"), found) == []


def test_whatever_the_snapshot_holds_still_exists():
    """A new analysis need not wait: `make snapshot WRITE=1` takes it in."""
    for kind in ("analyses", "figures"):
        held = {name.partition(" page")[0] for each in snapshot.SUBJECTS for name in snapshot.read(f"{kind}_{each}")}
        assert len(held) > 80
        assert held <= {*gf.catalogue.pieces(kind)}


@pytest.mark.parametrize("subject", snapshot.SUBJECTS)
def test_some_figures_write_the_tables_they_wrote(subject):
    sample = [name for name in gf.catalogue.pieces("figures") if crc32(name.encode()) % 8 == 0]
    found = snapshot.figures(subject, lambda name: name in sample and run_for("figures", name) == subject)
    assert snapshot.compare(snapshot.read(f"figures_{subject}"), found) == []


def test_commands_answer_what_they_answered():
    found = snapshot.commands(lambda line: not line.startswith(SLOW))
    assert len(found) > 40
    assert snapshot.compare(snapshot.read("commands"), found) == []


# ---- the fingerprint itself -----------------------------------------------------------------------------------------

RESULT = {"title": "Loss falls", "loss": [2.5, 1.25, 0.001], "step": 300, "many": {"values": [0.5, 2], "times": [2, 1]}}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"loss": [2.5, 1.2501, 0.001]}, "loss"),
        ({"loss": [2.5, 1.25, 0.00101]}, "loss"),
        ({"loss": [1.25, 2.5, 0.001]}, "loss"),
        ({"loss": [2.5, 1.25]}, "loss"),
        ({"loss": [2.5, 1.25, "NaN"]}, "loss"),
        ({"loss": [2.5, -1.25, 0.001]}, "loss"),
        ({"many": {"values": [0.5, 2], "times": [1, 2]}}, "many.values"),
        ({"step": 301}, "whole numbers"),
        ({"title": "Loss rises"}, "texts"),
    ],
)
def test_a_fingerprint_shows_every_change(change, what):
    (told,) = differences(fingerprint(RESULT), fingerprint(RESULT | change))
    assert told.startswith(what)
    assert same_numbers(fingerprint(RESULT), fingerprint(RESULT | change)) is (what == "texts")


def test_a_fingerprint_forgives_rounding_and_knows_a_renamed_field():
    rounded = RESULT | {"loss": [2.5000002, 1.2499999, 0.0010000001]}
    assert differences(fingerprint(RESULT), fingerprint(rounded)) == []
    renamed = {name if name != "loss" else "nats": value for name, value in RESULT.items()}
    assert len(differences(fingerprint(RESULT), fingerprint(renamed))) == 2  # one field is gone, one is new
    assert same_numbers(fingerprint(RESULT), fingerprint(renamed))
    ignoring = fingerprint(RESULT | {"loss": [1.0]}, ["loss", "many.values"])
    assert differences(fingerprint(RESULT, ["loss", "many.values"]), ignoring) == []


def test_a_table_is_described_by_its_arrays():
    table = "panel,token,unit,value\nloss,a,nats,0.5\nloss,b,nats,0.25\nshare,a,,1.0\n"
    old = fingerprint_csv(table)
    assert set(old["numbers"]) == {"loss", "share"}
    assert differences(old, fingerprint_csv(table.replace("0.25", "0.26")))[0].startswith("loss")
    assert differences(old, fingerprint_csv(table.replace("b,nats", "c,nats"))) == ["texts or names of fields"]
    assert set(fingerprint_csv(table, ["share"])["numbers"]) == {"loss"}
