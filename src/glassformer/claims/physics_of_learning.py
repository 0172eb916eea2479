"""How a transformer learns, as physics: what the source says of its one-layer model and of its memory model.

`one_layer()` is its program with its own settings and seed, repeated draw by draw; what rests on chance is lived with
other seeds.
"""

from itertools import product
from math import log

import numpy as np

from glassformer import canonical
from glassformer.claims._claim import Found, claim, over_seeds
from glassformer.claims._said import fixed
from glassformer.physics.models.boltzmann_memory import BoltzmannMemory, boltzmann_memory
from glassformer.physics.models.one_layer import ATTENDING, MATRICES, OneLayer, first_weights, one_layer

SOURCE = 0
TITLE = "Visualizing how a transformer learns"

LAYER, MEMORY = "one_layer", "boltzmann_memory"
SEEDS = 30  # other lives than the published one
SURE = 2.0  # nats: below, fewer than eight tokens are still in play


@claim("S0-01", "a vocabulary of 60 tokens and a window of 80", place="0.M", how="A",
       stated={"tokens": 60, "context": 80}, experiment=LAYER, figure="entropy")  # fmt: skip
def sizes() -> Found:
    """The sizes with which its curves come out; an entropy cannot be above the logarithm of the vocabulary."""
    life = one_layer()
    s, first = life.settings, float(life.training_entropy[0])
    third = BoltzmannMemory().tokens
    return Found(
        {"tokens": s.tokens, "context": s.context, "steps": s.steps, "third_view": third, "first_entropy": first},
        measured=f"{s.tokens} tokens and a window of {s.context}; in view 3, {third} tokens",
        holds=first <= log(60) and s.context == 80,
        idea=s.tokens == 80,
        truth=f"The program has {s.tokens} tokens, a window of {s.context} and {s.steps} steps: its first entropy, "
        f"{first:.3f}, is above ln 60 = {log(60):.3f}. The summary gives the vocabulary's 80 to the window, and view 3 "
        f"is another model, with {third} tokens.",
    )


@claim("S0-02", "about 160 lines of code reproduce 85 to 90 % of a transformer layer", place="0.V2", how="A",
       illustrative="no measure is given by which a model could be 85 to 90 % of a layer", experiment=LAYER,
       figure="thermodynamics")  # fmt: skip
def fidelity() -> Found:
    """What of the layer takes part in learning, in parameters."""
    sizes = {name: weight.size for name, weight in first_weights(OneLayer(), np.random.default_rng(0)).items()}
    moved = {name for name, share in zip(MATRICES, one_layer().moved, strict=True) if share}
    share = sum(sizes[name] for name in moved) / sum(sizes.values())
    return Found(
        {"parameters": sum(sizes.values()), "learning": share},
        measured=f"{len(moved)} of {len(sizes)} matrices, {100 * share:.0f} % of {sum(sizes.values()):,} parameters, "
        "ever change; there is one head, and nothing tells positions apart",
    )


@claim("S0-03", "curves of entropy and loss at T = 1.00", place="0.2", how="P", stated={"temperature": 1.0},
       tolerance=0.005, experiment=LAYER, figure="entropy")  # fmt: skip
def temperature_of_the_curves() -> Found:
    """The index that its program takes, and the one it means."""
    life = one_layer()
    taken, meant = (float(life.temperatures[k]) for k in (life.farthest_from_one, life.nearest_one))
    return Found(
        {"temperature": taken, "nearest": meant},
        measured=f"the program as printed draws its curves at T = {taken:.2f}, and their titles say so; the nearest "
        f"temperature it has is {meant:.4f}",
        idea=f"{meant:.2f}" == "1.00",
        truth=f"The program as printed takes the temperature farthest from 1 in place of the nearest: it draws "
        f"T = {taken:.2f}, and its titles say T={taken:.2f}. The figures titled 1.00 come from another version of it. "
        f"The nearest temperature is {meant:.4f}, which it would print as {meant:.2f}.",
    )


@claim("S0-04", "the largest possible entropy is ln N, and at the beginning entropy is high", place="0.M", how="A, P",
       experiment=LAYER, figure="entropy", step=0)  # fmt: skip
