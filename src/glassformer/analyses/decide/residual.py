"""How attention moves each position: the stream before, what is added, and the stream after."""

from dataclasses import dataclass, field

import numpy as np

from glassformer import reference
from glassformer.analyses import _decide
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, percent, result
from glassformer.analyses.decide.landscape import Frame, Landscape, landscape
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 20
ANSWERS = ("4.15", "4.r17", "4.S16")
COST = "b"


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if run.architecture.width == 1:
        return "a model with one feature has a line and no regions; see landscape"
    return (
        "this model has no attention, so nothing is added before the feed-forward"
        if run.architecture.attention == "off"
        else None
    )


@result
class Residual(Result):
    """The stream of one input at the last block's attention, and the winning regions it moves over."""

    before: Labelled  # (position, feature): `embedded`, or what enters the last block
    attended: Labelled  # (position, feature): what attention adds
    middle: Labelled  # (position, feature): the sum; without residual, `attended` alone
    out: Labelled  # (position, feature): after the feed-forward
    value: Labelled  # (head, key_position, feature): what each position offers, as a push in the stream
    points: dict[str, Labelled]  # before, attended, middle, out: (position, axis); value: (head, key_position, axis)
    regions: Labelled  # (y, x): the token that wins there
    first: Labelled  # (position, token): probabilities if attention added nothing
    last: Labelled  # (position, token): probabilities of the model
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    verdicts: tuple[str, ...]
    right: tuple[tuple[int, ...], ...]
    plane: Plane
    frame: Frame
    land: Landscape = field(repr=False)
    has_residual: bool
    block: int


def residual(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    plane: Plane | tuple[int, int] | None = None,
    frame: Frame | None = None,
    grid: int = 60,
) -> Residual:
    """Where each position stands before and after the last block's attention, over the winning regions."""
    a = run.architecture
    if a.attention == "off":
        raise CallError("this model has no attention")
    land = landscape(
        run, sequence=sequence, points="middle", step=step, member=member, plane=plane, frame=frame, grid=grid
    )
    seen = run.trace(sequence, step=step, member=member)
    w = _decide.params(run, seen.step, member)
    block = a.blocks - 1
    before = _decide.entering(seen, block, a)
    pushes = _decide.pushes(w, seen, block, a)
    here = {"position": placed(land.tokens)}
    features, axis = {"feature": numbers(a.width)}, {"axis": ("x", "y")}
    flat = land.plane
    streams: dict[str, Array] = {"before": before, "middle": seen["middle"][block], "out": seen["out"][block]}
    points = {name: Labelled(flat.points(each), here | axis) for name, each in streams.items()}
    points["attended"] = Labelled(flat.zero + flat.directions(seen["attended"][block]), here | axis)
    heads = {"head": numbers(a.heads), "key_position": here["position"]}
    points["value"] = Labelled(flat.zero + flat.directions(pushes), heads | axis)
    words = {"token": tuple(run.task.vocabulary[: a.answers])}
    held = before * a.residual  # without a residual nothing else is passed on
    first = reference.softmax(_decide.onward(w, held, a).astype(np.float64))
    return Residual(
        step=seen.step,
        clock=land.clock,
        before=Labelled(before, here | features),
        attended=Labelled(seen["attended"][block], here | features),
        middle=Labelled(seen["middle"][block], here | features),
        out=Labelled(seen["out"][block], here | features),
        value=Labelled(pushes, heads | features),
        points=points,
        regions=land.regions,
        first=Labelled(first, here | words, "probability"),
        last=Labelled(seen["probabilities"], here | words, "probability"),
        tokens=land.tokens,
        words=words["token"],
        verdicts=land.verdicts,
        right=land.right,
        plane=flat,
        frame=land.frame,
        land=land,
        has_residual=a.residual,
        block=block,
    )


def say(seen: Residual) -> Words:
    """From which region to which, and whether that is right."""
    text = " ".join(map(shown, seen.tokens))
    judged = [k for k, verdict in enumerate(seen.verdicts) if verdict in ("right", "wrong")]
    does = "moves" if seen.has_residual else "replaces"
    which = "attention" if seen.block == 0 else f"the attention of block {seen.block}"
    if not np.isfinite(seen.last.values).all():
        title = f"At step {seen.step} the stream is not a number: the training has diverged"
    elif judged:
        place = judged[-1]
        a, b = (shown(seen.words[int(each.values[place].argmax())]) for each in (seen.first, seen.last))
        right = sum(seen.verdicts[k] == "right" for k in judged)
        token = f"{shown(seen.tokens[place])} at position {place}"
        to = (
            f"{which[0].upper()}{which[1:]} {does} {token} from where {a} wins to where {b} does" if a != b
            else f"With and without {which}, {b} wins at {token}"
        )  # fmt: skip
        if a != b and not (
            seen.plane.lossless and seen.has_residual
        ):  # the model's answers, not regions that are drawn
            to = f"{which[0].upper()}{which[1:]} changes the answer at {token} from {a} to {b}"
        title = f"{to}; {right} of {len(judged)} answerable positions {'is' if right == 1 else 'are'} right"
    else:
        far = np.linalg.norm(seen.attended.values, axis=-1)
        k = int(far.argmax())
        title = (
            f"{which[0].upper()}{which[1:]} {does} {shown(seen.tokens[k])} at position {k} the most, by {far[k]:.2f}"
        )
    if seen.plane.is_projection and np.isfinite(seen.last.values).all():
        title += " (projection)"
    source = "`embedded`" if seen.block == 0 else f"what enters block {seen.block}"
    caption = (
        f"The input {text}. Heat maps and small planes: {source}, what attention adds (`attended`) and the sum "
        "(`middle`). Large plane: arrows from the first to the last over the likeliest token at each point, the "
        "feed-forward included (`logit_lens` reads the same points without it); hatched where no token has half of "
        "the probability. Thin grey arrows: the rule asks nothing there. "
        + ("" if seen.has_residual else "This model has no residual: attention replaces the stream. ")
        + (
            "The plane is exact. " if seen.plane.lossless
            else f"The plane holds {percent(seen.plane.kept)} of the variance and the regions are those of a slice "
            "through it: names tell what is really said, and a tip is open where the map shows another token. "
        )
        + "If attention did not decide the answer, the heavy arrows would end in the region where they begin."
    )  # fmt: skip
    return Words(title, caption, f"Heat maps and arrows of the residual stream on {text}. {title}.")
