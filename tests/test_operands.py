"""Every value is made of its operands: combined again they give it, and walking back ends at the parameters."""

import json
import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from architectures import architectures
from glassformer import reference
from glassformer.analyses._operands import Operand, Pass, Step, Term, written
from glassformer.analyses.decide.operands import operands
from glassformer.architecture import Architecture, nest
from glassformer.errors import CallError, MissingError
from glassformer.glossary import POINTS
from small_runs import NAN, POPULATION, TEXT, run_of

FULL = Architecture(vocabulary=5, context=4, width=4, heads=2, blocks=2, norm="layer", biases=(
    "attention", "projection", "feed_forward", "norm", "read_out"))  # fmt: skip


def passed(a: Architecture, seed: int, precise: bool = False) -> Pass:
    """A pass with parameters that are nowhere zero or one, over an input that may be shorter than the window."""
    rng = np.random.default_rng(seed)
    kind = np.float64 if precise else np.float32
    weights = {name: rng.normal(0.3, 0.7, shape).astype(kind) for name, shape in a.shapes().items()}
    tokens = rng.integers(0, a.vocabulary, rng.integers(1, a.context + 1))
    return Pass(a, weights, reference.forward(nest(weights), tokens, a)[1], tokens)


def cells(seen: Pass, point: str, seed: int, most: int = 6) -> list[tuple[int, ...]]:
    """Some places of a point, the first and the last among them."""
    every = list(np.ndindex(seen.values[point].shape))
    return [every[0], every[-1], *random.Random(seed).sample(every, min(most, len(every)))]


@settings(max_examples=60, deadline=None)
@given(architectures(), st.integers(0, 10_000))
def test_operands_combined_give_the_value(architecture, seed):
    """In both precisions: what agrees to the last digits of a double is no coincidence of rounding."""
    for precise in (False, True):
        seen = passed(architecture, seed, precise)
        for point, values in seen.values.items():
            for index in cells(seen, point, seed):
                step = seen.step(point, index)
                again, size = step.again()
                allowed = (len(step.terms) + 8) * np.finfo(values.dtype).eps * size
                assert abs(again - float(values[index])) <= allowed + 1e-38, written(point, index)
                for term in step.terms:
                    assert all(each.number == looked_up(seen, each) for each in term.factors)
                if step.operation in ("lookup", "copy", "sum", "dot product"):
                    adding = [term for term in step.terms if term.role != "chosen by"]
                    assert sum(term.contribution for term in adding) == again


def looked_up(seen: Pass, operand: Operand) -> float:
    """The number at the place that an operand names."""
    where = {"point": seen.values, "parameter": seen.weights, "token": {"tokens": seen.tokens}}
    return float(where[operand.kind][operand.name][operand.index]) if operand.kind in where else operand.number


@settings(max_examples=30, deadline=None)
@given(architectures(), st.integers(0, 10_000))
def test_walking_back_from_a_probability_computes_it(architecture, seed):
    """With nothing but parameters and constants, all others replaced by what their own operands give.

    And nothing that lies later than what a position sees is reached.
    """
    seen = passed(architecture, seed, precise=True)
    place = len(seen.tokens) // 2
    reached: set[str] = set()

    @cache
    def value(point: str, index: tuple[int, ...]) -> float:
        step = seen.step(point, index)
        return Step(step.operation, "", tuple(known(term) for term in step.terms)).again()[0]

    def known(term: Term) -> Term:
        return replace(term, factors=tuple(number(each) for each in term.factors))

    def number(each: Operand) -> Operand:
        reached.add(each.kind)
        if each.kind == "token" and architecture.causal:
            assert each.index[0] <= place
        return replace(each, number=value(each.name, each.index)) if each.kind == "point" else each

    for token in range(architecture.answers):
        got, want = value("probabilities", (place, token)), seen.values["probabilities"][place, token]
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-12)
    assert {"parameter", "token"} <= reached


