"""Texts: tokens come back as the text they were, no part touches another, counts cost what they cost, runs travel."""

import json
import os
import shutil
from collections import Counter
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glassformer as gf
from command import call
from glassformer import corpora, tokenizers
from glassformer.errors import CallError, DamagedError, MissingError
from glassformer.experiment import for_text, load
from glassformer.run import find
from glassformer.tasks._counts import Counts
from glassformer.tasks._text import by_heart
from glassformer.tasks.mary import LINES, TOKENS, WORDS, Mary
from glassformer.tasks.own_text import OwnText

RHYME = "".join(f"{line}\n" for line in LINES)
corpus = pytest.mark.skipif(
    not os.environ.get("GLASSFORMER_DATA"), reason="needs tinyshakespeare.txt: let GLASSFORMER_DATA name its folder"
)
SMALL = ("architecture.context=8", "architecture.width=8", "architecture.feed_forward=16", "train.judged=20")


@pytest.fixture
def rhyme(tmp_path):
    path = tmp_path / "rhyme.txt"
    path.write_text(RHYME * 4, encoding="utf-8")
    return path


# ---- tokenizers ------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_lossless_tokenizers_give_every_text_back(text):
    for kind in ("characters", "byte_bpe"):
        learnt = tokenizers.find(kind).learn(text, 300 if kind == "byte_bpe" else None)
        assert learnt.decode(learnt.encode(text)) == text
        assert learnt.decode(learnt.read(text)) == text
    everything = tokenizers.find("byte_bpe").learn("other letters", 260)
    assert everything.decode(everything.encode(text)) == text


@pytest.mark.parametrize("kind", tokenizers.names())
def test_a_tokenizer_is_the_same_after_saving(kind):
    found = tokenizers.find(kind)
    learnt = found.learn(RHYME, 300 if kind in ("bpe", "byte_bpe") else None)
    again = tokenizers.load(learnt.save(), "here")
    assert (again.vocabulary, again.groups) == (learnt.vocabulary, learnt.groups)
    np.testing.assert_array_equal(again.read(RHYME), learnt.read(RHYME))
    members = sorted(token for group in learnt.groups.values() for token in group)
    assert members == list(range(len(learnt.vocabulary)))
    for wrong in (
        b"{}",
        b"[",
        b'{"kind": "words", "words": 3}',
        b'{"kind": "nothing"}',
        b'{"kind": "bpe", "library": "x"}',
        b'{"pre_tokenizer": {"type": "ByteLevel"}}',
        b'{"pre_tokenizer": {"type": "Metaspace"}}',
    ):
        with pytest.raises((DamagedError, MissingError)):
            tokenizers.load(wrong, "here")


def test_words_are_those_of_the_rhyme():
    learnt = tokenizers.find("words").learn(RHYME, None)
    assert learnt.vocabulary == WORDS
    np.testing.assert_array_equal(learnt.read(RHYME), TOKENS)
    with pytest.raises(CallError, match="did you mean lamb"):
        learnt.encode("mary had a lam")
    few = tokenizers.find("words").learn(RHYME, 10)
    assert len(few.vocabulary) == 10
    kept = Counter(word for line in LINES for word in line.split())
    assert set(few.vocabulary) - {"<END>", "<RARE>"} <= set(kept)
    assert (few.read(RHYME) == few.vocabulary.index("<RARE>")).any()


def test_long_texts_are_cut_where_nothing_joins():
    from glassformer.tokenizers import _tokenizer

    text = RHYME.replace("lamb", "lamb\n\n  sheep") * 20
    assert "".join(_tokenizer.stretches(text, 50)) == text
    for kind in ("bpe", "byte_bpe"):
        learnt = tokenizers.find(kind).learn(text, 300)
        pieces = [learnt.encode(part) for part in _tokenizer.stretches(text, 50)]
        np.testing.assert_array_equal(np.concatenate(pieces), learnt.encode(text))


@pytest.mark.parametrize("kind", ["bpe", "byte_bpe"])
def test_the_file_of_a_byte_pair_run_is_the_librarys_own(kind, rhyme, tmp_path):
    """The library reads it and cuts like ours; a run from before, with our own wrapping around it, still opens."""
    from tokenizers import Tokenizer as Library

    run = gf.train(for_text(rhyme, kind, 300, SMALL, steps=2), out=tmp_path / "run")
    library = Library.from_file(str(run.path / "tokenizer.json"))
    assert library.encode("mary had a little lamb").ids == run.task.encode("mary had a little lamb").tolist()

    asked = run.ask("mary had")
    before = json.dumps({"kind": kind, "library": library.to_str()}, ensure_ascii=False).encode()
    (run.path / "tokenizer.json").write_bytes(before)
    about = json.loads((run.path / "run.json").read_text())
    about["files"]["tokenizer.json"] = sha256(before).hexdigest()
    (run.path / "run.json").write_text(json.dumps(about))
    assert gf.open(run.path).ask("mary had") == asked


