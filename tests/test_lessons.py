"""Every lesson runs from start to end, says nothing that was not computed, and holds what it promises."""

import ast
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from browsing import Watched, browsing, found_by_axe
from command import TRAINS_LONG, call
from glassformer import session, tensors
from glassformer.report.events import events
from glassformer.storage import Folder
from glassformer.teaching import arithmetic, as_notebook, page, running, telling, worksheet
from glassformer.teaching import script as scripts
from glassformer.teaching.items import Beat, Choice, Discuss, Look, Number, Picture, Point, Said, plain
from glassformer.teaching.tellers import EndedError, Paced, Record, answer, question
from hostile import with_digests

ROOT = Path(__file__).parents[1]
NAMES = scripts.names()
FEWEST = {"look": 3, "question": 3, "expect": 2}


@pytest.fixture(scope="session")
def classroom(tmp_path_factory):
    """A folder in which the whole course is taken, by all processes of the tests together: each run is trained once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "classroom"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(name="there")
def in_the_classroom(classroom, monkeypatch):
    """In the classroom; of each experiment only one process at a time trains a run."""
    monkeypatch.chdir(classroom)
    train = session.train

    def alone(experiment, **options):
        with open(classroom / f"{getattr(experiment, 'name', experiment)}.lock", "w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            if experiment in (
                "shakespeare_two_cores",
                "five_operations",
            ):  # large: optimised code pays, and is a child's
                given = {**options, "progress": False}
                code = f"import glassformer as gf; gf.train({experiment!r}, **{given!r})"
                subprocess.run([sys.executable, "-c", code], env={**os.environ, **TRAINS_LONG}, check=False)
            return train(experiment, **options)

    monkeypatch.setattr(session, "train", alone)
    return classroom


def taken(name, seed=telling.SEED):
    """A lesson from start to end."""
    stage = Record(seed)
    try:
        running.run(name if isinstance(name, scripts.Script) else scripts.script(name), stage)
    except Exception as problem:
        if "tinyshakespeare" in str(problem):
            pytest.skip("needs tinyshakespeare.txt: let GLASSFORMER_DATA name its folder")
        raise
    return stage


# ---- what is written ---------------------------------------------------------------------------------------------


def test_the_course_is_one_way_through():
    assert len(NAMES) >= 24
    orders = [scripts.script(name).order for name in NAMES]
    assert orders == sorted(set(orders))


def heading_faults(lesson, earlier):
    """What is missing or wrong in what a lesson says about itself; `earlier` are the lessons before it."""
    if not re.fullmatch(r"[A-Z].{10,90}[.?]", lesson.title):
        yield f"the title is not a sentence of 12 to 92 characters: {lesson.title}"
    if not 10 <= lesson.minutes <= 30:
        yield f"{lesson.minutes} minutes are not between 10 and 30"
    if len(lesson.aims) < 2:
        yield "it has fewer than two aims"
    if len(lesson.misconceptions) < 2:
        yield "it has fewer than two misconceptions"
    if not all(len(pair) == 2 and all(pair) for pair in lesson.misconceptions):
        yield "a misconception lacks its belief or its answer"
    if sum(minutes for minutes, _ in lesson.plan) != 45:
        yield "the plan does not take 45 minutes"
    if late := set(lesson.before) - set(earlier):
        yield f"it builds on lessons that do not come before it: {', '.join(sorted(late))}"
    docstring = ast.get_docstring(ast.parse(lesson.path.read_text("utf-8"))) or "\n"
    if len(docstring.splitlines()[0]) != len(lesson.title):
        yield "the title is not the first line of the docstring"


def test_lessons_have_a_title_aims_misconceptions_a_plan_and_an_order():
    faults = [
        f"{name}: {fault}"
        for place, name in enumerate(NAMES)
        for fault in heading_faults(scripts.script(name), NAMES[:place])
    ]
    assert not faults, "\n".join(faults)


CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
NAMED = re.compile(r"\b(GPT-\d(\.\d)?|S[0-4]|H200)\b")


def typed_numbers(text: str) -> list[str]:
    """Digits in a prose, but for those inside code and names."""
    return re.findall(r"\S*\d\S*", NAMED.sub("", CODE.sub("", text)))


def literals(node: ast.AST) -> str:
    """The parts of a text that somebody typed; what is computed is left out."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join("{}" if isinstance(part, ast.FormattedValue) else literals(part) for part in node.values)
    return " ".join(
        literals(child) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.FormattedValue)
    )


