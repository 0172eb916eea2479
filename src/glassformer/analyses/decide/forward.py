"""One input through the model, stage by stage: from token to probability, with the operands of each stage."""

from dataclasses import replace
from typing import Annotated

import numpy as np

from glassformer.analyses import _clock, _decide
from glassformer.analyses._options import Member, Option, Sequence, Step
from glassformer.analyses._pairs import at_position, shown
from glassformer.analyses._reel import MOST_FRAMES, Reel, strip
from glassformer.analyses._result import Result, fate, percent, result
from glassformer.analyses._stages import Part, parts
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 8
ANSWERS = ("3.§3.3.2", "3.§8", "3.§9")
COST = "a"
HOLD = 4  # frames of a film that a finished stage stands still


@result
class Forward(Result):
    """One stage of a pass: what goes in, what comes out, and of how many positions it has."""

    stage: int  # counted from 0
    stages: int
    part: Part
    filled: int  # positions computed so far
    tokens: tuple[str, ...]
    place: int  # the last position that can be answered
    said: str  # the token that is said there at the end of the pass
    chance: float  # and its probability
    verdict: str

    @property
    def title(self) -> str:
        """What the model says at the last position that has an answer, and whether that is right."""
        text = " ".join(map(shown, self.tokens))
        if not np.isfinite(self.chance):
            return fate(f"what the model computes on {text} is not a number", self.step)
        right = f", {self.verdict}" if self.verdict in ("right", "wrong") else ""
        after = at_position(self.tokens[self.place], self.place)
        return f"How {text} becomes {shown(self.said)} after {after} ({percent(self.chance)}{right}), step by step"


def forward(
    run: Run, *, sequence: Sequence = None,
    stage: Annotated[int, Option("which stage of the pass, counted from 0; -1 is the last", least=-1)] = -1,
    step: Step = -1, member: Member = 0,
) -> Forward:  # fmt: skip
    """A stage of the pass over one input and its operands: the first looks tokens up, the last gives probabilities."""
    found = _every(run, sequence, step, member)
    if not -1 <= stage < len(found):
        raise CallError(f"stage = {stage} is not between -1 and {len(found) - 1}")
    return found[stage]


def _every(run: Run, sequence: str | None, step: int, member: int) -> list[Forward]:
    """All stages, finished."""
    seen = run.trace(sequence, step=step, member=member)
    want, chances = _decide.asked(run, seen.tokens), seen["probabilities"]
    place, words, found = _decide.place(want, None), run.task.vocabulary, parts(run, seen, member)
    best, whole = int(chances[place].argmax()), bool(np.isfinite(chances).all())
    return [
        Forward(
            **_clock.at_step(run, seen.step, member),
            stage=k,
            stages=len(found),
            part=part,
            filled=len(seen.tokens),
            tokens=tuple(words[token] for token in seen.tokens),
            place=place,
            said=words[best],
            chance=float(chances[place, best]) if whole else float("nan"),
            verdict=want.verdicts(chances.argmax(-1))[place],
        )
        for k, part in enumerate(found)
    ]


def reel(
    run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0,
    frames: Annotated[int, Option("how many frames are shown; 0: all", least=0, most=MOST_FRAMES)] = 0,
) -> Reel:  # fmt: skip
    """Every stage of one pass in turn, filled position by position: the way is through the model, not through time."""
    every = _every(run, sequence, step, member)
    each = every[0].filled + HOLD
    shown_frames = list(range(len(every) * each))
    if 2 <= frames < len(shown_frames):
        shown_frames = sorted({round(k) for k in np.linspace(0, len(shown_frames) - 1, frames)})

    def at(frame: int) -> Forward:
        found = every[frame // each]
        return replace(found, filled=min(frame % each + 1, found.filled))

    return Reel(every[0].title, shown_frames, at, strip(run, member), {"whole": every[-1]})
