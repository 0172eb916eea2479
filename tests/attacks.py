"""Attacks by folders from a stranger: those of a trial of version 0.2.0, in all their variants.

`python tests/attacks.py [NAME ...]` tries all attacks, or those whose names begin so, with all their commands, and
prints what came of each; tests/test_attacks.py tries a part of them.
"""

import json
import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import attacks_of_our_own
from forking import Server
from hostile import (
    CHECKS,
    CORE,
    ESCAPES,
    HUGE,
    LISTS,
    METRICS,
    NUMBERS,
    OPEN,
    PASSES,
    READERS,
    REPLACEMENTS,
    TB,
    TEXTS,
    WEIGHTS,
    Attack,
    add_hole,
    cell,
    drop,
    drop_about,
    edit_json,
    hard_link,
    in_turn,
    last_line,
    nothing,
    other_header,
    outside,
    plan,
    put,
    replacement,
    results,
    resume_point,
    rewrite,
    rewrite_lines,
    set_about,
    tokenizer,
)

# ---- the attacks of the trial, in all their variants -----------------------------------------------------------------

FORGED = "0.4444321"  # a loss that no training had

BASES = {  # the victim to which a file belongs
    "text.txt": "text",
    "tokenizer.json": "text",
    "task.py": "own_task",
    "study.json": "study",
    "cells": "study",
    "cells/width_2.json": "study",
    "result.json": "study",
    "settled": "claims",
    "settled/S0-04.json": "claims",
}
RESUMED = ("run.json", "metrics.jsonl", "index.jsonl", "times.jsonl", "resume.safetensors", "lock", "weights")
BRACKETS = b'{"a":' + b"[" * 100_000
STEP = 10**18 + 7  # nineteen digits


def _links() -> Iterator[Attack]:
    """Every file and folder replaced by what is none."""
    for name, readers in READERS.items():
        base, inner = BASES.get(name, "rule"), "." not in name and name != "lock"
        sound = ("study list",) if base == "study" else ("claims", "claims --json") if base == "claims" else LISTS
        for how in [each for each in REPLACEMENTS if not (inner and each == "a folder")]:
            make, core = replacement(name, how), how in CORE
            yield Attack(f"{name} is {how}", base, make, error=readers, sound=sound, always=core)
            if name in RESUMED:
                yield Attack(f"{name} of an unfinished run is {how}", "unfinished", make, ("resume",), always=core)
        if not inner and name != "lock":
            yield Attack(f"{name} is a hard link", base, hard_link(name), fine=readers, always=False)
    untrained = in_turn(
        replacement("runs", "a link to a folder"), lambda study: (study / "cells/width_2.json").unlink()
    )
    yield Attack("runs is a link to a folder and a cell is missing", "study", untrained, error=("study",))


