"""One transformer layer that learns to say one token: nothing but NumPy, and every number of its life is kept.

There are no data. The layer sees a window of one-hot tokens, gives every token a chance to come next, is told that the
target was right, changes its weights a little, and reads its own most likely answer next. Sixty such steps take it
from knowing nothing to being almost sure.
"""

from dataclasses import dataclass
from math import acos, degrees, sqrt
from typing import Literal, NamedTuple

import numpy as np

from glassformer import canonical
from glassformer.canonical import Array
from glassformer.physics import _given
from glassformer.physics._ensemble import Ensemble, holds_from, next_token
from glassformer.reference import softmax

MATRICES = ("output", "query", "key", "value", "feed_in", "feed_out")  # the order in which they are drawn
ATTENDING = ("query", "key", "value")
MEASURES = ("score", "apart", "brought", "middle", "final", "bent", "added", "turned")  # of one pass: see `measured`
EPSILON = 1e-8  # added to a variance before its root is taken
TRAINING_TEMPERATURE = 1.0
ROUNDING = 1e-12  # a gradient this much shorter than another one is rounding

Weights = dict[str, Array]


@dataclass(frozen=True, kw_only=True)
class OneLayer:
    """The settings of one life; the defaults are those of the published program."""

    tokens: int = _given.whole(80, 2, 1_000)  # also the width: token i is the i-th unit vector
    context: int = _given.whole(8, 1, 1_000)  # positions of the rolling window
    steps: int = _given.whole(60, 2, 10_000)
    temperatures: int = _given.whole(30, 1, 1_000)  # how many, evenly spaced
    coldest: float = _given.real(0.2, 1e-3, 1e6)
    hottest: float = _given.real(3.5, 1e-3, 1e6)
    output_rate: float = _given.real(0.03, 0, 10)
    projection_rate: float = _given.real(0.001, 0, 10)  # of every other matrix that learns
    target: int = _given.whole(10, 0, 999)
    start: int = _given.whole(0, 0, 999)  # the one token in the window at step 0
    seed: int = _given.whole(12345, 0, 2**53)
    feed_forward: int | None = _given.whole(None, 1, 4_000)  # neurons; None: twice the tokens
    scale: float = _given.real(0.05, 0, 10, above=True)  # weights begin uniform between ± half of it
    feedback: Literal["argmax", "sampled"] = _given.word("argmax", "argmax", "sampled")
    gradients: Literal["heuristic", "true"] = _given.word("heuristic", "heuristic", "true")

    def __post_init__(self) -> None:
        _given.check(self, "one_layer")
        _given.ordered(self, "one_layer")

    @property
    def neurons(self) -> int:
        """Neurons of the feed-forward part."""
        return 2 * self.tokens if self.feed_forward is None else self.feed_forward


@dataclass(frozen=True, kw_only=True, eq=False)
class Life(Ensemble):
    """Everything one layer did, step by step. Entropies, losses and divergences are in nats."""

    settings: OneLayer
    logits: Array  # (step, token)
    trained: Array  # (step, token): the chances at T = 1, from which it learns
    attention: Array  # (step, position); the last position is the token that asks
    tokens: Array  # (step,): what was fed back after each step
    alike: Array  # (step − 1,): divergence between successive steps on the same window, so through the weights alone
    cosines: Array  # (step, matrix): between the change made and the true downhill direction; NaN where none was made
    change_sizes: Array  # (step, matrix): length of the change made
    gradient_sizes: Array  # (step, matrix): length that rate × true gradient would have had
    moved: Array  # (matrix,): length of the whole change in a life, relative to the first weights
    anatomy: Array  # (step, measure): what the parts of the layer do to their input

    @property
    def matrices(self) -> tuple[str, ...]:
        """Names along the matrix axis."""
        return MATRICES

    @property
    def inputs(self) -> Array:
        """(step,): the newest token in the window, the one that asks."""
        return np.concatenate([[self.settings.start], self.tokens[:-1]])

    @property
    def training_entropy(self) -> Array:
        """(step,): uncertainty at T = 1."""
        return canonical.entropy(self.trained)

    @property
    def training_loss(self) -> Array:
        """(step,): surprise at the target at T = 1, which is what is being lowered."""
        return canonical.loss(self.trained, self.target)

    @property
    def p_target(self) -> Array:
        """(step,): chance of the target at T = 1."""
        return self.trained[:, self.target]

    @property
    def p_max(self) -> Array:
        """(step,): chance of the most likely token at T = 1."""
        return self.trained.max(axis=1)

    @property
    def kl(self) -> Array:
        """(step − 1,): divergence of each step's chances from those of the step before, at T = 1."""
        return canonical.divergence(self.trained[1:], self.trained[:-1])

    @property
    def mean_attention(self) -> Array:
        """(position,): attention averaged over the steps."""
        return self.attention.mean(axis=0)

    @property
    def farthest_from_one(self) -> int:
        """Index of the temperature farthest from 1, which the published pictures take for the nearest."""
        return int(np.abs(self.temperatures - 1).argmax())

    def reached(self, share: float = 0.95) -> int | None:
        """The first step from which the target keeps at least this chance to the end; None: it never does."""
        return holds_from(self.p_target >= share)


