"""The model of the page agrees with NumPy's and JAX's: every named point, every gradient, every edit, every operand.

One process of Node goes through all cases; what they should give is computed here, in double precision.
"""

import json
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from architectures import every_value, quick_jit, sampled, values_in_use
from glassformer import editing, edits, model, reference
from glassformer.analyses._operands import Pass
from glassformer.architecture import Architecture, nest
from glassformer.counted import counted
from glassformer.errors import Error
from glassformer.glossary import POINTS, WHOLE, axes

PAGE = Path(__file__).parents[1] / "frontend"
ROLLDOWN = PAGE / "node_modules" / "rolldown" / "bin" / "cli.mjs"
NEAR = 1e-5  # absolute; relative above 1
CASES = 100  # NumPy judges all of them,
DEEP = 25  # and JAX the gradients of the first, each of which has to be compiled
NUDGE = 3e-7  # how far a value is moved to see what comes of it
CELLS = 40  # numbers that are taken apart, of every case
WRITTEN = [
    "zero(mixed, block=0, head=1)", "scale(attended, 0.5, block=1)", "add(middle, -1.5, position=3, feature=0)",
    "zero(hidden, neuron=[0-2, 7])", ' mean ( out ,position = 0-3 ) ; zero(final)', "set(logits, 1e-7)",
    'patch(middle, from="4 9 + 6", block=0)', "patch(out, step=-1, run='runs/other', block=[2, 0, 1])",
    'patch(out, from="say \\"\\u00e9\\" and \\\\")', "patch(out, member=3)", "zero(blocks.1.attn.hook_z, head=0)",
    "zero(blocks.2.hook_resid_pre)", "zero(blocks.0.hook_resid_pre)", "add(out, .5)", "add(out, 12345678901234567890)",
    "add(out, 100000)", "add(out, 0.00001)", "add(out, 123456.789e3)", "add(out, -0)", 'patch(out, from="a\tb")',
]  # fmt: skip
REFUSED = [
    "nil(mixed)", "zero(mixd)", "zero(mixed, heads=0)", "zero(mixed, neuron=0)", 'patch(out, form="4")',
    "zero(mixed, head=0, head=1)", "zero(mixed, head=0.5)", "zero(mixed, head=-1)", "zero(mixed, head=3-1)",
    "zero(mixed, head=99999)", "zero(mixed, head=[0, 1)", "zero(mixed, head)", "zero(mixed", "zero mixed", "zero($)",
    "zero(mixed) zero(out)", "zero(mixed, 0.5)", "add(mixed)", "patch(mixed)", "patch(mixed, from=4)", "zero(é)",
    "zero(mixed, step=3)", 'patch(out, from="\\x")', 'patch(out, from="")', "patch(out, step=-2)", "add(out, 1e39)",
    "zero(blocks.0.hook_embed)", "zero(attn.hook_q_input)", "zero(blocks.1.attn.hook_z, block=0)", "zero(mixed) ;",
    "zero(mixed, head=1234567890123456)", "add(out, 1, 2)", "patch(out, member=-1)", "zero(it's)", "zero(mixed, =)",
]  # fmt: skip

BARE = Architecture(vocabulary=4, context=4, width=3, attention="off", feed_forward=0, read_position=1)  # no block

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not ROLLDOWN.exists(),
    reason="the page's model needs Node and its packages: install Node 20.19 or newer, then run npm ci in frontend/",
)