def _digests() -> Iterator[Attack]:
    """Wrong digests are refused; missing ones are said."""
    lie = last_line(validation_loss=0.5, excess=0.001, rule_error_answerable=0.0)
    shows = ("api", "loss", "check", "report", "check --json", "film", *LISTS)
    yield Attack("the last validation loss is edited", "rule", rewrite_lines("metrics.jsonl", lie, False), shows)
    yield Attack(
        "the last losses of a population are edited",
        "population",
        rewrite_lines("metrics.jsonl", last_line(validation_loss=[0.5] * 3), False),
        shows,
    )
    swap = rewrite_lines("metrics.jsonl", lambda lines: [*lines[:-2], lines[-1], lines[-2]], False)
    yield Attack("two lines of the metrics are swapped", "rule", swap, shows)
    yield Attack(
        "the last line of the metrics is gone",
        "rule",
        rewrite_lines("metrics.jsonl", lambda lines: lines[:-1], False),
        shows,
    )
    more = lambda lines: [*lines, {**lines[-1], "step": 3001, "validation_loss": float(FORGED)}]  # noqa: E731
    yield Attack("a line more than was written", "rule", rewrite_lines("metrics.jsonl", more, False), shows)
    running = in_turn(set_about("status", value="running"), rewrite_lines("metrics.jsonl", more, False))
    yield Attack("running, with a line more than was written", "rule", running, fine=shows, absent=FORGED)
    none = {"lines": 0, "sha256": sha256(b"").hexdigest()}
    unsaid = in_turn(running, set_about("written", "metrics.jsonl", value=none))
    yield Attack("running, and no line was written", "rule", unsaid, sound=shows, absent=FORGED)
    yield Attack("finished, and no line was written", "rule", set_about("written", "metrics.jsonl", value=none), shows)
    wrong = "0" * 64
    for name, commands in (("metrics.jsonl", shows), ("index.jsonl", (*NUMBERS, "check"))):
        digest = set_about("written", name, "sha256", value=wrong)
        yield Attack(f"the digest of {name} is wrong", "rule", digest, commands)
        for what, value in {"null": None, "a number": 7, "a list": [], "empty": "", "short": "0" * 63}.items():
            yield Attack(
                f"the digest of {name} is {what}",
                "rule",
                set_about("written", name, "sha256", value=value),
                marked=commands,
                always=value is None,
            )
        yield Attack(f"the digest of {name} is missing", "rule", drop_about("written", name), marked=commands)
        for what, lines in {"a few": 2, "too many": 10**6, "huge": HUGE, "negative": -1}.items():
            yield Attack(
                f"{what} lines of {name} were written",
                "rule",
                set_about("written", name, "lines", value=lines),
                error=commands,
                always=lines == HUGE,
            )
        for what, count in {"null": None, "true": True, "a text": "31", "a fraction": 31.0}.items():
            make = set_about("written", name, "lines", value=count)
            yield Attack(f"the lines of {name} are {what}", "rule", make, marked=commands, always=count is None)
    every = (*NUMBERS, *shows)
    yield Attack("written is missing", "rule", drop_about("written"), marked=every)
    for what, value in {"null": None, "a list": [], "empty": {}, "a text": "x"}.items():
        yield Attack(f"written is {what}", "rule", set_about("written", value=value), marked=every, always=value == {})
    texts = ("ask", "check", "score", "training_data", "report", "check --json")
    yield Attack("files is missing", "text", drop_about("files"), marked=texts)
    for what, value in {"null": None, "a list": [], "empty": {}, "a text": "x"}.items():
        yield Attack(f"files is {what}", "text", set_about("files", value=value), marked=texts, always=value == {})
    for name in ("text.txt", "tokenizer.json"):
        yield Attack(f"the digest of {name} is missing", "text", drop_about("files", name), marked=texts)
        for what, value in {"wrong": wrong, "null": None, "a list": [], "a number": 7}.items():
            make = set_about("files", name, value=value)
            yield Attack(f"the digest of {name} is {what}", "text", make, error=texts, always=value == wrong)
        gone = in_turn(set_about("files", value={}), replacement(name, "a link to a secret"))
        yield Attack(f"files is empty and {name} is a link to a secret", "text", gone, error=texts)
    own = ("own ask", "own check")
    yield Attack("the digest of task.py is wrong", "own_task", set_about("files", "task.py", value=wrong), own)
    yield Attack("the digest of task.py is missing", "own_task", drop_about("files", "task.py"), sound=own)
    yield Attack("task.py is another", "own_task", rewrite("task.py", b"raise SystemExit(7)\n", False), own)
    yield Attack("a digest of a step is wrong", "rule", rewrite_lines("index.jsonl", last_line(sha256=wrong)), WEIGHTS)
    yield Attack(
        "the digest of the resume point is wrong", "unfinished", resume_point(sha256=wrong), error=("resume", "check")
    )
    yield Attack(
        "the digest of the resume point is missing", "unfinished", resume_point(sha256=""), error=("resume", "check")
    )
    flip = lambda data: data[:-1] + bytes([data[-1] ^ 1])  # noqa: E731
    yield Attack("a bit of the weights is flipped", "rule", rewrite("weights/000000.safetensors", flip), WEIGHTS)
    study = ("study api", "study figure", "study --json")
    yield Attack("no cell has a digest", "study", nothing, marked=study, sound=("study",))
    lie_cell = put("measured", "excess", value=[0.0, 0.0])
    yield Attack("the numbers of a cell are edited", "study", cell(lie_cell, sealed=False), error=study)
    yield Attack(
        "a cell has no digest", "study", in_turn(cell(nothing), cell(drop("sha256"), sealed=False)), marked=study
    )
    for what, value in {"wrong": wrong, "a number": 7, "a list": []}.items():
        yield Attack(f"the digest of a cell is {what}", "study", cell(put("sha256", value=value), sealed=False), study)


