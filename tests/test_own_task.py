"""A task of one's own, from a file or a class: trained, recorded, opened again only with its code, checked like all."""

import json
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from command import QUICK, call, start
from glassformer import contract, experiment, folder, own, second, tasks
from glassformer.errors import CallError, DamagedError, Error, MissingError
from glassformer.tasks import Rule, Task

ROOT = Path(__file__).parent.parent
RULE = '''"""After a 3 comes a 4."""
from dataclasses import dataclass
from glassformer.tasks import Rule, setting

@dataclass(frozen=True, kw_only=True)
class MyRule(Rule):
    """Five digits."""
    three: float = setting("chance of a 3", 0.3, least=0.01, most=0.9)
    vocabulary = tuple("01234")
    showcase = ("3 4 1", "0 3 4")
    def law(self, state):
        if state == 3:
            return self.evenly([4])
        return (1 - self.three) * self.evenly([0, 1, 2, 4]) + self.three * self.evenly([3])
    def is_constrained(self, state):
        return state == 3
'''
STEPS = ("--steps", 40, *QUICK)


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """An empty folder, and a process that was given no class yet."""
    monkeypatch.chdir(tmp_path)
    for name in ("_codes", "_files"):
        monkeypatch.setattr(own, name, {})
    monkeypatch.setattr(own, "_said", set())


def forget():
    """As in a new process."""
    own._codes.clear()
    own._files.clear()


@pytest.fixture
def trained(tmp_path):
    (tmp_path / "my_rule.py").write_text(RULE)
    answer = call("train", "my_rule.py", "--set", "data.three=0.5", *STEPS, "--json")
    assert answer.code == 0, answer.err
    forget()
    return Path(answer.json["run"])


def test_the_guides_rule_is_trained_and_drawn_in_an_empty_folder(tmp_path):
    """In full it takes some seconds; here, a tenth of it, which is enough."""
    guide = (ROOT / "docs" / "add-a-task.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^`my_rule.py`\n```python\n(.*?)```", guide, flags=re.S | re.M)
    (tmp_path / "my_rule.py").write_text(source, encoding="utf-8")
    answer = call("train", "my_rule.py", "--steps", 2000)
    assert answer.code == 0, answer.err
    assert "verdict: learnt" in answer.out
    assert "glassformer --task my_rule.py ask my_rule-18" in answer.out
    assert "model and training are those of plus_last_even" in answer.err
    assert call("figures", "my_rule.py", "attention").code == 0
    assert list(tmp_path.glob("figures/my_rule-18*/attention*.svg"))


def test_a_run_tells_its_code_and_keeps_its_source(trained):
    from hashlib import sha256

    digest = sha256(RULE.encode()).hexdigest()
    about = json.loads((trained / "run.json").read_text())
    assert about["experiment"]["code"] == {"class": "MyRule", "file": "my_rule.py", "sha256": digest}
    assert about["files"] == {"task.py": digest}
    assert (trained / "task.py").read_text() == RULE
    assert about["experiment"]["data"]["three"] == 0.5
    assert trained.name.startswith("my_rule-18")


def test_opening_executes_nothing_and_says_what_it_needs(trained, tmp_path):
    """Neither the copy in the folder, nor the file that run.json names, though it lies right here."""
    bomb = RULE + "\nraise SystemExit('executed')\n"
    (tmp_path / "my_rule.py").write_text(bomb)
    before = set(sys.modules)
    with pytest.raises(MissingError, match=r"needs the class MyRule of my_rule.py \(sha256 [0-9a-f]{12}…\)") as said:
        gf.open(trained)
    assert "task=MyRule" in str(said.value)
    assert "glassformer --task my_rule.py COMMAND" in str(said.value)
    assert not any("my_rule" in name or "glassformer_task" in name for name in set(sys.modules) - before)
    answer = call("ask", trained, "0 3")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert call("check", trained).code == 2


