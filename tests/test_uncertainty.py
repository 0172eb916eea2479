"""How sure and how rightly: entropies, losses, divergences and energies against sums written out by hand."""

import json
from inspect import signature
from math import exp, log

import numpy as np
import pytest
from numpy.testing import assert_allclose

import glassformer as gf
import hand_wired
from glassformer.analyses import _clock, _logged, _uncertain
from glassformer.analyses._uncertain_run import TEMPERATURES, _over_temperature, now, plan, uncertainty
from glassformer.analyses.attend.attention_profile import attention_profile
from glassformer.errors import CallError, MissingError
from glassformer.experiment import from_tables
from glassformer.figures import _draw
from glassformer.figures._uncertain import by_rows
from glassformer.physics.models.boltzmann_memory import BoltzmannMemory, boltzmann_memory
from glassformer.physics.models.one_layer import OneLayer, one_layer
from glassformer.record import Recorder
from glassformer.run import Run
from glassformer.tasks.mary import TOKENS
from small_runs import NAN, POPULATION, RUNS, run_of

FIGURES = ("entropy", "temperature", "phase", "prediction_change", "sharpening", "thermodynamics", "attention_profile")
RNG = np.random.default_rng(0)
KNOWN = RNG.dirichlet(np.ones(12))  # a distribution over the twelve tokens of plus_last_even
FLAT = {"token": np.zeros((12, 2)), "read_out": np.zeros((2, 12))}


def life_of(folder, steps):
    """A run whose predictions, whatever the input, are these distributions: kept step → chances."""
    tables = {
        "task": "plus_last_even",
        "architecture": {"width": 2, "feed_forward": 0, "attention": "off", "biases": ["read_out"], "context": 8},
        "train": {"steps": max(max(steps), 1)},
    }
    experiment = from_tables(tables, "known")
    weights = {
        name: np.zeros((len(steps), *shape), np.float32) for name, shape in experiment.architecture.shapes().items()
    }
    weights["read_out_bias"] = np.log(np.array(list(steps.values()))).astype(np.float32)
    with Recorder.create(folder, experiment, [0]) as recorder:
        recorder.safe_point(max(steps), list(steps), weights, [], {})
        recorder.finish("finished")
    return Run(folder)


def entropy_of(p):
    return -sum(float(x) * log(float(x)) for x in p if x > 0)


# ---- the Boltzmann law -----------------------------------------------------------------------------------------------


def test_the_free_energy_is_the_energy_less_temperature_times_entropy():
    logits = 3 * RNG.normal(size=(7, 5))
    cold = np.array([0.2, 1.0, 4.0])
    found = _uncertain.ensemble(logits, cold)
    for k, t in enumerate(cold):
        for row, values in enumerate(logits):
            energies = values.max() - values
            z = sum(exp(-e / t) for e in energies)
            p = [exp(-e / t) / z for e in energies]
            mean = sum(a * b for a, b in zip(p, energies, strict=True))
            assert_allclose(found["free_energy"][k, row], -t * log(z), rtol=1e-12, atol=1e-12)
            assert_allclose(found["energy"][k, row], mean, rtol=1e-12, atol=1e-12)
            assert_allclose(found["entropy"][k, row], entropy_of(p), rtol=1e-12, atol=1e-12)
            assert_allclose(found["free_energy"][k, row], mean - t * entropy_of(p), atol=1e-12)
            spread = sum(a * (b - mean) ** 2 for a, b in zip(p, energies, strict=True))
            assert_allclose(found["heat"][k, row], spread / t**2, rtol=1e-10, atol=1e-12)
    assert _uncertain.unlike(found, cold) < 1e-12


