"""The page learns, reads and judges as Python does: optimisers, laws of tasks, texts, facts, and runs in a zip.

One process of Node goes through all cases; what they should give is computed here.
"""

import json
import shutil
import subprocess
import zipfile
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import glassformer as gf
import small_runs
from glassformer import experiment, model, optimiser, session, summary, tensors, training
from glassformer.analyses import _clock
from glassformer.architecture import Architecture, nest
from glassformer.errors import CallError
from glassformer.experiment import Training
from glassformer.report import facts as facts_file
from glassformer.report import training_data
from glassformer.report.blocks import as_json
from glassformer.report.reading import reading
from glassformer.report.truth import truth
from glassformer.run import Run
from glassformer.tasks import Rule, Task
from glassformer.tasks._text import Text

PAGE = Path(__file__).parents[1] / "frontend"
ROLLDOWN = PAGE / "node_modules" / "rolldown" / "bin" / "cli.mjs"
TINY = Architecture(vocabulary=3, context=2, feed_forward=3, biases=("feed_forward", "read_out"))
STEPS = 40  # of the optimisers
SEQUENCES = 10  # of each kind, for each task
CREATED = "2026-01-01T00:00:00.000+00:00"
LOOKED_AT = ("plus_last_even", "even_abs_diff", "five_operations", "text", "nan")
LEARNT = ("plus_last_even", "five_operations")

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not ROLLDOWN.exists(),
    reason="the page's learning needs Node and its packages: install Node 20.19 or newer, then run npm ci in frontend/",
)


# ---- what the page is given ------------------------------------------------------------------------------------------


def trainings() -> list[Training]:
    """Every rule and every schedule, with what only some of them have."""
    return [
        Training(steps=STEPS, optimiser="sgd", rate=0.1),
        Training(steps=STEPS, optimiser="momentum", rate=0.02, momentum=0.8, schedule="step", drop_every=7, drop=0.3),
        Training(steps=STEPS, optimiser="adam", rate=0.01, schedule="cosine", warmup=5, final=0.1),
        Training(steps=STEPS, optimiser="adamw", rate=0.03, decay=0.5, schedule="cosine", warmup=500),
        Training(steps=STEPS, optimiser="adamw", rate=0.02, decay=0.2, decay_on="matrices", clip=0.7, beta_2=0.95),
        Training(steps=STEPS, optimiser="sgd", rate=0.05, clip=0.2, schedule="step", warmup=3, drop_every=4),
    ]


def gradients(number: int) -> np.ndarray:
    """(step, parameter): some small, some clipped."""
    rng = np.random.default_rng(number)
    return (rng.normal(size=(STEPS, TINY.parameters)) * rng.uniform(0.01, 0.5, (STEPS, 1))).astype(np.float32)


def tasks(folder: Path) -> dict[str, tuple[Task, Architecture]]:
    """The task of every experiment that needs no corpus, and two of one's own."""
    found: dict[str, tuple[Task, Architecture]] = {}
    for name in experiment.names():
        if not name.startswith(("shakespeare", "own_", "ill_")) and not name.endswith("as_published"):
            one = experiment.load(name)
            if (one.task, one.architecture.context) not in [(task, a.context) for task, a in found.values()]:
                found[name] = one.task, one.architecture
    table = folder / "sums.csv"
    sums = [f"{a} plus {b},{'odd' if (a + b) % 2 else 'even'}\n" for a in range(6) for b in range(6)]
    table.write_text("".join([*sums, "1 plus 1,two\n"]))
    for tokens in ("characters", "words"):
        own = experiment.load("own_table", [f"data.file={table}", f"data.tokens={tokens}"])
        found[f"own_table_{tokens}"] = own.task, own.architecture
    text = folder / "rhyme.txt"
    text.write_text(
        "Ma̱ry had a “little” lamb, its fleece was white — as snow; don't ask 7 times!\n" * 12, encoding="utf-8"
    )
    for kind, entries in (("characters", None), ("words", None), ("words", 9), ("bpe", 60), ("byte_bpe", 300)):
        own = experiment.for_text(text, kind, entries, ["architecture.context=5"])
        found[f"own_text_{kind}_{entries}"] = own.task, own.architecture
    found["five_operations_padded"] = (replace(found["five_operations"][0], padded=12), found["five_operations"][1])
    return found


