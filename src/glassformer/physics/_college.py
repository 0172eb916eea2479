"""View 2: the same life for a college student, with the formula of each quantity before its figure."""

from collections.abc import Iterator

import numpy as np

from glassformer.physics import _dictionary, _remarks
from glassformer.physics._facts import FLAT, Facts
from glassformer.physics._tell import Part, View, degrees, formula, many, nats, number, power
from glassformer.physics.models.short_cut import SHARE
from glassformer.words import percent, thousands


def college(f: Facts) -> View:
    """What happened, with the definitions."""
    s = f.life.settings
    lead = (
        f"The model is a single transformer layer, small enough to write down whole. A vocabulary of {formula('N')} = "
        f"{s.tokens} one-hot tokens, a rolling window of {many(s.context, 'position')}, one attention head that "
        f"answers for the newest token, two normalisations without parameters, a feed-forward part of {s.neurons} "
        f"neurons: {thousands(f.parameters)} weights in six matrices. No data: the target is token {s.target} at "
        f"every one of the {many(s.steps, 'step')}, and the token read next is "
        + ("the most likely one." if s.feedback == "argmax" else "drawn by its chance."),
        f"All quantities below are functions of the logits {formula('ℓ_i')} that the layer gives each token. "
        f"Entropies, losses and divergences are in nats.",
    )
    return View("Eight measurements of one learning layer", "for a college student", lead, tuple(_parts(f)))


def _parts(f: Facts) -> Iterator[Part]:
    yield Part(
        "The layer",
        (
            f"{formula('X')} is the window, one column per token, {formula('x')} its last column; LN subtracts the "
            f"mean and divides by the standard deviation.",
            _start(f),
        ),
        formulas=(
            "a = softmax( (W_Q x)^⊤ W_K X / √N )",
            "u = LN( x + W_V X a )",
            "v = LN( u + W_2 tanh(W_1 u) )",
            "ℓ = W_O v,   p = softmax(ℓ / T)",
        ),
    )
    yield Part("Entropy over training", _entropy(f), ("H = − Σ_i p_i ln p_i",), "entropy", (_remarks.temperature(f),))
    yield Part("Maximum and target probability", _sharpening(f), ("L = − ln p_{target}",), "sharpening")
    yield Part("Entropy against loss", _phase(f), (), "phase")
    yield Part("Entropy against temperature", _temperature(f), ("p_i(T) = e^{ℓ_i/T} / Σ_j e^{ℓ_j/T}",), "temperature")
    yield Part(
        "How fast the output changes", _change(f), ("D(t) = Σ_i p_i(t) ln [ p_i(t) / p_i(t−1) ]",), "prediction_change"
    )
    yield Part(
        "Attention by position", _attention(f), ("ā_j = mean_t a_j(t)",), "attention_profile", (_remarks.attention(f),)
    )
    yield _short_cut(f)
    yield Part("All eight on one sheet", (), figure="thermodynamics_2")
    if f.life.nearest_one != f.life.farthest_from_one:
        yield from _published(f)
    yield _dictionary.terms(f)
    yield _dictionary.parts(f)


def _start(f: Facts) -> str:
    """What the window holds before there are tokens to fill it."""
    s = f.life.settings
    if s.context == 1:
        return ""
    return (
        f"At step 0 the window holds one token, number {s.start}; its other {many(s.context - 1, 'place')} are columns "
        f"of zeros, as in the published program. An empty place has a score and a value of 0, so it is looked at like "
        f"any other and brings nothing: at step 0, {power(f.on_nothing)} of the attention goes there. The window is "
        f"full from step {s.context - 1} on."
    )


def _published(f: Facts) -> Iterator[Part]:
    """The curves and the path of the source, at the temperature at which it drew them."""
    far = f.life.farthest_from_one
    hot, h, loss = f.life.temperatures[far], f.life.entropy[far], f.life.loss[far]
    width = float(np.ptp(h))
    yield Part(
        "The published curves",
        (
            f"What the published pictures of entropy and loss show is the output at T = {degrees(hot)}, whatever their "
            f"heading: H goes from {nats(h[0])} to {nats(h[-1])} and L from {nats(loss[0])} to {nats(loss[-1])}. So "
            f"hot an output looks as if the layer had hardly become sure: {percent(float(h[-1] / f.most))} of the "
            f"largest entropy is left, where at the temperature of the training it is "
            f"{percent(float(f.life.training_entropy[-1] / f.most))}.",
        ),
        figure="entropy_published",
    )
    yield Part(
        "The published path",
        (
            f"On the published plane of entropy and loss the entropy covers {nats(width)}, "
            f"{power(width / f.most)} of what it could; at T = 1 it covers "
            f"{nats(float(np.ptp(f.life.training_entropy)))}. The loss covers {nats(float(np.ptp(loss)))}.",
        ),
        figure="phase_published",
    )