def _sizes() -> Iterator[Attack]:
    """More than anybody wants to read."""
    for name in (
        "run.json",
        "metrics.jsonl",
        "index.jsonl",
        "weights/000000.safetensors",
        "times.jsonl",
        "text.txt",
        "tokenizer.json",
        "task.py",
        "study.json",
        "cells/width_2.json",
        "result.json",
    ):
        sound = ("study list",) if BASES.get(name) == "study" else LISTS
        yield Attack(f"{name} has a terabyte", BASES.get(name, "rule"), add_hole(name), READERS[name], sound=sound)
    for name in ("resume.safetensors", "lock", "metrics.jsonl", "index.jsonl", "times.jsonl"):
        yield Attack(
            f"{name} of an unfinished run has a terabyte",
            "unfinished",
            add_hole(name),
            ("resume",),
            sound=("check", *LISTS),
        )
    lines = {"metrics.jsonl": b'{"step":1}\n', "times.jsonl": b'{"step":1}\n', "index.jsonl": b"{}\n"}
    for name, line in lines.items():
        make = rewrite(name, lambda _, line=line: line * 5_000_000)
        yield Attack(f"{name} has five million short lines", "rule", make, READERS[name], sound=LISTS)
    line = lambda _: b'{"step": 1, "a": [' + b"[]," * 20_000_000 + b"[]]}\n"  # noqa: E731
    yield Attack("a line of 60 MB of empty lists", "rule", rewrite("metrics.jsonl", line), METRICS, sound=LISTS)
    yield Attack("a time of 60 MB of empty lists", "rule", rewrite("times.jsonl", line), ("runtime",))
    keys = lambda _: [{"step": k, **{f"{k}.{j}": j for j in range(1000)}} for k in range(1000)]  # noqa: E731
    many = rewrite_lines("metrics.jsonl", keys)
    yield Attack("a thousand lines of a thousand keys", "rule", many, METRICS, sound=LISTS)
    for what, data in {"escapes in brackets": ESCAPES, "a hundred thousand brackets": BRACKETS}.items():
        for name, readers in READERS.items():
            if "." in name and name not in ("task.py", "text.txt") and not name.endswith(".safetensors"):
                content = data + b"\n" if name.endswith(".jsonl") else data
                make = rewrite(name, content, digests=name != "run.json")
                base = BASES.get(name, "rule")
                more = ("claims", "claims --json") if base == "claims" else LISTS if base in ("rule", "text") else ()
                yield Attack(
                    f"{name} is {what}", base, make, CHECKS.get(name, readers), sound=(*PASSES.get(name, ()), *more)
                )
        yield Attack(f"the lock is {what}", "unfinished", rewrite("lock", data), ("resume",), sound=("check", *LISTS))
        yield Attack(
            f"the header of the weights is {what}",
            "rule",
            lambda run, data=data: other_header(lambda _: data)(run / "weights/000000.safetensors"),
            WEIGHTS,
        )
    four = 3_900_000
    nasty = {
        "empty lists": (b'{"schema": 1, "a": [', b"[],", b"[]]}"),
        "the same key": (b"{", b'"a":0,', b'"a":0}'),
        "escapes": (b'{"schema": 1, "a": "', b"\\u001b", b'"}'),
        "digits": (b'{"schema": ', b"9", b"}"),
        "blanks": (b"", b" ", b""),
        "zeros": (b"", b"\0", b""),
        "backslashes": (b'{"a": "', b"\\", b""),
        "halves of characters": (b'{"schema": 1, "a": "', b"\\ud800", b'"}'),
    }
    for what, (begin, part, end) in nasty.items():
        data = lambda _, begin=begin, part=part, end=end: begin + part * (four // len(part)) + end  # noqa: E731
        yield Attack(f"run.json is 4 MB of {what}", "rule", rewrite("run.json", data, False), OPEN, sound=LISTS)


def _folders() -> Iterator[Attack]:
    """What else lies in a folder, and where things are written."""

    def nest_folders(run: Path) -> None:
        descriptor = os.open(run / "weights", os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("x", dir_fd=descriptor)
            inner = os.open("x", os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        os.close(descriptor)

    def fill_weights(run: Path) -> None:
        for k in range(100_000):
            os.mknod(run / "weights" / f"{k:06}.bin")

    yield Attack("1,500 folders in each other", "rule", nest_folders, sound=("check", "ask", "check --json", *LISTS))
    yield Attack("100,000 files in weights", "rule", fill_weights, sound=("check", "ask", *LISTS))
    for how in REPLACEMENTS:
        for name in ("loss.svg", "loss.json"):

            def plant(run: Path, name: str = name, how: str = how) -> None:
                (run.parents[1] / "out").mkdir()
                REPLACEMENTS[how](run.parents[1] / "out" / name, outside(run) / "metrics.jsonl")

            yield Attack(f"out/{name} is {how}", "rule", plant, sound=("loss",), always=how in CORE)

        def report(run: Path, how: str = how) -> None:
            (run.parents[1] / "out").mkdir()
            REPLACEMENTS[how](run.parents[1] / "out" / "report.html", outside(run) / "metrics.jsonl")

        yield Attack(f"out/report.html is {how}", "rule", report, sound=("report",), always=how in CORE)


def _numbers() -> Iterator[Attack]:
    """Numbers that no training writes."""
    steps = {"of nineteen digits": STEP, "of -1": -1, "of -2^63": -(2**63), "of 2^63": 2**63, "of 10^30": 10**30}
    for what, step in steps.items():
        first = what == "of nineteen digits"
        for name, readers in (("metrics.jsonl", METRICS), ("index.jsonl", WEIGHTS), ("times.jsonl", ("runtime",))):
            make, sound = rewrite_lines(name, last_line(step=step)), (*PASSES.get(name, ()), *LISTS)
            error = CHECKS.get(name, readers)
            yield Attack(f"a step {what} in {name}", "rule", make, error, sound=sound, always=first)
        make, every = set_about("last_step", value=step), (*OPEN, *LISTS)
        yield Attack(f"a step {what} in run.json", "rule", make, sound=every, always=first)
        make = resume_point(step=str(step))
        yield Attack(
            f"a step {what} in a resume point", "unfinished", make, ("resume",), sound=("check",), always=first
        )


def _about() -> Iterator[Attack]:
    """A run.json that lies."""
    for what, (keys, value) in {
        "two members": (("members",), 2),
        "no members": (("members",), 0),
        "a million parameters": (("parameters",), 10**6),
        "parameters that are a text": (("parameters",), "250"),
        "no seeds": (("seeds",), []),
        "a seed that is true": (("seeds",), [True]),
        "seeds that are a text": (("seeds",), "18"),
        "a context of 4096": (("experiment", "architecture", "context"), 4096),
        "a vocabulary of 65536": (("experiment", "architecture", "vocabulary"), 65_536),
        "a width of 10^9": (("experiment", "architecture", "width"), 10**9),
        "a schema of 2": (("schema",), 2),
        "a schema that is true": (("schema",), True),
    }.items():
        yield Attack(f"run.json tells of {what}", "rule", set_about(*keys, value=value), OPEN, sound=LISTS)
    seeds = lambda run: edit_json(  # noqa: E731
        run / "run.json", lambda said: said.update(seeds=list(range(65_537)), members=65_537)
    )
    yield Attack(
        "65,537 seeds",
        "rule",
        seeds,
        ("ask", "check", "attention", "report", "api"),
        sound=("list figures", "loss", *LISTS),
    )
    for what, value in {"10^7": 10**7, "10^9": 10**9, "0": 0}.items():
        yield Attack(
            f"{what} steps",
            "unfinished",
            set_about("experiment", "train", "steps", value=value),
            sound=("check", "list figures", "loss", *LISTS),
        )

    def large(run: Path) -> None:
        def change(said: dict[str, Any]) -> None:
            said["experiment"]["architecture"] |= {"context": 4096, "vocabulary": 65_536, "outputs": 65_536}

        edit_json(run / "run.json", change)

    yield Attack("a context of 4096 and a vocabulary of 65536", "text", large, TEXTS)
    hidden = {
        "an escape": "\x1b[2J\x1b]0;owned\x07",
        "a bidirectional mark": "\u202egnp.exe\u2066",
        "a line end": "a\nb\r",
    }
    for what, text in hidden.items():
        for where in (
            ("status",),
            ("experiment", "name"),
            ("versions", "glassformer"),
            ("times", "created"),
            ("hardware", "device"),
        ):
            make, first = set_about(*where, value=text), what == "an escape"
            yield Attack(f"{what} in {where[-1]}", "rule", make, sound=("check", *LISTS, *OPEN), always=first)
        future = in_turn(set_about("versions", "glassformer", value=text), set_about("schema", value=99))
        yield Attack(f"{what} in the version of a later schema", "rule", future, OPEN, sound=LISTS)


def _texts_of_others() -> Iterator[Attack]:
    """Texts that are none."""
    for what, data in {
        "UTF-16": ("mary had a little lamb\n" * 100).encode("utf-16"),
        "Latin-1": ("märy häd ä lämb\n" * 100).encode("latin-1"),
        "zero bytes": bytes(3000),
        "empty": b"",
        "blanks": b" \n" * 1500,
        "halves of characters": b"\xed\xa0\x80" * 1000,
        "cut inside a character": "mary had a little lamb €".encode()[:-1],
        "other characters": "Ж€💣\n".encode() * 500,
    }.items():
        yield Attack(
            f"the text is {what}", "text", rewrite("text.txt", data), ("score", "training_data", "report"), sound=TEXTS
        )


def _tokenizers() -> Iterator[Attack]:
    """Tokenizers of every kind that is refused."""

    def refusal(name: str, change: Callable[[dict[str, Any]], object]) -> Attack:
        return Attack(f"a tokenizer with {name}", "text", tokenizer(change), TEXTS)

    for what, (keys, value) in {
        "dropout": (("model", "dropout"), 0.5),
        "padding of a billion": (
            ("padding",),
            {
                "strategy": {"Fixed": 10**9},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            },
        ),
        "padding": (
            ("padding",),
            {
                "strategy": "BatchLongest",
                "direction": "Left",
                "pad_to_multiple_of": 7,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            },
        ),
        "truncation": (
            ("truncation",),
            {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
        ),
        "a stride above its length": (
            ("truncation",),
            {"direction": "Right", "max_length": 2, "stride": 5, "strategy": "LongestFirst"},
        ),
        "a normalizer": (("normalizer",), {"type": "Lowercase"}),
        "a normalizer that replaces": (
            ("normalizer",),
            {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": "aa"},
        ),
        "a normalizer that prepends": (("normalizer",), {"type": "Prepend", "prepend": "x" * 100_000}),
        "a post-processor": (
            ("post_processor",),
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        ),
        "a template": (
            ("post_processor",),
            {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "[PAD]", "type_id": 0}}] * 9,
                "pair": [],
                "special_tokens": {"[PAD]": {"id": "[PAD]", "ids": [0] * 100_000, "tokens": ["[PAD]"] * 100_000}},
            },
        ),
        "a decoder": (("decoder",), {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}),
        "a subword prefix": (("model", "continuing_subword_prefix"), "##"),
        "a prefix of many bytes": (("model", "continuing_subword_prefix"), "€€€"),
        "a suffix": (("model", "end_of_word_suffix"), "</w>"),
        "fused unknowns": (("model", "fuse_unk"), True),
        "bytes for unknowns": (("model", "byte_fallback"), True),
        "merges ignored": (("model", "ignore_merges"), True),
        "another unknown token": (("model", "unk_token"), "a"),
        "no such unknown token": (("model", "unk_token"), "nowhere"),
        "words for a model": (("model",), {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}),
        "word pieces": (
            ("model",),
            {
                "type": "WordPiece",
                "vocab": {"a": 0, "[UNK]": 1},
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
            },
        ),
        "a unigram model": (
            ("model",),
            {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0.0]], "byte_fallback": False},
        ),
        "digits split": (("pre_tokenizer",), {"type": "Digits", "individual_digits": True}),
        "a sequence of cutters": (
            ("pre_tokenizer",),
            {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}] * 1000},
        ),
        "a slow pattern": (
            ("pre_tokenizer",),
            {"type": "Split", "pattern": {"Regex": "(a*)*b"}, "behavior": "Isolated", "invert": False},
        ),
        "no tokens": (("model", "vocab"), {}),
        "an unknown version": (("version",), "9.9"),
        "no version": (("version",), None),
    }.items():
        yield refusal(what, put(*keys, value=value))
    last = "made"
    for what, token in {
        "beyond int32": 2**31,
        "beyond uint32": 2**32,
        "beyond int64": 2**63,
        "below 0": -1,
        "twice": 3,
        "with a gap": 5000,
        "that is a text": "3",
        "that is a fraction": 3.5,
    }.items():
        yield refusal(f"an id {what}", put("model", "vocab", last, value=token))
    yield refusal("merges of special tokens", lambda said: said["model"]["merges"].append(["[PAD]", "[UNK]"]))
    yield refusal("merges of nothing", lambda said: said["model"]["merges"].append(["nowhere", "nothing"]))
    yield refusal("a merge of three", lambda said: said["model"]["merges"].append(["a", "b", "c"]))
    yield refusal("a million merges", lambda said: said["model"]["merges"].extend([["a", "n"]] * 10**6))
    yield refusal("65,537 tokens", lambda said: said["model"]["vocab"].update({f"x{k}": 90 + k for k in range(65_537)}))
    yield refusal(
        "an added token",
        lambda said: said["added_tokens"].append(
            {
                "id": 14,
                "content": "mary had",
                "single_word": False,
                "lstrip": True,
                "rstrip": True,
                "normalized": False,
                "special": False,
            }
        ),
    )
    yield refusal(
        "an empty added token",
        put(
            "added_tokens",
            value=[
                {
                    "id": 0,
                    "content": "",
                    "single_word": False,
                    "lstrip": False,
                    "rstrip": False,
                    "normalized": False,
                    "special": True,
                }
            ],
        ),
    )
    for what, kind in {
        "NaN": float("nan"),
        "7": 7,
        "a list": [],
        "null": None,
        "a table": {},
        "private": "_library",
        "no name": "__init__",
        "a path": "../x",
        "unknown": "x" * 100_000,
    }.items():
        yield refusal(f"a kind that is {what}", lambda _, kind=kind: {"kind": kind, "words": ["a"]})


