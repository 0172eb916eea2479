"""The command line: exit codes, one sentence for what is wrong, and nothing left behind by a call that was."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
from hashlib import sha256
from pathlib import Path

import pytest

import command
import glassformer.run
import small_texts
from command import QUICK, call
from glassformer import catalogue, experiment, terminal
from glassformer.run import find
from glassformer.training import begin

MEMBER = ["seed", "loss", "validation_loss", "excess", "rule_error", "rule_error_answerable"]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A population of two after 60 steps, of which 20 are kept; no test writes to it."""
    path = tmp_path_factory.mktemp("trained") / "runs" / "plus_last_even-18x2"
    settings = ("--seeds", 2, "--steps", 60, *QUICK, "--set", "train.log_every=20", "--set", "train.keep_bytes=40_000")
    assert call("train", "plus_last_even", *settings, "--out", path, "--quiet").code == 0
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own, empty at first."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(answer: command.Answer, *words: str, code: int = 2) -> str:
    """The one sentence about a call that was wrong."""
    assert answer.code == code, answer
    assert answer.out == ""
    assert answer.err.startswith("glassformer: ")
    assert answer.err.count("\n") == 1
    for word in words:
        assert word in answer.err
    return answer.err


# What there is


def test_list_names_every_piece_with_its_title():
    overview = call("list").out.split()
    assert set(catalogue.kinds()) < {*overview, "experiments"}
    assert set(catalogue.pieces("tasks")) < set(overview), "an experiment for each task"
    for kind in catalogue.kinds():
        one = call("list", kind)
        assert one.code == 0
        found = dict(line.strip().split("  ", 1) for line in one.out.splitlines())
        assert {name: title.strip() for name, title in found.items()} == catalogue.pieces(kind)
        assert kind == "experiments" or str(len(found)) in overview


def test_unknown_names_answer_with_the_nearest_and_the_list():
    refused(call("list", "task"), "did you mean tasks?", *catalogue.kinds())
    sentence = refused(call("show", "plus_lst_even"), "did you mean plus_last_even?")
    for name in experiment.names():
        assert name in sentence
    refused(call("train", "lucky8"), "did you mean lucky7?", "there are: ")
    refused(call("train", "a" * 5000), "there are: ")


def test_show_gives_the_file_itself():
    assert call("show", "mary").out == experiment.text("mary")


