"""What the model writes when nobody corrects it: sequences with a verdict on every token."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, percent, thousands, result
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks._rule import Rule

ORDER = 70
ANSWERS = ("4.04", "3.§11")
COST = "b"

VERDICTS = ("start or no token", "unconstrained", "right", "wrong", "not in view")  # the codes 0 to 4
NOTHING = "–"  # written where the probabilities are not numbers; its id is one more than the last token's
CHOICES = ("sampled", "arg-max")
SHOWN, COUNTED, QUESTIONS = 6, 40, 30  # sequences drawn, sequences counted, questions asked


@result
class Generated(Result):
    """Sequences written at a few steps from the same starts and with the same random numbers, and their verdicts."""

    tokens: Labelled  # (step, choice, sequence, place): token ids; the last of `vocabulary` is no token
    verdicts: Labelled  # (step, choice, sequence, place): codes, see VERDICTS
    error: Labelled  # (step, choice): share of constrained tokens that are wrong, over all that were written
    counts: Labelled  # (step, choice, number): wrong, constrained
    vocabulary: tuple[str, ...]
    questions: tuple[str, ...]  # of a task with one answer; else none
    steps: tuple[int, ...]
    written: int  # sequences counted at each step and choice
    surprise: Labelled  # (step, choice, sequence, place): nats of each token when it was written; NaN for given ones


def generated(
    run: Run,
    *,
    step: int = -1,
    steps: Sequence[int] | None = None,
    member: int = 0,
    tokens: int = 30,
    seed: int = 0,
    sequences: int = COUNTED,
    choices: Sequence[str] = CHOICES,
    starts: Sequence[str] | None = None,
) -> Generated:
    """`sequences` runs of `tokens` tokens at each step (default: the first and the chosen one); six are kept.

    `starts`: texts to go on from, equally long in tokens; None: first the words that the task names, then any that
    may begin a sequence.
    """
    at = (
        _clock.chosen(run, tuple(steps))
        if steps is not None
        else sorted({int(run.steps[0]), _clock.resolve(run, step)})
    )
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
            begun = _given(run, [starts] if isinstance(starts, str) else starts)
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
                [0 if p < begun.shape[1] and not one else 1 if v is None else 2 if v else 3 for p, v in enumerate(said)]
                for said in judged
            ]
            kept = np.where(lost[:, -1:], 0, codes) if one else np.where(lost, 0, codes)[:SHOWN]
            if not one and run.task.measure == "rule_error":
                kept[_out_of_view(run, texts[:SHOWN], judged[:SHOWN]) & (kept >= 2)] = 4
            verdicts.append(kept)
    shape = (len(at), len(choices))
    many, long = ids[0].shape
    axes = {"step": tuple(map(str, at)), "choice": tuple(choices)}
    number = np.array(counts, dtype=float).reshape(*shape, 2)
    with np.errstate(invalid="ignore"):
        error = number[..., 0] / number[..., 1]
    places = axes | {"sequence": numbers(many), "place": numbers(long)}
    return Generated(
        step=at[-1],
        clock=_clock.text(run, at[-1], member),
        truth_known=run.task.exact,
        tokens=Labelled(np.array(ids).reshape(*shape, many, long), places, "token id"),
        verdicts=Labelled(
            np.array(verdicts).reshape(*shape, many, long),
            places,
            ", ".join(f"{k} {v}" for k, v in enumerate(VERDICTS)),
        ),
        error=Labelled(error, axes, "share"),
        counts=Labelled(number, axes | {"number": ("wrong", "constrained")}, "tokens"),
        vocabulary=(*run.task.vocabulary, NOTHING),
        questions=tuple(run.task.decode(q) for q in begun) if one else (),
        steps=tuple(at),
        written=sequences,
        surprise=Labelled(np.array(surprises).reshape(*shape, many, long), places, "nats"),
    )


def _given(run: Run, starts: Sequence[str]) -> Array:
    """(sequence, place): the beginnings asked for."""
    tokens = [run.task.encode(text) for text in starts]
    if not tokens or len({len(each) for each in tokens}) > 1 or not len(tokens[0]):
        long = ", ".join(f"{text!r} {len(each)}" for text, each in zip(starts, tokens, strict=True)) or "there are none"
        raise CallError(f"starts must all have the same number of tokens, one or more ({long}); draw them one by one")
    return np.array(tokens)


def _write(run: Run, starts: Array, luck: Array | None, tokens: int, step: int, member: int) -> tuple[Array, Array]:
    """(sequence, place) twice: what goes on from the starts, and what each token cost; NaN for the starts.

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
        likeliest: Array = chances.argmax(axis=-1)
        return likeliest
    upto = np.cumsum(chances, axis=-1)
    fallen: Array = np.minimum((luck[:, None] * upto[:, -1:] >= upto).sum(axis=-1), chances.shape[-1] - 1)
    return fallen


