"""Waves: transforms of tables whose frequencies are known, and a network that adds on a clock by construction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from glassformer import analyses
from glassformer.analyses.know.fourier import (
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
from small_runs import MODULAR, run_of

P = 31


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
