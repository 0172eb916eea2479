"""The language models, trained in full: perplexity, speed, and what the published program's traps cost.

    python benchmarks/language_models.py [GROUP ...] [--seeds N]

Prints the tables of docs/language-models.md for the machine it runs on. GROUP is published, ours, characters or others;
all of them take some minutes on a GPU and the better part of a day on two cores.
"""

import argparse
import tempfile
from pathlib import Path
from time import monotonic

import jax
import jax.numpy as jnp
import numpy as np

from glassformer import training
from glassformer.experiment import load
from glassformer.training import Outcome

LIGHT = ("train.keep_bytes=0",)
ALL_WINDOWS = (*LIGHT, "train.judged=1000000")


def main() -> None:
    """Run the groups asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("groups", nargs="*", default=list(GROUPS), metavar="GROUP")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    say(f"Measured on {jax.devices()[0].device_kind} with JAX {jax.__version__}, {given.seeds} seeds from 18 on.\n")
    for name in given.groups:
        GROUPS[name](given.seeds)


def published(seeds: int) -> None:
    """As published, and with the clipping that the published program really does."""
    say("| experiment | published | best perplexity | at step | tokens per second | of the attainable rate |")
    say("|---|---:|---:|---:|---:|---:|")
    rate = attainable()
    for name, said in {"shakespeare_bpe": 60.00, "shakespeare_bpe_long": 63.24, "shakespeare_bpe_wide": 58.35}.items():
        ended = [trained(name, LIGHT, seed) for seed in range(18, 18 + seeds)]
        speed, share = speeds(name, rate)
        perplexity, step = (
            spread([best(each)[0] for each in ended]),
            spread([best(each)[1] for each in ended], "{:,.0f}"),
        )
        say(f"| `{name}` | {said:.2f} | {perplexity} | {step} | {speed / 1e6:.1f} M | {share:.0%} |")
    say("\n| trap, put back into `shakespeare_bpe` | best perplexity | at step |\n|---|---:|---:|")
    for label, settings in {
        "none": (),
        "clipping acts on gradients multiplied by 65,536": (f"train.clip={1 / 65_536}",),
        "patience of five passes instead of one, so that the rate can fall": ("train.stop_after=5",),
    }.items():
        ended = [trained("shakespeare_bpe", (*LIGHT, *settings), seed) for seed in range(18, 18 + seeds)]
        perplexity, step = (
            spread([best(each)[0] for each in ended]),
            spread([best(each)[1] for each in ended], "{:,.0f}"),
        )
        say(f"| {label} | {perplexity} | {step} |")
    say()


def ours(seeds: int) -> None:
    """Our recipe on the published tokens and validation windows."""
    settings = (*ALL_WINDOWS, "train.log_every=100")
    ended = [trained("shakespeare", settings, seed) for seed in range(18, 18 + seeds)]
    say("| `shakespeare`, all 89,531 validation windows | |\n|---|---:|")
    say(f"| best perplexity | {spread([best(each)[0] for each in ended])} |")
    say(f"| perplexity at the last step | {spread([last(each) for each in ended])} |")
    passed = [passes(each, 58.35) for each in ended]
    say(f"| first logged step below 58.35 | {spread([step for step, _ in passed], '{:,.0f}')} |")
    step = float(np.median([step for step, _ in passed]))
    say(f"| seconds of training to get there, after compilation | {step * seconds_per_step('shakespeare'):.2f} |")
    say(f"| the same with judging all windows every 100 steps | {spread([s for _, s in passed], '{:.1f}')} |\n")
    bits = []
    for seed in range(18, 18 + seeds):
        ended_bytes = trained("shakespeare_bytes", ALL_WINDOWS, seed)
        task, context = ended_bytes.run.task, ended_bytes.run.architecture.context
        begin, end = task.bounds(context)["validation"]
        held = task.stream[begin : end + context]
        bits.append(np.log(last(ended_bytes)) / np.log(2) * len(held) / len(task.decode(held)))
    say(f"`shakespeare_bytes`, bits per character of the held-out text: {spread(bits, '{:.3f}')}\n")


def characters(seeds: int) -> None:
    """The character models that nanoGPT publishes."""
    say("| experiment | published loss | best loss | bits per character |\n|---|---:|---:|---:|")
    for name, said in {"shakespeare_chars": 1.88, "shakespeare_chars_large": 1.4697}.items():
        many = 1 if name.endswith("large") else seeds
        losses = [np.log(best(trained(name, ALL_WINDOWS, seed))[0]) for seed in range(18, 18 + many)]
        bits = [loss / np.log(2) for loss in losses]
        say(f"| `{name}` | {said} | {spread(losses, '{:.4f}')} | {spread(bits, '{:.3f}')} |")
    say()


def others(seeds: int) -> None:
    """The small tasks that share the machinery; members train together."""
    say("| experiment | steps | excess over the floor | wrong answers |\n|---|---:|---:|---:|")
    for name, settings in {
        "mary": (),
        "sort": (),
        "induction": (),
        "induction_varied": (),
        "induction_varied, one block": ("architecture.blocks=1",),
    }.items():
        ended = together(name.partition(",")[0], (*LIGHT, *settings), seeds)
        line = ended.run.metrics
        wrong = line["rule_error"][-1] if "rule_error" in line else 1 - line["accuracy"][-1]
        excess, share = np.atleast_1d(line["excess"][-1]), 100 * np.atleast_1d(wrong)
        say(f"| {name} | {ended.run.last_step:,} | {spread(excess, '{:.4f}')} | {spread(share, '{:.1f} %')} |")
    line = together("modular_addition", (*LIGHT, "train.log_every=250"), seeds).run.metrics
    right = np.atleast_2d(line["accuracy"].T)
    when = [float(line["step"][np.argmax(row > 0.99)]) if (row > 0.99).any() else np.inf for row in right]
    solved = ", ".join(f"{step:,.0f}" for step in sorted(when) if np.isfinite(step))
    many = int(np.isfinite(when).sum())
    say(f"\n`modular_addition`: {many} of {seeds} seeds answer 99 % of the unseen pairs, from step {solved} on.\n")


GROUPS = {"published": published, "ours": ours, "characters": characters, "others": others}


def say(line: str = "") -> None:
    """At once, so that an interrupted benchmark has said what it knew."""
    print(line, flush=True)


def trained(name: str, settings: tuple[str, ...], seed: int) -> Outcome:
    """One full training in a folder that goes away."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = training.begin(load(name, settings, seed=seed), out=Path(folder) / "run")
        _ = (
            outcome.run.metrics,
            outcome.run.times,
            outcome.run.last_step,
            outcome.run.task.stream[:1],
        )  # read while there
        return outcome


