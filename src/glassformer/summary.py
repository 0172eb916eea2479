"""What a run learnt, in numbers and in words: measured against the floor, and honest about what no model could see."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from glassformer.run import Run
from glassformer.tasks import Rung
from glassformer.words import power

WORSE = 1.005  # times the best perplexity, from which the best step is named
SLACK = 0.02  # share of the ladder's height within which a rung counts as reached
SOLVED_ERROR, SOLVED_EXCESS = 0.02, 0.02  # under these a member has learnt the rule


def members(run: Run) -> list[dict[str, Any]]:
    """The last logged numbers of every member; NaN where a foreign line lacks one."""
    last = {name: np.broadcast_to(column[-1], run.members) for name, column in run.metrics.items() if name != "step"}
    names = {"loss": "train_loss", "validation_loss": "validation_loss", "excess": "excess"}
    names |= {name: name for name in ("rule_error", "rule_error_answerable", "accuracy") if name in last}
    unknown = np.full(run.members, np.nan)
    return [
        {"seed": seed} | {name: float(last.get(source, unknown)[k]) for name, source in names.items()}
        for k, seed in enumerate(run.seeds)
    ]


class Mark(NamedTuple):
    """By which number a task counts as learnt, and below which limit."""

    metric: str
    name: str
    limit: float

    def value(self, member: dict[str, Any]) -> float:
        """The number of a member that is judged."""
        return 1 - member["accuracy"] if self.metric == "accuracy" else float(member[self.metric])


def mark(run: Run) -> Mark:
    """Hardly an error where there is one answer, hardly any excess elsewhere; the one measure of `learnt` there is."""
    if "accuracy" in run.metrics and run.task.answers == "one":
        return Mark("accuracy", "error", 1e-9)
    if "rule_error_answerable" in run.metrics and one_answer(run):
        return Mark("rule_error_answerable", "rule error in view", SOLVED_ERROR)
    return Mark("excess", "excess loss", SOLVED_EXCESS)


def judged_windows(run: Run) -> dict[str, int]:
    """How many windows of each part are behind the last logged line; empty where it does not say."""
    told = run.lines[-1].get("judged") if run.lines else None
    many = told if isinstance(told, dict) else {}
    return {part: number for part, number in many.items() if type(number) is int}


def judged_questions(run: Run) -> str:
    """What the questions are by which a training is judged: new ones, or some that it has met."""
    leak = run.task.data(run.architecture.context).leak(run.architecture.context + 1)
    return f"questions, of which {_percent(leak)} occur in training" if leak else "questions outside the training set"


def solved(run: Run, member: dict[str, Any]) -> bool:
    """Whether a member has learnt its task."""
    judged = mark(run)
    return judged.value(member) < judged.limit


def verdict(run: Run, member: dict[str, Any]) -> str:
    """Whether a member has learnt its task and by which number: the sentence that train, score and check share."""
    if not np.isfinite(member["validation_loss"]):
        return "not learnt: the training diverged"
    if not run.task.exact:
        return "nobody knows how much of a text is left to learn, so there is no verdict"
    judged, learnt = mark(run), solved(run, member)
    value, word = judged.value(member), "learnt" if learnt else "not learnt"
    if judged.metric == "excess":
        return f"{word}: {value:.4f} nats per token above the floor, where less than {judged.limit:g} counts as learnt"
    if judged.metric == "accuracy":
        found = "no judged answer is wrong" if learnt else f"{_percent(value)} of the judged answers are wrong"
        found += "" if learnt else ", where none may be"
    else:
        found = f"{_percent(value)} of the answers in view are wrong, where less than {_percent(judged.limit)} may be"
    left = share_left(run, member)
    if learnt and left > SLACK:
        found += f"; {_percent(left)} of the way from a uniform guess to the floor is left: it could be surer of them"
    return f"{word}: {found}"


def share_left(run: Run, member: dict[str, Any]) -> float:
    """How much of the way from a uniform guess to the floor is left."""
    ladder = [each for each in run.task.ladder(run.architecture.context) if each.reachable]
    return float(member["excess"] / max(ladder[0].nats - ladder[-1].nats, 1e-9))


def one_answer(run: Run) -> bool:
    """Whether every answerable position has a single right token."""
    seen = run.task.examples(run.architecture.context, "validation", 500)
    counts = seen.allowed.sum(-1)[seen.answerable]
    return bool(len(counts)) and bool((counts == 1).all())


def slack(ladder: Sequence[Rung]) -> float:
    """How far above a rung's price a loss still counts as on it: a fiftieth of the whole ladder, in nats."""
    return SLACK * (ladder[0].nats - ladder[-1].nats)


