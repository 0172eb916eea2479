"""A text learnt by heart: nothing is held out and no rule speaks, and no word that is shown says otherwise."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.text import Text

import glassformer as gf
from command import call
from glassformer import summary
from glassformer.figures import _draw
from glassformer.report.events import events
from glassformer.report.info import _task
from glassformer.run import Run

HELD_OUT = re.compile(r"held.?out|validation", re.IGNORECASE)
SLOW = ("hessian",)  # half a minute; it takes its words from the same place


@pytest.fixture(scope="module")
def mary(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return gf.train("mary", steps=40, out=tmp_path_factory.mktemp("heart") / "mary")


def _figures() -> list[str]:
    return [each.name for each in gf.catalogue.entries("figures") if each.needs == "run" and each.name not in SLOW]


@pytest.mark.parametrize("name", _figures())
def test_no_figure_says_that_something_is_held_out(mary, name):
    if gf.catalogue.why_not(gf.catalogue.entry("figures", name), mary):
        pytest.skip("it does not apply to a rhyme")
    figure = getattr(gf.figures, f"plot_{name}")(mary)
    words = _draw.of(figure).words
    drawn = [each.get_text() for each in figure.findobj(Text)]
    plt.close(figure)
    assert [text for text in (words.title, words.caption, words.alt, *drawn) if HELD_OUT.search(text)] == []


def test_no_command_says_that_something_is_held_out(mary):
    told = "\n".join(summary.sentences(mary))
    for words in (("score", mary.path), ("check", mary.path)):
        answer = call(*words)
        assert answer.code == 0
        told += answer.out
    assert "judged on the training text" in told
    assert not HELD_OUT.search(told)


def test_what_a_model_writes_is_looked_up_in_the_text(mary):
    """There is no rule: a token counts as right where it occurs in the text after those before it."""
    answer = call("generate", mary.path, "mary had a", "--tokens", 8, "--seed", 1)
    right = call("generate", mary.path, "mary had a", "--tokens", 8, "--seed", 1, "--json").json["right"][3:]
    last = answer.out.splitlines()[-1]
    assert last == (
        f"8 of these tokens were looked up in the text, together with those before them; {sum(right)} of them are right"
    )


def test_the_page_knows_that_nothing_is_held_out(mary):
    assert _task(mary)["held_out"] is False
    assert not HELD_OUT.search(" ".join(event.text for event in events(mary)))
    assert _task(gf.open(Path(__file__).parent / "fixtures/v0.2.0/runs/rule"))["held_out"] is True
