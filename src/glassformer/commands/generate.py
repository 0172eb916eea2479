"""Let a model write."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.commands import _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from glassformer.run import Run

ORDER = 50
MOST_SAMPLES = 1000
SIGNS = {"␣": " ", "⏎": "\n", "\\n": "\n", "⇥": "\t", "\\t": "\t"}


def generate(
    run: _shared.RunName = None,
    prompt: Annotated[str, typer.Argument(help="What to go on from; none: begin as the task begins.")] = "",
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest token each time.")] = 1.0,
    top_k: Annotated[int | None, typer.Option(help="Choose among this many likeliest tokens.")] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Choose among the fewest likeliest tokens that have this probability together.")
    ] = None,
    tokens: Annotated[int, typer.Option(help="How many tokens to write.")] = 30,
    stop: Annotated[str | None, typer.Option(help="End after this token; ⏎ or \\n is a new line, ␣ a space.")] = None,
    samples: Annotated[int, typer.Option(help="How many texts to write, with seeds one apart.")] = 1,
    seed: Annotated[int, typer.Option(help="Randomness of the choice.")] = 0,
    step: _shared.Step = "last",
    member: _shared.Member = 0,
    edit: _shared.Edits = None,
    as_json: _shared.Json = False,
) -> None:
    """Let a model write; where its task has a rule, count what is right."""
    from glassformer.edits import written
    from glassformer.run import find

    opened = find(run).edited(edit)
    if not 1 <= samples <= MOST_SAMPLES:
        raise CallError(f"--samples {samples} is not between 1 and {MOST_SAMPLES}")
    end = None if stop is None else _token(stop, opened.task.vocabulary)
    start = [int(token) for token in opened.task.encode(prompt)]
    at = _shared.kept_step(opened, step, member)
    texts = (
        opened.generate(prompt, tokens, temperature, top_k, seed + k, at, member, top_p=top_p, stop=end)
        for k in range(samples)
    )
    if as_json:
        found = [_judged(opened, [*start, *new]) for new in texts]
        about = {"run": str(opened.path), "step": at, "prompt": prompt}
        if opened.edits:
            about["edits"] = [str(each) for each in opened.edits]
        _shared.print_json({**about, **(found[0] if samples == 1 else {"samples": found})})
        return
    if len(start) > opened.architecture.context:
        typer.echo(f"(the model sees the last {opened.architecture.context} tokens at a time)", err=True)
    if opened.edits:
        typer.echo(f"(edited: {written(opened.edits)})", err=True)
    for k, new in enumerate(texts):
        if k:
            typer.echo("")
        _print(opened, start, new)


def _print(run: "Run", start: list[int], new: Iterable[int]) -> None:
    """The text as it is written, then what the rule says about it, if there is a rule."""
    from glassformer import generation

    written: list[int] = []

    def kept() -> Iterable[int]:
        for token in chain(start, new):
            written.append(token)
            yield token

    for piece in generation.spelled(kept(), run.task.readable):
        typer.echo(piece, nl=False)
    typer.echo("")
    judged = [verdict for verdict in _judged(run, written)["right"][len(start) :] if verdict is not None]
    if judged:
        typer.echo(f"the rule spoke about {len(judged)} of these tokens; {sum(judged)} of them are right")


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
