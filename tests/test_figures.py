"""Every figure in the folder, found by listing it: what it promises is drawn, true, and made of its result alone.

One contract for every figure: at home at every size, and on one run of another kind.
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from zlib import crc32

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

import hand_wired
from command import call
from glassformer import _discover, analyses, catalogue, figures, gallery
from glassformer.analyses._result import Result
from glassformer.errors import Error, MissingError
from glassformer.figures import _draw, _style
from glassformer.figures._draw import files
from small_runs import MODULAR, NAN, POPULATION, TEXT, run_of
from small_studies import study_of

NAMES = _discover.names(figures)
PLACES = {name: Path(figures.__path__[0]).joinpath(*place.split(".")[2:]).with_suffix(".py")
          for name, place in _discover.places(figures).items()}  # fmt: skip
RUNS = ("plus_last_even", "five_operations", TEXT, "even_abs_diff", MODULAR)  # a figure's home is the first that fits
THEMES = {"screen": "light", "slide": "dark", "print": "light", "print_narrow": "light"}  # size: theme


def one_in(many, name):
    """Whether a figure is in a fixed sample: by its name alone, so that a new figure does not change the others."""
    return crc32(name.encode()) % many == 0


def subject_of(name, run="plus_last_even"):
    """What the figure is drawn from, where that is this run, or the small run or study of its kind."""
    needs = catalogue.entry("figures", name).needs
    if needs == "nothing":
        return ()
    if needs == "study":
        return (study_of(name),)
    found = run_of(POPULATION if needs == "population" else run)
    return ([found, run_of("plus_last_even")],) if needs == "runs" else (found,)


def refused(name, subject):
    """Why the figure does not apply."""
    one = subject[0] if subject else None
    return catalogue.why_not(catalogue.entry("figures", name), one[0] if isinstance(one, list) else one)


def draw(name, run="plus_last_even", **options):
    subject = subject_of(name, run)
    if reason := refused(name, subject):
        pytest.skip(reason)
    known = {option.name for option in catalogue.entry("figures", name).options} | {"ax"}
    return getattr(figures, f"plot_{name}")(*subject, **{key: each for key, each in options.items() if key in known})


@cache
def home_of(name):
    """The first of the runs that the figure applies to."""
    return next(run for run in RUNS if not refused(name, subject_of(name, run)))


@cache
def away_of(name):
    """Another kind of run that the figure applies to, questions or a text; None if there is none."""
    if catalogue.entry("figures", name).needs != "run" or catalogue.entry("figures", name).cost == "d":
        return None  # it compiles for long: one run is enough
    kinds = [run for run in ("five_operations", TEXT) if run != home_of(name)]
    fitting = [run for run in kinds if not refused(name, subject_of(name, run))]
    return fitting[crc32(name.encode()) % len(fitting)] if fitting else None


@cache
def seen_of(name):
    """The result of the figure's analysis at home."""
    return getattr(analyses, name)(*subject_of(name, home_of(name)))


REFUSED_IMPORTS = (
    "jax",
    "matplotlib.pyplot",
    "glassformer.model",
    "glassformer.training",
    "glassformer.run",
    "glassformer.ref",
)


