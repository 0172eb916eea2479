"""View 2 of the memory model, for a college student, with the formula of each quantity before its figure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log

import numpy as np

from glassformer.physics._memory import SURE, Recall, missing_factor, reached
from glassformer.physics._tell import Part, View, degrees, formula, many, nats, number, power
from glassformer.physics.models.boltzmann_memory import Memory, boltzmann_memory


def memory_college(m: Memory) -> View:
    """What happened, with the definitions."""
    s, r = m.settings, Recall(m)
    lead = (
        f"A vocabulary of {formula('N')} = {s.tokens} one-hot tokens, a memory vector {formula('m')} with one "
        f"component for each, one output matrix of {m.first.size} weights, and a temperature T. No attention and no "
        f"data: the target is token {s.target} at every one of the {many(s.steps, 'step')}. The same learner is lived "
        f"at {many(len(m.temperatures), 'temperature')}, always from the same first weights and with the same table of "
        f"random numbers.",
        f"Where no other is named, the numbers are those of T = {degrees(r.temperature)}, the temperature nearest to "
        f"1. Entropies, losses and divergences are in nats.",
    )
    return View("One matrix, one memory, many temperatures", "for a college student", lead, tuple(_parts(r)))


def _parts(r: Recall) -> Iterator[Part]:
    yield Part("The memory", _memory(r), ("m ← α m + x_t", "m(t) = Σ_s α^s x_{t−s}"), "memory")
    yield Part("Entropy over training", _entropy(r), ("p = softmax(W_O m / T)", "H = − Σ_i p_i ln p_i"), "entropy")
    yield Part("Maximum and target probability", _sharpening(r), ("L = − ln p_{target}",), "sharpening")
    yield Part("Entropy against loss", _phase(r), (), "phase")
    yield _rule(r)
    if len(r.memory.temperatures) > 1:
        yield Part("Entropy against temperature", _temperature(r), ("⟨H⟩(T) = mean_t H(T, t)",), "temperature")
    yield Part(
        "How fast the output changes", _change(r), ("D(t) = Σ_i p_i(t) ln [ p_i(t) / p_i(t−1) ]",), "prediction_change"
    )
    yield Part("What is read", _tape(r), ("c_{t+1} ∼ Categorical(p)",) if _sampled(r) else ("c_{t+1} = argmax p",))
    yield Part("All on one sheet", (), figure="thermodynamics_2")


def _memory(r: Recall) -> tuple[str, ...]:
    a, m = r.memory.settings.decay, r.memory
    return (
        f"With α = {number(a)} a token is worth half after {number(log(0.5) / log(a))} steps and less than a hundredth "
        f"after {r.forgotten}. Two pasts that differ in one token read {formula('s')} steps ago differ in the memory "
        f"by √2 {formula('α^s')}: that is how this model loses information, which is to say that "
        f"two pasts become harder to tell apart.",
        f"The components add up to {formula('(1 − α^t)/(1 − α)')}, whatever was read: {number(r.full)} in the limit, "
        f"{number(float(m.memory[0, -1].sum()))} at the last step. So the logits stay bounded for given weights.",
    )


def _entropy(r: Recall) -> tuple[str, ...]:
    h, most = r.entropy, float(np.log(r.memory.settings.tokens))
    ups = int((np.diff(h) > 0).sum())
    return (
        f"It starts at {nats(h[0])}, {power(float(h[0] / most))} of ln {r.memory.settings.tokens} = {nats(most)}, and "
        f"ends at {nats(h[-1])}. It rises at {ups} of {many(len(h) - 1, 'change')}: the token read changes the "
        f"memory, and with it the question; and doubt about a wrong favourite raises it too.",
    )


def _sharpening(r: Recall) -> tuple[str, ...]:
    p, top = r.p_target, r.chances.max(axis=1)
    low = int(p.argmin())
    return (
        f"{formula('p_{target}')} begins at {number(p[0])} (uniform: {number(1 / r.memory.settings.tokens)}), has its "
        f"minimum {number(p[low])} at step {low} and ends at {number(p[-1])}; {formula('p_{max}')} goes from "
        f"{number(top[0])} to {number(top[-1])}.",
    )


def _phase(r: Recall) -> tuple[str, ...]:
    h, loss = r.entropy, r.loss
    worst, gap = int(loss.argmax()), float(loss[-1] - h[-1])
    side = "surer than its answers deserve" if gap > 0 else "less sure than it could be"
    return (
        f"The largest loss, {nats(loss[worst])}, is at step {worst}; it begins at {nats(loss[0])}. The end is at loss "
        f"{nats(loss[-1])} and entropy {nats(h[-1])}, {number(abs(gap), 2)} off the line on which a model is as "
        f"surprised as it expects to be: {side}.",
    )


def _rule(r: Recall) -> Part:
    """The published change of the weights beside the true gradient."""
    m = r.memory
    both = {rule: boltzmann_memory(replace(m.settings, gradients=rule)) for rule in ("heuristic", "true")}
    rows: list[Sequence[str]] = [
        ("temperature", f"published: steps to p ≥ {power(SURE)}", "true gradient: steps", "last losses")
    ]
    for k in sorted({0, m.nearest_one, len(m.temperatures) - 1}):
        steps = [reached(each, k) for each in both.values()]
        ends = " and ".join(nats(float(each.loss[k, -1])) for each in both.values())
        rows.append((degrees(m.temperatures[k]), *("not reached" if at is None else str(at) for at in steps), ends))
    return Part(
        "The change of the weights",
        (
            f"The source leaves the rate open; here η = {number(m.settings.rate)}. Whatever the memory, "
            f"each change raises the logit "
            f"of the target and lowers all others, since no component of a memory is negative. The loss of a given "
            f"memory can therefore only fall.",
        ),
        ("published:  ΔW_O = −η (p − y) m^⊤", "true:  ΔW_O = −(η/T) (p − y) m^⊤"),
        remarks=(missing_factor(m),),
        table=rows,
    )


def _temperature(r: Recall) -> tuple[str, ...]:
    m = r.memory
    heat, h = m.temperatures, m.mean_entropy
    ups = int((np.diff(h) > 0).sum())
    return (
        f"⟨{formula('H')}⟩ is {nats(h[0])} at T = {degrees(heat[0])}, {nats(h[m.nearest_one])} at "
        f"T = {degrees(r.temperature)} and {nats(h[-1])} at T = {degrees(heat[-1])}; the limit is "
        f"ln {m.settings.tokens} = {nats(np.log(m.settings.tokens))}. It rises at {ups} of the "
        f"{many(len(h) - 1, 'step')} along the temperatures. At fixed logits it would at all of them; but each point "
        f"is a learner of its own, which has read and learned other things.",
    )


def _change(r: Recall) -> tuple[str, ...]:
    return (
        f"The largest divergence is {nats(r.moves[r.jump])}, between steps {r.jump} and {r.jump + 1}; over the last "
        f"third of the life the mean is {number(float(r.moves[-r.third :].mean()), 2)}. It mixes two things: the "
        f"weights change, and so does the memory.",
    )


def _sampled(r: Recall) -> bool:
    return r.memory.settings.feedback == "sampled"


def _tape(r: Recall) -> tuple[str, ...]:
    m = r.memory
    ends = sorted({0, m.nearest_one, len(m.temperatures) - 1})
    promised = {k: f", where the chances promised {power(float(r.expected[k]))}" if _sampled(r) else "" for k in ends}
    shares = "; ".join(f"{power(float(r.drawn[k]))} at T = {degrees(m.temperatures[k])}{promised[k]}" for k in ends)
    how = (
        "The next token is drawn by its chance, with one random number per step for all temperatures"
        if _sampled(r)
        else "The next token is the likeliest one"
    )
    return (f"{how}. In the last third of the life the target makes up {shares}.",)