def case(number: int) -> dict:
    """An architecture with parameters that are nowhere zero or one, inputs as long as it sees or shorter, and edits."""
    rng, chance = Random(number), np.random.default_rng(number)
    a = BARE if number == 20 else sampled(rng)
    length, batch = rng.randint(1, a.context), rng.choice([1, 2, 5])
    if a is BARE:
        length = a.context
    else:
        a = replace(a, read_position=rng.randrange(length) if rng.random() < 0.4 else None)
    if rng.random() < 0.3 and not a.tied_embedding:
        a = replace(a, outputs=rng.randint(1, a.vocabulary))

    def drawn() -> dict:
        return {name: chance.normal(0.2, 0.6, shape).astype(np.float32) for name, shape in a.shapes().items()}

    def cells(shapes: dict) -> list:
        picked = [rng.choice(list(shapes)) for _ in range(CELLS)]
        return [(name, [rng.randrange(size) for size in shapes[name]]) for name in picked]

    shapes = {name: [length if axis.endswith("position") else size for axis, size in along.items()]
              for name, along in editing.sizes(a).items()}  # fmt: skip
    logit = [rng.randrange(length), rng.randrange(a.answers), 0]
    return {
        "architecture": a, "batch": batch, "length": length, "params": drawn(),
        "tokens": chance.integers(0, a.vocabulary, (batch, length)),
        "windows": chance.integers(0, a.answers, (batch, length + 1)),
        "skip": rng.randrange(length) if rng.random() < 0.5 else 0,
        "asked": "loss" if number % 4 < 3 else logit,
        "edits": tuple(edit(a, length, rng) for _ in range(rng.randint(1, 4))) if number % 2 else (),
        "there": {"params": drawn(), "tokens": chance.integers(0, a.vocabulary, length)},  # where patches take from
        "cells": cells(shapes), "parameters": cells(a.shapes()),
    }  # fmt: skip


def edit(a: Architecture, length: int, rng: Random) -> edits.Edit:
    """Any edit that the model has a place for."""
    there = editing.sizes(a)
    telling = [name for name in ("attention", "position_embedding") if name in there]  # where much can go wrong
    verb, point = rng.choice(edits.VERBS), rng.choice([*there, *telling * 3])
    amount = round(rng.uniform(-2, 2), 3) if verb in edits.NUMBERED else None
    at = {}
    for axis in rng.sample(axes(point), rng.randint(0, len(axes(point)))):
        size = length if axis.endswith("position") else there[point][axis]
        at[axis] = rng.sample(range(size), rng.randint(1, size))
    return edits.Edit(verb, point, at, amount, text="other" if verb == "patch" else None)


def plain(one: dict) -> dict:
    """A case as the page reads it."""

    def flat(params: dict) -> list:
        return np.concatenate([value.ravel() for value in params.values()]).tolist()

    there = {"params": flat(one["there"]["params"]), "tokens": one["there"]["tokens"].tolist()}
    return one | {
        "architecture": asdict(one["architecture"]), "params": flat(one["params"]), "there": there,
        "tokens": one["tokens"].ravel().tolist(), "windows": one["windows"].ravel().tolist(),
        "edits": edits.written(one["edits"]),
    }  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> tuple[list[tuple[dict, dict]], list[dict]]:
    """The cases, each with what the page made of it; and what it made of the written edits."""
    folder = tmp_path_factory.mktemp("page_model")
    cases = [case(number) for number in range(CASES)]
    given = {"cases": [plain(one) for one in cases], "texts": [*WRITTEN, *REFUSED]}
    (folder / "cases.json").write_text(json.dumps(given))
    file = folder / "page_model.mjs"
    command = ["node", ROLLDOWN, "tests/page_model.mjs", "--file", file, "--platform", "node"]
    subprocess.run(command, cwd=PAGE, check=True, capture_output=True)
    subprocess.run(["node", file, folder], check=True)
    found = json.loads((folder / "found.json").read_text())
    return list(zip(cases, found["cases"], strict=True)), found["texts"]


class Stub(SimpleNamespace):
    """As much of a run as edits look at: what its patches take, whatever they name, comes from `there`."""

    edits = ()

    @property
    def unedited(self):
        return self

    def __hash__(self):
        return id(self)

    def place(self, member):
        return member

    def tokens(self, given):
        return self.there["tokens"] if isinstance(given, str) else given

    def weights(self, *_):
        return doubled(self.there["params"])


def doubled(params: dict) -> dict:
    return {name: value.astype(np.float64) for name, value in params.items()}


def changes(one: dict) -> dict:
    """The edits of a case as functions."""
    stub = Stub(architecture=one["architecture"], there=one["there"])
    return editing.compiled(stub, one["tokens"], more=list(one["edits"]))


def traced(one: dict) -> dict:
    """Every named point, by NumPy."""
    return reference.forward(nest(doubled(one["params"])), one["tokens"], one["architecture"], changes(one))[1]


