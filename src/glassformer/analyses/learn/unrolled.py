"""Writing, token by token: what is in view, what is likely, what was drawn, and how surprising that was."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._result import Labelled, Result, Words, numbers, thousands, result
from glassformer.analyses.learn.generated import pick
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 100
ANSWERS = ("3.§11",)
COST = "b"
APPLIES = (_applies.next_token,)


ROWS, TOP = 12, 3


@result
class Unrolled(Result):
    """One sequence as it is written: at each row the probabilities, the drawn token and its surprise."""

    chances: Labelled  # (row, token)
    top: Labelled  # (row, rank, number): token id, probability; the three likeliest
    chosen: Labelled  # (row, number): token id, probability, surprise in nats
    verdict: tuple[str, ...]  # per row: right, wrong, unconstrained
    tokens: tuple[str, ...]  # prompt, then what was written
    prompt: int  # tokens of the prompt
    context: int


def unrolled(run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0, seed: int = 0) -> Unrolled:
    """Twelve tokens after a prompt (default: the first token of the first showcase), drawn at temperature 1."""
    if run.task.answers != "next":
        raise CallError(f"task {run.experiment.task_name} has one answer and writes no sequence")
    now, context = _clock.resolve(run, step), run.architecture.context
    text = run.tokens(sequence)
    if sequence is None:
        text = text[:2]
    prompt = len(text)
    luck = np.random.default_rng([seed, run.task.seed, 1]).random(ROWS)
    rows, top, chosen = [], [], []
    for k in range(ROWS):
        chances = run.trace(text[-context:], step=now, member=member)["probabilities"][-1].astype(np.float64)
        if not np.isfinite(chances).all():
            chances = np.full(len(chances), np.nan)
            token = 0
        else:
            token = int(pick(chances[None], luck[k : k + 1])[0])
        order = np.argsort(-chances, kind="stable")[:TOP]
        rows.append(chances)
        top.append([(int(t), chances[t]) for t in order])
        chosen.append((token, chances[token], -np.log(max(chances[token], 1e-30))))
        text = np.append(text, token)
    verdicts = run.task.verify(text)[prompt:]
    words = tuple(run.task.vocabulary)
    return Unrolled(
        step=now,
        clock=_clock.text(run, step, member),
        chances=Labelled(np.array(rows), {"row": numbers(ROWS), "token": words[: len(rows[0])]}, "probability"),
        top=Labelled(
            np.array(top, dtype=float),
            {"row": numbers(ROWS), "rank": numbers(len(top[0])), "number": ("token id", "probability")},
        ),
        chosen=Labelled(
            np.array(chosen, dtype=float),
            {"row": numbers(ROWS), "number": ("token id", "probability", "surprise (nats)")},
        ),
        verdict=tuple("unconstrained" if v is None else "right" if v else "wrong" for v in verdicts),
        tokens=tuple(words[int(t)] for t in text),
        prompt=prompt,
        context=context,
    )


def say(seen: Unrolled) -> Words:
    """The mean surprise, and the verdicts."""
    surprise = seen.chosen.values[:, 2]
    caption = (
        "Each row is one step of writing: the tokens so far (those in pale cells have fallen out of the window and are "
        "no longer seen; the heavy line is the edge of the window), the three likeliest next tokens with their "
        "probabilities, and the token that was drawn at temperature 1 (framed, or under “other”; appended to the next "
        "row) with its surprise, −ln p, in nats. Exact numbers, one fixed draw of random numbers. A model that knows "
        "the rule is not surprised where the rule leaves no choice."
    )
    step = thousands(seen.step or 0)
    if not np.isfinite(surprise).all():
        title = f"At step {step} the probabilities are not numbers, so nothing can be drawn"
    else:
        asked = [k for k, v in enumerate(seen.verdict) if v != "unconstrained"]
        free = [k for k, v in enumerate(seen.verdict) if v == "unconstrained"]
        parts = []
        if asked:
            good = sum(seen.verdict[k] == "right" for k in asked)
            parts.append(
                f"{good} of {len(asked)} constrained tokens are right, at {surprise[asked].mean():.2f} nats of "
                "surprise each"
            )
        if free:
            parts.append(f"{len(free)} free {'ones' if asked else 'tokens'} cost {surprise[free].mean():.2f} nats each")
        title = f"At step {step}, " + "; ".join(parts)
    return Words(title, caption, f"Twelve rows of a sequence being written, with bars. {title}.")
