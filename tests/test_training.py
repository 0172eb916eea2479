"""Training is a pure function of the settings, the seed and the step; what it records is what happened."""

import jax
import numpy as np
import pytest

import glassformer as gf
from command import contents
from glassformer import batches, training
from glassformer.engine import Engine
from glassformer.errors import CallError, DivergedError, LimitError, MissingError
from glassformer.experiment import for_text, load
from glassformer.optimiser import schedule
from glassformer.plan import kept_steps, plan
from glassformer.record import Recorder
from glassformer.run import _flatten
from glassformer.tasks.five_operations import FiveOperations
from glassformer.training import begin, resume
from small_texts import SETTINGS


def tiny(*settings, **train):
    """The rule model, trained for a moment."""
    chosen = {"steps": 60, **train}
    wanted = {each.partition("=")[0]: each for each in ("train.judged=50", "train.log_every=20", *settings)}
    return load("plus_last_even_as_published", wanted.values(), **chosen)


def weights_after(engine, cuts):
    state = engine.start()
    for start, end in zip([0, *cuts[:-1]], cuts, strict=True):
        state, _, _ = engine.stretch(state, start, end)
    return np.asarray(state.flat)


def test_same_settings_same_bits(tmp_path):
    """R1: trained twice, every file but the times is the same."""
    one, other = (begin(tiny(), out=tmp_path / name).run for name in "ab")
    assert contents(one.path) == contents(other.path)
    assert one.digest() == other.digest()


def test_the_length_of_a_stretch_has_no_influence():
    """R4: one step at a time, two, seven, twenty, and ragged ends: the same bits."""
    engine = Engine(tiny(), [3])
    expected = weights_after(engine, list(range(20, 61, 20)))
    for cuts in (list(range(1, 61)), list(range(2, 61, 2)), [*range(7, 60, 7), 60], [1, 19, 20, 39, 40, 60]):
        np.testing.assert_array_equal(weights_after(engine, cuts), expected)


def test_a_member_is_the_single_run_with_its_seed():
    """R5: same start, same batches, to the bit; later weights to rounding."""
    population, single = Engine(tiny(), [5, 6, 7]), Engine(tiny(), [6])
    np.testing.assert_array_equal(np.asarray(population.start().flat)[1], np.asarray(single.start().flat)[0])
    np.testing.assert_array_equal(np.asarray(population.keys)[1], np.asarray(single.keys)[0])
    together, alone = weights_after(population, [20, 40, 60])[1], weights_after(single, [20, 40, 60])[0]
    np.testing.assert_allclose(together, alone, atol=2e-5)
    assert not np.array_equal(weights_after(population, [20])[0], weights_after(population, [20])[1])


def test_seeds_are_the_keys_that_jax_makes_of_them():
    seeds = [0, 18, 2**31 - 1]
    expected = [jax.random.key_data(jax.random.key(seed)) for seed in seeds]
    np.testing.assert_array_equal(Engine(tiny(), seeds).keys, expected)


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations"])
def test_the_batch_is_a_function_of_seed_and_step(name):
    """R2: asked in any order and any company, the batch at step t is the same."""
    experiment = load(name)
    data = experiment.task.data(experiment.architecture.context)
    source, span = batches.source(data), experiment.architecture.context + 1
    key, pieces = jax.random.key(4), len(data.train.starts)

    def drawn(step, steps):
        return np.asarray(batches.draw(key, batches.place(step, 32, pieces), source, steps, 32, span, data.order))

    long = drawn(100, 40)
    for step in (139, 100, 117):
        np.testing.assert_array_equal(drawn(step, 1)[0], long[step - 100])
    assert not np.array_equal(long[0], long[1])
    assert not np.array_equal(drawn(100, 1), np.asarray(
        batches.draw(jax.random.key(5), batches.place(100, 32, pieces), source, 1, 32, span, data.order)))  # fmt: skip