def told(task: Task, a: Architecture) -> dict[str, Any]:
    """A task as the page knows it."""
    return {
        "answers": task.answers, "measure": task.measure, "exact": task.exact, "skip": task.skip, "kinds": task.kinds,
        "vocabulary": task.vocabulary, "outputs": task.vocabulary[: a.answers], "groups": task.groups,
        "showcase": task.showcase, "reading": reading(task), "truth": truth(task, a),
    }  # fmt: skip


def sequences(task: Task, a: Architecture, name: str) -> list[list[int]]:
    """What the task itself draws, the same with one token wrong, and tokens at random; up to the window's length."""
    rng, chance = np.random.default_rng(7), Random(name)
    found = [[]]
    for k in range(SEQUENCES):
        many = isinstance(task, Rule) and len(task._tables.law) > 2_000  # other lengths would take a second each
        long = a.context if many else chance.randint(1, a.context)
        drawn = task.sample(rng, a.context)[: a.context if task.answers == "one" else long].tolist()
        broken = list(drawn)
        broken[chance.randrange(len(broken))] = chance.randrange(len(task.vocabulary))
        found += [drawn, broken, rng.integers(len(task.vocabulary), size=a.context if k % 2 else long).tolist()]
    return found


def texts(task: Task, name: str) -> list[str]:
    """Texts that can be read and texts that cannot, with odd spaces, signs and letters in them."""
    chance, words = Random(name), list(task.vocabulary)
    found = [
        *task.showcase, "", "  ", "\t 4 \n", "mary had", "ERSTE ½ ² ſ", "it’s a lamb's o'clock", "a\x1cb\x85c\ufeffd",
        "Frist(5,3,9)", "maX ( 5, 3,9 ) 9", "litle lamp", "'quoted' \"too\"", "\\ back", "naïve café 東京 🐑",
        "[UNK] [PAD]", "  don't   we'll 12 a1_b \n\n x", "little—lamb", "<END> <RARE> <PAD>", "ā\u0331 ẞ", "1 plus 1",
        "\u200bzero",
    ]  # fmt: skip
    joined = "" if isinstance(task, Text) and task.cutter.kind in ("characters", "byte_bpe") else " "
    for _ in range(12):
        some = [chance.choice(words) for _ in range(chance.randint(1, 12))]
        found.append(joined.join(some))
        found.append(
            "".join(chance.choice(["a", "M", " ", "  ", "'s", "l", "am", "\n", "9", ",", "—", "é"]) for _ in range(14))
        )
    return found


def about(run: Run) -> dict[str, Any]:
    """As much of what a report says of a run as training and saving need."""
    return {
        "experiment": run.experiment.tables(), "task": told(run.task, run.architecture), "changes": "",
        "ladder": [asdict(replace(rung, guess=None)) for rung in _clock.ladder(run)], "floor": run.experiment.floor,
        "order": run.task.data(run.architecture.context).order, "versions": {"glassformer": gf.__version__},
    }  # fmt: skip


def flat(params: dict[str, np.ndarray]) -> list[Any]:
    """In one row; what JSON has no number for as a text."""
    row = np.concatenate([value.ravel() for value in params.values()])
    return [number if np.isfinite(number) else str(number) for number in row.tolist()]


