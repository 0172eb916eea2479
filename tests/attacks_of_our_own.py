"""Further attacks by folders from a stranger, in the spirit of those of the trial in tests/attacks.py."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np

from hostile import (
    ESCAPES,
    HUGE,
    LISTS,
    OPEN,
    REPLACEMENTS,
    TEXTS,
    WEIGHTS,
    Attack,
    cell,
    drop,
    edit_json,
    in_turn,
    last_line,
    nothing,
    outside,
    plan,
    put,
    remove,
    resume_point,
    rewrite,
    rewrite_lines,
    set_about,
    tokenizer,
)


def _metrics() -> Iterator[Attack]:
    """Lines that verify and say strange things."""
    every = ("check", "loss", "api", "report", "film", "check --json", *LISTS)
    values = {
        "a text of NaN": "NaN",
        "a text of a number": "1.9",
        "true": True,
        "null": None,
        "an empty list": [],
        "a list of lists": [[1.0]],
        "a table": {},
        "1e308": 1e308,
        "-1e308": -1e308,
        "tiny": 5e-324,
        "negative": -5.0,
        "an escape": "\x1b[2J",
        "a long text": "x" * 900_000,
        "a long list": [0] * 300_000,
        "10^18": HUGE,
    }
    for what, value in values.items():
        yield Attack(
            f"a loss that is {what}",
            "rule",
            rewrite_lines("metrics.jsonl", last_line(validation_loss=value)),
            sound=every,
        )
    others: dict[str, dict[str, Any]] = {
        "judged windows below 0": {"judged": {"validation": -5}},
        "judged windows of 10^18": {"judged": {"validation": HUGE}},
        "judged windows in words": {"judged": "x"},
        "a gradient that is a list": {"gradient": [1]},
        "a gradient in words": {"gradient": {"all": "\x1b[2J"}},
        "a rate in words": {"rate": "x"},
        "a key with escapes": {"\x1b[2J\u202e": 1.0},
        "a key of a megabyte": {"x" * 900_000: 1.0},
        "an empty key": {"": 1.0},
        "a key with dots": {"gradient.all": 1.0, "..": {".": 2.0}},
        "an excess that is missing": {"excess": None},
        "an error of 400 %": {"rule_error_answerable": 4.0},
        "a key of code": {"{{7*7}}</script>": 1.0},
    }
    for what, change in others.items():
        yield Attack(f"a line with {what}", "rule", rewrite_lines("metrics.jsonl", last_line(**change)), sound=every)
    orders: dict[str, Callable[[list[Any]], list[Any]]] = {
        "backwards": lambda lines: lines[::-1],
        "of one step": lambda lines: [{**line, "step": 5} for line in lines],
        "of steps alone": lambda lines: [{"step": line["step"]} for line in lines],
        "of a population": lambda lines: [{**line, "validation_loss": [1.0, 2.0, 3.0]} for line in lines],
        "written 2,000 times": lambda lines: [{**line, "step": k} for k, line in enumerate(lines * 2000)],
    }
    for what, order in orders.items():
        yield Attack(f"lines {what}", "rule", rewrite_lines("metrics.jsonl", order), sound=every)
    spoilt: dict[str, Callable[[bytes], bytes]] = {
        "ends of Windows": lambda data: data.replace(b"\n", b"\r\n"),
        "zero bytes": lambda data: data.replace(b" ", b"\0"),
        "UTF-16": lambda data: data.decode().encode("utf-16"),
        "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
        "no end": lambda data: data.rstrip(b"\n"),
        "a million blank lines": lambda data: b"\n" * 10**6 + data,
        "a megabyte of blanks": lambda data: b" " * 10**6 + data,
        "line ends of Unicode": lambda data: data.replace(b"\n", b"\xe2\x80\xa8\n"),
    }
    for what, change_bytes in spoilt.items():
        yield Attack(f"metrics with {what}", "rule", rewrite("metrics.jsonl", change_bytes), sound=every)
        yield Attack(f"an index with {what}", "rule", rewrite("index.jsonl", change_bytes), sound=WEIGHTS)


def _index() -> Iterator[Attack]:
    """An index that leads astray."""
    for what, change in {
        "a row beyond the file": {"row": 999_999_999},
        "a row below 0": {"row": -1},
        "a row that is true": {"row": True},
        "a file that is missing": {"file": "999999"},
        "a file elsewhere": {"file": "../../outside/twin/weights/000000"},
        "a file that is a number": {"file": 0},
        "a file in other digits": {"file": "٠٠٠٠٠٠"},
        "a digest of capitals": {"sha256": "A" * 64},
        "a digest of 10^6 digits": {"sha256": "a" * 10**6},
        "a step of a fraction": {"step": 1.5},
        "a step in words": {"step": "3000"},
        "more than it should": {"path": "/etc/passwd"},
    }.items():
        yield Attack(f"an index with {what}", "rule", rewrite_lines("index.jsonl", last_line(**change)), sound=WEIGHTS)
    for what, order in {
        "backwards": lambda lines: lines[::-1],
        "with a step twice": lambda lines: [*lines, {**lines[0], "step": 3000}],
        "with all steps at one row": lambda lines: [{**lines[0], "step": k} for k in range(20_000)],
        "of 2,000,000 steps at one row": lambda lines: [{**lines[0], "step": k} for k in range(2_000_000)],
        "of nothing": lambda _: [],
    }.items():
        yield Attack(f"an index {what}", "rule", rewrite_lines("index.jsonl", order), sound=WEIGHTS)


def _resume_points() -> Iterator[Attack]:
    """Resume points that verify and fit nothing."""
    arrays: dict[str, Callable[[dict[str, Any]], object]] = {
        "without an array": lambda arrays: arrays.pop(sorted(arrays)[0]),
        "without any array": lambda arrays: arrays.clear(),
        "with fractions for whole numbers": lambda arrays: arrays.update(
            {k: v.astype(np.float64) for k, v in arrays.items()}
        ),
        "with flags": lambda arrays: arrays.update({k: v.astype(bool) for k, v in arrays.items()}),
        "of other shapes": lambda arrays: arrays.update({k: np.zeros((2, 3), v.dtype) for k, v in arrays.items()}),
        "with an axis more": lambda arrays: arrays.update({k: v[None] for k, v in arrays.items()}),
        "of nothing": lambda arrays: arrays.update({k: v[..., :0] if v.ndim else v for k, v in arrays.items()}),
    }
    for what, change in arrays.items():
        yield Attack(f"a resume point {what}", "unfinished", resume_point(change), error=("resume",), sound=("check",))
    nan = lambda arrays: arrays.update({k: np.full_like(v, np.nan) for k, v in arrays.items() if v.dtype.kind == "f"})  # noqa: E731
    more = resume_point(lambda arrays: arrays.update(more=np.zeros(3)))
    yield Attack("a resume point with an array more", "unfinished", more, sound=("resume", "check"))
    yield Attack("a resume point that is not a number", "unfinished", resume_point(nan), sound=("resume", "check"))
    for what, said in {
        "of step 7": {"step": "7"},
        "of the last step": {"step": "2000"},
        "beyond the last step": {"step": "2001"},
        "of step 10^14": {"step": "9" * 14},
        "of 10^14 files": {"files": "9" * 14},
        "of an index of 10^14 bytes": {"index": "9" * 14},
        "of metrics of 10^14 bytes": {"metrics": "9" * 14},
        "of metrics of no bytes": {"metrics": "0"},
        "of step 0": {"step": "0"},
        "of a step in words": {"step": "x"},
        "of other digits": {"step": "١٢٠٠"},
        "of a negative step": {"step": "-1"},
        "without files": {"files": "0"},
    }.items():
        yield Attack(f"a resume point {what}", "unfinished", resume_point(**said), sound=("resume", "check"))


def _about() -> Iterator[Attack]:
    """A run.json with values of every wrong kind."""
    wrong: dict[str, tuple[Any, ...]] = {
        "kept": (HUGE, -1, "x", None),
        "last_step": ("x", True, 1.5),
        "status": (7, None, [], "x" * 900_000),
        "times": ([], None, {"created": 7}, {"created": "x" * 900_000}, {"seconds": "x"}),
        "versions": ([], None, {"numpy": []}),
        "changed": ("x", {}, ["\x1b[2J"] * 10_000, [[]]),
        "floor": ("x", [], 1e308, None),
        "hardware": ([], None, "x"),
        "floors": ([], {"validation": "x"}, {"validation": 1e308}, None),
        "judged": ([], {"last": []}, {"last": {"train": -1}}),
        "floors_before": ([], {"validation": "x"}, None),
        "diverged": ([], {"x": "y"}, {"18": HUGE}),
        "engine": (7, "page", []),
        "experiment": (None, [], {}, "x"),
        "seeds": ([-1], [2**31], [2**63], [1.5], [18, 18], None, {}),
    }
    for key, values in wrong.items():
        for k, value in enumerate(values):
            yield Attack(
                f"run.json with a wrong {key} ({k + 1})",
                "rule",
                set_about(key, value=value),
                sound=("check", "loss", "report", "list figures", "ask", *LISTS),
            )
    yield Attack(
        "run.json with 100,000 more keys",
        "rule",
        lambda run: edit_json(run / "run.json", lambda said: said.update({f"k{k}": k for k in range(100_000)})),
        sound=("check", "report", *LISTS),
    )
    for k, code in enumerate(({"class": "\x1b[2J"}, {"file": "../../x.py"}, {"sha256": "0"}, {"class": "x" * 10**5})):
        yield Attack(
            f"run.json with wrong code ({k + 1})",
            "own_task",
            lambda run, code=code: edit_json(run / "run.json", lambda said: said["experiment"]["code"].update(code)),
            sound=("ask", "own ask", "own check"),
        )


def _experiments() -> Iterator[Attack]:
    """Experiments that nobody would train."""
    every = ("ask", "training_data", "score", "check", "report", "list figures")
    settings: dict[str, tuple[Any, ...]] = {
        "data.sequences": (10**6, 10**9, "x", True, 2),
        "data.longest": (4096, 10**6),
        "data.shortest": (50, 0),
        "data.seed": (HUGE, -1, 2**63),
        "data.plus": (0, 1, "x", None),
        "data.nothing": (1,),
        "architecture.heads": (256, 0),
        "architecture.blocks": (64, 65),
        "architecture.feed_forward": (65_536,),
        "architecture.activation": ("x", 7, []),
        "architecture.norm": ([], "x"),
        "architecture.biases": (["x"] * 10**5, "x", ["norm"] * 10**5),
        "architecture.dropout": (2, -1),
        "architecture.causal": (False, "no"),
        "architecture.norm_epsilon": (0, -1, 1e308),
        "architecture.read_position": (3, -1),
        "architecture.head_width": (4096,),
        "architecture.context": (1, 0, 9),
        "architecture.positions": ("x",),
        "train.rate": ("NaN", -1, 1e308),
        "train.batch": (65_536, 0),
        "train.judged": (10**6, 10**9),
        "train.log_every": (1, 0),
        "train.optimiser": ("x", []),
        "train.keep_bytes": (HUGE, -1),
        "train.seed": (2**31, -1),
        "train.schedule": ("x",),
        "train.warmup": (10**7,),
        "name": ("", "../../x", "x" * 900_000, 7, "$(touch pwned)"),
        "task": ("own_table", "own_text", "mary", "_rule", "__init__", "os", "../x", 7, None, [], "x" * 900_000),
    }
    for setting, values in settings.items():
        for k, value in enumerate(values):
            make = set_about("experiment", *setting.split("."), value=value)
            yield Attack(f"an experiment with another {setting} ({k + 1})", "rule", make, sound=every)
    for task in ("own_text", "own_table", "mary"):

        def elsewhere(run: Path, task: str = task) -> None:
            for name in ("text.txt", "tokenizer.json"):
                (run / name).unlink()
            edit_json(
                run / "run.json",
                lambda said: (
                    said.pop("files"),
                    said["experiment"].update(task=task, data={"file": str(outside(run, "secret.txt"))}),
                ),
            )

        yield Attack(
            f"{task} of a file elsewhere", "text", elsewhere, error=("ask", "check", "training_data", "report")
        )
    big = "".join(f"{k} mary had a little lamb\n" for k in range(300_000)).encode()
    yield Attack("a text of 8 MB", "text", rewrite("text.txt", lambda _: big), sound=("ask", "check", "training_data"))
    yield Attack(
        "a text of 300 MB", "text", rewrite("text.txt", lambda _: b"mary had a lamb " * 20_000_000), ("ask", "check")
    )
    yield Attack(
        "a text without blanks",
        "text",
        rewrite("text.txt", lambda _: b"a" * 2_000_000),
        sound=("ask", "check", "score", "training_data"),
    )
    yield Attack("a text of one line", "text", rewrite("text.txt", b"mary had a little lamb"), sound=TEXTS)
    yield Attack(
        "a text with escapes", "text", rewrite("text.txt", "mary \x1b[2J\u202e had a lamb\n".encode() * 99), sound=TEXTS
    )


def _folders() -> Iterator[Attack]:
    """Names and things in a folder that no training makes."""
    newest = ("check newest", *LISTS)
    for what, name in {
        "an escape": "\x1b[2J",
        "a bidirectional mark": "a\u202eb",
        "a line end": "a\nb",
        "255 letters": "x" * 255,
        "a dash": "-rf",
        "a program's name": "x.py",
        "a blank": " ",
        "a quote": "a'b\"c",
        "half a character": "a\udcffb",
        "a command": "$(touch pwned)",
    }.items():
        yield Attack(
            f"a run whose name has {what}", "rule", lambda run, name=name: run.rename(run.with_name(name)), sound=newest
        )

    def stray(name: str, how: str) -> Callable[[Path], None]:
        return lambda run: REPLACEMENTS[how](run / name, outside(run) / "metrics.jsonl")  # type: ignore[return-value]

    for name in ("weights/000001.safetensors", ".metrics.jsonl.1-abc.tmp", "weights/.x.tmp", "notes.txt"):
        for how in ("a link to a secret", "a link to itself", "a link that dangles", "a FIFO", "a socket", "/dev/zero"):
            yield Attack(f"{name} beside the rest is {how}", "rule", stray(name, how), sound=("check", "ask", *LISTS))
            yield Attack(
                f"{name} beside an unfinished run is {how}",
                "unfinished",
                in_turn(
                    lambda run: (run / "weights/000002.safetensors").unlink(missing_ok=True),
                    stray(name.replace("000001", "000002"), how),
                ),
                sound=("resume",),
            )
    for what, make in {
        "links in a circle": lambda run: [(run / "weights" / f"l{k}").symlink_to("..") for k in range(30)],
        "names with escapes": lambda run: [(run / "weights" / f"\x1b[{k}J").touch() for k in range(30)],
        "names that are no text": lambda run: os.mknod(os.fsencode(run) + b"/weights/\xff\xfe"),
        "5,000 unfinished files": lambda run: [os.mknod(run / f".x{k}.tmp") for k in range(5000)],
        "a run in a run": lambda run: copytree(outside(run), run / "weights" / "inner"),
        "no permissions": lambda run: [each.chmod(0) for each in run.iterdir() if each.is_file()],
        "a folder named like the next file": lambda run: (run / "weights/000001.safetensors").mkdir(),
    }.items():
        yield Attack(f"a folder with {what}", "rule", make, sound=("check", "check --json", "ask", "report", *LISTS))

    def crowd(data: bytes, many: int) -> Callable[[Path], None]:
        def make(run: Path) -> None:
            path = outside(run, "many.json")
            path.write_bytes(data)
            for k in range(many):
                (run.parent / f"x{k}").mkdir()
                os.link(path, run.parent / f"x{k}" / "run.json")

        return make

    yield Attack("3,000 other runs of nothing", "rule", crowd(b"{}", 3000), sound=("check newest", "list runs"))
    yield Attack("300 other runs of 4 MB", "rule", crowd(b'{"a": [' + b"[]," * 1_300_000 + b"[]]}", 300), sound=newest)
    yield Attack("30 other runs of escapes", "rule", crowd(ESCAPES, 30), sound=newest)
    yield Attack("weights is a file", "rule", lambda run: (remove(run / "weights"), (run / "weights").touch()), WEIGHTS)
    yield Attack(
        "nothing but run.json",
        "rule",
        lambda run: [remove(each) for each in run.iterdir() if each.name != "run.json"],
        error=WEIGHTS,
    )
    yield Attack("an empty folder", "rule", lambda run: [remove(each) for each in run.iterdir()], OPEN)


def _tokenizers() -> Iterator[Attack]:
    """Tokenizers in other forms, and strange words."""

    def refusal(name: str, change: Callable[[dict[str, Any]], object], error: bool = True) -> Attack:
        return Attack(f"a tokenizer {name}", "text", tokenizer(change), *((TEXTS,) if error else ((), (), TEXTS)))

    def wrap(**changes: Any) -> Callable[[dict[str, Any]], object]:
        return lambda said: {"kind": "bpe", "library": json.dumps({**said, **changes})}

    pad = {
        "strategy": {"Fixed": 10**9},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    yield refusal("in another, with padding of a billion", wrap(padding=pad))
    yield refusal("in another, with a normalizer", wrap(normalizer={"type": "Lowercase"}))
    for what, library in {"a number": 7, "a text": "x", "brackets": "[" * 10**5, "nothing": "", "null": None}.items():
        yield refusal(f"in another that is {what}", lambda _, library=library: {"kind": "bpe", "library": library})
    for what, words in {
        "none": [],
        "numbers": [1, 2],
        "the same": ["a"] * 90,
        "long": ["x" * 10**6],
        "a text": "abc",
        "65,537": [f"w{k}" for k in range(65_537)],
    }.items():
        yield refusal(f"of words that are {what}", lambda _, words=words: {"kind": "words", "words": words})
    yield refusal(
        "of words with escapes", lambda _: {"kind": "words", "words": [f"\x1b[{k}J" for k in range(90)]}, False
    )
    for what, letters in {
        "unsorted": "ba",
        "a list": ["a", "b"],
        "empty": "",
        "halves": "a\ud800",
        "a number": 7,
    }.items():
        yield refusal(f"of characters that are {what}", lambda _, x=letters: {"kind": "characters", "characters": x})
    yield refusal(
        "of other bytes",
        put(
            "pre_tokenizer",
            value={"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        ),
    )
    yield refusal(
        "with a prefix of blanks",
        put(
            "pre_tokenizer", value={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
        ),
    )
    yield refusal("with more in its cutter", put("pre_tokenizer", "more", value=1), False)
    yield refusal("without a cutter", put("pre_tokenizer", value=None))
    yield refusal("without a model", drop("model"))
    yield refusal("with more in its model", put("model", "cache_capacity", value=HUGE))
    yield refusal("with more beside its model", put("more", value=[1]))
    yield refusal(
        "with merges in words",
        lambda said: said["model"].update(merges=[" ".join(m) for m in said["model"]["merges"]]),
        False,
    )
    yield refusal("with a merge twice", lambda said: said["model"]["merges"].append(said["model"]["merges"][0]), False)
    yield refusal("with a merge into nothing", lambda said: said["model"]["merges"].append(["b", "w"]))
    yield refusal("with a token of a megabyte", lambda said: said["model"]["vocab"].update({"x" * 10**6: 90}))
    yield refusal("with an empty token", lambda said: said["model"]["vocab"].update({"": 90}))
    yield refusal(
        "with 10,000 added tokens",
        lambda said: said["added_tokens"].extend(
            {**said["added_tokens"][0], "id": 90 + k, "content": f"x{k}"} for k in range(10_000)
        ),
    )
    yield refusal("whose unknown token is added otherwise", put("added_tokens", value=[]), False)
    for what, data in {
        "no JSON": b"{",
        "a list": b"[]",
        "a number": b"7",
        "empty": b"",
        "NaN": b"NaN",
        "twice": b'{"kind":"words","kind":"words"}',
        "a byte order mark": b"\xef\xbb\xbf{}",
        "no UTF-8": b'{"\xff": 1}',
        "digits": b'{"kind": ' + b"9" * 10**6 + b"}",
    }.items():
        yield Attack(f"a tokenizer that is {what}", "text", rewrite("tokenizer.json", data), TEXTS)


def _studies() -> Iterator[Attack]:
    """Studies with values of every wrong kind."""
    every = ("study api", "study figure", "study list", "study --json")
    wrong: dict[str, tuple[Any, ...]] = {
        "schema": (2, "1", None),
        "study": ("_run", "../x", 7, "\x1b[2J", "ablation"),
        "seeds": (0, -1, 65_537, "2", 10**18),
        "experiment": (None, {}, "x", {"name": "x"}),
        "metrics": ({}, [], {"excess": {"title": "\x1b[2J", "unit": "x"}}, None),
        "cells": ([], {}, None, [{}], ["x"], [{"name": "a", "more": 1}]),
        "without": ("x", ["\x1b[2J"]),
        "versions": ([], None),
    }
    for key, values in wrong.items():
        for k, value in enumerate(values):
            yield Attack(f"study.json with a wrong {key} ({k + 1})", "study", plan(put(key, value=value)), sound=every)
    inside: dict[str, tuple[Any, ...]] = {
        "settings": ("x", [7], ["data.file=/etc/passwd"], ["\x1b[2J=1"], ["architecture.width=4096"]),
        "x": ("x", 1e308, []),
        "role": ("x", 7),
        "bound": ("x", -1),
        "reason": (7, "\x1b[2J"),
        "seeds": (10**9, "x"),
        "after": ("x", -1),
    }
    for key, values in inside.items():
        for k, value in enumerate(values):
            change = lambda said, key=key, value=value: said["cells"][1].update({key: value})  # noqa: E731
            yield Attack(f"a planned cell with a wrong {key} ({k + 1})", "study", plan(change), sound=every)
    cells: dict[str, tuple[Any, ...]] = {
        "seeds": ("x", [], [1] * 10**5, None),
        "status": (7, "\x1b[2J"),
        "steps": ("x", -1, HUGE),
        "parameters": ("x", HUGE),
        "seconds": ("x", -1),
        "diverged": ([], {"x": "y"}),
        "measured": ({}, [], {"excess": []}, {"excess": [[0.1]]}, {"excess": "ab"}, None),
        "curves": ({}, [], {"step": [1], "excess": [[1], [1, 2]]}, {"step": ["x"]}, None),
        "experiment": (None, {}, {"name": "x"}),
        "after": ("x", None),
        "cell": ("another", 7),
        "run": ("x", {"folder": "../../x"}),
    }
    for key, values in cells.items():
        for k, value in enumerate(values):
            yield Attack(f"a cell with a wrong {key} ({k + 1})", "study", cell(put(key, value=value)), sound=every)
    for key in ("seeds", "measured", "curves", "experiment", "after"):
        yield Attack(f"a cell without {key}", "study", cell(drop(key)), sound=every)
    yield Attack(
        "a cell of a megabyte of curves",
        "study",
        cell(put("curves", value={"step": list(range(50_000)), "excess": [[0.1, 0.2]] * 50_000})),
        sound=every,
    )
    yield Attack("a sealed study", "study", cell(nothing), fine=every)


def attacks() -> Iterator[Attack]:
    """All of them."""
    for family in (_metrics, _index, _resume_points, _about, _experiments, _folders, _tokenizers, _studies):
        yield from (replace(each, always=False) for each in family())
