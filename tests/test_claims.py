"""Claims: every statement of the sources has one, its verdict follows from what is computed, and is remembered."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import glassformer
import made_up_claims
from command import call
from glassformer import catalogue, experiment
from glassformer.claims import _page, _rows, _settle, _sources
from glassformer.claims._claim import HOW, Claim, Found, Spread, over_seeds, studied, trained, verdict, written
from glassformer.errors import CallError, MissingError
from glassformer.record import Recorder
from glassformer.run import Run

ROOT = Path(__file__).parents[1]
MANY = {0: 15, 1: 39, 2: 21, 3: 20, 4: 23}  # statements of each source
QUESTIONS = ("07", "09", "10", "17", "31", "40", "47", "52", "54")  # of source 1, each with those it is asked with
IDS = [f"S{source}-{number:02d}" for source, many in MANY.items() for number in range(1, many + 1)]
IDS += [f"S1-Q{number}" for number in QUESTIONS]
PLACES = tomllib.loads((ROOT / "docs/sources.toml").read_text("utf-8"))["source"]
EVERY = _sources.every()
PHYSICS = _rows.PHYSICS
FIELDS = {
    "id", "statement", "stated", "measured", "verdict", "place", "source", "how", "tolerance", "numbers", "truth",
    "reason", "run", "figure", "train", "command", "report", "version", "seconds", "settled", "note", "slow",
    "source_title",
}  # fmt: skip


def found(*numbers: float, **said: object) -> Found:
    return Found({"n": numbers[0]}, **said)


def stating(tolerance: float = 0.0, **said: object) -> Claim:
    """A claim that says n = 1."""
    given = {"stated": {"n": 1.0}, "tolerance": tolerance, **said}
    return Claim("S9-99", "n is 1", "9.9", ("A",), lambda: found(1), **given)


# ---- the list -------------------------------------------------------------------------------------------------------


def test_every_row_of_the_list_has_its_claim():
    ids = [claim.id for claim in EVERY]
    assert len(ids) == len(set(ids)) == len(IDS) == 127
    assert sorted(ids) == sorted(IDS)
    assert catalogue.pieces("claims") == {claim.id: claim.statement for claim in EVERY}


def claim_faults(claim: Claim) -> Iterator[str]:
    """What is missing or wrong in what a claim says about itself."""
    if len(claim.statement) <= 10 or "\n" in claim.statement or claim.statement.endswith("."):
        yield f"the statement is not one line without a full stop: {claim.statement!r}"
    if not claim.how or not set(claim.how) <= set(HOW):
        yield f"how = {claim.how!r} has no letter, or one that does not exist"
    if not claim.tolerance >= 0:
        yield f"tolerance = {claim.tolerance} is negative"
    if not all(math.isfinite(value) for value in claim.stated.values()):
        yield "a stated number is not finite"
    if bool(claim.never) != bool(claim.reason):
        yield "`never` and `reason` go together"
    source = PLACES[int(claim.id[1])]
    codes = {code for key in ("explained", "drawn", "again", "asked") for code in source.get(key, {})}
    for place in claim.place.replace(",", " ").split():
        if place not in codes:
            yield f"{place} is not a place of source {claim.id[1]}"
    if not claim.measure.__module__.startswith("glassformer.claims."):
        yield f"it is measured in {claim.measure.__module__}"
    yield from reference_faults(claim)


def reference_faults(claim: Claim) -> list[str]:
    """Which figure, experiment or study of a claim does not exist; if all do, whether it has a command."""
    known, studies, faults = experiment.names(), catalogue.pieces("studies"), []
    if claim.figure:
        try:
            catalogue.entry("figures", claim.figure)
        except MissingError as problem:
            faults.append(str(problem))
    if claim.experiment not in ("", *PHYSICS, *known):
        faults.append(f"there is no experiment {claim.experiment!r}")
    for need in claim.needs:
        if need.experiment not in known:
            faults.append(f"it needs the experiment {need.experiment!r}, which does not exist")
        if need.seeds < 1:
            faults.append(f"it needs {need.seeds} seeds of {need.experiment}")
        if need.kind != "run" and need.study not in studies:
            faults.append(f"it needs the study {need.study!r}, which does not exist")
    if not faults and not (command := _rows.commands(claim)["command"]).startswith("glassformer "):
        faults.append(f"its command is {command!r}")
    return faults


def test_claims_say_what_they_state_where_it_stands_and_how_it_is_measured():
    faults = [f"{claim.id}: {fault}" for claim in EVERY for fault in claim_faults(claim)]
    assert not faults, "\n".join(faults)


def untrained(name: str, folder: Path) -> Run:
    """A run of an experiment, of two steps that nobody trained."""
    made = experiment.load(name, steps=1)
    rng = np.random.default_rng(0)
    shapes = made.architecture.shapes()
    weights = {key: rng.normal(size=(2, *shape)).astype(np.float32) for key, shape in shapes.items()}
    with Recorder.create(folder, made, [0]) as recorder:
        recorder.safe_point(1, [0, 1], weights, [], {})
        recorder.finish("finished")
    return Run(folder)


@pytest.mark.parametrize("name", sorted({each.experiment for each in EVERY} - {"", *PHYSICS}))
def test_a_claim_is_shown_by_a_figure_of_its_run(name, tmp_path):
    if "shakespeare" in name and not os.environ.get("GLASSFORMER_DATA"):
        pytest.skip("GLASSFORMER_DATA names no folder of data sets")
    run = untrained(name, tmp_path / "run")
    for claim in EVERY:
        if claim.experiment != name:
            continue
        run.tokens(claim.input)
        run.edited(claim.edits or None)
        entry = catalogue.entry("figures", claim.figure) if claim.figure else None
        if entry is None or entry.needs == "study":
            studies = [each for each in catalogue.entries("studies") if entry and each.figure == entry.name]
            assert not entry or any(catalogue.why_not(each, run) is None for each in studies), claim.id
        elif entry.needs == "population":
            assert _rows.shown_by(claim).seeds > 1
        else:
            why = catalogue.why_not(entry, run)
            assert why is None or "logged" in why, f"{claim.id}: {claim.figure}: {why}"


# ---- verdicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "given", "expected"),
    [
        (stating(), found(1), "reproduced"),
        (stating(), found(1.01), "refuted"),
        (stating(0.01), found(1.01), "reproduced"),
        (stating(0.01), found(1.0101), "refuted"),
        (stating(), found(2, idea=True), "corrected"),
        (stating(), found(2, holds=True), "reproduced"),
        (stating(), found(1, holds=False), "refuted"),
        (stating(), found(1, holds=False, idea=True), "corrected"),
        (stating(), Found({"n": Spread(1.0, 0.0, 9.0)}), "reproduced"),
        (stating(never="illustrative", reason="invented"), found(1), "illustrative"),
        (stating(never="not checkable", reason="undefined"), found(2), "not checkable"),
    ],
)
def test_a_verdict_follows_from_the_numbers(claim, given, expected):
    assert verdict(claim, given) == expected


def test_a_statement_without_numbers_needs_a_judgement():
    with pytest.raises(ValueError, match="S9-99 states no number"):
        verdict(stating(stated={}), found(1))


def test_numbers_over_seeds_are_the_median_and_its_interval():
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    over = over_seeds(values)
    assert (over.median, over.low, over.high, over.seeds) == (3.0, 1.0, 5.0, 5)
    assert _settle.numbers(over) == {"median": 3.0, "low": 1.0, "high": 5.0, "seeds": 5}
    assert written(over) == "3 [1, 5]"
    assert _settle.numbers(math.nan) == "NaN"


# ---- settling -------------------------------------------------------------------------------------------------------


def test_what_was_settled_is_remembered_until_its_terms_change(tmp_path, monkeypatch):
    claims = made_up_claims.instead(monkeypatch, tmp_path)
    folder = tmp_path / "claims"
    done = _settle.settle(claims, folder, workers=1)
    assert made_up_claims.CALLS == ["S9-01", "S9-02", "S9-04", "S9-03"]  # what waits for a training comes last
    assert {id: each["verdict"] for id, each in done.items()} == {
        "S9-01": "reproduced", "S9-02": "corrected", "S9-03": "reproduced", "S9-04": "not checkable",
    }  # fmt: skip
    assert {each["version"] for each in done.values()} == {glassformer.__version__}
    assert done["S9-02"]["truth"] == "half of six is 3"
    assert done["S9-02"]["numbers"] == {"half": 3.0}
    assert done["S9-03"]["numbers"]["loss"]["seeds"] == 3
    assert _settle.settle(claims, folder, workers=1) == done
    assert len(made_up_claims.CALLS) == 4
    first, half, falls, _ = claims
    for claim, field, value in (
        (first, "statement", "a third of three is exactly one"), (first, "stated", {"third": 2.0}),
        (first, "tolerance", 0.02), (falls, "needs", (trained("mary", seeds=2, steps=4),)),
    ):  # fmt: skip
        assert _settle.remembered(Claim(**{**vars(claim), field: value}), folder) is None, field
    for field, value in (("figure", "loss"), ("step", 3), ("place", "elsewhere")):
        assert _settle.remembered(Claim(**{**vars(half), field: value}), folder) == done["S9-02"], field
    _settle.settle([half], folder, workers=1, again=True)
    assert made_up_claims.CALLS[4:] == ["S9-02"]
    (folder / "settled" / "S9-02.json").write_text('{"statement": ')  # torn by somebody else
    assert _settle.settle(claims, folder, workers=1)["S9-02"]["verdict"] == "corrected"


def test_a_training_is_named_by_its_settings_and_its_experiment(tmp_path, monkeypatch):
    """Other seeds, steps, settings or tables of the experiment have another folder; a comment changes nothing."""
    need = trained("mary", seeds=3, steps=4, settings=["train.batch=2"])
    others = [
        trained("mary", seeds=4, steps=4, settings=["train.batch=2"]),
        trained("mary", seeds=3, steps=5, settings=["train.batch=2"]),
        trained("mary", seeds=3, steps=4, settings=["train.batch=3"]),
        trained("mary", seeds=3, seed=1, steps=4, settings=["train.batch=2"]),
        trained("mary_as_published", seeds=3, steps=4, settings=["train.batch=2"]),
    ]
    name = _settle.named(need)
    assert re.fullmatch(r"mary-18x3-[0-9a-f]{8}", name)
    assert len({name, *map(_settle.named, others)}) == 6
    text = (_settle.EXPERIMENTS / "mary.toml").read_text("utf-8")
    monkeypatch.setattr(_settle, "EXPERIMENTS", tmp_path)
    (tmp_path / "mary.toml").write_text(f"# a remark\n{text}")
    assert _settle.named(need) == name
    assert "\nwidth = " in text
    (tmp_path / "mary.toml").write_text(text.replace("\nwidth = ", "\nwidth = 1"))
    assert _settle.named(need) != name


def test_the_record_is_shown_where_the_folder_holds_nothing(tmp_path, monkeypatch):
    """Nothing is computed for it unless it is asked for; a record of another statement is not shown."""
    claims = made_up_claims.instead(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    rows = json.loads(call("claims", "--all", "--json", "--workers", 1).out)["claims"]
    assert [row["version"] for row in rows] == 4 * [glassformer.__version__]
    monkeypatch.setattr(_rows, "recorded", lambda: {row["id"]: {**row, "version": "0.0.1"} for row in rows})
    made_up_claims.CALLS.clear()
    shown = json.loads(call("claims", "--json", "--out", "new").out)["claims"]
    assert [row["version"] for row in shown] == 4 * ["0.0.1"]
    assert (made_up_claims.CALLS, Path("new").exists()) == ([], False)
    (again,) = json.loads(call("claims", "S9-01", "--again", "--json", "--out", "new", "--workers", 1).out)["claims"]
    assert (again["version"], made_up_claims.CALLS) == (glassformer.__version__, ["S9-01"])
    versions = [row["version"] for row in json.loads(call("claims", "--json", "--out", "new").out)["claims"]]
    assert versions == [glassformer.__version__, "0.0.1", "0.0.1", "0.0.1"]
    call("claims", "S9-01", "S9-04", "--all", "--out", "new", "--workers", 1)  # goes on: what is there stays
    assert made_up_claims.CALLS == ["S9-01", "S9-04"]
    call("claims", "S9-03", "--again", "--workers", 1)  # named, it is settled although it is slow
    assert made_up_claims.CALLS == ["S9-01", "S9-04", "S9-03"]
    other = Claim(**{**vars(claims[2]), "statement": "the loss falls at once"})
    assert _rows.known(other, Path("new")) == {"note": "slow: `glassformer claims S9-03 --all` settles it"}


def test_what_cannot_be_settled_says_so_and_the_others_go_on(tmp_path, monkeypatch):
    from glassformer import corpora

    claims = made_up_claims.instead(monkeypatch, tmp_path)
    first, half, trained, known = claims

    def wrong() -> Found:
        raise ZeroDivisionError("nothing to divide by")

    def silent() -> Found:
        return Found({"half": 9.0})

    def absent() -> Found:
        corpora.read("tinyshakespeare")
        raise AssertionError

    monkeypatch.setenv(corpora.FOLDER, str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    broken = [Claim(**{**vars(each), "measure": measure}) for each, measure in
              ((first, wrong), (half, silent), (known, absent))]  # fmt: skip
    for each in broken:
        each.measure.__module__ = made_up_claims.NAME
    monkeypatch.setattr(_sources, "sources", lambda: (_sources.Source(9, "made_up", "Made up", (*broken, trained)),))
    monkeypatch.chdir(tmp_path)
    ended = call("claims", "--all", "--workers", 1)
    assert ended.code == 1
    assert "S9-01 failed: ZeroDivisionError: nothing to divide by" in ended.err
    assert "S9-02 failed: S9-02 is refuted, and its function does not say what is true instead" in ended.err
    assert "1 claim could not be settled: tinyshakespeare is not on this machine; `glassformer data fetch" in ended.err
    assert "1 reproduced, 3 not settled" in ended.out
    assert sorted(path.name for path in Path("claims/settled").iterdir()) == ["S9-03.json"]
    assert call("claims", "S9-04", "--workers", 1).code == 0  # what is missing is said, and is no failure


def test_a_training_that_ends_while_claims_are_handed_out_loses_none(tmp_path, monkeypatch):
    """Of two trainings the second is done in the very moment in which the claim of the first is handed out."""
    from concurrent.futures import Executor, Future

    first, second, *_ = made_up_claims.instead(monkeypatch, tmp_path)
    needs = [trained("plus_last_even", steps=steps) for steps in (2, 1)]  # the longer one is handed out first
    late, early = (Claim(**{**vars(each), "needs": (need,)}) for each, need in zip((first, second), needs, strict=True))

    class Sudden(Executor):
        pending: Future

        def submit(self, fn, /, order):  # noqa: ARG002
            future = Future()
            if order.get("need", {}).get("steps") == 2:
                self.pending = future
            else:
                future.set_result({} if "need" in order else {"verdict": "reproduced"})
            if "id" in order and not self.pending.done():
                self.pending.set_result({})
            return future

    done = _settle._Work(Sudden(), None, tmp_path / "claims", _settle.Watch()).done([late, early], needs)
    assert sorted(done) == ["S9-01", "S9-02"]


def test_the_cells_of_a_study_go_to_the_same_workers(tmp_path, monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    from glassformer import studies

    monkeypatch.setattr(studies.find("rate"), "FACTORS", (1, 10))
    first, *_ = made_up_claims.instead(monkeypatch, tmp_path)
    settings = ("train.judged=20", "train.batch=2")
    need = studied("rate", "plus_last_even", seeds=2, steps=6, settings=settings)
    seen = []

    def cells(study) -> Found:
        seen.append(study)
        return Found({"third": float(len(study.rows()))}, holds=not study.missing)

    cells.__module__ = made_up_claims.NAME
    asked = Claim(**{**vars(first), "measure": cells, "needs": (need,)})
    monkeypatch.setattr(_sources, "sources", lambda: (_sources.Source(9, "made_up", "Made up", (asked,)),))
    told = []
    with ThreadPoolExecutor(1) as pool:
        watch = _settle.Watch(trained=lambda name, lacking: told.append((name, lacking)))
        done = _settle._Work(pool, None, tmp_path / "claims", watch).done([asked], [need])
    assert (done["S9-01"]["verdict"], done["S9-01"]["numbers"]) == ("reproduced", {"third": 2.0})
    assert [(name.rpartition("-")[0], lacking) for name, lacking in told] == [("rate-plus_last_even" + "x2", {})]
    assert seen[0].seeds == 2


def test_a_named_claim_is_told_in_full(tmp_path, monkeypatch):
    made_up_claims.instead(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    said = call("claims", "s9-02").out
    for line in (r"^S9-02 +corrected$", r"^says +half of six is two$", r"^true +half of six is 3$", r"^stated +half 2 ",
                 r"^source +S9 Made up, 9\.2$", r"^how +arithmetic$", r"^train +glassformer train mary$",
                 r"^figure +glassformer figures mary-18 loss$", r"^report +glassformer report mary-18$"):  # fmt: skip
        assert re.search(line, said, re.MULTILINE), f"{line}\n{said}"
    slow = call("claims", "S9-03")
    assert "slow: `glassformer claims S9-03 --all` settles it" in slow.out
    assert "glassformer train mary --seeds 3 --steps 4 --set train.batch=2 --out runs/mary-18x3" in slow.out
    assert slow.code == 0
    (row,) = json.loads(call("claims", "S9-03", "--all", "--json", "--workers", 1).out)["claims"]
    monkeypatch.setattr(_rows, "recorded", lambda: {"S9-03": row})
    assert re.search(r"^S9-03 +reproduced$", call("claims", "S9-03", "--out", "elsewhere").out, re.MULTILINE)


def test_a_claim_opens_in_the_report_of_its_run(tmp_path, monkeypatch):
    made_up_claims.instead(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    shown, links = [], []
    monkeypatch.setattr("glassformer.terminal.show_page", shown.append)
    monkeypatch.setattr("glassformer.report.put", lambda made, _: links.append(made.link) or Path("a.html"))
    Path("a.html").touch()
    assert call("claims", "S9-03", "--all", "--open", "--workers", 1).code == 0
    assert (shown, links) == ([Path("a.html")], ["#v1&step=2"])
    assert [path.name.rpartition("-")[0] for path in Path("claims/runs").iterdir()] == ["mary-18x3"]
    refused = call("claims", "S9-01", "--open")
    assert refused.code == 2
    assert "S9-01 is settled without a run" in refused.err
    assert "--open is for one claim, and 4 are named" in call("claims", "--open").err


def test_the_guide_s_claims_settle_as_it_says(tmp_path, monkeypatch):
    made_up_claims.instead(monkeypatch, tmp_path)
    text = (ROOT / "docs/add-a-claim.md").read_text("utf-8")
    ((name, code),) = re.findall(
        r"^`src/glassformer/(claims/\w+\.py)`\n```python\n(.*?)```", text, re.DOTALL | re.MULTILINE
    )
    (tmp_path / Path(name).name).write_text(code)
    made = made_up_claims.load(tmp_path / Path(name).name)
    source = _sources.Source(made.SOURCE, Path(name).stem, made.TITLE, (made.size, made.half_learnt))
    monkeypatch.setattr(_sources, "sources", lambda: (source,))
    monkeypatch.chdir(tmp_path)
    for line in re.findall(r"^glassformer (claims .*)$", text, re.MULTILINE):
        assert call(*line.split(), "--workers", 1).code == 0
    rows = json.loads(call("claims", "S5", "--json").out)["claims"]
    assert rows[0]["verdict"] == "corrected"
    assert rows[0]["truth"] == "12 tokens, and 250 parameters."
    assert rows[1]["numbers"]["way"]["seeds"] == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("S3-055",), "did you mean S3-05?"),
        (("gpt_from_scrach",), "did you mean gpt_from_scratch?"),
        (("--workers", 0), "workers = 0 settle nothing"),
        (("--workers", 1, "--scheduler", "tcp://here:1"), "leave one of them out"),
        (("--out", "a_file"), "a_file is not a folder"),
        (("--again",), "--again settles the claims that are named anew"),
    ],
)
def test_a_wrong_call_is_answered(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    Path("a_file").touch()
    ended = call("claims", *words)
    assert ended.code == 2
    assert said in ended.err


def test_names_mean_sources_and_claims():
    assert [claim.id[:2] for claim in _sources.meant(["s3"])] == ["S3"] * MANY[3]
    assert _sources.meant(["gpt_from_scratch"]) == _sources.meant(["3"]) == _sources.meant(["S3"])
    assert [claim.id for claim in _sources.meant(["s3-5", "S0-01"])] == ["S0-01", "S3-05"]
    assert _sources.meant([]) == EVERY
    with pytest.raises(MissingError):
        _sources.find("S3-99")
    with pytest.raises(CallError):
        _settle.settle([], workers=0)


# ---- all that are fast ----------------------------------------------------------------------------------------------


def begun(folder: Path, *words: str) -> "subprocess.Popen[str]":
    code = "import sys; from glassformer.cli import main; sys.argv[:1] = ['glassformer', 'claims']; main()"
    return subprocess.Popen([sys.executable, "-c", code, *words], cwd=folder, text=True, start_new_session=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})  # fmt: skip


def record_faults(row: dict) -> Iterator[str]:
    """Where the record that ships is not what the code of today finds: verdict, words, numbers up to rounding."""
    recorded = next(each for each in RECORD if each["id"] == row["id"])
    for key in ("verdict", "measured", "truth"):
        now, then = (re.sub(r"\d[\d.,]*(e-?\d+)?", "#", each[key]) for each in (row, recorded))
        if now != then:
            yield f"{row['id']}: {key} is {row[key]!r}, in the record {recorded[key]!r}"
    for name in {**row["numbers"], **recorded["numbers"]}:
        now, then = (each["numbers"].get(name) for each in (row, recorded))
        if now != pytest.approx(then, rel=1e-3, abs=1e-9):
            yield f"{row['id']}: {name} is {now}, in the record {then}"


def test_what_needs_no_training_settles_once_through_a_kill(tmp_path):
    """Killed after the first results, it leaves whole files, and goes on; then it computes nothing more.

    Its results are those of the record. What is trained for a claim is settled by `make claims`.
    """
    ids = [claim.id for claim in EVERY if not claim.needs and not claim.slow]
    assert len(ids) > 50
    folder = tmp_path / "claims" / "settled"
    child = begun(tmp_path, "--all", "--json", *ids)
    until = time.monotonic() + 120
    while not (folder.is_dir() and any(folder.glob("*.json"))):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    assert all(json.loads(path.read_text("utf-8"))["verdict"] for path in before)
    out, err = begun(tmp_path, "--all", "--json", *ids).communicate()
    rows = json.loads(out)["claims"]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    there = bool(os.environ.get("GLASSFORMER_DATA"))
    for row in rows:
        assert set(row) == FIELDS
        if not row["slow"] and (there or row["source"] != "S2"):
            assert row["verdict"] in _rows.VERDICTS, f"{row['id']}: {row['note']}\n{err}"
            assert row["measured"]
            assert row["truth"] or row["verdict"] not in ("corrected", "refuted")
            assert not row["note"]
    assert [row["id"] for row in rows] == ids
    faults = [fault for row in rows if row["verdict"] for fault in record_faults(row)]
    assert not faults, "\n".join(faults)
    files = {path: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    again = subprocess.run(
        [sys.executable, "-c", SECOND, *ids], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    said, loaded = again.stdout, again.stderr.splitlines()[-1]
    assert set(loaded.split()) & {"jax", "jaxlib", "matplotlib"} == set()
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.json")} == files
    assert json.loads(said)["claims"] == rows


SECOND = """
import sys
from glassformer.cli import main
sys.argv = ["glassformer", "claims", "--all", "--json", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)  # the output is for the answer alone
"""


# ---- the record that ships ------------------------------------------------------------------------------------------

RECORD = json.loads(_rows.RECORD.read_text("utf-8"))["claims"]


def test_the_page_is_made_from_the_record():
    assert (ROOT / "docs/claims.md").read_text("utf-8") == _page.page(RECORD)


def test_the_record_has_every_claim_and_no_verdict_by_hand():
    assert [row["id"] for row in RECORD] == [claim.id for claim in EVERY]
    by_id = {claim.id: claim for claim in EVERY}
    for row in RECORD:
        assert set(row) == FIELDS
        assert row["verdict"] in _rows.VERDICTS, row["id"]
        assert row["truth"] or row["verdict"] not in ("corrected", "refuted"), row["id"]
        assert row["statement"] == by_id[row["id"]].statement
        assert row["stated"] == dict(by_id[row["id"]].stated)
        assert (row["verdict"] in ("illustrative", "not checkable")) == bool(by_id[row["id"]].never)
    assert sum(row["verdict"] in ("reproduced", "corrected", "refuted") for row in RECORD) >= 100


def test_a_page_of_claims_shows_each_once():
    base = {"source": "S9", "source_title": "Made up", "place": "9.1", "numbers": {}, "reason": "", "note": "",
            "train": "", "command": "glassformer claims", "stated": {"n": 1.0}, "settled": "2026-01-02"}  # fmt: skip
    rows = [
        {**base, "id": "S9-01", "statement": "a | b", "measured": "1", "verdict": "reproduced", "truth": ""},
        {**base, "id": "S9-02", "statement": "*c*", "measured": None, "verdict": None, "truth": "", "note": "slow"},
        {**base, "id": "S9-03", "statement": "d", "measured": "2 [1, 3]", "verdict": "refuted", "truth": "2",
         "numbers": {name: {"median": 2, "low": 1, "high": 3, "seeds": many} for name, many in (("m", 4), ("n", 16))}},
    ]  # fmt: skip
    page = _page.page(rows)
    assert "3 claims: 1 reproduced, 1 refuted, 1 not settled. 1 of them over seeds, 4 to 16 each." in page
    lines = [line for line in page.splitlines() if line.startswith("| S9")]
    assert [len(re.split(r"(?<!\\)\|", line)) for line in lines] == [8, 8, 8]
    assert "a \\| b (9.1)" in lines[0]
    assert "\\*c\\*" in lines[1]
    assert "(16 seeds) | refuted | 2 |" in lines[2]
