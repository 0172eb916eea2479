"""Compiled programs are kept for the next process; nothing but time depends on them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import command
from glassformer import cache

TRAIN = ("train", "plus_last_even", "--steps", 40, *command.QUICK, "--quiet")


CODE = """
import sys
import jax
jax.monitoring.register_event_listener(lambda event, **_: print(event, file=sys.stderr))
from glassformer.cli import main
main()
"""


def train(folder: Path, out: str, **environment: str) -> tuple[bytes, int]:
    """The newest state of a training in its own process, and how many programs were read there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    words = [sys.executable, "-c", CODE, *map(str, TRAIN), "--out", out]
    done = subprocess.run(words, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line and not line.startswith("/jax/")]
    assert said == []
    return (folder / out / "resume.safetensors").read_bytes(), done.stderr.count("/jax/compilation_cache/cache_hits")


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*-cache"))


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    return tmp_path / "compiled"


def test_the_second_process_reads_what_the_first_has_compiled_and_computes_the_same(tmp_path, compiled):
    without, hits = train(tmp_path, "without", GLASSFORMER_CACHE="off")
    assert (hits, entries(tmp_path)) == (0, [])
    cold, hits = train(tmp_path, "cold", GLASSFORMER_CACHE=str(compiled))
    kept = entries(compiled)
    assert hits == 0
    assert {path.name.split("-")[0] for path in kept} >= {"jit__steps", "jit__judgement"}
    warm, hits = train(tmp_path, "warm", GLASSFORMER_CACHE=str(compiled))
    assert hits >= 2
    assert entries(compiled) == kept
    assert without == cold == warm


def test_a_damaged_entry_is_compiled_anew_and_nobody_is_told(tmp_path, compiled):
    first, _ = train(tmp_path, "first", GLASSFORMER_CACHE=str(compiled))
    for path in entries(compiled):
        path.write_bytes(b"garbage" * 100)
    again, hits = train(tmp_path, "again", GLASSFORMER_CACHE=str(compiled))
    assert again == first
    assert hits == 0
    assert not [path for path in entries(compiled) if path.read_bytes().startswith(b"garbage")]
    train(tmp_path, "fills", GLASSFORMER_CACHE=str(compiled))
    assert train(tmp_path, "reads", GLASSFORMER_CACHE=str(compiled))[1] >= 2


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps who may write elsewhere")
def test_a_folder_that_others_may_write_to_is_not_read(tmp_path):
    assert cache._trusted(tmp_path)
    tmp_path.chmod(0o777)
    assert not cache._trusted(tmp_path)


def test_what_was_read_longest_ago_makes_room_and_empty_files_go(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MOST_BYTES", 250)
    for age, name in enumerate(["new-cache", "middle-cache", "old-cache"]):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    (tmp_path / "empty-cache").write_bytes(b"")
    cache._prune(tmp_path)
    assert [path.name for path in entries(tmp_path)] == ["middle-cache", "new-cache"]


def test_where_nothing_can_be_kept_training_goes_on(tmp_path):
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    train(tmp_path, "run", GLASSFORMER_CACHE=str(tmp_path / "file"))