@pytest.mark.parametrize(
    "words", [("frobnicate",), ("train",), ("train", "mary", "--steps", "many"), ("--frobnicate",)]
)
def test_a_call_that_is_no_command_exits_with_2(words):
    answer = call(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert "Traceback" not in answer.err


# Training


def test_train_in_json_and_in_words(here):
    answer = call("train", "plus_last_even", "--steps", 20, "--seeds", 2, "--seed", 4, *QUICK, "--json")
    assert (answer.code, answer.err) == (0, "")
    result = answer.json
    assert list(result) == ["status", "run", "experiment", "steps", "seconds", "steps_per_second", "floor", "members"]
    assert (result["run"], result["experiment"], result["steps"]) == (
        "runs/plus_last_even-4x2-steps_20-judged_50", "plus_last_even", 20,
    )  # fmt: skip
    assert [list(member) for member in result["members"]] == [MEMBER] * 2
    run = glassformer.run.open(here / result["run"])
    assert [member["seed"] for member in result["members"]] == run.seeds == [4, 5]
    assert result["floor"] == run.task.floor(8)
    for k, member in enumerate(result["members"]):
        assert member["validation_loss"] == run.metrics["validation_loss"][-1, k]
        assert member["excess"] == run.metrics["excess"][-1, k]
    assert result["seconds"] > 0 < result["steps_per_second"]

    quiet = call("train", "plus_last_even", "--steps", 20, "--seed", 4, *QUICK, "--quiet")
    usual = "plus_last_even-4-steps_20-judged_50"
    assert quiet == (0, f"runs/{usual}\n", "")
    words = call("train", "plus_last_even", "--steps", 20, "--seed", 4, *QUICK)
    assert words.code == 0
    assert "20 steps in" in words.out
    assert f"run: runs/{usual}-2" in words.out  # the name was taken; nothing is overwritten
    assert f"runs/{usual} was there before, so this one is runs/{usual}-2\n" in words.out
    assert "changed settings: train.steps = 20, train.judged = 50\n" in words.out
    assert "step 20/20" in words.err
    first, second = (glassformer.run.open(here / "runs" / name) for name in (usual, f"{usual}-2"))
    assert first.digest() == second.digest()


def test_a_task_that_counts_right_answers_reports_accuracy():
    result = call("train", "five_operations", "--steps", 2, *QUICK, "--json", "--out", "five").json
    assert list(result["members"][0]) == [*MEMBER[:4], "accuracy"]
    showcase = glassformer.run.open("five").task.showcase[0]
    words = call("ask", "five", showcase)
    assert words.code == 0, words.err
    lines = words.out.splitlines()[1:]
    assert len(lines) in (5, 6)  # the likeliest five, and the right answer where it is none of them
    assert sum(line.endswith("100.0%") for line in lines) == 1
    refused(call("generate", "five"), "use ask")


def test_out_that_exists_is_refused(here):
    (here / "mine").mkdir()
    (here / "mine" / "notes.txt").write_text("keep me")
    refused(call("train", "plus_last_even", "--steps", 2, *QUICK, "--out", "mine", "--quiet"), "mine")
    assert [path.name for path in (here / "mine").iterdir()] == ["notes.txt"]


SETTINGS = {
    "foo.rate=1": ["nothing called 'foo'", "architecture, data, train"],
    "train.rte=1": ["did you mean rate?", "[train]"],
    "data.pluss=1": ["did you mean plus?", "[data]"],
    "train.rate": ["table.name=value"],
    "rate=1": ["table.name=value"],
    "train.rate=fast": ["train.rate = 'fast'", "a number"],
    "train.rate=true": ["train.rate = True", "a number"],
    "train.steps=2.5": ["train.steps = 2.5", "a whole number"],
    "train.steps=none": ["[train] lacks steps"],
    "train.optimiser=adamm": ["'adamm'", "'adamw'"],
    "train.rate=nan": ["train.rate = nan", "finite"],
    "train.rate=inf": ["finite"],
    "train.rate=0": ["train.rate = 0.0", "above 0"],
    "train.rate=-1e-3": ["above 0"],
    "train.batch=-1": ["train.batch = -1", "the least is 1"],
    "train.batch=0": ["the least is 1"],
    "train.momentum=1": ["below 1"],
    "train.steps=1_000_000_000_000": ["the most is 10,000,000"],
    f"train.keep_bytes={10**400}": ["401 digits", "too large"],
    f"train.rate={10**400}": ["401 digits", "too large"],
    f"train.warmup={10**20}": ["too large"],
    f"train.drop_every={10**9}": ["the most is 10,000,000"],
    "train.steps=" + "9" * 5000: ["a whole number"],
    "train.steps=" + "[" * 5000: ["a whole number"],
    "data.sequences=1000000000000": ["data.sequences = 1000000000000", "the most is"],
    "data.seed=-1": ["the least is 0"],
    "architecture.width=1000000000": ["the most is 4,096"],
    "architecture.context=1000000": ["the most is 4,096"],
    "architecture.blocks=0": ["the least is 1"],
    "architecture.head_width=8": ["heads × head_width = 1 × 8 = 8", "width = 2"],
    "architecture.heads=3": ["width = 2", "heads = 3"],
    "architecture.vocabulary=5": ["architecture.vocabulary = 5", "12 tokens"],
    "architecture.causal=false": ["architecture.causal = false"],
    "architecture.read_position=0": ["read_position"],
    "architecture.biases=attention": ["is not a list"],
}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting[:40])
def test_a_wrong_setting_is_one_sentence_and_leaves_nothing(here, setting):
    refused(call("train", "plus_last_even", "--set", setting), *SETTINGS[setting])
    assert list(here.iterdir()) == []


