"""A study on a Dask cluster: a real scheduler, two real workers, and one of them killed while it trains."""

import json
import signal
import subprocess
import sys
import time

import pytest
from numpy.testing import assert_allclose

from glassformer import studies
from glassformer import study as opened
from glassformer.errors import CallError
from glassformer.studies import _run

pytest.importorskip("distributed")

TINY = ("architecture.width=2", "architecture.feed_forward=4", "train.judged=20", "train.log_every=500")
DASK = (sys.executable, "-m", "dask")


def started(*words, folder):
    return subprocess.Popen([*DASK, *map(str, words)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler with two workers, and the workers."""
    about = tmp_path / "scheduler.json"
    scheduler = started("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", about,
                        folder=tmp_path)  # fmt: skip
    workers = []
    try:
        wait_for(lambda: about.is_file() and about.read_text().strip().endswith("}"))
        address = json.loads(about.read_text())["address"]
        workers = [
            started("worker", address, "--no-nanny", "--nthreads", 1, "--no-dashboard", "--name", f"worker-{k}",
                    "--local-directory", tmp_path / f"worker-{k}", folder=tmp_path)
            for k in range(2)
        ]  # fmt: skip
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def wait_for(done, seconds=240):
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.05)


def test_a_killed_worker_loses_no_finished_cell(cluster, tmp_path, monkeypatch):
    address, workers = cluster
    monkeypatch.setattr(studies.find("rate"), "FACTORS", (0.3, 1, 3))
    folder = tmp_path / "study"
    finished, heard, killed = {}, [], []

    def done(_, cell):
        path = folder / "cells" / f"{cell.file}.json"
        finished[path] = path.read_bytes()

    def progress(message):
        heard.append(message)
        if not killed and message["step"] > 0:  # in the middle of a cell
            workers[0].send_signal(signal.SIGKILL)
            killed.append(message["cell"])

    watch = _run.Watch(done=done, progress=progress)
    study = studies.run("rate", "plus_last_even", seeds=2, steps=8_000, settings=TINY, out=folder, scheduler=address,
                        watch=watch)  # fmt: skip
    assert killed
    assert workers[0].wait() == -signal.SIGKILL
    assert study.failed == {}
    assert len(study.rows()) == 3
    assert {message["cell"] for message in heard} == {cell.name for cell in study.cells}
    for path, content in finished.items():
        assert path.read_bytes() == content, "what was finished stays as it was"
    assert not (folder / "runs").exists(), "a worker may be another machine; only numbers come back"
    here = studies.run("rate", "plus_last_even", seeds=2, steps=8_000, settings=TINY, out=tmp_path / "here", workers=1)
    for a, b in zip(study.rows(), here.rows(), strict=True):
        assert_allclose(a.curves["excess"][:3], b.curves["excess"][:3], rtol=1e-3, atol=1e-5)


def test_no_scheduler_is_said_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("glassformer.studies._executors.WAIT", 2)
    with pytest.raises(CallError, match=r"no Dask scheduler answers at 127\.0\.0\.1:1 "):
        studies.run("seeds", "plus_last_even", steps=2, out=tmp_path / "study", scheduler="127.0.0.1:1")
    assert opened.open(tmp_path / "study").trained == {}
