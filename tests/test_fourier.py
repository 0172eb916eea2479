"""Waves: transforms of tables whose frequencies are known, and a network that adds on a clock by construction."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import glassformer as gf
from glassformer import analyses
from glassformer.analyses import _clock
from glassformer.analyses.know.fourier import (
    MOST_STEPS,
    _nats,
    fourier,
    neurons,
    only,
    plane_power,
    spectrum,
    spectrum_at,
    summed_share,
)
from glassformer.errors import CallError
from glassformer.experiment import from_tables
from glassformer.figures import _draw, plot_fourier
from glassformer.record import Recorder
from glassformer.run import Run
from small_runs import MODULAR, run_of

P = 31
FIXTURE = Path(__file__).parent / "fixtures" / "v0.2.0" / "runs" / "modular"
KEYS, PHASES = (9, 25, 41), 8  # frequencies of the hand-wired adder, and neurons of each
FALL = (3100, 3500)  # between these steps the adder of `life` learns


def waves(*frequencies):
    """(number, feature): cosine and sine of each frequency, at sizes 1, 2, 3, ..."""
    angle = 2 * np.pi * np.arange(P) / P
    rows = [size * wave(k * angle) for size, k in enumerate(frequencies, 1) for wave in (np.cos, np.sin)]
    return np.stack(rows, axis=1) + 5.0  # a constant has no frequency


def clock(frequencies):
    """(a, b, answer): logits of a perfect adder, which compares a + b with every answer on some clocks."""
    a, b, c = np.ogrid[:P, :P, :P]
    return sum(np.cos(2 * np.pi * k * (a + b - c) / P) for k in frequencies)


def test_a_spectrum_finds_the_waves_it_was_made_of():
    shares = spectrum(waves(3, 7))
    assert shares.sum() == pytest.approx(1)
    assert shares[2] == pytest.approx(1 / 5)
    assert shares[6] == pytest.approx(4 / 5)


def test_noise_has_an_even_spectrum():
    shares = spectrum(np.random.default_rng(0).normal(size=(113, 128)))
    assert shares.max() < 1.6 / 56
    assert shares.min() > 0.5 / 56


def test_a_perfect_adder_is_waves_of_the_sum_and_nothing_else():
    logits = clock((2, 5, 11))
    power = plane_power(logits)
    assert power.sum() == pytest.approx(1)
    assert_allclose([power[k, k] for k in (2, 5, 11)], 1 / 3)
    assert_allclose(only(logits, (2, 5, 11)), logits, atol=1e-9)
    assert summed_share(logits, (2, 5)) == pytest.approx(2 / 3)
    right = (np.arange(P)[:, None] + np.arange(P)) % P
    assert (logits.argmax(-1) == right).all()
    assert _nats(20 * logits).max() < _nats(logits).max() < np.log(P)


def test_what_is_no_wave_of_the_sum_is_left_out():
    logits = clock((4,)) + np.random.default_rng(1).normal(size=(P, P, P))
    rest = logits - only(logits, (4,))
    assert summed_share(rest, (4,)) == pytest.approx(0, abs=1e-9)
    a, b = np.ogrid[:P, :P]
    difference = np.cos(2 * np.pi * 4 * (a - b) / P)[..., None] * np.ones(P)
    assert summed_share(difference, (4,)) == pytest.approx(0, abs=1e-9)


def test_neurons_are_counted_by_the_frequency_that_explains_them():
    a, b = np.ogrid[:P, :P]
    angle = 2 * np.pi / P
    one = np.cos(3 * angle * a) + np.cos(3 * angle * b)
    two = np.cos(8 * angle * (a + b)) + 0.5 * np.cos(2 * angle * a)
    count, share = neurons(np.stack([one, two, 0 * one], axis=-1))
    assert count[2] == count[7] == 1
    assert count.sum() == 2  # what never changes has no frequency
    assert share[2] == pytest.approx(1)
    assert share[7] == pytest.approx(1 / 1.25)


def test_the_losses_of_a_run_are_those_of_its_own_predictions():
    run = run_of(MODULAR)
    seen = fourier(run)
    chances = run.trace(np.array([[3, 4, 113], [112, 5, 113]]))["probabilities"][:, run.architecture.read_position]
    every = seen.losses.values[:2, -1]
    assert np.isfinite(every).all()
    known = {tuple(row) for row in run.task.data(3).train.tokens.reshape(-1, 4)[:, :2].tolist()}
    nats, parts = [], []
    for a in range(0, 113, 7):
        for b in range(113):
            found = run.trace(np.array([a, b, 113]))["probabilities"][run.architecture.read_position]
            nats.append(-np.log(found[(a + b) % 113]))
            parts.append((a, b) in known)
    nats, parts = np.array(nats), np.array(parts)
    for value, mine in zip(every, (nats[parts], nats[~parts]), strict=True):
        assert abs(value - mine.mean()) < 5 * mine.std() / np.sqrt(len(mine)) + 1e-9
    assert chances.shape == (2, 113)
    assert_allclose(spectrum_at(run).spectrum.values, seen.spectrum.values)


def test_other_tasks_have_no_residues():
    with pytest.raises(CallError, match="not modular addition"):
        analyses.fourier(run_of("plus_last_even"))


def adder(size: float) -> dict[str, np.ndarray]:
    """Weights that add on three clocks: neurons relu(cos(k a + phase) + cos(k b + phase)) carry waves of a + b.

    The read-out has this size; its biases do not change and are large.
    """
    many, angle = len(KEYS), 2 * np.pi * np.arange(113) / 113
    token, read_out = np.zeros((114, 4 * many)), np.zeros((4 * many, 113))
    expand, contract = np.zeros((4 * many, PHASES * many)), np.zeros((PHASES * many, 4 * many))
    phases = 2 * np.pi * np.arange(PHASES) / PHASES
    for i, k in enumerate(KEYS):
        inside, outside = slice(2 * i, 2 * i + 2), slice(2 * (many + i), 2 * (many + i) + 2)
        here = slice(PHASES * i, PHASES * (i + 1))
        token[:113, inside] = np.stack([np.cos(k * angle), np.sin(k * angle)], axis=1)
        expand[inside, here] = [np.cos(phases), -np.sin(phases)]
        contract[here, outside] = np.stack([np.cos(2 * phases), -np.sin(2 * phases)], axis=1)
        read_out[outside] = [size * np.cos(k * angle), size * np.sin(k * angle)]
    bias = 4 * np.random.default_rng(5).normal(size=113)
    return {"token": token, "blocks.0.value": np.eye(4 * many), "blocks.0.expand": expand,
            "blocks.0.contract": contract, "read_out": read_out, "read_out_bias": bias}  # fmt: skip


def answers_of(weights: dict[str, np.ndarray]) -> np.ndarray:
    """(a, b, answer): the logits of such a model, by hand; attention is even over a, b and '=', which is nothing."""
    weights = {name: value.astype(np.float32).astype(np.float64) for name, value in weights.items()}
    numbers = weights["token"][:113]
    hidden = np.maximum((numbers[:, None] + numbers) / 3 @ weights["blocks.0.expand"], 0)
    return hidden @ weights["blocks.0.contract"] @ weights["read_out"] + weights["read_out_bias"]


def progress(logits: np.ndarray, keys: tuple[int, ...], train: np.ndarray) -> list[float]:
    """Training, test, restricted and excluded loss by their definitions, with a transform written out."""
    p = len(logits)
    turn = np.exp(-2j * np.pi * np.outer(np.arange(p), np.arange(p)) / p)
    plane = np.tensordot(turn, np.tensordot(turn, logits, (1, 0)), (1, 1)).swapaxes(0, 1)  # (k, l, answer)
    waves = np.zeros((p, p), dtype=bool)
    for k in keys:
        waves[k, k] = waves[p - k, p - k] = True
    constant = np.zeros((p, p), dtype=bool)
    constant[0, 0] = True

    def kept(which: np.ndarray) -> np.ndarray:
        chosen = np.where(which[..., None], plane, 0)
        back = np.tensordot(turn.conj(), np.tensordot(turn.conj(), chosen, (1, 0)), (1, 1)).swapaxes(0, 1)
        assert_allclose(back.imag, 0, atol=1e-6 * p**2 * max(1, np.abs(logits).max()))
        return back.real / p**2

    def nats(some: np.ndarray) -> np.ndarray:
        chances = np.exp(some - some.max(axis=-1, keepdims=True))
        chances /= chances.sum(axis=-1, keepdims=True)
        return np.array([[-np.log(chances[a, b, (a + b) % p]) for b in range(p)] for a in range(p)])

    whole = nats(logits)
    return [whole[train].mean(), whole[~train].mean(), nats(kept(constant | waves)).mean(),
            nats(kept(~waves))[train].mean()]  # fmt: skip


def taught(run: Run) -> np.ndarray:
    """(a, b): which questions are in the training part."""
    found = np.zeros((113, 113), dtype=bool)
    for window in run.task.data(3).train.tokens.reshape(-1, 4):
        found[window[0], window[1]] = True
    return found


@pytest.fixture(scope="module", params=["logged", "not logged"])
def life(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Twelve thousand steps of the adder, which learns everything within four hundred of them."""
    many = len(KEYS)
    architecture = {"width": 4 * many, "feed_forward": PHASES * many, "attention": "mean", "positions": "none",
                    "output_projection": False, "biases": ["read_out"]}  # fmt: skip
    tables = {"task": "modular_addition", "architecture": architecture, "train": {"steps": 12_000}}
    experiment = from_tables(tables, "adder")
    steps = sorted({*range(0, 12_001, 500), *range(3000, 4001, 25)})
    every = [adder(size_at(step)) for step in steps]
    weights = {name: np.stack([at[name] for at in every]).astype(np.float32) for name in every[0]}
    lines = [{"step": step, "train_loss": loss, "validation_loss": loss}
             for step in range(0, 12_001, 500) if (loss := 7.0 if step < 3100 else 0.5)]  # fmt: skip
    folder = tmp_path_factory.mktemp("adder") / "run"
    with Recorder.create(folder, experiment, [0]) as recorder:
        recorder.safe_point(12_000, steps, weights, lines if request.param == "logged" else [], {})
        recorder.finish()
    return Run(folder)


