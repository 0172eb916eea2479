"""Random architectures, over every switch there is."""

from typing import Any

from hypothesis import strategies as st

from glassformer.architecture import Architecture
from glassformer.errors import CallError

BIASES = ["attention", "projection", "feed_forward", "norm", "read_out"]


@st.composite
def architectures(draw: Any) -> Architecture:
    """An architecture that is allowed; what the constructor refuses is drawn again."""
    while True:
        heads, head_width = draw(st.integers(1, 3)), draw(st.sampled_from([1, 2, 3, 4]))
        projection = draw(st.booleans())
        settings = {
            "vocabulary": draw(st.integers(2, 6)),
            "context": draw(st.integers(1, 5)),
            "width": draw(st.integers(1, 5)) if projection else heads * head_width,
            "blocks": draw(st.integers(1, 3)),
            "heads": heads,
            "head_width": head_width,
            "feed_forward": draw(st.sampled_from([0, 1, 7])),
            "activation": draw(st.sampled_from(["relu", "gelu", "tanh"])),
            "norm": draw(st.sampled_from(["none", "layer", "rms"])),
            "norm_place": draw(st.sampled_from(["pre", "post"])),
            "norm_epsilon": draw(st.sampled_from([1e-5, 1e-2])),
            "final_norm": draw(st.booleans()),
            "positions": draw(st.sampled_from(["learned", "sinusoidal", "rotary", "none"])),
            "causal": draw(st.booleans()),
            "residual": draw(st.booleans()),
            "attention": draw(st.sampled_from(["on", "on", "on", "off", "mean"])),
            "output_projection": projection,
            "biases": tuple(draw(st.lists(st.sampled_from(BIASES), unique=True))),
            "tied_embedding": draw(st.booleans()),
            "score_scale": draw(st.sampled_from(["head", "width"])),
            "linear_init": draw(st.sampled_from(["fan_in", "xavier", "normal", "plain_normal"])),
        }
        try:
            return Architecture(**settings)
        except CallError:
            continue