def source_faults(text: str) -> Iterator[str]:
    """What the source of a figure must not contain."""
    for match in re.finditer(r"#[0-9A-Fa-f]{6}\b|#[0-9A-Fa-f]{3}\b[\"']", text):
        yield f"the colour {match.group()} belongs in _style"
    for node in ast.walk(ast.parse(text)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from (f"it imports {module}" for module in modules if module.startswith(REFUSED_IMPORTS))


def test_figures_compute_nothing_choose_no_colours_and_name_the_codes_they_answer():
    faults = [f"{name}: {fault}" for name in NAMES for fault in source_faults(PLACES[name].read_text("utf-8"))]
    for name in NAMES:
        if not catalogue.entry("figures", name).answers:
            faults.append(f"{name}: it does not say which codes of the sources it answers, or ('new',)")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", NAMES)
def test_at_home_it_keeps_its_promises_at_every_size(name):
    """From the subject, or from its result after a trip through JSON: the same numbers, drawn as promised."""
    subject = subject_of(name, home_of(name))
    digest = subject[0].digest() if subject and hasattr(subject[0], "digest") else None
    seen = seen_of(name)
    back = analyses.from_plain(json.loads(json.dumps(seen.plain(), allow_nan=False)))
    assert back == seen
    numbers_are_labelled(seen)
    before, plot = dict(matplotlib.rcParams), getattr(figures, f"plot_{name}")
    for size, theme in THEMES.items():
        figure = plot(back, size=size, theme=theme)
        figure.draw_without_rendering()
        text_is_large_enough_and_on_the_page(figure, size)
    words_are_sentences(figure, home_of(name))
    heat_maps_hold_the_numbers(figure)
    assert dict(matplotlib.rcParams) == before, "nothing global is touched"
    assert digest is None or subject[0].digest() == digest, "the run is left unchanged"


@pytest.mark.parametrize("name", [name for name in NAMES if not one_in(2, name)])
def test_away_from_home_it_keeps_its_promises(name):
    """One run of another kind: questions with one answer, or a text; the snapshot has the numbers of all of them."""
    if away_of(name) is None:
        pytest.skip("it applies to no other kind of run, or compiles for long")
    seen = getattr(analyses, name)(*subject_of(name, away_of(name)))
    assert analyses.from_plain(json.loads(json.dumps(seen.plain(), allow_nan=False))) == seen
    figure = getattr(figures, f"plot_{name}")(seen, theme="dark")
    figure.draw_without_rendering()
    words_are_sentences(figure, away_of(name))
    numbers_are_labelled(seen)
    heat_maps_hold_the_numbers(figure)
    text_is_large_enough_and_on_the_page(figure, "screen")


@pytest.mark.parametrize("name", [name for name in NAMES if one_in(8, name)])
def test_the_picture_is_made_of_the_result_alone(name):
    """analysis → JSON → result → picture gives the same bytes as analysis → picture."""
    plot = getattr(figures, f"plot_{name}")
    back = analyses.from_plain(json.loads(json.dumps(seen_of(name).plain())))
    svg = _draw.data(plot(*subject_of(name, home_of(name))), "svg")
    assert svg == _draw.data(plot(back), "svg")
    assert b"<text" in svg
    assert b"<dc:date>" not in svg


def words_are_sentences(figure, run):
    shown = _draw.of(figure)
    for text in (shown.words.title, shown.words.caption, shown.words.alt):
        assert len(text.split()) >= 3
        assert text == text.strip()
        assert not re.search(r"\bnan\b|\binf\b|\{|\}|\bNone\b(?! of)", text), text
    title, caption = shown.words.title, shown.words.caption
    assert shown.result.title
    assert not title.endswith(".")
    assert title[0].isupper() or not title[0].isalpha() or run == TEXT  # which may begin with a token
    assert caption.endswith((".", "!", "?"))
    titles = [text for text in figure.findobj(matplotlib.text.Text) if text.get_gid() == "title"]
    assert len(titles) == 1
    assert titles[0].get_text().replace("\n", " ") == title
    if run == TEXT and shown.result.step is not None:  # nobody knows the least loss of a text, or what must come next
        assert not re.search(r"\bfloor\b|exact predictor|above the rule|\bmemorising\b", title), title
        assert "exact predictor" not in caption, caption


def numbers_are_labelled(seen):
    assert isinstance(seen, Result)
    arrays = seen.arrays()
    assert arrays
    for name, each in arrays.items():
        for axis, places in each.axes.items():
            if places.kind in ("step", "position", "quantity", "rank", "block", "head", "neuron", "feature", "member"):
                assert not any(isinstance(place, str) for place in places.values), (
                    f"{name}: {axis} has texts for numbers"
                )
            assert len(set(places.values)) == len(places.values), (
                f"{name}: two places of {axis} are told apart by nothing"
            )
    columns, rows = seen.table()
    assert columns[0] == "panel"
    assert columns[-1] == "value"
    assert len(set(columns)) == len(columns)
    if seen.size <= 20_000:
        assert sum(len(row) == len(columns) for row in rows) == seen.size > 0
        assert len(seen.to_pandas()) == seen.size
    data = seen.to_xarray()
    assert set(data.data_vars) == set(arrays)


def heat_maps_hold_the_numbers(figure):
    arrays = [each.values for each in _draw.of(figure).result.arrays().values()]
    for image in figure.findobj(AxesImage):
        values = image.get_array()
        if values is not None and values.ndim == 2 and image.axes.get_label() != "<colorbar>":
            assert held(values, arrays), f"a heat map of {values.shape} is not in the result"
    for mesh in figure.findobj(QuadMesh):
        if mesh.axes.get_label() != "<colorbar>":
            assert held(mesh.get_array(), arrays)


def held(values, arrays):
    """Whether one of the result's arrays holds these numbers, as a slice of its last two axes or turned round."""
    values = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
    for each in arrays:
        whole = np.asarray(each)
        if whole.dtype.kind not in "fiub" or whole.ndim < 1 or not whole.size:
            continue
        whole = whole.astype(float)
        flat = [whole.reshape(-1, *whole.shape[-2:])] if whole.ndim >= 2 else []
        turned = [np.swapaxes(part, -1, -2) for part in flat]
        extra = [np.moveaxis(whole, -1, 0).reshape(-1, *whole.shape[:-1][-2:])] if whole.ndim >= 3 else []
        rows = [whole.reshape(-1, 1, whole.shape[-1]), whole.reshape(-1, whole.shape[-1], 1)]
        sheets = [whole.reshape(1, -1, whole.shape[-1]), whole.reshape(1, whole.shape[0], -1)]  # axes side by side
        for stack in [*flat, *turned, *extra, *rows, *sheets]:
            if stack.shape[1:] == values.shape:
                seen = np.isfinite(values)
                close = np.isclose(stack, values, rtol=1e-5, atol=1e-7) | ~seen
                if close.all(axis=(1, 2)).any():
                    return True
    every = np.concatenate([np.ravel(each).astype(float) for each in arrays if np.asarray(each).dtype.kind in "fiub"])
    drawn = values[np.isfinite(values)]  # laid out in another way: then every number is one of the result's, to the bit
    return bool(np.isin(drawn, every).all())


def text_is_large_enough_and_on_the_page(figure, size):
    """Of a figure that has been laid out on pixels."""
    least = _style.size(size).text - 0.01
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_text().strip() and text.get_visible():
            assert text.get_fontsize() >= least, text.get_text()
    width, height = figure.get_size_inches()
    widths = [_style.size(size).width, *([_style.size("print").width] if size == "print_narrow" else [])]
    assert any(width == pytest.approx(each) for each in widths)  # a narrow page takes the whole width if it must
    if size == "slide":
        assert height == pytest.approx(7.5)
    elif size.startswith("print"):
        assert height <= 250 / 25.4 + 1e-9
    assert cut_off(figure) == []


def cut_off(figure):
    """The texts that reach over an edge of a figure that has been drawn."""
    beyond = set()  # a tick outside the limits of its axis has a label that is never drawn
    for axes in figure.findobj(Axes):
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            scale = axis.get_transform().transform
            low, high = sorted(scale(np.array(ends)))
            for tick in (*axis.majorTicks, *axis.minorTicks):
                at = (scale(np.array([tick.get_loc()]))[0] - low) / (high - low)
                if not axes.axison or not -1e-6 <= at <= 1 + 1e-6:
                    beyond |= {tick.label1, tick.label2}
    found = []
    for text in figure.findobj(matplotlib.text.Text):
        clipped = text.get_clip_on() and text.get_clip_box() is not None  # to its panel, on purpose
        if text.get_text().strip() and text.get_visible() and not clipped and text not in beyond:
            box = text.get_window_extent()
            begins = box.x0 >= -2 and box.y0 >= -2
            if not (begins and box.x1 <= figure.bbox.width + 2 and box.y1 <= figure.bbox.height + 2):
                found.append(text.get_text())
    return found


def test_a_text_over_the_edge_would_be_seen():
    figure = Figure(figsize=(3, 2))
    FigureCanvasAgg(figure)
    for x in (0.5, 0.95, -0.1):
        figure.text(x, 0.5, f"at {x}")
    figure.canvas.draw()
    assert cut_off(figure) == ["at 0.95", "at -0.1"]


@pytest.mark.parametrize("name", [name for name in NAMES if one_in(4, name)])
def test_it_draws_into_what_it_is_given(name):
    whole = Figure(figsize=(14, 9))
    FigureCanvasAgg(whole)
    left, right = whole.subfigures(1, 2)
    plot, seen = getattr(figures, f"plot_{name}"), seen_of(name)
    assert plot(seen, ax=left) is whole
    assert plot(seen, ax=right.add_subplot()) is whole
    whole.draw_without_rendering()


@pytest.mark.parametrize("name", [name for name in NAMES if one_in(2, name)])
def test_it_draws_a_model_before_its_first_step(name):
    if not catalogue.entry("figures", name).option("step"):
        pytest.skip("it has no step")
    if catalogue.entry("figures", name).cost == "d":
        pytest.skip("it compiles for long, and computes the first step as all others")
    figure = draw(name, home_of(name), step=0)
    figure.draw_without_rendering()
    assert not re.search(r"\bnan\b|\binf\b", _draw.of(figure).words.title)


@pytest.mark.parametrize("name", ["accuracy", "by_kind", "confusion", "embeddings", "fourier", "loss", "readout"])
def test_it_draws_a_table_of_many_answers(name):
    draw(name, MODULAR).canvas.draw()


@pytest.mark.parametrize("name", NAMES)
def test_a_diverged_run_is_drawn_and_named_as_such(name):
    each = catalogue.entry("figures", name)
    if each.needs != "run" or each.cost == "d":
        pytest.skip("not drawn from a run, or compiled for long: test_analyses_path has a diverged one")
    figure = draw(name, NAN)
    figure.canvas.draw()
    title = _draw.of(figure).words.title
    assert not re.search(r"\bnan\b|\binf\b", title)
    assert analyses.from_plain(json.loads(json.dumps(_draw.of(figure).result.plain()))) == _draw.of(figure).result
    if any(each.option(option) for option in ("step", "steps", "member")):  # else it shows nothing that was trained
        assert re.search(r"diverged|not (a )?numbers?\b|exploding loss", title), title


@pytest.mark.parametrize("name", NAMES)
def test_a_step_that_was_not_kept_is_refused_with_the_nearest(name):
    each = catalogue.entry("figures", name)
    if not each.option("step") or each.needs == "nothing":
        pytest.skip("it has no step")
    with pytest.raises(MissingError, match="nearest"):
        draw(name, home_of(name), step=7_777_777)


@pytest.mark.parametrize("name", [name for name in NAMES if catalogue.entry("figures", name).option("sequence")])
@pytest.mark.parametrize("sequence", ["4 x 9", "", "1 " * 40])
def test_a_sequence_the_model_cannot_see_is_refused(name, sequence):
    with pytest.raises(Error):
        draw(name, sequence=sequence)


def signature_faults(name: str) -> Iterator[str]:
    """How the public function of a figure differs from its entry in the catalogue."""
    plot = getattr(figures, f"plot_{name}")
    parameters = signature(plot).parameters
    for option in catalogue.entry("figures", name).options:
        parameter = parameters.get(option.name)
        if parameter is None or parameter.kind is not Parameter.KEYWORD_ONLY:
            yield f"{option.name} is not a keyword argument"
        elif parameter.default != option.default:
            yield f"{option.name} is {parameter.default!r} by default, and {option.default!r} in the catalogue"
    if not plot.__doc__:
        yield "it has no docstring"
    if plot.__name__ != f"plot_{name}":
        yield f"its name is {plot.__name__}"
    try:
        plot(*subject_of(name, home_of(name)), no_such_option=1)
    except TypeError:
        pass
    else:
        yield "it takes an option that does not exist"


def test_the_public_functions_take_the_options_of_the_catalogue_and_no_others():
    faults = [f"plot_{name}: {fault}" for name in NAMES for fault in signature_faults(name)]
    assert not faults, "\n".join(faults)


def test_a_figure_in_a_file_brings_its_numbers_back(tmp_path):
    figure = draw("attention")
    path = files.save_numbers(figure, tmp_path / "attention.json", {"figure": "attention"})
    told = json.loads(path.read_text("utf-8"))
    assert told["title"] == _draw.of(figure).words.title
    back = analyses.from_plain(told["result"])
    assert back == _draw.of(figure).result
    assert _draw.data(figures.plot_attention(back), "svg") == _draw.data(figure, "svg")
    rows = _draw.save(figure, tmp_path / "attention.csv").read_text("utf-8").splitlines()
    assert len(rows) == back.size + 1


# ---- the style -------------------------------------------------------------------------------------------------------

GROUPS = (
    ("query", "key", "value", "feed_forward", "ink"),
    ("right", "wrong", "unconstrained", "ink"),
    ("train", "validation", "wrong", "rung", "ink"),
)
VISION = {  # linear RGB of what is seen with one kind of cone missing (Viénot 1999; tritan: Brettel 1997, one plane)
    "normal": np.eye(3),
    "protan": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deutan": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
    "tritan": [[1.01277, 0.13548, -0.14826], [-0.01243, 0.86812, 0.14431], [0.07589, 0.80500, 0.11911]],
}


def linear(colour):
    c = np.array(matplotlib.colors.to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    lms = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                    [0.0883024619, 0.2817188376, 0.6299787005]]) @ np.clip(rgb, 0, 1)  # fmt: skip
    return np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                     [0.0259040371, 0.7827717662, -0.8086757660]]) @ np.cbrt(lms)  # fmt: skip