def test_the_specific_heat_is_the_slope_of_the_energy_and_of_the_entropy():
    logits, small = 2 * RNG.normal(size=(4, 6)), 1e-5
    for t in (0.3, 1.0, 2.5):
        low, here, high = (
            {name: values[0] for name, values in _uncertain.ensemble(logits, [t + d]).items()}
            for d in (-small, 0, small)
        )
        assert_allclose(here["heat"], (high["energy"] - low["energy"]) / (2 * small), rtol=1e-6, atol=1e-8)
        assert_allclose(here["heat"] / t, (high["entropy"] - low["entropy"]) / (2 * small), rtol=1e-6, atol=1e-8)
        assert_allclose(
            -here["entropy"], (high["free_energy"] - low["free_energy"]) / (2 * small), rtol=1e-6, atol=1e-8
        )


def test_shifting_all_logits_changes_nothing():
    logits = RNG.normal(size=(3, 6))
    for name, values in _uncertain.ensemble(logits, [0.5, 2]).items():
        assert_allclose(values, _uncertain.ensemble(logits + 17, [0.5, 2])[name], atol=1e-12)


# ---- models whose predictions are known ------------------------------------------------------------------------------


def test_a_model_that_knows_nothing_has_the_highest_entropy_at_every_temperature(tmp_path):
    seen = uncertainty(hand_wired.write_run(tmp_path / "run", **FLAT, blocks=[{}], context=8))
    for name in ("entropy", "loss", "entropy_at", "loss_at"):
        assert_allclose(seen.by_step[name].values, log(12), rtol=1e-6)
    for name in ("entropy", "loss"):
        assert_allclose(seen.by_temperature[name].values, log(12), rtol=1e-6)
    for name in ("heat", "energy"):
        assert_allclose(seen.at_moments[name].values, 0, atol=1e-12)
    assert_allclose(seen.at_moments["free_energy"].values[0], -TEMPERATURES * log(12), rtol=1e-12)
    assert_allclose(seen.by_step["p_max"].values, 1 / 12, rtol=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 0.4, 3.0])
def test_entropy_loss_and_bets_of_a_known_distribution(tmp_path, temperature):
    run = life_of(tmp_path / "run", {0: KNOWN})
    seen = uncertainty(run, temperature=temperature)
    warm = KNOWN ** (1 / temperature) / (KNOWN ** (1 / temperature)).sum()
    came = _logged.windows(run, seen.inputs).windows[:, 1:]
    assert_allclose(seen.by_step["entropy"].values, entropy_of(KNOWN), rtol=1e-5)
    assert_allclose(seen.by_step["entropy_at"].values, entropy_of(warm), rtol=1e-5)
    assert_allclose(seen.by_step["loss_at"].values[0], np.mean([-log(warm[t]) for t in came.ravel()]), rtol=1e-5)
    gaps = seen.by_step["loss_at"].values[0] - seen.by_step["entropy_at"].values[0]
    assert_allclose(seen.by_step["gap"].values[0], gaps, atol=1e-9)
    assert_allclose(seen.by_step["p_max"].values, KNOWN.max(), rtol=1e-5)
    assert_allclose(seen.by_step["p_target"].values[0], KNOWN[came].mean(), rtol=1e-5)
    each = -np.log(warm[came]).mean(axis=1)  # one value per window
    assert_allclose(seen.by_step["loss_at"].values[1:, 0], np.quantile(each, [0.1, 0.9]), rtol=1e-5)
    at = int(np.argmin(np.abs(TEMPERATURES - 1)))
    assert_allclose(seen.at_moments["entropy"].values[0, at], entropy_of(KNOWN), rtol=1e-5)
    assert_allclose(seen.at_moments["loss"].values[0, at], -np.log(KNOWN[came]).mean(), rtol=1e-5)
    assert_allclose(now(run, step=0, temperature=temperature).point.values[0], entropy_of(warm), rtol=1e-5)