def test_a_class_opens_its_runs(trained, tmp_path, capsys):
    kind = own.load("my_rule.py")
    assert gf.open(trained).task.three == 0.5
    forget()
    run = gf.open(trained, task=kind)
    assert type(run.task) is kind
    assert run.experiment.title == "After a 3 comes a 4."
    assert capsys.readouterr().err == ""
    forget()
    (tmp_path / "my_rule.py").write_text(RULE + "# changed\n")
    assert gf.open(trained, task=own.load("my_rule.py")).ask("0 3")
    assert len(re.findall("notice: .* it may judge otherwise", capsys.readouterr().err)) == 1
    forget()
    with pytest.raises(MissingError, match="needs the class MyRule"):
        gf.open(trained, task=Mine)


def test_the_file_is_a_word_for_its_newest_run(trained):
    assert call("ask", "my_rule.py", "0 3").code == 0
    forget()
    assert call("--task", "my_rule.py", "check", trained.name).code == 0
    forget()
    assert call("figures", "my_rule.py", "mask").code == 0
    forget()
    Path("other.py").write_text(RULE.replace("MyRule", "Other"))
    answer = call("ask", "other.py", "0 3")
    assert (answer.code, answer.err) == (2, "glassformer: no run in runs was trained on Other of other.py; "
                                            "`glassformer train other.py` makes one\n")  # fmt: skip