@pytest.mark.parametrize("theme", _style.THEMES)
@pytest.mark.parametrize("vision", VISION)
def test_colours_that_stand_together_can_be_told_apart(theme, vision):
    for group in GROUPS:
        seen = {name: oklab(np.array(VISION[vision]) @ linear(_style.theme(theme)[name])) for name in group}
        for a in group:
            for b in group:
                if a < b:
                    assert np.linalg.norm(seen[a] - seen[b]) >= 0.11, (a, b)


@pytest.mark.parametrize("theme", _style.THEMES)
def test_text_and_lines_stand_out_from_the_paper(theme):
    t = _style.theme(theme)

    def contrast(a, b):
        bright = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(c)) + 0.05 for c in (a, b))
        return bright[1] / bright[0]

    for name in ("ink", "quiet"):
        assert contrast(t[name], t.paper) >= 4.5, name
    for name in ("query", "key", "value", "feed_forward", "right", "wrong", "train", "validation", "rung"):
        assert contrast(t[name], t.paper) >= 3, name


def test_every_sign_has_a_glyph():
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family=["DejaVu Sans"])))
    for sign in "✓✗∅●■▲◆␣⏎⇥₀₁₂₃₄₅₆₇₈₉·≈×\u2212\u202f“”":
        assert font.get_char_index(ord(sign)), f"{sign} ({ord(sign):x})"


