"""What every token of a passage costs: by the model, and by counting."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _passage
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Labelled, Result, Words, percent, thousands, result
from glassformer.run import Run

ORDER = 82
ANSWERS = ("new",)
COST = "c"
APPLIES = (_passage.reason,)


LONG = 240  # tokens of the passage
ENOUGH = 0.02  # nats per token below which two prices are called equal


@result
class TokenLoss(Result):
    """Per token of a passage of the validation text: the loss of the model and that of the best other predictor."""

    loss: Labelled  # (guess, place) in nats; guess: "model", and `other`
    tokens: tuple[str, ...]
    other: str  # "count table" or "exact predictor"
    most: float  # what a uniform guess costs
    held_out: bool


def token_loss(run: Run, *, step: int = -1, member: int = 0, tokens: int = LONG) -> TokenLoss:
    """The first lines of the validation text after one context, token by token."""
    now = _clock.resolve(run, step)
    passage = _passage.stretch(run, tokens)
    ids = passage.tokens[passage.first :]
    model = _passage.expected(run, passage, now, member)
    truth = run.task.true_distribution(passage.tokens[:-1], run.architecture.context)[passage.first - 1 :]
    loss = [-np.log(np.maximum(np.take_along_axis(each, ids[:, None], 1)[:, 0], 1e-30)) for each in (model, truth)]
    words = tuple(run.task.vocabulary[token] for token in ids)
    other = "exact predictor" if run.task.exact else "count table"
    return TokenLoss(
        step=now,
        clock=_clock.text(run, step, member),
        loss=Labelled(np.array(loss), {"guess": ("model", other), "place": placed(words)}, "nats"),
        tokens=words,
        other=other,
        most=float(np.log(len(run.task.vocabulary))),
        held_out=passage.held_out,
    )


def say(seen: TokenLoss) -> Words:
    """Who pays less for the passage, and where the model pays most."""
    model, other = seen.loss.values
    where = "that training never saw" if seen.held_out else "of the training text itself"
    table = (
        "the best table of counts (what followed the last few tokens in training)"
        if seen.other == "count table"
        else "the exact predictor, which knows all that can be known"
    )
    caption = (
        f"A passage {where}, written out. Each token is shaded by what it costs, −ln p of the token that came, in "
        f"nats; left by the model, right by {table}. The map runs from 0 to ln V = {seen.most:.2f}, the price of a "
        "uniform guess; dearer tokens have the colour of its end. The model sees at least half a window before each "
        "token, where there is so much. Exact numbers for this one passage; another may differ."
    )
    step = thousands(seen.step or 0)
    if not np.isfinite(model).all():
        title = f"At step {step} the model's probabilities are not numbers, so only the {seen.other} has a price"
        return Words(title, caption, f"A text shaded by its price, token by token. {title}.")
    gap = model.mean() - other.mean()
    verdict = "as much as" if abs(gap) < ENOUGH else "more than" if gap > 0 else "less than"
    title = (
        f"At step {step} this passage costs the model {model.mean():.2f} nats per token, {verdict} the {seen.other} "
        f"({other.mean():.2f})"
    )
    if abs(gap) >= ENOUGH:
        title += f"; {percent(float(np.mean(model < other)))} of its tokens are cheaper"
    worst = int(np.argmax(model))
    alt = f"A text shaded by its price, token by token, twice. {title}. Dearest: “{shown(seen.tokens[worst])}”."
    return Words(title, caption, alt)