def _locks() -> Iterator[Attack]:
    """Locks of nobody."""
    host = socket.gethostname()
    sane = {"host": host, "process": 1, "start": "x 1", "created": "2026-01-01T00:00:00+00:00", "token": "0" * 16}
    refused: dict[str, dict[str, Any]] = {
        "of another host": {"host": "elsewhere"},
        "of process 10^30": {"process": 10**30},
        "of process NaN": {"process": "nan"},
        "of a table": {"process": {}},
        "of init": {"process": 1, "start": None},
        "of a host with escapes": {"host": "\x1b[2J\u202e"},
        "whose host is long": {"host": "x" * 9000},
        "which is larger than a lock": {"host": "x" * 90_000},
    }
    old: dict[str, dict[str, Any]] = {
        "from the future": {"created": "9999-12-31T23:59:59+00:00", "process": 2**22 + 7},
        "of process 0": {"process": 0},
        "of a negative process": {"process": -1},
        "of process 2^31": {"process": 2**31},
        "of process 10^18": {"process": HUGE},
        "of process 1.5": {"process": 1.5},
        "whose start is a list": {"start": [1]},
        "without a token": {"token": None},
    }
    for what, change in refused.items():
        make = rewrite("lock", json.dumps(sane | change).encode())
        yield Attack(f"a lock {what}", "unfinished", make, error=("resume",), sound=("check", *LISTS))
    for what, change in old.items():
        make = rewrite("lock", json.dumps(sane | change).encode())
        yield Attack(f"a lock {what}", "unfinished", make, sound=("check", "resume", *LISTS))


