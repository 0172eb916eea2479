"""View 3: the same life for a physicist: a canonical ensemble that is being rebuilt, and the memory model beside it."""

from collections.abc import Iterator

import numpy as np

from glassformer import canonical
from glassformer.physics import _dictionary, _remarks
from glassformer.physics._facts import Facts
from glassformer.physics._memory import memory_parts
from glassformer.physics._tell import Part, View, degrees, formula, many, nats, number, power


def physicist(f: Facts) -> View:
    """What happened, in the words of statistical mechanics."""
    s = f.life.settings
    lead = (
        f"Read the output of the layer as a system with {s.tokens} states. Token {formula('i')} has the energy "
        f"{formula('E_i = −ℓ_i')}, the softmax at temperature T is its canonical distribution, and learning moves the "
        f"levels. The layer has one head, a window of {many(s.context, 'position')}, {s.neurons} neurons and two "
        f"normalisations; it lives {many(s.steps, 'step')}, seed {s.seed}, with "
        f"{'the published updates' if s.gradients == 'heuristic' else 'true gradients'}.",
        "Temperature and energy are a dictionary here, no claim about nature: no bath is coupled, nothing "
        "equilibrates, and Boltzmann’s constant is 1. What the dictionary buys is that every identity of the "
        "canonical ensemble holds exactly and can be checked on the numbers.",
    )
    return View("Energies, temperature and a memory", "for a physicist", lead, tuple(_parts(f)))


def _parts(f: Facts) -> Iterator[Part]:
    yield Part(
        "The ensemble",
        _ensemble(f),
        ("p_i = e^{−E_i/T} / Z,   F = −T ln Z = U − T H", "L = − ln p_{target} = (E_{target} − F) / T"),
        "entropy",
        (_remarks.temperature(f),),
    )
    yield Part(
        "Response to temperature",
        _response(f),
        ("C = dU/dT = Var(E) / T^2,   dH/dT = C / T",),
        "thermodynamics_3",
    )
    yield Part("The path", _path(f), (), "phase")
    yield Part(
        "What drives it",
        _drive(f),
        ("ΔW_O = −η (p − y) v^⊤", "published:  ΔW_Q ∝ −δ x^⊤,   ΔW_K, ΔW_V ∝ −δ (X a)^⊤,   δ = W_O^⊤ (p − y)"),
        remarks=(_remarks.projections(f), _remarks.feed_forward(f), _remarks.attention(f)),
    )
    yield _dictionary.analogies(f)
    yield from memory_parts(f.memory)


def _ensemble(f: Facts) -> tuple[str, ...]:
    life = f.life
    energy = -life.logits[:, life.target]
    free = canonical.free_energy(life.logits, np.ones(1))[0]
    return (
        f"The loss is the height of the target’s level above the free energy, in units of T; in this run the identity "
        f"holds to {number(f.identity, 1)} at T = 1. Between the first step and the last, the target’s level goes from "
        f"{nats(energy[0])} to {nats(energy[-1])} and F from {nats(free[0])} to {nats(free[-1])}. Only differences "
        f"count: a constant added to all logits shifts both.",
        f"H begins at {nats(life.training_entropy[0])}, with ln N = {nats(f.most)} as its limit, and ends at "
        f"{nats(life.training_entropy[-1])}.",
    )