def rung(ladder: Sequence[Rung], loss: float, excess: float = np.inf) -> Rung | None:
    """The lowest rung of a ladder that a loss has reached; None: it is above all of them, or no number.

    Rungs are averages over all windows there could be. On the last one stands as well who has hardly any excess over
    the floor of the very windows judged, which may be harder than the average.
    """
    near = slack(ladder)
    reached = [each for each in ladder if loss <= each.nats + near or (each is ladder[-1] and excess <= near)]
    return reached[-1] if reached else None


def place(ladder: Sequence[Rung], loss: float, excess: float = np.inf) -> tuple[Rung | None, Rung | None, float]:
    """The lowest rung that a loss has reached; the next one and the share of the way to it, if it is well beyond.

    The way to the last rung is measured by the excess, where that is known.
    """
    above = rung(ladder, loss, excess)
    if above is None or above is ladder[-1] or loss >= above.nats - slack(ladder):
        return above, None, 0.0
    below = ladder[ladder.index(above) + 1]
    left = excess if below is ladder[-1] and np.isfinite(excess) else loss - below.nats
    return above, below, float(np.clip(1 - left / (above.nats - below.nats), 0, 1))


def sentences(run: Run) -> Iterator[str]:
    """What was learnt, one thought per line."""
    each = members(run)
    sound = [member for member in each if np.isfinite(member["validation_loss"])]
    if not sound:
        yield f"{run.experiment.name}: the training diverged; by step {run.last_step:,} its loss was no longer a number"
        return
    yield from _single(run, each[0]) if len(each) == 1 else _population(run, each, sound)
    yield from _out_of_view(run)
    if len(each) == 1 and run.task.exact:
        yield f"verdict: {verdict(run, each[0])}"


def verdicts(run: Run) -> str:
    """The verdict on a run, whatever else is said of it: of a population, how many have learnt."""
    each = members(run)
    return verdict(run, each[0]) if len(each) == 1 else _counted(run, each)


def _counted(run: Run, each: list[dict[str, Any]]) -> str:
    sound = [member for member in each if np.isfinite(member["validation_loss"])]
    good, lost = sum(solved(run, member) for member in sound), len(each) - len(sound)
    what = "the rule" if run.task.measure == "rule_error" else "it"
    return f"{good} of {len(each)} seeds learnt {what}" + (f", {lost} diverged" if lost else "")