@corpus
def test_the_published_tokens():
    """447,717 tokens, the twenty commonest counts, and all but three of the hundred commonest words in one piece."""
    import re

    text = corpora.decoded(corpora.read("tinyshakespeare"), "it")
    learnt = tokenizers.find("bpe").learn(text, 500)
    ids = learnt.read(text)
    counts = np.bincount(ids, minlength=500)
    assert (len(text), len(set(text)), len(ids), int((counts > 0).sum())) == (1_115_394, 65, 447_717, 490)
    top = [(learnt.vocabulary[token], int(counts[token])) for token in np.argsort(-counts, kind="stable")[:20]]
    published = (
        ", 19846 s 11828 : 10316 . 7885 I 6699 d 6224 ' 6187 t 5916 a 5567 the 5540 to 4688 p 4598 c 4516 in 4238"
    )
    published += " and 4179 e 4117 er 3800 ; 3628 of 3617 be 3568"
    words = published.split()
    assert top == [(word, int(count)) for word, count in zip(words[::2], words[1::2], strict=True)]
    common = [word for word, _ in Counter(re.findall(r"\w+|[^\w\s]+", text.lower())).most_common(100)]
    assert [word for word in common if word not in learnt.vocabulary] == ["duke", "richard", "queen"]


# ---- counts ----------------------------------------------------------------------------------------------------------


def witten_bell(text, size, history, word):
    """The formula as it is written, counted anew."""
    if history is None:
        return 1 / size
    followed = [
        text[i + len(history)] for i in range(len(text) - len(history)) if text[i : i + len(history)] == history
    ]
    shorter = witten_bell(text, size, history[1:] if history else None, word)
    if not followed:
        return shorter
    kinds = len(set(followed))
    return (followed.count(word) + kinds * shorter) / (len(followed) + kinds)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=40), st.lists(st.integers(0, 4), min_size=4, max_size=12))
def test_count_tables_are_what_the_formula_says(train, other):
    counts = Counts(np.array(train), 5, 3)
    for longest in range(4):
        cost = counts.cost(np.array(other), longest)
        for place, word in enumerate(other):
            history = other[max(0, place - longest) : place]
            expected = witten_bell(train, 5, history, word)
            assert cost[place] == pytest.approx(-np.log(expected), abs=1e-12)
        chances = counts.chances(np.array(other), longest)
        assert chances.sum() == pytest.approx(1)
        history = other[len(other) - longest :]
        assert chances[2] == pytest.approx(witten_bell(train, 5, history, 2))


@corpus
def test_the_ladders_of_shakespeare():
    """The prices that were worked out for the design, on its own split; windows see the ends of a part less often."""
    task = load("shakespeare_bpe").task
    counts = Counts(task.stream[:358_186], 500, 3)
    costs = [counts.cost(task.stream[358_186:], longest).mean() for longest in range(4)]
    np.testing.assert_allclose(costs, [5.5314, 4.4243, 4.1450, 4.2629], atol=1e-4)
    bounds = task.bounds(64)
    assert [end - begin for begin, end in bounds.values()] == [358_058, 89_531]
    assert bounds["validation"][0] == 358_122
    ladder = task.ladder(64)
    assert [rung.name for rung in ladder] == ["uniform guess", "token frequencies", "last token", "last two tokens"]
    np.testing.assert_allclose([rung.nats for rung in ladder], [np.log(500), 5.5314, 4.4243, 4.1450], atol=5e-4)
    chars = load("shakespeare_chars").task
    expected = [4.1744, 3.3473, 2.4858, 2.0492, 1.7738, 1.6688]
    np.testing.assert_allclose([rung.nats for rung in chars.ladder(64)], expected, atol=5e-4)


@corpus
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("shakespeare_bpe", 391_552), ("shakespeare_bpe_long", 391_552), ("shakespeare_bpe_wide", 1_307_392),
     ("shakespeare_chars", 804_096), ("shakespeare_chars_large", 10_745_088)],
)  # fmt: skip
def test_published_sizes(name, parameters):
    assert load(name).architecture.parameters == parameters


def test_by_heart_is_the_floor_of_the_rhyme():
    """Two ways to the price of memory: the rhyme's own table, and the one for any text."""
    assert by_heart(TOKENS[:-1], 6) == pytest.approx(Mary().floor(6), abs=1e-12)