# ---- the shared parts ------------------------------------------------------------------------------------------------


def test_labels_never_cover_each_other_and_those_left_out_are_told():
    figure = Figure()
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0, 0, 1, 1))
    rng = np.random.default_rng(0)
    points = np.vstack([rng.random((60, 2)), np.full((20, 2), 0.5)])
    _draw.frame(ax, points)
    written = _draw.labels(ax, points, [f"t{k}" for k in range(80)], colours="black", first=[70])
    assert 70 in written
    assert len(written) < 80
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == len(written)
    for k, a in enumerate(boxes):
        for b in boxes[k + 1 :]:
            assert min(a.x1, b.x1) - max(a.x0, b.x0) <= 1 or min(a.y1, b.y1) - max(a.y0, b.y0) <= 1


def test_tokens_that_look_like_mathematics_are_written_as_they_are():
    figure = Figure()
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    with matplotlib.rc_context(_style.rc("light", "screen")):
        words = ["$x_1$", "<&>", " ", "$"]
        _draw.heat(ax, np.eye(4), kind="share", theme=_style.theme("light"), rows=words, columns=words)
    svg = _draw.data(figure, "svg").decode()
    assert "$x_1$" in svg
    assert "&lt;&amp;&gt;" in svg
    assert "␣" in svg