def _population(run: Run, each: list[dict[str, Any]], sound: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{run.experiment.name}: {_counted(run, each)}"
    excess = [member["excess"] for member in sound]
    least = "the floor" if run.task.exact else "the best table of counts"
    yield (
        f"excess over {least}: median {np.median(excess):.4f} nats per token, "
        f"from {np.min(excess):.4f} to {np.max(excess):.4f}"
    )
    if "rule_error" in each[0]:
        overall, in_view = (
            np.median([member[name] for member in sound]) for name in ("rule_error", "rule_error_answerable")
        )
        yield (
            f"rule error on the judged windows, median: {_percent(in_view)} where the answer is in view, "
            f"{_percent(overall)} overall"
        )
    elif "accuracy" in each[0]:
        yield f"accuracy, median: {_percent(np.median([member['accuracy'] for member in sound]))}"


def _text(run: Run, member: dict[str, Any]) -> Iterator[str]:
    """A text has no floor that anyone knows: counts are what to compare with."""
    loss, excess = member["validation_loss"], member["excess"]
    side = "below" if excess < 0 else "above"
    best = [rung for rung in run.task.ladder(run.architecture.context) if rung.reachable][-1]
    some, every = (
        judged_windows(run).get("validation", 0),
        int(run.task.data(run.architecture.context).validation.windows.sum()),
    )
    where = (
        f" on {some:,} of the {every:,} validation windows (`glassformer score` looks at all)"
        if 0 < some < every
        else ""
    )
    yield (
        f"{run.experiment.name}, seed {member['seed']}: validation loss {loss:.4f} nats per token, perplexity "
        f"{np.exp(loss):.2f}{where}"
    )
    yield (
        f"that is {abs(excess):.4f} nats {side} the best table of counts ({best.name}, perplexity "
        f"{np.exp(loss - excess):.2f}) on the same windows"
    )
    yield f"accuracy: {_percent(member['accuracy'])} of all next tokens"
    yield from _best(run)


def _best(run: Run) -> Iterator[str]:
    """Where a text was learnt by heart, the last step is not the best."""
    losses, steps = run.metrics["validation_loss"], run.metrics["step"]
    if not np.isfinite(losses).any():
        return
    best = int(np.nanargmin(losses))
    if np.exp(losses[-1] - losses[best]) > WORSE:
        kept = run.best_step()
        yield (
            f"it was best at step {steps[best]:,}: perplexity {np.exp(losses[best]):.2f}; "
            f"--step best looks at {'it' if kept == steps[best] else f'step {kept:,}, the best of those kept'}"
        )


def _single(run: Run, member: dict[str, Any]) -> Iterator[str]:
    if not run.task.exact:
        yield from _text(run, member)
        return
    floor, left = member["validation_loss"] - member["excess"], member["excess"]
    held_out, one = run.task.data(run.architecture.context).held_out, run.task.answers == "one"
    held = "validation loss" if held_out else "loss on its own text"
    rest = f"{left:.4f} is still to be learnt" if left >= 5e-5 else "hardly anything is still to be learnt"
    rest = rest if left > -5e-5 else f"it knows these windows {-left:.4f} better than the rule does"
    yield (
        f"{run.experiment.name}, seed {member['seed']}: "
        f"{held} {_nats(member['validation_loss'])} nats per {'answer' if one else 'token'}; "
        f"the floor of the same windows is {_nats(max(floor, 0.0))}, so {rest}"
    )
    ladder = [each for each in run.task.ladder(run.architecture.context) if each.reachable]
    above, below, way = place(ladder, member["validation_loss"], member["excess"])
    if above is None:
        yield f"that is above the whole ladder, worse than “{ladder[0].name}” ({ladder[0].nats:.4f})"
    elif below is None:
        yield f"on the ladder it has reached: {above.name}"
    else:
        yield (
            f"on the ladder it is {_percent(way)} of the way from “{above.name}” ({above.nats:.4f}) "
            f"to “{below.name}” ({below.nats:.4f})"
        )
    if "rule_error" in member:
        yield (
            f"rule error on the judged windows: {_percent(member['rule_error_answerable'])} where the answer is in "
            f"view, {_percent(member['rule_error'])} over all positions the rule speaks about"
        )
    elif "accuracy" in member:
        many = sum(many for part, many in judged_windows(run).items() if part != "train")
        of = f"on {many:,} {judged_questions(run)}" if one else "of all next tokens"
        yield f"accuracy: {_percent(member['accuracy'])} {of}"


def _out_of_view(run: Run) -> Iterator[str]:
    """What the window hides is nobody's fault, but it must be said."""
    shares, context = getattr(run.task, "shares", None), run.architecture.context
    if shares is None or (share := shares(context)).answerable >= 0.9995:
        return
    full = shares(context, full=True)
    yield (
        f"over all positions of all possible windows (1 to {context} tokens in view), {_percent(1 - share.answerable)} "
        f"of those the rule speaks about have no answer in view, and even a perfect model is wrong at "
        f"{_percent(share.least_error)}; with all {context} tokens in view these shares are "
        f"{round(100 - 100 * full.answerable, 6):.2g} % and {round(100 * full.least_error, 6):.2g} %"
    )


def _nats(loss: float) -> str:
    """0.2198; what is less than a ten-thousandth as a power of ten, and nothing as 0."""
    return f"{loss:.4f}" if loss >= 5e-5 else power(loss, 2) if loss > 1e-9 else "0"


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")
