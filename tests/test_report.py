"""A run in one file: the page, and in its blocks what the folder holds, bit for bit, and nothing remote."""

import base64
import gzip
import hashlib
import json
import math
import re
import shutil
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors

import glassformer as gf
import small_life
from bare_runs import bare_run
from command import call
from glassformer import own, report
from glassformer.errors import DamagedError, LimitError, MissingError
from glassformer.experiment import for_text, load
from glassformer.report import filling, info, link, steps
from glassformer.report.payload import Wish
from glassformer.tasks import Rule
from small_runs import FIRST, MODULAR, NAN, POPULATION, TEXT, run_of
from small_texts import SETTINGS, noise

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<!--glassformer:policy-->
<title>Glassformer</title>
<style>body { color: teal }</style>
</head>
<body>
<div id="page"></div>
<!--glassformer:data-->
<script type="module">const seen = "é";</script>
</body>
</html>
"""
EVERY = ("plus_last_even", "five_operations", POPULATION, NAN, TEXT, MODULAR)


SECOND = "const further = 'ü';"


@pytest.fixture(autouse=True)
def page(monkeypatch, tmp_path_factory):
    """A page that is quickly built, in place of the package's; the folder of its files."""
    folder = tmp_path_factory.mktemp("static")
    (folder / "words").mkdir()
    files = {"report.html": TEMPLATE, "further.js": SECOND, "words/en.json": '{"title": "Glassformer"}'}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(filling, "_built", lambda: folder)
    return folder


class Seen(HTMLParser):
    """What a browser would find in a file: elements with their attributes, and the text of scripts, styles, title."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements, self.inside, self.open = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style", "title"):
            self.open = tag
            self.inside.append((tag, dict(attrs).get("type"), ""))

    def handle_endtag(self, tag):
        self.open = "" if tag == self.open else self.open

    def handle_data(self, data):
        if self.open:
            tag, kind, text = self.inside[-1]
            self.inside[-1] = tag, kind, text + data

    def texts(self, wanted: str) -> list[str]:
        """The insides of elements, but for blocks of data."""
        return [text for tag, kind, text in self.inside if tag == wanted and kind != "text/plain"]

    @property
    def policy(self) -> dict[str, str]:
        """Directive → what it allows."""
        (said,) = [each["content"] for _, each in self.elements if each.get("http-equiv") == "Content-Security-Policy"]
        return dict(rule.strip().split(" ", 1) for rule in said.split(";"))


def sealed(*texts: str) -> str:
    """The hashes by which a policy allows these."""
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in texts)


@cache
def made_of(name: str) -> str:
    """The report of a run of the tests."""
    return report.page_of(run_of(name))


def blocks(text: str) -> dict[str, bytes]:
    """Name → bytes, as the page unpacks them."""
    found = re.findall(r'<script type="text/plain" data-block="([^"]*)">([A-Za-z0-9+/=]*)</script>', text)
    assert len(found) == text.count('<script type="text/plain"')
    return {name: gzip.decompress(base64.b64decode(data, validate=True)) for name, data in found}


def told(text: str, name: str) -> dict:
    """A block of JSON; JSON of the strict kind, which has no NaN."""
    return json.loads(blocks(text)[name], parse_constant=pytest.fail)


def flat(table: dict, above: str = "") -> dict:
    """`gradient.embedding` of nested tables."""
    found = {}
    for name, value in table.items():
        found |= flat(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
    return found


# ---- what is inside ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_the_weights_are_those_of_the_folder_bit_for_bit(name):
    """Read by the library, beside the run's own reader; every kept step of these small runs is inside."""
    run = run_of(name)
    text = made_of(name)
    (card,) = told(text, "index")["runs"]
    about, weights = told(text, f"{card['id']}/info"), load_tensors(blocks(text)[f"{card['id']}/weights"])
    assert about["steps"] == run.steps.tolist() == [each["step"] for each in about["facts"][0]]
    assert (about["kept"], about["notice"], len(about["facts"])) == (len(run.steps), "", run.members)
    assert set(weights) == set(run.architecture.shapes())
    for k, step in enumerate(about["steps"]):
        for part, value in run.weights(step).items():
            assert weights[part][k].tobytes() == value.tobytes()


