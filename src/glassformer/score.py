"""The exact price of a part of the data: loss, perplexity and accuracy over all its windows, beside the ladder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import exp, log, nan
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from glassformer.architecture import Architecture, nest
from glassformer.counted import counted
from glassformer.errors import CallError, LimitError
from glassformer.run import Run
from glassformer.tasks import Rung, Task
from glassformer.tasks._rule import Rule
from glassformer.tasks._task import Part, Split, choose
from glassformer.tasks._text import NAMES, Text

Array = NDArray[Any]
AT_ONCE = 1 << 24  # numbers of one layer that are worked on together
AT_FLOOR = 10_000  # windows whose floor is worked out together
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True)
class Score:
    """What a model's answers cost on some windows of a part, counted as training draws them."""

    part: Part
    step: int
    windows: int  # that were looked at
    of: int  # that there are
    loss: float  # nats per predicted token
    uncertainty: float | None  # standard error of the loss; None where every window was looked at
    accuracy: float  # share of predictions whose likeliest token is the one that came
    whole: float | None  # share of answers of several tokens that are wholly right; None: there are none
    by_position: tuple[float, ...]  # the loss after each position that is counted
    characters: float | None  # per predicted token; None where tokens do not add up to a text
    lossy: bool  # a text that cannot be restored from its tokens
    floor: float | None  # of a rule, what the exact predictor pays on these windows
    ladder: tuple[tuple[str, float], ...]  # ways of guessing with their nats, on this part where they are counted

    @property
    def perplexity(self) -> float:
        """As many equally likely tokens would cost the same."""
        return perplexity(self.loss)

    def bits(self, nats: float) -> float | None:
        """Bits per character of a loss per token: what can be compared between tokenizers."""
        return None if self.characters is None else nats / log(2) / self.characters


def score(
    run: Run,
    part: str = "validation",
    *,
    step: int = -1,
    member: int | None = 0,
    windows: int | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,  # noqa: ARG005
) -> Score:
    """The loss over every window of a part, or over `windows` of them that represent the part.

    Without a member, all of a population are asked together: what is judged is the mean of their chances.
    """
    chosen, context = _part(part), run.architecture.context
    split = _split(run, chosen)
    starts, weights = every_window(split)
    many = len(starts) if windows is None else windows
    if not 1 <= many <= len(starts):
        raise LimitError(f"windows = {many} is not between 1 and the {len(starts):,} windows of the {part} part")
    picked = choose(len(starts), many, *split.strata)
    share = weights[picked] / weights[picked].sum()
    members = list(range(run.members)) if member is None else [member]
    each, by_position, accuracy, whole = _losses(run, step, members, split, starts[picked], share, progress)
    loss = float(share @ each)
    error = None if many == len(starts) else _error(each, share, loss, many * context / _predicted(split, context))
    return Score(
        part=chosen,
        step=int(run.steps[-1]) if step == -1 else step,
        windows=many,
        of=len(starts),
        loss=loss,
        uncertainty=error,
        accuracy=accuracy,
        whole=whole if run.task.skip else None,
        by_position=tuple(by_position.tolist()),
        characters=_characters(run.task, context, chosen),
        lossy=isinstance(run.task, Text) and not run.task.cutter.lossless,
        floor=_floor(run.task, split, starts[picked], share, context),
        ladder=_ladder(run.task, context, chosen),
    )


def _predicted(split: Split, context: int) -> int:
    """Places of a part that are predicted at all, however many windows share them."""
    return int((split.windows + context - 1).sum())


def _error(each: Array, share: Array, loss: float, overlap: float) -> float:
    """Standard error of the mean; windows that overlap count only as often as they would fit side by side."""
    return float(np.sqrt(share**2 @ (each - loss) ** 2 * max(1.0, overlap)))


def perplexity(nats: float) -> float:
    """e to the loss."""
    return exp(min(nats, 700.0)) if nats == nats else nats


def every_window(split: Split) -> tuple[Array, Array]:
    """Where each window of a part begins, and the chance with which training would draw it."""
    piece = np.repeat(np.arange(len(split.starts)), split.windows)
    return split.starts[piece] + split.strata[-1], 1 / (np.asarray(split.windows)[piece] * len(split.starts))


def _part(name: str) -> Part:
    for part in PARTS:
        if part == name:
            return part
    raise CallError(f"part = {name!r} is not one of: {', '.join(PARTS)}")


def _split(run: Run, part: Part) -> Split:
    split: Split | None = getattr(run.task.data(run.architecture.context), part)
    if split is None:
        raise CallError(f"{run.experiment.task_name} has no {part} part; score validation or train")
    return split


