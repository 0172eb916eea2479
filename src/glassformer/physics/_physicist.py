"""View 3: the same life for a physicist: a canonical ensemble that is being rebuilt, and the memory model beside it."""

from collections.abc import Iterator

import numpy as np

from glassformer import canonical
from glassformer.physics import _remarks
from glassformer.physics._facts import Facts
from glassformer.physics._tell import Part, View, degrees, formula, many, nats, number, power
from glassformer.physics.models.boltzmann_memory import Memory

COLD, HOT = 1e-3, 1e3  # temperatures that stand for the two limits


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


def memory_view(m: Memory) -> View:
    """The Boltzmann memory model alone."""
    lead = (
        "A learner small enough for a blackboard: what it has read fades, and what it says is drawn at a temperature.",
    )
    return View(
        "A memory and a temperature",
        "for a physicist",
        lead,
        (*memory_parts(m, "Six steps, over and over"), *_diagnostics(m)),
    )


def _diagnostics(m: Memory) -> Iterator[Part]:
    """The figures that any life has, with the numbers of the learner nearest T = 1."""
    k = m.nearest_one
    h, loss, chances = m.entropy[k], m.loss[k], m.probabilities[k]
    p, moves = chances[:, m.target], canonical.divergence(chances[1:], chances[:-1])
    here, jump = f"At T = {degrees(m.temperatures[k])}", int(moves.argmax())
    yield Part(
        "Entropy and loss",
        (
            f"{here} the entropy goes from {nats(h[0])} to {nats(h[-1])}, the loss from {nats(loss[0])} to "
            f"{nats(loss[-1])}.",
        ),
        figure="entropy",
    )
    yield Part(
        "Response to temperature",
        (
            "Each temperature trains a learner of its own, so this is no curve of one system: a hot learner also "
            "learns differently.",
        ),
        figure="temperature",
    )
    yield Part("The path", (f"{here} the largest loss on the way is {nats(loss.max())}.",), figure="phase")
    yield Part(
        "Change between steps",
        (f"{here} the output changes most between steps {jump} and {jump + 1}, by {nats(moves[jump])}.",),
        figure="prediction_change",
    )
    yield Part(
        "Sharpening", (f"{here} the target’s chance goes from {number(p[0])} to {number(p[-1])}.",), figure="sharpening"
    )


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
    yield from memory_parts(f.memory)


def _ensemble(f: Facts) -> tuple[str, ...]:
    life = f.life
    energy = -life.logits[:, life.target]
    free = canonical.free_energy(life.logits, np.ones(1))[0]
    gap = float(np.abs((energy - free) - life.training_loss).max())
    return (
        f"The loss is the height of the target’s level above the free energy, in units of T; in this run the identity "
        f"holds to {number(gap, 1)} at T = 1. Between the first step and the last, the target’s level goes from "
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
        f"The specific heat of the untrained output peaks at T = {degrees(t0)} with C = {number(c0)}; after the last "
        f"step it peaks at T = {degrees(t1)} with C = {number(c1)}. The levels of the untrained layer are nearly "
        f"equal, so any temperature above their small spread is already hot."
        if t1 > 2 * t0
        else f"The specific heat peaks at T = {degrees(t0)} (C = {number(c0)}) before the first change and at "
        f"T = {degrees(t1)} (C = {number(c1)}) after the last step."
    ]
    if gap > 0 and f.learned:
        t2, c2 = _schottky(gap, len(others))
        words.append(
            f"After training the target lies {nats(gap)} below the mean of the other {len(others)} levels. One ground "
            f"state and {len(others)} states at that single height would give a Schottky peak at T = {degrees(t2)} "
            f"with C = {number(c2)}; the real levels are spread (standard deviation {nats(float(others.std()))}), "
            f"which accounts for the difference."
        )
    words.append(
        f"The time-averaged entropy rises from {nats(h[0])} at T = {degrees(life.temperatures[0])} to {nats(h[-1])} "
        f"at T = {degrees(life.temperatures[-1])}. For fixed logits C is the slope of H on a logarithmic scale of T; "
        f"in a finite system its peak stays finite and marks a crossover, not a transition."
    )
    return tuple(words)


