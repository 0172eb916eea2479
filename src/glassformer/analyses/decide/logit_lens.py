"""When the answer appears: what would be said if the stream were read out at each named point."""

from dataclasses import dataclass

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _decide
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, result
from glassformer.run import Run

ORDER = 80
ANSWERS = ("new",)
COST = "a"

LIKELY = 10  # tokens whose probability is told at each point, for one position
PLAIN = {
    "embedded": "after embedding", "middle": "after attention", "normed_1": "after attention",
    "out": "after feed-forward", "normed_2": "after feed-forward",
}  # fmt: skip


@result
class LogitLens(Result):
    """The read-out, applied before it is due."""

    right: Labelled  # (point, position): probability of the right tokens; NaN: the rule leaves the position free
    best: Labelled  # (point, position): probability of the most probable token
    guess: Labelled  # (point, position): id of the most probable token
    said: tuple[tuple[str, ...], ...]  # (point, position): the most probable token
    chances: Labelled  # (point, token): at the position `place`, the tokens that get likely at some point
    place: int  # the last position that can be answered
    verdicts: tuple[tuple[str, ...], ...]  # (point, position)
    wanted: tuple[tuple[str, ...], ...]  # the right tokens of each position; none where the rule leaves it free
    tokens: tuple[str, ...]
    normed: bool  # whether the final norm was applied at each point

    @property
    def points(self) -> tuple[str, ...]:
        """The points in words."""
        return tuple(_plain(name) for name in self.right.axes["point"].labels)

    @property
    def judged(self) -> tuple[int, ...]:
        """The positions with an answer to check."""
        return tuple(k for k, verdict in enumerate(self.verdicts[-1]) if verdict in ("right", "wrong"))


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
    words, place = run.task.vocabulary, _decide.place(want, None)
    likely = sorted(np.argsort(-np.nan_to_num(chances[:, place]).max(0), kind="stable")[:LIKELY].tolist())
    return LogitLens(
        step=seen.step,
        clock=_clock.text(run, seen.step, member),
        right=Labelled(right, axes, "probability"),
        best=Labelled(chances.max(-1), axes, "probability"),
        guess=Labelled(guess, axes, "token id"),
        said=tuple(
            tuple(run.task.vocabulary[k] if p in want.places else "" for p, k in enumerate(row)) for row in guess
        ),
        chances=Labelled(
            chances[:, place][:, likely],
            {"point": axes["point"], "token": tuple(words[k] for k in likely)},
            "probability",
        ),
        place=place,
        verdicts=tuple(want.verdicts(row) for row in guess),
        wanted=tuple(
            tuple(words[k] for k in np.flatnonzero(each)) if sure else ()
            for each, sure in zip(want.allowed, settled, strict=True)
        ),
        tokens=tokens,
        normed=a.final_norm,
    )


def _plain(name: str) -> str:
    """`middle, block 1` → after attention 1."""
    point, _, block = name.partition(", block")
    return f"{PLAIN[point]}{block}"


def _when(seen: LogitLens) -> str:
    """At which point how many answers are right."""
    judged, names = seen.judged, seen.points
    counts = [sum(row[k] == "right" for k in judged) for row in seen.verdicts]
    if len(judged) == 1:
        k = judged[0]
        early, late = (percent(float(seen.right.values[row, k])) for row in (0, -1))
        answer = f"the right answer {shown(seen.wanted[k][0])}" if len(seen.wanted[k]) == 1 else "a right answer"
        return f"Read out {names[0]}, {answer} would have a probability of {early}; at the end it has {late}"
    last, all_of = counts[-1], f"of {len(judged)} answers"
    best, begin = max(counts), counts.index(last)
    end = f"{last or 'none'} {_are(last)}"
    if best > last:
        return f"Read out {names[counts.index(best)]}, {best} {all_of} would be right; at the end {end}"
    if begin == 0:
        return f"Wherever it is read out, {last or 'none'} {all_of} {_are(last)} right"
    before = f"at most {max(counts[:begin])}" if max(counts[:begin]) else "none"
    if begin == len(counts) - 1 and names[begin].startswith(PLAIN["out"]) and counts[-2] == max(counts[:-1]):
        before = f"only {counts[-2]}" if counts[-2] else "none"
        fed = names[begin].removeprefix("after ")
        return f"{last} {all_of} {_are(last)} right at the end; without the {fed} {before} would be"
    return f"Only {names[begin]} {_are(last)} {last} {all_of} right; read out earlier, {before} would be"


def _are(count: int) -> str:
    return "is" if count < 2 else "are"


def say(seen: LogitLens) -> Words:
    """When the answer appears."""
    text = " ".join(map(shown, seen.tokens))
    if not np.isfinite(seen.best.values).all():
        title = f"At step {seen.step} the probabilities are not numbers: the training has diverged"
    elif seen.judged:
        title = _when(seen)
    else:
        same = int((seen.guess.values[0] == seen.guess.values[-1]).sum())
        title = f"Read out at once, {same} of {len(seen.tokens)} positions already say what they say at the end"
    caption = (
        f"The input {text}, read out at each point of the stream (rows) as if all that follows were skipped; so “after "
        "attention” is without the feed-forward, while the regions of `residual` and `landscape` include it. Cells "
        "name "
        "the likeliest token; colours are the probability of the right one, which stands above; grey: nothing is "
        "asked. "
        "Where one position alone is asked, the columns are tokens. "
        f"{'The final norm is applied at each point. ' if seen.normed else ''}The last row is the model's own answer. "
        "The rows above ask what the model was not trained for: a wrong token there does not mean that the information "
        "is missing."
    )
    return Words(title, caption, f"A table of what is read out at each point on {text}. {title}.")
