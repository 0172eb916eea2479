"""What the model writes when nobody corrects it: sequences with a verdict on every token."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._options import Frames, Member, Option, Pace, Seed, Shown, Step, Steps
from glassformer.analyses._reel import Reel, frames_of, strip
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, percent, result, thousands
from glassformer.analyses._verdicts import CODES, SAID, UNIT
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._rule import Rule

ORDER = 70
ANSWERS = ("4.04", "3.§11")
COST = "b"
REEL_APPLIES = (_applies.next_token,)  # one answer is soon written
Starts = Annotated[tuple[str, ...] | None, Option("texts to go on from, equally long in tokens; none: the task's own")]
NOTHING = "–"  # written where the probabilities are not numbers; its id is one more than the last token's
CHOICES = ("sampled", "arg-max")
SHOWN, COUNTED, QUESTIONS = 6, 40, 30  # sequences drawn, sequences counted, questions asked


@result
class Generated(Result):
    """Sequences written at a few steps from the same starts and with the same random numbers, and their verdicts."""

    tokens: Labelled  # (step, choice, window, position): token ids; the last of `vocabulary` is no token
    verdicts: Labelled  # (step, choice, window, position): codes, see `_verdicts`
    error: Labelled  # (step, choice): share of constrained tokens that are wrong, over all that were written
    counts: Labelled  # (step, choice, statistic): wrong, constrained
    vocabulary: tuple[str, ...]
    questions: tuple[str, ...]  # of a task with one answer; else none
    steps: tuple[int, ...]
    written: int  # sequences counted at each step and choice
    surprise: Labelled  # (step, choice, window, position): nats of each token when it was written; NaN for given ones
    cost: Labelled  # (step, choice): the mean of these

    @property
    def title(self) -> str:
        """The error of what was written, first and last; of a text, where nothing is right or wrong, what it cost."""
        first, last = (thousands(self.steps[k]) for k in (0, -1))
        if not self.truth_known:
            costs = self.cost.values
            if not np.isfinite(costs[-1]).all():
                return fate("the probabilities are not numbers")
            before = f" (step {first}: {costs[0, 0]:.2f})" if len(self.steps) > 1 else ""
            beside = f", the likeliest one {costs[-1, 1]:.2f}" if costs.shape[1] > 1 else ""
            return f"At step {last} a sampled token costs the model {costs[-1, 0]:.2f} nats on average{before}{beside}"
        if (self.tokens.values[-1] == len(self.vocabulary) - 1).any():
            return fate("nothing is written, for no probability is a number", self.steps[-1])
        constrained = self.counts.values[:, 0, 1]
        if not constrained[-1]:
            return f"At step {last} it never comes to a token that the rule constrains"
        what = "tokens it writes where the rule speaks" if self.held_out else "tokens it writes"
        what = "answers it gives" if self.questions else what
        wrong = [percent(float(error)) for error in self.error.values[:, 0]]
        more = len(self.steps) > 1 and constrained[0]
        told = f"{wrong[0]} are wrong at step {first} and {wrong[-1]}" if more else f"{wrong[-1]} are wrong"
        return f"Of the {what}, {told} at step {last} ({self.error.axes['choice'].labels[0]})"


def generated(
    run: Run, *, step: Step = -1, steps: Steps = None, member: Member = 0, tokens: int = 30, seed: Seed = 0,
    sequences: int = COUNTED, choices: tuple[str, ...] = CHOICES, starts: Starts = None,
) -> Generated:  # fmt: skip
    """`sequences` runs of `tokens` tokens at each step (default: the first and the chosen one); six are kept.

    `starts`: texts to go on from, equally long in tokens; None: first the words that the task names, then any that
    may begin a sequence.
    """
    at = sorted({int(run.steps[0]), _clock.resolve(run, step)}) if steps is None else _clock.chosen(run, steps)
    rng = np.random.default_rng([seed, run.task.seed])
    sequences = sequences if run.task.exact else SHOWN  # of a text there is nothing to count
    one = run.task.answers == "one"
    if one:
        sequences, tokens = QUESTIONS, 1
        asked = np.array([run.task.sample(rng, 0) for _ in range(sequences)])
        begun = asked[:, :-1]
    else:
        begun = np.array([run.task.sample(rng, 1)[:1] for _ in range(sequences)])
        begun[: len(run.task.starts)] = [run.task.encode(text) for text in run.task.starts[:sequences]] or begun[:0]
        if starts is not None:
            begun = _given(run, starts)
            sequences = len(begun)
    luck = rng.random((sequences, tokens))
    ids, verdicts, counts, surprises = [], [], [], []
    for each in at:
        for choice in choices:
            texts, cost = _write(run, begun, luck if choice == "sampled" else None, tokens, each, member)
            lost = np.isnan(cost) & (np.arange(texts.shape[1]) >= begun.shape[1])  # none is likeliest of no numbers
            written = np.where(lost, len(run.task.vocabulary), texts)
            surprises.append(cost[:, -1:] if one else cost[:SHOWN])
            ids.append(written[:, -1:] if one else written[:SHOWN])
            judged = [
                [None if gone else said for said, gone in zip(run.task.verify(text), row, strict=True)]
                for text, row in zip(texts, lost, strict=True)
            ]
            if one:
                judged = [said[-1:] for said in judged]
            wrong = sum(said.count(False) for said in judged)
            counts.append([wrong, wrong + sum(said.count(True) for said in judged)])
            codes = [
                [CODES["none"] if p < begun.shape[1] and not one else CODES[SAID[v]] for p, v in enumerate(said)]
                for said in judged
            ]
            kept = np.where(lost[:, -1:] if one else lost, CODES["none"], codes)
            kept = kept if one else kept[:SHOWN]
            if not one and run.task.measure == "rule_error":
                asked = np.isin(kept, [CODES["right"], CODES["wrong"]])
                kept[_out_of_view(run, texts[:SHOWN], judged[:SHOWN]) & asked] = CODES["not_in_view"]
            verdicts.append(kept)
    shape = (len(at), len(choices))
    many, long = ids[0].shape
    axes: dict[str, Any] = {"step": at, "choice": choices}
    number = np.array(counts, dtype=float).reshape(*shape, 2)
    surprise = np.array(surprises).reshape(*shape, many, long)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = number[..., 0] / number[..., 1]
        cost = np.nansum(surprise, axis=(2, 3)) / np.isfinite(surprise).sum(axis=(2, 3))
    places = axes | {"window": numbers(many), "position": numbers(long)}
    return Generated(
        **_clock.at_step(run, at[-1], member),
        **_judged.about(run),
        tokens=Labelled(np.array(ids).reshape(*shape, many, long), places, "token id"),
        verdicts=Labelled(np.array(verdicts).reshape(*shape, many, long), places, UNIT),
        error=Labelled(error, axes, "share"),
        counts=Labelled(number, axes | {"statistic": ("wrong", "constrained")}, "tokens"),
        vocabulary=(*run.task.vocabulary, NOTHING),
        questions=tuple(run.task.decode(q) for q in begun) if one else (),
        steps=tuple(at),
        written=sequences,
        surprise=Labelled(surprise, places, "nats"),
        cost=Labelled(cost, axes, "nats per token"),
    )


def _given(run: Run, starts: Sequence[str]) -> Array:
    """(window, position): the beginnings asked for."""
    starts = [starts] if isinstance(starts, str) else starts
    tokens = [run.task.encode(text) for text in starts]
    if not tokens or len({len(each) for each in tokens}) > 1 or not len(tokens[0]):
        long = ", ".join(f"{text!r} {len(each)}" for text, each in zip(starts, tokens, strict=True)) or "there are none"
        raise CallError(f"starts must all have the same number of tokens, one or more ({long}); draw them one by one")
    return np.array(tokens)


def _write(run: Run, starts: Array, luck: Array | None, tokens: int, step: int, member: int) -> tuple[Array, Array]:
    """(window, position) twice: what goes on from the starts, and what each token cost; NaN for the starts.

    `luck` holds one random number per token, None takes the likeliest.
    """
    place = run.architecture.read_position
    texts, cost = starts, np.full(starts.shape, np.nan)
    for k in range(tokens if place is not None else max(tokens - starts.shape[1], 1)):
        seen = run.trace(texts[:, -run.architecture.context :], step=step, member=member)["probabilities"]
        chances = seen[:, -1 if place is None else place].astype(np.float64)
        said = pick(chances, None if luck is None else luck[:, k])
        texts = np.column_stack([texts, said])
        cost = np.column_stack([cost, -np.log(np.maximum(chances[np.arange(len(said)), said], 1e-30))])
    return texts, cost


def pick(chances: Array, luck: Array | None) -> Array:
    """One token per row: the likeliest, or where the row's random number falls among the summed probabilities."""
    if luck is None:
        return chances.argmax(axis=-1)
    upto = np.cumsum(chances, axis=-1)
    return np.minimum((luck[:, None] * upto[:, -1:] >= upto).sum(axis=-1), chances.shape[-1] - 1)


