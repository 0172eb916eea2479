"""What the figures of uncertainty say: sentences made of the numbers they draw."""

import numpy as np

from glassformer.analyses._judged import exactly
from glassformer.analyses._result import Array, Words, thousands
from glassformer.analyses._uncertain import Uncertainty

CALIBRATED = 0.02  # nats between loss and entropy that count as none


def say_entropy(seen: Uncertainty) -> Words:
    """From how undecided to how undecided, and how much of that no model could avoid."""
    caption = (
        "Top: entropy of the predicted distribution by training step, "
        f"{_at_one(seen)}{'' if _same(seen) else f', and at T = {seen.temperature:.4g} (dash-dotted)'}, in nats; "
        f"{_spread(seen)} The highest possible value is ln {thousands(seen.tokens)} = {seen.highest:.3f}. "
        f"{_floor(seen)} Bottom: the loss, −ln of the probability of the right token, at T = {seen.temperature:.4g}. "
        "Entropy says how sure the model is, loss how rightly. An entropy that falls while the loss does not would "
        "mean that it grows sure without reason."
    )
    entropy, loss = (seen.by_step[name].values[0] for name in ("entropy_at", "loss_at"))
    if title := _no_story(seen):
        return Words(title, caption, f"Two charts over training steps. {title}.")
    title = (
        f"{_hot(seen)}ntropy {_moves(entropy)} from {_nats(entropy[0])} to {_nats(entropy[-1])} nats, the loss from "
        f"{_nats(loss[0])} to {_nats(loss[-1])}{_when(seen, entropy)}"
    )
    return Words(title, caption, f"Two charts over training steps, entropy and loss. {title}.")


def say_temperature(seen: Uncertainty) -> Words:
    """Where the loss is least, and where the specific heat is largest."""
    cold, mean = seen.temperatures, seen.by_temperature["entropy"].values[0]
    lives = (
        "Every temperature has its own training here. "
        if seen.own_lives
        else "The model is the same at every temperature; only its logits are divided by T. "
    )
    caption = (
        f"{lives}First: entropy against temperature T, averaged over the life (thick) and at some steps (early to late "
        f"in shade), with ln {thousands(seen.tokens)} = {seen.highest:.3f} as limit. Second: the loss, its minimum "
        "marked; a minimum at T = 1 says that the stated probabilities are as sure as they should be, one below 1 that "
        "they are too cautious, one above 1 that they are too sure. Third: the specific heat, the variance of the "
        "energy E = −logit divided by T², its peak marked: there a small change of temperature changes most. "
        f"{_spread(seen, seen.swept)} Computed at {len(cold)} temperatures from {cold[0]:g} to {cold[-1]:g}, so the "
        "marks are exact to one of them. A specific heat without a peak would mean that no scale of energy was learned."
    )
    if title := _no_story(seen):
        return Words(title, caption, f"Three charts over temperature. {title}.")
    best, peak = (float(seen.marks[name].values[-1]) for name in ("least_loss", "most_heat"))
    rise = (
        f"Averaged over the life, entropy grows from {mean[0]:.2f} nats at T = {cold[0]:g} to {mean[-1]:.2f} at "
        f"T = {cold[-1]:g}, of at most {seen.highest:.2f}"
    )
    where = _place(peak, cold)
    title = (
        f"{rise}; in the end the specific heat is largest {where}"
        if seen.subject != "run"
        else f"In the end the loss is least {_place(best, cold)} and the specific heat largest {where}; entropy grows "
        f"with T towards {seen.highest:.2f}"
    )
    return Words(title, caption, f"Charts of entropy, loss and specific heat against temperature. {title}.")


