"""What comes next, in the model's eyes: the likeliest tokens after a few inputs, at a few steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _counted, _decide
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, thousands, result
from glassformer.run import Run

ORDER = 90
ANSWERS = ("2.N", "2.§4.3")
COST = "b"

PROMPTS = 3
WINDOWS = 64  # held out, among which one with the answer out of view is looked for


@result
class NextToken(Result):
    """Probabilities of the next token (or of the answer) after a few inputs, and the exact predictor's."""

    chances: Labelled  # (prompt, step, token)
    truth: Labelled  # (prompt, token): the exact predictor's; of a text how often it followed in training, or NaN
    times: Labelled  # (prompt,): how often the whole input occurs in the training part of a text; NaN of a rule
    right: Labelled  # (prompt, token): 1 where the rule allows the token and what is in view settles it; 0 elsewhere
    unseen: tuple[bool, ...]  # per prompt: the rule asks, but the answer lies out of view
    steps: tuple[int, ...]
    one: bool


def next_token(
    run: Run, *, sequence: str | None = None, step: int = -1, steps: Sequence[int] | None = None, member: int = 0
) -> NextToken:
    """After `sequence`, or after each showcase up to its last constrained place; at most four steps.

    Where the rule can ask for what is out of view, a held-out window of this kind stands second.
    """
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
        if (blind := _out_of_view(run)) is not None:
            prompts = [prompts[0], blind, *prompts[1:]][:PROMPTS]
    size = len(run.task.vocabulary)
    chances, truth, right = (
        np.zeros((len(prompts), len(at), size)),
        np.zeros((len(prompts), size)),
        np.zeros((len(prompts), size)),
    )
    times = np.full(len(prompts), np.nan)
    for k, prompt in enumerate(prompts):
        read = _counted.place(run, prompt)
        for j, each in enumerate(at):
            seen = run.trace(prompt, step=each, member=member)["probabilities"][read]
            chances[k, j, : len(seen)] = seen
        if run.task.exact:
            truth[k] = run.task.true_distribution(prompt, context)[-1]
        else:
            after = followed(run, prompt)
            times[k] = len(after)
            truth[k] = np.bincount(after, minlength=size) / len(after) if len(after) else np.nan
        if run.task.constrained(prompt)[-1] and run.task.answerable(prompt)[-1]:
            right[k] = run.task.allowed(prompt)[-1]
    names = tuple(run.task.decode(p) for p in prompts)
    words = tuple(run.task.vocabulary)
    return NextToken(
        step=at[-1],
        clock=_clock.text(run, at[-1], member),
        truth_known=run.task.exact,
        chances=Labelled(chances, {"prompt": names, "step": tuple(map(str, at)), "token": words}, "probability"),
        truth=Labelled(truth, {"prompt": names, "token": words}, "probability"),
        times=Labelled(times, {"prompt": names}, "times"),
        right=Labelled(right, {"prompt": names, "token": words}, "1 = right"),
        unseen=tuple(bool(run.task.constrained(p)[-1] and not run.task.answerable(p)[-1]) for p in prompts),
        steps=tuple(at),
        one=place is not None,
    )


def followed(run: Run, prompt: Array) -> Array:
    """(occurrence,): the token after each place of the training part that reads like a prompt."""
    context = run.architecture.context
    split = run.task.data(context).train
    begin = int(split.starts[0])
    text = split.tokens[begin : begin + int(split.windows[0]) + context]
    fits = np.ones(max(len(text) - len(prompt), 0), dtype=bool)
    for k, token in enumerate(prompt):
        fits &= text[k : k + len(fits)] == token
    found: Array = text[np.flatnonzero(fits) + len(prompt)]
    return found


def ticks(seen: NextToken) -> str:
    """What the ticks are."""
    return seen.predictor if seen.truth_known else "frequency after the same tokens in training"


def _out_of_view(run: Run) -> Array | None:
    """A held-out window up to a place where the rule asks for what is not in view; the one that sees the most."""
    if run.architecture.read_position is not None:
        return None
    found = _decide.examples(run, WINDOWS)
    at = np.argwhere(found.constrained & ~found.answerable)
    if not len(at):
        return None
    window, place = at[at[:, 1].argmax()]
    prompt: Array = found.windows[window, : place + 1]
    return prompt


def say(seen: NextToken) -> Words:
    """What is expected after the first input, and how right that is."""
    values, truth, right = seen.chances.values, seen.truth.values, seen.right.values
    words, prompts = seen.chances.axes["token"].labels, seen.chances.axes["prompt"].labels
    caption = (
        "Bars are the model's five likeliest "
        + ("answers" if seen.one else "next tokens")
        + " after each input (rows) at a few training steps (columns), with their probabilities; below them, "
        "where it is not one of the five, the token that is likeliest in the end. A tick is "
        + (
            f"the probability of the same token, given the same window, by {seen.predictor}"
            if seen.truth_known
            else "the share of times that the same token followed the whole input in the training part; an input that "
            "never occurs there has no ticks, and one that occurs a few times has rough ones"
        )
        + "; a check marks tokens that "
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
    if seen.truth_known and not verdict:
        say_first += f"; {seen.predictor} gives it {percent(float(truth[k, best[k]]))}"
    elif not seen.truth_known and seen.times.values[k]:
        many = int(seen.times.values[k])
        say_first += f"; in training it followed in {round(truth[k, best[k]] * many)} of {thousands(many)} cases"
    elif not seen.truth_known:
        say_first += "; these words never stand in the training part"
    for k in [k for k, blind in enumerate(seen.unseen) if blind and k][:1]:
        say_first += (
            f"; with the answer out of view it says “{shown(words[best[k]])}” with {percent(float(last[k, best[k]]))} "
            f"({seen.predictor}: {percent(float(truth[k, best[k]]))})"
        )
    return Words(say_first, caption, f"Bars of the likeliest tokens after a few inputs. {say_first}.")
