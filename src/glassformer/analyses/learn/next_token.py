"""What comes next, in the model's eyes: the likeliest tokens after a few inputs, at a few steps."""

from typing import Any

import numpy as np

from glassformer.analyses import _clock, _counted, _decide, _judged
from glassformer.analyses._options import Member, Sequence, Step, Steps
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Axis, Labelled, Result, fate, numbers, percent, result, thousands
from glassformer.run import Run

ORDER = 90
ANSWERS = ("2.N", "2.§4.3")
COST = "b"

PROMPTS = 3
WINDOWS = 64  # held out, among which one with the answer out of view is looked for


@result
class NextToken(Result):
    """Probabilities of the next token (or of the answer) after a few inputs, and the exact predictor's."""

    chances: Labelled  # (window, step, token): a window is an input, called by its text
    truth: Labelled  # (window, token): the exact predictor's; of a text how often it followed in training, or NaN
    times: Labelled  # (window,): how often the whole input occurs in the training part of a text; NaN of a rule
    right: Labelled  # (window, token): 1 where the rule allows the token and what is in view settles it; 0 elsewhere
    unseen: tuple[bool, ...]  # per input: the rule asks, but the answer lies out of view
    steps: tuple[int, ...]
    one: bool

    @property
    def title(self) -> str:
        """What is expected after the first input, and how right that is."""
        last, first, truth = self.chances.values[:, -1], self.chances.values[0, 0], self.truth.values
        if not np.isfinite(last).all():
            return fate("the probabilities are not numbers")
        words, best = self.chances.axes["token"].labels, last.argmax(axis=1)
        token, right = best[0], self.right.values[0]
        verdict = ""
        if right.any():
            verdict = f", {'the' if right.sum() == 1 else 'a'} right token," if right[token] else ", a wrong token,"
        title = (
            f"After “{self.chances.axes['window'].labels[0]}” the model expects “{shown(words[token])}”{verdict} with "
            f"{percent(float(last[0, token]))} at step {thousands(self.steps[-1])}"
        )
        if len(self.steps) > 1 and first[token] < last[0, token]:
            title += f", up from {percent(float(first[token]))}"
        if self.truth_known and not verdict:
            title += f"; {self.predictor} gives it {percent(float(truth[0, token]))}"
        elif not self.truth_known and self.times.values[0]:
            many = int(self.times.values[0])
            title += f"; in training it followed in {round(truth[0, token] * many)} of {thousands(many)} cases"
        elif not self.truth_known:
            title += "; these words never stand in the training part"
        for k in [k for k, blind in enumerate(self.unseen) if blind and k][:1]:
            said, chance, least = shown(words[best[k]]), *(percent(float(each[k, best[k]])) for each in (last, truth))
            title += f"; with the answer out of view it says “{said}” with {chance} ({self.predictor}: {least})"
        return title


def next_token(
    run: Run, *, sequence: Sequence = None, step: Step = -1, steps: Steps = None, member: Member = 0
) -> NextToken:
    """After `sequence`, or after each showcase up to its last constrained place; at most four steps.

    Where the rule can ask for what is out of view, a held-out window of this kind stands second.
    """
    at = _few(run, step, member) if steps is None else _clock.chosen(run, steps)
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
    chances, times = np.zeros((len(prompts), len(at), size)), np.full(len(prompts), np.nan)
    truth, right = np.zeros((2, len(prompts), size))
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
    inputs = {"window": Axis(numbers(len(prompts)), tuple(run.task.decode(p) for p in prompts))}
    words: dict[str, Any] = {"token": run.task.vocabulary}
    return NextToken(
        **_clock.at_step(run, at[-1], member),
        **_judged.about(run),
        chances=Labelled(chances, {**inputs, "step": at, **words}, "probability"),
        truth=Labelled(truth, inputs | words, "probability"),
        times=Labelled(times, inputs, "times"),
        right=Labelled(right, inputs | words, "1 = right"),
        unseen=tuple(bool(run.task.constrained(p)[-1] and not run.task.answerable(p)[-1]) for p in prompts),
        steps=tuple(at),
        one=place is not None,
    )


def _few(run: Run, step: int, member: int) -> list[int]:
    """The first step, one in between at which much was known, and the step asked for."""
    last = _clock.resolve(run, step)
    at = [*[s for s in _clock.moments(run, member=member) if s < last], last]
    if len(at) <= 3:
        return at
    return [at[0], at[-3] if at[-3] != at[0] else at[-2], at[-1]]


def followed(run: Run, prompt: Array) -> Array:
    """(occurrence,): the token after each place of the training part that reads like a prompt."""
    context = run.architecture.context
    split = run.task.data(context).train
    begin = int(split.starts[0])
    text = split.tokens[begin : begin + int(split.windows[0]) + context]
    fits = np.ones(max(len(text) - len(prompt), 0), dtype=bool)
    for k, token in enumerate(prompt):
        fits &= text[k : k + len(fits)] == token
    return text[np.flatnonzero(fits) + len(prompt)]


def _out_of_view(run: Run) -> Array | None:
    """A held-out window up to a place where the rule asks for what is not in view; the one that sees the most."""
    if run.architecture.read_position is not None:
        return None
    found = _decide.examples(run, WINDOWS)
    at = np.argwhere(found.constrained & ~found.answerable)
    if not len(at):
        return None
    window, place = at[at[:, 1].argmax()]
    return found.windows[window, : place + 1]