def test_an_interrupted_run_goes_on(tmp_path):
    """run.json says running, and nobody writes."""
    (tmp_path / "my_rule.py").write_text(RULE)
    answer = call("train", "my_rule.py", *STEPS, "--json", "--out", "whole")
    assert answer.code == 0, answer.err
    done = answer.json
    about = json.loads(Path(done["run"], "run.json").read_text())
    Path(done["run"], "run.json").write_text(json.dumps(about | {"status": "running"}))
    forget()
    again = call("train", "my_rule.py", *STEPS, "--resume", "--out", "whole", "--json")
    assert again.code == 0, again.err
    assert again.json["status"] == "finished"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def f(:\n", r"my_rule.py, line 1: invalid syntax"),
        ("x = 1\ny = 1 / 0\n", r"my_rule.py, line 2: ZeroDivisionError: division by zero"),
        ("import sys\n\nsys.exit(3)\n", r"my_rule.py, line 3: SystemExit: 3"),
        ("import no_such_module\n", r"my_rule.py, line 1: ModuleNotFoundError"),
        ("class MyRule: pass\n", r"my_rule.py holds no task: no class in it is derived from"),
        (b"\xff\xfe\x00", r"my_rule.py"),
        (RULE.replace("def is_constrained", "def is_constraint"), r"the class MyRule lacks is_constrained"),
        (RULE + "class Second(MyRule): pass\nclass MyRule2(MyRule): pass\ndel MyRule\n", "holds several tasks: Second"),
        (RULE.replace("@dataclass(frozen=True, kw_only=True)\n", ""), r"MyRule.three has a type, .* is no dataclass"),
        (RULE.replace('tuple("01234")', 'tuple("01224")'), r"MyRule: '2' stands twice in the vocabulary"),
        (RULE.replace('tuple("01234")', "()"), r"MyRule: vocabulary = \(\) must be a tuple of texts"),
        (RULE.replace('"3 4 1"', '"3 2 1"'), r"MyRule: the example '3 2 1' in showcase breaks the rule at position 1"),
        (RULE.replace('"3 4 1"', '"3 x"'), r"MyRule: token 'x' at position 1 is not one of"),
        (RULE.replace("(1 - self.three) *", "1.5 *"), r"MyRule: the law of state None is not a set of chances"),
        (RULE.replace("self.evenly([4])", 'float("nan") * self.evenly([4])'), "the law of state 3 is not"),
        (RULE.replace("self.evenly([4])", "self.evenly([4])[:3]"), r"MyRule: law gives array\(.*not an array of 5 pr"),
        (RULE.replace("return state == 3", "return state == 2"), "MyRule: a place is called constrained where"),
        (RULE.replace("return state == 3", "return False"), r"MyRule: in 20 sequences .* no place is constrained"),
        (RULE.replace("return state == 3", "return {}[state]"), r"MyRule fails \(my_rule.py, line 16\): KeyError"),
        (RULE + "    def advance(self, state, token):\n        return [token]\n", "advance gives .0., which is not of"),
        (RULE + "    def source(self, tokens, place):\n        return place + 1\n", "MyRule: source says that"),
        (RULE.replace("three: float", "three: dict"), r"three is of the type <class 'dict'>, which no setting has"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_one_sentence(source, sentence, tmp_path):
    (tmp_path / "my_rule.py").write_bytes(source if isinstance(source, bytes) else source.encode())
    answer = call("train", "my_rule.py", "--steps", 1)
    assert re.search(sentence, answer.err), answer.err
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1), answer.err
    assert not (tmp_path / "runs").exists()
    assert not list(tmp_path.rglob("__pycache__"))


def with_method(head, body):
    """The rule with one more method, whose first line is 17."""
    return f"{RULE}    def {head}:\n        {body}\n"


EXAMPLES = "import dataclasses; e = super().examples(context, part, most); return dataclasses.replace(e, {})"
DATA = "import numpy as np; from glassformer.tasks._task import Data, Split; s = {}; return Data(s, s)"
RUNG = "from glassformer.tasks._task import Rung; return (Rung('a', {}, len, reachable={}),)"
ARRAY = "import numpy as np; return np.{}"
WRONG = [  # a method, what it returns instead, and what is said about it
    ("law(self, state)", "return None", "law gives None, which is not an array of 5 probabilities"),
    ("law(self, state)", "return 'abcde'", "law gives 'abcde', which"),
    ("law(self, state)", "return (x for x in [1])", "law gives <generator"),
    ("law(self, state)", "return [0.2] * 5", "law gives [0.2, 0.2"),
    ("law(self, state)", ARRAY.format("full((1, 5), 0.2)"), "law gives array([[0.2"),
    ("law(self, state)", ARRAY.format("full(5, 0.2 + 0j)"), "law gives array([0.2+0.j"),
    ("law(self, state)", ARRAY.format("full(5, np.nan)"), "the law of state None is not a set of chances"),
    ("law(self, state)", ARRAY.format("array([2.0, -1, 0, 0, 0])"), "the law of state None is not a set of chances"),
    ("is_constrained(self, state)", "return None", "is_constrained gives None, which is not of the type bool"),
    ("is_constrained(self, state)", "return 'yes'", "is_constrained gives 'yes'"),
    ("source(self, tokens, place)", "return 0.5", "source gives 0.5, which is not of the type int"),
    ("source(self, tokens, place)", "return -7", "source says that the answer after '3' lies at -7"),
    ("sample(self, rng, length)", "return '3 4'", "sample gives '3 4', which is not an array of tokens from 0 to 4"),
    ("sample(self, rng, length)", "return [[1], [1, 2]]", "sample gives [[1], [1, 2]]"),
    ("sample(self, rng, length)", ARRAY.format("array([99])"), "sample gives array([99])"),
    ("sample(self, rng, length)", ARRAY.format("array([-1, 2])"), "sample gives array([-1,  2])"),
    ("sample(self, rng, length)", ARRAY.format("array([0.5])"), "sample gives array([0.5])"),
    ("allowed(self, tokens)", "return None", "allowed gives None, which is not an array of 2 × 5 truth values"),
    ("allowed(self, tokens)", ARRAY.format("ones(len(tokens), bool)"), "allowed gives array([ True,  True])"),
    ("constrained(self, tokens)", ARRAY.format("ones(1, bool)"), "constrained gives array([ True]), which"),
    ("answerable(self, tokens)", ARRAY.format("ones(1, bool)"), "answerable gives array([ True]), which"),
    ("source_position(self, tokens)", "return None", "source_position gives None, which is not an array of 8 whole"),
    ("true_distribution(self, tokens, context)", "return None", "true_distribution gives None"),
    ("true_distribution(self, tokens, context)", ARRAY.format("full((len(tokens), 5), np.nan)"), "gives array([[nan"),
    ("true_distribution(self, tokens, context)", ARRAY.format("full((len(tokens), 2), 0.5)"), "gives array([[0.5"),
    ("true_distribution(self, tokens, context)", ARRAY.format("full((len(tokens), 5), 0.5)"), "do not sum to 1"),
    ("verify(self, tokens)", "return (True for _ in tokens)", "verify gives <generator"),
    ("verify(self, tokens)", "return ['x'] * len(tokens)", "verify must judge every token"),
    ("encode(self, text)", ARRAY.format("array([77])"), "encode gives array([77])"),
    ("readable(self, tokens)", "return 7", "readable gives 7, which is not of the type str"),
    ("sizes(self)", "return None", "sizes gives None"),
    ("sizes(self)", "return {'nothing': 1}", "sizes gives {'nothing': 1}, which are not settings"),
    ("sizes(self)", "return {'width': 10**9}", "sizes.width = 1000000000 is too large"),
    ("sizes(self)", "return {'context': -3}", "sizes.context = -3 is too small"),
    ("ladder(self, context)", "return ('x',)", "its ladder has no rung"),
    ("ladder(self, context)", RUNG.format("float('nan')", True), "its ladder has no rung"),
    ("ladder(self, context)", RUNG.format("1.0", False), "its ladder has no rung that can be reached"),
    ("floor(self, context)", "return 'x'", "floor gives 'x'"),
    ("floor(self, context)", "return float('nan')", "its floor is no number"),
    ("data(self, context)", "return None", "data gives None, which is not of the type Data"),
    (
        "data(self, context)",
        DATA.format("Split.of(np.full((4, context + 1), 77))"),
        "data (train.tokens) gives array([77",
    ),
    ("data(self, context)", DATA.format("Split.of(np.zeros((4, 2), int))"), "data (train) has no window, or one of 9"),
    ("data(self, context)", DATA.format("Split.of(np.zeros((0, context + 1), int))"), "data (train) has no window"),
    (
        "data(self, context)",
        DATA.format("Split(np.zeros(50, int), np.array([10**6]), np.array([3]))"),
        "data (train) has",
    ),
    ("data(self, context)", DATA.format("Split(np.zeros(50, int), np.array([-9]), np.array([3]))"), "data (train) has"),
    ("examples(self, context, part, most)", "return None", "examples gives None"),
    ("examples(self, context, part, most)", EXAMPLES.format("windows=e.windows + 77"), "examples (windows) gives"),
    ("examples(self, context, part, most)", EXAMPLES.format("allowed=e.allowed[:, :1]"), "examples (allowed) gives"),
    ("examples(self, context, part, most)", EXAMPLES.format("truth=e.truth + float('nan')"), "examples (truth) gives"),
    ("examples(self, context, part, most)", "return super().examples(context, part, 3 * most)", "gives 24 windows"),
    ("expectations(self, architecture, train)", "return [7]", "expectations gives a list of something else"),
    ("files(self)", "return {'../a': b'b'}", "files gives something else than bytes for text.txt"),
    ("within(self, folder)", "return None", "within gives None, which is not of the type Task"),
]
FACTS = {  # what a class says of itself
    "kinds = 7": "kinds = 7 must be a tuple of texts",
    "starts = 'x'": "starts = 'x' must be a tuple of texts",
    "answers = 'many'": "answers = 'many' must be next or one",
    "measure = 'luck'": "measure = 'luck' must be rule_error or accuracy",
    "skip = -3": "skip = -3 leaves nothing",
    "skip = 10**9": "skip = 1000000000 leaves nothing of the 8 predictions",
    "vocabulary = tuple(map(str, range(70000)))": "the vocabulary has 70,000 tokens; the most is 65,536",
    "vocabulary = range(10**9)": "vocabulary = range(0, 1000000000) must be a tuple",
    "vocabulary = (0, 1, 2, 3, 4)": "vocabulary = (0, 1, 2, 3, 4) must be a tuple of texts",
    "showcase = '3 4'": "showcase = '3 4' must be a tuple of texts",
    "groups = {'all': [0, 1, 2, 3, 9]}": "groups hold the tokens [0, 1, 2, 3, 9]",
    "groups = {'all': [0.0, 1.0, 2.0, 3.0, 4.0]}": "groups hold the tokens [0.0",
    "groups = {7: range(5)}": "groups = {7: range(0, 5)} is not a table from names to tokens",
    "groups = None": "groups = None is not a table",
}
RAISED = {  # what a method may raise, and how it is said
    "raise SystemExit(3)": "SystemExit: 3",
    "import sys; sys.exit()": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise BaseException('x')": "BaseException: x",
    "raise GeneratorExit": "GeneratorExit",
    "raise StopIteration": "StopIteration",
    "raise EOFError": "EOFError",
    "raise MemoryError": "MemoryError",
    "raise OSError(28, 'full')": "OSError: [Errno 28] full",
    "import typer; raise typer.Exit(0)": "Exit: 0",
    "raise ValueError('two\\nlines')": "ValueError: two lines",
    "raise type('Bad', (Exception,), {'__str__': lambda self: 1 / 0})": "<exception str() failed>",
    "return getattr(self, 'law')(state) if 'state' in vars() else self.examples(context, part, most)": "RecursionError",
}


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        *((with_method(head, body), f"MyRule: {said}|(my_rule.py, line 17)") for head, body, said in WRONG),
        *((f"{RULE}    {fact}\n", f"MyRule: {said}") for fact, said in FACTS.items()),
        *(
            (with_method(head, body), f"MyRule fails (my_rule.py, line 18): |{said}")
            for body, said in RAISED.items()
            for head in ("law(self, state)", "examples(self, context, part, most)")
        ),
    ],
)
def test_what_a_class_returns_or_raises_is_one_sentence(source, sentence, tmp_path, monkeypatch):
    """With the class, the method and its line; nothing is trained, and nothing is left patched."""
    monkeypatch.delenv("GLASSFORMER_TRACEBACK", raising=False)
    (tmp_path / "my_rule.py").write_text(source)
    answer = call("train", "my_rule.py", "--steps", 1, "--json")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1), answer.err
    for part in sentence.split("|"):
        assert part.removeprefix("MyRule: ") in answer.err
    assert answer.err.startswith("glassformer: MyRule")
    assert not (tmp_path / "runs").exists()