def largest_entropy() -> Found:
    """High: at least 99 % of what is possible."""
    life = one_layer()
    most, first = log(life.settings.tokens), float(life.training_entropy[0])
    above = float(life.entropy.max())
    return Found(
        {"first": first, "most": most, "share": first / most},
        measured=f"{first:.4f} nats at step 0, {100 * first / most:.1f} % of ln {life.settings.tokens} = {most:.4f}; "
        f"no temperature or step has more than {above:.4f}",
        holds=above <= most and first >= 0.99 * most,
        truth=f"It begins at {first:.4f} of {most:.4f}.",
    )


@claim("S0-05", "entropy goes down as training continues", place="0.1", how="P", experiment=LAYER,
       figure="entropy")  # fmt: skip
def entropy_falls() -> Found:
    """Continues: by the middle of the fall's steps half of the fall should be behind. When it really happens."""
    h = one_layer().training_entropy
    fall = h[0] - h[-1]
    half = int(np.flatnonzero(h < h[0] - fall / 2)[0])
    flat = int(np.flatnonzero(h < h[0] - fall / 20)[0])
    early = h[0] - h[:flat].min()
    return Found(
        {"first": float(h[0]), "last": float(h[-1]), "flat_until": flat, "half_by": half, "early_fall": float(early)},
        measured=f"{h[0]:.3f} nats at step 0, {h[flat - 1]:.3f} at step {flat - 1}, {h[-1]:.3f} at step {len(h) - 1}",
        holds=bool((np.diff(h) < 0).all()),
        idea=float(h[-1]) < float(h[0]) / 2,
        truth=f"It stays within {100 * early / h[0]:.1f} % of its {h[0]:.3f} nats until step {flat - 1}, then "
        f"collapses: {h[half - 1]:.3f} at step {half - 1}, {h[half]:.3f} at {half}, {h[half + 1]:.3f} at {half + 1}, "
        f"{h[-1]:.3f} at the end.",
    )


@claim("S0-06", "the loss declines and the chance of the right token grows over time", place="0.3, 0.8", how="P",
       experiment=LAYER, figure="sharpening")  # fmt: skip
def loss_declines() -> Found:
    """At the temperature nearest to 1."""
    life = one_layer()
    losses = life.loss[life.nearest_one]
    worst = int(losses.argmax())
    p = life.p_target
    for_good = int(np.flatnonzero(losses >= losses[0])[-1]) + 1
    return Found(
        {"first": float(losses[0]), "largest": float(losses[worst]), "at": worst, "last": float(losses[-1])},
        measured=f"{losses[0]:.3f} nats at step 0, {losses[worst]:.3f} at step {worst}, {losses[-1]:.3f} at the end",
        holds=bool((np.diff(losses) <= 0).all()),
        idea=bool(losses[-1] < losses[0]),
        truth=f"The loss rises from {losses[0]:.3f} to {losses[worst]:.3f} at step {worst}, while the chance of the "
        f"target falls from {p[0]:.4f} to {p[worst]:.4f}; from step {for_good} on it stays below its beginning, and "
        f"ends at {losses[-1]:.3f} with a chance of {p[-1]:.3f}.",
    )


@claim("S0-07", "the path runs to lower entropy and lower loss together", place="0.5", how="P", experiment=LAYER,
       figure="phase")  # fmt: skip
def together() -> Found:
    """How many steps lower both, before the loss is largest and after it; and whether the whole path lowers both."""
    life = one_layer()
    h, losses = life.training_entropy, life.training_loss
    turn = int(losses.argmax())
    both = (np.diff(h) < 0) & (np.diff(losses) < 0)
    before, after = (float(part.mean()) if part.size else 1.0 for part in (both[:turn], both[turn:]))
    return Found(
        {"before": before, "after": after, "whole": float(both.mean()), "turn": turn,
         "loss_gained": float(losses[turn] - losses[0]), "entropy_gained": float(h[turn] - h[0])},
        measured=f"{100 * both.mean():.0f} % of the {len(both)} steps lower both: {100 * before:.0f} % of the first "
        f"{turn}, {100 * after:.0f} % of the others",
        holds=before >= 0.5 and after >= 0.5,
        idea=bool(h[-1] < h[0] and losses[-1] < losses[0]),
        truth=f"The path ends at lower entropy and lower loss, {h[-1]:.2f} and {losses[-1]:.2f} nats in place of "
        f"{h[0]:.2f} and {losses[0]:.2f}, but it does not go there directly: in the first {turn} of {len(both)} steps "
        f"the loss grows by {losses[turn] - losses[0]:.2f} nats while entropy changes by {h[turn] - h[0]:+.3f}, and "
        f"{100 * before:.0f} % of these steps lower both. Of the other steps {100 * after:.0f} % do.",
    )  # fmt: skip