PROSE = ("say", "number", "choice", "point", "discuss", "lab", "expect", "show", "table")


def test_no_number_is_typed():
    faults = [f"{name}, line {line}: {number}" for name in NAMES for line, number in typed_in(scripts.script(name))]
    assert not faults, "\n".join(faults)


def typed_in(lesson):
    """(line, number) for every number that stands in a lesson's prose and was not computed."""
    found = []
    for cell in lesson.cells:
        if cell.kind == "text":
            found += [(cell.line, number) for number in typed_numbers(cell.source)]
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PROSE:
                words = [*node.args, *(each.value for each in node.keywords if each.arg not in ("input", "edits"))]
                text = " ".join(literals(each) for each in words if not _is_option(each))
                found += [(cell.line + node.lineno - 1, number) for number in typed_numbers(text)]
    return found


def _is_option(node):
    return isinstance(node, ast.Constant) and not isinstance(node.value, str)


def test_a_typed_number_would_be_seen():
    assert typed_numbers("it has 27 words") == ["27"]
    assert typed_numbers("`10 + 10` as GPT-2 says") == []
    assert typed_numbers(literals(ast.parse("say(f'{n} of 12')"))) == ["12"]


# ---- what is told ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("there")
def test_a_lesson_runs_from_start_to_end_and_is_right(name):
    right(scripts.script(name), taken(name))


@pytest.mark.usefixtures("there")
def test_the_lesson_of_the_guide_keeps_the_contract(tmp_path):
    text = (ROOT / "docs/add-a-lesson.md").read_text("utf-8")
    ((name, code),) = re.findall(r"^`src/glassformer/lessons/(\w+\.py)`\n\n```python\n(.*?)```", text, re.S | re.M)
    (tmp_path / name).write_text(code, encoding="utf-8")
    lesson = scripts.read(tmp_path / name)
    assert typed_in(lesson) == []
    assert sum(minutes for minutes, _ in lesson.plan) == 45
    right(lesson, taken(lesson))


def right(lesson, stage):
    """A lesson that was told holds what all of them promise."""
    held = sum(cell.source.count("expect(") for cell in lesson.cells if cell.kind == "code")
    looks = [item for item in stage.items if isinstance(item, Look)]
    assert held >= FEWEST["expect"]
    assert len(looks) >= FEWEST["look"]
    assert len(stage.questions) >= FEWEST["question"]
    assert len({beat.title for beat in stage.beats}) == len(stage.beats) >= 3
    pictures = [item.name for item in stage.items if isinstance(item, Picture)]
    assert len(set(pictures)) == len(pictures)
    for item in stage.items:
        for text in texts(item):
            assert text.strip(), f"an empty text in {lesson.name}"
            assert not re.search(r"\bnan\b|\binf\b|<[a-z_]+\.[A-Za-z_]+ object", text), text
    equations = [found for item in stage.items if isinstance(item, Said) for found in printed(item.text)]
    for left, sign, right in equations:
        true_to_the_last_digit(left, sign, right)
    for item in stage.questions:
        fair(item)


def texts(item):
    """Every text of an item."""
    if isinstance(item, Said):
        return [item.text]
    if isinstance(item, Look):
        return [item.text]
    if isinstance(item, Picture):
        return [item.alt]
    if isinstance(item, Discuss):
        return [item.text, item.look_for, item.experiment]
    more = [reason for _, reason in item.mistakes] if isinstance(item, Number) else []
    more += list(item.reasons) if isinstance(item, Choice) else []
    return [item.text, item.because, *more]


