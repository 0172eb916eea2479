"""Waves in a model that adds on a clock: frequencies of its embedding, its neurons and its answers."""

from dataclasses import dataclass

import numpy as np

from glassformer import reference
from glassformer.analyses import _clock
from glassformer.analyses._result import Array, Labelled, Result, Words, listed, percent, shared, thousands, result
from glassformer.architecture import nest
from glassformer.errors import CallError
from glassformer.run import Run

ORDER = 80
ANSWERS = ("new",)
COST = "c"


KEY = 3.0  # times the share of an even spectrum, from where a frequency is a key one
MOST_STEPS = 4  # at which all questions are asked
TOGETHER = 1500  # questions asked side by side
MOST_LIFE = 60  # steps at which only the embedding is looked at
PARTS = ("training", "test", "restricted", "excluded")


@result
class Fourier(Result):
    """Power by frequency: of the token embedding, of the answers over both numbers, of every neuron."""

    spectrum: Labelled  # (frequency,): share of the embedding's variance over the numbers
    over_life: Labelled  # (step, frequency): the same at some kept steps
    answers: Labelled  # (first_number, second_number): share of the logits' variance by the frequency in each number
    losses: Labelled  # (part, step): training, test; all questions from key frequencies alone, and without them
    logged: Labelled  # (part, step): training and test loss, as logged
    neurons: Labelled  # (frequency,): neurons that this frequency explains best
    explained: Labelled  # (frequency,): mean share of their variance that it explains; NaN where there are none
    keys: tuple[int, ...]
    even: float  # share of each frequency in an even spectrum
    held: float  # share of the embedding's variance in the key frequencies
    summed: float  # share of the logits' variance in waves of the sum at key frequencies
    modulus: int
    steps: tuple[int, ...]


def applies(run: Run) -> str | None:
    """Why there are no residues here; None where there are."""
    return None if run.experiment.task_name == "modular_addition" else "the task is not modular addition"


@shared
def fourier(run: Run, *, step: int = -1, member: int = 0) -> Fourier:
    """Spectra at a kept step, and over life what the key frequencies of that step can and cannot do."""
    if why := applies(run):
        raise CallError(why)
    step, p = _clock.resolve(run, step), run.architecture.answers
    table = run.weights(step, member)["token"][:p].astype(np.float64)
    shares = spectrum(table)
    keys = tuple(int(k) + 1 for k in np.flatnonzero(shares >= KEY / len(shares)))
    life = sorted({*_clock.looks(run, MOST_LIFE, member), step})
    asked = sorted({*_clock.kept(run, MOST_STEPS), step})
    losses, logits, hidden = [], np.zeros(0), None
    for each in asked:
        found, inner = _ask(run, each, member, each == step)
        losses.append(_losses(run, found, keys))
        if each == step:
            logits, hidden = found, inner
    many, explained = neurons(hidden) if hidden is not None else (np.zeros(len(shares)), np.full(len(shares), np.nan))
    waves = tuple(str(k + 1) for k in range(len(shares)))
    folded = tuple(str(k) for k in range(len(shares) + 1))
    return Fourier(
        step=step,
        clock=_clock.text(run, step, member),
        spectrum=Labelled(shares, {"frequency": waves}, "share"),
        over_life=Labelled(
            np.array([spectrum(run.weights(at, member)["token"][:p].astype(np.float64)) for at in life]),
            {"step": tuple(map(str, life)), "frequency": waves},
            "share",
        ),
        answers=Labelled(plane_power(logits), {"first_number": folded, "second_number": folded}, "share"),
        losses=Labelled(np.array(losses).T, {"part": PARTS, "step": tuple(map(str, asked))}, "nats per token"),
        logged=Labelled(
            np.array([_clock.metric(run, name, member) for name in ("train_loss", "validation_loss")], dtype=float),
            {"part": PARTS[:2], "step": tuple(str(int(at)) for at in run.metrics["step"])},
            "nats per token",
        ),
        neurons=Labelled(many, {"frequency": waves}, "neurons"),
        explained=Labelled(explained, {"frequency": waves}, "share"),
        keys=keys,
        even=1 / len(shares),
        held=float(shares[[k - 1 for k in keys]].sum()) if keys else 0.0,
        summed=summed_share(logits, keys),
        modulus=p,
        steps=tuple(asked),
    )


@result
class Spectrum(Result):
    """The embedding's spectrum at one step."""

    spectrum: Labelled  # (frequency,)


