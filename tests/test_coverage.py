"""Words and tokens: counted by hand on small texts, and the published numbers on the published one."""

import os
from pathlib import Path

import pytest

from glassformer import analyses
from glassformer.analyses.what.coverage import coverage
from glassformer.errors import CallError
from glassformer.experiment import load
from small_runs import TEXT, run_of
from small_texts import noise, random_run

DATA = Path(os.environ.get("GLASSFORMER_DATA", "missing")) / "tinyshakespeare.txt"


def test_a_word_is_cut_as_the_tokenizer_cuts_it():
    run = run_of(TEXT)
    seen = coverage(run)
    words = run.task.text.lower().replace(",", " , ").replace(":", " : ").split()
    for word, many, count, pieces in zip(
        seen.pieces.axes["word"].labels, seen.pieces.values, seen.counts.values, seen.cut, strict=True
    ):
        assert words.count(word) == count
        assert "".join(pieces) == word
        assert len(pieces) == many
        assert many > 1 or word in run.task.vocabulary
    assert len(seen.pieces.values) < 100 or seen.share.values[99] == pytest.approx(1 - len(seen.split) / 100)


def test_what_is_thrown_away_is_counted():
    run = run_of(TEXT)
    seen, text = coverage(run), run.task.text
    lost = dict(zip(seen.lost.axes["kind"].labels, seen.lost.values, strict=True))
    assert lost == {"spaces": text.count(" "), "line ends": text.count("\n")}
    held = sum(len(run.task.vocabulary[token]) for token in run.task.stream)
    assert held + sum(lost.values()) == len(text)
    assert seen.per_token == pytest.approx(len(text) / len(run.task.stream))


def test_bytes_keep_everything_and_other_tokenizers_cut_nothing(tmp_path):
    seen = coverage(random_run(tmp_path / "a", "byte_bpe"))
    assert seen.lossless
    assert len(seen.lost.values) == 0
    with pytest.raises(CallError, match="merges nothing"):
        analyses.coverage(random_run(tmp_path / "b", "characters"))
    with pytest.raises(CallError, match="no text"):
        analyses.coverage(run_of("plus_last_even"))


@pytest.mark.skipif(not DATA.exists(), reason="needs tinyshakespeare.txt: let GLASSFORMER_DATA name its folder")
def test_all_but_three_of_the_hundred_commonest_words_are_one_token(tmp_path):
    run = noise(tmp_path / "run", load("shakespeare_bpe", ("architecture.width=8", "architecture.heads=2"), steps=2))
    seen = coverage(run)
    assert seen.split == ["duke", "richard", "queen"]
    assert (seen.tokens, seen.used, seen.entries) == (447_717, 490, 500)