def looks(run: Run) -> list[int]:
    return sorted({int(run.steps[0]), int(run.steps[len(run.steps) // 2]), int(run.steps[-1])})


def settings(run: Run, **changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(replace(run.experiment.train, **changes))))


def stream(task: Text, context: int) -> dict:
    """The training part of a text, as the page has it."""
    return {name: getattr(task.data(context).train, name) for name in ("tokens", "starts", "windows")}


@pytest.fixture(scope="module")
def every(tmp_path_factory) -> dict[str, tuple[Task, Architecture, dict[str, Any]]]:
    """Each task with its model, and what the page knows of it."""
    found = tasks(tmp_path_factory.mktemp("tasks"))
    return {name: (task, a, told(task, a)) for name, (task, a) in found.items()}


@pytest.fixture(scope="module")
def page(tmp_path_factory, every) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """The cases, what the page made of them, and the folder."""
    folder = tmp_path_factory.mktemp("page_learning")
    runs = {name: small_runs.run_of(name) for name in LOOKED_AT}
    for name, run in runs.items():
        (folder / f"{name}.safetensors").write_bytes(tensors.pack(training_data.arrays(run)))
    rule, asked = (runs[name] for name in LEARNT)
    parent = {"params": flat(rule.weights(200)), "step": 200, "until": 230,
              "named": {"run": rule.name, "step": 200, "sha256": "0" * 64, "edits": "zero(mixed, head=0)"}}  # fmt: skip
    given = {
        "optimised": [{"architecture": asdict(TINY), "train": asdict(train), "params": [0.1] * TINY.parameters,
                       "gradients": gradients(k).tolist()} for k, train in enumerate(trainings())],
        "judged": [{"task": known, "architecture": asdict(a), "context": a.context,
                    "sequences": sequences(task, a, name),
                    "train": stream(task, a.context) if isinstance(task, Text) else None}
                   for name, (task, a, known) in every.items() if not name.endswith("padded")],
        "read": [{"task": known, "texts": texts(task, name), "ids": sequences(task, a, name)}
                 for name, (task, a, known) in every.items()],
        "looked": [{"name": name, "info": about(run),
                    "params": [{"step": step, "values": flat(run.weights(step))} for step in looks(run)]}
                   for name, run in runs.items()],
        "trained": [
            {"name": LEARNT[0], "info": about(rule), "zip": "rule.zip", "created": CREATED,
             "train": settings(rule, seed=5, steps=400, optimiser="adamw", clip=1.0)},
            {"name": LEARNT[1], "info": about(asked), "zip": "asked.zip", "created": CREATED,
             "train": settings(asked, seed=6, steps=8, optimiser="momentum", rate=0.01)},
            {"name": LEARNT[0], "info": about(rule), "zip": "continued.zip", "created": CREATED,
             "train": settings(rule, seed=7, rate=0.01), "parent": parent},
            {"name": LEARNT[0], "info": about(rule), "zip": "lost.zip", "created": CREATED,
             "train": settings(rule, seed=8, optimiser="sgd", rate=1e30)},
            {"name": "text", "info": about(runs["text"]), "zip": "text.zip", "created": CREATED,
             "train": settings(runs["text"], seed=9, steps=3)},
        ],
        "fresh": [{"architecture": asdict(runs[name].architecture), "seed": k} for name in LEARNT for k in (1, 2)],
    }  # fmt: skip
    (folder / "cases.json").write_bytes(as_json(given))
    file = folder / "page_learning.mjs"
    command = ["node", ROLLDOWN, "tests/page_learning.mjs", "--file", file, "--platform", "node"]
    subprocess.run(command, cwd=PAGE, check=True, capture_output=True)
    subprocess.run(["node", file, folder], check=True)
    return given, json.loads((folder / "found.json").read_text()), folder


# ---- optimisers ------------------------------------------------------------------------------------------------------


def test_optimisers_move_as_optax_does(page):
    for k, train in enumerate(trainings()):
        rule, rate = optimiser.direction(train, TINY), optimiser.schedule(train)
        params = jnp.full(TINY.parameters, 0.1, jnp.float32)
        state = rule.init(params)
        for t, (gradient, found) in enumerate(zip(gradients(k), page[1]["optimised"][k], strict=True)):
            direction, state = rule.update(jnp.asarray(gradient), state, params)
            params = params - rate(t) * direction
            np.testing.assert_allclose(found["rate"], float(rate(t)), rtol=2e-6, err_msg=f"{train} at {t}")
            np.testing.assert_allclose(found["params"], params, rtol=2e-5, atol=2e-6, err_msg=f"{train} at {t}")


# ---- what a task says of tokens --------------------------------------------------------------------------------------


def test_laws_are_those_of_the_tasks(page, every):
    named = [(name, *each) for name, each in every.items() if not name.endswith("padded")]
    for (name, task, a, known), case, said in zip(named, page[0]["judged"], page[1]["judged"], strict=True):
        assert known["truth"]["kind"] != "unknown", name
        for tokens, page_says in zip(case["sequences"], said, strict=True):
            ids, where = np.array(tokens, dtype=np.int64), f"{name}: {tokens}"
            np.testing.assert_array_equal(page_says["constrained"], task.constrained(ids), where)
            np.testing.assert_array_equal(page_says["allowed"], task.allowed(ids).ravel(), where)
            np.testing.assert_array_equal(page_says["source_position"], task.source_position(ids), where)
            expected = task.true_distribution(ids, a.context).ravel()
            np.testing.assert_allclose(page_says["true_distribution"], expected, atol=1e-8, err_msg=where)
            assert page_says["verify"] == task.verify(ids), where
            if len(tokens) or not isinstance(task, Rule):
                np.testing.assert_array_equal(page_says["answerable"], task.answerable(ids), where)


def test_large_tables_are_not_told():
    one = experiment.load("step_back", ["data.distance=4"])
    assert truth(one.task, one.architecture) == {"kind": "unknown"}


# ---- texts -----------------------------------------------------------------------------------------------------------


def test_texts_are_read_as_python_reads_them(page, every):
    refused = 0
    for (name, (task, *_)), case, said in zip(every.items(), page[0]["read"], page[1]["read"], strict=True):
        for text, ids in zip(case["texts"], said["ids"], strict=True):
            try:
                expected: Any = task.encode(text).tolist()
            except CallError as problem:
                expected, refused = {"refused": str(problem)}, refused + 1
            assert ids == expected, f"{name}: {text!r}"
        assert said["texts"] == [task.decode(np.array(ids, dtype=np.int64)) for ids in case["ids"]], name
    assert refused > 100


# ---- judging ---------------------------------------------------------------------------------------------------------


def test_lines_are_those_that_training_logged(page):
    for case, said in zip(page[0]["looked"], page[1]["looked"], strict=True):
        run = small_runs.run_of(case["name"])
        logged, line = run.lines[-1], said[-1]["line"]
        assert case["params"][-1]["step"] == logged["step"]
        for name, value in logged.items():
            if (
                name.endswith(("_loss", "excess", "accuracy", "rule_error", "rule_error_answerable"))
                and name != "batch_loss"
            ):
                found = np.nan if line[name] is None else line[name]
                np.testing.assert_allclose(found, float(value), rtol=1e-5, atol=2e-6, err_msg=f"{case['name']} {name}")
            if name == "accuracy_by_kind" or (name == "judged" and run.status == "finished"):
                assert line[name] == pytest.approx(value, abs=1e-6), case["name"]


def test_facts_are_those_of_python(page):
    for case, said in zip(page[0]["looked"], page[1]["looked"], strict=True):
        run = small_runs.run_of(case["name"])
        for expected, found in zip(facts_file.facts(run, looks(run)), said, strict=True):
            assert found["facts"].keys() == expected.keys()
            for name, value in expected.items():
                there = found["facts"][name]
                if isinstance(value, dict):
                    assert there.keys() == value.keys(), case["name"]
                    for inner, number in value.items():
                        assert there[inner] == (
                            number if isinstance(number, str | None) else pytest.approx(number, rel=1e-5, abs=1e-5)
                        )
                else:
                    close = value if value is None else pytest.approx(value, rel=1e-5, abs=1e-5)
                    assert there == close, (case["name"], name)
            assert found["sentence"].endswith(".")


# ---- training --------------------------------------------------------------------------------------------------------


def test_steps_are_those_that_jax_would_take(page):
    """On the batches that the page drew: the loss by JAX, its gradient, and Optax."""
    for case, found in zip(page[0]["trained"][:2], page[1]["trained"][:2], strict=True):
        run = small_runs.run_of(case["name"])
        a, train = run.architecture, Training(**case["train"])
        shapes = a.shapes()
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])

        def nested(vector, shapes=shapes, ends=ends):
            pieces = zip(shapes.items(), np.split(np.arange(ends[-1]), ends[:-1]), strict=True)
            return nest({name: vector[at].reshape(shape) for (name, shape), at in pieces})

        def loss(vector, tokens, targets, a=a, nested=nested):
            logits = model.answers(nested(vector), tokens, a)
            return model.loss(logits, targets).mean()

        rule, rate, slope = optimiser.direction(train, a), optimiser.schedule(train), jax.jit(jax.grad(loss))
        params = jnp.asarray(found["first"][0], jnp.float32)
        state = rule.init(params)
        for t, batch in enumerate(found["batches"]):
            tokens = np.array(batch["tokens"]).reshape(train.batch, a.context)
            targets = np.array(batch["targets"]).reshape(train.batch, a.context)
            asked = targets[:, a.read_position : a.read_position + 1] if a.read_position is not None else targets
            direction, state = rule.update(slope(params, tokens, asked), state, params)
            params = params - rate(t) * direction
            np.testing.assert_allclose(found["first"][t + 1], params, rtol=1e-4, atol=2e-5, err_msg=f"step {t + 1}")


def test_batches_are_windows_of_the_training_part(page):
    for case, found in zip(page[0]["trained"][:2], page[1]["trained"][:2], strict=True):
        run = small_runs.run_of(case["name"])
        context = run.architecture.context
        part = run.task.data(context).train
        begins = np.concatenate(
            [start + np.arange(many) for start, many in zip(part.starts, part.windows, strict=True)]
        )
        windows = {tuple(part.tokens[begin : begin + context]) for begin in begins.tolist()}
        for batch in found["batches"]:
            rows = np.array(batch["tokens"]).reshape(-1, context)
            assert {tuple(row) for row in rows.tolist()} <= windows


def opened(folder: Path, name: str) -> Run:
    with zipfile.ZipFile(folder / f"{name}.zip") as file:
        assert file.testzip() is None
        file.extractall(folder / "unzipped")
    return gf.open(folder / "unzipped" / name)


def test_a_saved_run_is_a_run(page):
    _, found, folder = page
    run, said = opened(folder, "rule"), found["trained"][0]
    assert (run.status, run.last_step, run.seeds, run.engine, run.check()) == ("finished", 400, [5], "page", [])
    assert run.steps.tolist() == said["steps"]
    assert set(range(200)) <= set(said["steps"])
    np.testing.assert_array_equal(flat(run.weights(3)), np.float32(said["first"][3]))
    assert run.experiment.train.steps == 400
    assert "train.steps" in run.experiment.changed
    chances = dict(run.ask("4 9 + 4 10 7 +"))
    assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
    assert run.metrics["validation_loss"][-1] < run.metrics["validation_loss"][0] - 0.2
    # The same weights, judged here: NumPy's passes over all validation windows.
    seen = facts_file.seen(run, run.task.examples(run.architecture.context, "validation", run.experiment.train.windows))
    for line in (run.lines[-1],):
        judged = seen.at(line["step"], nest(run.weights(line["step"])))
        assert line["validation_loss"] == pytest.approx(judged["loss"], abs=1e-5)
        assert line["excess"] == pytest.approx(judged["excess"], abs=1e-5)
        assert line["rule_error_answerable"] == pytest.approx(judged["error"], abs=1e-6)
    assert run.about["floors"]["validation"] == pytest.approx(seen.floor, abs=1e-6)
    assert len(list(summary.sentences(run))) > 2


def test_files_are_those_that_python_would_write(page):
    run = opened(page[2], "rule")
    written = tensors.pack({name: np.stack([run.weights(int(step))[name] for step in run.steps])
                            for name in run.architecture.shapes()})  # fmt: skip
    assert (run.path / "weights" / "000000.safetensors").read_bytes() == written


def test_a_run_of_a_page_is_not_resumed(page):
    run = opened(page[2], "continued")
    assert (run.status, run.last_step, run.steps[0]) == ("stopped", 230, 200)
    assert run.about["parent"]["edits"] == "zero(mixed, head=0)"
    assert run.check() == []
    np.testing.assert_array_equal(flat(run.weights(200)), np.float32(page[0]["trained"][2]["parent"]["params"]))
    for work in (training.resume, session.resume):
        with pytest.raises(CallError, match="was trained in a page"):
            work(run.path)
    assert not session._same(run, run.experiment, 1)  # nor taken for what Python would train


def test_a_diverged_run_says_so(page):
    run, said = opened(page[2], "lost"), page[1]["trained"][3]
    assert run.status == "diverged"
    assert run.check() == []
    assert said["facts"][-1]["loss"] is None
    assert np.isnan(run.metrics["validation_loss"][-1])
    assert next(summary.sentences(run)).startswith("plus_last_even: the training diverged")


def test_a_text_takes_its_files_along(page):
    run = opened(page[2], "text")
    assert run.check() == []
    assert run.task.text == small_runs.run_of("text").task.text


def test_questions_are_saved_too(page):
    run = opened(page[2], "asked")
    assert (run.status, run.last_step, run.check()) == ("finished", 8, [])
    assert run.lines[-1].keys() == small_runs.run_of("five_operations").lines[-1].keys()


def test_fresh_weights_are_spread_as_pythons(page):
    """Each parameter's mean square is that of Python's draws: over both, a chance of 1 in 10,000 to fail by chance."""
    for case, first, second in ((page[0]["fresh"][k], *page[1]["fresh"][k : k + 2]) for k in (0, 2)):
        a = Architecture(**{**case["architecture"], "biases": tuple(case["architecture"]["biases"])})
        assert first != second
        begin = 0
        for name, shape in a.shapes().items():
            size = int(np.prod(shape))
            here = np.array(first[begin : begin + size])
            there = np.concatenate([model.init(a, np.random.default_rng(k))[name].ravel() for k in range(20)])
            begin += size
            spread = np.sqrt(np.mean(there**4) / np.mean(there**2) ** 2 / size) if there.any() else 0
            assert np.mean(here**2) == pytest.approx(np.mean(there**2), rel=5 * float(spread) + 1e-6), name
            assert np.abs(here).max() <= 2 * np.abs(there).max() + 1e-9, name
