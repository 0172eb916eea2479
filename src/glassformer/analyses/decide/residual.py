"""How attention moves each position: the stream before, what is added, and the stream after."""

from typing import Annotated, Any, Literal, get_args

import numpy as np

from glassformer.analyses import _applies, _decide, _land
from glassformer.analyses._land import Borders, Frame, Land, laid
from glassformer.analyses._options import Features, Frames, Member, Option, Pace, Sequence, Shown, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._plane import DIRECTIONS, Plane
from glassformer.analyses._reel import Reel, frames_of, strip
from glassformer.analyses._result import Labelled, capital, fate, numbers, result, thousands
from glassformer.errors import check_name
from glassformer.run import Run

ORDER = 20
ANSWERS = ("4.15", "4.r17", "4.S16")
COST = "b"
APPLIES = (_applies.plane, _applies.attention, _land.few_answers)
FILM, SHAPE = 56, 1.5  # places along a side of a film's map, and its width over its height
Style = Literal["stream", "values"]


@result
class Residual(Land):
    """What the last block's attention reads, adds and leaves behind, by position, and the same on a plane."""

    before: Labelled  # (position, feature)
    attended: Labelled  # (position, feature)
    middle: Labelled  # (position, feature)
    out: Labelled  # (position, feature)
    value: Labelled  # (head, key_position, feature): what each would add if it alone were looked at
    first: Labelled  # (position, token): probabilities if attention added nothing
    style: Style
    feed_forward: bool  # whether what it adds is drawn too
    has_residual: bool
    block: int

    @property
    def title(self) -> str:
        """From which region to which, and whether that is right."""
        if self.broken:
            return fate("the stream is not a number", self.step)
        does = "moves" if self.has_residual else "replaces"
        which = "attention" if self.block == 0 else f"the attention of block {self.block}"
        projection = " (projection)" if self.plane.is_projection else ""
        if not self.judged:
            far = np.linalg.norm(self.attended.values, axis=-1)
            k = int(far.argmax())
            return f"{capital(which)} {does} {self.name(k)} the most, by {far[k]:.2f}{projection}"
        place, token = self.judged[-1], self.name(self.judged[-1])
        a, b = (shown(self.words[int(each.values[place].argmax())]) for each in (self.first, self.at_end))
        if a == b:
            to = f"With and without {which}, {b} wins at {token}"
        elif self.plane.lossless and self.has_residual:
            to = f"{capital(which)} {does} {token} from where {a} wins to where {b} does"
        else:  # the model's answers, not regions that are drawn
            to = f"{capital(which)} changes the answer at {token} from {a} to {b}"
        right = sum(self.verdicts[k] == "right" for k in self.judged)
        are = "is" if right == 1 else "are"
        return f"{to}; {right} of {len(self.judged)} answerable positions {are} right{projection}"


def residual(
    run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0,
    style: Annotated[Style, Option("the stream before and after, or value, mix and sum only")] = "stream",
    feed_forward: Annotated[bool, Option("draw what the feed-forward adds, too")] = False, plane: Features = None,
    on: Plane | None = None, frame: Frame | None = None, grid: int = _land.GRID, borders: Borders = "smooth",
) -> Residual:  # fmt: skip
    """Where each position stands before and after the last block's attention, over the winning regions.

    Films and other analyses pass the plane `on` which to draw and the `frame`.
    """
    check_name(style, "style", get_args(Style))
    a = run.architecture
    found = laid(
        run, sequence=sequence, step=step, member=member, features=plane, plane=on, frame=frame, grid=grid,
        borders=borders,
    )  # fmt: skip
    seen = run.trace(sequence, step=step, member=member)
    block, flat = a.blocks - 1, found.ground.plane
    points, near = found.fields.pop("points"), found.fields.pop("near")
    here: dict[str, Any] = {"position": points["end"].axes["position"]}
    features, directions = {"feature": numbers(a.width)}, {"direction": DIRECTIONS}
    before, attended = _decide.entering(seen, block, a), seen["attended"][block]
    held = before * a.residual  # without a residual nothing else is passed on
    first = _decide.model(run, seen.tokens, seen.step, member).answer(held)
    heads = {"head": numbers(a.heads), "key_position": here["position"]}
    return Residual(
        **found.fields,
        points={name: points[name] for name in ("begin", "end", "value")}
        | {
            "attended": Labelled(flat.zero + flat.directions(attended), here | directions),
            "out": Labelled(flat.points(seen["out"][block]), here | directions),
        },
        near={name: near[name] for name in ("begin", "end", "value")},
        before=Labelled(before, here | features),
        attended=Labelled(attended, here | features),
        middle=Labelled(seen["middle"][block], here | features),
        out=Labelled(seen["out"][block], here | features),
        value=Labelled(_decide.pushes(run, seen, member)[0], heads | features),
        first=Labelled(first, here | {"token": found.fields["words"]}, "probability"),
        style=style,
        feed_forward=feed_forward,
        has_residual=a.residual,
        block=block,
    )


def reel(
    run: Run, *, sequence: Sequence = None, member: Member = 0, frames: Frames = 200, pace: Pace = "even",
    steps: Shown = None,
) -> Reel:  # fmt: skip
    """Each position before and after the last attention at each step, on one plane in one frame."""
    ages = frames_of(run, frames, pace, steps, member)
    plane = _land.fitted(run, sequence=sequence, step=ages[-1], member=member)
    frame = _land.over_life(run, plane, ages, sequence=sequence, member=member, shape=SHAPE)

    def at(step: int, grid: int = FILM, borders: Borders = "sharp") -> Residual:
        return residual(
            run, sequence=sequence, step=step, member=member, on=plane, frame=frame, grid=grid, borders=borders
        )

    first, last = (at(step, 2, "none") for step in (ages[0], ages[-1]))
    title = _turned(first, last) + (" (slice)" if last.is_slice else "")
    return Reel(title, ages, at, strip(run, member), {"last": last})


def _turned(first: Residual, last: Residual) -> str:
    """How many of this input's answers are right where attention moves them, first and last."""
    text = " ".join(map(shown, last.tokens))
    asked = [k for k, right in enumerate(last.right) if right]
    if not asked or last.broken:
        return f"Where attention moves each position of {text}"
    right = [sum(each.verdicts[k] == "right" for k in asked) for each in (first, last)]
    ends = [f"at step {thousands(each.step or 0)}" for each in (first, last)]
    if len(asked) == 1:
        was, now = ("right" if count else "wrong" for count in right)
        return f"On {text}, the answer after attention is {was} {ends[0]} and {now} {ends[1]}"
    count = f"{right[0]} of {len(asked)} answers after attention are right"
    return f"On {text}, {count} {ends[0]} and {right[1]} {ends[1]}"
