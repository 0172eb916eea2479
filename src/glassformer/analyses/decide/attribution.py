"""Who voted for the answer: one logit difference, split without rest into the parts that write to the stream."""

from collections.abc import Callable

import numpy as np

from glassformer.analyses import _applies, _clock, _decide
from glassformer.analyses._options import Member, Position, Sequence, Step
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._result import Array, Labelled, Result, fate, result
from glassformer.architecture import Architecture
from glassformer.run import Run

ORDER = 90
ANSWERS = ("new",)
COST = "a"
APPLIES = (_applies.choice,)

SLIGHT = 0.05  # of the largest vote: one that is smaller is not worth a name in the title
EDITED = "edits"  # what the edits of a run put in place of what they found
LAST = ("biases", EDITED)
LITTLE = 0.005  # logits: a smaller vote is written as 0


@result
class Attribution(Result):
    """Signed parts of a logit difference; they add up to it exactly."""

    parts: Labelled  # (part,)
    keys: Labelled  # (part, key_position): each head's part, by the position it was fetched from
    total: float  # the difference itself, from the logits
    tokens: tuple[str, ...]
    position: int
    first: str  # the token voted for
    second: str  # the one voted against
    judged: bool  # first is right and second the best wrong one; otherwise the winner and the runner-up
    normed: bool
    causal: bool

    @property
    def title(self) -> str:
        """Which part votes the most for it, and which against."""
        values, names = self.parts.values, self.parts.axes["part"].labels
        if not np.isfinite(values).all():
            return fate("the logits are not numbers", self.step)
        answer = f"{'the right answer ' if self.judged else ''}{shown(self.first)}"
        leads = f"leads {shown(self.second)}" if self.total > 0 else f"is behind {shown(self.second)}"
        votes = [
            f"; {names[k]} {verb}{'' if names[k] in LAST else 's'} {signed(abs(values[k]))[1:]}"
            f"{self._fetched(names[k])}"
            if abs(values[k]) >= SLIGHT * abs(values).max()
            else f"; no part {verb}s more than {signed(abs(values[k]))[1:]}"
            for k, verb in ((int(values.argmax()), "add"), (int(values.argmin()), "subtract"))
            if abs(values[k]) >= LITTLE and (values[k] > 0) == (verb == "add")
        ]
        return f"After {self.name}, {answer} {leads} by {abs(self.total):.2f} logits{''.join(votes)}"

    def _fetched(self, part: str) -> str:
        """From where a head's vote came, if most of it came from one position."""
        heads = self.keys.axes["part"].labels
        if part not in heads:
            return ""
        shares = self.keys.values[heads.index(part)]
        most = int(abs(shares).argmax())
        if abs(shares[most]) < 0.5 * abs(shares).sum():
            return ""
        return f", fetched mostly from {shown(self.tokens[most])} at position {most}"

    @property
    def name(self) -> str:
        """The position in words."""
        return f"{shown(self.tokens[self.position])} at position {self.position}"

    @property
    def view(self) -> tuple[int, ...]:
        """The positions that attention could fetch from."""
        return tuple(range(self.position + 1 if self.causal else len(self.tokens)))


def attribution(
    run: Run, *, sequence: Sequence = None, position: Position = None, step: Step = -1, member: Member = 0
) -> Attribution:  # fmt: skip
    """Right logit minus best wrong one at a position (the last that can be answered when None), part by part.

    Norms are held at the size they have on this input, so that what passes them is a sum; computed in double precision.
    """
    a = run.architecture
    step = _clock.resolve(run, step)
    ids = run.tokens(sequence)
    model = _decide.model(run, ids, step, member, precise=True)
    logits, seen = model.forward(ids)
    want = _decide.asked(run, ids)
    place = _decide.place(want, position)
    first, second, judged = _rivals(want, place, logits[place])
    stream, keys = _parts(model, seen, a)
    matrix = model.w["token"].T if a.tied_embedding else model.w["read_out"]

    def votes(logits: Array) -> Array:
        """(..., position, token) → (...): by how much a summand of the logits favours the first token at the place."""
        passed = model.through("logits", logits)[..., place, :]
        return passed[..., first] - passed[..., second]

    found = {name: float(votes(vectors @ matrix)) for name, vectors in stream.items()}
    if "read_out" in a.biases:
        found["read-out bias"] = float(votes(np.broadcast_to(model.w["read_out_bias"], logits.shape)))
    if (added := model.see("logits", np.zeros_like(logits))[place]).any():
        found[EDITED] = found.get(EDITED, 0.0) + float(added[first] - added[second])
    tokens = tuple(run.task.vocabulary[token] for token in ids)
    heads = tuple(keys)
    by_key = np.array([votes(vectors @ matrix) for vectors in keys.values()]).reshape(len(heads), len(ids))
    return Attribution(
        **_clock.at_step(run, step, member),
        parts=Labelled(np.array(list(found.values())), {"part": tuple(found)}, "logit"),
        keys=Labelled(by_key, {"part": heads, "key_position": placed(tokens)}, "logit"),
        total=float(logits[place, first] - logits[place, second]),
        tokens=tokens,
        position=place,
        first=run.task.vocabulary[first],
        second=run.task.vocabulary[second],
        judged=judged,
        normed=a.norm != "none",
        causal=a.causal,
    )