def test_a_model_too_large_is_refused_before_anything_is_allocated(here):
    large = ("--set", "architecture.width=4096", "--set", "architecture.feed_forward=65536")
    refused(call("train", "plus_last_even", *large), "parameters", "20,000,000")
    refused(call("train", "plus_last_even", "--seeds", 0), "seeds = 0")
    refused(call("train", "plus_last_even", "--seeds", 10**6), "65,536")
    refused(call("train", "plus_last_even", "--seed", -1), "train.seed = -1")
    refused(call("train", "plus_last_even", "--seed", 2**31 - 1, "--seeds", 2), "leaves no room")
    refused(call("train", "plus_last_even", "--steps", 0), "train.steps = 0")
    assert "Invalid value for '--out'" in call("train", "plus_last_even", "--out", "").err
    refused(call("train", "plus_last_even", "--out", here / ".."), "--out")
    assert list(here.iterdir()) == []


FILES = {
    "malformed": (b'task = "mary"\nwidth = = 3\n', ["mine.toml is not TOML", "at line 2, column 9"]),
    "unknown key": (b'task = "mary"\n[trian]\nsteps = 3\n', ["nothing called 'trian'", "did you mean train?"]),
    "unknown setting": (b'task = "mary"\n[architecture]\ncontxt = 3\n', ["[architecture]", "did you mean context?"]),
    "not UTF-8": (b'task = "mary" # \xff\n', ["not UTF-8 at byte 16"]),
    "no task": (b"[train]\nsteps = 3\n", ["task = None", "there are: "]),
    "task of the wrong type": (b"task = 3\n", ["task = 3", "there are: "]),
    "wrong task": (b'task = "plus_lst_even"\n', ["did you mean plus_last_even?"]),
    "lacking": (b'task = "mary"\n[architecture]\ncontext = 4\n', ["[train] lacks steps"]),
    "no table": (b'task = "mary"\ntrain = 3\n', ["train = 3 is not a table", "[train]"]),
    "no table of data": (b'task = "mary"\ndata = [1]\n', ["data = [1] is not a table"]),
    "no table of sizes": (b'task = "mary"\narchitecture = "big"\n', ["architecture = 'big' is not a table"]),
    "deep": (b"a = " + b"[" * 100_000, ["nested too deeply"]),
    "long number": (b"a = " + b"9" * 10_000, ["thousands of digits"]),
    "huge": (b"#" * 5_000_000, ["4,000,000 bytes"]),
    "one answer, read nowhere": (b'task = "five_operations"\n[architecture]\ncontext = 8\n[train]\nsteps = 1\n',
                                 ["architecture.read_position"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_one_sentence_and_leaves_nothing(here, name):
    content, words = FILES[name]
    (here / "mine.toml").write_bytes(content)
    refused(call("train", "mine.toml"), *words)
    assert [path.name for path in here.iterdir()] == ["mine.toml"]


def test_a_file_that_cannot_be_read(here):
    refused(call("train", "missing.toml"), "there is no file missing.toml", "glassformer show")
    (here / "folder.toml").mkdir()
    refused(call("train", "folder.toml"), "cannot read folder.toml")
    (here / "plain.txt").write_text("x")
    refused(call("train", "plain.txt"), "plain.txt is not TOML", "for a text: glassformer train --text plain.txt")
    (here / "my table.csv").write_text("a;b\n")
    refused(call("train", "my table.csv"), "for a table of questions: glassformer train own_table", "'data.file=my tab")
    answer = call("train", "plus_last_even", "--steps", 1, *QUICK, "--out", "plain.txt/run")
    refused(answer, "plain.txt/run", code=1)


def test_ones_own_file_with_marks_of_other_systems(here):
    """A byte order mark and CRLF are no mistake."""
    text = experiment.text("plus_last_even").replace("\n", "\r\n")
    (here / "mine.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    result = call("train", "mine.toml", "--steps", 2, *QUICK, "--json", "--out", "a/b/c").json
    assert (result["experiment"], result["run"]) == ("mine", "a/b/c")


def test_a_loss_that_is_no_number_exits_with_1_and_keeps_the_run(here):
    diverging = ("--set", "train.optimiser=sgd", "--set", "train.rate=1e30", "--set", "train.log_every=5")
    refused(call("train", "plus_last_even", "--steps", 50, *QUICK, *diverging, "--quiet"), "train.clip", code=1)
    assert find("plus", here / "runs").status == "diverged"
    assert call("check", "plus").code == 0


# Asking


def test_ask_in_json_and_in_words(trained):
    run = glassformer.run.open(trained)
    answer = call("ask", trained, "10 + 10 6 +", "--json", "--top", 12, "--step", int(run.steps[3]), "--member", 1).json
    assert list(answer) == ["run", "step", "text", "tokens", "probabilities", "exact", "counts"]
    assert (answer["step"], answer["text"]) == (run.steps[3], "10 + 10 6 +")
    expected = run.ask("10 + 10 6 +", step=int(run.steps[3]), member=1)
    assert list(zip(answer["tokens"], answer["probabilities"], strict=True)) == expected
    assert sum(answer["probabilities"]) == pytest.approx(1)
    assert answer["exact"] == [float(token == "6") for token in answer["tokens"]]
    assert answer["counts"] is None
    assert call("ask", trained, "10 + 10 6 +", "--json").json["step"] == 60
    spoken = call("ask", trained, "10 + 10 6 +", "--top", 12)
    assert spoken.err == "plus_last_even-18x2, member 0 (seed 18) of 2, at step 60, after '10 + 10 6 +'\n"
    words = spoken.out.splitlines()
    assert words[0].split() == ["token", "model", "exact"]
    exact = {line.split()[0]: line.split()[2] for line in words[1:]}
    assert exact == {token: "100.0%" if token == "6" else "0.0%" for token in run.task.vocabulary}
    least = next(text for text in ("10 +", "8 +", "6 +") if run.ask(text)[0][0] != text.split()[0])
    words = call("ask", trained, least, "--top", 1).out.splitlines()  # what is right is shown, likely or not
    assert [line.split()[0] for line in words[1:]] == [run.ask(least)[0][0], least.split()[0]]


def test_ask_refuses_what_the_model_cannot_see(trained):
    refused(call("ask", trained, "10 + x"), "'x' at position 2", "0 1 2 3")
    refused(call("ask", trained, "1 2 3 4 5 6 7 8 9"), "9 tokens", "context = 8")
    refused(call("ask", trained, ""), "empty")
    refused(call("ask", trained, "1 " * 40_000), "64,000")
    refused(call("ask", trained, "1 2", "--top", 0), "--top 0")
    refused(call("ask", trained, "1 2", "--member", 2), "no member 2", "0 to 1")
    kept = glassformer.run.open(trained).steps.tolist()
    missing = next(step for step in range(60) if step not in kept)
    below, above = max(s for s in kept if s < missing), min(s for s in kept if s > missing)
    refused(call("ask", trained, "1 2", "--step", missing), f"step {missing}", f"nearest kept: {below} and {above}")
    refused(call("ask", trained, "1 2", "--step", 1000), "nearest kept: 60")


def test_runs_are_found_by_the_beginning_of_their_name(here, trained):
    refused(call("ask", "1 2"), "no runs", "glassformer train plus_last_even")
    refused(call("check"), "no runs")
    refused(call("generate", "nothing"), "no runs")
    for k, name in enumerate(("plus-1", "plus-2", "mary-1")):
        shutil.copytree(trained, here / "runs" / name)
        about = here / "runs" / name / "run.json"
        table = json.loads(about.read_text())
        about.write_text(json.dumps({**table, "times": {"created": f"2026-01-{9 - k:02}"}}))
    said = "plus means runs/plus-1, the newest of 2 that begin so\n"
    for words in (("ask", "plus", "1 2"), ("generate", "plus"), ("score", "plus"), ("check", "plus"),
                  ("list", "figures", "plus")):  # fmt: skip
        answer = call(*words)
        assert (answer.code, answer.err.startswith(said)) == (0, True), answer
    for words in (("ask", "plus", "1 2"), ("generate", "plus"), ("score", "plus"), ("check", "plus")):
        answer = call(*words, "--json")
        assert (answer.err, answer.json["run"]) == ("", "runs/plus-1")
    refused(call("ask", "plsu-1", "1 2"), "did you mean plus-1?", "mary-1")
    assert call("ask", "mary", "1 2", "--json").json["run"] == "runs/mary-1"
    refused(call("check", "a" * 5000), "nothing called")


@pytest.mark.parametrize("verb", ["ask", "generate"])
def test_a_single_word_is_a_run_if_one_is_called_so_else_the_text(here, trained, verb):
    for name in ("plus_last_even-18", "4-9"):
        shutil.copytree(trained, here / "runs" / name)
    text = "text" if verb == "ask" else "prompt"
    newest = "runs/plus_last_even-18"  # of two created at once, the later name
    own = "4 9 + 4 10 7 +" if verb == "ask" else ""  # the task's own example, up to where its rule speaks; none
    for words, run, said in (
        ((), newest, own),
        (("4 9 +",), newest, "4 9 +"),
        (("plus_last_even",), newest, own),
        (("4",), "runs/4-9", own),  # a text may be what a run is called: then the run is meant,
        (("plus_last_even", "4"), newest, "4"),  # unless one is named before it
        (("4-", "4"), "runs/4-9", "4"),
        (("p", "4 9 +"), newest, "4 9 +"),
    ):
        answer = call(verb, *words, "--json").json
        assert (answer["run"], answer[text]) == (run, said), words
    refused(call(verb, "4 nine"), "'nine' at position 1", "asked was the newest run, plus_last_even-18")
    refused(call(verb, 4, 9, "+"), "3 words are more than a run and a text", "in quotes")
    assert (call(verb, "").code, call(verb, "plus_last_even", "").code) == ((2, 2) if verb == "ask" else (0, 0))


# Writing


def test_generate_is_deterministic_and_judged(trained):
    words = ("generate", trained, "4 9 +", "--tokens", 20, "--json")
    cold = [call(*words, "--temperature", 0, "--seed", seed).json for seed in (0, 1)]
    assert cold[0] == cold[1]
    assert call(*words, "--seed", 3).json == call(*words, "--seed", 3).json
    assert call(*words, "--seed", 3).json["tokens"] != call(*words, "--seed", 4).json["tokens"]
    answer = call(*words, "--seed", 3).json
    assert list(answer) == ["run", "step", "prompt", "tokens", "text", "right"]
    assert answer["text"].split() == answer["tokens"]
    assert answer["tokens"][:3] == ["4", "9", "+"]
    assert len(answer["tokens"]) == len(answer["right"]) == 23
    even = None
    for before, now, right in zip([None, *answer["tokens"]], answer["tokens"], answer["right"], strict=False):
        if before == "+" and even is not None:
            assert right is (now == even)
        elif before != "+":
            assert right is None
        even = now if now != "+" and int(now) % 2 == 0 else even


def test_generate_in_words(trained):
    answer = call("generate", trained, "0 1 2 3 4 5 6 7 8 9", "--tokens", 12, "--seed", 1)
    assert answer.code == 0
    assert answer.out.startswith("0 1 2 3 4 5 6 7 8 9 ")
    assert "last 8 tokens" in answer.err
    assert answer.err.startswith("plus_last_even-18x2, member 0 (seed 18) of 2, at step 60\n")
    spoken = re.search(r"the rule spoke about (\d+) of these tokens; (\d+) of them are right", answer.out)
    written = call("generate", trained, "0 1 2 3 4 5 6 7 8 9", "--tokens", 12, "--seed", 1, "--json").json["right"][10:]
    judged = [verdict for verdict in written if verdict is not None]
    assert (spoken is None) == (judged == [])
    assert spoken is None or [int(number) for number in spoken.groups()] == [len(judged), sum(judged)]
    assert len(call("generate", trained).out.splitlines()[0].split()) == 32


def test_generate_marks_what_is_right_and_what_is_wrong(trained, monkeypatch):
    """Signs for every reader, colours on a terminal that may show them; never on the text it was given."""
    words = ("generate", trained, "4 9 + 8 +", "--tokens", 60, "--seed", 1)
    told = call(*words, "--json").json
    verdicts = [None] * 5 + told["right"][5:]
    assert {True, False, None} <= set(verdicts)
    signs = {True: "✓", False: "✗", None: ""}
    marked = " ".join(token + signs[verdict] for token, verdict in zip(told["tokens"], verdicts, strict=True))
    assert call(*words).out.splitlines()[0] == marked
    colours = []
    monkeypatch.setattr(terminal, "coloured", lambda text, colour, nl: colours.append((text, colour, nl)))
    call(*words)
    assert colours == [
        (f" {token}{signs[verdict]}", "green" if verdict else "red", False)
        for token, verdict in zip(told["tokens"], verdicts, strict=True)
        if verdict is not None
    ]


def test_generate_refuses(trained):
    refused(call("generate", trained, "4 nine"), "'nine' at position 1")
    refused(call("generate", trained, "--temperature", -1), "temperature = -1.0")
    refused(call("generate", trained, "--temperature", "nan"), "temperature = nan")
    refused(call("generate", trained, "--top-k", 0), "top_k = 0")
    refused(call("generate", trained, "--tokens", 0), "tokens = 0")
    refused(call("generate", trained, "--tokens", 10**9), "1,000,000")


# Checking


def test_check_says_whether_a_folder_is_whole(here, trained):
    sound = call("check", trained)
    assert (sound.code, sound.err) == (0, "")
    assert "everything listed verifies" in sound.out
    answer = call("check", trained, "--json").json
    assert (answer["status"], answer["problems"]) == ("finished", [])
    assert answer["bytes"] == sum(path.stat().st_size for path in trained.rglob("*") if path.is_file())

    spoilt = shutil.copytree(trained, here / "spoilt")
    weights = spoilt / "weights/000000.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1  # the last number of the last step
    weights.write_bytes(content)
    answer = call("check", "spoilt")
    assert answer.code == 1
    assert "000000.safetensors" in answer.out
    assert "step 60 is not what was written" in answer.out
    assert answer.out.endswith("1 problem found\n")
    assert len(call("check", "spoilt", "--json").json["problems"]) == 1
    refused(call("ask", "spoilt", "1 2"), "step 60", code=1)
    assert call("ask", "spoilt", "1 2", "--step", 0).code == 0  # the sound rest still opens


def test_check_of_a_half_copied_folder(here, trained):
    half = shutil.copytree(trained, here / "half")
    (half / "weights/000000.safetensors").unlink()
    answer = call("check", "half")
    assert answer.code == 1
    assert "000000.safetensors is missing, and with it" in answer.out
    (half / "run.json").unlink()
    refused(call("check", "half"), "no run.json", code=1)


# Interrupting and resuming

SAME_FLAGS = {"XLA_FLAGS": os.environ["XLA_FLAGS"]}  # other options of the compiler, other bits
LONG = ("train", "plus_last_even", "--seeds", 2, "--steps", 20_000, *QUICK)


def training(child: subprocess.Popen[str]) -> None:
    """Wait until it trains."""
    line = child.stderr.readline()
    assert line.startswith("step 0/20,000"), line + child.stderr.read()


def test_ctrl_c_stops_at_a_safe_point_and_the_command_it_names_goes_on_to_the_same_bits(here):
    """Also D6: beside a living writer, a second one is refused by name."""
    whole = call(*LONG, "--out", "whole", "--quiet")
    assert whole.code == 0
    child = command.start(*LONG, "--out", "my run", folder=here, **SAME_FLAGS)
    training(child)
    sentence = refused(call("train", "plus_last_even", "--resume", "--out", "my run", "--quiet"), code=1)
    assert f"process {child.pid}" in sentence
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (1, "")
    assert "stopping at the next safe point" in err
    last = err.splitlines()[-1]
    stopped, again = re.fullmatch(
        r"glassformer: stopped at step (\d+) of 20000; `(.*)` goes on to the same bits", last
    ).groups()
    run = glassformer.run.open("my run")
    assert run.status == "interrupted"
    assert 0 < int(stopped) == run.last_step < 20_000
    assert run.check() == []
    assert again == "glassformer train --resume --out 'my run'"
    resume = ("train", "plus_last_even", "--resume", "--out", "my run")

    refused(call("train", "lucky7", "--resume", "--out", "my run"), "a run of plus_last_even, not of lucky7")
    refused(call(*resume, "--steps", 30_000), "train.steps = 20000, not 30000")
    refused(call(*resume, "--set", "train.rate=1"), "train.rate = 0.03, not 1")
    refused(call(*resume, "--seeds", 3), "2 seeds, not 3")
    assert call(*resume, "--set", "train.judged=50", "--quiet") == (0, "my run\n", "")
    assert command.contents(here / "my run") == command.contents(here / "whole")
    answer = call(*resume)
    assert (answer.code, answer.out.splitlines()[0]) == (
        0,
        "my run is finished at step 20,000; there is nothing left to train",
    )
    assert call(*resume, "--json").json["steps_per_second"] is None


def test_a_resumed_text_keeps_its_tokens(here, monkeypatch):
    monkeypatch.setattr("glassformer.plan.SAFE_BYTES", 1)
    (here / "mine.txt").write_text("the cat sat on the mat, and that was that. " * 20, encoding="utf-8")
    settings = experiment.for_text(Path("mine.txt"), "bpe", 30, (*small_texts.SETTINGS, "train.log_every=1"), steps=4)
    assert begin(settings, out="run", stop=lambda: True).interrupted
    resume = ("train", "--text", "mine.txt", "--resume", "--out", "run", "--quiet")
    refused(call(*resume, "--tokenizer", "words"), "data.tokenizer = bpe, not words")
    refused(call(*resume, "--tokenizer", "bpe", "--vocabulary", 40), "data.entries = 30, not 40")
    assert call(*resume, "--tokenizer", "bpe", "--vocabulary", 30) == (0, "run\n", "")


def test_ctrl_c_twice_stops_at_once(here):
    long = ("--set", "architecture.width=512", "--set", "architecture.feed_forward=2048", "--set", "train.batch=512")
    child = command.start(*LONG, *long, "--out", "run", folder=here)
    while not (here / "run/run.json").exists():
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    assert "safe point" in child.stderr.readline() + child.stderr.readline()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out) == (1, "")
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "glassformer: stopped at once; a training begun here goes on with --resume"
    assert glassformer.run.open("run").status == "interrupted"


@pytest.mark.usefixtures("here")
def test_the_lab_trains_into_a_folder_of_its_own_and_draws_that(monkeypatch):
    """Also where the training diverges, and where an experiment of this name was trained before."""
    drawn, made, shown = [], [], []
    monkeypatch.setattr("glassformer.commands.figures.figures", drawn.append)
    monkeypatch.setattr("glassformer.commands.report.report", lambda words: made.append(words) or Path("page.html"))
    monkeypatch.setattr("glassformer.terminal.show_page", shown.append)
    assert call("lab", "--steps", 3, *QUICK, "--seed", 5).code == 0
    assert call("lab", "plus_last_even", "--steps", 4, *QUICK, "--seed", 5, "--no-open").code == 0
    answer = call("lab", "ill_exploding", "--no-open")
    assert (answer.code, "stopped being a number" in answer.err) == (0, True)
    usual = "runs/plus_last_even-5-steps_{}-judged_50"
    folders = [usual.format(3), usual.format(4), "runs/ill_exploding-18"]
    assert drawn == made == [[each] for each in folders]
    assert shown == [Path("page.html")], "the report, where it is not forbidden"
    assert [glassformer.run.open(each).experiment.train.steps for each in folders] == [3, 4, 50]
    refused(call("lab", "plus_last_evne"), "plus_last_even")


def test_resume_finds_the_interrupted_run_among_others(here, trained):
    """Without --out: the newest one with these settings, whatever else lies there."""
    refused(call("train", "plus_last_even", "--resume"), "no interrupted run of plus_last_even", "leave out --resume")
    settings, usual = ("--steps", 40, *QUICK, "--seed", 7), "runs/plus_last_even-7-steps_40-judged_50"
    assert call("train", "plus_last_even", *settings, "--quiet").code == 0
    shutil.copytree(trained, here / "runs/other")
    (here / "runs/broken").mkdir()
    (here / "runs/broken/run.json").write_text("{")
    assert call("train", "plus_last_even", *settings, "--resume").out.startswith(f"{usual} is finished at ")
    refused(call("train", "plus_last_even", "--steps", 41, *QUICK, "--resume"), "no interrupted run")
    about = here / usual / "run.json"  # as if it had been killed before its first safe point
    table = json.loads(about.read_text())
    nothing = {"lines": 0, "sha256": sha256(b"").hexdigest()}
    written = dict.fromkeys(("index.jsonl", "metrics.jsonl"), nothing)
    about.write_text(json.dumps({**table, "status": "running", "last_step": 0, "kept": 0, "written": written}))
    for name in ("index.jsonl", "metrics.jsonl", "resume.safetensors", "weights/000000.safetensors"):
        (about.parent / name).unlink()
    assert call("train", "plus_last_even", *settings, "--resume", "--quiet") == (0, f"{usual}\n", "")
    assert glassformer.run.open(about.parent).check() == []


# Around the terminal


def test_r3_hash_seed_locale_time_zone_folder_and_terminal_have_no_influence(here):
    words = ("train", "plus_last_even", "--steps", 60, *QUICK)
    assert call(*words, "--out", "one", "--quiet").code == 0
    (here / "elsewhere").mkdir()
    odd = {"PYTHONHASHSEED": "12", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "TERM": "dumb", "COLUMNS": "20"}
    odd |= SAME_FLAGS
    child = command.start(*words, "--out", here / "other", folder=here / "elsewhere", **odd)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert glassformer.run.open("one").digest() == glassformer.run.open("other").digest()
    assert command.contents(here / "one") == command.contents(here / "other")


def test_a_closed_pipe_is_quiet(here):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as gone:
        child = subprocess.run([*command.COMMAND, "list"], cwd=here, stdout=gone, stderr=subprocess.PIPE, text=True)
    assert child.stderr == ""


def test_a_terminal_that_is_not_utf8_gets_substitutes(here):
    wrong = (
        "train",
        "plus_last_even",
        "--set",
        "architecture.head_width=3",
        "--set",
        "architecture.output_projection=false",
    )
    child = command.start(*wrong, folder=here, PYTHONIOENCODING="ascii")
    _, err = child.communicate()
    assert child.returncode == 2
    assert "heads ? head_width" in err


def test_every_command_has_help():
    commands = [word for word in call("--help").out.split("Commands:")[1].split() if word in HELP]
    assert commands == HELP
    for name in HELP:
        answer = call(name, "--help")
        assert answer.code == 0
        assert answer.out.startswith("Usage:")
    assert all(a != b for a, b in itertools.pairwise(commands))


HELP = ["list", "show", "train", "ask", "generate", "check"]