def test_the_divergence_is_that_of_the_new_from_the_old_per_step(tmp_path):
    old, middle, new = (RNG.dirichlet(np.ones(12)) for _ in range(3))
    seen = uncertainty(life_of(tmp_path / "run", {0: old, 10: middle, 30: new}))
    found = seen.change["divergence"]
    assert found.axes["step"].values == (10, 30)
    expected = [
        sum(p * log(p / q) for p, q in zip(now_, before, strict=True)) / gap
        for now_, before, gap in ((middle, old, 10), (new, middle, 20))
    ]
    assert_allclose(found.values, np.tile(expected, (3, 1)), rtol=1e-4)  # the same on every input
    average = np.mean([entropy_of(p) for p in (old, middle, new)])
    at = int(np.argmin(np.abs(TEMPERATURES - 1)))
    assert_allclose(seen.by_temperature["entropy"].values[:, at], average, rtol=1e-5)


def test_what_titles_quote_is_there_to_read(tmp_path):
    flat, sharp = np.full(12, 1 / 12), np.array([0.989, *[0.001] * 11])
    run = life_of(tmp_path / "run", {0: flat, 10: flat, 20: sharp, 100: sharp})
    assert gf.analyses.entropy(run).four_fifths == (10, 20)
    assert "between steps 10 and 20" in gf.analyses.entropy(run).title
    assert gf.analyses.entropy(life_of(tmp_path / "slow", {0: flat, 100: sharp})).four_fifths is None  # all of its life
    change = gf.analyses.prediction_change(run)
    moved = change.change["divergence"].values[0]
    assert change.late == moved[-1]
    assert moved[1] == moved.max()
    assert "fastest at step 20" in change.title
    phase = gf.analyses.phase(run)
    assert phase.too_sure > 1  # it bets on a token that comes now and then
    assert f"{phase.too_sure:.2f} nats too sure" in phase.title
    loss = one_layer().loss[one_layer().nearest_one]
    assert gf.analyses.phase(one_layer()).first_rise == loss.argmax()


def test_the_specific_heat_peaks_where_two_levels_say(tmp_path):
    gap = 3.0
    chances = np.array([1.0, *[exp(-gap)] * 11])
    seen = uncertainty(life_of(tmp_path / "run", {0: chances / chances.sum()}))
    dense = np.linspace(0.1, 10, 200_000)
    upper = 11 * np.exp(-gap / dense) / (1 + 11 * np.exp(-gap / dense))
    peak = dense[np.argmax((gap / dense) ** 2 * upper * (1 - upper))]
    mark = float(seen.marks["most_heat"].values[-1])
    assert abs(log(mark / peak)) <= log(TEMPERATURES[1] / TEMPERATURES[0])
    assert float(seen.marks["least_loss"].values[-1]) > 1  # token 0 is not that likely, so it should say less


def test_attention_that_is_sharp_has_no_entropy_and_even_attention_all_of_it(tmp_path):
    sharp = uncertainty(hand_wired.previous_token(tmp_path / "sharp"))
    assert_allclose(sharp.attention["entropy"].values, 0, atol=1e-6)
    here = np.eye(8)
    block = {"query": np.zeros((8, 8)), "key": np.zeros((8, 8)), "value": here}
    even = hand_wired.write_run(tmp_path / "even", token=np.zeros((12, 8)), position=here, blocks=[block])
    seen = uncertainty(even)
    expected = np.mean([log(k) for k in range(1, 9)])  # query k sees k keys
    assert_allclose(seen.attention["entropy"].values, expected, rtol=1e-6)
    assert_allclose(seen.attention["if_even"].values, expected, rtol=1e-12)
    assert_allclose(seen.attention["by_position"].values[0, 0], seen.attention["even_by_position"].values, rtol=1e-6)
    assert_allclose(attention_profile(even).entropy.values, expected, rtol=1e-6)


# ---- what nobody can avoid -------------------------------------------------------------------------------------------


