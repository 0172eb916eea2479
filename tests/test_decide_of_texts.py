"""How a language model decides: no answer is right or wrong there, and what comes next takes the place of one."""

import numpy as np
from numpy.testing import assert_allclose

from glassformer.analyses.decide.logit_lens import logit_lens
from glassformer.figures import plot_logit_lens, plot_readout
from small_runs import TEXT, run_of


def test_the_lens_of_a_text_looks_at_what_comes_next():
    run = run_of(TEXT)
    seen, trace = logit_lens(run), run.trace(None)
    coming = trace.tokens[1:]
    assert seen.follows
    assert seen.coming == (*(run.task.vocabulary[token] for token in coming), "")
    there = trace["probabilities"][np.arange(len(coming)), coming]
    assert_allclose(seen.on_coming.values[-1, :-1], there, rtol=1e-4)
    assert np.isnan(seen.on_coming.values[:, -1]).all()
    share = 100 * there.mean()
    assert f"{share:.2g} %" in seen.title or f"{share:.1f} %" in seen.title
    image = plot_logit_lens(run).axes[0].images[0]
    assert image.get_array().mask.sum() == len(seen.points), "only the last column is empty"


def test_where_an_answer_is_right_the_lens_looks_at_that():
    assert not logit_lens(run_of("plus_last_even")).follows


def test_a_read_out_without_a_bias_draws_no_empty_bars():
    run = run_of(TEXT)
    assert "read_out" not in run.architecture.biases
    titles = [ax.get_title(loc="left") for ax in plot_readout(run).axes]
    assert not any("bias by group" in title for title in titles)
    panel = next(ax for ax in plot_readout(run).axes if "no bias" in ax.get_title(loc="left"))
    best = run.trace(None)["probabilities"].max(axis=-1)
    assert_allclose([bar.get_height() for bar in panel.patches], best, rtol=1e-5)
