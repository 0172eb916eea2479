"""What to do next with a run: a text worth asking it, and four commands that can be pasted."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from glassformer.words import pasted

if TYPE_CHECKING:
    from glassformer.run import Run

RUNS = Path("runs")


def telling(run: "Run") -> str:
    """A text after which the model shows what it learnt: the first showcase, up to the last place the rule rules."""
    task, text = run.task, run.task.showcase[0]
    if task.answers == "one":
        return text
    tokens = task.encode(text)[: run.architecture.context]
    ruled = task.constrained(tokens)
    return task.decode(tokens[: ruled.nonzero()[0][-1] + 1]) if ruled.any() and not ruled.all() else text


def say(run: "Run", *without: str) -> None:
    """The commands with what each is for, aligned; `without` leaves out what has just been done."""
    from glassformer import own

    given = [(words, why) for words, why in commands(run) if words[0] not in without]
    lines = [(pasted(["glassformer", *own.option(type(run.task)), *words]), why) for words, why in given]
    wide = max(len(line) for line, _ in lines)
    typer.echo("next:")
    for line, why in lines:
        typer.echo(f"  {line:{wide}}  {why}")


def commands(run: "Run") -> list[tuple[list[str], str]]:
    """Four commands, word by word, each with what it is for."""
    name = run.path.name if run.path.parent == RUNS else str(run.path)
    page = (["report", name], "one page to scrub, ask, change and train it")
    drawn = (["figures", name], "everything inside it, drawn")
    if run.task.answers == "one" or run.task.measure == "rule_error":
        about = "what it answers" if run.task.answers == "one" else "what it expects next"
        return [(["ask", name, *_text(telling(run))], about), page, drawn, _last(run, name)]
    price = (["score", name], "its exact price, beside simpler ways of guessing")
    return [(["generate", name, *_text(run.task.showcase[0])], "let it write"), page, drawn, price]


def _last(run: "Run", name: str) -> tuple[list[str], str]:
    """A question that takes many trainings, for those that answer questions; else a film of the tokens' places."""
    from glassformer import catalogue
    from glassformer.experiment import names

    if run.task.answers == "one" and run.experiment.name in names() and not run.experiment.changed:
        return ["study", "ablation", run.experiment.name], "what each part is needed for; takes minutes"
    if catalogue.why_not(catalogue.entry("films", "embeddings"), run) is None:
        return ["film", name, "embeddings"], "how it came about"
    return ["check", name], "whether all is well with it"


def _text(text: str) -> list[str]:
    """A text as an argument; none where it cannot be pasted."""
    line = text.strip("\n").split("\n")[0]
    if not line.isprintable() or not line.strip():
        return []
    return ["--", line] if line.startswith("-") else [line]