def test_the_floor_of_a_rule_is_counted_out(tmp_path):
    zeros = {"token": np.zeros((22, 2)), "read_out": np.zeros((2, 22))}
    run = hand_wired.write_run(tmp_path / "run", **zeros, blocks=[{}], context=6, task="plus_means_even")
    seen = uncertainty(run)
    last = _logged.windows(run, seen.inputs).windows[:, :-1].ravel()
    free = -0.25 * log(0.25) - 0.75 * log(0.75 / 21)  # '+' with a quarter, else one of 21 numbers
    plus = int((last == 21).sum())
    assert_allclose(seen.true("entropy"), (plus * log(11) + (len(last) - plus) * free) / len(last), rtol=1e-9)
    assert_allclose(seen.true("p_max constrained"), 1 / 11, rtol=1e-9)
    assert_allclose(seen.true("p_max free"), 0.25, rtol=1e-9)


def test_the_floor_of_the_rhyme_is_counted_out(tmp_path):
    zeros = {"token": np.zeros((35, 2)), "read_out": np.zeros((2, 35))}
    run = hand_wired.write_run(tmp_path / "run", **zeros, blocks=[{}], context=3, task="mary")
    text, windows = TOKENS.tolist(), len(TOKENS) - 4
    seen = uncertainty(run)
    assert seen.inputs == windows  # all there are
    total = 0.0
    for begin in range(windows):
        for place in range(3):
            view = text[begin : begin + place + 1]
            after = [text[k + place + 1] for k in range(windows) if text[k : k + place + 1] == view]
            total += entropy_of(np.unique(after, return_counts=True)[1] / len(after))
    assert_allclose(seen.true("entropy"), total / (3 * windows), rtol=1e-9)
    assert_allclose(seen.true("loss"), total / (3 * windows), rtol=1e-9)  # on all of its text it is calibrated exactly
    assert_allclose(seen.calibrated, 0, atol=1e-9)


def test_a_question_with_one_answer_leaves_nothing_open():
    seen = uncertainty(run_of("five_operations"))
    assert (seen.true("entropy"), seen.true("loss"), seen.true("p_max"), seen.true("p_target")) == (0, 0, 1, 1)


@pytest.mark.parametrize("name", ["plus_last_even", "step_back", "five_operations"])
def test_every_rung_is_as_sure_as_it_is_right_so_it_lies_on_the_line(name):
    """Its price is its mean entropy too: that is what drawing it at (price, price) claims."""
    task, context = run_of(name).task, run_of(name).architecture.context
    one = task.answers == "one"
    rng = np.random.default_rng(1)
    sequences = [task.sample(rng, context + 1) for _ in range(300)] if one else None
    windows = np.array(sequences) if one else task.examples(context, "train", 300).windows
    for rung in _clock.ladder(run_of(name)):
        if not rung.reachable:
            continue
        views = [w[:-1] for w in windows] if one else [w[: p + 1] for w in windows for p in range(context)]
        found = np.array([entropy_of(rung.guess(view)) for view in views])
        per_window = found.reshape(len(windows), -1).mean(axis=1)
        error = per_window.std() / np.sqrt(len(windows))
        assert abs(found.mean() - rung.nats) <= 4.5 * error + 1e-9, rung.name


# ---- the physics models ----------------------------------------------------------------------------------------------


def test_the_sources_numbers_come_through():
    life = one_layer()
    seen = uncertainty(life)
    assert seen.temperature == pytest.approx(0.99655, abs=1e-5)
    entropy = seen.by_step["entropy"].values[0]
    assert_allclose(entropy[[0, 1, 10, 30, 59]], [4.37432463, 4.37358027, 4.3733527, 0.41572593, 0.10819234], atol=1e-6)
    right = seen.by_step["p_target"].values[0]
    assert_allclose(right[[0, 10, 30, 59]], [0.01477688, 0.00975751, 0.95012744, 0.98903943], atol=1e-6)
    assert_allclose(seen.by_step["loss_at"].values[0, [0, 59]], [4.21413918, 0.0106899], atol=1e-6)
    mean = seen.by_temperature["entropy"].values[0]
    assert_allclose(mean[[0, 7, -1]], [1.40107377, 1.89360376, 4.28814003], atol=1e-6)
    p = life.trained
    direct = [sum(a * log(a / b) for a, b in zip(p[k], p[k - 1], strict=True)) for k in range(1, 60)]
    assert_allclose(seen.change["divergence"].values[0], direct, atol=1e-8)
    assert uncertainty(life, temperature=3.5).temperature == 3.5  # where the source's pictures are drawn
    assert_allclose(uncertainty(life, temperature=9).by_step["entropy_at"].values[0], life.entropy[-1])
    profile = attention_profile(life)
    assert_allclose(profile.by_position.values[0, 0, 0], life.attention.mean(axis=0))
    assert_allclose(profile.by_distance.values[0, 0, 0], life.attention.mean(axis=0)[::-1])