def test_the_first_line_of_a_title_leaves_room_for_the_clock():
    lines = _draw.wrap("one two three four five six seven eight nine ten", 13, 3.0, first=1.0)
    assert " ".join(lines) == "one two three four five six seven eight nine ten"
    assert _draw.text_width(lines[0], 13) <= 1.0
    assert max(_draw.text_width(line, 13) for line in lines) > 1.0


def test_a_number_and_its_sign_stay_on_one_line():
    for width in (0.6, 0.8, 1.0, 1.2, 1.5, 2.0):
        assert not any(line.startswith(("%", "×")) for line in _draw.wrap("up to 45 % or 5.3 × of it", 13, width))


def test_places_are_written_only_as_many_as_have_room():
    figure, em = matplotlib.figure.Figure(figsize=(4, 1), dpi=100), matplotlib.rcParams["font.size"] * 100 / 72
    ax = figure.add_axes((0.2, 0.2, 0.6, 0.6))
    _draw.places(ax, [f"4@{k}" for k in range(16)], "y")
    high = ax.get_window_extent().height
    gaps = np.diff(ax.get_yticks()) * high / 16
    assert 1 < len(ax.get_yticks()) < 16
    assert gaps.min() >= em


def test_a_title_wraps_into_lines_that_fit():
    lines = _draw.wrap("one two three four five six seven eight nine ten", 13, 1.5)
    assert " ".join(lines) == "one two three four five six seven eight nine ten"
    assert all(_draw.text_width(line, 13) <= 1.5 for line in lines)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_has_the_colours_of_its_figures(theme, tmp_path):
    (made,) = gallery.gallery(run_of("plus_last_even"), tmp_path, gallery.Wish(theme=theme), only=("mask",))
    text = (tmp_path / "index.html").read_text("utf-8")
    paper = _style.theme(theme).paper
    assert f"--paper: {paper};" in text
    assert f"color-scheme: {theme};" in text
    assert "prefers-color-scheme" not in text, "a page that follows the reader would show light figures on dark"
    svg = next(name for name in made.files if name.endswith(".svg"))
    assert paper.lower() in (tmp_path / svg).read_text("utf-8").lower()


