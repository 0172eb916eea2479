"""A memory that fades and a temperature that stirs: five tokens, one matrix, one learner at every temperature.

Each step, in this order: the memory fades and takes in the token; the output matrix turns the memory into logits; the
temperature turns the logits into chances; entropy and loss are recorded; the matrix moves towards the target; the next
token is drawn by its chance. All temperatures begin with the same weights and read the same table of random numbers,
so that two of them differ by their temperature alone.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from glassformer.canonical import Array
from glassformer.physics import _given
from glassformer.physics._ensemble import Ensemble, next_token
from glassformer.reference import softmax


@dataclass(frozen=True, kw_only=True)
class BoltzmannMemory:
    """The settings of one ensemble. The source leaves decay, rate and first weights open; these are our choice."""

    tokens: int = _given.whole(5, 2, 1_000)
    steps: int = _given.whole(60, 2, 10_000)
    temperatures: int = _given.whole(30, 1, 1_000)  # how many, evenly spaced
    coldest: float = _given.real(0.2, 1e-3, 1e6)
    hottest: float = _given.real(3.5, 1e-3, 1e6)
    decay: float = _given.real(0.7, 0, 0.9999, above=True)  # share of the memory that outlives a step
    rate: float = _given.real(0.05, 0, 10)
    target: int = _given.whole(2, 0, 999)
    start: int = _given.whole(0, 0, 999)  # the token at step 0
    seed: int = _given.whole(12345, 0, 2**53)  # of the first weights, then of the table
    scale: float = _given.real(1.0, 0, 100, above=True)  # weights begin uniform between ± half of it
    feedback: Literal["argmax", "sampled"] = _given.word("sampled", "argmax", "sampled")
    gradients: Literal["heuristic", "true"] = _given.word("heuristic", "heuristic", "true")

    def __post_init__(self) -> None:
        _given.check(self, "boltzmann_memory")
        _given.ordered(self, "boltzmann_memory")


@dataclass(frozen=True, kw_only=True, eq=False)
class Memory(Ensemble):
    """Everything the ensemble did. Entropies and losses are in nats."""

    settings: BoltzmannMemory
    memory: Array  # (temperature, step, feature): what is left of the tokens read, one feature per token
    logits: Array  # (temperature, step, token)
    tape: Array  # (temperature, step): the token read at each step; the first is the start
    table: Array  # (step,): the random number that drew the token after each step
    first: Array  # (token, feature): the weights at step 0
    last: Array  # (temperature, token, feature): the weights after the last step


def boltzmann_memory(settings: BoltzmannMemory | None = None) -> Memory:
    """Live through all steps at every temperature at once."""
    s = settings or BoltzmannMemory()
    rng = np.random.default_rng(s.seed)
    first = s.scale * (rng.random((s.tokens, s.tokens)) - 0.5)
    table = rng.random(s.steps)
    temperatures = np.linspace(s.coldest, s.hottest, s.temperatures)

    unit, many = np.eye(s.tokens), s.temperatures
    weights = np.tile(first, (many, 1, 1))  # (temperature, token, feature)
    memory, token = np.zeros((many, s.tokens)), np.full(many, s.start)
    memories, logits, chances = (np.empty((many, s.steps, s.tokens)) for _ in range(3))
    tape = np.empty((many, s.steps), dtype=int)
    for step in range(s.steps):
        tape[:, step] = token
        memory = s.decay * memory + unit[token]
        memories[:, step] = memory
        logits[:, step] = np.einsum("kij,kj->ki", weights, memory)
        chances[:, step] = softmax(logits[:, step] / temperatures[:, None])
        weights = weights + changes(s, temperatures, memory, chances[:, step])
        token = next_token(chances[:, step], s.feedback, table[step])

    return Memory(
        settings=s,
        steps=np.arange(s.steps),
        temperatures=temperatures,
        memory=memories,
        logits=logits,
        probabilities=chances,
        tape=tape,
        table=table,
        first=first,
        last=weights,
    )


def changes(s: BoltzmannMemory, temperatures: Array, memory: Array, chances: Array) -> Array:
    """−rate (p − y) mᵀ, (temperature, token, feature). The gradient of the loss at T has a factor 1/T as well.

    A memory is never negative, so the target's row only grows and every other row only shrinks: whatever the memory,
    the loss of that memory can only fall.
    """
    wrong = chances - np.eye(s.tokens)[s.target]
    if s.gradients == "true":
        wrong = wrong / temperatures[:, None]
    return -s.rate * np.einsum("ki,kj->kij", wrong, memory)