def test_what_a_task_raises_later_is_one_sentence_in_every_command(trained, tmp_path, monkeypatch):
    """While a run is scored, not only when a training begins; and the class is as it was."""
    monkeypatch.delenv("GLASSFORMER_TRACEBACK", raising=False)
    (tmp_path / "my_rule.py").write_text(with_method("data(self, context)", "raise SystemExit(0)"))
    answer = call("--task", "my_rule.py", "score", trained)
    assert answer.code == 2
    assert answer.err.endswith("glassformer: MyRule fails (my_rule.py, line 18): SystemExit: 0\n")
    before = dict(vars(Mine))
    experiment.load(Mine)
    assert dict(vars(Mine)) == before


def test_methods_may_be_static_and_called_by_keyword():
    @dataclass(frozen=True, kw_only=True)
    class Other(Mine):
        @staticmethod
        def is_constrained(state):
            return state == 3

        def sample(self, rng, length):
            return super().sample(rng=rng, length=length)

        def verify(self, tokens):
            assert self.allowed(tokens=tokens).shape == (len(tokens), 5)
            return super().verify(tokens)

    before = dict(vars(Other))
    assert experiment.load(Other).task == Other()
    assert dict(vars(Other)) == before


LOUD = (
    RULE
    + """
import atexit, os, subprocess, sys
print("at import")
atexit.register(print, "at exit")
law = MyRule.law
def loud(self, state):
    print("print")
    sys.__stdout__.write("the first output")
    os.write(1, b"descriptor")
    if state is None:
        subprocess.run(["echo", "child"])
    return law(self, state)
MyRule.law = loud
"""
)


