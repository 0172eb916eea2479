"""No allowed value of any task's settings, nor one beside it, raises anything but a sentence."""

import numpy as np
import pytest

from glassformer import experiment, tasks
from glassformer.errors import Error
from glassformer.settings import Setting, described

OWN = ("own_text", "own_table", "shakespeare")  # need a file; tests of their own
SMALL = {"sequences": 40, "distance": 1, "held_out": 20}
SLOW = {("step_back", "distance"): (4,), ("induction", "sequences"): (1_000_000,), ("successor", "longest"): (10_000,)}
LENGTHS = ("sequences", "shortest", "longest")  # of every rule the same, so tried on one
TRIED = [
    (name, setting)
    for name in tasks.names()
    if name not in OWN
    for setting in described(tasks.find(name))
    if setting != "seed" and (setting not in LENGTHS or name in ("successor", "induction"))
] + [("successor", "seed")]


def edges(about: Setting) -> list:
    """The smallest, the largest, what lies just inside and just outside, and what people try first."""
    if about.choices:
        several = about.type.startswith("list")
        return [[each] if several else each for each in about.choices] + ([[]] if several else [])
    if about.type == "true or false":
        return [True, False]
    if about.type == "whole number":
        least, most = int(about.limits.get("least", 0)), int(about.limits.get("most", 2**53))
        usual = {about.default} if isinstance(about.default, int) else set()
        return sorted({least - 1, least, least + 1, most, most + 1, -1, 0, 1, *usual})
    low, high = (about.limits.get(a, about.limits.get(b)) for a, b in (("least", "above"), ("most", "below")))
    inside = [float(np.nextafter(low, 2)), float(np.nextafter(high, -1)), low + 1e-9, high - 1e-9]
    return [low, high, low - 1, high + 1, *inside, 0.0, 5e-324, 1e-300, 0.5, 1.0]


@pytest.mark.parametrize(("name", "setting"), TRIED)
def test_a_value_works_or_is_refused_in_a_sentence(name, setting):
    begun = experiment.load(name).tables()
    small = {key: value for key, value in SMALL.items() if key in begun["data"] and key != setting}
    worked, refused = 0, []
    for value in edges(described(tasks.find(name))[setting]):
        if value in SLOW.get((name, setting), ()):
            continue
        try:
            look_at(experiment.from_tables({**begun, "data": {**begun["data"], **small, setting: value}}, name))
            worked += 1
        except Error as problem:
            refused.append(str(problem))
    assert worked or setting == "padded"  # which needs a larger context as well
    assert not any("\n" in sentence for sentence in refused)


def look_at(made: experiment.Experiment) -> None:
    """All that training and looking need of a task, once."""
    task, context = made.task, made.architecture.context
    rungs, data = task.ladder(context), task.data(context)
    assert np.isfinite([rung.nats for rung in rungs]).all()
    assert np.isfinite(made.floor)
    assert len(data.train.tokens)
    assert task.sample(np.random.default_rng(0), 20) is not None
    for part in ("train", "validation"):
        assert np.isfinite(task.examples(context, part, 10).truth).all()
    for text in task.showcase:
        tokens = task.encode(text)[-context:]
        task.verify(tokens)
        task.source_position(tokens)
        assert np.allclose(task.true_distribution(tokens, context).sum(axis=1), 1)
    task.expectations(made.architecture, made.train)
