"""How many windows are looked at side by side: a context of thousands does not fill the memory."""

from dataclasses import replace

import numpy as np
import pytest

import glassformer as gf
from glassformer.analyses._fitting import fitting
from glassformer.errors import LimitError
from small_runs import run_of


def test_a_long_context_is_looked_at_in_windows_that_fit_into_memory():
    """Attention takes its length squared: fewer windows are looked at side by side, and a trace says what it cannot."""
    run = run_of("plus_last_even")
    a = run.architecture
    seen = run.trace(np.zeros((3, a.context), int))
    held = sum(seen[name].size for name in seen)
    assert 0.5 < 3 * a.traced(a.context) / held < 2
    long = replace(run.experiment, architecture=replace(a, context=4096, blocks=4, heads=4, width=32, head_width=8))
    other = gf.open(run.path)
    other.experiment = long
    assert fitting(run, 64) == 64
    assert 1 <= fitting(other, 64) < 4
    with pytest.raises(LimitError, match="a trace of 64 inputs of 4,096 tokens holds"):
        other.trace(np.zeros((64, 4096), int))
