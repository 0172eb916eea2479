"""How a text goes on, and how the model would have it go on."""

import numpy as np

from glassformer.analyses import _clock, _passage
from glassformer.analyses._options import Member, Seed, Sequence, Step, Temperature
from glassformer.analyses._pairs import placed
from glassformer.analyses._result import Array, Labelled, Result, fate, result, thousands
from glassformer.run import Run

ORDER = 80
ANSWERS = ("2.N",)
COST = "b"
APPLIES = (_passage.reason,)
LONG = 40  # tokens of the continuation
LINES = ("text", "expected", "greedy", "sampled")


@result
class Continuation(Result):
    """A passage of the validation text after a prompt, beside what the model expects and what it writes."""

    chance: Labelled  # (position,): the model's probability of the token that really follows, given the text before it
    loss: Labelled  # (position,): minus its logarithm
    words: dict[str, tuple[str, ...]]  # line → tokens: the text; the likeliest, given the text; two free continuations
    agrees: dict[str, tuple[bool, ...]]  # line → whether it has the very token; of a free one, until it first has not
    prompt: str  # for reading, as the next
    reading: dict[str, str]  # line → the free continuations as running texts
    held_out: bool
    temperature: float

    @property
    def known(self) -> bool:
        """Whether the model's answers are numbers."""
        return bool(np.isfinite(self.chance.values).all())

    @property
    def title(self) -> str:
        """How often the likeliest token is the one that follows, and how far the model's own text keeps to it."""
        if not self.known:
            return fate("the probabilities are not numbers", self.step)
        right, kept, many = sum(self.agrees["expected"]), sum(self.agrees["greedy"]), len(self.chance.values)
        alone = (
            "leaves the passage at once"
            if kept == 0
            else f"keeps to the passage for {kept} token{'s' if kept > 1 else ''}"
            if kept < many
            else "keeps to the passage throughout"
        )
        return (
            f"At step {thousands(self.step or 0)} the likeliest token is the true one {right} times in {many} "
            f"(mean loss {self.loss.values.mean():.2f} nats); writing by itself, the model {alone}"
        )


def continuation(
    run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0, seed: Seed = 0,
    temperature: Temperature = 1.0,
) -> Continuation:  # fmt: skip
    """What follows a prompt in the validation text (the first line, or `sequence`, where it first occurs)."""
    now, context = _clock.resolve(run, step), run.architecture.context
    passage = _passage.after(run, sequence, max(context - LONG, min(8, context - 1), 1), LONG)
    prompt, follows = passage.tokens[: passage.first], passage.tokens[passage.first :]
    expected = _passage.expected(run, passage, now, member)
    chance = np.take_along_axis(expected, follows[:, None], axis=1)[:, 0]
    long = len(follows)
    if np.isfinite(expected).all():
        likeliest = expected.argmax(axis=1)
        lines = [follows, likeliest]
        for heat in (0.0, temperature):
            said = run.generate(prompt, long, heat, seed=seed, step=now, member=member)
            lines.append(np.array(list(said)))
    else:
        lines, chance = [follows] * 4, np.full(long, np.nan)
    every = dict(zip(LINES, lines, strict=True))
    words = {line: tuple(run.task.vocabulary[int(token)] for token in ids) for line, ids in every.items()}
    places, known = placed(words["text"]), bool(np.isfinite(chance).all())
    with np.errstate(divide="ignore"):
        loss = -np.log(np.maximum(chance, 1e-30))
    return Continuation(
        **_clock.at_step(run, now, member),
        chance=Labelled(chance, {"position": places}, "probability"),
        loss=Labelled(loss, {"position": places}, "nats"),
        words=words,
        agrees={line: _agrees(line, ids, follows, known) for line, ids in every.items()},
        prompt=run.task.readable(prompt),
        reading={line: _after(run, prompt, every[line]) for line in ("greedy", "sampled")} if known else {},
        held_out=passage.held_out,
        temperature=temperature,
    )


def _after(run: Run, prompt: Array, ids: Array) -> str:
    """What was written after a prompt, for reading; what stands between the two belongs to it."""
    return run.task.readable(np.concatenate([prompt[-1:], ids])).removeprefix(run.task.readable(prompt[-1:]))


def _agrees(line: str, ids: Array, follows: Array, known: bool) -> tuple[bool, ...]:
    same = ids == follows
    same = same if line == "expected" else np.logical_and.accumulate(same)
    return tuple((same & known).tolist())
