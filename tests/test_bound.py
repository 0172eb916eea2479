"""Numbers in the pages are claims too: each is bound here to the computation that it comes from.

README.md and docs/physics.md hold no number beside: whoever adds one binds it, or says why it states nothing.
"""

import math
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from glassformer import cache as compiled
from glassformer import canonical, experiment, tasks
from glassformer.physics._facts import Facts
from glassformer.physics.models.one_layer import ATTENDING, MATRICES, one_layer
from glassformer.study import places
from glassformer.tasks import Rule

ROOT = Path(__file__).parents[1]
PLUS = "plus_last_even"
WORDS = {16: "sixteen"}
NUMBER = re.compile(r"(?<![\w.§/-])-?\d[\d,  ]*(?:\.\d+)?(?:e-?\d+)?")


def readme() -> Iterator[str]:
    """What the README says, as computed."""
    made = experiment.load(PLUS)
    shares = made.task.shares(made.architecture.context)
    steps = f"{made.train.steps:,}".replace(",", " ")
    rules = [name for name in tasks.names() if issubclass(tasks.find(name), Rule)]
    yield f"over {steps} steps the points"
    yield f"A transformer with {made.architecture.parameters} numbers learns"
    yield f"({steps} steps, every one of them kept)"
    full = made.task.shares(made.architecture.context, full=True)
    yield f"(one to {made.architecture.context} tokens in view), {100 * (1 - shares.answerable):.1f} % of the answers"
    yield f"is wrong at {100 * shares.least_error:.1f} % of the positions"
    yield (
        f"with all {made.architecture.context} tokens in view it is {100 * (1 - full.answerable):.2g} % and "
        f"{100 * full.least_error:.2g} %"
    )
    yield f"at most {compiled.MOST_BYTES // 10**6} MB"
    yield f"fits {made.train.keep_bytes // 10**6} MB"
    yield f"{WORDS[len(rules)]} of them, small enough"
    needs = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    yield f"{needs[1]} or newer"


def physics() -> Iterator[str]:
    """What docs/physics.md says of one life with the published settings."""
    life = one_layer()
    facts = _facts(life)
    moved = dict(zip(MATRICES, life.moved, strict=True))
    norm = max(float(np.abs(facts.anatomy(name) - 1).max()) for name in ("middle", "final"))
    energy = canonical.energy(life.trained, life.logits)
    others = np.delete(life.logits[-1], life.target)
    level = canonical.heat_peak(np.append(np.zeros(len(others)), life.logits[-1, life.target] - others.mean()))
    yield f"e^{facts.windows:.3f} windows, {facts.visited} visited"
    yield f"the plain mean of the values to {100 * facts.anatomy('apart').max():.4f} %"
    yield f"the mean square of the state is 1 to {norm:.1e}".replace("e-0", "e-")
    yield f"U goes from {energy[0]:.3f} to {energy[-1]:.3f}"
    turned, bent = (facts.anatomy(name).max() for name in ("turned", "bent"))
    yield f"by at most {turned:.1f}°, and bends by at most {100 * bent:.2f} %"
    yield f"it moves {moved['output'] / max(moved[name] for name in ATTENDING):.0f} times as far"
    yield f"from step {facts.locked + life.settings.context} on; but {facts.held} steps show nothing of it"
    yield f"T = {facts.heat_peak(-1)[0]:.4f} for the trained output, and {level[0]:.4f} for one"
    yield f"level below {life.settings.tokens - 1} equal ones"
    yield f"at which the source drew them, {life.temperatures[life.farthest_from_one]:g}"


def _facts(life: object) -> Facts:
    """The facts of a life, without what no number of the page needs."""
    return Facts(**{**dict.fromkeys(Facts.__dataclass_fields__), "life": life})


def rules() -> Iterator[str]:
    """What docs/rules.md says of settings; what it measured was measured by benchmarks/rule_tasks.py."""
    for name in experiment.names():
        made = experiment.load(name) if name in _rules() else None
        if made is not None:
            t = made.train
            yield f"| {name} | {made.architecture.parameters:,} | {t.steps:,}, {t.batch}, {t.rate:g}, {t.schedule} |"


@cache
def _rules() -> frozenset[str]:
    text = (ROOT / "docs" / "rules.md").read_text("utf-8")
    return frozenset(re.findall(r"^\| (\w+) \| \d", text, re.MULTILINE))