def test_every_point_is_met_with_its_operation():
    seen = passed(FULL, 0)
    found = {point: seen.step(point, cells(seen, point, 0)[1]).operation for point in POINTS}
    assert set(seen.values) == set(POINTS)
    assert found == {
        **dict.fromkeys(("token_embedding", "position_embedding"), "lookup"),
        **dict.fromkeys(("embedded", "middle", "out"), "sum"),
        **dict.fromkeys(("query", "key", "value", "scores", "mixed", "attended"), "dot product"),
        **dict.fromkeys(("hidden_in", "fed", "logits"), "dot product"),
        "normed_1": "layer norm", "normed_2": "layer norm", "final": "copy", "hidden": "relu",
        "attention": "softmax", "probabilities": "softmax",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("switches", "point", "index", "operation", "formula"),
    [
        ({}, "scores", (1, 1, 2, 0), "dot product", "Σ query × key × score scale"),
        ({}, "attention", (0, 0, 1, 0), "softmax", "exp(scores) ÷ Σ exp(scores in view)"),
        ({}, "attention", (0, 0, 1, 2), "mask", "0 ÷ Σ exp(scores in view)"),
        ({"attention": "mean"}, "attention", (0, 0, 1, 0), "equal shares", "1 ÷ positions in view"),
        ({}, "query", (1, 0, 2, 1), "dot product", "Σ normed_1 × blocks.1.query + blocks.1.query_bias"),
        ({"norm_place": "post"}, "query", (1, 0, 0, 0), "dot product",
         "Σ normed_2 × blocks.1.query + blocks.1.query_bias"),
        ({"residual": False}, "middle", (0, 0, 0), "copy", "attended"),
        ({"tied_embedding": True}, "logits", (0, 0), "dot product", "Σ final × token + read_out_bias"),
        ({"norm": "rms", "final_norm": True}, "final", (0, 0), "rms norm",
         "out ÷ √(mean square + norm_epsilon) × norm"),
        ({"positions": "none"}, "embedded", (0, 0), "copy", "token_embedding"),
        ({"feed_forward": 0, "norm_place": "post"}, "out", (1, 0, 0), "copy", "normed_1"),
    ],
)  # fmt: skip
def test_formulas_are_in_the_words_of_the_glossary(switches, point, index, operation, formula):
    a = replace(FULL, **switches)
    weights = {name: np.ones(shape, np.float32) for name, shape in a.shapes().items()}
    tokens = np.arange(4)
    step = Pass(a, weights, reference.forward(nest(weights), tokens, a)[1], tokens).step(point, index)
    assert (step.operation, step.formula) == (operation, formula)


def test_only_what_is_in_view_goes_in():
    """The last position of a causal model mixes all, the first itself alone; without the mask each mixes all."""
    tokens = np.array([0, 1, 2, 3])
    for causal, counts in ((True, [1, 2, 3, 4]), (False, [4, 4, 4, 4])):
        a = replace(FULL, causal=causal)
        weights = {name: np.ones(shape, np.float32) for name, shape in a.shapes().items()}
        seen = Pass(a, weights, reference.forward(nest(weights), tokens, a)[1], tokens)
        assert [len(seen.step("mixed", (0, 0, query, 0)).terms) for query in range(4)] == counts


# ---- the analysis ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plus_last_even", "five_operations", TEXT, POPULATION])
def test_a_card_of_every_point_leads_to_the_next(name):
    """What an operand is written as opens its own card, which shows the same number."""
    run = run_of(name)
    for point in run.trace():
        card = operands(run, value=point)
        assert card.agrees, card.written
        assert card.value == run.trace()[point][card.index]
        assert operands(run, value=card.written) == card
        for operand in [each for term in card.terms for each in term.factors if each.kind == "point"][:3]:
            assert operands(run, value=operand.written).value == operand.number


def test_without_a_wish_it_is_the_answer():
    run = run_of("plus_last_even")
    seen, card = run.trace(), operands(run)
    place, token = card.index
    assert card.point == "probabilities"
    assert run.task.answerable(seen.tokens)[place]
    assert card.value == seen["probabilities"][place].max()
    words = run.task.vocabulary
    assert card.where == (
        f"probabilities at position {place} ({words[seen.tokens[place]]}) and token {token} ({words[token]})"
    )
    assert card.title.startswith(f"probabilities[position={place}, token={token}] is ")


@pytest.mark.parametrize("name", ["plus_last_even", NAN])
def test_a_card_travels_as_text(name):
    for point in run_of(name).trace():
        card = operands(run_of(name), value=point)
        back = type(card).from_plain(json.loads(json.dumps(card.plain(), allow_nan=False)))
        assert back == card
        assert back.agrees
        assert back.parts.axes["part"].labels == tuple(term.written for term in card.terms)
        np.testing.assert_array_equal(back.parts.values, [term.number for term in card.terms])
        assert all(type(term.contribution) in (float, type(None)) for term in back.terms)


def test_a_damaged_number_is_noticed():
    card = operands(run_of("plus_last_even"), value="logits")
    assert not replace(card, value=card.value * (1 + 1e-4)).agrees
    assert not replace(card, value=float("nan")).agrees


def test_what_is_not_a_number_is_said():
    run = run_of(NAN)
    for step in run.steps.tolist():
        for point in [*run.trace(), "attention[query_position=0, key_position=1]"]:
            card = operands(run, value=point, step=step)
            assert card.agrees
            assert np.isfinite(card.value) or "is not a number" in card.title


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("score", "did you mean scores"),
        ("scores[head=0, feature=1]", "did you mean|there are: block, head"),
        ("scores[head=7]", "head = 7 is not between 0 and 0"),
        ("scores[head=-1]", "cannot be read"),
        ("scores[0, 0]", "cannot be read"),
        ("scores[head=0", "cannot be read"),
        ("scores[head=0, head=0]", "twice"),
        ("normed_1[block=3]", "block = 3"),
    ],
)
def test_what_is_not_there_is_refused(value, said):
    with pytest.raises((CallError, MissingError), match=said):
        operands(run_of("plus_last_even"), value=value)


def test_one_input_at_a_time():
    with pytest.raises(CallError, match="one input"):
        operands(run_of("plus_last_even"), sequence=[[0, 1], [1, 2]])
