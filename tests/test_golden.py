"""Parity with PyTorch where it is not installed: logits, losses and gradients are those it gave for every switch.

Both sides work in double precision and agree to some 1e-14; the file holds single precision. So what may lie between
them is the rounding of a kept number, half of 1.2e-7 of its size, and beside it nothing that a fault could hide in.
"""

from dataclasses import fields
from functools import cache
from typing import Literal, get_args, get_origin, get_type_hints

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from safetensors.numpy import load_file

import golden
from glassformer import model, reference
from glassformer.architecture import Architecture, nest

CLOSE = {"rtol": 6e-8, "atol": 1e-13}  # atol: a gradient that should be zero is so up to rounding
kept = cache(lambda: load_file(golden.FILE))


@pytest.mark.parametrize("case", golden.CASES)
def test_the_engine_gives_the_logits_and_gradients_of_pytorch(case):
    a, tokens, theirs = golden.CASES[case], jnp.asarray(golden.TOKENS), kept()

    def cost(flat):
        read = model.answers(nest(flat), tokens, a)  # what training looks at
        return model.loss(read, jnp.asarray(golden.targets(a))).mean(), model.forward(nest(flat), tokens, a)[0]

    with jax.enable_x64(True):
        given = {name: jnp.asarray(value) for name, value in golden.weights(a).items()}
        (found, logits), gradient = jax.jit(jax.value_and_grad(cost, has_aux=True))(given)
    assert_allclose(logits, theirs[f"{case}: logits"], **CLOSE)
    assert_allclose(found, theirs[f"{case}: loss"], **CLOSE)
    ends = np.cumsum([np.prod(shape) for shape in a.shapes().values()])
    for name, part in zip(a.shapes(), np.split(theirs[f"{case}: gradient"], ends[:-1]), strict=True):
        assert_allclose(np.ravel(gradient[name]), part, **CLOSE, err_msg=name)


@pytest.mark.parametrize("case", golden.CASES)
def test_the_reference_gives_the_logits_of_pytorch(case):
    a, theirs = golden.CASES[case], kept()
    logits, seen = reference.forward(nest(golden.weights(a)), golden.TOKENS, a)
    assert_allclose(logits, theirs[f"{case}: logits"], **CLOSE)
    read = seen["probabilities"] if a.read_position is None else seen["probabilities"][:, [a.read_position]]
    right = np.take_along_axis(read, golden.targets(a)[..., None], axis=-1)
    assert_allclose(-np.log(right).mean(), theirs[f"{case}: loss"], **CLOSE)


def test_the_cases_use_every_switch_both_ways():
    """Numbers of parts, dropout and the start aside: a new switch needs a case."""
    used = {each.name: {getattr(a, each.name) for a in golden.CASES.values()} for each in fields(Architecture)}
    for name, kind in get_type_hints(Architecture).items():
        if name == "linear_init":
            continue
        if get_origin(kind) is Literal or kind is bool:
            assert used[name] >= set(get_args(kind) or (False, True)), name
        elif name == "biases":
            for bias in golden.EVERY_BIAS:
                assert {bias in each for each in used[name]} == {True, False}, bias
    assert {a.read_position is None for a in golden.CASES.values()} == {True, False}
    assert min(used["feed_forward"]) == 0
    assert all(len(used[name]) > 1 for name in ("blocks", "heads", "outputs", "norm_epsilon"))
    assert {(a.norm, a.norm_place) for a in golden.CASES.values()} >= {
        (norm, place) for norm in ("layer", "rms") for place in ("pre", "post")
    }


def test_the_file_is_what_pytorch_gives_now():
    pytest.importorskip("torch", reason="making the file anew needs PyTorch: `pip install 'glassformer[benchmark]'`")
    theirs = kept()
    assert theirs.keys() == {f"{case}: {part}" for case in golden.CASES for part in ("logits", "loss", "gradient")}
    for case, a in golden.CASES.items():
        for part, value in golden.compute(a).items():
            assert_allclose(value, theirs[f"{case}: {part}"], **CLOSE, err_msg=f"{case}: {part}")