def _studies() -> Iterator[Attack]:
    """Studies that lie."""
    every = ("study api", "study figure", "study list", "study --json", "study")
    for what, name in {
        "../../outside/x": "../../outside/x",
        "/tmp/x": "/tmp/x",
        "nothing": "",
        "CON": "CON",
        "escapes": "\x1b[2J\u202e",
        "100,000 letters": "x" * 100_000,
        "a number": 7,
    }.items():
        change = lambda said, name=name: put("name", value=name)(said["cells"][1])  # noqa: E731
        yield Attack(f"a cell named {what}", "study", plan(change), sound=every)
    many = lambda said: put("cells", value=[{**said["cells"][0], "name": f"c{k}"} for k in range(100_000)])(said)  # noqa: E731
    yield Attack("100,000 cells", "study", plan(many), sound=("study api", "study figure", "study list"))
    for what, value in {
        "NaN": float("nan"),
        "a text": "x",
        "a list": [[1]],
        "null": None,
        "huge": 1e308,
        "escapes": "\x1b[2J",
    }.items():
        yield Attack(
            f"a number of a cell is {what}", "study", cell(put("measured", "excess", value=[value, 0.1])), sound=every
        )
    for what, change in {
        "conclusion with escapes": put("conclusion", value="\x1b[2J\u202e"),
        "conclusion that is a number": put("conclusion", value=7),
        "failed that is a list": put("failed", value=["x"]),
        "failed cell with escapes": put("failed", value={"width 2": "\x1b[2J"}),
        "complete although it is not": put("complete", value="yes"),
        "rows of another study": put("rows", value=[{"cell": "x"}]),
    }.items():
        lie = in_turn(
            lambda study, change=change: edit_json(study / "result.json", change),
            lambda study: (study / "cells/width_16.json").unlink(),
        )
        yield Attack(f"a result with {what}", "study", lie, sound=("study api", "study figure", "study list"))


