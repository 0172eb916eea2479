"""What comes next, in the model's eyes: the likeliest tokens after a few inputs, at a few steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Labelled, Result, Words, percent, thousands
from glassformer.run import Run

PROMPTS = 3


@dataclass(frozen=True, kw_only=True)
class NextToken(Result):
    """Probabilities of the next token (or of the answer) after a few inputs, and the exact predictor's."""

    chances: Labelled  # (prompt, step, token)
    truth: Labelled  # (prompt, token): the exact predictor's
    right: Labelled  # (prompt, token): 1 where the rule allows the token and constrains the place; 0 elsewhere
    steps: tuple[int, ...]
    one: bool


def next_token(
    run: Run, *, sequence: str | None = None, step: int = -1, steps: Sequence[int] | None = None, member: int = 0
) -> NextToken:
    """After `sequence`, or after each showcase up to its last constrained place; at most four steps."""
    last = _clock.resolve(run, step)
    at = (
        _clock.chosen(run, tuple(steps))
        if steps is not None
        else [*[s for s in _clock.moments(run, member=member) if s < last], last]
    )
    if steps is None and len(at) > 3:
        at = [at[0], at[-3], at[-1]] if at[-3] != at[0] else [at[0], at[-2], at[-1]]
    context, place = run.architecture.context, run.architecture.read_position
    if sequence is not None:
        prompts = [run.tokens(sequence)]
    else:
        prompts = []
        for text in run.task.showcase[:PROMPTS]:
            tokens = run.task.encode(text)[-context:]
            asked = np.flatnonzero(run.task.constrained(tokens))
            asked = asked[asked > 0] if place is None else asked[:0]
            prompts.append(tokens[: asked[-1] + 1] if len(asked) else tokens)
        prompts = [p for k, p in enumerate(prompts) if not any(np.array_equal(p, q) for q in prompts[:k])]
    size = len(run.task.vocabulary)
    chances, truth, right = (
        np.zeros((len(prompts), len(at), size)),
        np.zeros((len(prompts), size)),
        np.zeros((len(prompts), size)),
    )
    for k, prompt in enumerate(prompts):
        for j, each in enumerate(at):
            seen = run.trace(prompt, step=each, member=member)["probabilities"][-1 if place is None else place]
            chances[k, j, : len(seen)] = seen
        truth[k] = run.task.true_distribution(prompt, context)[-1]
        if run.task.constrained(prompt)[-1]:
            right[k] = run.task.allowed(prompt)[-1]
    names = tuple(run.task.decode(p) for p in prompts)
    words = tuple(run.task.vocabulary)
    return NextToken(
        step=at[-1],
        clock=_clock.text(run, at[-1], member),
        truth_known=run.task.exact,
        chances=Labelled(chances, {"prompt": names, "step": tuple(map(str, at)), "token": words}, "probability"),
        truth=Labelled(truth, {"prompt": names, "token": words}, "probability"),
        right=Labelled(right, {"prompt": names, "token": words}, "1 = right"),
        steps=tuple(at),
        one=place is not None,
    )


def say(seen: NextToken) -> Words:
    """What is expected after the first input, and how right that is."""
    values, truth, right = seen.chances.values, seen.truth.values, seen.right.values
    words, prompts = seen.chances.axes["token"], seen.chances.axes["prompt"]
    caption = (
        "Bars are the model's five likeliest "
        + ("answers" if seen.one else "next tokens")
        + " after each input (rows) at a few training steps (columns), with their probabilities; below them, "
        "where it is not one of the five, the token that is likeliest in the end. A tick is "
        f"the probability of the same token, given the same window, by {seen.predictor}; a check marks tokens that "
        "the rule allows where it constrains the place. Exact numbers."
        + (" Bars that end at their ticks are perfect knowledge." if seen.truth_known else "")
    )
    last = values[:, -1]
    if not np.isfinite(last).all():
        return Words("The probabilities are not numbers: the training has diverged", caption, "Empty bars.")
    step = thousands(seen.steps[-1])
    best = last.argmax(axis=1)
    k = 0
    token = shown(words[best[k]])
    verdict = ""
    if right[k].any():
        verdict = f", {'the' if right[k].sum() == 1 else 'a'} right token," if right[k, best[k]] else ", a wrong token,"
    say_first = (
        f"After “{prompts[k]}” the model expects “{token}”{verdict} with {percent(float(last[k, best[k]]))} "
        f"at step {step}"
    )
    if len(seen.steps) > 1:
        say_first += (
            f", up from {percent(float(values[k, 0, best[k]]))}" if values[k, 0, best[k]] < last[k, best[k]] else ""
        )
    if not verdict:
        say_first += f"; {seen.predictor} gives it {percent(float(truth[k, best[k]]))}"
    return Words(say_first, caption, f"Bars of the likeliest tokens after {len(prompts)} inputs. {say_first}.")