def test_the_gallery_tells_what_failed_and_draws_the_rest(tmp_path, monkeypatch):
    run = run_of("plus_last_even")
    broken = _discover.file(figures, "attention")
    assert figures.plot_attention, "made of what is about to be broken, and kept"
    monkeypatch.setattr(broken, "draw", lambda *_, **__: 1 / 0)
    both = ("loss", "attention")
    made = gallery.gallery(run, tmp_path / "out", only=both)
    assert {each.name: bool(each.files) for each in made} == {"loss": True, "attention": False}
    assert "ZeroDivisionError" in next(each.failed for each in made if each.name == "attention")
    text = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "http://" not in re.sub(r"data:[^\"]*", "", text)
    for file in next(each.files for each in made if each.name == "loss"):
        assert (tmp_path / "out" / file).stat().st_size > 0
    before = (tmp_path / "out" / "index.html").read_bytes()
    gallery.gallery(run, tmp_path / "out", only=both)
    assert (tmp_path / "out" / "index.html").read_bytes() == before


def test_the_gallery_tells_what_it_leaves_out_and_how_to_draw_it(tmp_path):
    run = run_of("plus_last_even")
    some = ("one_neuron", "mask", "ten_gradients", "one_update", "seeds", "comparison")
    made = gallery.gallery(run, tmp_path, only=some)
    assert [each.name for each in made if each.files] == ["mask", "ten_gradients"]
    told = {each.name: each.absent for each in made if not each.files}
    assert told["one_update"] == f"it takes long; `glassformer figures {run.name} one_update` draws it"
    assert f"`glassformer figures {run.name} comparison --with OTHER_RUN`" in told["comparison"]
    assert "--seeds" in told["seeds"]
    text = re.sub(r"data:[^\"]*", "", (tmp_path / "index.html").read_text("utf-8"))
    sections = dict(re.findall(r'<section id="(\w+)">(.*?)</section>', text, re.DOTALL))
    path, primer = sections["path"], sections["primer"]
    assert path.index('<figure id="ten_gradients') < path.index("Not drawn here") < path.index("<dt>one_update</dt>")
    assert list(sections) == ["what", "path", "primer", "trust"], "sections without a picture come after the others"
    (command,) = re.findall("<code>glassformer (.*?)</code>", primer)
    answer = call(*command.split(), "--out", str(tmp_path / "asked"))
    assert answer.code == 0, answer.err
    assert (tmp_path / "asked" / "one_neuron.svg").is_file()


