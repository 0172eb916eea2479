"""From the last point to the answer: what the read-out reads, its logits and probabilities, and its vectors."""

from typing import Any

import numpy as np

from glassformer.analyses import _clock, _decide
from glassformer.analyses._options import Member, Sequence, Step
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._plane import DIRECTIONS, Plane
from glassformer.analyses._plane import plane as plane_of
from glassformer.analyses._result import Labelled, Result, fate, numbers, percent, result
from glassformer.analyses._verdicts import judged
from glassformer.run import Run

ORDER = 70
ANSWERS = ("4.S14", "1.P2", "1.P3")
COST = "b"

MOST_TOKENS = 40


@result
class Readout(Result):
    """The last stage of the model on one input."""

    attention: Labelled  # (query_position, key_position): of the last block, mean over its heads
    final: Labelled  # (position, feature)
    logits: Labelled  # (position, token)
    probabilities: Labelled  # (position, token)
    vectors: Labelled  # (token, feature): the read-out's columns
    bias: Labelled  # (token,)
    tips: Labelled  # (token, direction): the vectors in the plane
    ends: Labelled  # (position, direction): `final` in the same plane
    tokens: tuple[str, ...]
    words: tuple[str, ...]  # that can be answered, those shown
    ids: tuple[int, ...]
    groups: tuple[str, ...]
    verdicts: tuple[str, ...]
    right: tuple[tuple[int, ...], ...]
    on_right: Labelled  # (position,): probability of the right tokens; NaN: none to check
    coming: tuple[int, ...]  # the token that comes next in the input; -1: not in it
    plane: Plane
    place: int  # the last position that can be answered
    heads: int
    causal: bool
    answers: int  # tokens that can be answered

    @property
    def title(self) -> str:
        """How sure the answers are."""
        chances, asked = self.probabilities.values, judged(self.verdicts)
        if not np.isfinite(chances).all():
            return fate("the probabilities are not numbers", self.step)
        if not asked:
            place, best = divmod(int(chances.argmax()), chances.shape[1])
            return (
                f"The surest prediction is {shown(self.words[best])} after {shown(self.tokens[place])} at position "
                f"{place}, with {percent(float(chances[place, best]))}"
            )
        got, place = self.on_right.values[asked], asked[-1]
        best = shown(self.words[int(chances[place].argmax())])
        after = f"{shown(self.tokens[place])} at position {place}"
        if len(asked) == 1:
            return f"After {after} the right answer gets {percent(float(got[-1]))} of the probability and {best} wins"
        several = any(len(self.right[k]) > 1 for k in asked)
        return (
            f"The right answer{'s get' if several else ' gets'} {percent(float(got.mean()))} of the probability on "
            f"average over {len(asked)} "
            f"positions; after {after} the winner is {best}"
        )


def readout(run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0) -> Readout:
    """`final` · read-out + bias = logits → probabilities, on one input (the task's first showcase when None)."""
    a = run.architecture
    seen = run.trace(sequence, step=step, member=member)
    model = _decide.model_anywhere(run, seen.step, member, ("logits",))
    w = model.w["token"].T if a.tied_embedding else model.w["read_out"]
    matrix = model.through("logits", w[:, None])[:, 0, : a.answers].T  # (token, feature)
    bias = model.read_out(np.zeros((1, a.width), w.dtype))[0, : a.answers]
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    length = len(tokens)
    chances = seen["probabilities"]
    if a.answers > MOST_TOKENS:
        kept = sorted(np.argsort(-chances.max(0), kind="stable")[:MOST_TOKENS].tolist())
    else:
        kept = list(range(a.answers))
    flat = plane_of(np.concatenate([matrix[kept], np.zeros((1, a.width))])) if a.width > 2 else plane_of(matrix)
    here: dict[str, Any] = {"position": placed(tokens)}
    words = {"token": tuple(run.task.vocabulary[k] for k in kept)}
    looked = seen["attention"][-1].mean(0) if "attention" in seen else np.full((length, length), np.nan)
    want = _decide.asked(run, seen.tokens)
    group = _decide.group_of(run.task)
    following = [*seen.tokens[1:].tolist(), -1] if run.task.answers == "next" else [-1] * length
    return Readout(
        **_clock.at_step(run, seen.step, member),
        attention=Labelled(looked, {"query_position": here["position"], "key_position": here["position"]}, "share"),
        final=Labelled(seen["final"], here | {"feature": numbers(a.width)}),
        logits=Labelled(seen["logits"][:, kept], here | words, "logit"),
        probabilities=Labelled(chances[:, kept], here | words, "probability"),
        vectors=Labelled(matrix[kept], words | {"feature": numbers(a.width)}),
        bias=Labelled(np.asarray(bias)[kept], words, "logit"),
        tips=Labelled(flat.zero + flat.directions(matrix[kept]), words | {"direction": DIRECTIONS}),
        ends=Labelled(flat.points(seen["final"]), here | {"direction": DIRECTIONS}),
        tokens=tokens,
        words=words["token"],
        ids=tuple(kept),
        groups=tuple(group[k] for k in kept),
        verdicts=want.verdicts(chances.argmax(-1)),
        right=want.right,
        on_right=Labelled(
            np.array([chances[k, list(right)].sum() if right else np.nan for k, right in enumerate(want.right)]),
            here,
            "probability",
        ),
        coming=tuple(following),
        plane=flat,
        place=_decide.place(want, None),
        heads=a.heads if "attention" in seen else 0,
        causal=a.causal,
        answers=a.answers,
    )
