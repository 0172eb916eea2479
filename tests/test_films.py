"""Every film in the folder, found by listing it: frames, clock, files, and that only what should move does."""

import csv
import json
from functools import cache
from inspect import signature

import matplotlib
import numpy as np
import pytest
from PIL import Image

from glassformer import _discover, catalogue, films
from glassformer.analyses._reel import Reel
from glassformer.errors import CallError, MissingError
from glassformer.films import _film
from small_runs import MODULAR, POPULATION, TEXT, run_of

NAMES = _discover.names(films)


def film(name, run="plus_last_even", **options):
    each = catalogue.entry("films", name)
    subject = run_of(POPULATION if each.needs == "population" else run)
    if reason := catalogue.why_not(each, subject):
        pytest.skip(reason)
    known = {option.name for option in each.options}
    return getattr(films, f"film_{name}")(subject, **{key: value for key, value in options.items() if key in known})


@cache
def home_of(name):
    """The first small run of which the film can be made."""
    each = catalogue.entry("films", name)
    runs = ("plus_last_even", "five_operations", TEXT, MODULAR, POPULATION)
    return next(run for run in runs if not catalogue.why_not(each, run_of(run)))


def trip(seen):
    return type(seen).from_plain(json.loads(json.dumps(seen.plain(), allow_nan=False)))


@pytest.mark.parametrize("name", NAMES)
def test_a_film_takes_what_all_films_take(name):
    make = getattr(films, f"film_{name}")
    assert "theme" in signature(make).parameters
    assert make.__doc__
    assert catalogue.entry("films", name).answers


@pytest.mark.parametrize("name", NAMES)
def test_a_film_is_made_of_results_alone_and_written_with_poster_numbers_and_words(name, tmp_path):
    """What stands still, the strip and every frame go through JSON, and the pictures are the same."""
    before = dict(matplotlib.rcParams)
    made = film(name, home_of(name), frames=2, theme="dark")
    frames = list(made.frames())
    assert dict(matplotlib.rcParams) == before
    assert len(frames) == len(made.steps) >= 2
    assert all(frame.shape == (720, 1280, 3) and frame.dtype == np.uint8 for frame in frames)
    assert (frames[0] != frames[-1]).any()
    reel = made.reel
    kept = {frame: trip(reel.at(frame)) for frame in reel.frames}
    still = {key: trip(each) for key, each in reel.still.items()}
    assert all(still[key] == each for key, each in reel.still.items())
    again = Reel(reel.title, reel.frames, kept.__getitem__, trip(reel.strip), still)
    other = _film.Film(again, made.scene, made.words.caption, theme="dark")
    for place in (0, -1):  # the last one first: a frame depends on its step alone
        (frame,) = other.frames([made.steps[~place]])
        np.testing.assert_array_equal(frame, frames[~place])
    if name in NAMES[::4]:  # written alike, whatever they show
        written_whole(made, tmp_path / f"{name}_film.gif")


def written_whole(made, path):
    """The film, its poster, its numbers and its words."""
    written = made.save(path, fps=10)
    assert {each.suffix for each in written} == {".gif", ".png", ".csv", ".json"}
    with Image.open(path) as picture:
        assert picture.info["loop"] == 0
        assert picture.n_frames >= 2
        assert picture.info["duration"] == 1000
        picture.seek(picture.n_frames - 1)
        assert picture.info["duration"] == 2000
    assert path.stat().st_size <= _film.MOST_BYTES
    with path.with_suffix(".csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["frame", "step"]
    assert len({row[0] for row in rows[1:]}) == len(made.steps)
    assert json.loads(path.with_suffix(".json").read_text("utf-8"))["title"] == made.words.title


@pytest.mark.parametrize("name", NAMES[::2])
@pytest.mark.parametrize("run", [TEXT])  # beside the rule of the tests above
def test_any_task_can_be_filmed(name, run):
    if name == "one_update":
        pytest.skip("it compiles for long; one kind of task is enough")
    made = film(name, run, frames=2)
    assert len(list(made.frames(made.steps[-1:]))) == 1


def test_two_processes_make_the_same_film(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    made = film("loss", frames=50)
    for processes, name in ((1, "one"), (2, "two")):
        made.save(tmp_path / f"{name}.mp4", tmp_path / f"{name}.gif", processes=processes)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    video = (tmp_path / "two.mp4").read_bytes()
    assert video[4:8] == b"ftyp"
    assert video.index(b"moov") < video.index(b"mdat"), "fast start: the index comes first"


def test_without_ffmpeg_an_mp4_is_refused_and_the_way_out_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("glassformer.films._film.encode.which", lambda _: None)
    with pytest.raises(MissingError, match=r"glassformer\[video\]"):
        film("loss", frames=3).save(tmp_path / "x.mp4")
    assert _film.ffmpeg(needed=False) == ""


def test_what_cannot_be_filmed_is_said(tmp_path):
    with pytest.raises(MissingError, match="nearest"):
        film("loss", steps=[0, 10**7])
    with pytest.raises(CallError, match="mp4 or gif"):
        film("loss", frames=3).save(tmp_path / "x.avi")
    with pytest.raises(CallError, match="frames"):
        film("loss", frames=1)
    with pytest.raises(CallError, match="pace"):
        film("loss", pace="slow")


ANIMATIONS = {
    "4.D1": "embeddings", "4.D2": "qkv", "4.D3": "query_key_space", "4.D4": "attention_space", "4.D5": "landscape",
}  # fmt: skip


@pytest.mark.parametrize("code", ANIMATIONS)
def test_every_animation_of_source_004_is_answered(code):
    assert ANIMATIONS[code] in NAMES
    assert code in catalogue.entry("films", ANIMATIONS[code]).answers
