"""Waves in a model that adds on a clock: frequencies of its embedding, its neurons and its answers."""

from collections.abc import Callable

import numpy as np

from glassformer import editing, reference
from glassformer.analyses import _clock
from glassformer.analyses._options import CurveSteps, Frames, Member, Pace, Shown, Step
from glassformer.analyses._reel import Reel, frames_of, glance, strip
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, percent, result, shared, thousands
from glassformer.architecture import nest
from glassformer.run import Run

ORDER = 80
ANSWERS = ("new",)
COST = "c"

KEY = 3.0  # times the share of an even spectrum, from where a frequency is a key one
FIRST_STEPS, MOST_STEPS = 6, 20  # at which all questions are asked: to begin with, and in all
TOGETHER = 1500  # questions asked side by side
MOST_LIFE = 60  # steps at which only the embedding is looked at
GLANCE = 40  # steps of a film looked at for its limit
PARTS = ("training", "test", "restricted", "excluded")


@result
class Fourier(Result):
    """Power by frequency: of the token embedding, of the answers over both numbers, of every neuron."""

    spectrum: Labelled  # (frequency,): share of the embedding's variance over the numbers
    over_life: Labelled  # (step, frequency): the same at some kept steps
    answers: Labelled  # (frequency, other_frequency): share of the logits' variance, in the first and second number
    losses: Labelled  # (part, step): training, test, restricted and excluded loss, see `_losses`
    logged: Labelled  # (part, step): training and test loss, as logged
    neurons: Labelled  # (frequency,): neurons that this frequency explains best
    explained: Labelled  # (frequency,): mean share of their variance that it explains; NaN where there are none
    keys: tuple[int, ...]
    even: float  # share of each frequency in an even spectrum
    held: float  # share of the embedding's variance in the key frequencies
    summed: float  # share of the logits' variance in waves of the sum at key frequencies
    modulus: int
    steps: tuple[int, ...]

    @property
    def title(self) -> str:
        """How many key frequencies, how much they hold, and whether they are what the model answers with."""
        test = self.losses.values[1, self.steps.index(self.step or 0)]
        if not np.isfinite(self.spectrum.values).all() or not np.isfinite(test):
            return fate("the weights are not numbers", self.step)
        if not self.keys:
            top, most = int(np.argmax(self.spectrum.values)) + 1, float(np.max(self.spectrum.values))
            return (
                f"At step {thousands(self.step or 0)} no frequency stands out: the strongest, {top}, holds "
                f"{percent(most)} of the embedding's variance, even were {percent(self.even)}"
            )
        named = listed([str(k) for k in self.keys]) if len(self.keys) <= 8 else f"{len(self.keys)} of them"
        word = "frequency" if len(self.keys) == 1 else "frequencies"
        return (
            f"Key {word} {named} hold {percent(self.held)} of the embedding's variance and {percent(self.summed)} of "
            f"the logits' as waves of the sum; test loss {test:.3g}"
        )


def applies(run: Run) -> str | None:
    """Why there are no residues here; None where there are."""
    return None if run.experiment.task_name == "modular_addition" else "the task is not modular addition"


@shared
def fourier(run: Run, *, step: Step = -1, member: Member = 0, steps: CurveSteps = None) -> Fourier:
    """Spectra at a kept step, and over life what the key frequencies of that step can and cannot do."""
    step = _clock.resolve(run, step)
    shares = spectrum(_numbers(run, step, member))
    keys = tuple(int(k) + 1 for k in np.flatnonzero(shares >= KEY / len(shares)))
    life = sorted({*_clock.looks(run, MOST_LIFE, member), step})
    logits, hidden = _ask(run, step, member, inner=True)

    def measure(at: int) -> list[float]:
        return _losses(run, logits if at == step else _ask(run, at, member, inner=False)[0], keys)

    first = _clock.looks(run, FIRST_STEPS, member) if steps is None else _clock.chosen(run, steps)
    losses = refine(run.steps, {*first, step}, measure, MOST_STEPS if steps is None else 0)
    names = {"training": "train_loss", "test": "validation_loss"}
    lines = {part: line for part, name in names.items() if (line := _clock.metric(run, name, member)) is not None}
    logged = np.array(list(lines.values()), dtype=float).reshape(len(lines), len(_clock.metrics(run)["step"]))
    spectra = [spectrum(_numbers(run, at, member)) for at in life]
    many, explained = neurons(hidden) if hidden is not None else (np.zeros(len(shares)), np.full(len(shares), np.nan))
    waves, folded = range(1, len(shares) + 1), range(len(shares) + 1)
    return Fourier(
        **_clock.at_step(run, step, member),
        spectrum=_by_frequency(shares),
        over_life=Labelled(np.array(spectra), {"step": life, "frequency": waves}, "share"),
        answers=Labelled(plane_power(logits), {"frequency": folded, "other_frequency": folded}, "share"),
        losses=Labelled(np.array(list(losses.values())).T, {"part": PARTS, "step": tuple(losses)}, "nats per token"),
        logged=Labelled(logged, {"part": tuple(lines), "step": _clock.metrics(run)["step"]}, "nats per token"),
        neurons=Labelled(many, {"frequency": waves}, "neurons"),
        explained=_by_frequency(explained),
        keys=keys,
        even=1 / len(shares),
        held=float(shares[[k - 1 for k in keys]].sum()) if keys else 0.0,
        summed=summed_share(logits, keys),
        modulus=run.architecture.answers,
        steps=tuple(losses),
    )