def experiments() -> Iterator[str]:
    """What docs/experiments.md says beside its tables, which tests/test_docs.py holds."""
    made = experiment.load("five_operations_as_published")
    yield f"ln {len(made.task.vocabulary)} = {math.log(len(made.task.vocabulary)):.3f} nats"
    leak = made.task.data(made.architecture.context).leak(made.architecture.context + 1)
    yield f"so {100 * leak:.0f} % of them are trained on as well"


def studies() -> Iterator[str]:
    """What docs/studies.md says of ceilings and intervals; its tables are what the commands above them print."""
    rungs = {rung.name: rung.accuracy for rung in experiment.load("five_operations").task.ladder(8)}
    yield f"The best such guess is right on {100 * rungs['operation only']:.2f} % of all questions"
    yield f"knows no question by heart is right on {100 * rungs['operation and digits without order']:.1f} %"
    for seeds in (3, 5, 8):
        low, high, surely = places(seeds)
        assert (low, high) == (0, seeds - 1)
        yield f"the largest of {seeds} seeds; they hold the median of all seeds with {100 * surely:.0f} %"
    triples = list(product(range(10), repeat=3))
    same = sum(first == max(first, second, last) for first, second, last in triples) / len(triples)
    yield f"| {100 * same:.1f} % |"  # by coincidence


def language_models() -> Iterator[str]:
    """What docs/language-models.md says beside trainings, which benchmarks/language_models.py makes again."""
    mary = experiment.load("mary")
    yield f"{100 * (1 - mary.task.ladder(mary.architecture.context)[-1].accuracy):.1f} %, as many as the rhyme itself"
    scale = 2**16
    yield f"multiplied by a scale of {scale:,}, so their true norm is cut to {1 / scale:.1e}".replace("e-0", "e-")
    if os.environ.get("GLASSFORMER_DATA"):
        windows = {}
        for name in ("shakespeare_bpe", "shakespeare_bpe_long", "shakespeare"):
            made = experiment.load(name)
            windows[name] = int(made.task.data(made.architecture.context).validation.windows.sum())
        yield f"all {windows['shakespeare_bpe']:,} (long: {windows['shakespeare_bpe_long']:,}) validation windows"
        yield f"On all {windows['shakespeare']:,} validation windows, three seeds"
        yield f"`shakespeare`: {made.architecture.parameters:,} parameters in four narrow blocks"
        yield f"what followed the last two tokens ({math.exp(experiment.load('shakespeare_bpe').floor):.1f}) is better"


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "README.md": readme, "docs/physics.md": physics, "docs/rules.md": rules, "docs/experiments.md": experiments,
    "docs/studies.md": studies, "docs/language-models.md": language_models,
}  # fmt: skip
NONE = {  # numbers that state nothing which could be measured: names, formats, words of a command, digits of a sentence
    "README.md": (
        r"Exit codes: 0 done, 1 the work failed, 2 the call was wrong", r"UTF-8", r"MP4", r"`[^`]*`", r"\]\([^)]*\)",
    ),
    "docs/physics.md": (
        r"`[^`]*`", r"\]\([^)]*\)", r"factor 1/T", r"headed T = 1", r"farthest from 1", r"View \d", r"at T = 1",
    ),
}  # fmt: skip


def prose(page: str) -> str:
    """A page without its fenced code, which other tests run, in one line a paragraph."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(?<!\n)\n(?![\n|#-])\s*", " ", text)


@pytest.mark.parametrize("page", PAGES)
def test_a_number_in_a_page_is_what_is_computed(page):
    text = prose(page)
    for phrase in PAGES[page]():
        assert phrase in text, f"{page} does not say {phrase!r}, which is what is computed"


@pytest.mark.parametrize("page", NONE)
def test_no_other_number_stands_in_the_page(page):
    text = prose(page)
    for phrase in PAGES[page]():
        text = text.replace(phrase, "")
    for pattern in NONE[page]:
        text = re.sub(pattern, "", text)
    left = [line for line in text.splitlines() if NUMBER.search(line)]
    assert left == [], f"{page} has numbers that nothing holds; bind them in tests/test_bound.py:\n" + "\n".join(left)