def test_the_output_of_json_is_json_whatever_a_task_prints(tmp_path):
    """Every word of it goes to the error output: of Python, of descriptors, of other processes, and at the exit."""
    (tmp_path / "my_rule.py").write_text(LOUD)
    process = start("train", "my_rule.py", *STEPS, "--json", folder=tmp_path)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert json.loads(out)["status"] == "finished"
    assert out.count("\n") == 1
    assert all(word in err for word in ("at import", "at exit", "print", "the first output", "descriptor", "child"))
    (tmp_path / "my_rule.py").write_text(LOUD.replace('atexit.register(print, "at exit")', ""))
    own.load(tmp_path / "my_rule.py")
    with second.Second("glassformer.gallery.making:begin", [json.loads(out)["run"], {}, "out"]) as other:
        other.ready()
        Path("out").mkdir()
        assert next(each for found in other.ask("mask") for each in found)["files"]


LOOP = "print('looping', flush=True)\n{0}while True: pass"  # it may be stopped in either line
SHORT = "if most < 20: return super().examples(context, part, most)\n        "  # as before a training begins


@pytest.mark.parametrize(
    ("source", "number", "sentences"),
    [
        (LOOP.format(""), signal.SIGINT, [r"stopped in my_rule.py, line [12]"]),
        (with_method("law(self, state)", LOOP.format(" " * 8)), signal.SIGTERM, [
            r"stopped at once; .* --resume; it was in MyRule \(my_rule.py, line 1[89]\)"]),
        (with_method("examples(self, context, part, most)", SHORT + LOOP.format(" " * 8)), signal.SIGINT, [
            r"next safe point \(Ctrl-C again stops at once\); now in MyRule \(my_rule.py, line (19|20)\)",
            r"it was in MyRule \(my_rule.py, line (19|20)\)"]),
    ],
    ids=["import", "law", "training"],
)  # fmt: skip
def test_a_task_that_never_returns_is_stopped(source, number, sentences, tmp_path):
    (tmp_path / "my_rule.py").write_text(source)
    with start("train", "my_rule.py", *STEPS, "--json", folder=tmp_path) as process:
        while "looping" not in process.stderr.readline():
            assert process.poll() is None
        for sentence in sentences:
            process.send_signal(number)
            while not re.search(sentence, line := process.stderr.readline()):
                assert line.strip("\n") == "" != line, line
        assert process.wait(timeout=5) == 1
        assert process.stdout.read() == ""


