"""Figures of learning: what is drawn stands where its numbers say."""

from itertools import combinations

import numpy as np
import pytest

from glassformer import figures
from glassformer.analyses.learn.by_kind import by_kind
from small_runs import run_of


def test_marks_stand_at_the_step_and_kinds_differ_in_colour_and_dash():
    """All five operations pass between the same two looks, so that their marks share a step."""
    seen = by_kind(run_of("five_operations"))
    steps = seen.accuracy.axes["step"].values
    values = np.repeat(np.linspace(0, 1, len(steps))[None], len(seen.accuracy.values), 0)
    values[:2] = values[:2] ** 0.5
    seen.accuracy.values[:] = values
    passed = np.array([steps[int(np.argmax(row >= 0.95))] for row in values], dtype=float)
    seen.passed.values[:] = passed
    panel = figures.plot_by_kind(seen).axes[0]
    curves = [line for line in panel.lines if line.get_marker() in "oD^sv" and len(line.get_xdata()) > 1]
    looks = [(line.get_color(), line.get_linestyle()) for line in curves]
    assert len(looks) == 5
    assert all(a[0] != b[0] for a, b in combinations(looks, 2))
    marks = [line for line in panel.lines if line.get_markerfacecolor() == "#FFFFFF" and len(line.get_xdata()) == 1]
    at = sorted(panel.transData.inverted().transform(mark.get_transform().transform(mark.get_xydata()))[0, 0]
                for mark in marks)  # fmt: skip
    np.testing.assert_allclose(at, sorted(passed), rtol=1e-6)
    heights = {(mark.get_xdata()[0], mark.get_marker()): mark.get_ydata()[0] for mark in marks}
    assert len(set(heights.values())) == 5, "none lies on another"
    assert max(heights.values()) == pytest.approx(0.95, abs=0.15)