def gradients(one: dict, seen: dict) -> tuple[float, dict, dict]:
    """By JAX: what is asked about, its gradient by every parameter and by what is added at every point."""
    a, tokens, edited = one["architecture"], one["tokens"], changes(one)
    came = counted(a, one["skip"])

    def asked(params, added):
        def adding(name):
            def see(value, block):
                value = edited[name](value, block) if name in edited else value
                return value + (added[name] if name in WHOLE else added[name][block])

            return see

        logits, _ = model.forward(nest(params), tokens, a, {name: adding(name) for name in added})
        if one["asked"] != "loss":
            position, token, example = one["asked"]
            return logits[example, position, token]
        return model.loss(logits[:, came.read], jnp.asarray(one["windows"])[:, 1:][:, came.came]).mean()

    with jax.enable_x64(True):
        nothing = {name: np.zeros_like(value) if name in WHOLE else list(np.zeros_like(value).swapaxes(0, 1))
                   for name, value in seen.items()}  # fmt: skip
        value, (by_parameter, by_point) = quick_jit(jax.value_and_grad(asked, argnums=(0, 1)))(
            doubled(one["params"]), nothing
        )
    stacked = {name: np.asarray(g) if name in WHOLE else np.stack(g, axis=1) for name, g in by_point.items()}
    return float(value), by_parameter, stacked


def slope(one: dict, name: str, way: np.ndarray) -> float:
    """By NumPy: how what is asked about changes when a point, or a parameter, is moved a little."""
    a, edited = one["architecture"], changes(one)
    came, found = counted(a, one["skip"]), []
    for nudge in (2 * NUDGE, NUDGE, -NUDGE, -2 * NUDGE):
        params, inside = doubled(one["params"]), dict(edited)
        if name in params:
            params[name] = params[name] + nudge * way
        else:

            def see(value, block, nudge=nudge):
                value = edited[name](value, block) if name in edited else value
                return value + nudge * (way if name in WHOLE else way[:, block])

            inside[name] = see
        logits, _ = reference.forward(nest(params), one["tokens"], a, inside)
        if one["asked"] == "loss":
            targets = one["windows"][:, 1:][:, came.came, None]
            found.append(-np.take_along_axis(reference.log_softmax(logits)[:, came.read], targets, -1).mean())
        else:
            position, token, example = one["asked"]
            found.append(logits[example, position, token])
    return float(np.dot((-1, 8, -8, 1), found)) / (12 * NUDGE)  # of fourth order: edits can make the loss very steep


def near(found, wanted, what):
    np.testing.assert_allclose(found, wanted, atol=NEAR, rtol=NEAR, err_msg=what)


def array(numbers: dict) -> np.ndarray:
    return np.array(numbers["data"], np.float64).reshape(numbers["shape"])


def of_example(name: str, values: np.ndarray, example: int) -> np.ndarray:
    return values if name == "position_embedding" else values[example]


def test_every_point(page):
    for number, (one, found) in enumerate(page[0]):
        wanted = traced(one)
        assert {each["name"]: tuple(each["shape"]) for each in found["slots"]} == one["architecture"].shapes()
        assert found["written"] == edits.written(one["edits"])
        for example, trace in enumerate(found["traces"]):
            assert list(trace) == [name for name in POINTS if name in wanted]
            for name, numbers in trace.items():
                assert tuple(numbers["axes"]) == axes(name)
                near(array(numbers), of_example(name, wanted[name], example), f"{name} of case {number}")


def test_every_gradient(page):
    """As JAX has it."""
    for number, (one, found) in enumerate(page[0][:DEEP]):
        wanted = traced(one)
        value, by_parameter, by_point = gradients(one, wanted)
        flat = np.concatenate([np.ravel(by_parameter[name]) for name in one["architecture"].shapes()])
        near(found["gradient"], flat, f"parameters of case {number}")
        if "loss" in found:
            near(found["loss"], value, f"loss of case {number}")
        if "training" in found:  # where only the answers that are read are computed
            near(found["training"]["loss"], value, f"loss of case {number}")
            near(found["training"]["gradient"], flat, f"parameters of case {number}, in training")
        for example, numbers in enumerate(found["gradients"]):
            assert list(numbers) == [name for name in POINTS if name in wanted and name != "probabilities"]
            for name, mine in numbers.items():
                gradient = of_example(name, by_point[name], example)
                if name == "attention" and hidden(one):
                    gradient = gradient * np.tri(one["length"])
                near(array(mine), gradient, f"gradient of {name} in case {number}")