def test_no_file_and_a_folder_are_sentences(tmp_path):
    (tmp_path / "folder.py").mkdir()
    for name, sentence in (("none.py", "there is no file none.py"), ("folder.py", "folder.py is not a file")):
        answer = call("train", name)
        assert (answer.code, answer.err.startswith(f"glassformer: {sentence}")) == (2, True), answer.err


@dataclass(frozen=True, kw_only=True)
class Mine(Rule):
    """After a 3 comes a 4."""

    three: float = 0.3

    vocabulary = tuple("01234")
    showcase = ("3 4 1", "0 3 4")

    def law(self, state):
        if state == 3:
            return self.evenly([4])
        return (1 - self.three) * self.evenly([0, 1, 2, 4]) + self.three * self.evenly([3])

    def is_constrained(self, state):
        return state == 3


def test_a_class_and_an_object_are_experiments():
    by_class, by_object = experiment.load(Mine), experiment.load(Mine(three=0.5, sequences=400), ["train.steps=9"])
    assert (by_class.name, by_class.task, by_class.changed) == ("mine", Mine(), ())
    assert by_object.task == Mine(three=0.5, sequences=400)
    assert set(by_object.changed) == {"data.three", "data.sequences", "train.steps"}
    ready = experiment.load("plus_last_even")
    assert by_class.train == ready.train
    assert by_class.architecture.width == ready.architecture.width
    assert by_class.code.file == Path(__file__).name
    assert by_class.files()["task.py"] == Path(__file__).read_bytes()
    assert experiment.from_tables(by_object.tables(), "mine") == by_object