def _out_of_view(run: Run, texts: Array, judged: list[list[bool | None]]) -> Array:
    """(sequence, place): whether the model's window did not settle the token at this place.

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


def say(seen: Generated) -> Words:
    """The error of what was written, first and last."""
    one = bool(seen.questions)
    caption = (
        f"{len(seen.questions)} questions, the same at every step, with the answer drawn at temperature 1 (sampled) "
        "and the likeliest one (arg-max). "
        if one
        else "Sequences that the model wrote by itself, each from a given beginning (plain cells); starts and random "
        "numbers are the same at every step, so what differs is the model. Sampled: at temperature 1. Arg-max: the "
        f"likeliest token each time. Errors printed are over {seen.written} such sequences, by the rule seen from the "
        "sequence's start. Hatched cells (∅): the rule speaks there, but what the model had in view does not settle "
        "the answer, so they may be right or wrong by luck; they are counted as what they are. "
    ) + "✓ right, ✗ wrong, grey: the rule leaves the token free. A model that only knows frequencies keeps its crosses."
    if not seen.truth_known:
        return _say_text(seen)
    errors, counts = seen.error.values[:, 0], seen.counts.values[:, 0]
    what = "answers it gives" if one else "tokens it writes where the rule speaks"
    how = seen.error.axes["choice"].labels[0]
    if (seen.tokens.values[-1] == len(seen.vocabulary) - 1).any():
        step = thousands(seen.steps[-1])
        title = f"At step {step} nothing is written, for no probability is a number: the training has diverged"
    elif not counts[-1, 1]:
        title = f"At step {thousands(seen.steps[-1])} it never comes to a token that the rule constrains"
    elif len(seen.steps) > 1 and counts[0, 1]:
        title = (
            f"Of the {what}, {percent(float(errors[0]))} are wrong at step {thousands(seen.steps[0])} and "
            f"{percent(float(errors[-1]))} at step {thousands(seen.steps[-1])} ({how})"
        )
    else:
        wrong = percent(float(errors[-1]))
        title = f"Of the {what}, {wrong} are wrong at step {thousands(seen.steps[-1])} ({how})"
    return Words(title, caption, f"Rows of tokens, each cell marked right, wrong or free. {title}.")


def _say_text(seen: Generated) -> Words:
    """How surprised the model is by its own words; of a text, nothing is right or wrong."""
    caption = (
        "Texts that the model wrote by itself, each from a given beginning (plain cells); starts and random numbers "
        "are the same at every step, so what differs is the model. Sampled: at temperature 1. Arg-max: the likeliest "
        "token each time, which soon repeats itself. A cell is the darker, the more the token surprised the model that "
        "wrote it: minus the logarithm of its probability. A sampled text that costs about as much per token as the "
        "model's entropy is what it takes for ordinary; whether a reader does is not measured here."
    )
    with np.errstate(invalid="ignore"):
        mean = np.nanmean(seen.surprise.values, axis=(2, 3))  # (step, choice)
    first, last = mean[0], mean[-1]
    if not np.isfinite(last).all():
        title = "The probabilities are not numbers: the training has diverged"
    else:
        title = f"At step {thousands(seen.steps[-1])} a sampled token costs the model {last[0]:.2f} nats on average"
        title += f" (step {thousands(seen.steps[0])}: {first[0]:.2f})" if len(seen.steps) > 1 else ""
        title += f", the likeliest one {last[1]:.2f}" if len(last) > 1 else ""
    return Words(title, caption, f"Rows of tokens, each cell shaded by its surprise. {title}.")