def size_at(step: int) -> float:
    """How large the read-out of the adder is at a step."""
    return 100 * float(np.clip((step - FALL[0]) / (FALL[1] - FALL[0]), 0, 1)) ** 2


def test_progress_measures_are_those_of_their_definitions(life: Run) -> None:
    seen = fourier(life, steps=(0, 3250, -1))
    assert seen.keys == KEYS
    assert seen.steps == (0, 3250, 12_000)
    train = taught(life)
    for at, found in zip(seen.steps, seen.losses.values.T, strict=True):
        assert_allclose(found, progress(answers_of(adder(size_at(at))), KEYS, train), rtol=1e-4, atol=1e-6)


def test_the_restricted_loss_keeps_the_mean_logits(life: Run) -> None:
    """Before the fall the answers are the biases alone, a constant: without it the loss would be that of a guess."""
    seen = fourier(life, steps=(0,))
    bias = adder(0)["read_out_bias"]
    constant = float(np.log(np.exp(bias).sum()) - bias.mean())  # every answer is right equally often
    assert constant > np.log(113) + 1
    assert seen.losses.values[2, 0] == pytest.approx(constant, rel=1e-5)


def test_progress_measures_of_a_trained_model_are_those_of_their_definitions() -> None:
    run = gf.open(FIXTURE)
    seen = fourier(run)
    a, b = np.divmod(np.arange(113 * 113), 113)
    questions = np.column_stack([a, b, np.full(113 * 113, 113)])
    for at, found in zip(seen.steps, seen.losses.values.T, strict=True):
        logits = run.trace(questions, step=at)["logits"][:, 2].astype(np.float64).reshape(113, 113, 113)
        assert_allclose(found, progress(logits, seen.keys, taught(run)), rtol=1e-5)


def test_a_steep_fall_between_evenly_spaced_steps_is_measured_inside(life: Run) -> None:
    assert not [at for at in _clock.kept(life, 4) if FALL[0] <= at <= FALL[1]]
    seen = fourier(life)
    assert len(seen.steps) <= MOST_STEPS
    assert {0, 12_000} <= set(seen.steps) <= set(life.steps.tolist())
    assert sum(FALL[0] < at < FALL[1] for at in seen.steps) >= 6
    restricted = seen.losses.values[2]
    steps_down = np.abs(np.diff(restricted)) / np.ptp(restricted)
    assert steps_down.max() < 0.25  # no line of the figure hides more of the fall


def test_the_figure_marks_where_the_losses_were_computed(life: Run) -> None:
    seen = fourier(life)
    figure = plot_fourier(seen)
    dotted = [line.get_xdata() for ax in figure.axes for line in ax.get_lines() if line.get_marker() == "o"]
    assert len(dotted) == 4
    for places in dotted:
        assert_allclose(places, seen.steps)
    assert f"the {len(seen.steps)} kept steps at which" in _draw.of(figure).words.caption