def test_only_a_study_that_this_run_can_be_asked_is_offered():
    """The first study that `cells` draws is about questions with arguments, of which this task has none."""
    assert "`glassformer study batch plus_last_even`" in catalogue.why_not(
        catalogue.entry("figures", "study_cells"), run_of("plus_last_even")
    )
    text = run_of(TEXT)
    refused = f"task {text.experiment.task_name} has no number of training examples to change"
    assert (
        catalogue.why_not(catalogue.entry("figures", "study_sizes"), text) == f"it is drawn from a study, and {refused}"
    )


def test_a_run_without_metrics_is_drawn_too(tmp_path):
    run = hand_wired.previous_token(tmp_path / "run")
    figure = figures.plot_attention(run)
    assert "step 0 of 1" in _draw.of(figure).result.clock
    assert catalogue.why_not(catalogue.entry("figures", "loss"), run)


# What the sources show, and who shows it here (the reverse index of the design). The table of their claims, which
# answers all of them, and the questions of source 001 that belong to lessons come later and are not listed.
SOURCE_000 = {
    "0.1": "entropy", "0.2": "entropy", "0.3": "entropy", "0.4": "temperature", "0.5": "phase",
    "0.6": "prediction_change",
    "0.7": "attention_profile", "0.8": "sharpening", "0.V1": "thermodynamics", "0.V2": "thermodynamics",
    "0.V3": "thermodynamics softmax",
}  # fmt: skip
SOURCE_001 = {
    "1.P1": "weights positions stream_size",
    "1.P2": "loss readout neurons sparsity parameter_tracks gradients ten_gradients one_update timeline",
    "1.P3": "loss accuracy embeddings similarity head_roles attention neurons readout probes timeline",
    "1.P4": "loss accuracy calibration every_question gradients health timeline",
    "1.P5": "by_kind confusion", "1.P6": "attention attention_history",
    "1.P7": "parameter_tracks weight_change embedding_paths",
    "1.P8": "study_optimisers ten_gradients one_update study_rates descent loss_surface hessian",
    "1.P9": "generalisation study_sizes comparison", "1.P10": "study_parts ablation stream_size", "1.P11": "timeline",
    "1.P12": "parameters", "1.P13": "health gradients", "1.A": "architecture accuracy by_kind gradients study_parts",
    "1.Q11": "weight_change", "1.Q16": "neurons", "1.Q36": "similarity", "1.Q38": "neurons",
    "1.Q40": "seeds seeds_aligned",
    "1.Q42": "by_kind", "1.Q43": "every_question", "1.Q44": "probes", "1.Q45": "similarity", "1.Q48": "softmax",
    "1.Q49": "backward", "1.Q58": "every_question",
}  # fmt: skip
SOURCE_002 = {
    "2.F1": "token_counts", "2.F2": "comparison", "2.T1": "comparison", "2.F3": "loss", "2.F4": "loss",
    "2.F5": "attention", "2.F6": "attention", "2.F7": "attention", "2.F8": "attention",
    "2.N": "next_token continuation",
    "2.§2.3": "coverage", "2.§3.4": "parameters", "2.§4.3": "next_token", "2.§5.1": "head_roles",
    "2.§5.2": "study_rates",
    "2.§5.3": "attention_history", "2.§5.4": "positions", "2.§5.5": "runtime",
}  # fmt: skip
SOURCE_003 = {
    "3.§2.2": "vocabulary", "3.§3.1": "weights embeddings", "3.§3.1.1": "one_neuron", "3.§3.1.2": "network",
    "3.§3.1.3": "error_curve", "3.§3.1.4": "chain_rule backward", "3.§3.1.4.1": "descent loss_surface",
    "3.§3.1.4.2": "descent", "3.§3.1.5": "descent", "3.§3.3": "head_split head_roles", "3.§3.3.1": "scoring attention",
    "3.§3.4": "architecture parameters", "3.§3.5": "architecture", "3.§4": "batch", "3.§5": "mask",
    "3.§6": "head_split", "3.§8": "architecture", "3.§9": "architecture", "3.§10": "loss training_log",
    "3.§11": "generated unrolled", "3.§12": "parameters",
}  # fmt: skip
SOURCE_004 = {
    "4.01": "architecture", "4.02": "loss rule_error", "4.03": "training_data", "4.04": "generated",
    "4.05": "embeddings", "4.06": "embeddings", "4.07": "landscape", "4.11": "landscape", "4.08": "qkv", "4.X": "qkv",
    "4.09": "query_key_space", "4.10": "score_field", "4.12": "sequence_embeddings", "4.13": "scoring",
    "4.14": "mixing", "4.15": "residual", "4.S16": "residual", "4.16": "landscape_input", "4.17": "landscape_input",
    "4.18": "landscape_input", "4.S7": "qkv_overview", "4.S9": "pair_scores", "4.S14": "readout",
    "4.r07": "landscape_winners", "4.r15": "score_field", "4.r frozen": "reachable",
}  # fmt: skip
FILMED = {
    "4.D1": "embeddings", "4.D2": "qkv", "4.D3": "query_key_space", "4.D4": "attention_space", "4.D5": "landscape",
    "1.P6": "attention", "1.P8": "loss_surface", "0.5": "phase", "3.§3.3.2": "forward",
}  # fmt: skip
SOURCES = SOURCE_000 | SOURCE_001 | SOURCE_002 | SOURCE_003 | SOURCE_004
CODE = r"new|0\.([1-8]|V[123])|1\.(P\d+|A|Q\d+)|2\.(F[1-8]|T1|N|§[\d.]+)|3\.§[\d.]+|4\.(\d\d|S\d+|X|D[1-5]|r.+)"


@pytest.mark.parametrize("code", SOURCES)
def test_what_a_source_shows_is_shown_here(code):
    for name in SOURCES[code].split():
        assert name in NAMES, f"{code}: {name} is not there yet"
        assert code in catalogue.entry("figures", name).answers, f"{name} does not say that it answers {code}"


@pytest.mark.parametrize("code", FILMED)
def test_what_a_source_shows_in_motion_is_a_film(code):
    assert code in catalogue.entry("films", FILMED[code]).answers, (
        f"film {FILMED[code]} does not say that it answers {code}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_answers_codes_that_the_sources_have(name):
    for code in catalogue.entry("figures", name).answers:
        assert re.fullmatch(CODE, code), f"{name}: {code}"