class Pass(NamedTuple):
    """Every value on the way from a window to the logits."""

    window: Array  # (token, position), one column per token
    query: Array  # (feature,)
    keys: Array  # (feature, position)
    values: Array  # (feature, position)
    attention: Array  # (position,)
    middle: Array  # (feature,), normalised
    middle_size: float  # what it was divided by
    neurons: Array  # (neuron,)
    final: Array  # (feature,), normalised
    final_size: float
    logits: Array  # (token,)


def one_layer(settings: OneLayer | None = None) -> Life:
    """Live through all steps: look, answer, record, learn, feed the answer back."""
    s = settings or OneLayer()
    rng = np.random.default_rng(s.seed)
    weights = first_weights(s, rng)
    began = {name: weight.copy() for name, weight in weights.items()}
    table = rng.random(s.steps)  # drawn after the weights, and used by sampled feedback only
    window = np.zeros((s.tokens, s.context))  # an empty place is a column of zeros
    window[s.start, -1] = 1

    logits, attention = np.empty((s.steps, s.tokens)), np.empty((s.steps, s.context))
    fed_back, alike = np.empty(s.steps, dtype=int), np.empty(s.steps)
    cosines, sizes = np.empty((s.steps, len(MATRICES))), np.empty((2, s.steps, len(MATRICES)))
    anatomy = np.empty((s.steps, len(MEASURES)))
    for step in range(s.steps):
        seen = forward(weights, window)
        chances = softmax(seen.logits / TRAINING_TEMPERATURE)
        logits[step], attention[step], anatomy[step] = seen.logits, seen.attention, measured(weights, seen)

        true = true_changes(s, weights, seen, chances)
        changes = true if s.gradients == "true" else heuristic_changes(s, weights, seen, chances)
        cosines[step], sizes[:, step] = compared(changes, true)
        for name, change in changes.items():
            weights[name] = weights[name] + change
        alike[step] = canonical.divergence(softmax(forward(weights, window).logits), chances)

        fed_back[step] = next_token(chances, s.feedback, table[step])
        window = np.roll(window, -1, axis=1)
        window[:, -1] = np.eye(s.tokens)[fed_back[step]]

    temperatures = np.linspace(s.coldest, s.hottest, s.temperatures)
    return Life(
        settings=s,
        steps=np.arange(s.steps),
        temperatures=temperatures,
        logits=logits,
        trained=softmax(logits / TRAINING_TEMPERATURE),
        probabilities=canonical.boltzmann(logits, temperatures),
        attention=attention,
        tokens=fed_back,
        alike=alike[:-1],
        cosines=cosines,
        change_sizes=sizes[0],
        gradient_sizes=sizes[1],
        moved=np.array([length(weights[name] - began[name]) / length(began[name]) for name in MATRICES]),
        anatomy=anatomy,
    )


def first_weights(s: OneLayer, rng: np.random.Generator) -> Weights:
    """Small and random, drawn in a fixed order, so that a seed is a life."""
    n, inner = s.tokens, s.neurons
    shapes = dict.fromkeys(MATRICES, (n, n)) | {"feed_in": (inner, n), "feed_out": (n, inner)}
    return {name: s.scale * (rng.random(shape) - 0.5) for name, shape in shapes.items()}


def normalised(x: Array) -> tuple[Array, float]:
    """Mean 0 and variance 1, without parameters; and what it was divided by."""
    centred = x - x.mean()
    size = sqrt(float((centred**2).mean()) + EPSILON)
    return centred / size, size


def forward(weights: Weights, window: Array) -> Pass:
    """The newest token asks, every position answers, the sum is normalised, bent and read out."""
    asking = window[:, -1]
    query = weights["query"] @ asking
    keys, values = weights["key"] @ window, weights["value"] @ window
    attention = softmax(query @ keys / sqrt(len(asking)))
    middle, middle_size = normalised(asking + values @ attention)
    neurons = np.tanh(weights["feed_in"] @ middle)
    final, final_size = normalised(middle + weights["feed_out"] @ neurons)
    logits = weights["output"] @ final
    return Pass(window, query, keys, values, attention, middle, middle_size, neurons, final, final_size, logits)


