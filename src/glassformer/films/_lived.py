"""What a film asks of a run, told of a physics model: a name, the loss along the bottom, and what it is worth."""

from types import SimpleNamespace
from typing import cast

import numpy as np

from glassformer.analyses._uncertain import Uncertainty
from glassformer.run import Run
from glassformer.tasks import Rung


def as_run(seen: Uncertainty) -> Run:
    """Enough of a run for the stage of a film; nothing in it can be asked or traced."""
    size = seen.tokens
    rungs = (
        Rung("uniform guess", seen.highest, lambda tokens: np.full(size, 1 / size)),  # noqa: ARG005
        Rung("always right", 0.0, lambda tokens: np.eye(size)[0]),  # noqa: ARG005
    )
    told = SimpleNamespace(
        name=seen.subject,
        metrics={"step": seen.looked_at, "validation_loss": seen.by_step["loss_at"].values[0]},
        last_step=seen.total,
        members=1,
        experiment=SimpleNamespace(train=SimpleNamespace(steps=seen.total)),
        architecture=SimpleNamespace(context=0),
        task=SimpleNamespace(exact=False, ladder=lambda context: rungs),  # noqa: ARG005
    )
    return cast(Run, told)
