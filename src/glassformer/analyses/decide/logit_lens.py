"""When the answer appears: what would be said if the stream were read out at each named point."""

import numpy as np

from glassformer.analyses import _clock, _decide
from glassformer.analyses._options import Member, Sequence, Step
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Array, Labelled, Result, fate, percent, result
from glassformer.analyses._verdicts import judged
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
    coming: tuple[str, ...]  # the token that follows each position in the input; empty: none does, or none is asked for
    on_coming: Labelled  # (point, position): its probability
    chances: Labelled  # (point, token): at the position `place`, the tokens that get likely at some point
    place: int  # the last position that can be answered
    verdicts: tuple[tuple[str, ...], ...]  # (point, position)
    wanted: tuple[tuple[str, ...], ...]  # the right tokens of each position; none where the rule leaves it free
    tokens: tuple[str, ...]
    normed: bool  # whether the final norm was applied at each point
    answers: int  # tokens that can be answered

    @property
    def title(self) -> str:
        """When the answer appears."""
        if not np.isfinite(self.best.values).all():
            return fate("the probabilities are not numbers", self.step)
        if self.judged:
            return self._when()
        if not self.follows:
            same = int((self.guess.values[0] == self.guess.values[-1]).sum())
            return f"Read out at once, {same} of {len(self.tokens)} positions already say what they say at the end"
        early, late = (percent(float(np.nanmean(row))) for row in self.on_coming.values[[0, -1]])
        return f"Read out {self.points[0]}, the token that comes next would have {early} on average; at the end {late}"

    @property
    def points(self) -> tuple[str, ...]:
        """The points in words."""
        return self.right.axes["point"].labels

    @property
    def follows(self) -> bool:
        """Whether, with no answer to check, what comes next can be looked at: a text."""
        return not self.judged and any(self.coming)

    @property
    def judged(self) -> tuple[int, ...]:
        """The positions with an answer to check."""
        return tuple(judged(self.verdicts[-1]))

    @property
    def counts(self) -> list[int]:
        """How many of their answers are right at each point."""
        return [sum(row[k] == "right" for k in self.judged) for row in self.verdicts]

    def _when(self) -> str:
        """At which point how many answers are right."""
        judged, names, counts = self.judged, self.points, self.counts
        if len(judged) == 1:
            k = judged[0]
            early, late = (percent(float(self.right.values[row, k])) for row in (0, -1))
            answer = f"the right answer {shown(self.wanted[k][0])}" if len(self.wanted[k]) == 1 else "a right answer"
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


def logit_lens(run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0) -> LogitLens:
    """The most probable token at each point of the stream, on one input (the task's first showcase when None)."""
    a = run.architecture
    seen = run.trace(sequence, step=step, member=member)
    model = _decide.model(run, seen.tokens, seen.step, member)
    stream: dict[tuple[str, int | None], Array] = {("embedded", None): seen["embedded"]}
    post = a.norm_place == "post" and a.norm != "none"
    for block in range(a.blocks):
        if a.attention != "off":
            name = "normed_1" if post else "middle"
            stream[name, block] = seen[name][block]
        if a.feed_forward:
            name = "normed_2" if post else "out"
            stream[name, block] = seen[name][block]
    chances = np.stack([model.answer(each, "stream") for each in stream.values()])  # (point, position, token)
    guess = chances.argmax(-1)
    want = _decide.asked(run, seen.tokens)
    settled = want.constrained & want.answerable
    right = np.where(settled, (chances * want.allowed).sum(-1), np.nan)
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    words, place = run.task.vocabulary, _decide.place(want, None)
    coming = seen.tokens[1:].tolist() if run.task.answers == "next" else []
    on_coming = np.full(guess.shape, np.nan)
    for k, token in enumerate(coming):
        on_coming[:, k] = chances[:, k, token]
    axes = {"point": _decide.points(stream, a.blocks, PLAIN), "position": placed(tokens)}
    likely = sorted(np.argsort(-np.nan_to_num(chances[:, place]).max(0), kind="stable")[:LIKELY].tolist())
    return LogitLens(
        **_clock.at_step(run, seen.step, member),
        right=Labelled(right, axes, "probability"),
        best=Labelled(chances.max(-1), axes, "probability"),
        guess=Labelled(guess, axes, "token id"),
        said=tuple(tuple(words[k] if p in want.places else "" for p, k in enumerate(row)) for row in guess),
        coming=tuple(words[coming[k]] if k < len(coming) else "" for k in range(len(tokens))),
        on_coming=Labelled(on_coming, axes, "probability"),
        chances=Labelled(
            chances[:, place][:, likely],
            {"point": axes["point"], "token": tuple(words[k] for k in likely)},
            "probability",
        ),
        place=place,
        verdicts=tuple(want.verdicts(row) for row in guess),
        wanted=tuple(tuple(words[k] for k in each) for each in want.right),
        tokens=tokens,
        normed=a.final_norm,
        answers=a.answers,
    )


def _are(count: int) -> str:
    return "is" if count < 2 else "are"
