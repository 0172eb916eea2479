"""From the last point to the answer: what the read-out reads, its logits and probabilities, and its vectors."""

from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _clock, _decide
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._plane import Plane
from glassformer.analyses._plane import plane as plane_of
from glassformer.analyses._result import Labelled, Result, Words, numbers, percent, result
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
    tips: Labelled  # (token, axis): the vectors in the plane
    ends: Labelled  # (position, axis): `final` in the same plane
    tokens: tuple[str, ...]
    words: tuple[str, ...]  # that can be answered, those shown
    ids: tuple[int, ...]
    groups: tuple[str, ...]
    verdicts: tuple[str, ...]
    right: tuple[tuple[int, ...], ...]
    coming: tuple[int, ...]  # the token that comes next in the input; -1: not in it
    plane: Plane
    place: int  # the last position that can be answered
    heads: int
    causal: bool


def readout(run: Run, *, sequence: str | None = None, step: int = -1, member: int = 0) -> Readout:
    """`final` · read-out + bias = logits → probabilities, on one input (the task's first showcase when None)."""
    a = run.architecture
    seen = run.trace(sequence, step=step, member=member)
    w = _decide.params(run, seen.step, member)
    matrix = (w["token"] if a.tied_embedding else w["read_out"].T)[: a.answers]  # (token, feature)
    bias = w["read_out_bias"] if "read_out" in a.biases else np.zeros(len(matrix))
    tokens = tuple(run.task.vocabulary[token] for token in seen.tokens)
    length = len(tokens)
    chances = seen["probabilities"]
    if a.answers > MOST_TOKENS:
        kept = sorted(np.argsort(-chances.max(0), kind="stable")[:MOST_TOKENS].tolist())
    else:
        kept = list(range(a.answers))
    flat = plane_of(np.concatenate([matrix[kept], np.zeros((1, a.width))])) if a.width > 2 else plane_of(matrix)
    here, words = {"position": placed(tokens)}, {"token": tuple(run.task.vocabulary[k] for k in kept)}
    looked = seen["attention"][-1].mean(0) if "attention" in seen else np.full((length, length), np.nan)
    want = _decide.asked(run, seen.tokens)
    group = _decide.group_of(run.task)
    following = [*seen.tokens[1:].tolist(), -1] if run.task.answers == "next" else [-1] * length
    return Readout(
        step=seen.step,
        clock=_clock.text(run, seen.step, member),
        attention=Labelled(looked, {"query_position": here["position"], "key_position": here["position"]}, "share"),
        final=Labelled(seen["final"], here | {"feature": numbers(a.width)}),
        logits=Labelled(seen["logits"][:, kept], here | words, "logit"),
        probabilities=Labelled(chances[:, kept], here | words, "probability"),
        vectors=Labelled(matrix[kept], words | {"feature": numbers(a.width)}),
        bias=Labelled(np.asarray(bias)[kept], words, "logit"),
        tips=Labelled(flat.zero + flat.directions(matrix[kept]), words | {"axis": ("x", "y")}),
        ends=Labelled(flat.points(seen["final"]), here | {"axis": ("x", "y")}),
        tokens=tokens,
        words=words["token"],
        ids=tuple(kept),
        groups=tuple(group[k] for k in kept),
        verdicts=want.verdicts(chances.argmax(-1)),
        right=tuple(
            tuple(np.flatnonzero(want.allowed[k]).tolist()) if want.constrained[k] and want.answerable[k] else ()
            for k in range(length)
        ),
        coming=tuple(following),
        plane=flat,
        place=_decide.place(want, None),
        heads=a.heads if "attention" in seen else 0,
        causal=a.causal,
    )


def say(seen: Readout) -> Words:
    """How sure the answers are."""
    text = " ".join(map(shown, seen.tokens))
    judged = [k for k, verdict in enumerate(seen.verdicts) if verdict in ("right", "wrong")]
    if not np.isfinite(seen.probabilities.values).all():
        title = f"At step {seen.step} the probabilities are not numbers: the training has diverged"
    elif judged:
        got = [
            float(sum(seen.probabilities.values[k, seen.ids.index(r)] for r in seen.right[k] if r in seen.ids))
            for k in judged
        ]
        place = judged[-1]
        best = shown(seen.words[int(seen.probabilities.values[place].argmax())])
        after = f"after {shown(seen.tokens[place])} at position {place}"
        title = (
            f"{after[0].upper()}{after[1:]} the right answer gets {percent(got[-1])} of the probability and {best} wins"
            if len(judged) == 1
            else f"The right answer gets {percent(float(np.mean(got)))} of the probability on average over "
            f"{len(judged)} positions; {after} the winner is {best}"
        )
    else:
        place, best = divmod(int(seen.probabilities.values.argmax()), seen.probabilities.values.shape[1])
        title = (
            f"The surest prediction is {shown(seen.words[best])} after {shown(seen.tokens[place])} at position "
            f"{place}, with {percent(float(seen.probabilities.values[place, best]))}"
        )
    caption = (
        f"The input {text}. Top: attention of the last block{' (mean over its heads)' if seen.heads > 1 else ''}, "
        "`final` (position × feature), the logits and the probabilities of each token. Colours of `final` and of the "
        "logits reach as far as where there is an answer to check; beyond, they stay the same. Frames: the right "
        "tokens; "
        "dots: the token that in fact comes next. Bottom: the read-out vector of each token as an arrow (a point far "
        "along it gives the token a high logit), the input's `final` as dots, and the bias of each token by group. The "
        f"plane holds {percent(seen.plane.kept)} of the vectors' variance. Exact numbers. If the bias alone decided, "
        "all "
        "rows of the probabilities would be alike."
    )
    return Words(title, caption, f"Attention, final, logits and probabilities on {text}. {title}.")