EQUATION = re.compile(r"`(?:[^`=≈]*\s=\s)?([^`=≈]*?\d[^`=≈]*?) ([=≈]) (−?[\d,]+(?:\.\d+)?)`")


def printed(text):
    """The equations in a text: what stands left of the sign, the sign, and the number right of it."""
    return [found.groups() for found in EQUATION.finditer(text) if re.search(r"[-+−×·/^²(√]", found[1])]


def true_to_the_last_digit(left, sign, right):
    """By other means than the lesson's: Python's own reader of expressions, with exact fractions."""
    value = exact(left)
    said = Decimal(right.replace("−", "-").replace(",", ""))
    behind = max(0, -said.as_tuple().exponent)
    if sign == "=" and isinstance(value, Fraction):
        assert value == Fraction(said), f"{left} = {right}"
    assert abs(value - Fraction(said)) <= Fraction(1, 2 * 10**behind) * (1 + Fraction(1, 10**6)), (
        f"{left} {sign} {right}"
    )


def exact(expression):
    """The value of a printed expression, as a fraction."""
    text = expression.replace("−", "-").replace("×", "*").replace("·", "*").replace("÷", "/").replace("²", "**2")
    text = re.sub(r"√\s*(\d[\d.,]*)", r"sqrt(\1)", text).replace("√", "sqrt").replace("^", "**")
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)

    def of(node):
        if isinstance(node, ast.Constant):
            return Fraction(Decimal(ast.get_source_segment(text, node)))
        if isinstance(node, ast.UnaryOp):
            return -of(node.operand)
        if isinstance(node, ast.Call):
            return function(node.func.id, [of(each) for each in node.args])
        a, b = of(node.left), of(node.right)
        if isinstance(node.op, ast.Pow):
            return a**b if b.denominator == 1 else Fraction(float(a) ** float(b))
        return {ast.Add: a.__add__, ast.Sub: a.__sub__, ast.Mult: a.__mul__, ast.Div: a.__truediv__}[type(node.op)](b)

    return of(ast.parse(text.strip(), mode="eval").body)


def function(name, given):
    """With fifty digits, which no rounding of the lesson's can hide in."""
    if name == "max":
        return max(given)
    with localcontext() as here:
        here.prec = 50
        x = Decimal(given[0].numerator) / Decimal(given[0].denominator)
        if name == "tanh":
            up, down = x.exp(), (-x).exp()
            return Fraction((up - down) / (up + down))
        return Fraction({"exp": x.exp, "ln": x.ln, "sqrt": x.sqrt}[name]())


def fair(item):
    """The right answer is called right, every other is not, and each has something said to it."""
    if isinstance(item, Discuss):
        return
    if isinstance(item, Number):
        assert item.reply(item.answer) == (True, item.because)
        shown = float(re.match(r"−?-?[\d,.]+", item.shown)[0].replace(",", "").replace("−", "-"))
        assert item.reply(shown)[0], f"{item.text}: the answer as printed, {item.shown}, would be called wrong"
        for value, reason in item.mistakes:
            assert item.reply(value) == (False, reason)
    if isinstance(item, Choice):
        assert len(set(item.options)) == len(item.options) >= 2
        assert [item.reply(k)[0] for k in range(len(item.options))].count(True) == 1
        assert all(item.reasons)
    if isinstance(item, Point):
        rights = [item.reply((r, c))[0] for r in range(len(item.rows)) for c in range(len(item.columns))]
        assert rights.count(True) == 1
        assert all(all(row) for row in item.reasons)
    json.dumps(plain(item))


@pytest.mark.usefixtures("there")
def test_all_three_kinds_are_asked():
    asked = {type(item) for name in ("query_key_value", "causal_mask", "loss") for item in taken(name).questions}
    assert {Number, Choice, Point} <= asked


@pytest.mark.usefixtures("there")
def test_another_seed_gives_other_numbers_and_other_questions():
    """What is drawn or trained differs; the lesson still holds what it says."""
    for name in ("one_neuron", "softmax"):
        one, other = taken(name), taken(name, seed=3)
        assert [beat.title for beat in one.beats] == [beat.title for beat in other.beats]
        assert [texts(item) for item in one.items] != [texts(item) for item in other.items]