def say_phase(seen: Uncertainty) -> Words:
    """Where the path begins and ends, and on which side of the line it went."""
    rungs = ""
    if len(seen.rungs.values) and seen.exact:
        rungs = (
            " Rings are partial understandings of the task: each is exactly as sure as it is right, so it lies "
            "on the line, and the lower, the more is understood."
        )
    elif len(seen.rungs.values):
        rungs = " Rings are tables of counts: the price of each against its entropy, measured on a few inputs."
    exact = (
        f"; thick dashes: of the exact predictor, {seen.calibrated:+.3f} on these inputs and 0 on endless ones"
        if seen.subject == "run" and seen.known and seen.exact
        else ""
    )
    caption = (
        f"Entropy (how unsure the model says it is) against loss (how wrong it is) at T = {seen.temperature:.4g}, one "
        f"dot for each of {len(seen.looked_at)} steps, dark to light in time, arrow heads along the way; "
        f"{_spread(seen)} On the dashed line loss equals entropy: on average the model is as right as it says. Above "
        f"it, it is too sure; below, too cautious.{rungs} Second chart: the distance from the line, loss minus "
        f"entropy, by step{exact}. A path along the line from rung to rung would be a learner that always knows how "
        "much it knows."
    )
    if title := _no_story(seen):
        return Words(title, caption, f"A path on the plane of entropy and loss. {title}.")
    entropy, loss = (seen.by_step[name].values[0] for name in ("entropy_at", "loss_at"))
    gap = float(loss[-1] - entropy[-1]) - seen.calibrated
    end = (
        "as sure as it should be"
        if abs(gap) < CALIBRATED
        else f"{abs(gap):.2f} nats too {'sure' if gap > 0 else 'cautious'}"
    )
    top = int(np.argmax(loss))
    still = abs(entropy[top] - entropy[0]) < 0.05 * seen.highest
    if loss[top] > loss[0] + 0.1 * (np.ptp(loss) or 1) and still and loss[-1] < loss[0] and entropy[-1] < entropy[0]:
        title = (
            f"The loss first rises from {_nats(loss[0])} to {_nats(loss[top])} while the entropy stays near "
            f"{_nats(entropy[top])} (step {thousands(int(seen.looked_at[top]))}), then both fall; the model ends {end}"
        )
    else:
        title = (
            f"From entropy {_nats(entropy[0])} and loss {_nats(loss[0])} to {_nats(entropy[-1])} and "
            f"{_nats(loss[-1])} nats: the model ends {end}"
        )
    return Words(title, caption, f"A path on the plane of entropy and loss. {title}.")


