"""Who voted for the answer: one logit difference, split without rest into the parts that write to the stream."""

import numpy as np

from glassformer import reference
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
            f"; {names[k]} {verb}{'' if names[k] == 'biases' else 's'} {signed(abs(values[k]))[1:]}"
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
    w = _decide.params(run, step, member, precise=True)
    logits, seen = reference.forward(w, ids, a)
    want = _decide.asked(run, ids)
    place = _decide.place(want, position)
    first, second, judged = _rivals(want, place, logits[place])
    matrix = w["token"].T if a.tied_embedding else w["read_out"]
    vote = matrix[:, first] - matrix[:, second]  # (feature,)
    stream, keys = _parts(w, seen, a, place)
    found = {name: float(vector @ vote) for name, vector in stream.items()}
    if "read_out" in a.biases:
        found["read-out bias"] = float(w["read_out_bias"][first] - w["read_out_bias"][second])
    tokens = tuple(run.task.vocabulary[token] for token in ids)
    heads = tuple(keys)
    by_key = np.array([[float(vector @ vote) for vector in keys[head]] for head in heads]).reshape(len(heads), len(ids))
    return Attribution(
        step=step,
        clock=_clock.text(run, step, member),
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
    w: _decide.Params, seen: dict[str, Array], a: Architecture, place: int
) -> tuple[dict[str, Array], dict[str, list[Array]]]:
    """What each part has written to the stream at one position, as it arrives at the read-out."""
    width = a.width
    parts: dict[str, Array] = {"token embedding": seen["token_embedding"][place]}
    if "position_embedding" in seen:
        parts["position embedding"] = seen["position_embedding"][place]
    keys: dict[str, list[Array]] = {}
    length = len(seen["embedded"])

    def add(name: str, vector: Array) -> None:
        parts[name] = parts.get(name, np.zeros(width)) + vector

    def pass_norm(weights: _decide.Params, name: str, x: Array) -> None:
        """Every part through a norm whose size is held."""
        if a.norm == "none":
            return
        centred = x - x.mean() if a.norm == "layer" else x
        size = np.sqrt((centred * centred).mean() + a.norm_epsilon)

        def through(vector: Array) -> Array:
            moved: Array = (vector - vector.mean() if a.norm == "layer" else vector) / size * weights[name]
            return moved

        for part in parts:
            parts[part] = through(parts[part])
        for head in keys:
            keys[head] = [through(vector) for vector in keys[head]]
        if f"{name}_bias" in weights:
            add("biases", weights[f"{name}_bias"])

    x = seen["embedded"][place]
    for block, mine in enumerate(w["blocks"]):
        many = f" {block}" if a.blocks > 1 else ""
        if a.attention != "off":
            if not a.residual:
                parts.clear()
                keys.clear()
            for head in range(a.heads):
                name = f"head{f' {block}.{head}' if a.blocks > 1 else f' {head}' if a.heads > 1 else ''}"
                name = "attention" if name == "head" else name
                weights = seen["attention"][block, head, place]  # (key_position,)
                each = _decide.after(w, block, head, weights[:, None] * seen["value"][block, head], a)
                keys[name] = [each[k] for k in range(length)]
                add(name, each.sum(0))
            if "output_bias" in mine:
                add("biases", mine["output_bias"])
        x = seen["middle"][block, place]
        if a.norm_place == "post" and a.attention != "off":
            pass_norm(mine, "norm_1", x)
        if a.feed_forward:
            if not a.residual:
                parts.clear()
                keys.clear()
            bias = mine.get("contract_bias", np.zeros(width))
            add(f"feed-forward{many}", seen["fed"][block, place] - bias)
            if "contract_bias" in mine:
                add("biases", bias)
        x = seen["out"][block, place]
        if a.norm_place == "post" and a.feed_forward:
            pass_norm(mine, "norm_2", x)
            x = seen["normed_2"][block, place] if "normed_2" in seen else x
    if a.final_norm:
        pass_norm(w, "norm", x)
    order = [name for name in parts if name != "biases"] + (["biases"] if "biases" in parts else [])
    return {name: parts[name] for name in order}, keys


def signed(value: float) -> str:
    """With its sign, and none before zero."""
    if not np.isfinite(value):
        return "–"
    text = f"{value:+.2f}"
    return (text[1:] if float(text) == 0 else text).replace("-", "−")