def test_windows_are_drawn_as_the_task_says():
    """Every sequence equally often, every start within it equally often: counted against the exact shares."""
    experiment = load("plus_last_even", ["data.sequences=10"])
    data = experiment.task.data(8)
    source, part = batches.source(data), data.train
    where = {tuple(part.tokens[s + i : s + i + 9]): (p, i)
             for p, (s, n) in enumerate(zip(part.starts, part.windows, strict=True)) for i in range(n)}  # fmt: skip
    drawn = np.asarray(batches.draw(jax.random.key(0), batches.place(0, 8, 9), source, 2000, 8, 9, "random"))
    found = [where[tuple(window)] for window in drawn.reshape(-1, 9)]  # every window is one of the part's
    pieces = np.bincount([p for p, _ in found], minlength=9) / len(found)
    assert abs(pieces - 1 / 9).max() < 5 * np.sqrt(1 / 9 / len(found))
    starts = np.array([i / part.windows[p] for p, i in found])
    assert abs(starts.mean() - np.mean((part.windows - 1) / 2 / part.windows)) < 5 * 0.3 / np.sqrt(len(found))


def test_a_pass_shows_every_question_once():
    experiment = load("five_operations")
    data = experiment.task.data(8)
    drawn = batches.draw(jax.random.key(1), batches.place(250, 32, 4000), batches.source(data), 125, 32, 9, "passes")
    seen = {tuple(window) for window in np.asarray(drawn).reshape(-1, 9)}
    assert len(seen) == 4000  # steps 250 to 374 are the third pass


def test_golden_batches():
    """R7: a library that changes its random numbers is noticed here."""
    experiment = load("plus_last_even_as_published")
    data = experiment.task.data(8)
    drawn = batches.draw(jax.random.key(18), batches.place(0, 8, 1800), batches.source(data), 2, 8, 9, "random")
    assert experiment.task.decode(np.asarray(drawn)[0, 0]) == GOLDEN[0]
    assert experiment.task.decode(np.asarray(drawn)[1, 7]) == GOLDEN[1]


GOLDEN = ("2 + 2 3 + 2 + 2 +", "6 0 + 0 10 6 + 6 4")


