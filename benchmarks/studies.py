"""The page of measured studies, made from their folders: nothing in a table is typed.

`python benchmarks/studies.py studies/ablation-five_operations ... --markdown docs/studies.md` writes it; the studies
themselves are made by the commands it prints.
"""

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from glassformer import catalogue, study
from glassformer.experiment import load
from glassformer.studies._run import shortened
from glassformer.study import Study, Trained
from glassformer.tasks.five_operations import FiveOperations

HEADER = """# Studies: questions that take many trainings

`glassformer study NAME [EXPERIMENT]` trains every cell of a study with several seeds and writes, into
`studies/NAME-EXPERIMENT`, a table (`table.csv`: every seed), a figure, the numbers of each cell and a conclusion that
is computed from the table. The same command again goes on where an interrupted study stopped; other settings get a
folder of their own. A cell that fails is named at the end (exit code 1) and tried again by the next call; a loss that
is no longer a number is a result. Seeds of one cell train together in one compiled program, cells side by side in
`--workers` processes, one a core if nothing is said. `glassformer figures RUN` shows the finished studies of the run's
experiment that lie in `studies/`, beside the figures of the run itself.

{studies}

On several machines, with `pip install 'glassformer[cluster]'`:

```
dask scheduler                                   # prints its ADDRESS
dask worker ADDRESS --nthreads 1                 # as many as there are cores, on any machine that has glassformer
glassformer study ablation --scheduler ADDRESS
```

A worker that dies has its cell trained again by another; what was finished stays. A study can be asked from Python too,
with any executor of `concurrent.futures`: `glassformer.studies.run("ablation", "five_operations", executor=pool)`.

**How to read the tables.** A number is the median over seeds, with an interval in brackets: the narrowest pair (k-th
smallest, k-th largest) that holds the median of all possible seeds with 95 %; for up to 8 seeds that is the smallest
and the largest. A seed that never got there, or whose loss is no number, counts as the worst, not as absent. "On new
questions": those that are not in the training set, validation and test together.

`context` gives every cell the same number of tokens a step and predicts the second half of the validation part, each
token once, in windows side by side as a loss is usually measured; some of the tokens are predicted again with a whole
window before them, which tells what the beginnings of windows cost. `pruning` cuts after training: of all numbers in
matrices together the smallest go, and what is left trains on for a fifth of the steps from where it stands, with the
experiment's optimiser begun anew and a rate that falls to nothing; what was cut stays nothing. Its cells train the
same models, so that each can be measured by itself.

To add a study, write one file `src/glassformer/studies/NAME.py` with `NAME(experiment)`, which gives its cells, and
`conclude(study)`, which makes a sentence of the table; `studies/blocks.py` is a small one.

The tables below are made by `python benchmarks/studies.py FOLDER ... --markdown docs/studies.md` from what the command
above each one left. Minutes are those of two cores; where they are more than ten, the cores had other work to do as
well: none takes more than 12 minutes of computing.
"""


