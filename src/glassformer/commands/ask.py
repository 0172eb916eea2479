"""Next-token probabilities after a text."""

from typing import TYPE_CHECKING, Annotated

import typer

from glassformer.commands import _complete, _shared
from glassformer.errors import CallError

if TYPE_CHECKING:
    from glassformer.run import Run

ORDER = 40
COUNTED = 4_000_000  # characters of a text that are counted while a person waits for an answer


def ask(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [TEXT]",
            help="A run (none: the newest), then a text (none: the task's own).",
            autocompletion=_complete.runs,
        ),
    ] = None,
    step: _shared.Step = "last",
    top: Annotated[int, typer.Option(help="How many tokens to show.")] = 5,
    member: _shared.Member = 0,
    edit: _shared.Edits = None,
    as_json: _shared.Json = False,
) -> None:
    """Next-token probabilities after a text, beside those of the exact predictor, or of a table of counts.

    With --edit, those of the edited model beside them. A single word is a run if one is called so, else the text.
    """
    from glassformer.commands._next import telling
    from glassformer.edits import read, written

    run, text = _shared.run_and_text(words or (), say=not as_json)
    given = telling(run) if text is None else text
    if top < 1:
        raise CallError(f"--top {top} shows nothing; the least is 1")
    edits = read(edit)
    at = _shared.kept_step(run, step, member)
    after = run.ask(given, step=at, member=member, edits=edits)
    before = run.ask(given, step=at, member=member) if edits else after
    answers, unedited, truth = after[:top], dict(before), _truth(run, given)
    if as_json:
        exact = [truth.get(token) for token, _ in answers]
        _shared.print_json(
            {
                "run": str(run.path),
                "step": at,
                "text": given,
                **({"edits": [str(each) for each in edits]} if edits else {}),
                "tokens": [token for token, _ in answers],
                "probabilities": [chance for _, chance in answers],
                **({"unedited": [unedited[token] for token, _ in answers]} if edits else {}),
                "exact": exact if run.task.exact else None,
                "counts": None if run.task.exact else exact,
                **_shared.mark(run),
            }
        )
        return
    from glassformer.analyses._pairs import shown

    _shared.speaks_of(run, at, member, after=given)
    always = {before[0][0], *(token for token, chance in truth.items() if chance > 0.5)}  # unedited, and what is right
    answers += [each for each in after[top:] if each[0] in always]
    wide = max(8, *(len(shown(token)) for token, _ in answers))
    edited = f"{'edited':>7}  " if edits else ""
    if edits:
        typer.echo(f"edited: {written(edits)}")
    typer.echo(f"{'token':>{wide}}  {edited}{'model':>7}  {'exact' if run.task.exact else 'counts':>7}")
    for token, chance in answers:
        edited = f"{chance:7.1%}  " if edits else ""
        exactly = f"{truth[token]:7.1%}" if token in truth else f"{'–':>7}"
        typer.echo(f"{shown(token):>{wide}}  {edited}{unedited[token]:7.1%}  {exactly}")
    if not truth:
        typer.echo("(no counts: this text is too long to be counted for one answer; `glassformer score` counts it)")


def _truth(run: "Run", text: str) -> dict[str, float]:
    """The exact predictor's probabilities at the place where the model answers; of a long text, none."""
    if not run.task.exact and len(getattr(run.task, "text", "")) > COUNTED:
        return {}
    tokens = run.tokens(text)
    chances = run.task.true_distribution(tokens, run.architecture.context)[-1]
    return dict(zip(run.task.vocabulary, chances.tolist(), strict=False))