def beats(name, *titles):
    """A lesson cut down to its head and the beats with these titles."""
    lesson, kept, inside = scripts.script(name), [], True
    for cell in lesson.cells:
        inside = cell.title in titles if cell.title else inside
        kept += [cell] if inside else []
    return replace(lesson, cells=tuple(kept))


@pytest.fixture(name="of_questions")
def run_of_questions(tmp_path, monkeypatch):
    """A copy of the small run of questions that every lesson is given in place of the one it trains."""
    folder = tmp_path / "of_questions"
    shutil.copytree(ROOT / "tests/fixtures/v0.2.0/runs/questions", folder)
    monkeypatch.setattr(session, "train", lambda *_, **__: gf.open(folder))
    return folder


def cells(stage, head):
    """The rows of the table with this first column."""
    (found,) = [item.text for item in stage.items if isinstance(item, Said) and item.text.startswith(f"| {head} |")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in found.splitlines()[2:]]


OPENING = ("A model, and many small changes", "Before the first step", "Down the ladder")


def test_two_lessons_give_one_step_for_half_right(of_questions):
    """The lessons on dynamics read one log, in which kinds have exactly half right, and exactly 95 %, at some lines."""
    shares = {"First": [0, 0.3, 0.4, 0.49, 0.5, 0.5], "Second": [0, 0.5, 0.4, 0.4, 0.49, 0.5],
              "Last": [0, 0.1, 0.2, 0.3, 0.48, 0.6], "Max": [0, 0.49, 0.5, 0.5, 0.6, 0.6],
              "Min": [0, 0.5, 0.49, 0.5, 0.6, 0.6]}  # fmt: skip
    ends = {"First": 0.95, "Second": 0.94, "Last": 0.96, "Max": 0.95, "Min": 1.0}
    lines = [json.loads(line) for line in (of_questions / "metrics.jsonl").read_text("utf-8").splitlines()]
    for k, line in enumerate(lines[:-1]):
        line["accuracy_by_kind"] = {kind: ([*shares[kind], 0.6, 0.6, 0.6] + [ends[kind]] * 9)[k] for kind in shares}
    lines[-1]["accuracy_by_kind"] = dict.fromkeys(shares, 1.0)
    (of_questions / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    with_digests(of_questions)
    steps = [line["step"] for line in lines]
    half = {"First": steps[4], "Second": steps[5], "Last": steps[5], "Max": steps[2], "Min": steps[3]}
    most = {kind: steps[9] if share >= 0.95 else steps[-1] for kind, share in ends.items()}
    for lesson in (
        beats("training_dynamics", *OPENING, "Five operations, five speeds"),
        beats("questions_dynamics", "Why look at the way, not only at the end"),
    ):
        rows = [row[:3] for row in cells(taken(lesson), "operation")]
        assert rows == [[kind, str(half[kind]), str(most[kind])] for kind in shares], lesson.name
    seen = gf.analyses.by_kind(gf.open(of_questions))
    assert seen.lasting.values.tolist() == list(most.values()), "the picture beside the tables tells the same steps"


def test_a_rung_is_reached_at_the_step_that_the_page_marks(of_questions):
    told = cells(taken(beats("training_dynamics", *OPENING)), "what a model at this rung knows")
    marked = {each.text: each.step for each in events(gf.open(of_questions)) if each.kind == "rung"}
    assert len(marked) > 4
    assert {f"reaches: {row[0]}": row[2] for row in told} == {text: str(step) for text, step in marked.items()}


def test_two_lessons_give_one_answer_to_one_question():
    """Whether 95 % right of 2,000 are better than 94 %: from a gap that chance can make follows neither yes nor no."""
    rights = [
        ast.literal_eval(node.args[1])
        for name in ("one_seed_proves_nothing", "questions_by_hand")
        for cell in scripts.script(name).cells
        if cell.kind == "code" and "0.95, 0.94" in cell.source
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "choice"
    ]
    assert len(rights) == 2
    assert all(right.lower().startswith("nobody can say") for right in rights), rights


@pytest.mark.parametrize(("blind", "says"), [(False, "So it can"), (True, "That is not most of them")])
def test_what_is_said_of_the_first_block_follows_from_the_run(of_questions, blind, says):
    """Its heads find the largest digit in this run; without queries, they look everywhere alike."""
    if blind:
        (file,), index = (of_questions / "weights").iterdir(), of_questions / "index.jsonl"
        arrays, about = tensors.read(Folder(file.parent), file.name, 10**9)
        names = gf.open(of_questions).architecture.shapes()
        arrays["blocks.0.query"] = 0 * arrays["blocks.0.query"]
        file.write_bytes(tensors.pack(arrays, about))
        kept = [json.loads(line) for line in index.read_text("utf-8").splitlines()]
        for each in kept:
            each["sha256"] = tensors.digest({name: arrays[name][each["row"]] for name in names})
        index.write_text("".join(f"{json.dumps(each)}\n" for each in kept), "utf-8")
        with_digests(of_questions)
    stage = taken(beats("training_dynamics", *OPENING, "Five operations, five speeds", "Where it looks"))
    (told,) = [item.text for item in stage.items if isinstance(item, Said) and item.text.startswith("Can a head look")]
    run = gf.open(of_questions)
    weights, places, size = run.weights(), run.trace("Max(1,2,3)")["position_embedding"], run.architecture.per_head
    new = {tuple(window[:-1]) for window in run.task.examples(8, "validation", 9999).windows.tolist()}
    looks = []  # (question, head, [whether the largest digit gets most, its share])
    for digits in permutations(range(10), 3):
        window = run.tokens(f"Max({','.join(map(str, digits))})")
        if tuple(window.tolist()) not in new:
            continue
        embedded, place = weights["token"][window] + places, 2 + 2 * digits.index(max(digits))
        query, key = (np.reshape(embedded @ weights[f"blocks.0.{name}"], (8, -1, size)) for name in ("query", "key"))
        scores = np.einsum("hf,khf->hk", query[0], key) / np.sqrt(size)
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        looks.append(np.stack([shares.argmax(axis=1) == place, shares[:, place]], axis=1))
    by_head = np.mean(looks, axis=0)
    most, share = by_head[by_head[:, 0].argmax()]
    assert f"In {most:.0%} of the {len(looks)} `Max` questions with three different digits" in told
    assert f"head {by_head[:, 0].argmax()} of the first block looks at the largest digit more than" in told
    assert f"gives it {share:.0%} of its attention, where looking everywhere alike would give 12%" in told
    assert says in told


SHEEP = "baa baa black sheep\nhave you any wool\nyes sir yes sir\nthree bags full\none for the master\none for the dame"


@pytest.mark.usefixtures("there")
def test_another_rhyme_gives_other_numbers(tmp_path, monkeypatch):
    """The first lessons on a rhyme of our own, put in the place of Mary's."""
    first = {name: taken(name) for name in ("numbers_for_words", "batches_and_windows")}
    from glassformer.tasks import mary

    monkeypatch.chdir(tmp_path)
    lines = SHEEP.splitlines() * 3
    text = [word for line in lines for word in (*line.split(), mary.END)]
    words = tuple(dict.fromkeys(text))
    for name, value in {
        "LINES": lines, "TEXT": text, "WORDS": words,
        "TOKENS": mary.np.array([words.index(word) for word in text], dtype=mary.np.int32),
    }.items():  # fmt: skip
        monkeypatch.setattr(mary, name, value)
    monkeypatch.setattr(mary.Mary, "vocabulary", words)
    monkeypatch.setattr(mary.Mary, "showcase", ("baa baa black sheep <END> have", "yes sir yes sir <END> three"))
    monkeypatch.setattr(mary.Mary, "starts", ("baa", "one"))
    mary._following.cache_clear(), mary._beginnings.cache_clear()
    try:
        for name, before in first.items():
            after = taken(name)
            said = " ".join(text for item in after.items for text in texts(item))
            assert len(words) != 35
            assert str(len(words)) in said or name != "numbers_for_words"
            assert said != " ".join(text for item in before.items for text in texts(item))
    finally:
        mary._following.cache_clear(), mary._beginnings.cache_clear()


# ---- arithmetic --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.8 × 0.6 + 0.2 × 0.4 + 0.1", 0.66), ("(1 − 0.442)²", 0.311364), ("−2 × (1 − 0.4420)", -1.116),
        ("exp(2) / (exp(2) + exp(1))", 0.7310585786300049), ("−ln(0.25)", 1.3862943611198906),
        ("√(2² + 1)", 2.23606797749979),
        ("max(0, −0.3)", 0.0), ("2^3 − 1,000 / 8", -117.0), ("√16", 4.0), ("max(1, 2)", 2.0),
    ],
)  # fmt: skip
def test_expressions_are_computed_as_python_does(expression, value):
    assert arithmetic.computed(expression) == pytest.approx(value, abs=1e-12)
    assert float(exact(expression)) == pytest.approx(value, abs=1e-12)