def _claims() -> Iterator[Attack]:
    """Records of claims with wrong types."""
    both_claims = ("claims", "claims --json")
    for key, values in {
        "verdict": (7, "\x1b[2J", None, []),
        "measured": (7, ["x"], {"a": 1}),
        "numbers": ("x", [1], {"first": "x"}, None),
        "seconds": ("x", None, 1e308),
        "truth": (7, None),
        "settled": (7, ["\u202e"]),
        "version": (7, "\x1b]0;x\x07"),
    }.items():
        for k, value in enumerate(values):

            def change(folder: Path, key: str = key, value: Any = value) -> None:
                edit_json(folder / "settled" / "S0-04.json", put(key, value=value))

            yield Attack(f"a claim whose {key} is wrong ({k + 1})", "claims", change, sound=both_claims, always=k == 0)
    yield Attack("a claim of a terabyte", "claims", add_hole("settled/S0-04.json"), sound=both_claims)


def _page_runs() -> Iterator[Attack]:
    """A run that a page saved, with more in it than a page writes."""
    for what, name in {
        "a program": "setup.py",
        "a text": "text.txt",
        "a tokenizer": "tokenizer.json",
        "a task": "task.py",
        "a hidden file": ".bashrc",
        "an unfinished file": ".run.json.1-abc.tmp",
    }.items():
        make = lambda run, name=name: (run / name).write_text(f"raise SystemExit('{name}')\n")  # noqa: E731
        yield Attack(
            f"a page's run with {what}", "page", make, fine=("ask", "list figures", "report"), sound=("check",)
        )
    yield Attack(
        "a page's run with a link to a folder",
        "page",
        lambda run: (run / "more").symlink_to(outside(run)),
        fine=("ask",),
        sound=("check", "report"),
    )