@pytest.mark.parametrize("name", ["plus_last_even", POPULATION, NAN])
def test_the_metrics_are_the_lines_of_the_folder(name):
    run = run_of(name)
    found = told(made_of(name), f"{name}/metrics")
    lines = [flat(json.loads(line)) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    assert found["step"] == [line.pop("step") for line in lines]
    for column, rows in found["columns"].items():
        for line, row in zip(lines, rows, strict=True):
            value = line.get(column)  # what a batch says is not known before the first
            wanted = value if isinstance(value, list) else [value] * run.members
            assert row == [None if isinstance(each, str) else each for each in wanted], column
    assert {name for line in lines for name in line} - set(found["columns"]) <= {"chosen"}


def test_what_the_page_trains_on_is_what_python_trains_on():
    """The windows' facts found another way: by the verdicts and the exact predictor, window by window."""
    run = run_of("plus_last_even")
    task, context = run.task, run.architecture.context
    found = load_tensors(blocks(made_of("plus_last_even"))["plus_last_even/data"])
    data = task.data(context)
    for name in ("tokens", "starts", "windows"):
        np.testing.assert_array_equal(found[f"train.{name}"], getattr(data.train, name))
    for part, of in (("validation", data.validation), ("fit", data.train)):
        windows, few = found[f"{part}.windows"], int(found[f"{part}.few"][0])
        assert (len(windows), few, windows.shape[1]) == (min(1000, run.experiment.train.windows), 128, context + 1)
        stretches = np.lib.stride_tricks.sliding_window_view(of.tokens, context + 1)
        assert {row.tobytes() for row in windows} <= {row.astype(np.int32).tobytes() for row in stretches}
        for k in range(0, len(windows), 97):
            before, after = windows[k, :-1], windows[k, 1:]
            came = np.log(task.true_distribution(before, context)[np.arange(context), after])
            np.testing.assert_allclose(found[f"{part}.truth"][k], came, rtol=1e-6)
            np.testing.assert_array_equal(found[f"{part}.answerable"][k], task.answerable(before))
            np.testing.assert_array_equal(found[f"{part}.source"][k], task.source_position(before))
            assert found[f"{part}.allowed"][k][np.arange(context), after].all(), "what came was allowed"
            back = (np.arange(context) - found[f"{part}.source"][k])[found[f"{part}.answerable"][k] == 1]
            kind = found[f"{part}.kind"][k]
            assert kind[found[f"{part}.answerable"][k] == 1].tolist() == np.minimum(back, 3).tolist()
        hard = found[f"{part}.truth"].mean(axis=1)
        assert abs(hard[:few].mean() - hard.mean()) < 0.01, "few windows are as hard as all"
    assert {str(each.dtype) for each in found.values()} == {"int32", "uint8", "int8", "float32"}


def test_a_text_brings_its_files_and_a_question_its_test_part():
    run = run_of(TEXT)
    found = load_tensors(blocks(made_of(TEXT))[f"{TEXT}/data"])
    for name in ("text.txt", "tokenizer.json"):
        assert found[f"file.{name}"].tobytes() == (run.path / name).read_bytes()
    assert found["validation.allowed"].size == 0, "only the token that came is right"
    asked = load_tensors(blocks(made_of("five_operations"))["five_operations/data"])
    train, test = ({row.tobytes() for row in asked[f"{part}.windows"][:, :-1]} for part in ("fit", "test"))
    assert (len(train), len(test)) == (1000, 500)
    assert not train & test


def test_a_model_too_large_for_the_page_says_so(monkeypatch):
    for limit in ("MOST_WORK", "MOST_BYTES", "MOST_NUMBERS"):
        with monkeypatch.context() as patch:
            patch.setattr(f"glassformer.report.training_data.{limit}", 100)
            text = report.page_of(run_of("plus_last_even"))
        assert "plus_last_even/data" not in blocks(text)
        said = told(text, "plus_last_even/info")["untrainable"]
        assert said.endswith("; `glassformer train plus_last_even` trains it.")
    assert told(made_of("plus_last_even"), "plus_last_even/info")["untrainable"] == ""


def test_what_is_told_of_a_run():
    run = run_of("plus_last_even")
    about = told(made_of("plus_last_even"), "plus_last_even/info")
    assert about["experiment"] == run.about["experiment"]
    assert (about["seeds"], about["places"], about["members"], about["parameters"]) == ([18], [0], 1, 250)
    assert [round(each["nats"], 3) for each in about["ladder"] if each["reachable"]] == [
        2.485,
        2.355,
        2.175,
        1.929,
        1.838,
    ]
    assert about["floor"] == pytest.approx(1.8379442676937734)
    assert about["floors"] == pytest.approx(run.about["floors"])
    task = about["task"]
    assert task["vocabulary"] == task["outputs"] == list(run.task.vocabulary)
    assert sorted(token for some in task["groups"].values() for token in some) == list(range(12))
    assert about["sentences"][-1] == f"verdict: {about['verdict']}"
    commands = {(each["kind"], each["name"]): each["command"] for each in about["catalogue"]}
    assert commands["films", "embeddings"] == "glassformer film plus_last_even embeddings"
    assert {each["why_not"] is None for each in about["catalogue"]} == {True, False}


def test_examples_fit_the_model_and_words_can_be_seen(tmp_path):
    run = noise(tmp_path / "short", load("plus_last_even", ["architecture.context=1"], steps=2))
    task = info.about(run, "short", [0], [], [], "")["task"]
    ends = [text.split()[-1] for text in run.task.showcase]
    assert task["showcase"] == ends
    (tmp_path / "text.txt").write_text("a b\tc\n\u202ed " * 60, encoding="utf-8")
    run = noise(tmp_path / "text", for_text(tmp_path / "text.txt", "characters", None, SETTINGS))
    task = info.about(run, "text", [0], [], [], "")["task"]
    assert dict(zip(task["vocabulary"], task["words"], strict=True)) == {
        "a": "a", "b": "b", "c": "c", "d": "d", " ": "␣", "\t": "⇥", "\n": "⏎", "\u202e": "\\x202e",
    }  # fmt: skip
    assert task["outputs"] == task["words"]


def test_events_are_those_of_the_log():
    """Read off the raw lines: where the loss was lowest, where it came to a rung, where it was a number no more."""
    run = run_of("plus_last_even")
    about = told(made_of("plus_last_even"), "plus_last_even/info")
    lines = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    losses = {line["step"]: line["validation_loss"] for line in lines}
    by_kind = {kind: [each for each in about["events"] if each["kind"] == kind] for kind in ("best", "rung")}
    assert by_kind["best"][0]["step"] == min(losses, key=losses.get)
    rungs = {f"reaches: {each['name']}": each["nats"] for each in about["ladder"]}
    near = 0.02 * (math.log(12) - about["floor"])
    assert by_kind["rung"]
    for each in by_kind["rung"]:
        assert losses[each["step"]] <= rungs[each["text"]] + near
        assert all(loss > rungs[each["text"]] for step, loss in losses.items() if step < each["step"] - 20)
    assert about["events"] == sorted(about["events"], key=lambda each: each["step"])
    lost = told(made_of(NAN), f"{NAN}/info")
    lines = [json.loads(line) for line in (run_of(NAN).path / "metrics.jsonl").read_text().splitlines()]
    first = next(line["step"] for line in lines if isinstance(line["validation_loss"], str))
    assert [each["step"] for each in lost["events"] if each["kind"] == "diverged"] == [first]
    assert lost["status"] == "diverged"
    assert lost["facts"][0][-1]["loss"] is None


def test_members_can_be_chosen():
    run = run_of(POPULATION)
    made = report.made([run], Wish(members=[2, 0]))
    about, weights = told(made.html, f"{POPULATION}/info"), load_tensors(blocks(made.html)[f"{POPULATION}/weights"])
    assert (about["members"], about["places"], about["seeds"]) == (2, [2, 0], [run.seeds[2], run.seeds[0]])
    np.testing.assert_array_equal(weights["token"][-1], run.weights()["token"][[2, 0]])
    rows = told(made.html, f"{POPULATION}/metrics")["columns"]["validation_loss"]
    np.testing.assert_array_equal(rows, run.metrics["validation_loss"][:, [2, 0]])
    alone = report.made([run], Wish(members=[1])).html
    np.testing.assert_array_equal(
        load_tensors(blocks(alone)[f"{POPULATION}/weights"])["token"][0], run.weights(0, 1)["token"]
    )
    with pytest.raises(MissingError, match="no member 3"):
        report.made([run], Wish(members=[3]))


def test_an_edited_run_goes_in_as_it_was_trained():
    edited = run_of("lucky7").edited("zero(mixed)")
    assert report.page_of(edited) == made_of("lucky7")


def test_an_analysis_is_in_it_as_its_numbers():
    run = run_of("plus_last_even")
    wish = Wish(analyses=("attention", "comparison", "seeds"), where={"step": 100, "sequence": "10 + 10 6 +"})
    other = run_of("step_back")
    made = report.made([run, other], wish)
    seen = gf.analyses.attention(run, step=100, sequence="10 + 10 6 +")
    found = told(made.html, "plus_last_even/analysis/attention")
    assert (found["title"], found["section"]) == (seen.title, "attend")
    assert found["python"] == "gf.analyses.attention(run, step=100, sequence='10 + 10 6 +')"
    (weights,) = [each for each in found["arrays"] if each["name"] == "attention"]
    values = np.array([math.nan if each is None else each for each in weights["values"]["data"]], np.float32)
    np.testing.assert_array_equal(values.reshape(weights["values"]["shape"]), seen.attention.values.astype(np.float32))
    assert weights["values"]["axes"] == list(weights["labels"]) == list(seen.attention.axes)
    assert told(made.html, "plus_last_even/info")["analyses"] == ["attention", "comparison"], "one seed, so no seeds"
    both = told(made.html, "plus_last_even/analysis/comparison")
    assert {"plus_last_even", "step_back"} <= {
        word for each in both["arrays"] for word in each["labels"].get("run", ())
    }


# ---- how large it is --------------------------------------------------------------------------------------------


def test_the_first_model_fits_five_megabytes_with_its_life():
    """Of 20,001 kept steps: more than 200, with the first, the last, the best, every event and every logged one."""
    run = run_of(FIRST)
    made = report.made([run])
    about = told(made.html, f"{FIRST}/info")
    assert len(made.html) + 300_000 < 5_000_000, "with a page of the size it may have"
    assert 200 <= len(about["steps"]) <= steps.MOST
    wanted = {0, 20_000, run.best_step(), *(each["step"] for each in about["events"]), *run.metrics["step"].tolist()}
    assert wanted <= set(about["steps"])
    assert about["steps"] == sorted(set(about["steps"]))
    assert set(range(60)) <= set(about["steps"]), "every step at first"
    assert np.diff(about["steps"]).max() <= 40, "and none far from the next"
    many = f"{len(about['steps']):,}".replace(",", "\u202f")
    assert about["notice"].startswith(f"{many} of the 20\u202f001 kept steps are in this file")


@pytest.mark.parametrize("most", [1, 2, 3, 7, 40, 150, 299])
def test_so_many_steps_and_no_more(most):
    run = run_of("plus_last_even")
    found = steps.chosen(run, most, always=[123], events=[5, 5, 250])
    assert found == sorted(set(found))
    assert len(found) == most
    assert set(found) <= set(run.steps.tolist())
    wanted = [123, 300, 0] + ([5, 250] if most > 9 else [])
    assert set(wanted[:most]) <= set(found)
    assert steps.chosen(run, 301) == list(range(301))


def test_a_file_keeps_the_size_it_was_given():
    """As many steps as fit, of one run and of two that share the room; weights stay float32."""
    run, other = run_of("plus_last_even"), run_of("lucky7")
    for size in (0.15, 0.25):
        made = report.made([run], Wish(size=size))
        assert 0.8 * size * 1e6 < len(made.html) <= size * 1e6
    made = report.made([run, other], Wish(size=0.6))
    assert 0.5e6 < len(made.html) <= 0.6e6
    assert [len(each.steps) == len(each.run.steps) for each in made.runs] == [False, True], "the smaller one is whole"
    assert all(len(each.steps) > 20 for each in made.runs)
    assert len(report.made([run], Wish(steps=3)).runs[0].steps) == 3
    with pytest.raises(LimitError, match=r"size = 0.02 MB is too little: the first and the last step need 0\.\d MB"):
        report.made([run], Wish(size=0.02))


def test_a_large_population_has_fewer_steps_and_all_members():
    assert [steps.usual(members) for members in (1, 2, 16, 1000)] == [2000, 2000, 250, 200]


# ---- the file ---------------------------------------------------------------------------------------------------


def test_the_policy_allows_the_page_its_own_scripts_and_style_and_nothing_else(page):
    """Hashes are those of what a browser finds inside the elements, and of the script that the page unpacks itself."""
    text = report.page_of(run_of("lucky7"))
    seen = Seen(text)
    assert seen.policy == {
        "default-src": "'none'", "script-src": sealed('const seen = "é";', SECOND),
        "style-src": sealed("body { color: teal }"), "img-src": "data: blob:", "worker-src": "blob:",
        "connect-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    assert blocks(text)["further"].decode() == SECOND
    assert told(text, "words/en") == {"title": "Glassformer"}
    assert not [each for _, each in seen.elements if {"src", "href", "style"} & set(each)]
    assert text.index("Content-Security-Policy") < text.index("<style")
    (page / "report.html").write_text(TEMPLATE.replace("</body>", "<script>2</script></body>"), encoding="utf-8")
    assert Seen(report.page_of(run_of("lucky7"))).policy["script-src"] == sealed('const seen = "é";', "2", SECOND)


def test_the_built_page_asks_nobody_for_anything(monkeypatch):
    """Every script and style of it is inline and sealed; no element names another file, and none has a style."""
    monkeypatch.undo()
    try:
        filling.template()
    except MissingError as problem:
        pytest.skip(str(problem))
    text = report.page_of(run_of("lucky7"))
    seen, second = Seen(text), blocks(text)["further"].decode()
    scripts, styles = [*seen.texts("script"), second], seen.texts("style")
    assert (len(scripts), len(styles)) == (2, 1)
    assert (seen.policy["script-src"], seen.policy["style-src"]) == (sealed(*scripts), sealed(*styles))
    assert not [each for _, each in seen.elements if {"src", "href", "style"} & set(each)]
    assert not re.search(r"@import|url\((?!data:|#)", styles[0])


HOSTILE = "\"><svg onload=alert(1)><script>alert(2)<!--&amp;'\u202e"


def test_hostile_names_and_tokens_are_only_text(tmp_path):
    """The same elements as of a decent run; outside the blocks the name stands in the title alone, escaped."""
    table = tmp_path / "questions.csv"
    words = ["</script><script>alert(3)</script>", "<!--glassformer:data-->", "\u202e", "${x}", "<img/src=x>"]
    table.write_text("question,answer\n" + "\n".join(f"{words[k % 5]} {k},{words[k % 3]}" for k in range(60)))
    experiment = load("own_table", [f"data.file='{table}'", "data.tokens=words"])
    decent, hostile = noise(tmp_path / "decent", experiment), noise(tmp_path / HOSTILE, experiment)
    first, second = (Seen(report.page_of(run)) for run in (decent, hostile))
    plain = [(tag, set(each)) for tag, each in first.elements]
    assert plain == [(tag, set(each)) for tag, each in second.elements]
    assert second.texts("title") == [HOSTILE.replace("\u202e", "\\u202e")]
    text = report.page_of(hostile)
    bare = re.sub(r"<script type=\"text/plain\".*?</script>", "", text)
    assert not any(word in bare for word in [*words, HOSTILE, "alert(3)"])
    (card,) = told(text, "index")["runs"]
    assert (card["name"], re.fullmatch(r"[a-z0-9_-]+", card["id"]) is not None) == (HOSTILE, True)
    assert set(words) <= set(told(text, f"{card['id']}/info")["task"]["vocabulary"])


def test_names_for_links_are_plain_and_differ():
    assert info.identifier("plus_last_even-18-rate_0.001") == "plus_last_even-18-rate_0_001"
    assert info.identifier("Größe!") == "gr_e"
    assert info.identifier("<>") == "run"
    assert info.identifier("a", ["a", "a-2"]) == "a-3"
    assert len(info.identifier("x" * 500)) <= 80


def test_r6_the_same_run_gives_the_same_bytes(tmp_path, monkeypatch):
    """Another folder, another day, another place to stand in."""
    run = run_of("plus_last_even")
    first = report.made([run], Wish(steps=50, analyses=("timeline",)), "#v1&step=7").html
    shutil.copytree(run.path, tmp_path / "else" / run.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.time", lambda: 4e9)
    again = report.made(
        [gf.open(tmp_path / "else" / run.name)], Wish(steps=50, analyses=("timeline",)), "#v1&step=7"
    ).html
    assert hashlib.sha256(again.encode()).hexdigest() == hashlib.sha256(first.encode()).hexdigest()


# ---- odd runs ---------------------------------------------------------------------------------------------------


def test_runs_that_lack_something_make_a_report(tmp_path):
    """Nothing logged, one kept step, parts missing; a log whose lines tell little."""
    for name in ("no attention", "nothing in its blocks", "one feature"):
        run = bare_run(name)
        about = told(report.page_of(run), "run/info")
        assert (about["steps"], about["sentences"], about["verdict"], about["events"]) == ([0], [], "", [])
        assert told(report.page_of(run), "run/metrics") == {"step": [], "columns": {}}
    small_life.train(tmp_path / "run")
    about = told(report.page_of(gf.open(tmp_path / "run")), "run/info")
    assert about["steps"] == list(range(10))
    assert told(report.page_of(gf.open(tmp_path / "run")), "run/metrics")["columns"]["validation_loss"][2] == [None]


def test_a_task_of_ones_own_is_in_it_as_it_was_recorded(tmp_path, monkeypatch):
    for name in ("_codes", "_files"):
        monkeypatch.setattr(own, name, {})
    source = Path(__file__).with_name("test_own_task.py").read_text().split("RULE = '''")[1].split("'''")[0]
    (tmp_path / "my_rule.py").write_text(source)
    run = noise(tmp_path / "run", load(str(tmp_path / "my_rule.py")))
    text = report.page_of(run)
    about = told(text, "run/info")
    assert about["experiment"]["code"] == run.about["experiment"]["code"]
    assert about["title"] == "After a 3 comes a 4."
    assert load_tensors(blocks(text)["run/data"])["file.task.py"].tobytes() == source.encode()
    assert issubclass(type(run.task), Rule)


def test_a_damaged_run_is_told_as_elsewhere(tmp_path):
    small_life.train(tmp_path / "run")
    weights = min((tmp_path / "run/weights").iterdir())
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    with pytest.raises(DamagedError, match="is not what was written"):
        report.page_of(gf.open(tmp_path / "run"))


# ---- the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with one run in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/mine-1").symlink_to(run_of("plus_last_even").path)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_the_command_writes_a_file_and_says_what_it_holds(monkeypatch):
    shown = []
    monkeypatch.setattr("glassformer.terminal.show_page", shown.append)
    answer = call("report", "mine", "--steps", 20, "--open")
    path = Path("reports/plus_last_even.html")
    assert (answer.code, shown) == (0, [path])
    assert answer.out.splitlines() == [
        "plus_last_even: 20 of its 301 kept steps",
        f"{path}, {path.stat().st_size / 1e6:.2g} MB: open it in any browser, with no network",
    ]
    answer = call(
        "report", "mine", "--step", 57, "--input", "10 + 10 6 +", "--edit", "zero(mixed,head=0)", "--edit", "mean(fed)",
        "--mode", "change", "--hide", "play, jump", "--with", "attention", "--steps", 9, "--json", "--out", "a/b.html",
    )  # fmt: skip
    found = answer.json
    assert found["link"] == (
        "#v1&step=57&mode=change&input=10%20%2B%2010%206%20%2B&edits=zero(mixed%2C%20head%3D0)%3B%20mean(fed)"
        "&hide=play%2Cjump"
    )
    text = Path("a/b.html").read_text()
    assert (found["file"], found["bytes"]) == ("a/b.html", len(text.encode()))
    assert told(text, "index")["link"] == found["link"]
    assert 57 in told(text, "plus_last_even/info")["steps"]
    assert told(text, "plus_last_even/analysis/attention")["facts"]["step"] == 57
    assert found["runs"][0]["analyses"] == ["attention"]


def test_nothing_is_written_over(here):
    call("report", "--steps", 2)
    before = {path: path.read_bytes() for path in Path("reports").iterdir()}
    assert call("report", "--steps", 2).out.splitlines()[-1].startswith("reports/plus_last_even.html, ")
    assert {path: path.read_bytes() for path in Path("reports").iterdir()} == before, "the same bytes: it is there"
    assert call("report", "--steps", 3).out.splitlines()[-1].startswith("reports/plus_last_even-2.html, ")
    assert {path: path.read_bytes() for path in before} == before
    assert call("report", "--steps", 2, "--out", "reports/plus_last_even.html").code == 0
    refused = call("report", "--steps", 4, "--out", "reports/plus_last_even.html")
    assert (refused.code, refused.out) == (2, "")
    assert "is there already and is not this report" in refused.err
    assert {path: path.read_bytes() for path in before} == before
    assert not list(here.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "nothing called 'nothing' in runs"),
        (["--with", "hesian"], "did you mean hessian?"),
        (["--with", "seeds"], "seeds cannot be had of plus_last_even: it needs a population"),
        (["--with", "attention", "--set", "foo=1"], "nothing called 'foo' in the options of attention"),
        (["--with", "attention", "--step", "3", "--set", "step=4"], "step is given twice, by --step and by --set"),
        (["--set", "step=4"], "--set needs the names of the analyses it is for"),
        (["--mode", "wach"], "did you mean watch?"),
        (["--hide", "pley"], "did you mean play?"),
        (["--step", "999"], "the nearest kept: 300"),
        (["--step", "soon"], "neither a kept step, nor last, nor best"),
        (["--input", "4 x"], "token 'x' at position 1"),
        (["--input", ""], "the text is empty"),
        (["--edit", "zero(mixd)"], "did you mean mixed?"),
        (["--members", "1"], "there is no member 1"),
        (["--members", "0,x"], "--members '0,x' is not a list of members"),
        (["--steps", "0"], "steps = 0 is not a whole number from 1 up"),
        (["--size", "nan"], "size = nan is not a number of megabytes above 0"),
        (["--size", "-1"], "size = -1 is not a number of megabytes above 0"),
        (["--size", "0.001"], "size = 0.001 MB is too little"),
        (["--out", "page.txt"], "page.txt does not end in .html"),
        (["--out", "runs.html"], "runs.html is a folder"),
        (["--out", ""], "an empty text names no folder"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_be_is_refused_in_one_sentence(words, said):
    Path("runs.html").mkdir()
    answer = call("report", *words)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert not Path("reports").exists()


@pytest.mark.parametrize("file", ["report.html", "further.js", "words/en.json"])
@pytest.mark.usefixtures("here")
def test_without_the_built_page_it_says_how_to_build_it(page, file):
    shutil.rmtree(page / "words") if file.startswith("words") else (page / file).unlink()
    answer = call("report")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.endswith(" is not built; `python hatch_build.py`, in the folder of the sources, builds it\n")
    (page / "report.html").write_text(TEMPLATE.replace(filling.DATA, ""), encoding="utf-8")
    with pytest.raises(DamagedError, match="has 0 <!--glassformer:data-->, not one"):
        filling.template()


def test_links_are_written_as_the_page_writes_them():
    """encodeURIComponent leaves these alone, and no others."""
    assert link.link() == link.link(mode=None, input="") == ""
    assert link.link(input="AZaz09-_.!~*'()") == "#v1&input=AZaz09-_.!~*'()"
    assert link.link(input='a b&c=d#%"é€\n') == "#v1&input=a%20b%26c%3Dd%23%25%22%C3%A9%E2%82%AC%0A"
    with pytest.raises(LimitError, match="the most is 4,096"):
        link.link(input="x" * 4096)


def test_the_page_has_the_modes_and_controls_that_the_command_knows():
    source = Path(__file__).parents[1] / "frontend/src/page"
    text = "".join((source / name).read_text("utf-8") for name in ("page.ts", "controls.ts"))
    for name in ("MODES", "CONTROLS"):
        listed = re.search(rf"const {name} = \[(.*?)\]", text, re.DOTALL)[1]
        assert tuple(re.findall('"([a-z]+)"', listed)) == getattr(link, name)
    panels = (source.parent / "panels").glob("*.svelte")
    named = [re.search(r'^ {4}name: "(\w+)"', path.read_text("utf-8"), re.M)[1] for path in panels]
    assert sorted(named) == list(link.PANELS)
    assert f'const VERSION = "{link.VERSION}";' in text
    assert f"const MOST = {link.MOST};" in text