def measured(weights: Weights, seen: Pass) -> Array:
    """(measure,): what the parts of the layer do, in the order of `MEASURES`.

    The largest score; how far what attention brings is from a plain mean, and its share beside the token; the mean
    square of both normalised states; how much the neurons bend their input, what they add, and by how many degrees
    they turn the state. Shares are of lengths.
    """
    mean, brought = seen.values.mean(axis=1), seen.values @ seen.attention
    into, added = weights["feed_in"] @ seen.middle, weights["feed_out"] @ seen.neurons
    along = float(seen.middle @ seen.final) / max(length(seen.middle) * length(seen.final), ROUNDING)
    return np.array([
        np.abs(seen.query @ seen.keys).max() / sqrt(len(seen.query)),
        length(brought - mean) / max(length(mean), ROUNDING),
        length(brought) / length(seen.window[:, -1]),
        (seen.middle**2).mean(),
        (seen.final**2).mean(),
        length(seen.neurons - into) / max(length(into), ROUNDING),
        length(added) / max(length(seen.middle), ROUNDING),
        degrees(acos(min(max(along, -1.0), 1.0))),
    ])  # fmt: skip


def error(s: OneLayer, chances: Array) -> Array:
    """The gradient of the loss with respect to the logits: what was said minus what was right."""
    return chances - np.eye(s.tokens)[s.target]


def heuristic_changes(s: OneLayer, weights: Weights, seen: Pass, chances: Array) -> Weights:
    """The published rule: exact for the output matrix, one shared signal for query, key and value, no feed-forward.

    The signal skips both normalisations, the feed-forward part and the softmax of the attention on its way back, and
    goes through the output matrix as it is after its own change.
    """
    wrong = error(s, chances)
    output = -s.output_rate * np.outer(wrong, seen.final)
    signal = (weights["output"] + output).T @ wrong
    asked = -s.projection_rate * np.outer(signal, seen.window[:, -1])
    looked = -s.projection_rate * np.outer(signal, seen.window @ seen.attention)
    return {"output": output, "query": asked, "key": looked, "value": looked}


def true_changes(s: OneLayer, weights: Weights, seen: Pass, chances: Array) -> Weights:
    """Minus rate times gradient, for all six matrices."""
    rates = dict.fromkeys(MATRICES, s.projection_rate) | {"output": s.output_rate}
    found = gradients(weights, seen, error(s, chances))
    return {name: -rates[name] * found[name] for name in MATRICES}


def gradients(weights: Weights, seen: Pass, wrong: Array) -> Weights:
    """The gradient of the loss with respect to every matrix: the pass, walked backwards."""
    found = {"output": np.outer(wrong, seen.final)}
    back = _through_norm(weights["output"].T @ wrong, seen.final, seen.final_size)

    found["feed_out"] = np.outer(back, seen.neurons)
    at_neurons = (weights["feed_out"].T @ back) * (1 - seen.neurons**2)
    found["feed_in"] = np.outer(at_neurons, seen.middle)
    back = back + weights["feed_in"].T @ at_neurons  # the residual path, and the path through the neurons

    back = _through_norm(back, seen.middle, seen.middle_size)
    found["value"] = np.outer(back, seen.window @ seen.attention)
    at_attention = seen.values.T @ back
    at_scores = seen.attention * (at_attention - seen.attention @ at_attention) / sqrt(len(wrong))
    found["query"] = np.outer(seen.keys @ at_scores, seen.window[:, -1])
    found["key"] = np.outer(seen.query, seen.window @ at_scores)
    return found


def _through_norm(back: Array, out: Array, size: float) -> Array:
    """What a normalisation lets through: nothing along the mean, nothing along its own output."""
    return (back - back.mean() - out * (back * out).mean()) / size


def compared(changes: Weights, true: Weights) -> tuple[Array, Array]:
    """Cosine between the change made and the true one, (matrix,), and the length of each, (2, matrix).

    Where all tokens in view are alike, no query or key can matter, and what is left of their gradient is rounding.
    """
    cosines, lengths = np.full(len(MATRICES), np.nan), np.zeros((2, len(MATRICES)))
    for k, name in enumerate(MATRICES):
        made, right = changes.get(name, np.zeros(1)), true[name]
        lengths[:, k] = length(made), length(right)
        if lengths[0, k] and lengths[1, k] > ROUNDING * length(true["value"]):
            cosines[k] = np.clip((made * right).sum() / lengths[0, k] / lengths[1, k], -1, 1)
    return cosines, lengths


def length(x: Array) -> float:
    """The root of the sum of squares; for matrices this small, BLAS would spend its time waking threads."""
    return sqrt(float((x * x).sum()))
