"""When the answer appears: what would be said if the stream were read out at each named point."""

from dataclasses import dataclass

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _decide
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Array, Labelled, Result, Words, listed
from glassformer.run import Run


@dataclass(frozen=True, kw_only=True)
class LogitLens(Result):
    """The read-out, applied before it is due."""

    right: Labelled  # (point, position): probability of the right tokens; NaN: the rule leaves the position free
    best: Labelled  # (point, position): probability of the most probable token
    guess: Labelled  # (point, position): id of the most probable token
    said: tuple[tuple[str, ...], ...]  # (point, position): the most probable token
    verdicts: tuple[tuple[str, ...], ...]  # (point, position)
    tokens: tuple[str, ...]
    normed: bool  # whether the final norm was applied at each point


def logit_lens(run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0) -> LogitLens:
    """The most probable token at each point of the stream, on one input (the task's first showcase when None)."""
    a = run.architecture
    seen = run.trace(sequence, step=step, member=member)
    w = _decide.params(run, seen.step, member)
    stream: dict[str, Array] = {"embedded": seen["embedded"]}
    post = a.norm_place == "post" and a.norm != "none"
    for block in range(a.blocks):
        many = f", block {block}" if a.blocks > 1 else ""
        if a.attention != "off":
            name = "normed_1" if post else "middle"
            stream[f"{name}{many}"] = seen[name][block]
        if a.feed_forward:
            name = "normed_2" if post else "out"
            stream[f"{name}{many}"] = seen[name][block]
    logits = np.stack([_decide.from_stream(w, each, a) for each in stream.values()]).astype(np.float64)
    chances = reference.softmax(logits)  # (point, position, token)
    guess = chances.argmax(-1)
    want = _decide.asked(run, seen.tokens)
    settled = want.constrained & want.answerable
    right = np.where(settled, (chances * want.allowed).sum(-1), np.nan)
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    axes = {"point": tuple(stream), "position": placed(tokens)}
    return LogitLens(
        step=seen.step,
        clock=_clock.text(run, seen.step, member),
        right=Labelled(right, axes, "probability"),
        best=Labelled(chances.max(-1), axes, "probability"),
        guess=Labelled(guess, axes, "token id"),
        said=tuple(
            tuple(run.task.vocabulary[k] if p in want.places else "" for p, k in enumerate(row)) for row in guess
        ),
        verdicts=tuple(want.verdicts(row) for row in guess),
        tokens=tokens,
        normed=a.final_norm,
    )


def say(seen: LogitLens) -> Words:
    """At which point how many answers are right."""
    text = " ".join(map(shown, seen.tokens))
    judged = [k for k, verdict in enumerate(seen.verdicts[-1]) if verdict in ("right", "wrong")]
    counts = [sum(row[k] == "right" for k in judged) for row in seen.verdicts]
    if not np.isfinite(seen.best.values).all():
        title = f"At step {seen.step} the probabilities are not numbers: the training has diverged"
    elif judged:
        names = seen.right.axes["point"]
        parts = [f"{count} at {name}" for count, name in zip(counts, names, strict=True)]
        if len(parts) > 3:
            parts = [
                parts[0],
                f"{counts[-1]} at the end ({names[counts.index(counts[-1])]} is the first point with as many)",
            ]
        many = "position" if len(judged) == 1 else "positions"
        title = f"Of {len(judged)} answerable {many}, right if read out: {listed(parts)}"
    else:
        same = int((seen.guess.values[0] == seen.guess.values[-1]).sum())
        title = f"Read out at once, {same} of {len(seen.tokens)} positions already say what they say at the end"
    caption = (
        f"The input {text}, read out at each point of the stream, from the embedding (top) to the end (bottom). Each "
        "cell names the "
        "token with the highest probability; its colour is the probability of the right tokens there, from 0 to 1, "
        "and grey cells "
        "are positions that the rule leaves free. "
        f"{'The final norm is applied at each point. ' if seen.normed else ''}The last row is "
        "the model's own answer and exact; the rows above ask a question the model was not trained to answer, so a "
        "wrong token there "
        "does not mean that the information is missing."
    )
    return Words(title, caption, f"A table of the most probable token by point and position on {text}. {title}.")
