"""What things show of themselves in a notebook: complete, escaped, of bounded size; and a training's one line there."""

import re
import sys
from itertools import pairwise
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import glassformer as gf
from glassformer import notebook, session
from glassformer.films._film import scene
from glassformer.generation import Written
from glassformer.trace import Trace
from small_runs import POPULATION, run_of

RUN, TEXT = "plus_last_even", "1 2 3 +"
HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e\"'&"
RAW = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e]")


def harmless(shown):
    """No tag but ours, nothing that a browser or a terminal obeys."""
    assert "<img src=x" not in shown
    assert not RAW.search(shown)
    assert "\\u001b" in shown
    assert "\\u202e" in shown


class Task:
    """Two tokens, one of them hostile; after it, only the other is right."""

    vocabulary = (HOSTILE, "a")

    def readable(self, tokens):
        return " ".join(self.vocabulary[token] for token in tokens)

    def verify(self, tokens):
        return [
            None,
            *(bool(after) if before == 0 else None for before, after in pairwise(tokens)),
        ]


def test_what_is_written_is_lazy_and_remembers_and_shows_its_verdicts():
    asked = []

    def new():
        for token in (1, 0, 0):
            asked.append(token)
            yield token

    written = Written([0], new(), Task())
    assert asked == []
    assert next(written) == 1
    assert asked == [1]
    assert list(written) == [0, 0]
    assert written.ids == [1, 0, 0]
    assert written.right == [True, None, False]
    assert written.text == f"{HOSTILE} a {HOSTILE} {HOSTILE}"
    for shown in (str(written), repr(written), written._repr_html_()):
        assert not RAW.search(shown)
    assert repr(written).count("✓") == repr(written).count("✗") == 1
    assert repr(written).index("a✓") < repr(written).index("✗")
    harmless(written._repr_html_())
    assert written._repr_html_().count('title="right"') == written._repr_html_().count('title="wrong"') == 1


def test_a_text_of_a_run_is_what_its_ids_say():
    run = run_of(RUN)
    written = run.generate(TEXT, tokens=9, seed=3)
    ids = list(run.generate(run.tokens(TEXT), tokens=9, seed=3))
    assert written.ids == ids
    assert written.text == run.task.decode([*run.tokens(TEXT), *ids])
    assert written.right == run.task.verify(np.array([*run.tokens(TEXT), *ids]))[4:]


def test_a_trace_shows_every_point_in_a_labelled_table():
    run = run_of(RUN)
    seen = run.trace(TEXT)
    shown = seen._repr_html_()
    for name in seen:
        assert f"{name}: " in shown
        assert name in repr(seen)
    row = re.search(r"<summary>logits:.*?<tr><th>3 \+</th>(.*?)</tr>", shown, re.DOTALL)
    cells = [float(cell.replace("−", "-")) for cell in re.findall("<td>(.*?)</td>", row[1])]
    np.testing.assert_allclose(cells, seen["logits"][3], rtol=1e-3)


def test_hostile_words_stay_words():
    run, shown = run_of(RUN), notebook.text(HOSTILE)
    harmless(shown)
    seen = run.trace("0 1 0 +")
    words = (HOSTILE, *run.task.vocabulary[1:])
    trace = Trace(dict(seen), seen.tokens, 5, words, run.architecture)
    harmless(trace._repr_html_())
    assert not RAW.search(repr(trace))
    harmless(notebook.table([(HOSTILE, HOSTILE)], (HOSTILE, ""), HOSTILE))
    harmless(notebook.array(np.zeros((2, 2)), {"position": (HOSTILE, "b"), "token": ("c", HOSTILE)}))
    harmless(notebook.picture("", "png", HOSTILE))
    harmless(notebook.video("", HOSTILE))
    harmless(notebook.Line(HOSTILE)._repr_html_())


def test_large_arrays_are_shown_in_part():
    values = np.zeros((20, 100, 1000))
    axes = {name: tuple(map(str, range(size))) for name, size in zip("abc", values.shape, strict=True)}
    shown = notebook.array(values, axes)
    assert "and 12 more tables" in shown
    assert shown.count("<td>") == notebook.MOST_PANELS * notebook.MOST_DOWN * notebook.MOST_ACROSS
    assert notebook.array(np.array(1.5), {}) == "<p>1.5</p>"


def test_a_figure_and_a_result_show_themselves():
    run = run_of(RUN)
    figure = gf.figures.plot_attention(run)
    assert figure._repr_png_().startswith(b"\x89PNG")
    result = gf.analyses.attention(run)
    assert repr(figure) == f"<Figure: {result.title}>"
    assert repr(result).startswith(f"<Attention: {result.title}")
    assert len(repr(result)) < 2000
    for name in result.arrays():
        assert name in repr(result)
        assert f"{name}: " in result._repr_html_()


