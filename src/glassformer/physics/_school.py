"""View 1: the life of the layer for a school student. No formula, every number measured."""

from collections.abc import Iterator
from math import exp

from glassformer.physics import _remarks
from glassformer.physics._facts import FLAT, Facts
from glassformer.physics._tell import Part, View, degrees, many, nats, number, power
from glassformer.words import thousands


def school(f: Facts) -> View:
    """What happened, in words a school student knows."""
    s = f.life.settings
    guess = "its own best guess" if s.feedback == "argmax" else "a sign drawn by its own guesses"
    seen = "the last sign" if s.context == 1 else f"the last {s.context} signs"
    lead = (
        f"Here is a very small learning machine. It knows {s.tokens} signs; they mean nothing and only have numbers, "
        f"0 to {s.tokens - 1}. It looks at {seen} and says for every sign how likely it is to come next. Each time it "
        f"is told the same thing: sign {s.target} was right. Then it changes its {thousands(f.parameters)} inner "
        f"numbers, reads {guess} as the next sign, and starts again. It does this {many(s.steps, 'time')}.",
        _empty(f),
        "There is no teacher apart from that one answer, so this is not about what the machine learns. It is about "
        "what learning looks like from inside.",
    )
    title = "Watching a machine become sure" if f.fell else "Watching a machine that stays unsure"
    return View(title, "for a school student", tuple(filter(None, lead)), tuple(_parts(f)))


def _empty(f: Facts) -> str:
    """What it sees before it has said anything."""
    s = f.life.settings
    if s.context == 1:
        return ""
    empty = many(s.context - 1, "place")
    return (
        f"At the very start only one of the {s.context} places holds a sign, sign {s.start}; the other {empty} are "
        f"empty. They fill up one by one with what the machine says."
    )


def _parts(f: Facts) -> Iterator[Part]:
    yield Part("How unsure is it?", _entropy(f), figure="entropy", remarks=(_remarks.temperature(f),))
    yield Part("Is it right?", _sharpening(f), figure="sharpening")
    yield Part("Being sure and being right", _phase(f), figure="phase")
    yield Part("A knob called temperature", _temperature(f), figure="temperature")
    yield Part("When does it change its mind?", _change(f), figure="prediction_change")
    if f.life.settings.context > 1:
        yield Part("Where does it look?", _attention(f), figure="attention_profile", remarks=(_remarks.attention(f),))
    yield Part("What to take away", (), points=tuple(_points(f)), figure="thermodynamics_1")


def _entropy(f: Facts) -> tuple[str, ...]:
    h, n = f.life.training_entropy, f.life.settings.tokens
    meaning = (
        f"Being unsure can be measured. The measure is called <em>entropy</em>. It is 0 when the machine is certain, "
        f"and {nats(f.most)} when all {n} signs look equally likely. There is an easy way to read it: an entropy of "
        f"{nats(h[0])} means being as unsure as somebody who picks blindly from {number(exp(h[0]), 2)} things."
    )
    picks = (
        f"At the start this machine picks from about {number(exp(h[0]), 2)} of its {n} signs, at the end from about "
        f"{number(exp(h[-1]), 2)}."
    )
    if not f.fell:
        return meaning, (
            f"{picks} In {many(len(h), 'step')} it did not become sure. More steps, or larger steps, might change that."
        )
    k, top = f.steepest, int(h.argmax())
    if f.held >= 5:
        way = f"For the first {many(f.held, 'step')} almost nothing seems to happen."
    elif h[top] > 1.2 * h[0]:
        way = f"On the way it even becomes less sure, with an entropy of {nats(h[top])} at step {top}."
    else:
        way = "It begins to fall almost at once."
    return meaning, (
        f"{picks} It does not get there evenly. {way} The largest single drop, from {nats(h[k])} to {nats(h[k + 1])}, "
        f"comes between steps {k} and {k + 1}."
    )


def _sharpening(f: Facts) -> tuple[str, ...]:
    p, top, target = f.life.p_target, f.life.p_max, f.life.target
    low = int(p.argmin())
    begin = (
        f"One curve is the chance the machine gives to the right sign, {target}. The other is the chance of whatever "
        f"sign it likes best. Blind guessing would give every sign {power(f.chance)}. The right sign begins at "
        f"{power(p[0])}"
    )
    dip = (
        f", sinks to {power(p[low])} at step {low} although the machine has been told the answer every time,"
        if p[low] < 0.8 * p[0] and low > 0
        else ""
    )
    if not f.learned:
        return (f"{begin}{dip} and ends at {power(p[-1])}. That is not yet learning the answer.",)
    first = f.life.reached(0.95)
    sure = f" From step {first} on it stays above {power(0.95)}." if first is not None else ""
    lock = (
        f" The turning point is when the machine reads its own answer: from step {f.locked} on, sign {target} is all "
        f"it says and all it hears, so every lesson fits the next question."
        if f.locked is not None and f.locked + 5 < len(p) and f.life.settings.feedback == "argmax"
        else ""
    )
    best = (
        f" Its favourite sign begins at {power(top[0])} and is not the right one; the two curves join when it is."
        if f.life.tokens[0] != target
        else ""
    )
    told = (_recall(f), lock.strip())
    return f"{begin}{dip} and ends at {power(p[-1])}.{sure}{best}", *(each for each in told if each)