def _out_of_view(run: Run, texts: Array, judged: list[list[bool | None]]) -> Array:
    """(window, position): whether the model's window did not settle the token at this place.

    A window that holds a mistake is read as it stands: no sequence that obeys the rule looks like it.
    """
    context, task = run.architecture.context, run.task
    found = np.zeros(texts.shape, dtype=bool)
    for row, text in enumerate(texts):
        early = task.answerable(text[:context])  # windows of one length: what is known of them is kept
        for place in (place for place in range(1, len(text)) if judged[row][place] is not None):
            begin = max(place - context, 0)
            if False in judged[row][begin:place] and isinstance(task, Rule):
                known = task.settles(text[begin:place])
            else:
                known = bool(early[place - 1] if begin == 0 else task.answerable(text[begin:place])[-1])
            found[row, place] = not known
    return found


def reel(
    run: Run, *, member: Member = 0, seed: Seed = 0, frames: Frames = 200, pace: Pace = "even", steps: Shown = None
) -> Reel:
    """Six sequences, written anew at every frame with the same random numbers."""
    tokens = 24 if max(map(len, run.task.vocabulary)) <= 2 else 12
    ends = (int(run.steps[0]), _clock.resolve(run))

    drawn = CHOICES[:1]

    def at(step: int) -> Generated:
        return generated(run, steps=(step,), member=member, seed=seed, tokens=tokens, sequences=SHOWN, choices=drawn)

    whole = generated(run, steps=ends, member=member, seed=seed, choices=drawn)
    return Reel(whole.title, frames_of(run, frames, pace, steps, member), at, strip(run, member), {"last": at(-1)})