def test_a_film_is_inside_the_page_up_to_a_size(monkeypatch):
    film = gf.films.film_loss(run_of(RUN), frames=2)
    shown = film._repr_html_()
    assert re.search('src="data:(video/mp4|image/gif);base64,[A-Za-z0-9+/=]{1000}', shown)
    assert film._repr_html_() == shown
    monkeypatch.setattr(scene, "MOST_INLINE", 10)
    poster = gf.films.film_loss(run_of(RUN), frames=2)._repr_html_()
    assert 'src="data:image/png;base64,' in poster
    assert "film.save(...)" in poster


# ---- tables of pandas and xarray


def test_a_trace_as_a_table_has_each_number_in_its_place():
    seen = run_of(RUN).trace(TEXT)
    table = seen.to_pandas("attention")
    assert list(table.index.names) == ["block", "head", "query_position", "query_position_label"]
    assert list(table.columns) == list(enumerate(seen.words))
    assert table.loc[(0, 0, 3, "+"), (1, "2")] == seen["attention"][0, 0, 3, 1]
    assert list(seen.to_pandas("logits").columns) == list(run_of(RUN).task.vocabulary)
    assert seen.to_pandas("blocks.0.attn.hook_pattern").shape == (4, 4)
    long = seen.to_pandas()
    assert len(long) == sum(value.size for value in seen.values())
    one = long[(long.point == "hidden") & (long.block == 0) & (long.position == 2) & (long.neuron == 7)]
    assert one.value.item() == seen["hidden"][0, 2, 7]
    assert one.position_label.item() == "3"


@pytest.mark.parametrize("text", [TEXT, [[1, 2, 3], [4, 5, 6]]], ids=["text", "batch"])
def test_a_trace_as_a_data_set_has_labelled_axes(text):
    seen = run_of(RUN).trace(text)
    data = seen.to_xarray()
    assert set(data.data_vars) == set(seen)
    for name in seen:
        np.testing.assert_array_equal(data[name].values, seen[name])
    if text == TEXT:
        assert list(data["key_position_label"].values) == TEXT.split()
        picked = data["attention"].sel(block=0, head=0, query_position=3, key_position=1)
        assert picked.item() == seen["attention"][0, 0, 3, 1]
        assert picked["key_position_label"].item() == "2"


@pytest.mark.parametrize("name", [RUN, POPULATION])
def test_the_metrics_of_a_run_are_a_tidy_table(name):
    run = run_of(name)
    table = run.to_pandas()
    assert len(table) == run.members * len(run.metrics["step"])
    assert not table.duplicated(["step", "seed"]).any()
    for member, seed in enumerate(run.seeds):
        rows = table[table.seed == seed]
        assert rows.step.tolist() == run.metrics["step"].tolist()
        for metric, values in run.metrics.items():
            column = values[:, member] if values.ndim == 2 else values
            np.testing.assert_array_equal(rows[metric], column)


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "xarray", None)
    run = run_of(RUN)
    for work in (run.to_pandas, run.to_xarray, run.trace().to_pandas, run.trace().to_xarray):
        with pytest.raises(gf.Error, match=r"needs (pandas|xarray); `pip install 'glassformer\[analysis\]'` brings it"):
            work()


# ---- the line of a training


@pytest.fixture
def kernel(monkeypatch):
    """A stand-in for the kernel of a notebook, which keeps what is displayed."""
    shown = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=True)
    handle = SimpleNamespace(update=lambda line: shown.append((repr(line), line._repr_html_())))

    def show(line, display_id):
        assert display_id
        handle.update(line)
        return handle

    display.display = show
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_in_a_notebook_a_training_is_one_line_that_moves_and_stays(kernel, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(session, "OFTEN", 0.0)
    run = gf.train(
        "plus_last_even", steps=20, settings={"train.log_every": 5, "train.judged": 10}, out=tmp_path / "run"
    )
    assert capsys.readouterr() == ("", "")
    assert kernel[0][0] == "compiling"
    assert any("<progress" in shown and words.startswith("step ") for words, shown in kernel)
    last, shown = kernel[-1]
    assert last.startswith(f"{run.path}: 20 steps in ")
    assert f"excess {run.metrics['excess'][-1]:.3f}" in last
    assert "<progress" not in shown
    gf.train("plus_last_even", steps=20, settings={"train.log_every": 5, "train.judged": 10}, out=tmp_path / "run")
    assert capsys.readouterr() == (f"{run.path} is finished at step 20: opened, not trained again\n", "")
