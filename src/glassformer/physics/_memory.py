"""The Boltzmann memory: what happened in it, and its telling for a physicist, who also meets it beside the layer."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log

import numpy as np

from glassformer import canonical
from glassformer.canonical import Array
from glassformer.physics._ensemble import holds_from
from glassformer.physics._tell import Part, View, degrees, formula, many, nats, number, power
from glassformer.physics.models.boltzmann_memory import Memory

COLD, HOT = 1e-3, 1e3  # temperatures that stand for the two limits
SURE = 0.95  # a chance that counts as having learned
FORGOTTEN = 0.01  # of a token: less than that is as good as nothing


@dataclass(frozen=True, eq=False)
class Recall:
    """One ensemble, and in it the learner whose temperature is nearest to 1."""

    memory: Memory

    @property
    def temperature(self) -> float:
        """That of the learner."""
        return float(self.memory.temperatures[self.memory.nearest_one])

    @property
    def chances(self) -> Array:
        """(step, token)."""
        return self.memory.probabilities[self.memory.nearest_one]

    @property
    def entropy(self) -> Array:
        """(step,)."""
        return canonical.entropy(self.chances)

    @property
    def loss(self) -> Array:
        """(step,)."""
        return canonical.loss(self.chances, self.memory.target)

    @property
    def p_target(self) -> Array:
        """(step,)."""
        return self.chances[:, self.memory.target]

    @property
    def moves(self) -> Array:
        """(step − 1,): divergence from the step before."""
        return canonical.divergence(self.chances[1:], self.chances[:-1])

    @property
    def jump(self) -> int:
        """The step after which the output changes most."""
        return int(self.moves.argmax())

    @property
    def third(self) -> int:
        """A third of all steps, and at least one."""
        return max(1, len(self.memory.steps) // 3)

    @property
    def drawn(self) -> Array:
        """(temperature,): the share of the target among what was read in the last third."""
        return (self.memory.tape[:, -self.third :] == self.memory.target).mean(axis=1)

    @property
    def expected(self) -> Array:
        """(temperature,): the share that the chances of the steps before promised."""
        return self.memory.probabilities[:, -self.third - 1 : -1, self.memory.target].mean(axis=1)

    @property
    def forgotten(self) -> int:
        """After how many steps a token counts for less than a hundredth."""
        return max(1, ceil(log(FORGOTTEN) / log(self.memory.settings.decay)))

    @property
    def full(self) -> float:
        """What all places of an old memory hold together."""
        return 1 / (1 - self.memory.settings.decay)

    @property
    def learned(self) -> bool:
        """Whether the target is likelier at the end than all other tokens together."""
        return bool(self.p_target[-1] > 0.5)


def reached(m: Memory, k: int) -> int | None:
    """The step from which a learner keeps the target at least as likely as `SURE`; None: never."""
    return holds_from(m.probabilities[k, :, m.target] >= SURE)


def memory_physicist(m: Memory) -> View:
    """The model in the words of statistical mechanics."""
    lead = (
        "A learner small enough for a blackboard: what it has read fades, and what it says is drawn at a temperature.",
    )
    parts = (*memory_parts(m, "Six steps, over and over"), *_diagnostics(m))
    return View("A memory and a temperature", "for a physicist", lead, parts)


def _diagnostics(m: Memory) -> Iterator[Part]:
    """The figures that any life has, with the numbers of the learner nearest T = 1."""
    r = Recall(m)
    h, loss, p = r.entropy, r.loss, r.p_target
    here, jump = f"At T = {degrees(r.temperature)}", r.jump
    yield Part(
        "Entropy and loss",
        (
            f"{here} the entropy goes from {nats(h[0])} to {nats(h[-1])}, the loss from {nats(loss[0])} to "
            f"{nats(loss[-1])}.",
        ),
        figure="entropy",
    )
    yield Part(
        "Response to temperature",
        (
            "Each temperature trains a learner of its own, so this is no curve of one system: a hot learner also "
            "learns differently.",
        ),
        figure="temperature",
    )
    yield Part("The path", (f"{here} the largest loss on the way is {nats(loss.max())}.",), figure="phase")
    yield Part(
        "Change between steps",
        (f"{here} the output changes most between steps {jump} and {jump + 1}, by {nats(r.moves[jump])}.",),
        figure="prediction_change",
    )
    yield Part(
        "Sharpening", (f"{here} the target’s chance goes from {number(p[0])} to {number(p[-1])}.",), figure="sharpening"
    )


def memory_parts(m: Memory, heading: str = "A minimal relative: the Boltzmann memory") -> Iterator[Part]:
    """The Boltzmann memory model, which stands for itself."""
    s, k = m.settings, m.nearest_one
    law = "the published rule with the factor 1/T that it lacks" if s.gradients == "true" else "the published rule"
    draw = "drawn by its chance" if s.feedback == "sampled" else "the most likely one"
    full, last = Recall(m).full, float(m.memory[0, -1].sum())
    yield Part(
        heading,
        (
            f"{s.tokens} tokens, one matrix, no attention: a memory that fades by the factor α and is read out "
            f"through a temperature. Each of {many(len(m.temperatures), 'temperature')} has a learner of its own; all "
            f"begin with the same weights, and the next token is {draw}. The source leaves α, the rate η and the "
            f"first weights open; here α = {number(s.decay)}, η = {number(s.rate)} and weights uniform in "
            f"±{number(s.scale / 2)}, seed {s.seed}. The weights change by {law}, towards target {s.target}, for "
            f"{many(s.steps, 'step')}.",
            f"The memory forgets at a known pace: whatever was read, its components add up to (1 − "
            f"α{formula('^t')})/(1 − α), which tends to {number(full)} and is {number(last)} at the last step.",
        ),
        ("m ← α m + x_t", "ℓ = W_O m,   p = softmax(ℓ / T)", "W_O ← W_O − η (p − y) m^⊤", "c_{t+1} ∼ Categorical(p)"),
        "memory",
        (missing_factor(m),),
    )
    yield Part("Its limits, checked", _limits(m, k))


def missing_factor(m: Memory) -> str:
    """The published update against the gradient of the loss."""
    cold, hot = m.temperatures[0], m.temperatures[-1]
    return (
        f"The published update is called the gradient of L(T), and a factor 1/T is missing. It is right at T = 1 "
        f"only; at T = {degrees(cold)} the true step is {number(1 / cold)} times as long, at T = {degrees(hot)} it is "
        f"{number(1 / hot)} times. The direction is right at every T."
    )


def _limits(m: Memory, k: int) -> tuple[str, ...]:
    n, h, loss = m.settings.tokens, m.entropy, m.loss
    ends = canonical.entropy(canonical.boltzmann(m.logits[k, -1], np.array([COLD, HOT])))
    third, share = Recall(m).third, Recall(m).drawn
    lower = int((loss[:, -third:].mean(axis=1) < loss[:, :third].mean(axis=1)).sum())
    return (
        f"With its last logits at T = {degrees(m.temperatures[k])}, heated to T = {number(HOT)}, the entropy is "
        f"{ends[1]:.6f}, and ln {n} = {np.log(n):.6f}; cooled to T = {number(COLD)} it is "
        f"{number(float(ends[0]), 2)}. While learning, the time-averaged entropy goes from {nats(m.mean_entropy[0])} "
        f"at T = {degrees(m.temperatures[0])} to {nats(m.mean_entropy[-1])} at T = {degrees(m.temperatures[-1])}.",
        f"The loss averaged over the last third of the steps is below that of the first third at {lower} of "
        f"{len(m.temperatures)} temperatures; at T = {degrees(m.temperatures[k])} it goes from {nats(loss[k, 0])} to "
        f"{nats(loss[k, -1])} and the entropy from {nats(h[k, 0])} to {nats(h[k, -1])}. On the tape, the target makes "
        f"up {power(float(share[0]))} of the last third at the coldest temperature and {power(float(share[-1]))} at "
        f"the hottest.",
        "The loss of a given memory can only fall: no component of a memory is negative, so every change raises the "
        "target’s row and lowers all others. What makes the curves jump is the sampled token, not the learning.",
    )