def _entropy(f: Facts) -> tuple[str, ...]:
    h, k = f.life.training_entropy, f.steepest
    share = percent(float(h[0] / f.most)) if h[0] < 0.995 * f.most else f"{100 * h[0] / f.most:.1f} %"
    start = f"It starts at {nats(h[0])}, which is {share} of ln {f.life.settings.tokens} = {nats(f.most)}"
    if not f.fell:
        return (f"{start}, and after {many(len(h), 'step')} it is {nats(h[-1])}: there is no collapse in this run.",)
    if not f.held:
        return (
            f"{start}. There is no flat stretch near that limit; the largest single fall is from {nats(h[k])} at step "
            f"{k} to {nats(h[k + 1])} at step {k + 1}, and it ends at {nats(h[-1])}.",
        )
    flat = h[: f.held]
    return (
        f"{start}. It stays between {nats(flat.min())} and {nats(flat.max())} for {many(f.held, 'step')} and then "
        f"{'collapses' if f.sudden else 'falls'}: {nats(h[k])} at step {k}, {nats(h[k + 1])} at step {k + 1}, "
        f"{nats(h[-1])} at the end. Entropy alone does not say whether anything is learned before it falls; the next "
        f"two figures do.",
    )


def _sharpening(f: Facts) -> tuple[str, ...]:
    p, top = f.life.p_target, f.life.p_max
    low = int(p.argmin())
    lock = (
        f"From step {f.locked} on the target alone is fed back. Each step is then asked what the step before was "
        f"taught, and {formula('p_{max}')} and {formula('p_{target}')} are one curve."
        if f.locked is not None and f.life.settings.feedback == "argmax"
        else f"From step {f.locked} on only the target is drawn."
        if f.locked is not None
        else "The fed-back token has not settled on the target by the last step."
    )
    return (
        f"{formula('p_{target}')} begins at {number(p[0])} (uniform: {number(f.chance)}), has its minimum "
        f"{number(p[low])} at step {low} and ends at {number(p[-1])}; {formula('p_{max}')} goes from {number(top[0])} "
        f"to {number(top[-1])}. {lock}",
    )


def _phase(f: Facts) -> tuple[str, ...]:
    h, loss = f.life.training_entropy, f.life.training_loss
    if f.climbs_alone:
        first = (
            f"The loss rises from {nats(loss[0])} to {nats(loss[f.worst])} at step {f.worst}, while the entropy "
            f"changes only from {nats(h[0])} to {nats(h[f.worst])}. Each change is made for the window just seen; the "
            f"next window ends in another token, and there it can do harm."
        )
    else:
        first = f"The largest loss, {nats(loss[f.worst])}, is at step {f.worst}; it begins at {nats(loss[0])}."
    if f.recalled and f.again is not None:
        t = f.again
        first += (
            f" Of the {f.locked} tokens read before the target locks in, {f.unread} are read for the first time. At "
            f"step {t} token {f.life.inputs[t]} comes back, and the loss drops from {nats(loss[t - 1])} to "
            f"{nats(loss[t])}: what was learned sits in the directions of the tokens it was learned on."
        )
    gap = float(loss[-1] - h[-1])
    side = (
        "surer than its answers deserve"
        if gap > 0
        else "less sure than it could be, since the answer is always the same and the least loss is 0"
    )
    return first, (
        f"The end is at loss {nats(loss[-1])} and entropy {nats(h[-1])}. Where the two are equal, a model is as "
        f"surprised as it expects to be. The last point lies {number(abs(gap), 2)} off that line: the layer is {side}."
    )


def _temperature(f: Facts) -> tuple[str, ...]:
    heat, h, near = f.life.temperatures, f.life.mean_entropy, f.life.nearest_one
    start = float(np.mean(f.life.training_entropy[: max(f.held, 1)]))
    return (
        f"Averaged over the steps, ⟨{formula('H')}⟩ is {nats(h[0])} at T = {degrees(heat[0])}, {nats(h[near])} at T "
        f"= {degrees(heat[near])} and {nats(h[-1])} at T = {degrees(heat[-1])}; the limit is ln "
        f"{f.life.settings.tokens} = {nats(f.most)}. At fixed logits entropy never falls as T grows, because "
        f"{formula('dH/dT')} = {formula('Var(ℓ)/T^3')}.",
        f"A time average mixes phases: {power(f.held / len(f.life.steps))} of the steps belong to the flat stretch, "
        f"whose mean entropy at T = 1 is {nats(start)}."
        if 0 < f.held < len(f.life.steps)
        else "",
    )