# ---- parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["tokens", "windows", "characters"])
@pytest.mark.parametrize("test", [0.0, 0.15])
def test_no_token_is_in_two_parts(rhyme, split, test):
    task = OwnText(file=str(rhyme), tokenizer="characters", validation=0.2, test=test, split=split)
    bounds = task.bounds(12)
    spans = [(begin, end + 12) for begin, end in bounds.values()]  # the tokens that windows of each part touch
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert spans[-1][1] == len(task.stream)
    assert set(bounds) == ({"train", "validation", "test"} if test else {"train", "validation"})
    data = task.data(12)
    seen = task.examples(12, "validation", 1000)
    assert len(seen.windows) == data.validation.windows[0]
    np.testing.assert_array_equal(seen.windows[3], task.stream[bounds["validation"][0] + 3 :][:13])


def test_different_tokens_are_judged_on_the_same_letters(rhyme):
    held = []
    for kind, entries in (("characters", None), ("byte_bpe", 290)):
        task = OwnText(file=str(rhyme), tokenizer=kind, entries=entries, split="characters", test=0.0, validation=0.25)
        begin, end = task.bounds(8)["validation"]
        held.append(task.decode(task.stream[begin : end + 8]))
    assert abs(len(held[0]) - len(held[1])) < 12  # a piece of bytes may lie across the border
    assert held[0].endswith(held[1]) or held[1].endswith(held[0])


def test_what_windows_cost_by_counts(rhyme):
    """The floor of a window's token is the best table's price of that token in its place."""
    task = OwnText(file=str(rhyme), tokenizer="characters")
    seen, begin = task.examples(6, "validation", 5), task.bounds(6)["validation"][0]
    costs = task.counts(6).cost(task.stream[begin:], task.best(6))
    first = int(np.flatnonzero([(task.stream[begin + k :][:7] == seen.windows[2]).all() for k in range(200)])[0])
    np.testing.assert_allclose(-seen.truth[2], costs[first + 1 : first + 7])


def test_a_rung_is_priced_on_the_predictions_of_all_windows(rhyme):
    """What the training counts from, what `score` prints and what the ladder says of a text is one number."""
    task = OwnText(file=str(rhyme), tokenizer="characters")
    for context in (6, 40):  # of the longer one the part has fewer windows than places
        begin, end = task.bounds(context)["validation"]
        seen = task.examples(context, "validation", end - begin)
        assert len(seen.windows) == end - begin
        assert task.ladder(context)[task.best(context) + 1].nats == pytest.approx(-seen.truth.mean(), abs=1e-12)


# ---- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_keeps_its_text_and_travels(rhyme, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("train", "--text", rhyme, "--tokenizer", "words", "--steps", 4, *_set(SMALL), "--json")
    assert answer.code == 0, answer.err
    before = gf.open(answer.json["run"])
    chances, ladder = before.ask("mary had a"), [rung.nats for rung in before.task.ladder(8)]
    rhyme.unlink()
    shutil.move(answer.json["run"], tmp_path / "elsewhere")
    after = gf.open(tmp_path / "elsewhere")
    assert after.check() == []
    assert after.ask("mary had a") == chances
    assert after.task.text == RHYME * 4
    assert [rung.nats for rung in after.task.ladder(8)] == ladder
    assert call("generate", tmp_path / "elsewhere", "mary", "--tokens", 5).code == 0
    for name in ("text.txt", "tokenizer.json"):
        data = (tmp_path / "elsewhere" / name).read_bytes()
        (tmp_path / "elsewhere" / name).write_bytes(data[:-1] + b"x")
        with pytest.raises(DamagedError, match=name):
            gf.open(tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / name).unlink()
        with pytest.raises(DamagedError, match="missing"):
            gf.open(tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / name).write_bytes(data)


def test_run_json_cannot_point_at_other_files(rhyme, tmp_path):
    run = gf.train(for_text(rhyme, "characters", None, SMALL, steps=2), out=tmp_path / "run")
    about = json.loads((run.path / "run.json").read_text())
    about["files"]["../../secret"] = about["files"].pop("text.txt")
    (run.path / "run.json").write_text(json.dumps(about))
    with pytest.raises(DamagedError, match="not a file that a run keeps"):
        gf.open(run.path)