def test_an_equation_says_no_more_than_its_operands_give():
    assert arithmetic.equation("0.8 × 0.6 + 0.1", 0.58) == "0.8 × 0.6 + 0.1 = 0.58"
    assert arithmetic.equation("0.333 × 3", 0.99951) == "0.333 × 3 ≈ 1.00"
    assert arithmetic.equation("1 / 3", 1 / 3) == "1 / 3 ≈ 0.3333"
    assert arithmetic.equation("1,000 × 2", 2000.0) == "1,000 × 2 = 2,000"
    with pytest.raises(ValueError, match=r"comes to 0\.5, not to 0\.7"):
        arithmetic.equation("0.25 × 2", 0.7)
    for wrong in ("2 +", "(1", "two", "1 2", "exp 1"):
        with pytest.raises(ValueError, match=r"\w"):
            arithmetic.computed(wrong)


# ---- the three ways ----------------------------------------------------------------------------------------------


def scripted(*answers):
    left = list(answers)

    def read(prompt):
        assert prompt
        if not left:
            raise EOFError
        return left.pop(0)

    return read


def test_a_paced_terminal_asks_and_answers(capsys, tmp_path):
    stage = Paced(18, tmp_path, read=scripted("x", "0.5", "0.6600", ""), progress=False)
    stage.tell(Number("How much?", 0.66, 0.005, "because", ((0.5, "the bias is missing"),)))
    out = capsys.readouterr().out
    assert out.index("not a number") < out.index("the bias is missing") < out.index("Right")
    stage = Paced(18, tmp_path, read=scripted("7", "1", ""), progress=False)
    stage.tell(Choice("Which?", ("a", "b"), 1, "so it is", ("not a", "so it is")))
    out = capsys.readouterr().out
    assert "1 to 2" in out
    assert out.index("not a") < out.index("Answer: b")
    stage = Paced(18, tmp_path, read=scripted("9 9", "1, 2"), progress=False)
    grid = Point("Where?", ("r",), ("c", "d"), (("0", "1"),), (0, 1), "there", (("no", "there"),))
    stage.tell(grid)
    out = capsys.readouterr().out
    assert "such as 2 3" in out
    assert "Right. there" in out
    stage.beat("one")
    with pytest.raises(EndedError):
        stage.beat("two")


