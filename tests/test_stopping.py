"""Ctrl-C: one sentence that fits the command, exit code 1, nobody left, nothing half that calls itself whole."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import command
from glassformer import gallery, stopping, terminal
from glassformer.app import app
from glassformer.second import GoneError, Second
from small_runs import run_of


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after the entry of a command."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    hook = sys.unraisablehook
    monkeypatch.setattr(stopping, "_asked", False)
    stopping.working()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    sys.unraisablehook = hook


VERBS = ("ask", "generate", "check", "score", "report", "figures", "film", "physics", "study", "lab")


@pytest.mark.parametrize("verb", VERBS)
def test_each_command_ends_with_a_sentence_of_its_own(monkeypatch, verb):
    """Wherever it is interrupted; only of trainings is it said how to resume them."""
    callback = next(each.callback for each in app.registered_commands if each.name == verb)
    module = sys.modules[callback.__module__]
    words = {"ask": ["1 +"], "study": ["rate"]}.get(verb, [])

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for name in ("run_and_text", "opened", "run_and_names", "formats"):
        monkeypatch.setattr(f"glassformer.commands._shared.{name}", interrupted)
    monkeypatch.setattr("glassformer.commands.train.settings_of", interrupted)
    monkeypatch.setattr("glassformer.studies._run.find", interrupted)
    answer = command.call(verb, *words)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"glassformer: {getattr(module, 'STOPPED', 'stopped')}\n"
    assert ("--resume" in answer.err) == (verb == "lab")
    assert answer.err.startswith("glassformer: stopped")


@pytest.mark.usefixtures("listening")
def test_what_python_drops_while_tidying_up_is_heeded_at_the_next_count(monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        stopping.interrupt()
    stopping_thread = threading.Thread(target=stopping.heed)  # who works for the main thread is not stopped
    stopping_thread.start()
    stopping_thread.join()
    for show in (True, False):
        with terminal.counting("figures", show=show) as count, pytest.raises(KeyboardInterrupt):
            count(1, 9)
    ended = []
    monkeypatch.setattr(stopping.os, "_exit", ended.append)
    monkeypatch.setattr(stopping.os, "write", lambda *_: 0)
    with pytest.raises(KeyboardInterrupt):  # only as the process goes on here
        stopping.interrupt()
    assert ended == [1], "the second one ends at once"


@pytest.mark.usefixtures("listening")
def test_ctrl_c_while_python_tidies_up_is_neither_printed_nor_lost(capsys):
    """An interrupt in a finaliser, where Python can raise nothing."""

    class Tidying:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def work() -> None:
        tidying = Tidying()
        del tidying
        time.sleep(10)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - began < 5
    assert capsys.readouterr().err == ""


def test_a_training_that_ends_after_ctrl_c_is_not_drawn(tmp_path, monkeypatch):
    """Asked for after its last safe point but one, it comes to its end; the lab stops there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("glassformer.commands.figures.figures", lambda *_, **__: pytest.fail("it was asked to stop"))
    monkeypatch.setattr("glassformer.commands.train.train", lambda *_, **__: stopping.remember())
    answer = command.call("lab", "plus_last_even", "--no-open")
    assert (answer.code, answer.err.startswith("glassformer: stopped; ")) == (1, True)


def test_who_ignores_ctrl_c_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        stopping.working(), stopping.ending(0)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_gallery_stopped_half_way_leaves_the_page_as_it_was(tmp_path, monkeypatch):
    """None where there was none; and an old one keeps its bytes."""
    run, made = run_of("plus_last_even"), gallery.drawing.make

    def stopped(each, *rest):
        if each.name == "loss":
            raise KeyboardInterrupt
        return made(each, *rest)

    monkeypatch.setattr(gallery.drawing, "make", stopped)
    for before in (None, b"an old page"):
        if before:
            (tmp_path / "index.html").write_bytes(before)
        with pytest.raises(KeyboardInterrupt):
            gallery.gallery(run, tmp_path, only=("architecture", "loss", "perplexity"))
        page = tmp_path / "index.html"
        assert (page.read_bytes() if page.exists() else None) == before
        assert not (tmp_path / "gallery.json").exists()
        assert not list(tmp_path.glob(".*.tmp"))


def begin(setup):
    """What the second process of the tests below does: say its number, and then work for ever."""
    assert setup == "setup"

    def work(order):
        yield [order, os.getpid()]
        time.sleep(600)

    return work


def test_a_second_process_hears_no_ctrl_c_and_ends_with_the_first(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with Second("test_stopping:begin", "setup") as other:
        other.process.send_signal(signal.SIGINT)  # while it is being loaded
        other.ready()
        answers = other.ask(7)
        assert next(answers) == [7, other.process.pid]
        other.process.send_signal(signal.SIGINT)  # while it works
        time.sleep(0.1)
        assert other.process.poll() is None
        began = time.monotonic()
    assert time.monotonic() - began < 5, "it ends when nobody tells it anything more"
    with Second("test_stopping:begin", "setup") as other:
        other.ready()
        answers = other.ask(7)
        next(answers)
        other.stop()
        with pytest.raises(GoneError):
            next(answers)


@pytest.mark.skipif(os.name != "posix", reason="a signal to a whole session")
def test_a_real_signal_to_everybody_ends_a_gallery_with_one_sentence(tmp_path):
    """The process, its second one and whoever else belongs to it, as Ctrl-C on a terminal reaches them."""
    child = subprocess.Popen(
        [*command.COMMAND, "figures", str(run_of("plus_last_even").path), "--format", "svg", "--out", "drawn"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not list(tmp_path.glob("drawn/*.svg")):
        assert time.monotonic() < until
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (1, "")
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("glassformer: stopped before the end")
    names = {path.name for path in (tmp_path / "drawn").iterdir()}
    assert names
    assert not names & {"index.html", "gallery.json"}