def test_every_temperature_of_the_memory_has_a_life_of_its_own():
    life = boltzmann_memory(BoltzmannMemory(steps=12, temperatures=4))
    seen = uncertainty(life)
    assert seen.own_lives
    for k, t in enumerate(life.temperatures):
        energies = life.logits[k].max(axis=-1, keepdims=True) - life.logits[k]
        mean = (life.probabilities[k] * energies).sum(axis=-1)
        variance = (life.probabilities[k] * (energies - mean[:, None]) ** 2).sum(axis=-1)
        assert_allclose(seen.maps["heat"].values[k], variance / t**2, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(seen.maps["tape"].values, life.tape)
    assert seen.unlike < 1e-12


SUBJECTS = {
    "one_layer": lambda: one_layer(OneLayer(tokens=9, context=3, steps=6, temperatures=5, target=2)),
    "short": lambda: one_layer(OneLayer(tokens=9, context=3, steps=2, temperatures=1, target=2)),
    "boltzmann_memory": lambda: boltzmann_memory(BoltzmannMemory(steps=7, temperatures=6)),
    "run": lambda: run_of("plus_last_even"),
    "questions": lambda: run_of("five_operations"),
    "diverged": lambda: run_of(NAN),
}


@pytest.mark.parametrize(("subject", "size"), [
    ("one_layer", "screen"), ("one_layer", "slide"), ("boltzmann_memory", "print_narrow"),
    ("short", "screen"), ("run", "print"), ("questions", "print_narrow"), ("diverged", "slide"),
])  # fmt: skip
def test_every_figure_and_every_view_is_drawn(subject, size):
    for name in FIGURES:
        if name == "attention_profile" and subject == "boltzmann_memory":
            with pytest.raises(CallError, match="no attention"):
                attention_profile(SUBJECTS[subject]())
            continue
        plot = getattr(gf.figures, f"plot_{name}")
        views = (1, 2, 3) if "view" in signature(plot).parameters else (None,)
        for view in views:
            figure = plot(SUBJECTS[subject](), size=size, theme="dark", **({} if view is None else {"view": view}))
            _draw.data(figure, "png")
            words = _draw.of(figure).words
            assert "nan" not in f"{words.title} {words.caption}".split()
            assert ("diverged" in words.title) == (subject == "diverged")


@pytest.mark.parametrize("subject", ["one_layer", "boltzmann_memory"])
def test_a_physics_model_is_drawn_from_its_result_alone(subject):
    life = SUBJECTS[subject]()
    for name in FIGURES if subject == "one_layer" else FIGURES[:-1]:
        plot, seen = getattr(gf.figures, f"plot_{name}"), getattr(gf.analyses, name)(life)
        back = type(seen).from_plain(json.loads(json.dumps(seen.plain(), allow_nan=False)))
        assert back == seen
        assert _draw.data(plot(back), "svg") == _draw.data(plot(life), "svg")


def test_views_and_pages_that_do_not_exist_are_refused():
    plot_thermodynamics, life = gf.figures.plot_thermodynamics, SUBJECTS["one_layer"]()
    with pytest.raises(CallError, match="view = 4"):
        plot_thermodynamics(life, view=4)
    with pytest.raises(CallError, match="page = 9"):
        plot_thermodynamics(life, view=2, size="slide", page=9)
    with pytest.raises(MissingError, match="nearest"):
        uncertainty(life, step=99)
    second = plot_thermodynamics(life, view=2, size="slide", page=1)
    assert len([ax for ax in second.axes if ax.get_title(loc="left")]) == 4


@pytest.mark.parametrize("temperature", [0, -1.0, float("nan"), float("inf"), "hot", True])
def test_what_is_no_temperature_is_refused(temperature):
    with pytest.raises(CallError, match="above 0"):
        uncertainty(run_of("plus_last_even"), temperature=temperature)


# ---- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_told_on_windows_that_can_be_looked_at_again(name):
    run = run_of(name)
    seen = uncertainty(run)
    a, last = run.architecture, int(seen.looked_at[-1])
    windows = _logged.windows(run, seen.inputs).windows
    chances = run.trace(windows[:, :-1], step=last)["probabilities"].astype(float)
    chances = chances if a.read_position is None else chances[:, a.read_position : a.read_position + 1]
    came = windows[:, 1:] if a.read_position is None else windows[:, -1:]
    given = np.take_along_axis(chances, came[..., None], -1)[..., 0]
    each = -(chances * np.log(np.maximum(chances, 1e-300))).sum(axis=-1).mean(axis=1)
    expected = [each.mean(), *np.quantile(each, [0.1, 0.9])]
    assert_allclose(seen.by_step["entropy"].values[:, -1], expected, rtol=1e-4, atol=1e-6)
    assert_allclose(seen.by_step["loss"].values[0, -1], -np.log(given).mean(), rtol=1e-4, atol=1e-6)
    assert_allclose(now(run, step=last).point.values[1], -np.log(given).mean(), rtol=1e-4, atol=1e-6)
    assert seen.unlike < 1e-10
    kinds = _logged.windows(run, seen.inputs).constrained
    if "p_target constrained" in seen.by_step:
        assert_allclose(seen.by_step["p_target constrained"].values[0, -1], given[kinds].mean(), rtol=1e-4)
        assert_allclose(seen.by_step["p_target free"].values[0, -1], given[~kinds].mean(), rtol=1e-4)
    else:
        assert kinds.all()


def test_each_member_has_its_own_numbers():
    run = run_of(POPULATION)
    one, two = (uncertainty(run, member=k).by_step["entropy"].values[0] for k in (0, 1))
    assert not np.allclose(one, two)
    chances = run.trace(_logged.windows(run, 200).windows[:, :-1], step=0, member=1)["probabilities"]
    assert uncertainty(run, member=1).inputs == 200
    assert_allclose(two[0], -(chances * np.log(chances)).sum(axis=-1).mean(), rtol=1e-5)


def test_the_file_beside_a_figure_holds_what_it_draws_and_no_more():
    drawn = _draw.of(gf.figures.plot_prediction_change(run_of("plus_last_even"))).result
    assert set(drawn.arrays()) == {"change.divergence", "truth", "ladder.crossed"}


def test_the_gallery_writes_every_one_of_them(tmp_path):
    from glassformer import catalogue, gallery

    wanted = [catalogue.entry("figures", name) for name in FIGURES]
    for run in ("plus_last_even", "five_operations"):
        made = gallery.draw(run_of(run), wanted, gallery.Wish(formats=("svg", "csv")), tmp_path / run)
        assert [(each.name, each.failed, each.absent) for each in made] == [(name, "", "") for name in FIGURES]
        assert (tmp_path / run / "phase.csv").read_text("utf-8").startswith("panel,")


def test_the_film_walks_a_physics_model_too(tmp_path):
    film_phase, life = gf.films.film_phase, SUBJECTS["one_layer"]()
    made = film_phase(life)
    assert made.steps == life.steps.tolist()
    assert len(film_phase(life, frames=3).steps) == 3
    made.save(tmp_path / "phase_film.gif", fps=10)
    rows = [line.split(",") for line in (tmp_path / "phase_film.csv").read_text("utf-8").splitlines()[1:]]
    near = int(np.abs(life.temperatures - 1).argmin())
    losses = [float(row[-1]) for row in rows if "loss" in row]
    assert_allclose(losses, life.loss[near], rtol=1e-9)


def test_predictions_that_do_not_count_do_not_count_here(tmp_path):
    """The six digits of `sort` come by chance; what is measured is the answer, as in the training's own numbers."""
    run = gf.train("sort", steps=40, settings=["train.judged=50", "train.keep_bytes=0"], out=tmp_path / "run")
    seen = uncertainty(run)
    windows = _logged.windows(run, plan(run, 0).windows).windows
    chances = run.trace(windows[:, :-1])["probabilities"][:, 5:]
    came = np.take_along_axis(chances, windows[:, 6:, None], axis=-1)
    assert_allclose(seen.by_step["loss"].values[0, -1], -np.log(came).mean(), rtol=1e-5)
    assert_allclose(now(run, step=40).point.values[1], -np.log(came).mean(), rtol=1e-5)
    assert seen.truth.values[:2].tolist() == [0, 0]  # the answer is certain, and so costs nothing


def test_the_largest_disagreement_is_that_of_one_prediction():
    """|F − (U − T S)| is rounding; its largest value is looked for before anything is averaged."""
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(0, 1e4, (3, 5, 7)), rng.integers(7, size=(3, 5))
    found = _uncertain.ensemble(logits, TEMPERATURES)
    apart = found["free_energy"] - (found["energy"] - TEMPERATURES[:, None, None] * found["entropy"])
    most = np.abs(apart).max(axis=-1)
    assert most.max() > np.abs(apart).mean(axis=-1).max()
    np.testing.assert_array_equal(_over_temperature(logits, targets)["unlike"], most)


@pytest.mark.parametrize("across", [2, 3, 5, 7])
def test_a_key_of_several_lines_is_read_line_by_line(across):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], label=str(k)) for k in range(7)]
    figure = Figure()
    key = figure.legend(handles=by_rows(entries, across), ncols=across)
    FigureCanvasAgg(figure).draw()
    placed = [(text.get_window_extent(), text.get_text()) for text in key.get_texts()]
    read = [said for _, said in sorted(placed, key=lambda each: (-round(each[0].y0), each[0].x0))]
    assert read == [str(k) for k in range(7)]


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def said_and_drawn(figure):
    """Whether the words on a figure speak of a band, and whether there is one."""
    from matplotlib.collections import FillBetweenPolyCollection

    bands = [each for ax in figure.axes for each in ax.collections if isinstance(each, FillBetweenPolyCollection)]
    return any("band" in text for text in texts_of(figure)), bool(bands)