def _response(f: Facts) -> tuple[str, ...]:
    life = f.life
    (t0, c0), (t1, c1) = f.heat_peak(0), f.heat_peak(-1)
    others = np.delete(life.logits[-1], life.target)
    gap = float(life.logits[-1, life.target] - others.mean())
    h = life.mean_entropy
    words = [
        f"The specific heat of the untrained output peaks at T = {_fine(t0)} with C = {_fine(c0)}; at the last step it "
        f"peaks at T = {_fine(t1)} with C = {_fine(c1)}. The levels of the untrained layer are nearly equal, so any "
        f"temperature above their small spread is already hot."
        if t1 > 2 * t0
        else f"The specific heat peaks at T = {_fine(t0)} (C = {_fine(c0)}) at the first step and at T = {_fine(t1)} "
        f"(C = {_fine(c1)}) at the last."
    ]
    if gap > 0 and f.learned:
        t2, c2 = canonical.heat_peak(np.append(np.zeros(len(others)), gap))
        words.append(
            f"After training the target lies {nats(gap)} below the mean of the other {len(others)} levels. One ground "
            f"state and {len(others)} states at that single height would give a Schottky peak at T = {_fine(t2)} "
            f"with C = {_fine(c2)}. The whole difference is that the real levels are spread, with a standard deviation "
            f"of {nats(float(others.std()))}: it moves the peak by {power(abs(t2 / t1 - 1))} and its height by "
            f"{power(abs(c2 / c1 - 1))}. All peaks are roots of dC/dT, not points of a grid."
        )
    words.append(
        f"The time-averaged entropy rises from {nats(h[0])} at T = {degrees(life.temperatures[0])} to {nats(h[-1])} "
        f"at T = {degrees(life.temperatures[-1])}. For fixed logits C is the slope of H on a logarithmic scale of T; "
        f"in a finite system its peak stays finite and marks a crossover, not a transition."
    )
    return tuple(words)


def _fine(x: float) -> str:
    """Five digits that count: two peaks may lie that near to each other."""
    return number(x, 5)


def _path(f: Facts) -> tuple[str, ...]:
    life, kl, k = f.life, f.life.kl, f.peak
    loss, h = life.training_loss, life.training_entropy
    end = f"entropy and loss end at {nats(h[-1])} and {nats(loss[-1])}."
    filled = f.locked is not None and f.locked + life.settings.context < len(loss)
    if f.locked is None:
        attractor = f"The feedback has not settled on the target; {end}"
    elif life.settings.feedback == "argmax" and filled:
        attractor = (
            f"The feedback is deterministic: from step {f.locked} on only the target is fed back, and "
            f"{many(life.settings.context, 'step')} later the window holds nothing else. That is the attractor; {end}"
        )
    else:
        attractor = f"From step {f.locked} on only the target is fed back; {end}"
    rise = f"On the way the loss climbs by {nats(loss[f.worst] - loss[0])} until step {f.worst}"
    if f.climbs_alone:
        still = nats(float(np.ptp(h[: f.worst + 1])))
        climb = (
            f"{rise} while H moves by no more than {still}: what is taught on one window moves the target on the next."
        )
    else:
        climb = f"{rise}." if f.rises_first else f"The loss never rises clearly above its start, {nats(loss[0])}."
    return f"{attractor} {climb}", (
        f"The divergence between successive outputs peaks at {nats(kl[k])} between steps {k} and {k + 1}; with the "
        f"window held fixed the same change of weights gives {nats(life.alike[k])}. The last third of the life has "
        f"{number(f.quiet, 2)} on average."
    )


def _drive(f: Facts) -> tuple[str, ...]:
    moved = f.moved
    said = ", ".join(
        f"{symbol} {power(moved[name])}"
        for name, symbol in (
            ("output", "W_O"), ("query", "W_Q"), ("key", "W_K"),
            ("value", "W_V"), ("feed_in", "W_1"), ("feed_out", "W_2"),
        )
    )  # fmt: skip
    attention = canonical.entropy(f.life.attention)
    window = np.log(f.life.settings.context)
    even = (
        f"The attention is an ensemble of its own, with the scores as minus energies: its entropy stays within "
        f"{number(float(np.abs(window - attention).max()), 2)} of ln {f.life.settings.context} = {nats(window)}, the "
        f"infinite-temperature value."
        if f.life.settings.context > 1
        else ""
    )
    far = moved["output"] > 5 * max(share for name, share in moved.items() if name != "output")
    most = " The output matrix moves most by far." if far else ""
    return f"Over the whole life the matrices move by these shares of their first length: {formula(said)}.{most}", even
