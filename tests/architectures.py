"""Random architectures, over every switch there is."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

from glassformer.architecture import Architecture
from glassformer.errors import CallError

BIASES = ["attention", "projection", "feed_forward", "norm", "read_out"]


@st.composite
def architectures(draw: Any) -> Architecture:
    """An architecture that is allowed, for hypothesis."""
    return _chosen(lambda among: draw(st.sampled_from(among)))


def sampled(rng: Random) -> Architecture:
    """An architecture that is allowed, where there is no hypothesis to draw it."""
    return _chosen(rng.choice)


def _chosen(choose: Callable[[Sequence[Any]], Any]) -> Architecture:
    """What the constructor refuses is drawn again."""
    either = (False, True)
    while True:
        heads, head_width, projection = choose((1, 2, 3)), choose((1, 2, 3, 4)), choose(either)
        settings = {
            "vocabulary": choose(range(2, 7)),
            "context": choose(range(1, 6)),
            "width": choose(range(1, 6)) if projection else heads * head_width,
            "blocks": choose((1, 2, 3)),
            "heads": heads,
            "head_width": head_width,
            "feed_forward": choose((0, 1, 7)),
            "activation": choose(("relu", "gelu", "tanh")),
            "norm": choose(("none", "layer", "rms")),
            "norm_place": choose(("pre", "post")),
            "norm_epsilon": choose((1e-5, 1e-2)),
            "final_norm": choose(either),
            "positions": choose(("learned", "sinusoidal", "rotary", "none")),
            "causal": choose(either),
            "residual": choose(either),
            "attention": choose(("on", "on", "on", "off", "mean")),
            "output_projection": projection,
            "biases": tuple(bias for bias in BIASES if choose(either)),
            "tied_embedding": choose(either),
            "score_scale": choose(("head", "width")),
            "linear_init": choose(("fan_in", "xavier", "normal", "plain_normal")),
        }
        try:
            return Architecture(**settings)
        except CallError:
            continue
