"""The source's words: its terms, its list of parts and its analogies, each beside the number that this run measured."""

from math import exp, log

import numpy as np

from glassformer import canonical
from glassformer.physics._facts import FLAT, HIGH, Facts
from glassformer.physics._tell import Part, degrees, formula, many, nats, number, power
from glassformer.physics.models.one_layer import ATTENDING
from glassformer.words import thousands

NEARLY = 0.05  # a share below which a part hardly does what it is there for


def terms(f: Facts) -> Part:
    """Entropy, high and low, information and its loss."""
    life = f.life
    h, loss, n = life.training_entropy, life.training_loss, life.settings.tokens
    ups = np.diff(h)[np.diff(h) > 0]
    hot, cold = life.entropy[-1, -1], life.entropy[0, -1]
    return Part(
        "A dictionary, with numbers",
        ("The source explains its words; these are the numbers of this run that go with them.",),
        points=(
            f"<b>Entropy</b>, the average uncertainty about the next token. Here between {nats(h.min())} and "
            f"{nats(h.max())}; it cannot leave 0 to ln {n} = {nats(f.most)}.",
            f"<b>High entropy</b>, many possibilities and little known. The first output has {nats(h[0])}, "
            f"{power(float(h[0] / f.most))} of the most there is: as good as {number(exp(h[0]))} equal choices.",
            f"<b>Low entropy</b>, few possibilities and more known. The last output has {nats(h[-1])}, as good as "
            f"{number(exp(h[-1]))} equal choices.{_repeats(f)}",
            f"<b>Information</b>, what reduces uncertainty. From the first step to the last the entropy "
            f"{'falls' if h[-1] < h[0] else 'rises'} by {nats(abs(float(h[0] - h[-1])))}, which is "
            f"{number(abs(float(h[0] - h[-1])) / log(2))} bits. But a fall of entropy is no knowledge of the answer: "
            f"{_knowledge(f)} What is known of the answer is what the loss falls by, "
            f"{nats(float(loss[0] - loss[-1]))} in all.",
            f"<b>Information loss</b>, what makes states harder to tell apart. While it learns, the entropy rises at "
            f"{len(ups)} of {many(len(h) - 1, 'change')}, by {nats(float(ups.sum()))} in all."
            + (
                f" Heating the last output from T = {degrees(life.temperatures[0])} to "
                f"T = {degrees(life.temperatures[-1])} takes its entropy from {nats(cold)} to {nats(hot)}, and loses "
                f"nothing: the logits are the same, and cooling brings everything back."
                if len(life.temperatures) > 1
                else ""
            ),
        ),
    )


def _repeats(f: Facts) -> str:
    """The source's example of low entropy is a sequence that repeats."""
    if f.locked is None:
        return ""
    read = f.life.tokens[f.locked :]
    return (
        f" From step {f.locked} on the layer feeds itself one token {many(len(read), 'time')}: a sequence that repeats."
    )


def _knowledge(f: Facts) -> str:
    h, loss, t = f.life.training_entropy, f.life.training_loss, f.worst
    if t and h[t] < h[0] and loss[t] > loss[0]:
        return (
            f"at step {t} the entropy lies {nats(float(h[0] - h[t]))} below its start, and the loss "
            f"{nats(float(loss[t] - loss[0]))} above its own."
        )
    return "it says how sure the layer is, not of what."


def parts(f: Facts) -> Part:
    """What the source says such a layer includes and leaves out, counted and measured."""
    life = f.life
    s, moved = life.settings, f.moved
    norm = max(float(np.abs(f.anatomy(name) - 1).max()) for name in ("middle", "final"))
    inner = max(moved[name] for name in ATTENDING)
    feed = max(moved[name] for name in ("feed_in", "feed_out"))
    return Part(
        "What such a layer has, and what it lacks",
        (
            "The source lists what its layer includes (embeddings, attention, residual paths, normalisation, a "
            "feed-forward part, entropy, learning) and what it leaves out (depth, meaning, scale), and puts it at a "
            "share of a real layer that it never defines. A share cannot be measured; the parts can.",
        ),
        points=(
            f"<b>Embeddings</b>: there, but nothing is embedded. Each of {s.tokens} tokens is a direction of its own, "
            f"all at right angles, and no number of them is learned.",
            f"<b>Attention</b>: one head. What it brings is {power(float(f.anatomy('brought').max()))} of the token’s "
            f"own length at most, and no weight lies farther than {number(f.uneven, 2)} from even.",
            f"<b>Residual paths</b>: two, and they carry nearly all: the feed-forward part adds "
            f"{power(float(f.anatomy('added').max()))} of the length of what goes past it at most."
            if f.anatomy("added").max() < NEARLY
            else f"<b>Residual paths</b>: two. The feed-forward part adds up to "
            f"{power(float(f.anatomy('added').max()))} of the length of what goes past it.",
            f"<b>Normalisation</b>: two, without gain and shift; the mean square of a state is 1 to {number(norm, 1)} "
            f"at every step.",
            f"<b>Feed-forward part</b>: {s.neurons} neurons, which move by {power(feed)} of their first length in the "
            f"whole life.",
            f"<b>Learning</b>: the output matrix moves by {power(moved['output'])} of its first length, query, "
            f"key and value by {power(inner)} at most.",
            "<b>Positions</b>: the source does not say that they are missing. "
            + (
                f"With all earlier tokens in another order no logit changes by more than {number(f.shuffled, 1)}: the "
                f"layer sees which tokens there are, and not where."
                if s.context > 2
                else "There is no earlier place to tell apart."
            ),
            f"<b>Depth</b>: one layer, {thousands(f.parameters)} weights. <b>Scale</b>: {many(s.tokens, 'token')}, a "
            f"window of {s.context}. <b>Meaning</b>: none; one token is right {many(s.steps, 'time')} in a row.",
        ),
    )


