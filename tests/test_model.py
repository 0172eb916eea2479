"""The five sources' models are instances of one architecture, and impossible settings are refused in a sentence."""

import numpy as np
import pytest

from glassformer import model, reference
from glassformer.architecture import Architecture, nest, part
from glassformer.errors import CallError, LimitError
from glassformer.experiment import load, names

SHAKESPEARE = {
    "vocabulary": 500, "blocks": 2, "activation": "gelu", "norm": "rms", "norm_epsilon": 1e-8, "final_norm": True,
    "positions": "sinusoidal", "biases": ("feed_forward",),
}  # fmt: skip
CHARACTERS = {
    "vocabulary": 65, "norm": "layer", "final_norm": True, "biases": (), "tied_embedding": True, "activation": "gelu",
}  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        (dict(SHAKESPEARE, context=64, width=128, heads=4, feed_forward=256), 391_552),
        (dict(SHAKESPEARE, context=128, width=128, heads=4, feed_forward=256), 391_552),
        (dict(SHAKESPEARE, context=64, width=256, heads=8, feed_forward=512), 1_307_392),
        (dict(CHARACTERS, context=64, width=128, blocks=4, heads=4, feed_forward=512), 804_096),
        (dict(CHARACTERS, context=256, width=384, blocks=6, heads=6, feed_forward=1536), 10_745_088),
        ({"vocabulary": 114, "outputs": 113, "context": 3, "width": 128, "heads": 4, "feed_forward": 512, "biases": ()},
         226_048),
    ],
)  # fmt: skip
def test_parameter_counts_of_models_to_come(settings, count):
    assert Architecture(**settings).parameters == count


COUNTS = {
    "plus_last_even": 250, "plus_means_even": 336 + 16,
    "plus_max_of_two": 306 + 6, "lucky7": 245, "lucky7_no_resid": 245, "step_back": 791, "copy_modulo": 609,
    "successor": 758, "conditional_transform": 758, "lookup_permutation": 1_552, "parity_based": 41_333 + 2_048,
    "paritygt10": 1_055 + 256, "even_greater_than_10": 660 + 48, "even_to_odd_transition": 123,
    "even_repeat_last_odd": 5_913, "even_abs_diff": 5_913, "odd_even_index": 295, "five_operations": 102_036,
    "five_operations_causal": 102_036, "mary": 27_747,
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_parameter_counts_of_the_sources(name):
    published = f"{name}_as_published"
    assert load(published if published in names() else name).architecture.parameters == COUNTS[name]


def test_every_published_setting_ships():
    assert set(COUNTS) <= set(names())


def test_five_operations_without_the_output_bias():
    assert load("five_operations", ['architecture.biases=["feed_forward", "norm"]']).architecture.parameters == 102_016


def test_five_operations_as_published_starts_at_a_uniform_guess():
    """Small weights behind a layer norm: the loss of twenty equal chances, and one answer for every question."""
    made = load("five_operations_as_published")
    asked, right = made.task.questions()
    starts = []
    for seed in range(6):
        fresh = model.init(made.architecture, np.random.default_rng(seed))
        assert {round(float(fresh[f"blocks.0.{name}"].std()), 3) for name in ("query", "output", "contract")} == {0.02}
        _, seen = reference.forward(nest(fresh), asked[::50], made.architecture)
        chances = seen["probabilities"][:, 0]
        starts.append(-np.log(chances[np.arange(100), right[::50]]).mean())
        assert len(set(chances.argmax(axis=-1).tolist())) <= 2
    assert abs(np.mean(starts) - np.log(20)) < 0.05


def test_every_parameter_belongs_to_a_part():
    shapes = load("mary").architecture.shapes()
    assert list(dict.fromkeys(map(part, shapes))) == [
        "embedding", "positions", "attention_0", "feed_forward_0", "attention_1", "feed_forward_1", "read_out",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"heads": 1, "head_width": 8, "output_projection": False}, ["heads × head_width = 1 × 8 = 8", "width = 2"]),
        ({"heads": 3}, ["width = 2", "heads = 3"]),
        ({"positions": "rotary", "width": 3, "feed_forward": 0}, ["rotary", "head_width = 3"]),
        ({"positions": "rotary", "attention": "mean"}, ["rotary", "attention = 'mean'"]),
        ({"final_norm": True}, ["final_norm", "norm = 'none'"]),
        ({"tied_embedding": True, "outputs": 5}, ["tied_embedding", "outputs = 5"]),
        ({"outputs": 13}, ["outputs = 13", "vocabulary = 12"]),
        ({"read_position": 8}, ["read_position = 8", "context = 8"]),
        ({"output_projection": False, "biases": ("projection",)}, ["projection", "output_projection = false"]),
        ({"attention": "off", "feed_forward": 0, "residual": False}, ["attention", "feed_forward", "residual"]),
    ],
)
def test_impossible_pairs_are_refused_by_name(settings, words):
    with pytest.raises(CallError) as caught:
        Architecture(vocabulary=12, context=8, **settings)
    assert all(word in str(caught.value) for word in words)


def test_a_model_too_large_is_refused_before_it_is_made():
    with pytest.raises(LimitError, match="parameters"):
        Architecture(vocabulary=65_536, context=4096, width=4096, feed_forward=16_384)