@pytest.mark.parametrize("settings", [
    (), ("train.schedule=plateau", "train.patience=1", "train.rate=0.1"), ("architecture.dropout=0.1",),
    ("train.optimiser=momentum", "train.clip=0.5"),
])  # fmt: skip
def test_resumed_is_uninterrupted(tmp_path, monkeypatch, settings):
    """D2: stopped at a safe point, killed inside a save, twice in a row: the same files in the end."""
    monkeypatch.setattr("glassformer.plan.SAFE_BYTES", 20_000)
    whole = begin(tiny(*settings), out=tmp_path / "whole").run
    stops = iter([True, False, False])
    cut = begin(tiny(*settings), out=tmp_path / "cut", stop=lambda: next(stops))
    assert cut.interrupted
    assert cut.run.status == "interrupted"
    assert 0 < cut.run.last_step < 60
    save = Recorder._save
    monkeypatch.setattr(Recorder, "_save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        resume(cut.run.path)
    monkeypatch.setattr(Recorder, "_save", save)
    done = resume(cut.run.path)
    assert done.run.status == "finished"
    assert contents(done.run.path) == contents(whole.path)
    with pytest.raises(CallError, match="nothing to resume"):
        resume(cut.run.path)


def test_what_is_logged_is_what_the_kept_weights_give(tmp_path):
    """Losses, errors, norms: recomputed with the NumPy pass from the stored weights."""
    run = begin(tiny(), seeds=2, out=tmp_path / "run").run
    experiment, seen = run.experiment, run.task.examples(8, "validation", 50)
    for line, step in enumerate(run.metrics["step"]):
        for member in range(2):
            trace = run.trace(seen.windows[:, :-1], step=int(step), member=member)
            chances = np.take_along_axis(trace["probabilities"], seen.windows[:, 1:, None], -1)[..., 0]
            loss = -np.log(chances.astype(np.float64)).mean()
            np.testing.assert_allclose(run.metrics["validation_loss"][line, member], loss, atol=2e-6)
            np.testing.assert_allclose(run.metrics["excess"][line, member], loss + seen.truth.mean(), atol=2e-6)
            guess = trace["logits"].argmax(-1)
            wrong = ~np.take_along_axis(seen.allowed, guess[..., None], -1)[..., 0]
            for name, among in (("rule_error", seen.constrained), ("rule_error_answerable", seen.answerable)):
                np.testing.assert_allclose(run.metrics[name][line, member], wrong[among].mean(), atol=1e-7)
            if step:
                now, before = (run.weights(int(s), member) for s in (step, step - 1))
                change = np.sqrt(sum(((now[n] - before[n]).astype(np.float64) ** 2).sum() for n in now))
                np.testing.assert_allclose(run.metrics["update.all"][line, member], change, rtol=1e-3)
                embedding = np.sqrt(((now["token"] - before["token"]).astype(np.float64) ** 2).sum())
                np.testing.assert_allclose(run.metrics["update.embedding"][line, member], embedding, rtol=1e-3)
                size = np.sqrt(sum((now[n].astype(np.float64) ** 2).sum() for n in now))
                np.testing.assert_allclose(run.metrics["weights.all"][line, member], size, rtol=1e-5)
    assert experiment.train.steps == run.last_step == 60


def test_gradient_size_is_that_of_the_batch(tmp_path):
    """Plain descent moves by the rate times the gradient, so the two sizes are one number."""
    run = begin(tiny("train.optimiser=sgd", "train.rate=0.1"), out=tmp_path / "run").run
    ratio = run.metrics["update.all"][1:] / run.metrics["gradient.all"][1:]
    np.testing.assert_allclose(ratio, 0.1, rtol=1e-5)
    clipped = begin(tiny("train.optimiser=sgd", "train.rate=0.1", "train.clip=0.01"), out=tmp_path / "clip").run
    np.testing.assert_allclose(clipped.metrics["update.all"][1:], 0.1 * 0.01, rtol=1e-4)
    assert clipped.metrics["gradient.all"][1:].max() > 0.1  # the true gradient is logged, not the clipped one


@pytest.mark.parametrize("optimiser", ["sgd", "momentum", "adam", "adamw"])
def test_every_optimiser_learns(optimiser, tmp_path):
    rate = {"sgd": "0.3", "momentum": "0.05"}.get(optimiser, "0.01")
    experiment = tiny(f"train.optimiser={optimiser}", f"train.rate={rate}", steps=400)
    run = begin(experiment, out=tmp_path / "run").run
    assert run.metrics["train_loss"][-1] < run.metrics["train_loss"][0] - 0.5
    assert run.metrics["train_loss"][-1] < 2.5  # ln 12 is a uniform guess


def test_schedules():
    def rates(**settings):
        one = tiny(*(f"train.{name}={value}" for name, value in {"rate": 1.0, **settings}.items()), steps=100)
        return np.array([float(schedule(one.train)(np.int32(t))) for t in range(100)])

    assert set(rates()) == {1.0}
    cosine = rates(schedule="cosine", warmup=10, final=0.1)
    np.testing.assert_allclose(cosine[:10], np.linspace(1 / 11, 1, 11)[:10], rtol=1e-6)
    np.testing.assert_allclose(cosine[10:], 0.1 + 0.9 * (1 + np.cos(np.pi * np.arange(90) / 90)) / 2, rtol=1e-5)
    steps = rates(schedule="step", drop_every=40, drop=0.5)
    np.testing.assert_allclose(steps, np.repeat([1, 0.5, 0.25], [40, 40, 20]))


def test_plateau_and_early_stopping(tmp_path):
    """At a rate far too high nothing gets better: the rate falls, and in the end training stops."""
    settings = ("train.optimiser=sgd", "train.rate=2.0", "train.schedule=plateau", "train.patience=2")
    run = begin(tiny(*settings, "train.drop=0.1", steps=200), out=tmp_path / "plateau").run
    loss, rate = run.metrics["validation_loss"], run.metrics["rate"]
    best, waited, expected = np.inf, 0, [2.0]
    for value in loss:
        best, waited = (value, 0) if value < best else (best, waited + 1)
        drop = waited >= 2
        waited = 0 if drop else waited
        expected.append(expected[-1] * (0.1 if drop else 1))
    np.testing.assert_allclose(rate, [expected[0], *expected[1:-1]], rtol=1e-5)
    assert rate[-1] < rate[0]
    stopped = begin(tiny(*settings[:2], "train.stop_after=3", steps=2000), out=tmp_path / "stop").run
    assert stopped.status == "stopped early"
    assert stopped.last_step < 2000
    loss = stopped.metrics["validation_loss"]
    assert len(loss) - 1 - int(np.argmin(loss)) == 3
    assert stopped.steps[-1] == stopped.last_step


def test_where_training_may_stop_early_the_best_and_the_last_step_are_kept(tmp_path):
    settings = ("train.optimiser=sgd", "train.rate=2.0", "train.stop_after=3", "train.log_every=50")
    few = f"train.keep_bytes={45 * 4 * tiny().architecture.parameters}"  # 41 judged steps and some more
    run = begin(tiny(*settings, few, steps=2000), out=tmp_path / "few").run
    assert run.status == "stopped early"
    best = int(run.metrics["step"][np.argmin(run.metrics["validation_loss"])])
    assert {0, best, run.last_step} <= set(run.steps.tolist())
    assert len(plan(run.experiment, 1).kept) <= 45


def test_a_loss_that_is_no_number_stops_the_training(tmp_path):
    """Everything up to there is kept, the run opens and says when."""
    experiment = tiny("train.optimiser=sgd", "train.rate=1e30", steps=2000)
    with pytest.raises(DivergedError, match="lower rate"):
        begin(experiment, out=tmp_path / "run")
    run = training.open_run(tmp_path / "run")
    assert run.status == "diverged"
    assert run.last_step < 2000
    assert np.isfinite(run.metrics["validation_loss"][0])
    assert not np.isfinite(run.metrics["validation_loss"][-1])
    assert run.check() == []


def test_a_loss_that_is_no_number_only_at_the_very_end_is_no_finished_training(tmp_path):
    """The last line is fetched with the last safe point; what it says still counts."""
    settings = ("train.optimiser=sgd", "train.rate=1e30", "train.log_every=60")
    with pytest.raises(DivergedError, match="by step 60"):
        begin(tiny(*settings), out=tmp_path / "run")
    run = training.open_run(tmp_path / "run")
    assert (run.status, run.about["diverged"]) == ("diverged", {"18": 60})
    np.testing.assert_array_equal(np.isfinite(run.metrics["validation_loss"]), [True, False])


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("plus_last_even", {"rule_error", "rule_error_answerable"}),
        ("five_operations", {"train_accuracy", "accuracy", *(f"accuracy_by_kind.{k}" for k in FiveOperations.kinds)}),
    ],
)
def test_what_is_no_number_is_neither_right_nor_wrong(name, errors):
    """The largest of many NaN would be the first token, which is right now and then."""
    engine = Engine(load(name, ["train.judged=50"]), [3, 4])
    flat = np.asarray(engine.start().flat)
    lines = [engine.judged.line(jax.device_get(engine.judge(engine.place(each)))) for each in (
        flat, flat * np.array([[np.nan], [1]], np.float32))]  # fmt: skip
    sound, broken = ({key: value for key, value in _flatten(line).items() if key in errors} for line in lines)
    assert set(broken) == errors
    for key, values in broken.items():
        assert np.isnan(values[0]), key
        assert values[1] == sound[key][1], key
        assert np.isfinite(sound[key]).all()