def texts_of(figure):
    return [each.get_text().replace("\n", " ") for each in figure.findobj(lambda each: hasattr(each, "get_text"))]


@pytest.mark.parametrize("subject", ["one_layer", "boltzmann_memory", "run", "questions"])
@pytest.mark.parametrize("name", FIGURES[:-1])
def test_a_band_is_spoken_of_where_one_is_drawn(subject, name):
    figure = getattr(gf.figures, f"plot_{name}")(SUBJECTS[subject]())
    said, there = said_and_drawn(figure)
    assert said == there == (subject in ("run", "questions"))


def test_a_band_over_questions_counts_questions():
    texts = texts_of(gf.figures.plot_phase(run_of("five_operations")))
    assert any("8 questions in 10" in text for text in texts)


@pytest.mark.parametrize("size", ["screen", "slide", "print", "print_narrow"])
@pytest.mark.parametrize("seed", [12345, 3])
def test_no_curve_crosses_the_key_of_the_memory(size, seed):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = gf.figures.plot_thermodynamics(boltzmann_memory(BoltzmannMemory(seed=seed)), view=3, size=size)
    FigureCanvasAgg(figure).draw()
    keyed = [ax for ax in figure.axes if ax.get_legend()]
    assert len(keyed) == 2
    for ax in keyed:
        box = ax.get_legend().get_window_extent()
        assert box.x1 <= ax.get_window_extent().x1 + 1
        for line in ax.lines:
            assert line.get_transform().transform(line.get_xydata())[:, 1].max() < box.y0