def analogies(f: Facts) -> Part:
    """The physics that the source sees in the layer, and what is left of it when measured."""
    return Part(
        "The source’s analogies, measured",
        ("The source reads the parts of the layer as physics. Each reading can be held against a number of this run.",),
        points=tuple(filter(None, (_microstates(f), _mean_field(f), _fixed_energy(f), _scattering(f), _canonical(f),
                                   _hierarchy(f), _attractor(f)))),
    )  # fmt: skip


def _microstates(f: Facts) -> str:
    steps = len(f.life.steps)
    return (
        f"<b>A window is a microstate.</b> In part. There are finitely many full ones, e<sup>{nats(f.windows)}</sup> "
        f"of them, and this life visits {thousands(f.visited)} in {many(steps, 'step')}. But the entropy drawn is not "
        f"theirs: it is that of the next token, at most {nats(f.most)}, and a path that goes through its states one "
        f"after another has no ensemble of them."
    )


def _mean_field(f: Facts) -> str:
    if f.life.settings.context == 1:
        return ""
    apart, score = float(f.anatomy("apart").max()), float(f.anatomy("score").max())
    flat = f.uneven < FLAT * f.even
    verdict = "Yes, and more than it should be." if flat else "Yes in form."
    rest = (
        f"what it brings is the plain mean of the values to {power(apart)}, since no score exceeds {number(score, 2)} "
        f"where T is 1. A mean of that kind is an interaction at infinite temperature: none"
        if flat
        else f"what it brings differs from the plain mean of the values by up to {power(apart)}, with scores up to "
        f"{number(score, 2)} where T is 1"
    )
    return (
        f"<b>Attention is a Boltzmann-weighted mean field.</b> {verdict} Its weights are Boltzmann weights by "
        f"definition; {rest}. Nor do the tokens answer to the field they make, which a mean-field theory would ask for."
    )


def _fixed_energy(f: Facts) -> str:
    norm = max(float(np.abs(f.anatomy(name) - 1).max()) for name in ("middle", "final"))
    energy = canonical.energy(f.life.trained, f.life.logits)
    return (
        f"<b>Normalisation fixes the energy, as in a microcanonical ensemble.</b> Not the energy. What is fixed is the "
        f"length of the state: its mean square is 1 to {number(norm, 1)}. The energy that goes with the "
        f"temperature, U at T = 1, goes from {nats(float(energy[0]))} to {nats(float(energy[-1]))}."
    )


def _scattering(f: Facts) -> str:
    bent, added, turned = (float(f.anatomy(name).max()) for name in ("bent", "added", "turned"))
    weak = added < NEARLY and bent < NEARLY
    verdict = "Hardly." if weak else "In part."
    trained = f.life.settings.gradients == "true"
    return (
        f"<b>The feed-forward part is a nonlinear scattering.</b> {verdict} It turns the state by at most "
        f"{number(turned, 2)}°, adds at most {power(added)} of its length, and its neurons depart from a straight line "
        f"by at most {power(bent)}"
        + ("." if trained else "; and since it is never trained, what it does to a given state never changes.")
    )


def _canonical(f: Facts) -> str:
    return (
        f"<b>The output is a canonical ensemble.</b> Yes, exactly: {formula('L = (E − F)/T')} for the target’s level "
        f"holds to {number(f.identity, 1)} at every step. It is a matter of definition, and needs no learning."
    )


def _hierarchy(f: Facts) -> str:
    moved = f.moved
    inner = max(moved[name] for name in ATTENDING)
    if not inner or not moved["output"]:
        return ""
    ratio = moved["output"] / inner
    verdict = "Yes" if ratio > 2 else "No"
    return (
        f"<b>The output adapts faster than the interactions.</b> {verdict}: it moves {number(ratio, 2)} times as far, "
        f"relative to its first length, as the one of query, key and value that moves most."
    )


def _attractor(f: Facts) -> str:
    h, s = f.life.training_entropy, f.life.settings
    if f.locked is None or s.feedback != "argmax" or f.locked + s.context >= len(h):
        return (
            f"<b>The path ends in an attractor of low entropy.</b> Not in this run: the last entropy is {nats(h[-1])}."
        )
    full = f.locked + s.context
    return (
        f"<b>The path ends in an attractor of low entropy.</b> Yes: from step {full} on the window holds nothing but "
        f"the target, and the entropy goes from {nats(float(h[full]))} to {nats(float(h[-1]))}. The way there is no "
        f"steady cooling: for {many(f.held, 'step')} the entropy stays above {power(HIGH)} of its most."
    )