@claim("S0-08", "feeding back the likeliest token leads into an attractor of low entropy", place="0.M.4", how="P, S",
       experiment=LAYER, figure="phase")  # fmt: skip
def attractor() -> Found:
    """An attractor: in every life the same token is fed back to the end, and entropy stays low."""
    published = one_layer()
    lives = [one_layer(OneLayer(seed=seed, temperatures=1)) for seed in range(SEEDS)]
    caught = [int(np.flatnonzero(life.tokens != life.tokens[-1])[-1]) + 1 for life in (published, *lives)]
    sure = [
        int(np.flatnonzero(life.training_entropy < SURE)[0]) for life in lives if life.training_entropy.min() < SURE
    ]
    stays = all((life.training_entropy[-10:] < SURE).all() for life in lives)
    return Found(
        {"caught": caught[0], "token": int(published.tokens[-1]), "below_two": over_seeds(sure, False),
         "lives": len(sure)},
        measured=f"token {published.tokens[-1]} is fed back at every step from {caught[0]} on; in {len(sure)} of "
        f"{SEEDS} other lives entropy falls under {SURE:g} nats, first at step {min(sure)} to {max(sure)}, and "
        f"{'stays there' if stays else 'does not always stay there'}",
        holds=len(sure) == SEEDS and stays and max(caught) < len(published.steps) - 10,
        truth=f"{len(sure)} of {SEEDS} lives get there.",
    )  # fmt: skip


@claim("S0-09", "the divergence between steps is large while it learns and small once it has converged", place="0.6",
       how="P", experiment=LAYER, figure="prediction_change")  # fmt: skip
def change_between_steps() -> Found:
    """What is drawn mixes a new input with new weights: on the same window only the weights have changed."""
    life = one_layer()
    kl, alike, losses = life.kl, life.alike, life.training_loss
    turn, peak = int(losses.argmax()), int(kl.argmax())
    other = int(kl[: turn - 1].argmax())
    early, late = float(np.median(kl[:turn])), float(np.median(kl[-20:]))
    moved = life.change_sizes[:, 0]  # of the output matrix
    times = float(np.median(moved[:turn]) / np.median(moved[-20:]))
    before = [int(life.inputs[k + 1]) in life.inputs[: k + 1].tolist() for k in (peak, other)]
    return Found(
        {"early": early, "late": late, "peak": float(kl[peak]), "peak_at": peak + 1, "other_peak": float(kl[other]),
         "early_same_input": float(np.median(alike[:turn])), "late_same_input": float(np.median(alike[-20:])),
         "early_change_of_weights": times},
        measured=f"{early:.3f} nats early, {kl[peak]:.3f} at most, {late:.0e} at the end",
        holds=bool(early > 10 * late and early >= kl.max() / 10),
        idea=early > 10 * late,
        truth=f"It is small early, too, when the weights change {times:.0f} times as much as at the end: {early:.3f} "
        f"in the median of the first {turn} steps, against {np.median(alike[:turn]):.3f} with the input kept the same. "
        f"It peaks at {kl[peak]:.3f} ({peak}→{peak + 1}) and {kl[other]:.3f} ({other}→{other + 1}); at {sum(before)} "
        f"of these 2 a token is read again that it had learnt with. In the last 20 steps it is {late:.0e}.",
    )  # fmt: skip


@claim("S0-10", "recent tokens often get more attention", place="0.7", how="P", experiment=LAYER,
       figure="attention_profile")  # fmt: skip
def recent() -> Found:
    """More: a tenth above an equal share, for the newest of all positions."""
    life = one_layer()
    mean, equal = life.mean_attention, 1 / life.settings.context
    spread = float(abs(mean - equal).max() / equal)
    return Found(
        {"newest": float(mean[-1]), "oldest": float(mean[0]), "least": float(mean.min()), "most": float(mean.max())},
        measured=f"{mean.min():.6f} to {mean.max():.6f} over the {len(mean)} positions, {mean[-1]:.6f} for the newest",
        holds=bool(mean[-1] > 1.1 * equal),
        truth=f"All {len(mean)} positions get {equal:.4f}, but for {100 * spread:.3f} % of it: nothing in the model "
        "tells positions apart, and the scores stay close to 0.",
    )


