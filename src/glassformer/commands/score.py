"""The exact price of a part of the data."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.commands import _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from glassformer.run import Run
    from glassformer.score import Score

ORDER = 55


def score(
    run: _shared.RunName = None,
    part: Annotated[str, typer.Option(help="validation, train or test.")] = "validation",
    windows: Annotated[str, typer.Option(help="How many windows, spaced evenly; all is exact.")] = "all",
    step: _shared.Step = "last",
    member: _shared.Member = 0,
    edit: _shared.Edits = None,
    together: Annotated[
        bool, typer.Option("--together", help="Ask all members of a population together: the mean of their chances.")
    ] = False,
    as_json: _shared.Json = False,
) -> None:
    """Loss, perplexity and accuracy over all windows of a part, beside the price of simpler ways of guessing."""
    from glassformer import terminal
    from glassformer.edits import written
    from glassformer.score import score as measure

    if together and member:
        raise CallError(f"--together asks all members, --member {member} one of them; leave one out")
    opened = _shared.opened(run, say=not as_json).edited(edit)
    at = _shared.kept_step(opened, step, member)
    with terminal.counting("windows", show=not as_json) as progress:
        who = None if together else member
        found = measure(opened, part, step=at, member=who, windows=_number(windows), progress=progress)
    if as_json:
        edits = {"edits": [str(each) for each in opened.edits]} if opened.edits else {}
        _shared.print_json(
            {"run": str(opened.path), "together": together, **edits, **_table(found), **_shared.mark(opened)}
        )
    else:
        _shared.speaks_of(opened, at, None if together else member)
        if together:
            typer.echo(f"{_shared.counted(opened.members, 'member')} asked together: the mean of their chances")
        if opened.edits:
            typer.echo(f"edited: {written(opened.edits)}")
        typer.echo("\n".join(_lines(found, opened)))
        if not together and not opened.edits and isfinite(found.loss):
            for sentence in _beside(opened, member, found):
                typer.echo(sentence)


def _number(text: str) -> int | None:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise CallError(f"--windows {text!r} is neither a whole number nor all") from None


def _table(found: "Score") -> dict[str, Any]:
    from glassformer.score import perplexity

    rungs = [
        {"name": name, "loss": nats, "perplexity": perplexity(nats), "bits_per_character": found.bits(nats)}
        for name, nats in found.ladder
    ]
    return {
        "step": found.step,
        "part": found.part,
        "windows": found.windows,
        "of": found.of,
        "loss": found.loss,
        "uncertainty": found.uncertainty,
        "perplexity": found.perplexity,
        "accuracy": found.accuracy,
        "whole_answers": found.whole,
        "bits_per_character": found.bits(found.loss),
        "characters_per_token": found.characters,
        "loss_by_position": list(found.by_position),
        "floor": found.floor,
        "ladder": rungs,
    }


def _lines(found: "Score", run: "Run") -> list[str]:
    """What a person reads."""
    from glassformer.score import perplexity

    exact, each, came = run.task.exact, "token", "tokens that came"
    if run.task.answers == "one":
        each, came = "answer", "answers"
    which = "all" if found.windows == found.of else f"{found.windows:,} of {found.of:,}"
    held_out = run.task.data(run.architecture.context).held_out
    part = f"{found.part} part" if held_out or found.part == "train" else "judged on the training text"
    lines = [f"{part}, {which} windows ({found.windows * len(found.by_position):,} predictions)"]
    lines[0] += f" at step {found.step:,}"
    if not isfinite(found.loss):
        return [*lines, "the loss is not a number: the training had diverged by this step"]
    spread = "" if found.uncertainty is None else f" (standard error {found.uncertainty:.4f})"
    lines.append(f"loss {found.loss:.4f} nats per {each}{spread}, perplexity {found.perplexity:.2f}")
    lines.append(f"accuracy: {found.accuracy:.1%} of the {came} were the likeliest")
    if found.whole is not None:
        lines.append(f"{found.whole:.1%} of the answers are wholly right when it writes its likeliest token each time")
    if (bits := found.bits(found.loss)) is not None:
        lines.append(f"{bits:.4f} bits per character ({found.characters:.3f} characters per token)")
    elif found.lossy:
        lines.append(
            "no bits per character: this tokenizer throws part of the text away, so a price per character would be "
            "that of another text"
        )
    source = "way of guessing" if exact else "table of counts from the training part"
    lines.append(f"{source:>40}  {'nats':>8}  {'perplexity':>10}" + ("" if bits is None else f"  {'bits/char':>9}"))
    least = [] if found.floor is None else [("the floor of these very windows", found.floor)]
    for name, nats in [*found.ladder, *least, ("this model", found.loss)]:
        cost = found.bits(nats)
        lines.append(f"{name:>40}  {nats:8.4f}  {perplexity(nats):10.2f}" + ("" if cost is None else f"  {cost:9.4f}"))
    if found.part == "train" and not exact:
        lines.append("(the tables were counted on this very part; only on the others is their price a fair one)")
    return lines


def _beside(run: "Run", member: int, found: "Score") -> list[str]:
    """What the training itself said of this step, where that is another number, and its verdict."""
    from glassformer import summary

    if found.part != "validation" or not run.lines or found.step != run.lines[-1]["step"]:
        return []
    said, judged = summary.members(run)[member], summary.judged_windows(run)
    lines = []
    if 0 < judged.get("validation", 0) < found.of and found.windows == found.of:
        within = {rung.name for rung in run.task.ladder(run.architecture.context) if rung.reachable}
        ladder = [rung for rung in found.ladder if not run.task.exact or rung[0] in within]
        best, nats = min(ladder, key=lambda rung: rung[1])
        least = "their own floor" if run.task.exact else "the best table on them"
        best, nats = (f"“{best}”", nats) if found.floor is None else ("theirs", found.floor)
        lines.append(
            f"the training judged {judged['validation']:,} of these windows: loss {said['validation_loss']:.4f}, "
            f"{_side(said['excess'])} {least}; over all of them it is {_side(found.loss - nats)} {best}"
        )
    if "test" in judged and "accuracy" in said:
        both, what = judged.get("validation", 0) + judged["test"], "question" if run.task.answers == "one" else "window"
        lines.append(
            f"the training's accuracy, {said['accuracy']:.1%}, is that of validation and test together "
            f"({_shared.counted(both, what)})"
        )
    return lines + (
        [f"verdict on the training's own judged windows: {summary.verdict(run, said)}"] if run.task.exact else []
    )


def _side(nats: float) -> str:
    return f"{abs(nats):.4f} {'below' if nats < 0 else 'above'}"
