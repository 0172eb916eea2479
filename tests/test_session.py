"""A training begun from Python: made once, gone on with, stopped by hand, and found by name."""

import signal
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import glassformer as gf
from glassformer import session, training
from glassformer.errors import CallError, DivergedError, LockedError, MissingError
from glassformer.experiment import for_text, load
from glassformer.settings import assign, assignments
from small_texts import SETTINGS

FEW = {"train.judged": 10, "train.log_every": 10}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(here):
    return sorted(path.name for path in (here / "runs").iterdir())


def few(seed=3, steps=20, **options):
    return gf.train("plus_last_even", seed=seed, steps=steps, settings=FEW, **options)


def test_the_same_training_is_made_once(here, capsys, monkeypatch):
    first = few()
    assert capsys.readouterr() == ("", "")  # nobody looks at a pipe
    monkeypatch.setattr(training, "begin", None)  # whoever trains now fails
    again = few(seed=np.int64(3))
    assert again.path == first.path
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"{first.path} is finished at step 20: opened, not trained again\n"
    assert few(progress=False).path == first.path
    assert gf.resume(first, progress=False).path == first.path
    assert capsys.readouterr().err == ""
    assert len(names(here)) == 1


def test_another_training_is_another_run_and_again_is_the_same_bits(here):
    first, anew = few(), few(again=True)
    assert anew.path.name == f"{first.path.name}-2"
    assert anew.digest() == first.digest()
    assert names(here) == [first.path.name, anew.path.name]

    def there(seeds=1, **options):
        return session._there(
            load("plus_last_even", assignments(FEW), **{"seed": 3, "steps": 20, **options}), seeds, None
        )

    assert there().path == first.path
    assert there(seed=4) is there(steps=10) is there(seeds=2) is None


def test_a_folder_that_is_there_is_taken_only_if_it_is_that_very_run(here):
    mine = few(out="mine")
    assert few(out="mine").path == mine.path
    with pytest.raises(CallError, match=r"^out = mine is a run of other settings, seeds or data"):
        few(seed=4, out="mine")
    assert few(seed=4, out="mine", again=True).path.name == "mine-2"
    (here / "file").write_text("mine")
    with pytest.raises(CallError, match=r"^out = file exists already"):
        few(out="file")
    assert (here / "file").read_text() == "mine"


def test_a_text_that_has_changed_is_another_training(here):
    def wanted(text):
        (here / "mine.txt").write_text(text * 30)
        return for_text(here / "mine.txt", "characters", None, SETTINGS)

    first = training.begin(wanted("mary had a little lamb\n")).run
    assert session._there(wanted("mary had a little lamb\n"), 1, None).path == first.path
    assert session._there(wanted("mary had a little ramb\n"), 1, None) is None


@pytest.mark.usefixtures("here")
def test_an_interrupted_training_goes_on(monkeypatch, capsys):
    """To the same bits, which test_training.py holds `training.resume` to; the rest of it is not waited for here."""
    wanted = load("plus_last_even", assignments(FEW), seed=3, steps=20_000)
    half = training.begin(wanted, stop=lambda: True).run
    assert half.status == "interrupted"
    resumed = []
    monkeypatch.setattr(training, "resume", lambda path, **_: resumed.append(path) or SimpleNamespace(
        run=half, interrupted=False, notices=(), steps=1, seconds=1.0))  # fmt: skip
    assert few(steps=20_000).path == half.path
    assert gf.resume("plus_last").path == half.path
    assert resumed == [half.path, half.path]
    step = f"{half.last_step:,}"
    said = f"{half.path} was interrupted at step {step} of 20,000: going on, to the same bits\n"
    assert capsys.readouterr().err == 2 * said


def test_ctrl_c_stops_at_a_safe_point_and_says_how_to_go_on(here, monkeypatch, capsys):
    @contextmanager
    def pressing(_):
        pressed = []
        yield (lambda _: pressed or pressed.append(signal.raise_signal(signal.SIGINT))), print

    monkeypatch.setattr(session, "_shown", pressing)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(
        KeyboardInterrupt, match=r"^stopped at step [\d,]+ of 20,000; gf.resume\('runs/.*goes on to the same"
    ):
        few(steps=20_000)
    assert signal.getsignal(signal.SIGINT) is before
    (name,) = names(here)
    run = gf.open(name)
    assert run.status == "interrupted"
    assert run.check() == []
    assert "stopping at the next safe point" in capsys.readouterr().err


def test_a_training_that_diverged_says_so_again_and_makes_no_second_folder(here):
    wild = {"train.optimiser": "sgd", "train.rate": 30.0, "train.log_every": 1}
    for _ in range(2):
        with pytest.raises(DivergedError):
            gf.train("plus_last_even", steps=12, settings=wild)
    assert len(names(here)) == 1


@pytest.mark.usefixtures("here")
def test_a_run_that_another_process_writes_is_left_alone(monkeypatch):
    few()
    monkeypatch.setattr(session.Run, "status", "running")
    with pytest.raises(LockedError, match=r"being trained by another process.*again=True"):
        few()


@pytest.mark.usefixtures("here")
def test_a_run_is_opened_by_name(capsys):
    few()
    second = few(seed=4)
    name = second.path.name
    assert gf.open(name).path == gf.open(second.path).path == gf.open(f"runs/{name}").path == second.path
    assert gf.open().path == second.path
    assert capsys.readouterr().err == ""
    assert gf.open("plus").path == second.path
    assert capsys.readouterr().err == f"plus means {second.path}, the newest of 2 that begin so\n"
    for wrong, kind, words in (
        ("minus", MissingError, "nothing called 'minus' in runs"),
        ("runs/minus", MissingError, "there is no folder runs/minus"),
        ("", CallError, "empty"),
        (5, CallError, "path = 5 is neither"),
    ):
        with pytest.raises(kind, match=words):
            gf.open(wrong)


@pytest.mark.parametrize(
    ("table", "texts"),
    [
        ({"train.rate": 1e-3}, ["train.rate=1e-3"]),
        ({"train": {"rate": 1e-3, "batch": 4}}, ["train.rate=0.001", "train.batch=4"]),
        ({"train.rate": np.float32(0.5), "train.batch": np.int64(4)}, ["train.rate=0.5", "train.batch=4"]),
        ({"train.clip": None, "architecture.norm": "none"}, ["train.clip=none", "architecture.norm=none"]),
        ({"architecture.causal": True, "architecture.biases": ("norm",)}, ["architecture.causal=true",
                                                                           'architecture.biases=["norm"]']),
        ({"data.file": 'odd "name" = 1\\n.csv'}, ["data.file='odd \"name\" = 1\\n.csv'"]),
        ("train.rate=1e-3", ["train.rate=1e-3"]),
    ],
)  # fmt: skip
def test_settings_may_be_a_table(table, texts):
    tables = {"train": {"steps": 5, "clip": 1.0}, "architecture": {}, "data": {}}
    assert assign(tables, assignments(table)) == assign(tables, texts)


def test_a_table_that_is_none_is_refused():
    for wrong, words in (
        ({"rate": 1}, r"settings\['rate'\] is not the name"),
        ({"train.rate": object()}, "neither number"),
    ):
        with pytest.raises(CallError, match=words):
            gf.train("plus_last_even", settings=wrong)
