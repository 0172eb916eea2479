"""The pictures of the README show what the code makes today, and stay small."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from math import isclose
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from small_runs import FIRST, run_of

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
spec = spec_from_file_location("pictures", FOLDER / "make.py")
pictures = module_from_spec(spec)
spec.loader.exec_module(pictures)


def test_they_are_small_and_as_many_as_are_shown():
    drawn = [path for path in FOLDER.iterdir() if path.suffix in (".gif", ".png")]
    readme = (FOLDER.parents[1] / "README.md").read_text("utf-8")
    assert {path.name for path in drawn} == {"plane.gif", "page.png", *(f"{name}.png" for name in pictures.FIGURES)}
    assert all(f"docs/pictures/{path.name}" in readme for path in drawn)
    assert sum(path.stat().st_size for path in drawn) <= pictures.MOST_BYTES
    with Image.open(FOLDER / "plane.gif") as film:
        assert (film.n_frames, film.info["loop"]) == (len(pictures.STEPS), 0), "it runs for ever"


def test_they_show_what_is_found_today():
    """The words of each picture and the numbers behind it, found in a run of now; `make pictures` renews them."""
    kept = json.loads((FOLDER / "made.json").read_text("utf-8"))
    assert list(_differences(kept, pictures.facts(run_of(FIRST)))) == []


def test_a_stale_picture_is_noticed():
    kept = json.loads((FOLDER / "made.json").read_text("utf-8"))
    other = json.loads(json.dumps(kept))
    other["loss"]["title"] += "!"
    other["one_answer"]["numbers"]["step"] += 1000
    assert [where for where, *_ in _differences(kept, other)] == ["loss.title", "one_answer.numbers.step"]


def _differences(one: Any, other: Any, where: str = "") -> Any:
    """Where two tables differ; numbers may by a hundredth, as other machines add up in another order."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            yield from _differences(one.get(name), other.get(name), f"{where}.{name}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for k, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(*pair, f"{where}[{k}]")
    elif isinstance(one, float) and isinstance(other, float | int):
        if not isclose(one, other, rel_tol=0.01, abs_tol=1e-3):
            yield where, one, other
    elif one != other:
        yield where, one, other


@pytest.mark.parametrize("pair", [({"a": 1.0}, {"a": 1.02}), ({"a": "b"}, {}), ([1], [1, 2]), (None, 0.0)])
def test_differences_are_found(pair):
    assert list(_differences(*pair))
