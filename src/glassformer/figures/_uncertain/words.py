"""What the captions of uncertainty share: over what the lines are means, and what nobody can avoid."""

import numpy as np

from glassformer.analyses._uncertain import Uncertainty
from glassformer.words import thousands


def trained_at(seen: Uncertainty) -> str:
    """The temperature of the training."""
    return f"T = {seen.temperature:.4g}" if seen.own_lives else "T = 1, as it is trained"


def means(seen: Uncertainty, predictions: int | None = None) -> str:
    """Over what the lines are means, and what the bands are."""
    if seen.subject != "run":
        return "there is one input a step, hence no spread."
    many = seen.predictions if predictions is None else predictions
    of = f"{thousands(many)} predictions on {thousands(seen.inputs)}" if many != seen.inputs else thousands(many)
    each = seen.inputs_are.rpartition(" ")[2]
    return f"mean over {of} {seen.inputs_are}, always the same; band: the middle eight in ten {each}."


def band(seen: Uncertainty) -> str:
    """What a band around a mean holds; empty where there is one input, and so none."""
    return f"8 {seen.inputs_are.rpartition(' ')[2]} in 10" if seen.inputs > 1 else ""


def floor(seen: Uncertainty) -> str:
    """What the exact predictor, or what stands in for it, has on the same inputs."""
    entropy, loss = seen.true("entropy"), seen.true("loss")
    if seen.subject != "run":
        return "One token is always right, so the lowest possible value is 0."
    if not np.isfinite(entropy):
        return "The true distribution of this task is not known, so no floor is drawn."
    if not seen.exact:
        return (
            "Nobody knows the true distribution of a text; thin dashes: the best table of counts on the same inputs, "
            f"entropy {entropy:.3f} and loss {loss:.3f} nats, which a model can beat."
        )
    return (
        f"Thick dashes: the exact predictor on the same inputs, entropy {entropy:.3f} and loss {loss:.3f} nats, the "
        "floor."
    )