def test_one_diverged_member_does_not_stop_the_others(tmp_path, monkeypatch):
    start = Engine.start

    def poisoned(self):
        state = start(self)
        return state._replace(flat=self.place(np.asarray(state.flat) * np.array([[1], [np.nan]], np.float32)))

    monkeypatch.setattr(Engine, "start", poisoned)
    monkeypatch.setattr("glassformer.plan.SAFE_BYTES", 20_000)
    cut = begin(tiny(), seeds=2, out=tmp_path / "cut", stop=lambda: True).run
    assert 0 < cut.last_step < 60
    assert resume(cut.path).run.about["diverged"] == {"19": 0}  # not the first step after it went on
    run = begin(tiny(), seeds=2, out=tmp_path / "run").run
    assert run.status == "finished"
    assert run.about["diverged"] == {"19": 0}
    assert np.isfinite(run.metrics["validation_loss"][:, 0]).all()
    assert np.isfinite(run.metrics["rule_error"][:, 0]).all()
    assert np.isnan(run.metrics["rule_error"][:, 1]).all()


def test_what_a_call_names_is_changed_in_an_experiment_too(tmp_path):
    given = tiny()
    run = gf.train(given, seed=7, steps=3, settings=["train.rate=0.25"], out=tmp_path / "run")
    assert (run.seeds, run.last_step, run.experiment.train.rate) == ([7], 3, 0.25)
    assert run.experiment == load(given, ["train.rate=0.25"], seed=7, steps=3)
    with pytest.raises(LimitError, match=r"train\.steps = 0"):
        gf.train(given, steps=0, out=tmp_path / "none")
    assert gf.train(given, out=tmp_path / "same").experiment == given