def _recall(f: Facts) -> str:
    """Why it takes so long, where the run shows it."""
    t, p = f.again, f.life.p_target
    if t is None or not f.recalled:
        return ""
    return (
        f"Why does it take so long? What it is taught about one sign helps little with another, and of its first "
        f"{f.locked} signs {f.unread} were new to it. Step {t} is the first at which a sign comes back, sign "
        f"{f.life.inputs[t]}: the chance of the right answer jumps from {power(p[t - 1])} to {power(p[t])}."
    )


def _phase(f: Facts) -> tuple[str, ...]:
    h, loss = f.life.training_entropy, f.life.training_loss
    meaning = (
        "Being sure is not the same as being right. Think of a quiz: you can be sure and wrong. The <em>loss</em> "
        "says how badly the right answer surprises the machine; 0 means no surprise. In this picture each dot is one "
        "step; to the left is surer, further down is more right."
    )
    if f.climbs_alone and f.learned:
        path = (
            f"The path does not run straight to the corner. First the loss <em>climbs</em>, from {nats(loss[0])} to "
            f"{nats(loss[f.worst])} at step {f.worst}, while the entropy hardly moves ({nats(h[0])} to "
            f"{nats(h[f.worst])}). Only then do both fall together, to {nats(loss[-1])} and {nats(h[-1])}."
        )
    elif f.learned:
        way = f" On the way the loss is as large as {nats(loss[f.worst])}, at step {f.worst}." if f.rises_first else ""
        path = (
            f"The path goes from a loss of {nats(loss[0])} and an entropy of {nats(h[0])} to {nats(loss[-1])} and "
            f"{nats(h[-1])}: it became surer and more right.{way}"
        )
    else:
        path = (
            f"The loss goes from {nats(loss[0])} to {nats(loss[-1])} and the entropy from {nats(h[0])} to "
            f"{nats(h[-1])}: the corner at the lower left, sure and right, is not reached."
        )
    return meaning, path


def _temperature(f: Facts) -> tuple[str, ...]:
    heat, h = f.life.temperatures, f.life.mean_entropy
    if len(heat) == 1:
        return (f"This run was looked at with one temperature only, {degrees(heat[0])}.",)
    return (
        "The same machine can answer boldly or carefully. The knob is called <em>temperature</em>. Turned low, it "
        "nearly always says its favourite sign. Turned high, it says anything. Nothing is learned by turning it; only "
        "the answers are spread differently.",
        f"Averaged over all steps, the entropy is {nats(h[0])} at temperature {degrees(heat[0])} and {nats(h[-1])} at "
        f"temperature {degrees(heat[-1])}. It can never pass {nats(f.most)}.",
    )


def _change(f: Facts) -> tuple[str, ...]:
    kl, k = f.life.kl, f.peak
    calm = kl[k] > 20 * f.quiet
    return (
        f"This picture shows how much the answers change from one step to the next. The largest change, "
        f"{nats(kl[k])}, lies between steps {k} and {k + 1}. Over the last third of the steps the change is "
        f"{number(f.quiet, 2)} on average"
        + (": the machine has settled." if calm else ", so it is still on the move."),
    )


def _attention(f: Facts) -> tuple[str, ...]:
    n, a = f.life.settings.context, f.life.attention
    flat = f.uneven < FLAT * f.even
    return (
        f"The machine may look at {n} signs and shares its attention among them. If all were equal, each would get "
        f"1/{n} = {f.even:.4f}. In this run every share at every step lies between {a.min():.5f} and {a.max():.5f}. "
        + (
            "So it looks everywhere alike. It learned its answer without learning where to look."
            if flat and f.learned
            else "So it looks everywhere alike."
            if flat
            else "So some places do get more than others."
        ),
    )


def _points(f: Facts) -> Iterator[str]:
    life = f.life
    h = life.training_entropy
    if f.fell:
        first, last = (number(exp(each), 2) for each in (h[0], h[-1]))
        sure = "sure" if exp(h[-1]) < 2 else "surer"
        yield f"It became {sure}: from about {first} equally good guesses to about {last}."
    else:
        yield f"It did not become sure: about {number(exp(h[-1]), 2)} equally good guesses are left."
    became = "It became right" if f.learned else "It did not become right"
    yield f"{became}: sign {life.target} ends with a chance of {power(life.p_target[-1])}."
    if f.fell and f.held >= 5:
        late = "late and suddenly" if f.sudden else "late"
        yield f"Learning came {late}: after {many(f.held, 'step')} with almost nothing to see."
    if f.rises_first:
        yield (
            f"It got worse before it got better: the largest loss is at step {f.worst}."
            if f.learned
            else (f"On the way it got worse: the largest loss is at step {f.worst}.")
        )