def main() -> None:
    """Write the page, or print it."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folders", nargs="*", type=Path, help="folders of studies; none: all under studies/")
    words.add_argument("--markdown", type=Path, help="where to write the page; else it is printed")
    given = words.parse_args()
    folders = given.folders or sorted(path.parent for path in Path("studies").glob(f"*/{study.ABOUT}"))
    titles = "\n".join(f"| `{name}` | {title} |" for name, title in catalogue.pieces("studies").items())
    text = HEADER.format(studies=f"| study | question |\n|---|---|\n{titles}")
    text += "".join("\n" + "\n".join(section(study.open(folder))) + "\n" for folder in folders)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


def section(found: Study) -> Iterator[str]:
    """One study: its command, its table, its conclusion."""
    yield f"## {found.name}, {found.experiment.name}"
    yield ""
    yield f"`{command(found)}`"
    yield ""
    shown = [name for name in found.metrics if name not in ("loss", "seconds")]
    shown = [name for name in shown if not found.metrics[name].title.endswith(", uncut")]  # the same in every row
    yield f"| cell | {' | '.join(found.metrics[name].title for name in shown)} |"
    yield "|---|" + "---:|" * len(shown)
    for row in found.rows():
        yield f"| {row.cell.name} | {' | '.join(found.shown(row, name) for name in shown)} |"
    yield ""
    yield found.result["conclusion"]
    yield ""
    yield f"{found.interval[0].upper()}{found.interval[1:]}. {made(found)}"
    if found.name == "ablation" and found.experiment.task_name == "five_operations":
        yield ""
        yield by_split(found)
    for cell, sentence in found.failed.items():
        yield f"\nThe cell {cell!r} failed: {sentence}"


def command(found: Study) -> str:
    """What makes this study."""
    train, usual = found.experiment.train, shortened(load(found.experiment.name), None)
    words = ["glassformer", "study", found.name, found.experiment.name, "--seeds", str(found.seeds)]
    words += ["--steps", str(train.steps)] if train.steps != usual.train.steps else []
    ours, theirs = found.experiment.tables(), usual.tables()
    for table in ("data", "architecture", "train"):
        for name in sorted({*ours[table], *theirs[table]} - {"steps"}):
            if ours[table].get(name) != theirs[table].get(name):
                words += ["--set", f"{table}.{name}={ours[table].get(name, 'none')}"]
    for setting in found.about["without"]:
        words += ["--without", setting]
    return shlex.join(words)


def made(found: Study) -> str:
    """Steps, time, machine."""
    steps = f"{found.experiment.train.steps:,} steps each; {found.seconds / 60:.1f} minutes in all"
    rows: list[Trained] = list(found.trained.values())
    return f"{steps}, {len(rows)} cells, {sum(len(row.seeds) for row in rows)} models."


def by_split(found: Study) -> str:
    """What a model that sees only the operation scores on new questions depends on which questions are new."""
    scores = [_operation_only(FiveOperations(seed=seed)) for seed in range(100)]
    ours = _operation_only(found.experiment.task)  # type: ignore[arg-type]
    heart = _by_heart(found.experiment.task)  # type: ignore[arg-type]
    low, high = np.quantile(scores, [0.05, 0.95])
    return (
        "Without attention a model sees only the operation. The best such guess is right on 16.84 % of all questions; "
        f"learnt from the training questions, it is right on {100 * ours:.1f} % of the new ones in this split, and on "
        f"{100 * low:.1f} to {100 * high:.1f} % in nine of ten splits with other data seeds: digits that are frequent "
        "among the training answers are rarer among the new ones. Without positions it sees the digits, not their "
        "order: the best guess that knows no question by heart is right on 65.8 %, one that has learnt by heart how "
        f"often each answer came in training on {100 * heart:.1f} % of the new ones: learning by heart costs."
    )


def _operation_only(task: FiveOperations) -> float:
    """The share of new questions answered by the most frequent training answer of their operation."""
    parts, (_, answers) = task._parts(), task.questions()
    new, each = np.concatenate([parts["validation"], parts["test"]]), 10**task.arguments
    right = 0
    for operation in range(5):
        known = np.bincount(answers[parts["train"][parts["train"] // each == operation]]).argmax()
        right += int(np.sum(answers[new[new // each == operation]] == known))
    return right / len(new)


def _by_heart(task: FiveOperations) -> float:
    """The share of new questions answered by the most frequent training answer to the same digits in any order."""
    parts, (tokens, answers) = task._parts(), task.questions()
    keys = [(int(row[0]), *sorted(row[2::2].tolist())) for row in tokens]
    counts: dict[tuple[int, ...], np.ndarray] = {}
    for k in parts["train"]:
        counts.setdefault(keys[k], np.zeros(20))[answers[k]] += 1
    new, right = np.concatenate([parts["validation"], parts["test"]]), 0.0
    for k in new:
        seen = counts.get(keys[k], np.ones(20))
        best = np.flatnonzero(seen == seen.max())  # equal ones share the guess
        right += (answers[k] in best) / len(best)
    return right / len(new)


if __name__ == "__main__":
    main()
