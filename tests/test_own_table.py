"""Questions of one's own: parts share nothing, prices are exact, and what is wrong with a table is one sentence."""

import shutil

import numpy as np
import pytest

import glassformer as gf
from command import call
from glassformer.errors import CallError
from glassformer.tasks.own_table import OwnTable

SUMS = [(f"{a}+{b}", str((a + b) % 10), f"{min(a, b)}") for a in range(10) for b in range(10)]


def table(path, rows, header="question,answer,group"):
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]), encoding="utf-8")
    return str(path)


def test_prices_by_hand(tmp_path):
    """Three questions in ten have two answers; the rest one."""
    rows = [(f"q{k}", "yes" if k % 2 else "no", "g") for k in range(7)]
    rows += [(f"r{k}", answer, "g") for k in range(3) for answer in ("yes", "no")]
    task = OwnTable(file=table(tmp_path / "t.csv", rows))
    prices = {rung.name: rung.nats for rung in task.ladder(2)}
    yes = 3 + 1.5
    shares = np.array([yes, 10 - yes]) / 10
    assert prices["answer frequencies"] == pytest.approx(-(shares * np.log(shares)).sum())
    q = np.array([3, 4]) / 7
    assert prices["first token"] == pytest.approx(0.7 * -(q * np.log(q)).sum() + 0.3 * np.log(2))
    assert prices["the whole question"] == pytest.approx(0.3 * np.log(2))
    assert task.floor(2) == prices["the whole question"]
    chances = task.true_distribution(task.encode("r1"), 2)[-1]
    assert chances[task.vocabulary.index("yes")] == chances[task.vocabulary.index("no")] == 0.5


@pytest.mark.parametrize("split", ["question", "group"])
def test_parts_share_nothing(split, tmp_path):
    task = OwnTable(file=table(tmp_path / "t.csv", SUMS * 2), split=split, validation=0.2, test=0.2)
    parts = {part: {task.decode(task.every.questions[k]) for k in which} for part, which in task.every.parts.items()}
    assert sum(map(len, parts.values())) == 100
    assert len(set.union(*parts.values())) == 100
    if split == "group":
        of = {question: group for question, _, group in SUMS}
        groups = [{of[question] for question in some} for some in parts.values()]
        assert not groups[0] & groups[1]
        assert not groups[0] & groups[2]


def test_the_leak_meter_counts(tmp_path):
    """2+3 and 3+2 are the same tokens in another order."""
    task = OwnTable(file=table(tmp_path / "t.csv", SUMS))
    train = [task.decode(task.every.questions[k]) for k in task.every.parts["train"]]
    test = [task.decode(task.every.questions[k]) for k in task.every.parts["test"]]
    assert task.leaks()["question"] == 0
    assert task.leaks()["tokens"] == pytest.approx(np.mean([question[::-1] in train for question in test]))


def test_questions_of_different_length_are_filled_up(tmp_path):
    rows = [(str(k), "odd" if k % 2 else "even", "") for k in range(200)]
    task = OwnTable(file=table(tmp_path / "t.csv", rows))
    assert task.encode("7").tolist()[:2] == [task.vocabulary.index("<PAD>")] * 2
    assert task.decode(task.encode("7")) == "7"
    assert len(task.vocabulary) == 10 + 2 + 1


def test_a_table_is_learnt_kept_and_moved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"{a} {b}", a, "") for a in "abcdefghij" for b in "klmnopqrst"]
    path = table(tmp_path / "t.csv", rows)
    settings = ("data.tokens=words", "architecture.width=16", "architecture.feed_forward=32", "train.rate=5e-3")
    answer = call("train", "own_table", "--set", f"data.file={path}", *[w for s in settings for w in ("--set", s)],
                  "--steps", 300, "--json")  # fmt: skip
    assert answer.code == 0, answer.err
    run = gf.open(answer.json["run"])
    assert run.metrics["accuracy"][-1] == 1.0
    (tmp_path / "t.csv").unlink()
    shutil.move(run.path, tmp_path / "moved")
    assert gf.open(tmp_path / "moved").ask("d r")[0][0] == "d"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("question\n" + "a\n" * 20, "no column 'answer'"),
        ("question,answer\n" + "a,1\n" * 20, "fewer than 10 different questions .1.; bring more"),
        ("question,answer\n" + "".join(f"{k},\n" for k in range(20)), "line 2: a question and an answer are needed"),
        ('question,answer\n"a,1\n', "line 2: a quotation mark is opened and never closed"),
        ("", "is empty; it needs a question"),
    ],
)
def test_a_bad_table_is_one_sentence(text, sentence, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(CallError, match=sentence):
        _ = OwnTable(file=str(tmp_path / "t.csv")).vocabulary
    answer = call("train", "own_table", "--set", f"data.file={tmp_path / 't.csv'}")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