def test_glassformers_own_need_no_record():
    made = experiment.load(tasks.find("lucky7")(extra=0.5))
    assert (made.name, made.code, made.changed) == ("lucky7", None, ("data.extra",))
    assert made.architecture == experiment.load("lucky7").architecture


def test_a_class_without_a_source_is_recorded_as_such(monkeypatch):
    """As at a prompt: no file, and no lines that Python remembers."""
    kind = dataclass(frozen=True, kw_only=True)(type("Prompt", (Mine,), {"__module__": "__main__"}))
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    made = experiment.load(kind)
    assert made.code.table() == {"class": "Prompt", "file": None, "sha256": None}
    assert made.files() == {}
    assert not own.portable(kind)
    with pytest.raises(CallError, match="lacks is_constrained, law"):
        experiment.load(Rule)
    with pytest.raises(CallError, match="int is not a task"):
        experiment.load(int)


@pytest.mark.parametrize(
    "code",
    [{}, [], "x", {"class": "a b"}, {"class": "A", "file": "../a.py"}, {"class": "A", "file": "a\x1b.py"},
     {"class": "A", "file": "a.py", "sha256": "0"}, {"class": "A" * 300}],
)  # fmt: skip
def test_a_record_that_is_none_is_damage(code):
    with pytest.raises(DamagedError, match="does not say what code its task is"):
        own.recorded(code)


def test_a_second_process_knows_the_class(trained):
    own.load("my_rule.py")
    with second.Second("glassformer.gallery.making:begin", [str(trained), {}, "out"]) as other:
        other.ready()
        Path("out").mkdir()
        (made,) = [each for found in other.ask("mask") for each in found]
    assert made["files"], made


def test_every_task_of_the_package_keeps_the_contract():
    """What is asked of a task from outside is asked of ours, so that nothing is asked that cannot be kept."""
    for name in ("plus_last_even", "lucky7", "mary", "sort"):
        made = experiment.load(name)
        contract.check_class(type(made.task))
        contract.check_words(made.task)
        contract.check(made)


def test_a_task_file_with_a_wrong_class_is_one_sentence(monkeypatch):
    import glassformer.tasks.lucky7 as file

    monkeypatch.delattr(file, "Lucky7")
    with pytest.raises(CallError, match=r"tasks/lucky7.py must hold a task called Lucky7"):
        tasks.find("lucky7")
    assert call("train", "lucky7").code == 2


def test_files_of_a_run_are_a_closed_list():
    assert list(folder.FILES) == ["text.txt", "tokenizer.json", "task.py"]
    assert issubclass(own.NeededError, Error)
    assert issubclass(tasks.find("mary"), Task)
    assert np.isclose(Mine().law(3).sum(), 1)


def test_a_file_that_has_changed_or_gone_does_not_stop_a_second_process(tmp_path):
    """Nor is it loaded there: what another process would know is not what this one does."""
    paths = [tmp_path / f"task_{word}.py" for word in ("gone", "changed", "kept")]
    for path in paths:
        path.write_text(RULE.replace("class ", f"# {path.stem}\nclass ", 1), encoding="utf-8")
    gone, changed, kept = (own.load(path) for path in paths)
    paths[0].unlink()
    paths[1].write_text("no longer a task", encoding="utf-8")
    assert [own.portable(kind) for kind in (gone, changed, kept)] == [False, False, True]
    there = [file for file, _, _ in own.files()]
    assert str(paths[2].resolve()) in there
    assert not {str(paths[0].resolve()), str(paths[1].resolve())} & set(there)
    own.load_all(own.files())
