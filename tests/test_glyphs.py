"""Every text can be drawn: letters the font lacks have stand-ins, and nothing in a file is obeyed by who opens it."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from glassformer import figures, films
from glassformer.experiment import for_text
from glassformer.figures import _draw
from glassformer.figures._draw.glyphs import drawable, visible
from glassformer.figures._draw.text import text_width
from glassformer.gallery.making import Made
from glassformer.gallery.page import page
from glassformer.run import Run
from glassformer.words import UNSHOWN
from small_texts import SETTINGS, noise

HOSTILE = "\x1b[31mred\x07 \u202edne\u2066 \x9b \u2028 \x7f \uffff <b>&amp; ]]> 天 🚀 e\u0301\tا\n"
DRAWN = ("attention", "generated", "similarity")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "text.txt").write_text(HOSTILE * 20, encoding="utf-8", newline="")
    return noise(folder / "run", for_text(folder / "text.txt", "characters", None, SETTINGS))


@pytest.mark.parametrize(
    ("text", "in_a_picture", "in_svg"),
    [
        ("plain ä ⏎ 20\u202f000", "plain ä ⏎ 20\u202f000", "plain ä ⏎ 20\u202f000"),
        ("a\tb\nc", "a⇥b\nc", "a⇥b\nc"),
        ("🚀天", "U+1F680U+5929", "🚀天"),
        ("\x1b\x07\u202e\uffff", r"\u001b\u0007\u202e\uffff", r"\u001b\u0007\u202e\uffff"),
    ],
)
def test_what_cannot_be_drawn_has_a_stand_in(text: str, in_a_picture: str, in_svg: str) -> None:
    assert (drawable(text), visible(text)) == (in_a_picture, in_svg)
    assert drawable(in_a_picture) == in_a_picture
    line = in_a_picture.replace("\n", "")
    assert text_width(text.replace("\n", ""), 9) == text_width(line, 9) > 0


@pytest.mark.parametrize("name", DRAWN)
def test_a_hostile_text_is_drawn_and_no_file_of_it_is_obeyed(run: Run, name: str, tmp_path: Path) -> None:
    """Warnings are errors here, so a glyph that is missing fails, too."""
    figure = getattr(figures, f"plot_{name}")(run)
    svg = _draw.data(figure, "svg")
    ET.fromstring(svg)  # valid XML
    assert not UNSHOWN.search(svg.decode())
    assert _draw.data(figure, "png").startswith(b"\x89PNG")
    table = _draw.save(figure, tmp_path / "numbers.csv").read_text(encoding="utf-8")
    assert not UNSHOWN.search(table)
    assert len(list(csv.reader(io.StringIO(table)))) > 1
    beside = _draw.save_numbers(figure, tmp_path / "numbers.json").read_text(encoding="utf-8")
    assert not UNSHOWN.search(beside)
    assert json.loads(beside)["title"] == _draw.of(figure).words.title  # the same characters, written otherwise


def test_letters_stay_text_in_an_svg(run: Run) -> None:
    svg = _draw.data(figures.plot_similarity(run), "svg").decode()
    written = "".join(ET.fromstring(svg).itertext())
    assert "天" in written
    assert "🚀" in written
    assert r"\x202e" in written  # as tokens are shown
    assert "U+5929" not in written


def test_pdf_and_figures_of_others_are_drawn_too(run: Run) -> None:
    assert _draw.data(figures.plot_attention(run), "pdf").startswith(b"%PDF")
    own = Figure()
    figures.plot_attention(run, ax=own.add_subplot())
    own.savefig(out := io.BytesIO(), format="svg")
    ET.fromstring(out.getvalue())
    own.savefig(io.BytesIO(), format="png")


def test_films_of_a_hostile_text(run: Run) -> None:
    for film in (films.film_attention(run), films.film_generated(run)):
        first, *_ = film.frames([0], width=480)
        assert np.unique(first).size > 2


def test_the_page_shows_what_would_be_obeyed(run: Run, tmp_path: Path) -> None:
    made = Made("attention", "attend", ("attention.svg",), "to \u202e<b>", "\x1b[2J", 'alt "\x9b"')
    told = page(run, [made], tmp_path)
    assert not UNSHOWN.search(told)
    assert r"to \u202e&lt;b&gt;" in told
