"""What every token of a passage costs: by the model, and by counting."""

import numpy as np

from glassformer.analyses import _applies, _clock, _passage
from glassformer.analyses._options import Member, Step
from glassformer.analyses._pairs import placed
from glassformer.analyses._result import Labelled, Result, fate, percent, result, thousands
from glassformer.run import Run

ORDER = 82
ANSWERS = ("new",)
COST = "c"
APPLIES = (_passage.reason, _applies.choice)
LONG = 240  # tokens of the passage
ENOUGH = 0.02  # nats per token below which two prices are called equal


@result
class TokenLoss(Result):
    """Per token of a passage of the validation text: the loss of the model and that of the best other predictor."""

    loss: Labelled  # (quantity, position) in nats: of the "model", and of `other`
    cheaper: float  # share of the tokens that cost the model less than the other
    tokens: tuple[str, ...]
    other: str  # "count table" or "exact predictor"
    most: float  # what a uniform guess costs
    held_out: bool

    @property
    def title(self) -> str:
        """Who pays less for the passage, and how often."""
        model, other = self.loss.values.mean(axis=1)
        if not np.isfinite(model):
            return fate("the model's probabilities are not numbers", self.step)
        gap = model - other
        verdict = "about as much as" if abs(gap) < ENOUGH else "more than" if gap > 0 else "less than"
        often = f"; {percent(self.cheaper)} of its tokens are cheaper" if abs(gap) >= ENOUGH else ""
        return (
            f"At step {thousands(self.step or 0)} this passage costs the model {model:.2f} nats per token, {verdict} "
            f"the {self.other} ({other:.2f}){often}"
        )


def token_loss(run: Run, *, step: Step = -1, member: Member = 0, tokens: int = LONG) -> TokenLoss:
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
        **_clock.at_step(run, now, member),
        loss=Labelled(np.array(loss), {"quantity": ("model", other), "position": placed(words)}, "nats"),
        cheaper=float(np.mean(loss[0] < loss[1])),
        tokens=words,
        other=other,
        most=float(np.log(len(run.task.vocabulary))),
        held_out=passage.held_out,
    )