def refine(kept: Array, first: set[int], measure: Callable[[int], list[float]], most: int) -> dict[int, list[float]]:
    """Step → what is measured there: at the first steps, then, up to `most`, halfway across the largest change.

    The change of each quantity counts as a share of its range.
    """
    found = {step: measure(step) for step in sorted(first)}
    while True:
        values = np.nan_to_num(np.array(list(found.values())), posinf=0.0)  # what is no number is a change too
        change = (np.abs(np.diff(values, axis=0)) / np.maximum(np.ptp(values, axis=0), 1e-12)).max(axis=1)
        places = np.searchsorted(kept, list(found))
        change[np.diff(places) < 2] = -1  # no kept step lies between
        if len(found) >= most or change.max(initial=-1) < 0:
            return found
        middle = int(kept[places[change.argmax() :][:2].sum() // 2])
        found = dict(sorted({**found, middle: measure(middle)}.items()))


@result
class Spectrum(Result):
    """The embedding's spectrum at one step."""

    spectrum: Labelled  # (frequency,)


def spectrum_at(run: Run, *, step: int = -1, member: int = 0) -> Spectrum:
    """Share of the embedding's variance at each frequency."""
    step = _clock.resolve(run, step)
    shares = spectrum(_numbers(run, step, member))
    return Spectrum(step=step, clock=_clock.text(run, step, member), spectrum=_by_frequency(shares))


def _by_frequency(shares: Array) -> Labelled:
    return Labelled(shares, {"frequency": range(1, len(shares) + 1)}, "share")


def _numbers(run: Run, step: int, member: int) -> Array:
    """(number, feature): the embedding of the numbers, as it is at the first position."""
    every = np.repeat(np.arange(run.architecture.answers)[:, None], run.architecture.context, axis=1)
    return run.trace(every, step=step, member=member)["token_embedding"][:, 0].astype(np.float64)


def reel(run: Run, *, member: Member = 0, frames: Frames = 200, pace: Pace = "even", steps: Shown = None) -> Reel:
    """The spectrum of the embedding over life, the first one, and the highest share that each frequency reaches."""

    def at(step: int) -> Spectrum:
        return spectrum_at(run, step=step, member=member)

    first, last = at(int(run.steps[0])), at(-1)
    every = frames_of(run, frames, pace, steps, member)
    found = [each.spectrum.values for each in (first, last, *map(at, glance(every, GLANCE)))]
    highest = Spectrum(spectrum=_by_frequency(np.fmax.reduce(found)))
    return Reel(_stands_out(last), every, at, strip(run, member), {"first": first, "highest": highest})


def _stands_out(last: Spectrum) -> str:
    """How many key frequencies there are in the end."""
    shares, step = last.spectrum.values, thousands(last.step or 0)
    if keys := int((shares >= KEY / len(shares)).sum()):
        return f"{keys} key frequenc{'y' if keys == 1 else 'ies'} in the embedding at step {step}"
    if not np.isfinite(shares).all():
        return fate("the weights are not numbers", last.step)
    return f"No frequency stands out by step {step}: the strongest holds {percent(float(shares.max()))}"


# ---- transforms ------------------------------------------------------------------------------------------------------


def spectrum(table: Array) -> Array:
    """(frequency,): share of the variance of (number, feature) at frequencies 1, 2, ..., sine and cosine together."""
    power = (np.abs(np.fft.rfft(table, axis=0)) ** 2).sum(axis=1)[1:]
    return power / power.sum() if power.sum() > 0 else np.full(len(power), np.nan)


def plane_power(logits: Array) -> Array:
    """(k, l): share of the variance of (first, second, answer) at frequency k in the first, l in the second number."""
    p = len(logits)
    power = (np.abs(np.fft.fft2(logits, axes=(0, 1))) ** 2).sum(axis=-1)
    fold = np.minimum(np.arange(p), p - np.arange(p))  # k and -k are one frequency
    found = np.zeros((p // 2 + 1, p // 2 + 1))
    np.add.at(found, (fold[:, None], fold[None, :]), power)
    found[0, 0] = 0  # the mean over all questions
    return found / found.sum() if found.sum() > 0 else np.full_like(found, np.nan)


def only(logits: Array, keys: tuple[int, ...]) -> Array:
    """The part of (first, second, answer) that is waves of the sum of both numbers, at these frequencies."""
    p = len(logits)
    one, other = np.ogrid[:p, :p]
    waves = np.fft.rfft(logits[one, (other - one) % p].mean(axis=0), axis=0)  # of the mean over all pairs of each sum
    kept = np.zeros_like(waves)
    kept[list(keys)] = waves[list(keys)]
    return np.fft.irfft(kept, p, axis=0)[(one + other) % p]


def summed_share(logits: Array, keys: tuple[int, ...]) -> float:
    """Share of the variance over the questions that lies in waves of the sum at the key frequencies."""
    centred = logits - logits.mean(axis=(0, 1))
    whole = float((centred**2).sum())
    return float((only(logits, keys) ** 2).sum()) / whole if whole > 0 else 0.0


def neurons(hidden: Array) -> tuple[Array, Array]:
    """(frequency,) twice: neurons of (first, second, neuron) best explained by each, and the mean share explained.

    A frequency explains what waves of it in one number, the other, or both at once make up.
    """
    p, power = len(hidden), np.abs(np.fft.fft2(hidden, axes=(0, 1))) ** 2
    power[0, 0] = 0
    whole = power.sum(axis=(0, 1))
    each = np.zeros((p // 2, hidden.shape[-1]))
    for k in range(1, p // 2 + 1):
        at = np.ix_([0, k, -k], [0, k, -k])
        each[k - 1] = power[at].sum(axis=(0, 1))
    alive = whole > 1e-12 * max(float(whole.max(initial=0)), 1e-300)
    shares = each[:, alive] / whole[alive]
    best = shares.argmax(axis=0)
    count = np.bincount(best, minlength=p // 2).astype(float)
    total = np.bincount(best, shares.max(axis=0, initial=0), minlength=p // 2)
    return count, np.where(count > 0, total / np.maximum(count, 1), np.nan)


# ---- the model -------------------------------------------------------------------------------------------------------


def _ask(run: Run, step: int, member: int, inner: bool) -> tuple[Array, Array | None]:
    """Logits (first, second, answer) of all questions, and the last block's neurons if asked for."""
    a, params = run.architecture, nest(run.unedited.weights(step, member))
    p = a.answers
    first, second = np.divmod(np.arange(p * p), p)
    questions = np.column_stack([first, second, np.full(p * p, p)])
    place = a.read_position if a.read_position is not None else -1
    logits, hidden = [], []
    for begin in range(0, len(questions), TOGETHER):
        some = questions[begin : begin + TOGETHER]
        found, trace = reference.forward(params, some, a, editing.compiled(run, some, step, member) or None)
        logits.append(found[:, place])
        if inner and "hidden" in trace:
            hidden.append(trace["hidden"][:, -1, place])
    shape = (p, p, -1)
    return np.concatenate(logits).astype(np.float64).reshape(shape), (
        np.concatenate(hidden).astype(np.float64).reshape(shape) if hidden else None
    )


def _losses(run: Run, logits: Array, keys: tuple[int, ...]) -> list[float]:
    """Mean losses: training, test, restricted and excluded, as in Nanda et al., Progress measures for grokking.

    Restricted: all questions, from the mean logits and the key waves alone; excluded: training ones, without the waves.
    """
    p = len(logits)
    known = run.task.data(run.architecture.context).train.tokens.reshape(-1, run.architecture.context + 1)
    train = np.zeros((p, p), dtype=bool)
    train[known[:, 0], known[:, 1]] = True
    whole = _nats(logits)
    wave = only(logits, keys)
    restricted = _nats(logits.mean(axis=(0, 1)) + wave)
    return [float(whole[train].mean()), float(whole[~train].mean()), float(restricted.mean()),
            float(_nats(logits - wave)[train].mean())]  # fmt: skip


def _nats(logits: Array) -> Array:
    """(first, second): loss of the right answer."""
    p = len(logits)
    right = (np.arange(p)[:, None] + np.arange(p)) % p
    top = logits.max(axis=-1)
    total = top + np.log(np.exp(logits - top[..., None]).sum(axis=-1))
    return total - np.take_along_axis(logits, right[..., None], axis=-1)[..., 0]