def _headers() -> Iterator[Attack]:
    """safetensors files with headers that lie, as weights and as a resume point."""
    first = "token"
    places: dict[str, Callable[[dict[str, Any]], object]] = {
        "that is no table": lambda _: b"[]",
        "that is no JSON": lambda _: b"{" + b" " * 30,
        "with NaN": lambda _: b'{"token": NaN}',
        "without tensors": lambda _: b"{}",
        "with a name twice": lambda said: json.dumps(said).encode()[:-1] + b', "token": 1}',
        "with a gap": put(first, "data_offsets", value=[8, 8]),
        "with a negative place": put(first, "data_offsets", value=[-8, 0]),
        "with a place beyond the end": put(first, "data_offsets", value=[0, HUGE]),
        "with a fraction of a place": put(first, "data_offsets", value=[0.0, 1.5]),
        "with an unknown type": put(first, "dtype", value="F8"),
        "with a type that is a list": put(first, "dtype", value=[]),
        "with larger numbers": put(first, "dtype", value="F64"),
        "with a negative shape": put(first, "shape", value=[-1, -1]),
        "with a shape of 2^63": put(first, "shape", value=[2**63, 2]),
        "with 65 axes": put(first, "shape", value=[1] * 65),
        "with 45,000 long axes": put(first, "shape", value=[10**18] * 45_000),
        "with 2^40 rows of nothing": lambda said: said.update(
            more={"dtype": "F32", "shape": [TB, 0], "data_offsets": [0, 0]}
        ),
        "with 10,000 tensors of nothing": lambda said: said.update(
            {f"t{k}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for k in range(10_000)}
        ),
        "with 900 kB of metadata": lambda said: said.update(__metadata__={"x": "y" * 900_000}),
        "with metadata of numbers": lambda said: said.update(__metadata__={"step": 7}),
        "with an escape for a name": lambda said: said.update({"\x1b[2J": said.pop(first)}),
    }
    for file, base, commands, name in (
        ("weights/000000.safetensors", "rule", WEIGHTS, "token"),
        ("resume.safetensors", "unfinished", ("check", "resume"), "flat"),
    ):
        for what, change in places.items():

            def make(run: Path, file: str = file, change: Any = change, name: str = name) -> None:
                def rename(table: dict[str, Any]) -> object:
                    if name in table:
                        table[first] = table.pop(name)
                    changed = change(table)
                    if first in table:
                        table[name] = table.pop(first)
                    return changed

                other_header(rename)(run / file)

            harmless = what == "with 900 kB of metadata" or (base == "unfinished" and what.endswith("of nothing"))
            groups = ((), (), commands) if harmless else (commands,)
            yield Attack(f"{file} has a header {what}", base, make, *groups, always=base == "rule")
        for what, data in {
            "a length of 2^63": struct.pack("<Q", 2**63) + b"{}",
            "a length of 0": bytes(16),
            "seven bytes": bytes(7),
            "a length past its end": struct.pack("<Q", 10**6) + b"{}",
            "a pickle": b"\x80\x04\x8c\x02os\x94.",
            "a zip": b"PK\x03\x04" + bytes(60),
        }.items():
            yield Attack(f"{file} is {what}", base, rewrite(file, data), commands)
        yield Attack(f"{file} goes on after its end", base, rewrite(file, lambda data: data + bytes(9)), commands)

        def hole(run: Path, file: str = file) -> None:
            def enlarge(table: dict[str, Any]) -> None:
                end = max(each["data_offsets"][1] for key, each in table.items() if key != "__metadata__")
                table["hole"] = {"dtype": "U8", "shape": [TB], "data_offsets": [end, end + TB]}

            other_header(enlarge, sparse=TB)(run / file)

        yield Attack(f"{file} has a tensor of a terabyte", base, hole, commands)


# ---- all of them -----------------------------------------------------------------------------------------------------


def _trial() -> Iterator[Attack]:
    for family in (
        _links,
        _digests,
        _sizes,
        _folders,
        _numbers,
        _about,
        _texts_of_others,
        _tokenizers,
        _locks,
        _studies,
        _claims,
        _page_runs,
        _headers,
    ):
        yield from family()


ATTACKS = (*_trial(), *attacks_of_our_own.attacks())


def main(beginnings: list[str]) -> None:
    """Try all attacks, or some, with all their commands, and print a table."""
    failed: dict[str, list[str]] = {}
    tried = 0
    print(f"{'attack':60} {'command':18} {'code':>4} {'seconds':>7} {'MB':>6}  verdict")
    with Server() as server:
        for attack in ATTACKS:
            if beginnings and not any(attack.name.startswith(each) for each in beginnings):
                continue
            for command, outcome, wrong in results(server, attack, attack.commands):
                tried += 1
                sentence = outcome.err.strip().splitlines()[-1:] if outcome.code else []
                verdict = f"FAILED: {wrong}" if wrong else " ".join(["held", *sentence])
                numbers = f"{outcome.code:4} {outcome.seconds:7.2f} {outcome.peak:6.0f}"
                print(f"{attack.name:60} {command:18} {numbers}  {verdict[:200]}", flush=True)
                if wrong:
                    failed.setdefault(attack.name, []).append(f"{command}: {wrong}")
    print(f"{tried} attempts; {len(failed)} attacks succeed, in {sum(map(len, failed.values()))} attempts")
    for name, found in failed.items():
        print(f"- {name}: {found[0]}" + (f" (and {len(found) - 1} more)" if len(found) > 1 else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