def _losses(
    run: Run,
    step: int,
    members: list[int],
    split: Split,
    starts: Array,
    share: Array,
    progress: Callable[[int, int], None],
) -> tuple[Array, Array, float, float]:
    """(window,): the mean loss of each; (place,): the loss after each position; right tokens; wholly right windows.

    What a model writes by always taking its likeliest token is wholly right exactly where it is here: up to the first
    wrong token it reads the same.
    """
    import jax
    import jax.numpy as jnp

    a, many = run.architecture, len(starts)
    tokens = np.asarray(split.tokens, np.int32)
    if run.edits:
        count = partial(_count_edited, run, step, members, tokens)
    else:
        params = jax.device_put([nest(run.weights(step, each)) for each in members])
        count = partial(jax.jit(partial(_count, a, counted(a, run.task.skip).came)), params, jnp.asarray(tokens))
    widest = max(a.width, a.inner, a.feed_forward, a.answers, a.heads * a.context)
    together = max(1, min(many, AT_ONCE // (a.context * widest)))
    each, by_position, accuracy, whole = np.zeros(many), np.zeros(()), 0.0, 0.0
    for begin in range(0, many, together):
        progress(begin, many)
        rows = starts[np.minimum(np.arange(begin, begin + together), many - 1)]  # the last ones fill up, uncounted
        losses, right = count(jnp.asarray(rows, dtype=jnp.int32))
        here = slice(begin, min(begin + together, many))
        left = here.stop - begin
        some = np.asarray(losses[:left], dtype=np.float64)  # (window, place)
        each[here] = some.mean(axis=1)
        by_position = by_position + share[here] @ some
        accuracy += float(share[here] @ np.asarray(right[:left]).mean(axis=1))
        whole += float(share[here] @ np.asarray(right[:left]).all(axis=1))
    progress(many, many)
    if not np.isfinite(each).all():  # the likeliest of what is no number is just the first token
        accuracy = whole = nan
    return each, by_position, accuracy, whole


def _count(a: Architecture, came: slice, params: Any, tokens: Any, starts: Any) -> tuple[Any, Any]:
    import jax
    import jax.numpy as jnp

    from glassformer import model
    from glassformer.judge import fine_loss

    windows = tokens[starts[:, None] + jnp.arange(a.context + 1)]
    with jax.default_matmul_precision("highest"):
        every = [model.answers(each, windows[:, :-1], a)[:, came] for each in params]
    logits = every[0] if len(every) == 1 else _together(every)
    targets = windows[:, 1:][:, came]
    return fine_loss(logits, targets), logits.argmax(-1) == targets


def _count_edited(run: Run, step: int, members: list[int], tokens: Array, starts: Any) -> tuple[Any, Any]:
    """The same for an edited model, by the pass that knows its edits."""
    import jax.numpy as jnp

    from glassformer.judge import fine_loss

    windows = tokens[np.asarray(starts)[:, None] + np.arange(run.architecture.context + 1)]
    read, came = counted(run.architecture, run.task.skip)
    every = [jnp.asarray(run.trace(windows[:, :-1], step=step, member=each)["logits"][:, read]) for each in members]
    logits, targets = every[0] if len(every) == 1 else _together(every), jnp.asarray(windows[:, 1:][:, came])
    return fine_loss(logits, targets), logits.argmax(-1) == targets


def _together(every: list[Any]) -> Any:
    """Logits of the mean of several models' chances."""
    import jax
    import jax.numpy as jnp

    return jax.nn.logsumexp(jnp.stack([jax.nn.log_softmax(logits) for logits in every]), axis=0)


def _stretch(task: Text, context: int, part: Part) -> Array:
    """The tokens of a part of a text."""
    begin, end = task.bounds(context)[part]
    return task.stream[begin : end + context]


def _characters(task: Task, context: int, part: Part) -> float | None:
    """Characters per predicted token of a part; None where the text cannot be restored, or there is none."""
    if not isinstance(task, Text) or not task.cutter.lossless:
        return None
    predicted = _stretch(task, context, part)[1:]
    return sum(len(task.decode(piece)) for piece in _pieces(predicted)) / len(predicted)


def _pieces(tokens: Array, most: int = 1 << 20) -> Iterator[Array]:
    for begin in range(0, len(tokens), most):
        yield tokens[begin : begin + most]


def _floor(task: Task, split: Split, starts: Array, share: Array, context: int) -> float | None:
    """What these very windows cost at least; the ladder's prices are averages over all that there could be."""
    if not isinstance(task, Rule):
        return None
    tokens, places, floor = np.asarray(split.tokens), np.arange(context + 1), 0.0
    for k in range(0, len(starts), AT_FLOOR):
        some = slice(k, k + AT_FLOOR)
        floor += float(share[some] @ task.floors(tokens[starts[some, None] + places]))
    return floor


def _ladder(task: Task, context: int, part: Part) -> tuple[tuple[str, float], ...]:
    """The task's rungs; those of a text are counted again on the part that is scored."""
    rungs: tuple[Rung, ...] = task.ladder(context)
    if not isinstance(task, Text):
        return tuple((rung.name, rung.nats) for rung in rungs)
    found = [(NAMES[n], task.price(context, part, n)) for n in range(task.history + 1)]
    return (("uniform guess", rungs[0].nats), *found)