@claim("S0-11", "query, key, value and the feed-forward part learn by gradient descent", place="0.M.3", how="P",
       experiment=LAYER, figure="prediction_change")  # fmt: skip
def descent() -> Found:
    """The cosine of each change with the true gradient's; finite differences agree with that gradient in the tests."""
    life = one_layer()
    column = dict(zip(MATRICES, range(len(MATRICES)), strict=True))
    cosine = {name: life.cosines[:, column[name]] for name in ("output", *ATTENDING)}
    low, high = ({name: float(found(each)) for name, each in cosine.items()} for found in (np.nanmin, np.nanmax))
    mixed = ~np.isnan(cosine["query"])  # a window of equal tokens has no gradient for queries and keys
    times = (life.change_sizes[mixed] / np.maximum(life.gradient_sizes[mixed], 1e-300))[:, 1:3]
    still = [name for name in ("feed_in", "feed_out") if not life.moved[column[name]]]
    return Found(
        {f"cosine_{name}": float(np.nanmedian(each)) for name, each in cosine.items()}
        | {"times_least": float(times.min()), "times_most": float(times.max()), "never_changed": len(still)},
        measured="cosine with the gradient's direction, in the median: "
        + ", ".join(f"{name} {np.nanmedian(each):.2f}" for name, each in cosine.items())
        + f"; {len(still)} of 2 feed-forward matrices never change",
        holds=min(low.values()) > 0.99 and not still,
        truth=f"Only the output matrix does: its cosine with the downhill direction is {low['output']:.3f}. For "
        f"queries it is {low['query']:.2f} to {high['query']:.2f}, for keys {low['key']:.2f} to {high['key']:.2f}, for "
        f"values {low['value']:.2f} to {high['value']:.2f}; queries and keys move {times.min():,.0f} to "
        f"{times.max():,.0f} times as far as their gradient says, and {len(still)} of 2 feed-forward matrices never "
        "change.",
    )


@claim("S0-12", "mean entropy grows with temperature towards ln N, with a phase-like crossover", place="0.4, 0.V3.6",
       how="P", experiment=LAYER, figure="temperature")  # fmt: skip
def crossover() -> Found:
    """Towards ln N: 95 % of it at the hottest. A crossover: the slope has one peak inside the range."""
    life = one_layer()
    mean, most, t = life.mean_entropy, log(life.settings.tokens), life.temperatures
    slope = np.diff(mean) / np.diff(t)
    steepest = int(slope.argmax())
    inside = 0 < steepest < len(slope) - 1
    k, untrained = life.nearest_one, float((life.training_entropy > 0.95 * most).mean())
    return Found(
        {"coldest": float(mean[0]), "near_one": float(mean[k]), "hottest": float(mean[-1]), "most": most,
         "steepest_at": float((t[steepest] + t[steepest + 1]) / 2)},
        measured=f"{mean[0]:.3f} (T = {t[0]:g}), {mean[k]:.3f} ({t[k]:.4f}), {mean[-1]:.3f} ({t[-1]:g}); "
        f"steepest at T = {(t[steepest] + t[steepest + 1]) / 2:.2f}, smoothly; {100 * untrained:.0f} % of the steps "
        "behind each mean are the untrained stretch",
        holds=bool((slope > 0).all()) and mean[-1] > 0.95 * most and inside,
        idea=bool((slope > 0).all()),
        truth=f"{100 * float((slope > 0).mean()):.0f} % of the way it grows; the hottest reaches "
        f"{mean[-1] / most:.2f} of ln N.",
    )  # fmt: skip


@claim("S0-13", "entropy at T ≈ 1 may differ from the training entropy, through smoothing and normalisation",
       place="0.V2", how="P", experiment=LAYER, figure="entropy")  # fmt: skip
def two_entropies() -> Found:
    """At exactly T = 1 there is no difference left that smoothing or normalisation could explain."""
    life = one_layer()
    near, trained = life.entropy[life.nearest_one], life.training_entropy
    at_one = canonical.entropy(canonical.boltzmann(life.logits, np.array([1.0])))[0]
    left, apart = float(abs(at_one - trained).max()), float(abs(near - trained).max())
    return Found(
        {"first_near": float(near[0]), "first_training": float(trained[0]), "last_near": float(near[-1]),
         "last_training": float(trained[-1]), "apart": apart, "left_at_one": left},
        measured=f"apart by up to {apart:.3f} nats, and by {left:g} at exactly T = 1",
        holds=left > 1e-9,
        idea=apart > 1e-4,
        truth=f"They are one quantity at two temperatures, {life.temperatures[life.nearest_one]:.4f} and 1: "
        f"{near[0]:.4f} and {trained[0]:.4f} at step 0, {near[-1]:.4f} and {trained[-1]:.4f} at the end. At exactly 1 "
        f"the difference is {left:g}.",
    )  # fmt: skip


