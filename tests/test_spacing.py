"""White space that a tokenizer throws away, put back for reading."""

import numpy as np

from glassformer.tokenizers._spacing import Spacing
from glassformer.tokenizers.bpe import Bpe
from glassformer.tokenizers.words import Words
from small_runs import TEXT, run_of

VERSE = "the cat, the dog: they sat.\n\nthe dog, the cat: they ran.\n" * 9


def test_a_text_of_unambiguous_spaces_comes_back_as_it_was():
    for cutter in (Bpe.learn(VERSE, 40), Words.learn(VERSE, None)):
        text = Spacing(cutter, VERSE).text(cutter.read(VERSE))
        assert text.split() == VERSE.split(), cutter.kind
    words = Words.learn(VERSE, None)
    assert Spacing(words, VERSE).text(words.read(VERSE)).splitlines()[2] == "the dog, the cat: they ran."
    pieces = Bpe.learn(VERSE, 40)
    assert Spacing(pieces, VERSE).text(pieces.encode("the dog, the cat:")) == "the dog, the cat:"


def test_tokens_that_never_met_have_what_usually_stands_before_the_second():
    cutter = Words.learn(VERSE, None)
    ids = [cutter.vocabulary.index(word) for word in ("ran", ",", "sat", "ran")]
    assert Spacing(cutter, VERSE).text(np.array(ids)) == "ran, sat ran"


def test_a_run_reads_its_own_text():
    run = run_of(TEXT)
    read = run.task.readable(run.task.stream[:60])
    begin = run.task.text[: len(read)]
    same = sum(a == b for a, b in zip(read.split(), begin.split(), strict=False))
    assert same > 0.8 * len(begin.split())
    assert run.task.decode(run.task.stream[:60]).split() != begin.split(), "the plain pieces do not read so"
