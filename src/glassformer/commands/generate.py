"""Let a model write."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.commands import _complete, _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from glassformer.run import Run

ORDER = 50
MOST_SAMPLES = 1000
SIGNS = {"␣": " ", "⏎": "\n", "\\n": "\n", "⇥": "\t", "\\t": "\t"}


def generate(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [TEXT]",
            help="A run (none: the newest), then a text to go on from (none: as the task begins).",
            autocompletion=_complete.runs,
        ),
    ] = None,
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest token each time.")] = 1.0,
    top_k: Annotated[int | None, typer.Option(help="Choose among this many likeliest tokens.")] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Choose among the fewest likeliest tokens that have this probability together.")
    ] = None,
    tokens: Annotated[int, typer.Option(help="How many tokens to write.")] = 32,
    stop: Annotated[str | None, typer.Option(help="End after this token; ⏎ or \\n is a new line, ␣ a space.")] = None,
    samples: Annotated[int, typer.Option(help="How many texts to write, with seeds one apart.")] = 1,
    seed: Annotated[int, typer.Option(help="Randomness of the choice.")] = 0,
    step: _shared.Step = "last",
    member: _shared.Member = 0,
    edit: _shared.Edits = None,
    as_json: _shared.Json = False,
) -> None:
    """Let a model write; tokens that its task can judge are marked ✓ where they are right and ✗ where they are wrong.

    A single word is a run if one is called so, else the text.
    """
    from glassformer.edits import written

    found, text = _shared.run_and_text(words or (), say=not as_json)
    opened, prompt = found.edited(edit), text or ""
    if not 1 <= samples <= MOST_SAMPLES:
        raise CallError(f"--samples {samples} is not between 1 and {MOST_SAMPLES}")
    at = _shared.kept_step(opened, step, member)
    end = None if stop is None else _token(stop, opened.task.vocabulary)
    start = [int(token) for token in opened.task.encode(prompt)]
    texts = (
        opened.generate(prompt, tokens, temperature, top_k, seed + k, at, member, top_p=top_p, stop=end)
        for k in range(samples)
    )
    if as_json:
        judged = [_judged(opened, [*start, *new]) for new in texts]
        about = {"run": str(opened.path), "step": at, "prompt": prompt}
        if opened.edits:
            about["edits"] = [str(each) for each in opened.edits]
        about |= _shared.mark(opened)
        _shared.print_json({**about, **(judged[0] if samples == 1 else {"samples": judged})})
        return
    for k, new in enumerate(texts):
        if k == 0:  # from here on the call is known to be right
            _shared.speaks_of(opened, at, member)
            if len(start) > opened.architecture.context:
                typer.echo(f"(the model sees the last {opened.architecture.context} tokens at a time)", err=True)
            if opened.edits:
                typer.echo(f"(edited: {written(opened.edits)})", err=True)
        else:
            typer.echo("")
        _print(opened, start, new)


def _print(run: "Run", start: list[int], new: Iterable[int]) -> None:
    """The text as it is written; or, where there is a rule, with its verdict on every token."""
    from glassformer import generation

    task = run.task
    if not any(task.constrained(task.encode(text)).any() for text in task.showcase):  # no rule
        for piece in generation.spelled(chain(start, new), task.readable):
            typer.echo(piece, nl=False)
        typer.echo("")
        return
    tokens = [*start, *new]
    verdicts = [None] * len(start) + _judged(run, tokens)["right"][len(start) :]
    pieces = list(generation.spelled(tokens, task.readable))
    if len(pieces) == len(verdicts):
        for piece, verdict in zip(pieces, verdicts, strict=True):
            _mark(piece, verdict)
    else:  # some tokens have no piece of their own
        typer.echo("".join(pieces), nl=False)
    typer.echo("")
    judged = [verdict for verdict in verdicts if verdict is not None]
    if judged:
        typer.echo(f"{_checked(run, len(judged))}; {sum(judged)} of them are right")


def _checked(run: "Run", many: int) -> str:
    """How many tokens were judged, and by what."""
    if not run.task.data(run.architecture.context).held_out:
        return f"{many} of these tokens were looked up in the text, together with those before them"
    if run.task.answers == "one":
        return f"{many} of these tokens {'is an answer' if many == 1 else 'are answers'}"
    return f"the rule spoke about {many} of these tokens"


def _mark(piece: str, verdict: bool | None) -> None:
    """A token, with a sign and a colour for right and wrong."""
    from glassformer import terminal

    if verdict is None:
        typer.echo(piece, nl=False)
    else:
        terminal.coloured(f"{piece}{'✓' if verdict else '✗'}", "green" if verdict else "red", nl=False)


def _judged(run: "Run", written: list[int]) -> dict[str, Any]:
    """A text with a verdict on every token; None where nothing rules."""
    import numpy as np

    ids = np.array(written, dtype=np.int32)
    words = [run.task.vocabulary[token] for token in written]
    return {"tokens": words, "text": run.task.readable(ids), "right": run.task.verify(ids)}


def _token(word: str, vocabulary: Sequence[str]) -> str:
    """A token as the vocabulary has it, from the signs in which `ask` shows it."""
    for sign, plain in SIGNS.items():
        word = word if word in vocabulary else word.replace(sign, plain)
    return word