@pytest.mark.usefixtures("there")
def test_the_command_tells_a_lesson_saves_its_pictures_and_names_the_next():
    ended = call("lesson", "one_neuron")
    assert ended.code == 0, ended.err
    assert "0.8 × 0.6 + 0.2 × 0.4 + 0.1 = 0.66" in ended.out
    pictures = re.findall(r"^Picture: (\S+)$", ended.out, re.MULTILINE)
    assert pictures
    assert all(Path(path).read_bytes().startswith(b"\x89PNG") for path in pictures)
    assert f"glassformer lesson {NAMES[NAMES.index('one_neuron') + 1]}" in ended.out
    assert ended.out.index("Question") < ended.out.index("Answer")


def test_the_course_is_listed():
    ended = call("lesson")
    lines = [line for line in ended.out.splitlines() if re.match(r" +\d+  ", line)]
    assert [line.split()[1] for line in lines] == NAMES
    assert [each["name"] for each in call("lesson", "--json").json["lessons"]] == NAMES


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("one_nevron",), "did you mean one_neuron"),
        (("999",), "the course has 1 to"),
        (("--html",), "--html needs a lesson"),
        (("one_neuron", "--html", "--notebook"), "one at a time"),
        (("one_neuron", "--out", "x.html"), "--out is for"),
        (("one_neuron", "--notebook", "--out", "x.txt"), ".ipynb"),
        (("one_neuron", "--worksheet", "--out", "x.txt"), ".html"),
        (("--pack", "x.tar"), ".zip"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_a_wrong_call_is_one_sentence_and_writes_nothing(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = call("lesson", *words)
    assert ended.code == 2
    assert said in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["one_neuron", "loss", "heads"])
def test_the_notebook_has_the_cells_that_jupytext_finds(name):
    jupytext = pytest.importorskip("jupytext")
    import nbformat

    lesson = scripts.script(name)
    made = as_notebook.notebook(lesson)
    nbformat.validate(nbformat.from_dict(made))
    theirs = jupytext.read(lesson.path).cells
    begin = next(k for k, cell in enumerate(theirs) if cell.cell_type == "markdown")
    ours = [(cell["cell_type"], "".join(cell["source"]).strip()) for cell in made["cells"][2:]]
    assert ours == [(cell.cell_type, cell.source.strip()) for cell in theirs[begin:]]


@pytest.mark.usefixtures("there")
def test_the_notebook_s_code_runs_by_itself(capsys):
    made = as_notebook.notebook(scripts.script("one_neuron"), seed=18)
    code = "\n".join("".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code")
    exec(compile(code, "one_neuron.ipynb", "exec"), {})  # noqa: S102
    assert "0.8 × 0.6 + 0.2 × 0.4 + 0.1 = 0.66" in capsys.readouterr().out


class Reader(HTMLParser):
    """What a page consists of: tags that close, texts, and addresses."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.targets = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.targets += [value for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "br", "hr", "img", "input", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(re.sub(r"\s+", " ", data))


@pytest.mark.usefixtures("there")
def test_a_worksheet_asks_and_only_the_key_answers(tmp_path):
    path = worksheet.write(scripts.script("causal_mask"), 18, tmp_path / "sheet.html")
    key = tmp_path / "sheet-key.html"
    stage = taken("causal_mask")
    asked, answered = ("".join(Reader(each.read_text("utf-8")).words) for each in (path, key))
    for item in stage.questions:
        bare = re.sub(r"[`*_]", "", item.text)[:30]
        assert bare in asked, bare
        assert bare in answered
    reasons = [re.sub(r"[`*_]", "", item.because)[:40] for item in stage.questions if not isinstance(item, Discuss)]
    assert reasons
    assert not [reason for reason in reasons if reason in asked]
    assert [reason for reason in reasons if reason in answered] == reasons


def test_hostile_words_in_a_question_are_shown_as_text():
    evil = "<script>alert(1)</script> [x](javascript:alert(1)) ![y](http://example.org/z.png)"
    lesson = scripts.script("one_neuron")
    asked = [Number(evil, 1, 0, evil, ((2.0, evil),)), Choice(evil, (evil, "b"), 0, evil, (evil, "no")),
             Point(evil, (evil,), (evil,), ((evil,),), (0, 0), evil, ((evil,),)),
             Discuss(evil, evil, evil)]  # fmt: skip
    for made in (worksheet.worksheet(lesson, asked, 1), worksheet.key(lesson, asked, 1)):
        assert "<script" not in made.replace("&lt;script", "")
        assert Reader(made).targets == []


def test_the_lines_of_the_page_about_lessons_run_and_the_pack_opens_without_a_network(there, tmp_path):
    """Each line as it stands, what it writes beside the others."""
    text = (ROOT / "docs/lessons.md").read_text("utf-8")
    lines = [line for block in re.findall(r"^```\n(.*?)^```", text, re.S | re.M) for line in block.splitlines()]
    assert len(lines) >= 5
    for line in lines:
        command, *words = line.split()
        assert command == "glassformer"
        ended = call(*words)
        assert ended.code == 0, f"{line}\n{ended.err}"
    with zipfile.ZipFile(there / "pack.zip") as pack:
        assert pack.testzip() is None
        pack.extractall(tmp_path)
        names = pack.namelist()
    folders = ("lessons", "worksheets", "keys", "plans")
    assert sorted(names) == sorted(["index.html", *(f"{folder}/one_neuron.html" for folder in folders)])
    for name in names:
        text = (tmp_path / name).read_text("utf-8")
        assert "Content-Security-Policy" in text
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
    assert set(Reader((tmp_path / "index.html").read_text("utf-8")).targets) <= set(names)
    told = "".join(Reader((tmp_path / "plans/one_neuron.html").read_text("utf-8")).words)
    lesson = scripts.script("one_neuron")
    assert all(re.sub(r"[`*_]", "", belief)[:30] in told for belief, _ in lesson.misconceptions)
    assert all(re.sub(r"[`*_]", "", what)[:30] in told for _, what in lesson.plan)
    with browsing() as browser:
        for name in names:
            if not name.startswith("lessons/"):  # whose page has tests of its own
                printable(browser, tmp_path / name)


CUT = """() => [...document.querySelectorAll('li, dt, dd, tr, p, th, td')]
  .filter(each => each.scrollWidth > each.clientWidth + 1 && !each.closest('.wide')).length"""


def printable(browser, path):
    """Legible on a telephone, fit for A4, and nothing that axe complains of."""
    page = browser.new_context(offline=True, viewport={"width": 320, "height": 640}).new_page()
    seen = Watched(page)
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, path.name
    assert found_by_axe(page) == []
    page.set_viewport_size({"width": 672, "height": 986})  # what A4 leaves between its margins
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == 0, path.name
    assert page.evaluate("document.documentElement.scrollWidth") <= 672, path.name
    lines = page.locator("ol.questions > li, tr, dd")
    kept = {lines.nth(k).evaluate("e => getComputedStyle(e).breakInside") for k in range(lines.count())}
    assert kept <= {"avoid"}
    assert seen.problems == seen.outside() == []


def test_a_sum_below_its_question_is_folded_in_the_page():
    asked = Number("How much?", 3, 0, "so")
    items = [Said("`1 + 1 = 2`"), asked, Said("`1 + 2 = 3`"), Said("And so on."), Said("`2 + 2 = 4`")]
    first, _, second, third, last = (part.get("html", "") for part in page._beat(Beat("x", "", items), {})["parts"])
    assert "<details>" in second
    assert "1 + 2 = 3" in second
    assert not [each for each in (first, third, last) if "<details>" in each]


def test_what_did_not_happen_ends_the_lesson_with_a_sentence():
    with (
        pytest.raises(telling.ExpectationError, match="with seed 18 this did not happen: the loss falls;"),
        telling.told_by(Record()),
    ):
        telling.expect(False, "the loss falls")
    with telling.told_by(Record()), pytest.raises(ValueError, match="is called a mistake"):
        telling.number("?", 2, "so", tolerance=0.1, mistakes={2.05: "no"})


def test_questions_and_answers_are_told_in_markdown():
    grid = Point("Where?", ("a|b",), ("c",), (("0.5",),), (0, 0), "there", (("there",),))
    assert "1: a\\|b | 0.5 |" in question(grid)
    assert answer(grid) == "**Answer: a|b → c.** there"
    ends = Point("Where?", ("<END>",), ("<END> at 5",), (("",),), (0, 0), "there", (("there",),))
    assert question(ends).count("`<END>") == 2, "else Markdown takes it for a tag, and nobody sees it"
    with pytest.raises(TypeError):
        question(Said("x"))
