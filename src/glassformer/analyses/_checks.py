"""The doctor's rules: each looks at one sign of health, and names an illness with evidence, cause and remedy.

Thresholds were chosen on runs made ill on purpose; those of tests and benchmarks were trained with other seeds, tasks
and sizes. A run that has come to the end of its ladder is not called ill for how it got there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from glassformer import summary
from glassformer.analyses import _clock
from glassformer.analyses._result import Array, listed, percent, thousands
from glassformer.analyses._symptoms import Symptoms, ending
from glassformer.summary import SLACK

LEFT = 0.05  # share of the ladder that may be left at its end
WRONG = 0.02  # share of answers that may be wrong there, where each question has one
STUCK = 0.15  # share of the ladder left when a run that no longer moves is stuck, on a rung or not
GAP = 0.10  # nats, and share of the ladder, between training and held-out loss
SMALL, LARGE = 3e-5, 6e-2  # one update, as a share of the weights
REACH = 1e-4  # gradient at the embedding against that of the part that has most
STEEP = 1e3  # length of a gradient
SILENT = 0.9  # share of a block's neurons
MOVED, VARIES = 0.02, 2e-3  # attention: way from its start; standard deviation over windows
SIGNAL = 1e-4  # share of what is read out that depends on the window
SPIKE = 0.15  # share of the ladder by which a loss jumps
WAITED = 0.2  # share of the training without progress, after which it has converged
MANY, LATE = 3, 0.9  # spikes: so many are an illness, and one after this share of the training
FALSE = 0.01  # share of training answers that the rule forbids


@dataclass(frozen=True)
class Finding:
    """An illness, or something worth knowing, with its evidence, its usual cause and something to try."""

    illness: str
    evidence: str
    cause: str
    remedy: str
    step: int | None = None
    serious: bool = True

    def told(self) -> dict[str, object]:
        """As it stands in an answer of the command line, whose numbers have commas."""
        said = {"illness": self.illness, "evidence": self.evidence, "cause": self.cause, "try": self.remedy}
        comma = {name: words.replace(thousands(1000)[1], ",") for name, words in said.items()}
        return {**comma, "step": self.step, "serious": self.serious}


@dataclass(frozen=True)
class Check:
    """One sign of health: its curve, the line it should not cross, and what was found."""

    name: str
    steps: Array
    values: Array
    value: float  # what is judged; NaN: not measured
    limit: float  # NaN: there is no line to draw
    unit: str
    finding: Finding | None = None
    ill_above: bool = True  # on which side of the limit it is ill

    @property
    def beyond(self) -> bool:
        """Whether the number judged lies on the unhealthy side of its limit."""
        return bool(self.value > self.limit if self.ill_above else self.value < self.limit)

    @property
    def verdict(self) -> str:
        """healthy, ill, note, or not measured."""
        if self.finding is not None:
            return "ill" if self.finding.serious else "note"
        return "note" if self.beyond else "healthy" if np.isfinite(self.value) else "not measured"


def arrived(s: Symptoms) -> bool:
    """Whether a task is at the end of its ladder, as far as health goes; never a text. `summary.solved` is stricter."""
    return s.run.task.exact and well(s)


def well(s: Symptoms) -> bool:
    """Whether it has come to the end of its ladder; there a text is known as well as by counting."""
    return bool(s.left < LEFT or (s.left < STUCK and s.wrong < WRONG))


def checks(s: Symptoms) -> list[Check]:
    """Every check, causes before consequences."""
    return [check(s) for check in CHECKS]


def questions() -> tuple[str, ...]:
    """What each check calls healthy, and which number is judged."""
    return tuple((check.__doc__ or "").strip() for check in CHECKS)


def finite(s: Symptoms) -> Check:
    """The loss stays a number, not far above its start (judged: its highest)."""
    values, steps = s.train, s.steps
    known = values[np.isfinite(values)]
    limit = max(float(known[0]) if len(known) else s.blind, s.blind) + GAP * s.height
    bad = ~np.isfinite(values) | ~np.isfinite(s.validation) if len(known) else np.zeros(len(values), bool)
    finding = None
    if bad.any() or s.run.about.get("status") == "diverged":
        at = int(steps[bad][0]) if bad.any() else s.run.last_step
        finding = Finding(
            "exploding loss", f"the loss is not a number from step {thousands(at)} on",
            f"the steps are too large (rate {s.run.experiment.train.rate:g}), so that the numbers overflow",
            "a tenth of the rate, a warm-up, or train.clip = 1.0", at)  # fmt: skip
    elif len(known) > 1 and ending(known) > limit:
        finding = Finding(
            "exploding loss", f"the training loss ends at {known[-1]:.2f}, above its start {known[0]:.2f} and above "
            f"blind guessing, {s.blind:.2f} nats per token",
            f"the steps are too large (rate {s.run.experiment.train.rate:g})",
            "a tenth of the rate, a warm-up, or train.clip = 1.0", int(steps[-1]))  # fmt: skip
    value = float(np.max(known)) if len(known) else float("nan")
    return Check("loss is a number", steps, values, value, limit, "nats", finding)


def labels(s: Symptoms) -> Check:
    """The training answers obey the rule (judged: the share that does not)."""
    share = s.contradicted
    finding = None
    if share > FALSE:
        finding = Finding(
            "labels contradict the rule", f"{percent(share)} of the training answers are not what the task's rule "
            "allows", "the labels were shuffled or are wrong: there is nothing to learn but the examples themselves",
            "mend the training data; to see what memorising costs, train on and watch the gap", 0)  # fmt: skip
    return Check("labels obey the rule", np.zeros(0), np.zeros(0), share, FALSE, "share of answers", finding)


def updates(s: Symptoms) -> Check:
    """Updates are neither tiny nor huge (judged: the largest, over the weights)."""
    steps, values = s.ratio
    if not len(values):
        return Check("size of updates", steps, values, float("nan"), LARGE, "share of the weights")
    peak, at = float(values.max()), int(steps[int(values.argmax())])
    rate = s.run.experiment.train.rate
    finding = None
    if peak > LARGE and not well(s):
        finding = Finding(
            "updates too large", f"at step {thousands(at)} one update is {percent(peak)} as long as the weights; up to "
            f"{percent(LARGE)} is usual", f"the rate, {rate:g}, is too high: each step jumps over what it aims at",
            f"train.rate = {rate / 30:.1g} to {rate / 300:.1g}, or a warm-up", at)  # fmt: skip
    elif peak < SMALL and not well(s):
        finding = Finding(
            "updates too small", f"no update is longer than {100 * peak:.1g} % of the weights; 0.01 % to 1 % is usual",
            f"the rate, {rate:g}, is too low for {thousands(s.run.last_step)} steps",
            f"train.rate = {rate * 100:.1g} to {rate * 1000:.1g}", at)  # fmt: skip
    return Check("size of updates", steps, values, peak, SMALL if peak < SMALL else LARGE, "share of the weights",
                 finding, ill_above=peak >= SMALL)  # fmt: skip


def gradients(s: Symptoms) -> Check:
    """The gradient reaches the embedding (judged: its share of the largest)."""
    steps, values = s.reach
    norm = s.metric("gradient.all")
    steep = np.flatnonzero(norm > STEEP)
    value = float(np.median(values)) if len(values) else float("nan")
    finding = None
    if len(steep) and not well(s):
        at = int(s.steps[steep[0]])
        finding = Finding(
            "exploding gradients", f"the gradient is {float(np.nanmax(norm)):.3g} long, first above {STEEP:g} at step "
            f"{thousands(at)}", "each block multiplies the error that flows back through it",
            "train.clip = 1.0, a lower rate, a norm, or smaller initial weights", at)  # fmt: skip
    elif value < REACH and not well(s):
        why = [f"{s.run.architecture.blocks} blocks each shrink what flows back"]
        if not s.run.architecture.residual:
            why.insert(0, "the residual paths are missing")
        if updates(s).finding is not None:
            why = ["updates of the wrong size have saturated what the gradient must pass"]
        finding = Finding(
            "vanishing gradients", f"per parameter the embedding gets {value:.1g} of the gradient of the part that has "
            "most (median over the training)", listed(why),
            "architecture.residual = true, fewer blocks, or a norm before each block", int(steps[0]))  # fmt: skip
    return Check("gradient reach", steps, values, value, REACH, "share of the largest", finding, False)


def signal(s: Symptoms) -> Check:
    """The answer depends on the input (judged: the share that does)."""
    steps, values = s.look("signal")
    value = float(values[-1]) if len(values) and np.isfinite(values[-1]) else float("nan")
    finding = None
    if value < SIGNAL and not well(s):
        finding = Finding(
            "signal lost", f"at most {max(value, 1e-8):.1g} of what the model reads out depends on its input",
            "the blocks average the input away (no residual paths, or saturated attention and dead neurons)",
            "architecture.residual = true, fewer blocks, a lower rate", int(steps[-1]))  # fmt: skip
    return Check("signal reach", steps, values, value, SIGNAL, "share of the stream", finding, False)


def neurons(s: Symptoms) -> Check:
    """The neurons fire (judged: the share of a block's that never does on up to 64 windows)."""
    steps, values = s.look("silent")
    value = float(values[-1]) if len(values) else float("nan")
    finding = None
    if value > SILENT and not well(s):
        finding = Finding(
            "dead neurons", f"{percent(value)} of the neurons of a block fire on none of the windows tried at step "
            f"{thousands(int(steps[-1]))}", "large steps pushed them to where their gradient is zero",
            "a lower rate or a warm-up; architecture.activation = gelu", int(steps[-1]))  # fmt: skip
    return Check("silent neurons", steps, values, value, SILENT, "share", finding)


def attention(s: Symptoms) -> Check:
    """Attention has moved from its start (judged: by how much of its weight)."""
    steps, values = s.look("moved")
    varies, spread = s.look("varies")[1], s.look("spread")[1]
    value = float(values[-1]) if len(values) > 1 and np.isfinite(values[-1]) else float("nan")
    finding = None
    if np.isfinite(value) and not well(s):
        at = int(steps[-1])
        if value < MOVED:
            finding = Finding(
                "attention frozen", f"no head has moved more than {percent(value)} of its weight since its first step",
                "no gradient reaches queries and keys, or the steps are too small",
                "a higher rate, residual paths, or larger initial queries and keys", at)  # fmt: skip
        elif varies[-1] < VARIES:
            finding = Finding(
                "attention collapsed", f"every head looks the same way whatever the input (it varies by "
                f"{varies[-1]:.1g}); its entropy is {percent(float(spread[-1]))} of a look at all keys alike",
                "all positions have come to look alike, or scores have grown until one key always wins",
                "residual paths, a lower rate, a norm before attention", at)  # fmt: skip
    return Check("attention moves", steps, values, value, MOVED, "share of weight", finding, False)


def gap(s: Symptoms) -> Check:
    """Training data are not known much better (judged: the gap in nats)."""
    values, steps = s.gap, s.steps
    known = values[np.isfinite(values)]
    value = ending(known)
    limit = max(GAP, GAP * s.height)
    low = s.validation[np.isfinite(s.validation)]
    finding = None
    if len(low) > 1 and value > limit and not arrived(s) and finite(s).finding is None:
        best = int(np.nanargmin(s.validation))
        rose = float(ending(low) - low.min()) > s.close
        if rose or (s.falling < s.close and not well(s)):
            finding = Finding(
                "overfitting", f"the training loss ends at {s.train[-1]:.2f}, the {s.whose} one at {low[-1]:.2f}: a "
                f"gap of {value:.2f} nats" + (f"; on those windows it was best, {low.min():.2f}, at step "
                f"{thousands(int(steps[best]))}" if rose else ""),
                "the examples are memorised: too few of them for so large a model and so long a training",
                f"more training examples, a smaller model, decay or dropout, or stop at step "
                f"{thousands(int(steps[best]))}", int(steps[best]))  # fmt: skip
    return Check(f"gap to {s.whose} loss", steps, values, value, limit, "nats", finding)


def falling(s: Symptoms) -> Check:
    """The loss falls below blind guessing (judged: its end, in nats)."""
    values, steps = s.train, s.steps
    known = values[np.isfinite(values)]
    first = float(known[0]) if len(known) else s.blind
    limit = min(s.blind - SLACK * s.height, first - LEFT * (first - s.floor))
    value = ending(known) if len(known) > 1 else float("nan")
    finding = None
    if np.isfinite(value) and value > limit and not (s.falling > s.close and updates(s).finding is None):
        finding = Finding(
            "not falling", f"after {thousands(int(steps[-1]))} steps the training loss is {value:.2f}, from "
            f"{known[0]:.2f}; blind guessing costs {s.blind:.2f} nats per token",
            "the rate is too low or far too high, or no gradient arrives",
            "another rate (ten times more, ten times less), another seed", int(steps[-1]))  # fmt: skip
    return Check("loss falls", steps, values, value, limit, "nats", finding)


def plateau(s: Symptoms) -> Check:
    """It does not stop short of the ladder's end (judged: the share of the way left)."""
    with np.errstate(all="ignore"):
        values = (s.validation - s.floor) / s.height
    still = np.isfinite(s.falling) and s.falling < s.close
    finding = None
    if still and s.left > LEFT and falling(s).finding is None and gap(s).finding is None:
        late = s.validation[s.tail]
        where, on = _where(s, float(np.median(late)))
        pairs = s.ladder[min(2, len(s.ladder) - 1)].nats  # of a text: counts of pairs, which need no look back
        if on or s.left > STUCK if s.run.task.exact else np.median(late) > pairs - s.close:
            since = int(s.steps[s.tail][0])
            finding = Finding(
                "stuck on a rung", f"from step {thousands(since)} on the {s.whose} loss stays between {late.min():.2f} "
                f"and {late.max():.2f} nats per token, {where}; {_least(s)} is at {s.floor:.2f}",
                "this much can be had without the next piece of the rule; finding it needs a part, an example or a "
                "step size that the run lacks (answers that have nothing to do with the questions look the same)",
                "another seed, a higher rate with warm-up, a longer training, more heads, blocks or width",
                since)  # fmt: skip
    return Check("left of the ladder", s.steps, values, s.left, STUCK, "share of the ladder", finding)


def spikes(s: Symptoms) -> Check:
    """The loss does not jump (judged: the largest jump, over the ladder)."""
    values, steps = s.train, s.steps
    jumps = np.zeros(len(values))
    for k in range(1, len(values)):
        jumps[k] = max(0.0, values[k] - float(np.median(values[max(0, k - 5) : k]))) / s.height
    jumps = np.nan_to_num(jumps)
    many = np.flatnonzero(jumps > SPIKE)
    finding = None
    if len(many) and not well(s):
        at, late = int(steps[many[0]]), steps[many[-1]] >= LATE * steps[-1]
        finding = Finding(
            "spikes", f"the training loss jumps by more than {percent(SPIKE)} of the way from a uniform guess to "
            f"{_least(s)}, {'once' if len(many) == 1 else f'{len(many)} times'}, first at step {thousands(at)}",
            "some batches push the weights too far", "a lower rate, train.clip = 1.0, a larger batch, or a warm-up", at,
            serious=len(many) >= MANY or bool(late))  # fmt: skip
    value = float(jumps.max()) if len(jumps) > 1 else float("nan")
    return Check("spikes", steps, jumps, value, SPIKE, "share of the ladder", finding)


def schedule(s: Symptoms) -> Check:
    """The held-out loss ends near its best (judged: its end, in nats)."""
    stop = converged(s)
    finding = None
    last = int(s.steps[-1]) if len(s.steps) else 0
    at_rest = not s.run.task.exact and all(each(s).finding is None for each in (finite, updates, gap, falling, plateau))
    if stop is not None and (arrived(s) or at_rest):
        finding = Finding(
            "converged", f"from step {thousands(stop)} on the {s.whose} loss stays within {_share(s, s.close)} of its "
            f"best{f', and {percent(_left(s))} is left to learn' if s.run.task.exact else ''}{_way(s)}",
            _learnt(s) if s.run.task.exact else
            "this training teaches this model no more of the text; nobody knows how much is left",
            f"stop at step {thousands(stop)} next time (train.steps = {stop})"
            + ("" if s.run.task.exact else "; for a lower loss more text, a larger model, another rate"), stop,
            serious=False)  # fmt: skip
    elif not arrived(s) and s.falling > s.close and updates(s).finding is None and gap(s).finding is None:
        finding = Finding(
            "unfinished", f"from step {thousands(int(s.steps[s.tail][0]))} on the {s.whose} loss still falls, between "
            f"the halves of that time by {_share(s, s.falling)}{_way(s)}", "it was stopped while it learns",
            "more steps (train.steps)", last, serious=False)  # fmt: skip
    known = s.validation[np.isfinite(s.validation)]
    near = float(_clock.smooth(known).min()) + s.close if len(known) > 1 else float("nan")
    value = ending(known) if len(known) > 1 else float("nan")
    return Check("converged", s.steps, s.validation, value, near, "nats", finding)


CHECKS: tuple[Callable[[Symptoms], Check], ...] = (
    finite, labels, updates, gradients, signal, neurons, attention, gap, falling, plateau, spikes, schedule,
)  # fmt: skip


def converged(s: Symptoms) -> int | None:
    """The first logged step from which the held-out loss stays close to its best, a fifth of the training or longer.

    Not before it has passed the last rung that it passes: who would stop earlier would miss that.
    """
    low = _clock.smooth(s.validation)
    if not len(low) or not np.isfinite(low).all():
        return None
    after = np.maximum.accumulate(low[::-1])[::-1]
    near = np.flatnonzero(after <= low.min() + s.close)
    if not len(near):
        return None
    stop = max(int(s.steps[near[0]]), *(step for _, step in _clock.passed(s.run, s.member) if step is not None), 0)
    return stop if 1 - np.interp(stop, s.steps, _life(s)) >= WAITED else None


def _life(s: Symptoms) -> Array:
    """(line,): how much of the training is over: of its rate, or once it has arrived, of its steps."""
    return s.steps / max(s.steps[-1:].sum(), 1) if arrived(s) else s.spent


def signs(s: Symptoms) -> Iterator[tuple[str, int | None]]:
    """The four signs to stop by, and the first logged step at which each was met."""
    low, steps = _clock.smooth(s.validation), s.steps
    best = np.fmin.accumulate(low)
    since = [int(np.argmax(low <= best[k] + s.close)) for k in range(len(low))]  # as good as now, or nearly
    life = _life(s)
    good = s.metric("accuracy") if "accuracy" in s.run.metrics else 1 - s.metric("rule_error_answerable")
    for name, met in (
        ("no progress for a fifth of the run", life - life[since] >= WAITED),
        (f"{s.whose} loss above its best", low > best + s.close),
        (f"training loss far below {s.whose}", s.gap > max(GAP, GAP * s.height)),
        ("95 % right", good >= 0.95),
    ):
        first = np.flatnonzero(met)
        yield name, int(steps[first[0]]) if len(first) else None


def _where(s: Symptoms, loss: float) -> tuple[str, bool]:
    """The rung a loss stands on, or the two it lies between; and whether it stands on one."""
    rungs = s.ladder
    on = [
        rung
        for rung in rungs[:-1]
        if abs(loss - rung.nats) <= SLACK * s.height and rung.nats - s.floor > LEFT * s.height
    ]
    if on:
        rung = min(on, key=lambda each: abs(loss - each.nats))
        return f"on the rung “{rung.name}” ({rung.nats:.2f})", True
    above, below = [r for r in rungs if r.nats > loss], [r for r in rungs if r.nats <= loss]
    high = f"“{above[-1].name}” ({above[-1].nats:.2f})" if above else "the top of the ladder"
    low = f"“{below[0].name}” ({below[0].nats:.2f})" if below else _least(s)
    return f"between {high} and {low}", False


def _share(s: Symptoms, nats: float) -> str:
    """A difference of losses, as a share of the ladder; of a text, of its perplexity."""
    return percent(nats / s.height) if s.run.task.exact else f"{percent(1 - np.exp(-nats))} of its perplexity"


def _left(s: Symptoms) -> float:
    """What the verdict says of the same line; `s.left`, which is judged, is steadier."""
    return max(summary.share_left(s.run, summary.members(s.run)[s.member]), 0.0)


def _learnt(s: Symptoms) -> str:
    """Why it no longer moves; where that is not because all is learnt, the verdict says what is missing."""
    member = summary.members(s.run)[s.member]
    return "the task is learnt" if summary.solved(s.run, member) else summary.verdict(s.run, member)


def _way(s: Symptoms) -> str:
    return f" (100 % is the way from a uniform guess to {_least(s)})" if s.run.task.exact else ""


def _least(s: Symptoms) -> str:
    """What the ladder ends with; of a text, nobody knows the least loss."""
    return "the floor" if s.run.task.exact else "the best table of counts"