def test_learning_a_text_beats_its_counts(tmp_path):
    """Every second letter tells the one five places on, which no short history knows: the model must see further."""
    rng = np.random.default_rng(0)
    text = "".join(f"{a}{b}xyxyxy{a}{b}." for a, b in rng.choice(list("abcdefgh"), (700, 2)))
    (tmp_path / "pattern.txt").write_text(text)
    settings = ("architecture.context=24", "architecture.width=32", "architecture.feed_forward=64", "train.judged=60",
                "architecture.dropout=0.0", "train.rate=5e-3", "train.batch=16")  # fmt: skip
    run = gf.train(for_text(tmp_path / "pattern.txt", None, None, settings, steps=250), out=tmp_path / "run")
    assert run.metrics["excess"][-1] < -0.02
    assert run.metrics["excess"][0] > 0.5


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (b"", (), "is empty"),
        (b" \n ", (), "is empty"),
        (b"too short", (), "tokens, too few for context"),
        (b"caf\xe9 " * 500, (), "not UTF-8 at byte 3"),
        (b"a\0b" * 500, (), "zero byte"),
        (RHYME.encode() * 4, ("--tokenizer", "bpe", "--vocabulary", 5), "data.entries = 5 is too small"),
        (RHYME.encode() * 4, ("--tokenizer", "runes"), "data.tokenizer = 'runes' is not allowed"),
        (RHYME.encode() * 4, ("--set", "data.validation=0.95"), "data.validation = 0.95"),
        (None, (), "there is no file"),
    ],
)
def test_bad_texts_are_one_sentence(content, options, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "mine.txt").write_bytes(content)
    answer = call("train", "--text", "mine.txt", "--steps", 2, *options)
    assert (answer.code, sentence in answer.err, answer.err.count("\n")) == (2, True, 1), answer.err
    assert not (tmp_path / "runs").exists()


def test_train_wants_one_thing(tmp_path):
    assert "exclude each other" in call("train", "mary", "--text", tmp_path / "x").err
    assert "name an experiment" in call("train").err
    assert "go with --text" in call("train", "mary", "--tokenizer", "words").err


def test_a_short_text_is_told_what_to_expect(rhyme, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("train", "--text", rhyme, "--steps", 3, *_set((*SMALL, "train.batch=5000")))
    assert answer.code == 0
    assert "expect the model to learn much of it by heart" in answer.err
    assert "perplexity" in answer.out


def test_a_model_that_has_passed_its_best_step_is_told_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(0).choice(list("abcdefgh"), 1000)  # nothing to learn but by heart
    (tmp_path / "chance.txt").write_text("".join(chance), encoding="utf-8")
    learning = ("train.rate=0.02", "train.batch=64", "train.log_every=20")
    answer = call("train", "--text", "chance.txt", "--steps", 200, *_set((*SMALL, *learning)))
    run = find()
    losses = run.metrics["validation_loss"]
    best = int(run.metrics["step"][np.argmin(losses)])
    assert best < 200
    assert f"best at step {best}: perplexity {np.exp(losses.min()):.2f}; --step best looks at it" in answer.out
    assert run.best_step() == best == call("ask", run.path, "ab", "--step", "best", "--json").json["step"]
    asked = [call(word, *given, "--step", "best", "--json").json for word, given in (("score", ()), ("generate", ()))]
    assert [each["step"] for each in asked] == [best, best]
    made = call("figures", run.path, "next_token", "--step", "best", "--format", "csv", "--json").json["figures"]
    assert made[0]["step"] == best
    answer = call("ask", run.path, "ab", "--step", "beast")
    assert (answer.code, "neither a kept step, nor last, nor best" in answer.err) == (2, True)


# ---- data sets -------------------------------------------------------------------------------------------------------


def test_data_sets_are_found_verified_and_never_taken_on_trust(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(MissingError, match="data fetch tinyshakespeare"):
        corpora.read("tinyshakespeare")
    assert "not on this machine" in call("data", "list").out
    (tmp_path / "tinyshakespeare.txt").write_text("To be, or not")
    with pytest.raises(DamagedError, match="sha256"):
        corpora.read("tinyshakespeare")
    assert call("data", "fetch").code == 2
    assert "tinyshakespeare" in call("data", "fetch", "tinyshakespear").err
    answer = call("train", "shakespeare", "--steps", 1)
    assert (answer.code, "sha256" in answer.err) == (1, True)


def test_fetching_verifies_what_came(tmp_path, monkeypatch):
    """From a file address, so that no network is needed: pooch takes it the same way."""
    import hashlib
    from functools import partial
    from http.server import HTTPServer, SimpleHTTPRequestHandler
    from threading import Thread

    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "some.txt").write_text("some text")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GLASSFORMER_DATA", raising=False)
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/some.txt"
        for digest, code in ((hashlib.sha256(b"some text").hexdigest(), 0), ("0" * 64, 1)):
            name = f"text{code}"
            monkeypatch.setitem(corpora.CORPORA, name, corpora.Corpus(f"{name}.txt", address, digest))
            answer = call("data", "fetch", name)
            assert answer.code == code, answer.err
        server.shutdown()
    assert corpora.read("text0") == b"some text"
    assert not (tmp_path / "cache/glassformer/text1.txt").exists()


def _set(assignments):
    return [word for each in assignments for word in ("--set", each)]