@claim("S0-14", "view 3: the weight update (p − y) mᵀ is the gradient of the loss at T", place="0.V3.4", how="A",
       experiment=MEMORY, figure="entropy")  # fmt: skip
def missing_factor() -> Found:
    """Its update beside the gradient by finite differences, at three temperatures."""
    rng = np.random.default_rng(0)
    weights, memory, target, little = rng.normal(size=(5, 5)), rng.random(5), 2, 1e-6
    ratios = {}
    for t in (0.2, 1.0, 3.5):

        def losses(w: np.ndarray, t: float = t) -> float:
            return float(canonical.loss(canonical.boltzmann(w @ memory, np.array([t]))[0], target))

        moved = [[losses(weights + little * np.outer(i, j)) - losses(weights - little * np.outer(i, j))
                  for j in np.eye(5)] for i in np.eye(5)]  # fmt: skip
        true = np.array(moved) / (2 * little)
        p = canonical.boltzmann(weights @ memory, np.array([t]))[0]
        said = np.outer(p - np.eye(5)[target], memory)
        ratios[t] = float((said * true).sum() / (true * true).sum())
        parallel = float((said * true).sum() / np.linalg.norm(said) / np.linalg.norm(true))
    return Found(
        {f"ratio_at_{t:g}": ratio for t, ratio in ratios.items()} | {"cosine": parallel},
        measured="length of the update over that of the gradient: "
        + ", ".join(f"{ratio:.3f} at T = {t:g}" for t, ratio in ratios.items()),
        holds=all(abs(ratio - 1) < 1e-6 for ratio in ratios.values()),
        idea=parallel > 1 - 1e-9 and abs(ratios[1.0] - 1) < 1e-6,
        truth=f"It has the gradient's direction, but T times its length: "
        f"{', '.join(f'{ratio:.3f} times at T = {t:g}' for t, ratio in ratios.items())}. A factor 1/T is missing.",
    )  # fmt: skip


@claim("S0-15", "view 3: with five tokens, the next one sampled, the curves of entropy and loss fall: the model is "
       "learning", place="0.V3.5", how="P, S", experiment=MEMORY, figure="entropy")  # fmt: skip
def memory_learns() -> Found:
    """Decay, rate and weights are not given: ours, and a sweep around them; at T = 1, last ten steps against first.

    Both feedbacks, as its summary says arg-max where its view samples.
    """

    def falls(**given: object) -> np.ndarray:
        lives = [boltzmann_memory(BoltzmannMemory(seed=seed, temperatures=1, coldest=1, hottest=1, **given))  # type: ignore[arg-type]
                 for seed in range(16)]  # fmt: skip
        both = [(life.loss[0], life.entropy[0]) for life in lives]
        return np.array([[each[:10].mean() - each[-10:].mean() for each in pair] for pair in both])

    ours = falls()
    given = product((0.3, 0.7, 0.9), (0.01, 0.05, 0.2), ("sampled", "argmax"))
    swept = {each: falls(decay=each[0], rate=each[1], feedback=each[2]) for each in given}
    every = np.concatenate(list(swept.values()))
    share = float((every > 0).all(axis=1).mean())
    slow = min(swept, key=lambda key: (swept[key] > 0).all(axis=1).mean())
    loss, entropy = over_seeds(ours[:, 0]), over_seeds(ours[:, 1])
    return Found(
        {"loss_fall": loss, "entropy_fall": entropy, "both_fall": share},
        measured=f"with our choice of what it leaves open the loss falls by {fixed(loss, 2)} and entropy by "
        f"{fixed(entropy, 2)} nats over 16 seeds; in a sweep over decay, rate and both feedbacks both fall in "
        f"{100 * share:.0f} % of {len(every)} lives, least often at decay {slow[0]}, rate {slow[1]}, {slow[2]}",
        holds=bool((ours > 0).all()) and share > 0.9,
        idea=bool((ours[:, 0] > 0).all()),
        truth=f"Both fall in {100 * share:.0f} % of the lives; where learning is slow, entropy may rise first.",
    )