def spectrum_at(run: Run, *, step: int = -1, member: int = 0) -> Spectrum:
    """Share of the embedding's variance at each frequency."""
    if why := applies(run):
        raise CallError(why)
    step, p = _clock.resolve(run, step), run.architecture.answers
    shares = spectrum(run.weights(step, member)["token"][:p].astype(np.float64))
    waves = tuple(str(k + 1) for k in range(len(shares)))
    return Spectrum(step=step, spectrum=Labelled(shares, {"frequency": waves}, "share"))


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
    power = np.fft.fft2(logits, axes=(0, 1))
    kept = np.zeros_like(power)
    for k in keys:
        for at in (k, -k):  # cos and sin of k (a + b) live where both indices are k
            kept[at, at] = power[at, at]
    return np.real(np.fft.ifft2(kept, axes=(0, 1)))


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
    a, params = run.architecture, nest(run.weights(step, member))
    p = a.answers
    first, second = np.divmod(np.arange(p * p), p)
    questions = np.column_stack([first, second, np.full(p * p, p)])
    place = a.read_position if a.read_position is not None else -1
    logits, hidden = [], []
    for begin in range(0, len(questions), TOGETHER):
        found, trace = reference.forward(params, questions[begin : begin + TOGETHER], a)
        logits.append(found[:, place])
        if inner and "hidden" in trace:
            hidden.append(trace["hidden"][:, -1, place])
    shape = (p, p, -1)
    return np.concatenate(logits).astype(np.float64).reshape(shape), (
        np.concatenate(hidden).astype(np.float64).reshape(shape) if hidden else None
    )


def _losses(run: Run, logits: Array, keys: tuple[int, ...]) -> list[float]:
    """Mean losses: on training and on test questions; on all, with the key waves of the sum alone and without them."""
    p = len(logits)
    known = run.task.data(run.architecture.context).train.tokens.reshape(-1, run.architecture.context + 1)
    train = np.zeros((p, p), dtype=bool)
    train[known[:, 0], known[:, 1]] = True
    whole = _nats(logits)
    wave = only(logits, keys)
    return [float(whole[train].mean()), float(whole[~train].mean()), float(_nats(wave).mean()),
            float(_nats(logits - wave)[train].mean())]  # fmt: skip


def _nats(logits: Array) -> Array:
    """(first, second): loss of the right answer."""
    p = len(logits)
    right = (np.arange(p)[:, None] + np.arange(p)) % p
    top = logits.max(axis=-1)
    total = top + np.log(np.exp(logits - top[..., None]).sum(axis=-1))
    return total - np.take_along_axis(logits, right[..., None], axis=-1)[..., 0]  # type: ignore[no-any-return]


def say(seen: Fourier) -> Words:
    """How many key frequencies, how much they hold, and whether they are what the model answers with."""
    caption = (
        f"Top left: share of the token embedding's variance over the {seen.modulus} numbers at each frequency (sine "
        "and cosine together), faint at the first kept step; the dashed line is an even spectrum, and from "
        f"{KEY:g} times that a frequency is a key one (coloured, numbered). Top right: the logits of all questions "
        "transformed in both numbers; addition on a clock lights up equal frequencies, on the diagonal. Bottom left: "
        "loss on training and test questions, the loss on all questions with the key waves of the sum alone "
        "(restricted), and that on training questions without these waves (excluded); the keys are those of the "
        "chosen step. Bottom right: neurons by the frequency that explains them best, with the mean share of their "
        "variance it explains. Everything is exact, over all questions. A model that learned by heart has no key "
        "frequencies, and loses nothing when they are excluded."
    )
    step, test = thousands(seen.step or 0), seen.losses.values[1, seen.steps.index(seen.step or 0)]
    if not np.isfinite(seen.spectrum.values).all() or not np.isfinite(test):
        title = f"At step {step} the weights are not numbers: the training has diverged"
    elif not seen.keys:
        top = int(np.argmax(seen.spectrum.values))
        title = (
            f"At step {step} no frequency stands out: the strongest, {top + 1}, holds "
            f"{percent(float(seen.spectrum.values[top]))} of the embedding's variance, even were {percent(seen.even)}"
        )
    else:
        named = listed([str(k) for k in seen.keys]) if len(seen.keys) <= 8 else f"{len(seen.keys)} of them"
        word = "frequency" if len(seen.keys) == 1 else "frequencies"
        title = (
            f"Key {word} {named} hold {percent(seen.held)} of the embedding's variance and {percent(seen.summed)} of "
            f"the logits' as waves of the sum; test loss {test:.3g}"
        )
    return Words(title, caption, f"Bars of a spectrum, a map of frequencies, curves of loss. {title}.")