def _schottky(gap: float, many_: int) -> tuple[float, float]:
    """Where the specific heat of one state below `many_` equal ones peaks, and how high."""
    logits, fine = np.append(np.zeros(many_), gap), np.geomspace(0.02, 50, 2000) * max(gap, 1e-3)
    heat = canonical.specific_heat(canonical.boltzmann(logits, fine), logits, fine)
    return float(fine[heat.argmax()]), float(heat.max())


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
    moved = dict(zip(f.life.matrices, f.life.moved, strict=True))
    said = ", ".join(
        f"{symbol} {power(float(moved[name]))}"
        for name, symbol in (
            ("output", "W_O"), ("query", "W_Q"), ("key", "W_K"),
            ("value", "W_V"), ("feed_in", "W_1"), ("feed_out", "W_2"),
        )
    )  # fmt: skip
    attention = canonical.entropy(f.life.attention)
    window = np.log(f.life.settings.context)
    even = (
        f" The attention is an ensemble of its own, with the scores as minus energies: its entropy stays within "
        f"{number(float(np.abs(window - attention).max()), 2)} of ln {f.life.settings.context} = {nats(window)}, the "
        f"infinite-temperature value."
        if f.life.settings.context > 1
        else ""
    )
    return (
        f"Over the whole life the matrices move by these shares of their first length: {formula(said)}. The output "
        f"matrix moves most by far."
        if moved["output"] > 5 * max(share for name, share in moved.items() if name != "output")
        else f"Over the whole life the matrices move by these shares of their first length: {formula(said)}.",
        even.strip(),
    )


def memory_parts(m: Memory, heading: str = "A minimal relative: the Boltzmann memory") -> Iterator[Part]:
    """The Boltzmann memory model, which stands for itself."""
    s, k = m.settings, m.nearest_one
    law = "a factor 1/T included" if s.gradients == "true" else "as published"
    draw = "drawn by its chance" if s.feedback == "sampled" else "the most likely one"
    full, reached = 1 / (1 - s.decay), float(m.memory[0, -1].sum())
    yield Part(
        heading,
        (
            f"{s.tokens} tokens, one matrix, no attention: a memory that fades by the factor α and is read out "
            f"through a temperature. Each of {many(len(m.temperatures), 'temperature')} has a learner of its own; all "
            f"begin with the same weights, and the next token is {draw}. The source leaves α, the rate and the first "
            f"weights open. Here α = {number(s.decay)}, η = {number(s.rate)} ({law}), weights uniform in "
            f"±{number(s.scale / 2)}, seed {s.seed}, target {s.target}, {many(s.steps, 'step')}.",
            f"The memory forgets at a known pace: whatever was read, its components add up to (1 − "
            f"α{formula('^t')})/(1 − α), which tends to {number(full)} and is {number(reached)} at the last step.",
        ),
        ("m ← α m + x_t", "ℓ = W_O m,   p = softmax(ℓ / T)", "W_O ← W_O − η (p − y) m^⊤", "c_{t+1} ∼ Categorical(p)"),
        "memory",
        (_missing_factor(m),),
    )
    yield Part("Its limits, checked", _limits(m, k))


def _missing_factor(m: Memory) -> str:
    cold, hot = m.temperatures[0], m.temperatures[-1]
    return (
        f"The published update is called the gradient of L(T), and a factor 1/T is missing. It is right at T = 1 "
        f"only; at T = {degrees(cold)} the true step is {number(1 / cold)} times as long, at T = {degrees(hot)} it is "
        f"{number(1 / hot)} times. The direction is right at every T."
    )


def _limits(m: Memory, k: int) -> tuple[str, ...]:
    n, h, loss = m.settings.tokens, m.entropy, m.loss
    ends = canonical.entropy(canonical.boltzmann(m.logits[k, -1], np.array([COLD, HOT])))
    third = max(1, len(m.steps) // 3)
    share = (m.tape[:, -third:] == m.target).mean(axis=1)
    lower = int((loss[:, -third:].mean(axis=1) < loss[:, :third].mean(axis=1)).sum())
    return (
        f"With its last logits at T = {degrees(m.temperatures[k])}, heated to T = {number(HOT)}, the entropy is "
        f"{ends[1]:.6f}, and ln {n} = {np.log(n):.6f}; cooled to T = {number(COLD)} it is "
        f"{number(float(ends[0]), 2)}. While learning, the time-averaged entropy goes from {nats(m.mean_entropy[0])} "
        f"at T = {degrees(m.temperatures[0])} to {nats(m.mean_entropy[-1])} at T = {degrees(m.temperatures[-1])}.",
        f"The loss averaged over the last third of the steps is below that of the first third at {lower} of "
        f"{len(m.temperatures)} temperatures; at T = {degrees(m.temperatures[k])} it goes from {nats(loss[k, 0])} to "
        f"{nats(loss[k, -1])} and the entropy from {nats(h[k, 0])} to {nats(h[k, -1])}. On the tape, the target makes "
        f"up {power(float(share[0]))} of the last third at the coldest temperature and {power(float(share[-1]))} at "
        f"the hottest.",
        "The loss of a given memory can only fall: no component of a memory is negative, so every change raises the "
        "target’s row and lowers all others. What makes the curves jump is the sampled token, not the learning.",
    )
