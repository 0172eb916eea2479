"""Questions of one's own: parts share nothing, prices are exact, and what is wrong with a table is one sentence."""

import shutil

import numpy as np
import pytest

import glassformer as gf
from command import call
from glassformer import experiment, sizing
from glassformer.errors import CallError, LimitError
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
    seen = gf.analyses.every_question(run)
    asked = [run.ask(question)[0][0] == answer for question, answer, _ in rows]
    assert (seen.asked, seen.share) == (100, np.mean(asked))
    assert seen.right.axes["token"].labels == tuple("abcdefghij")
    assert "of 100 questions are right" in seen.title
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


QUESTIONS = [(f"{a} and {b}", str(a + b)) for a in range(6) for b in range(6)]


def written(lines, sign=",", header=None, end="\n"):
    return end.join([*([header] if header else []), *(sign.join(line) for line in lines)])


SENSIBLE = {
    "no names": written(QUESTIONS),
    "names": written(QUESTIONS, header="question,answer"),
    "case and spaces": written(QUESTIONS, header=" Question , ANSWER "),
    "another order": written([(a, q) for q, a in QUESTIONS], header="answer,question"),
    "more columns": written([("7", q, "x", a) for q, a in QUESTIONS], header="id,question,note,answer"),
    "semicolons": written(QUESTIONS, ";", "question;answer"),
    "words of one's own": written([(a, q) for q, a in QUESTIONS], ";", "Antwort;Frage"),
    "one of them": written([("7", q, a) for q, a in QUESTIONS], header="Nr,Question,Ergebnis"),
    "words nobody knows": written(QUESTIONS, ";", "Term;Wert"),  # told by the numbers below them
    "tabs, no names": written(QUESTIONS, "\t"),
    "bars": written(QUESTIONS, " | ", "Question | Answer"),
    "byte order mark and CRLF": "\ufeff" + written(QUESTIONS, ";", "question;answer", "\r\n") + "\r\n",
    "quotes": written([(f'"{q}"', f'"{a}"') for q, a in QUESTIONS], header='"question","answer"'),
    "blank lines": "\n\n" + written(QUESTIONS, header="question,answer", end="\n\n  \n") + "\n\n",
}


@pytest.mark.parametrize("how", SENSIBLE)
def test_any_sensible_table_is_the_same_table(how, tmp_path):
    (tmp_path / "t.csv").write_bytes(SENSIBLE[how].encode())
    task = OwnTable(file=str(tmp_path / "t.csv"))
    assert [(row.question, row.answer) for row in task.rows] == QUESTIONS
    assert len(task.every.questions) == 36


def test_a_first_line_that_might_be_data_is_data(tmp_path):
    """A word for a column may be a question; only both words, or numbers below a word, tell that they are names."""
    for first in ("frage,wort", "land,stadt"):
        (tmp_path / "t.csv").write_text(f"{first}\n" + "".join(f"q{k},a{k}\n" for k in range(12)))
        rows = OwnTable(file=str(tmp_path / "t.csv")).rows
        assert (len(rows), rows[0].question) == (13, first.split(",")[0])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("question,answer\n\n\n" + "a,1\n\nb,\n", "t.csv, line 6: a question and an answer are needed"),
        ("question,answer\n\n" + 'a,1\n\n\n"b"x,2\n', "t.csv, line 6: ',' expected after"),
        ("question,answer\n\n" + 'a,1\n\n"b\nc,2\n', "t.csv, line 5: a quotation mark is opened and never closed"),
        ("question,answer\na,1\nb,c,2\n", "t.csv, line 3: 3 cells, where the first line has 2 .apart by commas."),
        ("question,reply\na,1\n", "no column 'answer'; its first line is 'question', 'reply'"),
        ("id,q,a,x\n1,2,3,4\n", "no column 'question'; its first line is 'id', 'q', 'a', 'x'"),
        ("question,question,answer\na,b,1\n", "more than one column 'question'"),
        ("just a line\nand another\n", "no column 'question'; its first line is 'just a line'"),
        ("\n \n", "is empty; it needs a question and an answer on each line"),
    ],
)
def test_what_is_wrong_names_what_was_found(text, sentence, tmp_path):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(CallError, match=sentence):
        _ = OwnTable(file=str(tmp_path / "t.csv")).rows


@pytest.mark.parametrize(
    ("lines", "given", "sentence"),
    [
        (
            [(f"q{k}", f"a{k}") for k in range(70_000)],
            {},
            "70,000 different answers and 11 tokens .*; the most is 65,536",
        ),
        (
            [(f"q{k}", f"a{k}") for k in range(4_000)],
            {},
            "4,000 questions × 4,011 answers and tokens; the most is 10,000",
        ),
        ([*QUESTIONS, ("x" * 5_000, "1")], {}, "a question of 5,000 tokens; the most is 4,096"),
        ([*QUESTIONS, ("<PAD> a", "1")], {"tokens": "words"}, "has the word <PAD>"),
        (QUESTIONS, {"validation": 0.6, "test": 0.5}, "leave nothing to train on"),
    ],
)
def test_limits_come_before_memory(lines, given, sentence, tmp_path, monkeypatch):
    """Nothing of the size of the table is made: the functions that would make it are not there."""
    (tmp_path / "t.csv").write_text(written(lines), encoding="utf-8")
    for name in ("zeros", "full"):
        monkeypatch.delattr(np, name)
    with pytest.raises((CallError, LimitError), match=sentence):
        _ = OwnTable(file=str(tmp_path / "t.csv"), **given).every


def test_a_small_table_gets_a_small_model_and_is_told_so(tmp_path):
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text(written(QUESTIONS))
    large.write_text(written([(str(k), str(k % 7)) for k in range(900)]))
    models = [experiment.load("own_table", [f"data.file={path}"]) for path in (small, large)]
    assert [(each.architecture.width, each.train.steps) for each in models] == [(32, 1000), (64, 3000)]
    assert [each.changed for each in models] == [("data.file",)] * 2
    chosen = experiment.load("own_table", [f"data.file={small}", "architecture.width=64"], steps=9)
    assert (chosen.architecture.width, chosen.architecture.blocks, chosen.train.steps) == (64, 1, 9)
    assert "sized to the table: 1 block of width 32" in sizing.told_of_table(models[0])


def test_what_stands_out_in_a_table_is_said(tmp_path):
    (tmp_path / "t.csv").write_text(written([*((q, "yes") for q, _ in QUESTIONS), ("x" * 90, "yes")]))
    made = experiment.load("own_table", [f"data.file={tmp_path / 't.csv'}"])
    said = made.task.expectations(made.architecture, made.train)
    assert "without names (the first question is '0 and 0'): question is column 1, answer is column 2" in said[0]
    assert any("half of the questions have up to 7 tokens, and the longest 90" in each for each in said)
    assert said[-1] == "every answer is 'yes', so there is nothing to tell apart"