@pytest.mark.parametrize("subject", ["one_layer", "boltzmann_memory", "run", "questions"])
def test_the_plane_has_hardly_room_for_entropies_below_nothing(subject):
    ax = gf.figures.plot_phase(SUBJECTS[subject]()).axes[0]
    for low, high in (ax.get_xlim(), ax.get_ylim()):
        assert low >= -0.031 * (high - low)
    seen = gf.analyses.phase(SUBJECTS[subject]())
    assert ax.get_xlim()[0] <= seen.path[:, 0].min() <= seen.path[:, 0].max() <= ax.get_xlim()[1]


@pytest.mark.parametrize("name", ["entropy", "prediction_change", "sharpening", "phase", "thermodynamics"])
@pytest.mark.parametrize("subject", [one_layer, SUBJECTS["run"]], ids=["one_layer", "run"])
def test_steps_are_spaced_as_asked(name, subject):
    plot, life = getattr(gf.figures, f"plot_{name}"), subject()
    for axis in ("linear", "log", "learning"):
        figure = plot(life, axis=axis)
        panels = [ax for ax in figure.axes if ax.get_xlabel().startswith("step")]
        assert panels
        for ax in panels:
            assert ax.get_xlim() == (0, uncertainty(life).total)
            assert (ax.get_xscale() == "linear") == (axis == "linear")
            assert ("(" in ax.get_xlabel()) == (axis != "linear")
    assert getattr(gf.analyses, name)(life).scale == uncertainty(life).scale


