"""Three inputs in one figure: the same numbers as one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from glassformer.analyses.attend.scoring import scoring
from glassformer.analyses.decide.residual import residual
from glassformer.analyses.decide.three_inputs import MANY, three_inputs
from glassformer.errors import MissingError
from glassformer.figures import _draw, plot_three_inputs
from small_runs import run_of

PANELS = {"scoring": 5, "mixing": 5, "residual": 7}


@pytest.mark.parametrize("part", PANELS)
def test_each_of_three_inputs_has_a_row_of_panels(part):
    run = run_of("plus_last_even")
    seen = three_inputs(run, part=part)
    assert [" ".join(each.tokens) for each in seen.inputs] == list(run.task.showcase[:MANY])
    figure = plot_three_inputs(seen)
    assert len(figure.axes) == MANY * PANELS[part]
    assert _draw.of(plot_three_inputs(seen, size="slide")).pages == MANY
    first = np.ma.filled(figure.axes[0].images[0].get_array(), 0)
    of_one = {"scoring": "query", "mixing": "attention", "residual": "before"}[part]
    whole = getattr(seen.inputs[0], of_one).values
    assert_allclose(first, np.tril(whole[seen.head]) if part == "mixing" else whole)


def test_what_the_title_counts_can_be_counted():
    run = run_of("plus_last_even")
    looked = asked = right = answers = 0
    for text in run.task.showcase[:MANY]:
        one = scoring(run, sequence=text)
        for query, key in enumerate(one.source):
            asked += key >= 0
            looked += key >= 0 and one.attention.values[query].argmax() == key
        verdicts = residual(run, sequence=text).verdicts
        right, answers = right + verdicts.count("right"), answers + verdicts.count("right") + verdicts.count("wrong")
    assert f"{looked} of {asked} queries" in three_inputs(run).title
    assert f"{right} of {answers} answers" in three_inputs(run, part="residual").title
    with pytest.raises(MissingError, match="part"):
        three_inputs(run, part="both")