def test_every_slope(page):
    """Moved along any way, the loss of NumPy's pass changes as the gradient says."""
    rng = np.random.default_rng(0)
    for number, (one, found) in list(enumerate(page[0]))[DEEP:]:
        bent = traced(one).get("hidden_in", np.ones(1))
        if one["architecture"].activation == "relu" and np.abs(bent).min() < 1e-4:
            continue  # at a bend there is no slope; JAX judges some of these
        begin = 0
        for name, shape in one["architecture"].shapes().items():
            way, size = rng.choice([-1.0, 1.0], shape), int(np.prod(shape))
            for mine in (found, found.get("training")):
                if mine:
                    gradient = np.reshape(mine["gradient"][begin : begin + size], shape)
                    close(gradient, way, slope(one, name, way), f"gradient of {name} in case {number}")
            begin += size
        for name in found["gradients"][0]:
            each = [array(numbers[name]) for numbers in found["gradients"]]
            gradient = each[0] if name == "position_embedding" else np.stack(each)
            way = rng.choice([-1.0, 1.0], gradient.shape)
            if name == "attention" and hidden(one):
                way = way * np.tri(one["length"])
            close(gradient, way, slope(one, name, way), f"gradient of {name} in case {number}")


def close(gradient, way, measured, what):
    """Rounding grows with the size of the terms, not with that of their sum."""
    assert abs((gradient * way).sum() - measured) < NEAR * (1 + np.abs(gradient).sum()), what


def hidden(one: dict) -> bool:
    """Whether what lies in the future is not asked about; an edit may look there all the same."""
    return one["architecture"].causal and not any(each.point == "attention" for each in one["edits"])


def test_every_switch_is_met():
    """Every value of every switch is among the cases that JAX judges, and every verb and point among all of them."""
    cases = [case(number) for number in range(DEEP)]
    assert every_value() - set().union(*(values_in_use(one["architecture"]) for one in cases)) == set()
    edited = [each for number in range(CASES) for each in case(number)["edits"]]
    assert {each.verb for each in edited} == set(edits.VERBS)
    assert {each.point for each in edited} == set(POINTS)
    assert any(one["length"] < one["architecture"].context for one in cases)


def test_operands(page):
    """The terms of a number are Python's; they give it again, and those of its gradient sum to what backward found."""
    for number, (one, found) in enumerate(page[0]):
        first = {name: of_example(name, values, 0) for name, values in traced(one).items()}
        seen = Pass(one["architecture"], doubled(one["params"]), first, one["tokens"][0])
        for (name, index), mine in zip(one["cells"], found["cells"], strict=True):
            what = f"{name}{index} of case {number}"
            step = seen.step(name, tuple(index))
            if not one["edits"]:
                near(mine["again"], mine["value"], what)
            if mine["back"]:
                near(*mine["back"], f"gradient of {what}")
            if any(each.point == "attention" for each in one["edits"]) and name == "mixed":
                continue  # an edit can look ahead; Python then says that its terms are not all
            assert (mine["operation"], mine["formula"]) == (step.operation, step.formula), what
            assert [each[0] for each in mine["terms"]] == [term.role for term in step.terms], what
            for (_, factors, contribution), term in zip(mine["terms"], step.terms, strict=True):
                assert [each[:2] for each in factors] == [[each.kind, each.written] for each in term.factors], what
                near([each[2] for each in factors], [each.number for each in term.factors], what)
                assert (contribution is None) == (term.contribution is None)
                near(contribution or 0, term.contribution or 0, what)
        for (name, index), (gradient, pulled) in zip(one["parameters"], found["parameters"], strict=True):
            near(pulled, gradient, f"gradient of {name}{index} of case {number}")


def test_written_edits(page):
    """What Python reads and writes, the page does; what Python refuses, it refuses in the same words."""
    for text, found in zip(WRITTEN, page[1], strict=False):
        wanted = edits.read(text)
        assert (edits.read(found["edits"]), found["written"]) == (wanted, edits.written(wanted))
        assert [each.keys() for each in found["edits"]] == [each.plain().keys() for each in wanted]
    for text, found in zip(REFUSED, page[1][len(WRITTEN) :], strict=True):
        with pytest.raises(Error) as refusal:
            edits.read(text)
        assert found == {"refused": str(refusal.value)}
