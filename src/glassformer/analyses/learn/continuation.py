"""How a text goes on, and how the model would have it go on."""

from dataclasses import dataclass

import numpy as np

from glassformer import generation
from glassformer.analyses import _clock, _passage
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Labelled, Result, Words, numbers, percent, thousands, result
from glassformer.architecture import nest
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

    chance: Labelled  # (place,): the model's probability of the token that really follows, given the text before it
    loss: Labelled  # (place,): minus its logarithm
    ids: Labelled  # (line, place): the text; the likeliest at each place, given the text; two free continuations
    prompt: str
    vocabulary: tuple[str, ...]
    held_out: bool
    temperature: float

    def words(self, line: str) -> tuple[str, ...]:
        """The tokens of a line."""
        return tuple(self.vocabulary[int(token)] for token in self.ids.values[LINES.index(line)])

    @property
    def known(self) -> bool:
        """Whether the model's answers are numbers."""
        return bool(np.isfinite(self.chance.values).all())

    def agrees(self, line: str) -> tuple[bool, ...]:
        """Per place: whether a line has the token that really follows; of a free text, up to where it first has not."""
        values = self.ids.values
        same = values[LINES.index(line)] == values[0]
        same = same if line == "expected" else np.logical_and.accumulate(same)
        return tuple((same & self.known).tolist())


def continuation(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    seed: int = 0,
    temperature: float = 1.0,
) -> Continuation:
    """What follows a prompt in the validation text (the first line, or `sequence`, where it first occurs)."""
    now, context = _clock.resolve(run, step), run.architecture.context
    passage = _passage.after(run, sequence, max(context - LONG, min(8, context - 1), 1), LONG)
    prompt, follows = passage.tokens[: passage.first], passage.tokens[passage.first :]
    expected = _passage.expected(run, passage, now, member)
    chance = np.take_along_axis(expected, follows[:, None], axis=1)[:, 0]
    params, long = nest(run.weights(now, member)), len(follows)
    if np.isfinite(expected).all():
        likeliest = expected.argmax(axis=1)
        lines = [follows, likeliest]
        for choice in (generation.Choice(temperature=0), generation.Choice(temperature=temperature)):
            rng = np.random.default_rng(seed)
            lines.append(np.array(list(generation.go_on(params, run.architecture, prompt.tolist(), long, choice, rng))))
    else:
        lines, chance = [follows] * 4, np.full(long, np.nan)
    places = placed([run.task.vocabulary[token] for token in follows])
    with np.errstate(divide="ignore"):
        loss = -np.log(np.maximum(chance, 1e-30))
    return Continuation(
        step=now,
        clock=_clock.text(run, step, member),
        chance=Labelled(chance, {"place": places}, "probability"),
        loss=Labelled(loss, {"place": places}, "nats"),
        ids=Labelled(np.array(lines), {"line": LINES, "place": numbers(long)}, "token id"),
        prompt=run.task.decode(prompt),
        vocabulary=tuple(run.task.vocabulary),
        held_out=passage.held_out,
        temperature=temperature,
    )


def say(seen: Continuation) -> Words:
    """How often the likeliest token is the one that follows, and how far the model's own text keeps to it."""
    where = "that training never saw" if seen.held_out else "that training has seen, as all of it"
    caption = (
        f"A passage of the text {where}. First row: what really follows the prompt, each token shaded by the "
        "probability the model gives it when it has read the true text up to there. Second row: the likeliest token "
        "at the same place, from the same true text. Third and fourth row: what the model writes by itself after the "
        "prompt, taking the likeliest token each time, or drawing one (temperature "
        f"{seen.temperature:g}, one fixed draw). A check marks a token that is the same as in the text; in the model's "
        "own texts up to where they leave it, for what agrees further on is chance. Exact numbers for this one "
        "passage. A different text is not a wrong one."
    )
    chance, step = seen.chance.values, thousands(seen.step or 0)
    if not seen.known:
        title = f"At step {step} the probabilities are not numbers, so the model goes on with nothing"
        return Words(title, caption, f"A passage of the text, without predictions. {title}.")
    many, right = len(chance), sum(seen.agrees("expected"))
    kept = sum(seen.agrees("greedy"))
    alone = (
        "leaves the text at once"
        if kept == 0
        else f"keeps to the text for {kept} token{'s' if kept > 1 else ''}"
        if kept < many
        else "keeps to the text throughout"
    )
    title = (
        f"At step {step} the likeliest token is the true one {right} times in {many} "
        f"(mean loss {seen.loss.values.mean():.2f} nats); writing by itself, the model {alone}"
    )
    best = int(np.argmax(seen.loss.values))
    alt = (
        f"Rows of tokens after a prompt: the text, the model's guesses, two texts of its own. {title}. The greatest "
        f"surprise is “{shown(seen.words('text')[best])}”, which had a probability of {percent(float(chance[best]))}."
    )
    return Words(title, caption, alt)
