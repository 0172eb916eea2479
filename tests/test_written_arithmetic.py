"""Numbers as lessons print them: read back, they are what they stood for."""

import numpy as np
import pytest

from glassformer.teaching import products, written
from glassformer.teaching.arithmetic import computed, equation, with_signs


def test_a_sum_of_products_is_read_back_as_the_dot_product():
    rng = np.random.default_rng(0)
    for many in (1, 2, 5):
        left, right = np.round(rng.normal(0, 30, (2, many)), 3)
        assert computed(products(left, right, 3)) == pytest.approx(left @ right, abs=1e-9)


@pytest.mark.parametrize(
    ("value", "text"), [(-0.004, "0.00"), (-1.5, "−1.50"), (1234.5, "1,234.50"), (0.0, "0.00"), (-0.005001, "−0.01")]
)
def test_a_number_that_rounds_to_nothing_has_no_sign(value, text):
    assert written(value) == text


def test_an_equation_shows_only_digits_that_its_operands_give():
    assert equation(products([0.5], [-0.25]), -0.125) == "0.50 × (−0.25) = −0.125"
    assert equation("0.33 × 3", 1.0) == "0.33 × 3 ≈ 1.0"
    with pytest.raises(ValueError, match="comes to"):
        equation("2 × 3", 7)


def test_negative_numbers_in_prose_have_a_true_minus():
    told = with_signs("it is -3.5 (-2), `x - 1 = -3.5` as GPT-2 says in 3-5 steps\n```\n-1\n```")
    assert told == "it is −3.5 (−2), `x - 1 = -3.5` as GPT-2 says in 3-5 steps\n```\n-1\n```"
