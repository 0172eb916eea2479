"""View 1 of the memory model: a machine that forgets, for a school student. No formula, every number measured."""

from collections.abc import Iterator
from math import exp

import numpy as np

from glassformer.physics._memory import SURE, Recall, reached
from glassformer.physics._tell import Part, View, degrees, many, nats, number, power
from glassformer.physics.models.boltzmann_memory import Memory

LATER = 5  # steps after which a sign is looked at again


def memory_school(m: Memory) -> View:
    """What happened, in words a school student knows."""
    s, r = m.settings, Recall(m)
    drawn = (
        "The next sign is then drawn by these chances, like a ball from an urn."
        if s.feedback == "sampled"
        else "The next sign is then the one it finds likeliest."
    )
    lead = (
        f"Here is a machine that forgets. It knows {s.tokens} signs, numbered 0 to {s.tokens - 1}, and its memory has "
        f"a box for each. At every step all boxes fade to {power(s.decay)} of what they held, and the box of the sign "
        f"just read gains 1. From these boxes the machine says how likely every sign is to come next. Each time it is "
        f"told the same thing: sign {s.target} was right. It changes its {m.first.size} inner numbers a little. "
        f"{drawn} Then it starts again, {many(s.steps, 'time')} in all.",
        f"There are {len(m.temperatures)} such machines, equal at the start and given the same luck in every draw. "
        f"They differ in one thing only, a knob called temperature. Where no other is named, the numbers are those of "
        f"the machine at T = {degrees(r.temperature)}, the nearest to 1."
        if len(m.temperatures) > 1
        else f"Its knob called temperature stands at {degrees(r.temperature)}.",
    )
    return View("A machine that forgets, and learns", "for a school student", lead, tuple(_parts(r)))


def _parts(r: Recall) -> Iterator[Part]:
    yield Part("How long does it remember?", _remembers(r), figure="memory")
    yield Part("How unsure is it?", _unsure(r), figure="entropy")
    yield Part("Is it right?", _right(r), figure="sharpening")
    yield Part("Being sure and being right", _both(r), figure="phase")
    if len(r.memory.temperatures) > 1:
        yield Part("A knob called temperature", _knob(r), figure="temperature")
    yield Part("When does it change its mind?", _change(r), figure="prediction_change")
    yield Part("What to take away", (), points=tuple(_points(r)), figure="thermodynamics_1")


def _remembers(r: Recall) -> tuple[str, ...]:
    a = r.memory.settings.decay
    return (
        f"A sign that has just been read counts 1. One step later it counts {number(a)}, {LATER} steps later "
        f"{number(a**LATER)}, and after {many(r.forgotten, 'step')} less than a hundredth is left. Two stories that "
        f"differ only in what was read longer ago than that leave memories that can hardly be "
        f"told apart. That is what losing information means.",
        f"Forgetting also keeps order: however long the machine reads, its boxes together never hold more than "
        f"{number(r.full)}. At the last step they hold {number(float(r.memory.memory[0, -1].sum()))}.",
    )


def _unsure(r: Recall) -> tuple[str, ...]:
    h, n = r.entropy, r.memory.settings.tokens
    ups = int((np.diff(h) > 0).sum())
    why = (
        " Two things can do that: a new sign changes what it is asked, and to doubt a wrong favourite is progress."
        if r.memory.settings.feedback == "sampled" and ups
        else ""
    )
    return (
        f"Being unsure can be measured, and the measure is called <em>entropy</em>: 0 is certain, {nats(np.log(n))} is "
        f"as unsure as {n} equal choices make one. At the start this machine is as unsure as somebody who picks "
        f"blindly from {number(exp(h[0]), 2)} things, at the end from {number(exp(h[-1]), 2)}. It does not get there "
        f"evenly: at {ups} of {many(len(h) - 1, 'change')} the entropy rises.{why}",
    )


def _right(r: Recall) -> tuple[str, ...]:
    p, m = r.p_target, r.memory
    first = reached(m, m.nearest_one)
    sure = (
        f"From step {first} on it stays above {power(SURE)}."
        if first is not None
        else f"It does not come to stay above {power(SURE)}."
    )
    return (
        f"Blind guessing would give every sign {power(1 / m.settings.tokens)}. The right one, {m.target}, begins at "
        f"{power(p[0])} and ends at {power(p[-1])}. {sure}",
    )


def _both(r: Recall) -> tuple[str, ...]:
    h, loss = r.entropy, r.loss
    worst = int(loss.argmax())
    more = (
        f" On the way the loss is as large as {nats(loss[worst])}, at step {worst}."
        if worst and loss[worst] > 1.05 * loss[0]
        else ""
    )
    return (
        f"The <em>loss</em> says how badly the right answer surprises the machine; 0 is no surprise. In this picture "
        f"each dot is one step; to the left is surer, further down is more right. The path goes from a loss of "
        f"{nats(loss[0])} and an entropy of {nats(h[0])} to {nats(loss[-1])} and {nats(h[-1])}.{more}",
    )


def _knob(r: Recall) -> tuple[str, ...]:
    m = r.memory
    heat, h = m.temperatures, m.mean_entropy
    return (
        f"A cold machine nearly always says its favourite, a hot one says anything. Averaged over all steps, the "
        f"entropy is {nats(h[0])} for the coldest machine (T = {degrees(heat[0])}) and {nats(h[-1])} for the hottest "
        f"(T = {degrees(heat[-1])}); it can never pass {nats(np.log(m.settings.tokens))}.",
        f"Here the knob does more than spread the answers. A hot machine reads other signs, so it learns other things: "
        f"of what it reads in the last third of its life, sign {m.target} makes up {power(float(r.drawn[0]))} for the "
        f"coldest and {power(float(r.drawn[-1]))} for the hottest.",
    )


def _change(r: Recall) -> tuple[str, ...]:
    return (
        f"The answers change most between steps {r.jump} and {r.jump + 1}, by {nats(r.moves[r.jump])}. Over the last "
        f"third of the steps the change is {number(float(r.moves[-r.third :].mean()), 2)} on average.",
    )


def _points(r: Recall) -> Iterator[str]:
    h, p, m = r.entropy, r.p_target, r.memory
    word = "surer" if h[-1] < h[0] else "less sure"
    yield f"It became {word}: from about {number(exp(h[0]), 2)} equally good guesses to about {number(exp(h[-1]), 2)}."
    became = "It became right" if r.learned else "It did not become right"
    yield f"{became}: sign {m.target} ends with a chance of {power(p[-1])}."
    yield f"It forgets: after {many(r.forgotten, 'step')} less than a hundredth of a sign is left."
    if m.entropy[-1, -1] > m.entropy[0, -1]:
        yield (
            f"Heat keeps it unsure: the hottest machine ends with an entropy of {nats(m.entropy[-1, -1])}, the coldest "
            f"with {nats(m.entropy[0, -1])}."
        )