def test_the_experiment_of_a_run_keeps_its_text_when_the_steps_change(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat, and that was that. " * 20, encoding="utf-8")
    first = begin(for_text(text, "characters", None, SETTINGS), out=tmp_path / "first").run
    text.unlink()
    again = gf.train(first.experiment, steps=2, out=tmp_path / "again")
    assert again.last_step == 2
    assert again.task.text == first.task.text
    with pytest.raises(MissingError, match=r"text\.txt"):  # other tokens are learnt from the text itself
        gf.train(first.experiment, settings=["data.tokenizer=words"], out=tmp_path / "words")


@pytest.mark.parametrize(
    ("last", "most"), [(20_000, 4000), (15_600, 157), (100, 7), (10, 11), (5, 2), (1_000_000, 15), (3, 0)]
)
def test_kept_steps(last, most):
    """Never more than the budget allows, the first and the last always, denser early, no blur later."""
    kept = kept_steps(last, most)
    assert len(kept) <= max(most, 2)
    assert len(kept) == min(max(most, 2), last + 1)
    assert kept[0] == 0
    assert kept[-1] == last
    assert np.all(np.diff(kept) > 0)
    if most > 10 and last > most:
        assert np.diff(kept)[0] == 1
        assert np.diff(kept).max() <= 2.5 * last / most + 1


@pytest.mark.parametrize(
    ("name", "members"), [("plus_last_even", 1), ("plus_last_even", 64), ("five_operations", 8), ("mary", 1)]
)
def test_the_byte_budget_holds(name, members):
    """D9: what is planned to be kept fits the declared budget."""
    experiment = load(name)
    planned = plan(experiment, members)
    assert len(planned.kept) * 4 * experiment.architecture.parameters * members <= experiment.train.keep_bytes
    assert planned.stops[-1] == planned.logged[-1] == planned.safe[-1] == planned.kept[-1] == experiment.train.steps
    assert set(planned.safe) <= set(planned.stops)
    assert set(planned.logged[1:]) <= set(planned.stops)


def test_a_small_budget_is_kept_on_disk(tmp_path):
    run = begin(tiny("train.keep_bytes=10_000"), out=tmp_path / "run").run
    assert len(run.steps) == 10
    assert {0, 60} <= set(run.steps.tolist())
    stored = sum(path.stat().st_size for path in (run.path / "weights").iterdir())
    assert stored < 10_000 + 5_000 * len(list((run.path / "weights").iterdir()))  # headers


def test_too_many_members_are_refused():
    with pytest.raises(CallError, match="seeds = 0"):
        begin(tiny(), seeds=0)


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ((), "finished"),
        (("train.optimiser=sgd", "train.rate=2.0", "train.stop_after=3", "train.log_every=10"), "stopped early"),
    ],
)
def test_killed_after_its_last_safe_point_a_training_is_over_all_the_same(tmp_path, monkeypatch, settings, status):
    whole = begin(tiny(*settings, steps=300), out=tmp_path / "whole").run
    assert whole.status == status
    finish = Recorder.finish
    monkeypatch.setattr(Recorder, "finish", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        begin(tiny(*settings, steps=300), out=tmp_path / "cut")
    monkeypatch.setattr(Recorder, "finish", finish)
    done = resume(tmp_path / "cut")
    assert (done.run.status, done.steps) == (status, 0)
    assert contents(done.run.path) == contents(whole.path)