def say_change_rate(seen: Uncertainty) -> Words:
    """When the predictions change fastest, and how much slower in the end."""
    values, steps = _changes(seen)
    inputs = (
        f"The inputs stay the same, so that all change comes through the weights; {_spread(seen)}"
        if seen.subject == "run"
        else "The input changes as well, since the model reads its own answers: the thick curve mixes both, the thin "
        "one is measured on the same window before and after each change of the weights."
        if "same_window" in seen.change
        else "The input changes as well, since the model reads its own draws."
    )
    caption = (
        "Divergence D(p‖q) = Σ p ln(p/q) of the predictions p at a step from those q at the one looked at before, "
        f"divided by the steps between them ({_apart(steps)}), in nats, on a logarithmic axis. {inputs} "
        f"{'Ticks at the top: the step at which the loss reached each rung of the ladder. ' if seen.reachable else ''}"
        "Rates found over different gaps are not to be compared: noise counts less over a long one. Converged means "
        "flat and low; a high plateau would mean that it keeps changing its mind."
    )
    bad = _no_story(seen)
    if bad or not len(values):
        title = bad or "One step is too few to see a change"
        return Words(title, caption, f"A chart over training steps. {title}.")
    top = int(np.argmax(values))
    late = float(np.median(values[-max(1, len(values) // 10) :]))
    slower = f"{_times(values[top] / late)} slower in the last tenth" if late > 0 else "not at all in the last tenth"
    title = (
        f"The predictions change fastest at step {thousands(int(steps[top]))}, by {_two(float(values[top]))} nats a "
        f"step, and {slower}"
    )
    return Words(title, caption, f"A chart of divergence over training steps. {title}.")


def say_sharpening(seen: Uncertainty) -> Words:
    """How much the likeliest and the right token get, at first and in the end."""
    kinds = "p_max constrained" in seen.by_step
    caption = (
        "Probability of the likeliest token and of the token that came (the right one), by training step, at "
        f"{_at_one(seen).removeprefix('at ')}; {_spread(seen)} "
        f"{'Left: places where the rule restricts what may come; right: all others. ' if kinds else ''}"
        + (
            "Dotted: what the exact predictor gives them on the same inputs; above it a model is surer than anyone "
            "can be. "
            if seen.known and seen.exact and seen.subject == "run"
            else "Dotted: what the best table of counts gives them. "
            if seen.known and seen.subject == "run"
            else ""
        )
        + "Where both curves run together, the likeliest token is the right one. A likeliest token above the right "
        "one is confidence that is not earned."
    )
    if title := _no_story(seen):
        return Words(title, caption, f"Curves of two probabilities over training steps. {title}.")
    kind = " constrained" if kinds else ""
    right = seen.by_step[f"p_target{kind}"].values[0]
    best = seen.true(f"p_target{kind}")
    who = "Where the rule speaks, the right token" if kinds else "The right token"
    of = f", of {exactly(best)} that can be had" if seen.subject == "run" and seen.exact and np.isfinite(best) else ""
    title = f"{who} gets {exactly(right[0])} at first and {exactly(right[-1])} in the end{of}"
    return Words(title, caption, f"Curves of two probabilities over training steps. {title}.")


def say_thermodynamics(seen: Uncertainty, view: int) -> Words:
    """One page in three depths."""
    what = {
        1: "Six diagnostics of one life, each with a sentence in plain words.",
        2: "The diagnostics of one life, each with its formula; p(T) = exp(ℓ/T) / Z is the predicted distribution, "
        "ℓ a logit, T the temperature.",
        3: _depth(seen),
    }[view]
    note = (
        ""
        if _same(seen) or view == 3
        else f" T = {seen.temperature:.4g} is the temperature nearest to {seen.wanted:g}."
    )
    caption = (
        f"{what} {_spread(seen)}{note} {_floor(seen)} Each is explained, with all its lines, in the figure of its name."
    )
    if title := _no_story(seen):
        return Words(title, caption, f"A page of small charts. {title}.")
    entropy, right = seen.by_step["entropy"].values[0], seen.by_step["p_target"].values[0]
    peak = _place(float(seen.marks["most_heat"].values[-1]), seen.temperatures)
    title = {
        1: f"In {thousands(seen.total)} steps the model {'narrows' if entropy[-1] < entropy[0] else 'widens'} its "
        f"choice from {_choices(entropy[0])} to {_choices(entropy[-1])} of {thousands(seen.tokens)} options; the "
        f"right answer gets {exactly(right[0])} at first and {exactly(right[-1])} in the end",
        2: f"Entropy {_moves(entropy)} from {entropy[0]:.3f} to {entropy[-1]:.3f} nats, of at most ln "
        f"{thousands(seen.tokens)} = {seen.highest:.3f}, while p(target) goes from {right[0]:.3f} to {right[-1]:.3f}",
        3: f"In the end the predictions turn from ordered to random around {peak.removeprefix('at ')}, where the "
        f"specific heat is largest",
    }[view]
    if view == 3 and seen.own_lives:
        mean = seen.by_temperature["entropy"].values[0]
        title = (
            f"Trained at T = {seen.temperatures[0]:g} the memory ends ordered, at T = {seen.temperatures[-1]:g} less "
            f"so: mean entropy {mean[0]:.2f} and {mean[-1]:.2f} of at most ln {seen.tokens} = {seen.highest:.2f}"
        )
    return Words(title, caption, f"A page of small charts. {title}.")


def plain(seen: Uncertainty) -> dict[str, str]:
    """A sentence for each diagnostic that asks for no mathematics, with the numbers of this life."""
    entropy, loss = (seen.by_step[name].values[0] for name in ("entropy", "loss_at"))
    mean, cold = seen.by_temperature["entropy"].values[0], seen.temperatures
    right, most = (seen.by_step[name].values[0] for name in ("p_target", "p_max"))
    values, steps = _changes(seen)
    gap = float(seen.by_step["gap"].values[0, -1]) - seen.calibrated
    if _no_story(seen):
        return dict.fromkeys(("entropy", "phase", "temperature", "loss", "change", "sharpening"), "")
    fast = f"step {thousands(int(steps[np.argmax(values)]))}" if len(values) else "no step"
    end = (
        "as sure as it is right"
        if abs(gap) < CALIBRATED
        else "surer than it is right"
        if gap > 0
        else "less sure than it could be"
    )
    return {
        "entropy": f"How unsure is it? As if choosing among {_choices(entropy[0])} equal options at first, among "
        f"{_choices(entropy[-1])} in the end.",
        "phase": f"Sure and right are two things. Above the line it is too sure, below it could be surer. It ends "
        f"{end}.",
        "temperature": f"Temperature stirs: at {cold[0]:g} it has {_choices(mean[0])} options on average, at "
        f"{cold[-1]:g} it has {_choices(mean[-1])} of {thousands(seen.tokens)}.",
        "loss": f"How surprised is it by the right answer? {_nats(loss[0])} at first, {_nats(loss[-1])} in the end; "
        f"0 is no surprise.",
        "change": f"How fast does it change its mind? Fastest at {fast}; the lower the line, the slower.",
        "sharpening": f"The right answer gets {exactly(right[0])} at first and {exactly(right[-1])} in the end, its "
        f"favourite {exactly(most[0])} and {exactly(most[-1])}.",
    }


FORMULAS = {
    "entropy": "H = −Σ p ln p at T = 1",
    "entropy_at": "H(T) = −Σ p ln p",
    "loss": "L(T) = −ln p(target)",
    "temperature": "⟨H⟩(T), mean over the life",
    "phase": "path (H, L), line L = H",
    "change": "D = Σ p ln(p / p before), per step",
    "attention": "⟨a⟩ = mean of softmax(q·k / √d)",
    "sharpening": "p(max) and p(target) at T = 1",
}


def _choices(entropy: float) -> str:
    return f"{np.exp(entropy):.1f}".removesuffix(".0")


def _depth(seen: Uncertainty) -> str:
    if seen.own_lives:
        return (
            "A fading memory that reads its own draws, one learner for each temperature: entropy and loss by step at "
            "some temperatures (T as shade), entropy averaged over the steps against T with its limit ln "
            f"{seen.tokens}, the memory at T = {seen.temperature:.4g} (one row per token), and the tape of drawn "
            "tokens (one row per temperature)."
        )
    return (
        "The predicted distribution as a system in heat: a token's energy E is minus its logit, counted from the "
        "likeliest token; U is the mean energy, S the entropy, F = −T ln Z the free energy, and F = U − T S holds here "
        f"to {_small(seen.unlike)}. The specific heat C = Var(E)/T² equals dU/dT; dashed: T = 1, where the model was "
        "trained. Entropy of attention: dashed, as if each query looked everywhere alike."
    )


def _changes(seen: Uncertainty) -> tuple[Array, Array]:
    found = seen.change["divergence"]
    return found.values[0], np.array([int(label) for label in found.axes["step"].labels])


def _apart(steps: Array) -> str:
    gaps = np.diff(steps)
    return (
        "1"
        if not len(gaps)
        else thousands(int(gaps[0]))
        if np.ptp(gaps) == 0
        else f"about {thousands(round(float(gaps.mean())))}"
    )


def _no_story(seen: Uncertainty) -> str:
    """The title of a life in which there is nothing to compare; empty: there is."""
    entropy = seen.by_step["entropy"].values[0]
    bad = np.flatnonzero(~np.isfinite(entropy))
    if len(bad):
        step = thousands(int(seen.looked_at[bad[0]]))
        return f"From step {step} on the predictions are not numbers: the training has diverged"
    if len(entropy) == 1:
        loss = seen.by_step["loss_at"].values[0, 0]
        step = thousands(int(seen.looked_at[0]))
        return f"Only step {step} was kept: entropy {_nats(entropy[0])} and loss {loss:.2f} nats"
    return ""


def _hot(seen: Uncertainty) -> str:
    return "E" if seen.temperature == 1 else f"At T = {seen.temperature:.4g} e"


def _same(seen: Uncertainty) -> bool:
    return seen.temperature == 1 or seen.own_lives


def _at_one(seen: Uncertainty) -> str:
    return f"at T = {seen.temperature:.4g}" if seen.own_lives else "at T = 1, as it is trained"


def _spread(seen: Uncertainty, predictions: int | None = None) -> str:
    if seen.subject != "run":
        return "there is one input a step, hence no spread."
    many = seen.predictions if predictions is None else predictions
    of = f"{thousands(many)} predictions on {thousands(seen.inputs)}" if many != seen.inputs else thousands(many)
    return f"mean over {of} {seen.inputs_are}, always the same; band: the middle eight in ten of them."


def _floor(seen: Uncertainty) -> str:
    if seen.subject != "run":
        return "One token is always right, so the lowest possible value is 0."
    if not seen.exact and np.isfinite(seen.true("entropy")):
        return (
            f"Nobody knows the true distribution of a text; thin dashes: the best table of counts on the same inputs, "
            f"entropy {seen.true('entropy'):.3f} and loss {seen.true('loss'):.3f} nats, which a model can beat."
        )
    if not np.isfinite(seen.true("entropy")):
        return "The true distribution of this task is not known, so no floor is drawn."
    return (
        f"Thick dashes: the exact predictor on the same inputs, entropy {seen.true('entropy'):.3f} and loss "
        f"{seen.true('loss'):.3f} nats, the floor."
    )


def _moves(values: Array) -> str:
    return "falls" if values[-1] < values[0] else "rises"


def _when(seen: Uncertainty, values: Array) -> str:
    """Between which steps four fifths of the fall lie, if that is a small part of the life."""
    way = (values[0] - values) / ((values[0] - values[-1]) or 1)
    begin, end = (int(np.argmax(way >= share)) for share in (0.1, 0.9))
    first, last = int(seen.looked_at[max(begin - 1, 0)]), int(seen.looked_at[end])
    if not 0 < last - first <= 0.4 * seen.total or abs(values[0] - values[-1]) < 0.1:
        return ""
    way_down = "fall" if values[-1] < values[0] else "rise"
    return f"; four fifths of entropy's {way_down} comes between steps {thousands(first)} and {thousands(last)}"


def _place(value: float, cold: Array) -> str:
    """`at T ≈ 0.42`, or at the edge of what was looked at."""
    inside = cold[0] < value < cold[-1]
    return f"at T ≈ {value:.2g}" if inside else f"at the {'hottest' if value >= cold[-1] else 'coldest'} T ({value:g})"


def _nats(value: float) -> str:
    """Two digits that count, three below a tenth."""
    return f"{value:.2f}" if value >= 0.095 or value == 0 else f"{value:.3f}"


def _times(factor: float) -> str:
    return (
        f"{factor:.1f} times"
        if factor < 10
        else f"about {thousands(round(float(f'{factor:.2g}')))} times"
        if factor < 1e5
        else "over 100 000 times"
    )


def _two(value: float) -> str:
    """Two digits that count, without a power of ten while there are few zeros."""
    return f"{value:.2g}" if value >= 1e-4 else _small(value)


def _small(value: float) -> str:
    if not np.isfinite(value):
        return "not a number"
    return f"{value:.3g}" if value >= 1e-3 or value == 0 else f"{value:.0e}".replace("e-0", "e-").replace("-", "\u2212")