def _rivals(want: _decide.Asked, place: int, logits: Array) -> tuple[int, int, bool]:
    """The token voted for and the one voted against."""
    allowed = want.allowed[place]
    if want.constrained[place] and want.answerable[place] and 0 < allowed.sum() < len(allowed):
        right = np.where(allowed, logits, -np.inf)
        wrong = np.where(allowed, -np.inf, logits)
        return int(right.argmax()), int(wrong.argmax()), True
    order = np.argsort(-logits, kind="stable")
    return int(order[0]), int(order[1]), False


def _parts(
    model: _decide.Model, seen: dict[str, Array], a: Architecture
) -> tuple[dict[str, Array], dict[str, Array]]:  # fmt: skip
    """What each part has written to the stream, as it arrives at the read-out: (position, feature).

    Of heads also by key, (key_position, position, feature). An edit scales or removes what it finds, part by part; what
    it puts there instead is a part of its own.
    """
    shape = seen["embedded"].shape
    parts, keys = dict[str, Array](), dict[str, Array]()

    def add(name: str, vectors: Array) -> None:
        parts[name] = parts.get(name, np.zeros(shape)) + vectors

    def add_edits(point: str, block: int | None = None) -> None:
        if (added := model.see(point, np.zeros(shape), block)).any():
            add(EDITED, added)

    def pass_through(change: Callable[[Array], Array]) -> None:
        for found in (parts, keys):
            for name in found:
                found[name] = change(found[name])

    def pass_point(point: str, block: int | None = None) -> None:
        """Every part through the edits of a point of the stream."""
        pass_through(lambda vectors: model.through(point, vectors, block))
        add_edits(point, block)

    def pass_norm(weights: _decide.Params, name: str, x: Array) -> None:
        """Every part through a norm whose size is held."""
        if a.norm == "none":
            return

        def centre(vectors: Array) -> Array:
            return vectors - vectors.mean(-1, keepdims=True) if a.norm == "layer" else vectors

        size = np.sqrt((centre(x) ** 2).mean(-1, keepdims=True) + a.norm_epsilon)
        pass_through(lambda vectors: centre(vectors) / size * weights[name])
        if f"{name}_bias" in weights:
            add("biases", weights[f"{name}_bias"])

    add("token embedding", seen["token_embedding"])
    if "position_embedding" in seen:
        add("position embedding", seen["position_embedding"])
    pass_point("embedded")
    x = seen["embedded"]
    for block, mine in enumerate(model.w["blocks"]):
        many = f" {block}" if a.blocks > 1 else ""
        if a.attention != "off":
            if not a.residual:
                parts.clear()
                keys.clear()
            for name, by_key in _heads(model, seen, a, block).items():
                keys[name] = model.through("attended", by_key, block)
                add(name, keys[name].sum(0))
            nothing = model.see("mixed", np.zeros_like(seen["mixed"][block]), block)
            if nothing.any():
                for head in range(a.heads):
                    add(EDITED, model.through("attended", _decide.after(model.w, block, head, nothing[head], a), block))
            if "output_bias" in mine:
                add("biases", model.through("attended", np.broadcast_to(mine["output_bias"], shape), block))
            add_edits("attended", block)
        pass_point("middle", block)
        if a.norm_place == "post" and a.attention != "off":
            pass_norm(mine, "norm_1", seen["middle"][block])
            pass_point("normed_1", block)
        if a.feed_forward:
            if not a.residual:
                parts.clear()
                keys.clear()
            bias = model.through("fed", np.broadcast_to(mine.get("contract_bias", np.zeros(a.width)), shape), block)
            always = model.see("fed", np.zeros(shape), block)
            add(f"feed-forward{many}", seen["fed"][block] - bias - always)
            if "contract_bias" in mine:
                add("biases", bias)
            add_edits("fed", block)
        pass_point("out", block)
        x = seen["out"][block]
        if a.norm_place == "post" and a.feed_forward:
            pass_norm(mine, "norm_2", x)
            pass_point("normed_2", block)
            x = seen["normed_2"][block] if "normed_2" in seen else x
    if a.final_norm:
        pass_norm(model.w, "norm", x)
    pass_point("final")
    order = [name for name in parts if name not in LAST] + [name for name in LAST if name in parts]
    return {name: parts[name] for name in order}, keys


def _heads(model: _decide.Model, seen: dict[str, Array], a: Architecture, block: int) -> dict[str, Array]:
    """(key_position, position, feature) of each head: what it writes at a position from each key."""
    found = {}
    for head in range(a.heads):
        name = f"head{f' {block}.{head}' if a.blocks > 1 else f' {head}' if a.heads > 1 else ''}"
        alone = np.zeros(
            (len(seen["embedded"]), *seen["mixed"][block].shape)
        )  # (key_position, head, position, feature)
        alone[:, head] = seen["attention"][block, head].T[..., None] * seen["value"][block, head][:, None]
        mixed = model.through("mixed", alone, block)[:, head]
        found["attention" if name == "head" else name] = _decide.after(model.w, block, head, mixed, a)
    return found


def signed(value: float, digits: int = 2) -> str:
    """With its sign, and none before zero."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:+.{digits}f}"
    return (text[1:] if float(text) == 0 else text).replace("-", "−")