def _change(f: Facts) -> tuple[str, ...]:
    kl, k, alike = f.life.kl, f.peak, f.life.alike
    early = slice(0, min(f.held, len(kl)) if f.held >= 5 else len(kl))
    return (
        f"The largest divergence is {nats(kl[k])}, between steps {k} and {k + 1}. Over the last third of the life the "
        f"mean is {number(f.quiet, 2)}.",
        f"This measure mixes two things: the weights change, and so does the window that is looked at. With the "
        f"window held fixed, a change of weights alone moves the output by {nats(float(np.median(alike[early])))} in "
        f"the median of the first {many(early.stop, 'step')}, against {nats(float(np.median(kl[early])))} with the "
        f"next window. " + _which(float(np.median(alike[early])), float(np.median(kl[early]))),
    )


def _which(weights: float, both: float) -> str:
    """Whether the weights or the window change the output more."""
    if weights > 2 * both:
        return "So each lesson is large where it is given, and mostly lost where the next question is asked."
    if both > 2 * weights:
        return "So most of what changes from step to step is the question, not the layer."
    return "The two are of the same order here."


def _attention(f: Facts) -> tuple[str, ...]:
    a = f.life.attention
    why = (
        f" The scores are products of two small random matrices divided by √{formula('N')}, and they stay near 0: a "
        f"softmax of nearly equal numbers is nearly even."
        if f.uneven < FLAT * f.even
        else ""
    )
    return (
        f"All {a.size} weights of this life lie between {a.min():.5f} and {a.max():.5f}; an even share is "
        f"{f.even:.5f}.{why}",
    )


def _short_cut(f: Facts) -> Part:
    cost, s = f.cost, f.life.settings
    names = {
        "heuristic": f"published rule, inner rate {number(s.projection_rate)}",
        "true": f"true gradients, inner rate {number(s.projection_rate)}",
        "output_only": "output matrix alone",
        "equal_heuristic": f"published rule, inner rate {number(s.output_rate)}",
        "equal_true": f"true gradients, inner rate {number(s.output_rate)}",
    }
    rows = [("the layer learns by", f"steps to p(target) ≥ {power(SHARE)}", "loss at the end")]
    rows += [
        (said, "not reached" if cost.steps[name] is None else str(cost.steps[name]), _loss(cost.last_loss[name]))
        for name, said in names.items()
    ]
    return Part(
        "What does the short cut cost?",
        _price(f),
        table=rows,
        remarks=(_remarks.projections(f), _remarks.feed_forward(f)),
    )


def _price(f: Facts) -> tuple[str, ...]:
    steps = f.cost.steps
    explain = (
        "The published program changes the output matrix by its gradient and sends one rough signal to query, key and "
        "value; the feed-forward part stays as it was drawn. Five lives from the same first weights show what that "
        "costs. “Inner” means every matrix except the output."
    )
    said = [
        f"At the rate of this run the published rule {_later(steps['heuristic'], steps['true'], 'true gradients')}."
    ]
    idle = steps["heuristic"] is not None and steps["output_only"] is not None
    if idle and abs((steps["heuristic"] or 0) - (steps["output_only"] or 0)) <= 2:
        alone = _later(steps["heuristic"], steps["output_only"], "the output matrix alone")
        said.append(f"It also {alone}, so the inner changes hardly matter either way.")
    if f.life.settings.projection_rate != f.life.settings.output_rate:
        equal = _later(steps["equal_heuristic"], steps["equal_true"], "true gradients")
        said.append(f"With the output's rate for every matrix, the published rule {equal}.")
    return explain, " ".join(said)


def _later(steps: int | None, other: int | None, than: str) -> str:
    """How one number of steps compares with another; None: it was never reached."""
    if steps is None:
        return f"does not get there, {'and neither do' if other is None else 'unlike'} {than}"
    if other is None:
        return f"gets there, unlike {than}"
    if steps == other:
        return f"needs exactly as many steps as {than}"
    return f"needs {many(abs(steps - other), 'step')} {'more' if steps > other else 'fewer'} than {than}"


def _loss(x: float) -> str:
    """Four digits behind the point, so that a column can be compared; more where that would round to nothing."""
    return f"{x:.4f}" if x >= 5e-4 else number(x, 2)
