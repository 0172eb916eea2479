"""Where the difference travels: what each value carries between two inputs that differ in one token."""

from typing import Annotated, Any

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock, _decide
from glassformer.analyses._options import Member, Option, Position, Sequence, Step
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, percent, result
from glassformer.errors import CallError, Error
from glassformer.run import Run

ORDER = 110
ANSWERS = ("new",)
COST = "b"

IN_BLOCK = ("query", "key", "value", "mixed", "attended", "middle", "fed", "out")
LEAST = 1e-3  # a smaller difference of the logits cannot be shared out
WAYS = ("restored", "removed")
PLAIN = {
    "embedded": "embedding", "mixed": "mixed values", "attended": "attention's output", "middle": "after attention",
    "fed": "feed-forward's output", "out": "after feed-forward",
}  # fmt: skip


@result
class Patching(Result):
    """Share of a logit difference that one value at one position carries over, in both directions."""

    share: Labelled  # (quantity, point, position)
    at_once: Labelled  # (quantity, point): the same of all positions together
    named: tuple[tuple[str, int | None], ...]  # each point and its block
    tokens: tuple[str, ...]
    other: tuple[str, ...]
    changed: int  # the position at which the two inputs differ
    position: int  # where the answer is read
    first: str  # the answer of the input
    second: str  # the answer of the other
    clean: float  # logit of first minus logit of second on the input
    corrupt: float  # and on the other
    judged: bool  # first and second are right on their inputs; otherwise the two that the exchange moves apart most
    nearest: bool  # whether second is the best wrong token on the input, as in `attribution`

    @property
    def title(self) -> str:
        """Where the difference is, before and after attention."""
        mine, other = (shown(each[self.changed]) for each in (self.tokens, self.other))
        if not np.isfinite([self.clean, self.corrupt]).all():
            return fate("the logits are not numbers", self.step)
        if not np.isfinite(self.share.values).any():
            return (
                f"Exchanging {mine} for {other} at position {self.changed} changes the logits by less than {LEAST}: "
                "nothing to trace"
            )
        lead = "the answer's lead" if self.judged else "the difference"
        where = f"With {other} for {mine} at position {self.changed}"
        if self.changed == self.position and (best := self._part()):
            part, share = best
            read = f"{where}, where the answer is read"  # and the stream put back there restores all, of course
            return f"{read}, no part of a block put back restores more of {lead} than {part} ({share})"
        return f"{where}, putting back {self._told()} of {lead}"

    def _part(self) -> tuple[str, str] | None:
        """The one part that brings back most at the exchanged position, whose own stream of course brings back all."""
        shares = self.share.values[0, :, self.changed]
        parts = [k for k, (name, _) in enumerate(self.named) if name in ("query", "key", "value", "attended", "fed")]
        if not parts or not np.isfinite(shares[parts]).all():
            return None
        best = max(parts, key=lambda k: float(shares[k]))
        name = self.points[best]
        return name if "'s output" in name and name.startswith("attention") else f"the {name}", percent(
            float(shares[best])
        )

    def _told(self) -> str:
        """How much the best of the first block's queries, keys and values, and of the stream after it, bring back."""
        shares, parts = self.share.values[0], list[str]()
        offers = [k for k, (name, block) in enumerate(self.named) if block == 0 and name in ("query", "key", "value")]
        if offers:
            k, at = divmod(int(np.nanargmax(shares[offers])), shares.shape[1])
            several = " of block 0" if max(block or 0 for _, block in self.named) else ""
            share = percent(float(shares[offers[k], at]))
            parts.append(f"the {self.named[offers[k]][0]}{several} at position {at} restores {share}")
        if ("middle", 0) in self.named:
            k = self.named.index(("middle", 0))
            at = int(np.nanargmax(shares[k]))
            restores = "" if parts else "restores "
            parts.append(f"position {at} {self.points[k]} {restores}{percent(float(shares[k, at]))}")
        return listed(parts)

    @property
    def points(self) -> tuple[str, ...]:
        """The points in words."""
        return self.share.axes["point"].labels


