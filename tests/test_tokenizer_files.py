"""A tokenizer.json from a stranger: what we write is read to the same ids, and everything else is one sentence."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from command import call
from glassformer import tokenizers
from glassformer.errors import CallError, DamagedError
from glassformer.tasks import _text

RUN = Path(__file__).parent / "fixtures/v0.2.0/runs/text"
FILE = (RUN / "tokenizer.json").read_bytes()
TEXT = (RUN / "text.txt").read_text("utf-8")
BYTES = tokenizers.find("byte_bpe").learn(TEXT, 300).save()
WORDS = tokenizers.find("words").learn(TEXT, None).save()
CHARACTERS = tokenizers.find("characters").learn(TEXT, None).save()
TABLE = json.loads(FILE)
VOCAB = TABLE["model"]["vocab"]


def change(file, path, value):
    """A file in which one setting has another value; `path` is its name, with dots."""
    table = json.loads(file)
    *above, name = path.split(".")
    inner = table
    for each in above:
        inner = inner[each]
    inner[name] = value
    return json.dumps(table, ensure_ascii=False).encode()


def words(*given, **more):
    return json.dumps({"kind": "words", "words": list(given), **more}).encode()


def ids(**changed):
    return change(FILE, "model.vocab", VOCAB | changed)


SETTINGS = [  # each changes how the library would cut a text, or what it does with the pieces
    (FILE, "model.dropout", 0.5),
    (FILE, "model.unk_token", None),
    (FILE, "model.unk_token", "a"),
    (BYTES, "model.unk_token", "a"),
    (FILE, "model.continuing_subword_prefix", "##"),
    (FILE, "model.end_of_word_suffix", "</w>"),
    (FILE, "model.fuse_unk", True),
    (FILE, "model.byte_fallback", True),
    (FILE, "model.ignore_merges", True),
    (FILE, "model.type", "WordPiece"),
    (FILE, "normalizer", {"type": "Lowercase"}),
    (BYTES, "normalizer", {"type": "Prepend", "prepend": "a"}),
    (FILE, "padding", {"strategy": {"Fixed": 1_000_000_000}, "direction": "Right", "pad_to_multiple_of": None,
                       "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}),
    (FILE, "truncation", {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 5}),
    (FILE, "post_processor", {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}}),
    (FILE, "decoder", {"type": "ByteLevel"}),
    (BYTES, "decoder", None),
    (FILE, "pre_tokenizer.type", "Metaspace"),
    (BYTES, "pre_tokenizer.add_prefix_space", True),
    (BYTES, "pre_tokenizer.use_regex", False),
    (FILE, "added_tokens", TABLE["added_tokens"][:1]),
    (FILE, "added_tokens", [TABLE["added_tokens"][0], TABLE["added_tokens"][1] | {"content": "a"}]),
    (FILE, "added_tokens", [TABLE["added_tokens"][0], TABLE["added_tokens"][1] | {"id": 2**40}]),
    (FILE, "added_tokens", [TABLE["added_tokens"][0], TABLE["added_tokens"][1] | {"lstrip": True}]),
    (BYTES, "added_tokens", TABLE["added_tokens"]),
    (FILE, "version", "2.0"),
]  # fmt: skip
OTHERS = {  # what is wrong → the file
    "model.surprise = 1 is not a setting": change(FILE, "model.surprise", 1),
    "surprise = None is not a setting": change(FILE, "surprise", None),
    "has no model": b"{}",
    "model.vocab is not a table of tokens": change(FILE, "model.vocab", ["a", "b"]),
    "model.vocab is not a table": change(FILE, "model.vocab", {}),
    "it has 0 tokens": words(),
    "are not 0 to 89, each once": ids(a=2**31),
    "are not 0 to 90, each once": ids(new=7),
    "are not 0 to 91, each once": ids(new=90, more=-1),
    "are not 0 to 92, each once": ids(new=90, more=91, most=True),
    "are not 0 to 93, each once": ids(new=90, more=91, most="92", last=None),
    "a number of 26 digits": FILE.replace(b'"a":', b'"a":99999999999999999999999999, "aa":', 1),
    "one of its tokens has 0 characters": ids(**{"": 90}),
    "one of its tokens has 100,001 characters": ids(**{"a" * 100_001: 90}),
    "it has 65,537 tokens": ids(**{f"w{k}": k for k in range(90, 65_537)}),
    "model.vocab does not begin with": ids(**{"[PAD]": 1, "[UNK]": 0}),
    "model.vocab is not made of the 256 bytes": change(BYTES, "model.vocab.日", 300),
    "at most 90 pairs": change(FILE, "model.merges", TABLE["model"]["merges"][:1] * 91),
    "model.merges is not a list": change(FILE, "model.merges", {"a": "b"}),
    "holds 'a b c'": change(FILE, "model.merges", ["a b c"]),
    "holds ['a']": change(FILE, "model.merges", [["a"]]),
    "holds ['a', 7]": change(FILE, "model.merges", [["a", 7]]),
    "holds [['a'], 'b']": change(FILE, "model.merges", [[["a"], "b"]]),
    "holds {'a': 'b'}": change(FILE, "model.merges", [{"a": "b"}]),
    "holds None": change(FILE, "model.merges", [None]),
    "holds ['a', 'zz']": change(FILE, "model.merges", [["a", "zz"]]),
    "holds ['z', 'q']": change(FILE, "model.merges", [["z", "q"]]),
    "holds ['[UNK]', 'a']": change(ids(**{"[UNK]a": 90}), "model.merges", [["[UNK]", "a"]]),
    "holds ['[', 'UNK]']": change(ids(**{"[": 90, "UNK]": 91}), "model.merges", [["[", "UNK]"]]),
    "NaN is not JSON": b'{"kind": NaN}',
    "kind = 7 is not one of": b'{"kind": 7}',
    "kind = ['words'] is not one of": b'{"kind": ["words"]}',
    "kind = None is not one of": b'{"kind": null}',
    "kind = 'nothing' is not one of": b'{"kind": "nothing"}',
    "kind = '_library' is not one of": b'{"kind": "_library"}',
    "not a JSON object": b"[]",
    "nested deeper than": b'{"kind":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "the same key twice": b'{"kind": "words", "kind": "words"}',
    "invalid start byte": b"\xff",
    "surrogates not allowed": b'{"kind": "words", "words": ["<END>", "\\ud800"]}',
    "beside its kind it holds ['extra', 'words']": words("<END>", extra=1),
    "beside its kind it holds []": b'{"kind": "words"}',
    "it has no list of words": b'{"kind": "words", "words": {"a": 1}}',
    "its tokens are not distinct texts": words("<END>", "a", "a"),
    "its words lack <END>": words("a", "b"),
    "its characters are not in code-point order": b'{"kind": "characters", "characters": "ba"}',
    "it has more than 16,000,000 bytes": b" " * 16_000_001,
    "expecting value": b'{"kind": "bpe", "library": "x"}',
}
MORE = {
    "its tokens are not distinct texts": words("<END>", 7),
    "it has 0 tokens": b'{"kind": "characters", "characters": ""}',
    "its characters are not in code-point order": b'{"kind": "characters", "characters": ["a", "b"]}',
    "beside its kind it holds": change(CHARACTERS, "library", "x"),
    "has no model": b'{"kind": "bpe", "library": {"model": 7}}',
    "model.dropout = 0.5 changes how a text is cut": json.dumps(
        {"kind": "bpe", "library": change(FILE, "model.dropout", 0.5).decode()}
    ).encode(),
    "added_tokens = ": json.dumps({"kind": "byte_bpe", "library": FILE.decode()}).encode(),
}
HOSTILE = [
    *((f"{path} = ", change(*each)) for each in SETTINGS for path in [each[1]]),
    *OTHERS.items(),
    *MORE.items(),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return shutil.copytree(RUN, tmp_path_factory.mktemp("stranger") / "run")


def put(run, name, data):
    """A file of a run, with the sha256 that its run.json must name."""
    (run / name).write_bytes(data)
    about = json.loads((RUN / "run.json").read_bytes())
    about["files"] = {each: sha256((run / each).read_bytes()).hexdigest() for each in about["files"]}
    (run / "run.json").write_text(json.dumps(about), encoding="utf-8")


@pytest.mark.parametrize(("sentence", "data"), HOSTILE, ids=[f"{k}" for k in range(len(HOSTILE))])
def test_what_we_never_write_is_one_sentence(sentence, data, run, capfd):
    with pytest.raises(DamagedError) as said:
        tokenizers.load(data, "FILE")
    assert str(said.value).startswith("FILE is not a tokenizer of ours: ")
    assert str(said.value).endswith("; put back the file as written")
    assert sentence.lower() in str(said.value).lower()
    put(run, "tokenizer.json", data)
    answer = call("score", run)
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1), answer.err
    assert "tokenizer.json is not a tokenizer of ours: " in answer.err or "more than 16,000,000 bytes" in sentence
    assert len(answer.err) < 600
    assert capfd.readouterr() == ("", "")  # a panic of the library would be printed here


def test_a_setting_that_is_refused_is_named_with_its_value():
    with pytest.raises(DamagedError) as said:
        tokenizers.load(change(FILE, "model.dropout", 0.5), "FILE")
    assert str(said.value) == (
        "FILE is not a tokenizer of ours: model.dropout = 0.5 changes how a text is cut; put back the file as written"
    )


@pytest.mark.parametrize("file", [FILE, BYTES], ids=["bpe", "byte_bpe"])
def test_our_own_files_are_read_as_the_library_reads_them(file):
    """Today's form, the two older ones, and one without what is null; saved again, each is today's to the byte."""
    from tokenizers import Tokenizer as Library

    table = json.loads(file)
    spaced = table | {"model": table["model"] | {"merges": [" ".join(pair) for pair in table["model"]["merges"]]}}
    bare = {key: value for key, value in table.items() if value is not None}
    bare["model"] = {key: value for key, value in table["model"].items() if value not in (None, False)}
    kind = "bpe" if file is FILE else "byte_bpe"
    wrapped = {"kind": kind, "library": file.decode()}
    expected = Library.from_str(file.decode()).encode(TEXT).ids
    for each in (table, spaced, bare, wrapped):
        found = tokenizers.load(json.dumps(each, ensure_ascii=False).encode(), "FILE")
        assert found.kind == kind
        assert found.save() == file
        assert found.encode(TEXT).tolist() == expected
        assert found.read(TEXT).tolist() == expected


@pytest.mark.parametrize("file", [WORDS, CHARACTERS], ids=["words", "characters"])
def test_our_own_kinds_come_back_to_the_byte(file):
    found = tokenizers.load(file, "FILE")
    assert found.save() == file
    assert [found.vocabulary[token] for token in found.read("the")] in ([*"the"], ["the", "<END>"])


def test_the_untouched_run_still_gives_its_score(run):
    for name in ("text.txt", "tokenizer.json"):
        put(run, name, (RUN / name).read_bytes())
    answer = call("score", run, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["loss"] == pytest.approx(1.2528553, abs=1e-6)  # the last line of its metrics


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        (FILE, "日本 " * 400, "character '日' at position 0 does not occur"),
        (WORDS, "zebra " * 400, "word 'zebra' at position 0 is not in the vocabulary"),
        (WORDS, "z" * 1_000_000, "word 'zzz"),
        (CHARACTERS, "日本 " * 400, "character '日' at position 0 is not in the vocabulary"),
        (FILE, " \n", "is empty"),
        (FILE, b"\xff\xfe", "is not UTF-8 at byte 0"),
        (FILE, "a\0b", "holds a zero byte"),
    ],
    ids=str,
)
def test_a_text_that_the_tokenizer_cannot_cut_is_damage(file, text, sentence, run):
    data = text if isinstance(text, bytes) else text.encode()
    kind = "bpe" if file is FILE else json.loads(file)["kind"]
    put(run, "tokenizer.json", file)
    put(run, "text.txt", data)
    about = json.loads((run / "run.json").read_bytes())
    size = len(tokenizers.load(file, "FILE").vocabulary)
    about["experiment"]["architecture"] |= {"vocabulary": size, "outputs": size}
    about["experiment"]["data"]["tokenizer"] = kind
    about["parameters"] += (size - 90) * about["experiment"]["architecture"]["width"]
    (run / "run.json").write_text(json.dumps(about), encoding="utf-8")
    answer = call("score", run)
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1), answer.err
    assert "text.txt is not what this run was trained on: " in answer.err
    assert sentence in answer.err
    assert len(answer.err) < 800


def test_a_tokenizer_that_no_run_could_keep_is_not_trained_on():
    """One word of 100,001 letters: its file could be written, and not be opened again."""
    with pytest.raises(CallError, match=r"no run could keep the tokenizer 'words' of this text: .* 100,001 characters"):
        _text._learnt("words", "a b " + "c" * 100_001, None)


class PanicException(BaseException):
    """As the library's, which is not an Exception."""


def test_a_panic_of_the_library_is_damage_and_ctrl_c_is_not(monkeypatch):
    for problem, expected in ((PanicException("index 1"), DamagedError), (KeyboardInterrupt(), KeyboardInterrupt)):

        def build(problem=problem, **_):
            raise problem

        monkeypatch.setattr(tokenizers.find("bpe"), "build", build)
        with pytest.raises(expected):
            tokenizers.load(FILE, "FILE")


def test_a_panic_anywhere_is_a_sentence(monkeypatch, run):
    def read(*_):
        raise PanicException("index 1")

    put(run, "tokenizer.json", FILE)
    put(run, "text.txt", TEXT.encode())
    monkeypatch.delenv("GLASSFORMER_TRACEBACK", raising=False)
    monkeypatch.setattr(tokenizers.find("bpe"), "read", read)
    answer = call("score", run)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("glassformer: PanicException: index 1\n")