def together(name: str, settings: tuple[str, ...], seeds: int) -> Outcome:
    """Some members at once."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = training.begin(load(name, settings), seeds=seeds, out=Path(folder) / "run")
        _ = outcome.run.metrics, outcome.run.last_step
        return outcome


def best(outcome: Outcome) -> tuple[float, float]:
    """Lowest validation perplexity, and its step."""
    loss = outcome.run.metrics["validation_loss"]
    return float(np.exp(loss.min())), float(outcome.run.metrics["step"][loss.argmin()])


def last(outcome: Outcome) -> float:
    """Validation perplexity at the last step."""
    return float(np.exp(outcome.run.metrics["validation_loss"][-1]))


def passes(outcome: Outcome, perplexity: float) -> tuple[float, float]:
    """The first logged step below a perplexity, and the seconds from the first line to that one."""
    line, times = outcome.run.metrics, outcome.run.times
    below = np.exp(line["validation_loss"]) < perplexity
    if not below.any():
        return np.inf, np.inf
    step = line["step"][np.argmax(below)]
    seconds = times["seconds"][times["step"] == step][0] - times["seconds"][0]
    return float(step), float(seconds)


def speeds(name: str, rate: float) -> tuple[float, float]:
    """Tokens per second of the steps alone, and their multiplications as a share of what this machine can do."""
    experiment = load(name)
    a = experiment.architecture
    tokens = experiment.train.batch * a.context / seconds_per_step(name)
    attention = 12 * a.blocks * a.inner * a.context  # scores and mixing, forward and back, per token
    matrices = 6 * (a.parameters - a.vocabulary * a.width)  # looking up a token multiplies nothing
    return tokens, tokens * (matrices + attention) / rate


def seconds_per_step(name: str) -> float:
    """Of the quickest of six stretches of 100 steps, nothing judged or written between."""
    from glassformer.engine import Engine

    engine = Engine(load(name, ("train.judged=8", "train.keep_bytes=0", "train.log_every=100"), steps=600), [18])
    state = engine.start()
    seconds = []
    for begin, end in engine.plan.stretches(0):
        jax.block_until_ready(state.flat)
        began = monotonic()
        state, _, _ = engine.stretch(state, begin, end)
        jax.block_until_ready(state.flat)
        seconds.append((monotonic() - began) / (end - begin))
    return min(seconds)


def attainable() -> float:
    """Multiplications and additions per second of a large product, in the precision that training uses."""
    kind = jnp.bfloat16 if jax.default_backend() == "gpu" else jnp.float32
    size = 8192 if jax.default_backend() == "gpu" else 1024
    a = jnp.ones((size, size), kind)
    product = jax.jit(lambda x: x @ a)
    jax.block_until_ready(product(a))
    began = monotonic()
    for _ in range(10):
        a_out = product(a)
    jax.block_until_ready(a_out)
    return 10 * 2 * size**3 / (monotonic() - began)


def spread(values: object, form: str = "{:.2f}") -> str:
    """The median, and the range where there are several."""
    numbers = np.asarray(values, dtype=float)
    middle = form.format(float(np.median(numbers)))
    return middle if len(numbers) == 1 else f"{middle} ({form.format(numbers.min())} to {form.format(numbers.max())})"


if __name__ == "__main__":
    main()