def test_the_steps_of_a_run_are_spaced_as_those_of_its_loss():
    for name in ("plus_last_even", "five_operations"):
        assert gf.analyses.sharpening(run_of(name)).scale == gf.analyses.loss(run_of(name)).scale


def test_learners_of_their_own_are_not_read_as_one_model():
    own, one = (_draw.of(gf.figures.plot_temperature(SUBJECTS[each]())).words.caption for each in
                ("boltzmann_memory", "one_layer"))  # fmt: skip
    assert "minimum at T = 1 says" in one
    assert "minimum at T = 1 says" not in own
    for caption in (own, one):
        assert ". there" not in caption


@pytest.mark.parametrize("subject", ["one_layer", "boltzmann_memory", "run", "questions"])
def test_the_name_of_the_limit_keeps_off_the_line_of_the_training(subject):
    ax = next(ax for ax in gf.figures.plot_temperature(SUBJECTS[subject]()).axes if ax.get_ylabel() == "entropy (nats)")
    name = next(each for each in ax.texts if each.get_text().startswith("ln "))
    line = ax.transData.transform((1, 0))[0]
    box = name.get_window_extent()
    assert not box.x0 <= line <= box.x1


def test_the_words_beside_the_gap_keep_off_the_curve():
    axes = gf.figures.plot_phase(one_layer(), temperature=3.5).axes
    ax = next(ax for ax in axes if ax.get_ylabel() == "loss − entropy (nats)")
    words = [each for each in ax.texts if each.get_text() in ("too sure", "too cautious")]
    curve = ax.transData.transform(ax.lines[0].get_xydata())
    assert len(words) == 2
    for box in (each.get_window_extent() for each in words):
        inside = (curve[:, 0] >= box.x0) & (curve[:, 0] <= box.x1)
        assert not ((curve[inside, 1] >= box.y0) & (curve[inside, 1] <= box.y1)).any()
