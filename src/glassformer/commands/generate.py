"""Let a model write."""

from typing import Annotated

import typer

from glassformer.commands import _shared

ORDER = 50


def generate(
    run: _shared.RunName = None,
    prompt: Annotated[str, typer.Argument(help="What to go on from; none: begin as the task begins.")] = "",
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest token each time.")] = 1.0,
    top_k: Annotated[int | None, typer.Option(help="Choose among this many likeliest tokens.")] = None,
    tokens: Annotated[int, typer.Option(help="How many tokens to write.")] = 30,
    seed: Annotated[int, typer.Option(help="Randomness of the choice.")] = 0,
    step: _shared.Step = -1,
    member: _shared.Member = 0,
    as_json: _shared.Json = False,
) -> None:
    """Let a model write, and mark what its rule calls right and wrong."""
    from glassformer.run import find

    opened = find(run)
    task = opened.task
    start = [int(token) for token in task.encode(prompt)]
    new = opened.generate(prompt, tokens, temperature, top_k, seed, step, member)
    written = [*start, *new]
    import numpy as np

    verdicts = task.verify(np.array(written, dtype=np.int32))
    if as_json:
        words = [task.vocabulary[token] for token in written]
        _shared.print_json(
            {
                "run": str(opened.path),
                "step": _shared.resolved(opened, step),
                "prompt": prompt,
                "tokens": words,
                "text": task.decode(np.array(written)),
                "right": verdicts,
            }
        )
        return
    if len(start) > opened.architecture.context:
        typer.echo(f"(the model sees the last {opened.architecture.context} tokens at a time)", err=True)
    typer.echo(task.decode(np.array(written)))
    judged = [verdict for verdict in verdicts[len(start) :] if verdict is not None]
    if judged:
        typer.echo(f"the rule spoke about {len(judged)} of these tokens; {sum(judged)} of them are right")
