"""`glassformer physics` leaves figures, arrays and a page whose every number is that of the run."""

import ast
import base64
import csv
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import glassformer.physics
from command import call
from glassformer.physics import _tell
from glassformer.physics._facts import Facts
from glassformer.physics._publish import OF_EVERY, OF_LIFE, OF_MEMORY, VIEWS
from glassformer.physics.models.boltzmann_memory import BoltzmannMemory, boltzmann_memory
from glassformer.physics.models.one_layer import OneLayer, one_layer
from glassformer.physics.models.short_cut import short_cut

SMALL = ("--tokens", 12, "--context", 4, "--steps", 20, "--temperatures", 6, "--target", 3)
VOID = {"meta", "img", "br", "link", "hr"}


class Page(HTMLParser):
    """What a reader sees, what the page asks for, and whether its tags close."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.words, self.images, self.links, self.anchors, self.tags = [], [], [], [], set(), set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.add(tag)
        self.open += [tag] if tag not in VOID else []
        self.images += [given] if tag == "img" else []
        self.links += [given["href"]] if "href" in given else []
        self.anchors |= {given["id"]} if "id" in given else set()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words).replace("\u00a0", " "))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("physics") / "deep" / "one_layer"
    answer = call("physics", "one_layer", "--out", folder, "--json")
    assert answer.code == 0, answer.err
    return answer, folder, Page((folder / "index.html").read_text("utf-8"))


@pytest.fixture(scope="module")
def facts():
    return Facts(one_layer(), short_cut(), boltzmann_memory())


def test_the_json_holds_the_published_numbers(made):
    found = made[0].json
    assert found["training_entropy"] == {
        "first": pytest.approx(4.37432463, abs=1e-6),
        "last": pytest.approx(0.10819234, abs=1e-6),
    }
    assert found["p_target"]["last"] == pytest.approx(0.98903943, abs=1e-6)
    assert found["mean_entropy"]["nearest_one"] == pytest.approx(1.89360376, abs=1e-6)
    assert found["temperature_farthest_from_one"] == 3.5
    assert found["reached_step"] == 30
    assert all(Path(each).is_file() for each in found["files"])


def test_every_figure_is_a_drawing_with_text(made):
    for name in (*OF_LIFE, "thermodynamics_1", "thermodynamics_2", "thermodynamics_3", "memory"):
        root = ET.fromstring((made[1] / f"{name}.svg").read_text("utf-8"))
        assert root.tag.endswith("svg")
        assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > 5, name


def test_arrays_come_back_from_text_and_from_npz(made):
    life, folder = one_layer(), made[1]
    read = lambda name: np.loadtxt(folder / "arrays" / f"{name}.txt")  # noqa: E731
    assert_allclose(read("entropy"), life.entropy, atol=1e-9)
    assert_allclose(read("attention"), life.attention, atol=1e-9)
    assert_allclose(read("kl").T, [life.steps[1:], life.kl], atol=1e-9)
    assert_allclose(read("training_entropy").T, [life.steps, life.training_entropy], atol=1e-9)
    assert_allclose(read("mean_entropy").T, [life.temperatures, life.mean_entropy], atol=1e-9)
    assert (read("tokens")[:, 1] == life.tokens).all()
    head = (folder / "arrays" / "entropy.txt").read_text().splitlines()[:3]
    assert head[0] == "# entropy (nats) by temperature, step"
    assert head[1].startswith("# rows: temperature = 0.2 0.313793")
    assert head[2].endswith(" 58 59")
    with np.load(folder / "arrays.npz") as packed:
        assert_allclose(packed["probabilities"], life.probabilities)
        assert_allclose(packed["temperatures"], life.temperatures)
    assert (np.loadtxt(folder / "memory" / "arrays" / "tape.txt") == boltzmann_memory().tape).all()


def test_the_page_is_whole_and_asks_for_nothing(made):
    _, folder, page = made
    assert not page.tags & {"script", "iframe", "link", "object"}
    assert {"view1", "view2", "view3", "top"} <= page.anchors
    for link in page.links:
        assert link.removeprefix("#") in page.anchors if link.startswith("#") else (folder / link).is_file()
    assert len(page.images) >= 19
    for image in page.images:
        kind, _, content = image["src"].partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert ET.fromstring(base64.b64decode(content)).tag.endswith("svg")
        assert len(image["alt"]) > 20


def test_the_three_views_tell_the_numbers_of_the_run(made, facts):
    text, life = made[2].text, facts.life
    assert "View 1, for a school student" in text
    assert "View 2, for a college student" in text
    assert "View 3, for a physicist" in text
    for value in (life.training_entropy[0], life.training_entropy[-1], facts.most, life.mean_entropy[0]):
        assert text.count(_tell.nats(value)) >= 2
    assert f"sinks to {_tell.power(life.p_target.min())} at step {life.p_target.argmin()}" in text
    assert f"ends at {_tell.power(life.p_target[-1])}" in text
    assert f"from step {facts.locked} on" in text
    assert "1.609438" in text  # ln 5, the limit of the memory model


def test_what_the_source_gets_wrong_is_said_with_the_measured_number(made, facts):
    text = made[2].text
    assert text.count("What the source gets wrong.") >= 6
    assert "that would be T = 3.5" in text
    assert "At the nearest, T = 0.9966" in text
    assert "W₁ and W₂: over the whole life they move by 0" in text
    low, high = facts.cosines("query").min(), facts.cosines("query").max()
    assert f"query {low:.2f} to {high:.2f}".replace("-", "\u2212") in text
    assert "Query and key have a true direction at 29 of the 60 steps only" in text
    assert f"between {facts.life.attention.min():.5f} and {facts.life.attention.max():.5f}" in text
    assert "a factor 1/T is missing" in text


def test_the_start_the_peaks_and_the_open_values_are_said(made, facts):
    text, life = made[2].text, facts.life
    assert "its other 7 places are columns of zeros" in text
    assert f"{100 * life.attention[0, :7].sum():.1f} % of the attention goes there" in text
    assert "at the last step it peaks at T = 1.7123 with C = 5.7132" in text
    assert "a Schottky peak at T = 1.7128 with C = 5.7166" in text
    assert "here α = 0.7, η = 0.05 and weights uniform in ±0.5" in text
    assert "(as published)" not in text


def test_the_sources_words_stand_beside_their_numbers(made, facts):
    text, life = made[2].text, facts.life
    for term in ("Entropy, ", "High entropy, ", "Low entropy, ", "Information, ", "Information loss, "):
        assert term in text
    h = life.training_entropy
    assert f"falls by {h[0] - h[-1]:.3f}, which is {(h[0] - h[-1]) / np.log(2):.2f} bits" in text
    for part in ("Embeddings: ", "Attention: ", "Residual paths: ", "Normalisation: ", "Positions: ", "Depth: "):
        assert part in text
    assert f"this life visits {facts.visited} in 60 steps" in text
    assert f"the plain mean of the values to {_tell.power(facts.anatomy('apart').max())}" in text
    energy = -(life.trained * life.logits).sum(axis=1)
    assert f"U at T = 1, goes from {_tell.nats(energy[0])} to {_tell.nats(energy[-1])}" in text
    assert f"turns the state by at most {_tell.number(facts.anatomy('turned').max(), 2)}°" in text
    for verdict in ("microstate. In part.", "mean field. Yes", "microcanonical ensemble. Not the energy.",
                    "scattering. Hardly.", "canonical ensemble. Yes, exactly", "low entropy. Yes"):  # fmt: skip
        assert verdict in text


def test_an_analogy_that_does_not_hold_says_so():
    """Large weights bend and turn what goes through them; a life that does not learn has no attractor."""
    text = " ".join(told(scale=3.0, steps=12))
    assert "scattering.</b> In part." in text
    assert "Not in this run: the last entropy" in text
    assert "differs from the plain mean" in text


def test_the_published_curves_are_drawn_at_their_temperature(made, facts):
    folder, life = made[1], facts.life
    result = json.loads((folder / "entropy_published.json").read_text("utf-8"))["result"]
    assert result["temperature"] == 3.5
    drawn = rows(folder / "entropy_published.csv", "by_step.entropy_at")
    assert_allclose(drawn, life.entropy[-1], rtol=1e-6)
    assert_allclose(rows(folder / "phase_published.csv", "by_step.loss_at"), life.loss[-1], rtol=1e-6)


def rows(path, panel):
    """The values of one panel in the file of numbers."""
    with path.open(encoding="utf-8") as file:
        return [float(row["value"]) for row in csv.DictReader(file) if row["panel"] == panel]


def told(**given):
    s = OneLayer(**given)
    facts = Facts(one_layer(s), short_cut(s), boltzmann_memory(BoltzmannMemory(seed=s.seed)))
    views = [tell(facts) for tell in VIEWS.values()]
    return paragraphs(views)


def told_of_memory(**given):
    seen = boltzmann_memory(BoltzmannMemory(**given))
    return paragraphs([tell(seen) for tell in OF_MEMORY.values()])


def paragraphs(views):
    return [
        paragraph
        for view in views
        for part in view.parts
        for paragraph in (*part.paragraphs, *part.remarks, *part.points)
        if paragraph
    ]


def test_another_seed_changes_the_numbers_of_nearly_every_paragraph():
    first, other = told(), told(seed=7)
    measured = [each for each in first if re.search(r"\d\.\d", each)]
    assert len(measured) > 35
    assert len(set(measured) & set(other)) <= 4  # those that speak of settings, and a number that rounds alike


def test_another_seed_changes_the_memorys_paragraphs_too():
    first, other = told_of_memory(), told_of_memory(seed=7)
    measured = [each for each in first if re.search(r"\d\.\d", each)]
    assert len(measured) > 20
    assert len(set(measured) & set(other)) <= 7  # of the decay, of the rate and of the factor 1/T alone


WORDS = ("_school", "_college", "_physicist", "_remarks", "_dictionary", "_memory", "_memory_school", "_memory_college")


@pytest.mark.parametrize("name", WORDS)
def test_no_number_is_typed(name):
    """The digits in the texts themselves: names of quantities, zero and one, and the view's own wording."""
    path = Path(glassformer.physics.__file__).parent / f"{name}.py"
    tree = ast.parse(path.read_text("utf-8"))
    kinds = ast.Module | ast.FunctionDef | ast.ClassDef
    docs = {
        id(each.value)
        for node in ast.walk(tree)
        if isinstance(node, kinds) and isinstance(each := node.body[0], ast.Expr)
    }
    keys = {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    formats = {id(each) for node in ast.walk(tree) if isinstance(node, ast.FormattedValue) and node.format_spec
               for each in ast.walk(node.format_spec)}  # fmt: skip
    allowed = {"0", "1", "1.00", "2", "3"}  # T = 1, the headed “T = 1.00”, W_1, W_2, T², T³
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | keys | formats:
            assert set(re.findall(r"\d[\d.]*\d|\d", node.value)) <= allowed | {"00a0", "2212"}, node.value


def test_sentences_stay_true_when_it_does_not_learn():
    text = " ".join(told(steps=12, output_rate=0.001))
    assert "it did not become sure" in text
    assert "not yet learning the answer" in text
    assert "does not get there, and neither do true gradients" in text
    assert "became sure" not in text.replace("not become sure", "")
    still = " ".join(told(steps=6, output_rate=0, projection_rate=0))
    assert "nan" not in still
    assert "does not change the query, key and value matrices at all" in still


@pytest.mark.parametrize(
    "given",
    [{"gradients": "true"}, {"feedback": "sampled"}, {"context": 1}, {"tokens": 2, "target": 1, "steps": 3},
     {"temperatures": 1}, {"scale": 3.0}, {"output_rate": 3.0}, {"target": 33}, {"steps": 2}],
    ids=str,
)  # fmt: skip
def test_every_setting_can_be_told(given):
    text = " ".join(told(**given))
    assert "nan" not in text
    assert "inf" not in text.replace("infinite", "")
    assert "None" not in text


@pytest.mark.parametrize(
    "given",
    [{"gradients": "true"}, {"feedback": "argmax"}, {"tokens": 2, "target": 1, "steps": 3}, {"temperatures": 1},
     {"rate": 0}, {"rate": 5.0}, {"decay": 1e-6}, {"decay": 0.999}, {"steps": 2}, {"scale": 50.0}, {"coldest": 0.001}],
    ids=str,
)  # fmt: skip
def test_every_memory_can_be_told(given):
    text = " ".join(told_of_memory(**given))
    assert "nan" not in text
    assert "inf" not in text.replace("information", "")
    assert "None" not in text


def test_a_memory_that_does_not_learn_is_not_said_to():
    text = " ".join(told_of_memory(rate=0.0))
    assert "It became right" not in text
    assert "It did not become right" in text
    assert "not reached" in str([part.table for part in OF_MEMORY[2](boltzmann_memory(BoltzmannMemory(rate=0))).parts])


def test_the_memory_is_told_with_its_own_numbers():
    m = boltzmann_memory()
    text = " ".join(told_of_memory())
    k, third = m.nearest_one, 20
    below = [t for t in range(60) if m.probabilities[k, t, m.target] < 0.95]
    assert f"From step {below[-1] + 1} on it stays above 95 %" in text
    assert 0.7**13 < 0.01 < 0.7**12
    assert "after 13 steps less than a hundredth is left" in text
    share = np.mean(m.tape[-1, -third:] == m.target)
    assert f"{_tell.power(share)} for the hottest" in text
    promised = np.mean([m.probabilities[-1, t, m.target] for t in range(39, 59)])  # each draws the token of the next
    assert f"{_tell.power(share)} at T = 3.5, where the chances promised {_tell.power(promised)}" in text
    assert f"at {sum(np.diff(m.entropy[k]) > 0)} of 59 changes the entropy rises" in text


def test_a_view_alone_and_other_sizes(tmp_path):
    answer = call("physics", "one_layer", *SMALL, "--view", 2, "--gradients", "true", "--seed", 3, "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert "p(target)" in answer.out
    assert str(tmp_path / "index.html") in answer.out
    page = Page((tmp_path / "index.html").read_text("utf-8"))
    assert "view2" in page.anchors
    assert not {"view1", "view3"} & page.anchors
    life = one_layer(OneLayer(tokens=12, context=4, steps=20, temperatures=6, target=3, gradients="true", seed=3))
    assert f"It starts at {life.training_entropy[0]:.3f}" in page.text


def test_the_summarys_sizes_run(tmp_path):
    answer = call("physics", "--tokens", 60, "--context", 80, "--steps", 120, "--out", tmp_path, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["tokens"] == 60
    assert answer.json["most_entropy"] == pytest.approx(np.log(60))


def test_the_memory_model_has_a_page_of_its_own(tmp_path):
    given = ("--tokens", 4, "--target", 1, "--decay", 0.5, "--rate", 0.2, "--steps", 30, "--seed", 8)
    answer = call("physics", "boltzmann_memory", *given, "--out", tmp_path, "--json")
    assert answer.code == 0, answer.err
    seen = boltzmann_memory(BoltzmannMemory(tokens=4, target=1, decay=0.5, rate=0.2, steps=30, seed=8))
    assert answer.json["tape"] == seen.tape[seen.nearest_one].tolist()
    assert (np.loadtxt(tmp_path / "arrays" / "tape.txt") == seen.tape).all()
    assert_allclose(np.loadtxt(tmp_path / "arrays" / "memory.txt"), seen.memory.reshape(-1, 4), atol=1e-9)
    page = Page((tmp_path / "index.html").read_text("utf-8"))
    assert "tends to 2 and is 2 at the last step" in page.text
    assert {"view1", "view2", "view3"} <= page.anchors
    assert len(page.images) == 7 + 7 + 6  # of each view, every figure it shows


def test_one_view_of_the_memory(tmp_path):
    answer = call("physics", "boltzmann_memory", "--steps", 12, "--temperatures", 4, "--view", 1, "--out", tmp_path)
    assert answer.code == 0, answer.err
    page = Page((tmp_path / "index.html").read_text("utf-8"))
    assert "view1" in page.anchors
    assert not {"view2", "view3"} & page.anchors


def test_figures_by_name_in_every_format_size_and_theme(tmp_path):
    """Named figures are drawn as any other: nothing but them, in the formats, size and theme asked for."""
    words = ("--set", "temperature=3.5", "--format", "svg,png,pdf,csv", "--size", "print", "--theme", "dark")
    answer = call("physics", "one_layer", "entropy", "phase", *words, "--out", tmp_path, "--json")
    assert answer.code == 0, answer.err
    made = sorted(Path(each).name for each in answer.json["files"])
    kinds = ("csv", "json", "pdf", "png", "svg")
    assert made == [f"{name}_temperature-3.5_print_dark.{kind}" for name in ("entropy", "phase") for kind in kinds]
    assert sorted(path.name for path in tmp_path.iterdir()) == made
    life = one_layer()
    assert_allclose(rows(tmp_path / made[0], "by_step.entropy_at"), life.entropy[-1], rtol=1e-6)
    about = json.loads((tmp_path / made[1]).read_text("utf-8"))
    assert (about["theme"], about["size"], about["options"]) == ("dark", "print", {"temperature": 3.5})
    assert (tmp_path / made[2]).read_bytes().startswith(b"%PDF")
    assert (tmp_path / made[3]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("model", ["one_layer", "boltzmann_memory"])
def test_every_figure_of_a_model_can_be_named(model, tmp_path):
    names = (*(OF_LIFE if model == "one_layer" else OF_EVERY), "thermodynamics")
    given = ("--steps", 8, "--temperatures", 4, "--size", "slide", "--format", "png", "--out", tmp_path)
    answer = call("physics", model, *names, *given)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [str(tmp_path / each) for each in map(Path, answer.out.splitlines())]
    for name in names:
        assert (tmp_path / f"{name}_slide.png").is_file()
    assert (tmp_path / "thermodynamics_page2_slide.png").is_file()


def test_a_page_of_dark_slides_shows_every_page_of_a_figure(tmp_path):
    given = ("--steps", 8, "--temperatures", 4, "--size", "slide", "--theme", "dark", "--format", "csv")
    answer = call("physics", "boltzmann_memory", *given, "--out", tmp_path)
    assert answer.code == 0, answer.err
    html = (tmp_path / "index.html").read_text("utf-8")
    page = Page(html)
    assert "color-scheme: dark" in html
    assert "prefers-color-scheme" not in html
    assert len(page.images) > 20
    assert all(link.startswith("#") for link in page.links)  # no picture was wished for beside the page
    assert not list(tmp_path.glob("*.svg"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--coldest", 0), "one_layer.coldest = 0.0 is not allowed; it is a number from 0.001 to"),
        (("--coldest", -1), "one_layer.coldest = -1.0"),
        (("--hottest", "nan"), "one_layer.hottest = nan"),
        (("--output-rate", "nan"), "one_layer.output_rate = nan"),
        (("--steps", -4), "one_layer.steps = -4 is not allowed; it is a whole number from 2 to 10,000"),
        (("--target", 80), "one_layer.target = 80 is not one of the 80 tokens; it is a whole number from 0 to 79"),
        (("--gradients", "exact"), "one_layer.gradients = 'exact' is not allowed; it is one of 'heuristic', 'true'"),
        (("--decay", 1), "boltzmann_memory.decay = 1.0"),
        (("--view", 4), "view = 4 is not there"),
        (("boltzmann_memory", "--view", 4), "it is 1 (school), 2 (college) or 3 (physicist)"),
        (("boltzmann_memory", "attention_profile"), "nothing called 'attention_profile' in the figures of boltzm"),
        (("one_layer", "entropie"), "(did you mean entropy?)"),
        (("one_layer", "phase", "--set", "heat=2"), "nothing called 'heat' in the options of phase"),
        (("one_layer", "phase", "--set", "temperature=0"), "temperature"),
        (("one_layer", "phase", "--view", 2), "--view is for the page"),
        (("one_layer", "--set", "temperature=3.5"), "--set needs the names of the figures it is for"),
        (("--theme", "blue"), "nothing called 'blue' in the themes"),
        (("--size", "poster"), "nothing called 'poster' in the sizes"),
        (("--format", "gif"), "nothing called 'gif' in the formats"),
        (("boltzmann_memory", "--context", 8), "--context 8 is not a setting of boltzmann_memory"),
        (("one_layers",), "nothing called 'one_layers' in the physics models (did you mean one_layer?)"),
    ],
)
def test_what_is_not_allowed_ends_with_a_sentence_and_nothing_written(words, sentence, tmp_path):
    answer = call("physics", *words, "--out", tmp_path / "out")
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