def patching(
    run: Run, *, sequence: Sequence = None,
    other: Annotated[str | None, Option("the other input, which differs in one token")] = None,
    position: Position = None, step: Step = -1, member: Member = 0,
) -> Patching:  # fmt: skip
    """Values of one input put into the run of another that differs in one token, point by point, position by position.

    Without `other`, the token that holds the answer is exchanged for one that changes the answer, if possible to the
    best wrong one: then the difference is the one that `attribution` splits.
    """
    a = run.architecture
    step = _clock.resolve(run, step)
    ids = run.tokens(sequence)
    want = _decide.asked(run, ids)
    place = _decide.place(want, position)
    model = _decide.model(run, ids, step, member, precise=True)
    clean, seen = model.forward(ids)
    rival = run.tokens(other) if other is not None else _rival(run, ids, want, place, clean[place])
    if rival.shape != ids.shape or (rival != ids).sum() != 1:
        raise CallError("the other input must have the same length and differ in exactly one token")
    corrupt, there = model.forward(rival)
    first, second, judged = _answers(want, _decide.asked(run, rival), place, clean[place], corrupt[place])

    def gap(logits: Array) -> Array:
        return logits[..., place, first] - logits[..., place, second]

    whole = float(gap(clean) - gap(corrupt))
    points: list[tuple[str, int | None]] = [("embedded", None)]
    points += [(name, block) for block in range(a.blocks) for name in IN_BLOCK if name in seen]
    points = [each for each in points if each[0] != "mixed" or a.output_projection]  # otherwise it is `attended`
    if not a.feed_forward:
        points = [each for each in points if each[0] != "out"]
    n = len(ids)
    found = np.full((2, len(points), n + 1), np.nan)
    for k, (name, block) in enumerate(points):
        for way, (source, base) in enumerate(((seen, rival), (there, ids))):
            given = source[name] if block is None else source[name][block]
            logits, _ = model.forward(np.broadcast_to(base, (n + 1, n)), {name: _put(given, block, n)})
            moved = gap(logits) - float(gap(corrupt)) if way == 0 else float(gap(clean)) - gap(logits)
            found[way, k] = moved / whole if abs(whole) > LEAST else np.nan
    tokens = tuple(run.task.vocabulary[token] for token in ids)
    axes: dict[str, Any] = {"quantity": WAYS, "point": _decide.points(points, a.blocks, PLAIN)}
    return Patching(
        **_clock.at_step(run, step, member),
        share=Labelled(found[..., :n], axes | {"position": placed(tokens)}, "share"),
        at_once=Labelled(found[..., n], axes, "share"),
        named=tuple(points),
        tokens=tokens,
        other=tuple(run.task.vocabulary[token] for token in rival),
        changed=int(np.flatnonzero(rival != ids)[0]),
        position=place,
        first=run.task.vocabulary[first],
        second=run.task.vocabulary[second],
        clean=float(gap(clean)),
        corrupt=float(gap(corrupt)),
        judged=judged,
        nearest=judged and second == best_wrong(want, place, clean[place]),
    )


def _put(given: Array, wanted: int | None, n: int) -> reference.Edit:
    """In row i of the batch, position i comes from the other input; in the last row, all of them do."""

    def edit(value: Array, block: int | None) -> Array:
        if block != wanted:
            return value
        value = value.copy()
        for row in range(n):
            value[row, ..., row, :] = given[..., row, :]
        value[n] = given
        return value

    return edit


def best_wrong(want: _decide.Asked, place: int, logits: Array) -> int:
    """The likeliest of the tokens that are not right."""
    return int(np.where(want.allowed[place], -np.inf, logits).argmax())


def _rival(run: Run, ids: Array, want: _decide.Asked, place: int, logits: Array) -> Array:
    """The same input with one token exchanged so that the answer changes; the answer's own position first."""
    nearest = best_wrong(want, place, logits)
    groups = [list(members) for members in run.task.groups.values()]
    source = want.source[place] if want.source[place] >= 0 else place
    for at in dict.fromkeys([source, *range(len(ids) - 1, -1, -1)]):
        family = next(members for members in groups if int(ids[at]) in members)
        found: Array | None = None
        for token in [*family, *range(len(run.task.vocabulary))]:
            if token == ids[at]:
                continue
            other = ids.copy()
            other[at] = token
            try:
                then = _decide.asked(run, other)
            except (Error, ValueError, IndexError, KeyError):
                continue
            if not want.answerable[place]:
                return other  # no answer to change: any other token will do
            if (
                then.answerable[place]
                and then.constrained[place]
                and not (then.allowed[place] & want.allowed[place]).any()
            ):
                if then.allowed[place, nearest]:
                    return other
                found = other if found is None else found
        if found is not None:
            return found
    other = ids.copy()
    other[place] = (ids[place] + 1) % len(run.task.vocabulary)
    return other


def _answers(
    want: _decide.Asked, then: _decide.Asked, place: int, clean: Array, corrupt: Array
) -> tuple[int, int, bool]:
    """The right answer of each input, or where there is none (or it is the same) the two that are moved apart most."""
    if want.answerable[place] and then.answerable[place] and not (want.allowed[place] & then.allowed[place]).any():
        first, second = (
            int(np.where(each.allowed[place], logits, -np.inf).argmax())
            for each, logits in ((want, clean), (then, corrupt))
        )
        return first, second, True
    change = clean - corrupt
    return int(change.argmax()), int(change.argmin()), False
