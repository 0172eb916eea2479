"""Writing, token by token: what is in view, what is likely, what was drawn, and how surprising that was."""

from typing import Any

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._options import Member, Seed, Sequence, Step
from glassformer.analyses._result import Axis, Labelled, Result, fate, result, thousands
from glassformer.analyses._verdicts import NONE, SAID
from glassformer.analyses.learn.generated import NOTHING, pick
from glassformer.run import Run

ORDER = 100
ANSWERS = ("3.§11",)
COST = "b"
APPLIES = (_applies.next_token,)
ROWS, TOP = 12, 3


@result
class Unrolled(Result):
    """One sequence as it is written: for each token the probabilities, which was drawn, and its surprise."""

    chances: Labelled  # (position, token)
    top: Labelled  # (position, rank): probabilities of the three likeliest
    likeliest: tuple[tuple[str, ...], ...]  # per position the three likeliest tokens
    chance: Labelled  # (position,): probability of the token that was drawn
    surprise: Labelled  # (position,): minus its logarithm
    verdict: tuple[str, ...]  # per position: right, wrong, unconstrained; none where nothing is drawn
    tokens: tuple[str, ...]  # prompt, then what was written
    prompt: int  # tokens of the prompt
    context: int

    @property
    def title(self) -> str:
        """The mean surprise, and the verdicts."""
        surprise = self.surprise.values
        if not np.isfinite(surprise).all():
            return fate("the probabilities are not numbers, so nothing can be drawn", self.step)
        asked = [k for k, v in enumerate(self.verdict) if v != "unconstrained"]
        free = [k for k, v in enumerate(self.verdict) if v == "unconstrained"]
        parts = []
        if asked:
            good, each = self.verdict.count("right"), f"{surprise[asked].mean():.2f} nats of surprise each"
            kind = "constrained tokens" if self.held_out else "tokens"
            parts.append(f"{good} of {len(asked)} {kind} are right, at {each}")
        if free:
            kind = "free ones" if asked else "free tokens" if self.truth_known else "tokens"
            parts.append(f"{len(free)} {kind} cost {surprise[free].mean():.2f} nats each")
        return f"At step {thousands(self.step or 0)}, {'; '.join(parts)}"


def unrolled(run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0, seed: Seed = 0) -> Unrolled:
    """Twelve tokens after a prompt (default: the first two of the first showcase), drawn at temperature 1."""
    now, context = _clock.resolve(run, step), run.architecture.context
    text = run.tokens(sequence)
    if sequence is None:
        text = text[:2]
    prompt = len(text)
    luck = np.random.default_rng([seed, run.task.seed, 1]).random(ROWS)
    rows, likeliest, drawn = [], [], []
    for k in range(ROWS):
        chances = run.trace(text[-context:], step=now, member=member)["probabilities"][-1].astype(np.float64)
        if not np.isfinite(chances).all():
            chances = np.full(len(chances), np.nan)
            token = 0
        else:
            token = int(pick(chances[None], luck[k : k + 1])[0])
        rows.append(chances)
        likeliest.append(np.argsort(-chances, kind="stable")[:TOP])
        drawn.append(chances[token])
        text = np.append(text, token)
    chances, known = np.array(rows), [*[True] * prompt, *np.isfinite(drawn)]  # of no numbers, none is drawn or likely
    words = run.task.vocabulary
    tokens = tuple(words[token] if there else NOTHING for token, there in zip(text, known, strict=True))
    verdicts = [SAID[said] if there else NONE for said, there in zip(run.task.verify(text), known, strict=True)]
    written: dict[str, Any] = {"position": Axis(tuple(range(prompt, len(text))), tokens[prompt:])}
    ranks = {"rank": range(1, len(likeliest[0]) + 1)}
    return Unrolled(
        **_clock.at_step(run, now, member),
        **_judged.about(run),
        chances=Labelled(chances, written | {"token": words[: chances.shape[1]]}, "probability"),
        top=Labelled(np.take_along_axis(chances, np.array(likeliest), axis=1), written | ranks, "probability"),
        likeliest=tuple(
            tuple(words[token] if there else NOTHING for token in some)
            for some, there in zip(likeliest, known[prompt:], strict=True)
        ),
        chance=Labelled(np.array(drawn), written, "probability"),
        surprise=Labelled(-np.log(np.maximum(drawn, 1e-30)), written, "nats"),
        verdict=tuple(verdicts[prompt:]),
        tokens=tokens,
        prompt=prompt,
        context=context,
    )
