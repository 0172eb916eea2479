"""What each neuron of the feed-forward part answers to, measured: bits between its firing and token, position, kind."""

from collections.abc import Sequence as Names
from typing import Annotated, Any, NamedTuple

import numpy as np

from glassformer.analyses import _applies, _clock, _decide
from glassformer.analyses._options import Frames, Member, Option, Pace, Sequence, Shown, Step
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._plane import DIRECTIONS, Plane, plane
from glassformer.analyses._question import arguments, holds_answer, moving
from glassformer.analyses._reel import Reel, frames_of, glance, strip
from glassformer.analyses._result import Array, Labelled, Result, fate, numbers, percent, result, shared, thousands
from glassformer.errors import CallError, check_index
from glassformer.run import Run
from glassformer.tasks import Examples
from glassformer.tasks._rule import Rule
from glassformer.trace import Trace

ORDER = 50
ANSWERS = ("1.P2", "1.P3", "1.Q16", "1.Q38")
COST = "b"
APPLIES = (_applies.feed_forward,)

PLACES = 3200  # of validation windows
SHUFFLES = 4
POINTS = 400  # of `middle` behind the boundary lines
DESCRIBED = 10
YES = 1e-9  # bits by which, of two questions that are opposites, the one to which firing says yes is preferred
MOST_ROWS = 32  # neurons whose means are kept, the most selective that fire
FILMED = 20  # neurons of a film
GLANCE = 9  # steps of a film looked at for its limits; each takes as long as a frame
SIDES = ("there", "elsewhere")


class Label(NamedTuple):
    """Something that each place is, and the yes-or-no questions that can be asked about it."""

    names: tuple[int | str, ...]
    at: Array  # (window, position): index into the names, -1 for none
    tests: list[tuple[str, list[int]]]  # in words, and the labels for which the answer is yes


@result
class BlockNeurons(Result):
    """One block's neurons, the most selective first (by bits above the shuffled baseline)."""

    order: tuple[int, ...]  # the neurons' numbers, the most selective first
    mean: dict[str, Labelled]  # token, position, kind, role: (neuron, that) mean hidden value, first 32 that fire
    fires: dict[str, Labelled]  # the same for the share of places at which it fires
    bits: Labelled  # (neuron, quantity): information between firing and token, position or kind
    baseline: Labelled  # (neuron, quantity): the same after shuffling, mean of 4
    rate: Labelled  # (neuron,): share of all places at which it fires
    silent: int  # neurons that never fire
    described: Labelled  # (neuron, statistic): firing rate where the best description holds, and elsewhere; top 10
    descriptions: tuple[str, ...]  # of the top 10, in words
    hidden: Labelled  # (position, neuron): the hidden values of one input, of the neurons that fire anywhere
    read: int  # the position of that input where the answer is read, or its last
    at_read: Labelled  # (neuron,): all hidden values there
    lines: Labelled | None  # (neuron, part): weights in both directions, and bias; fires where the sum is above 0
    middle: Labelled | None  # (window, direction): what the neurons read at one place of each, for width 2
    plane: Plane | None
    specialists: Labelled | None  # (role, statistic): as `described`, of the one that tells most about kind, each role
    special: tuple[int, ...]  # which neurons these are; of tasks with one answer
    specialities: tuple[str, ...]  # in words
    tokens: tuple[str, ...]
    block: int
    blocks: int
    samples: int
    activation: str

    @property
    def title(self) -> str:
        """How many neurons are silent, and what the most selective one answers to."""
        many, here = len(self.order), f" of block {self.block}" if self.blocks > 1 else ""
        if not np.isfinite(self.hidden.values).all():
            return fate("the hidden values are not numbers", self.step)
        if self.silent == many:
            return f"None of the {many} neurons{here} ever fires"
        said = f"{self.silent} of {many} neurons{here} never fire{'s' if self.silent == 1 else ''}"
        said = said if self.silent else f"All {many} neurons{here} fire somewhere"
        return f"{said}; the most selective, neuron {self.order[0]}, {self.descriptions[0]}"


@result
class Neurons(Result):
    """The neurons of every block that was asked for, the last block first."""

    blocks: dict[int, BlockNeurons]

    @property
    def title(self) -> str:
        """What is true of the first of them."""
        return next(iter(self.blocks.values())).title


@shared
def neurons(
    run: Run,
    *,
    sequence: Sequence = None,
    block: Annotated[int | None, Option("the block looked at; none: every block, the last first", least=0)] = None,
    step: Step = -1,
    member: Member = 0,
) -> Neurons:
    """Means, selectivity and descriptions of the neurons of one block, or of each, over validation windows."""
    step, a = _clock.resolve(run, step), run.architecture
    check_index("block", block or 0, a.blocks)
    seen = run.trace(sample(run).windows[:, : a.context], step=step, member=member)
    every = range(a.blocks)[::-1] if block is None else (block,)
    found = {each: _of_block(run, seen, each, sequence, step, member) for each in every}
    return Neurons(step=step, clock=_clock.text(run, step, member), blocks=found)


def _of_block(
    run: Run, seen: Trace, block: int, sequence: str | None, step: int, member: int, first: tuple[int, ...] = ()
) -> BlockNeurons:
    """The neurons of a block on the sample that was traced.

    `first`: neurons to put first, whatever they answer to, with their means; a film keeps its rows that way.
    """
    a, examples = run.architecture, sample(run)
    windows = examples.windows[:, : a.context]
    hidden = seen["hidden"][:, block].astype(np.float64)  # (window, position, neuron)
    roles = _roles(run, windows)
    labels = _labels(run, windows, examples.kind)
    firing = hidden > 0
    mean, rates, bits, base = {}, {}, [], []
    rng = np.random.default_rng(0)
    kept: dict[str, tuple[int | str, ...]] = {}
    for kind, (names, at, _) in labels.items():
        some = at >= 0
        label, values, on = at[some], hidden[some], firing[some]
        there, label = np.unique(label, return_inverse=True)  # labels that occur
        kept[kind] = tuple(names[k] for k in there)
        mean[kind], rates[kind] = _by(label, values, len(there)), _by(label, on.astype(np.float64), len(there))
        bits.append(information(label, on, len(there)))
        shuffled = [information(rng.permutation(label), on, len(there)) for _ in range(SHUFFLES)]
        base.append(np.mean(shuffled, axis=0))
    if roles:  # a place can have several, so they are means over places that overlap
        kept["role"] = tuple(roles)
        mean["role"], rates["role"] = (
            np.stack([of[role.at == 1].mean(axis=0) for role in roles.values()]) for of in (hidden, firing)
        )
    bits_, base_ = np.stack(bits, axis=1), np.stack(base, axis=1)  # (neuron, label kind)
    score = np.where(firing.any(axis=(0, 1)), (bits_ - base_).max(axis=1), -np.inf)  # those that never fire come last
    order = np.argsort(-score, kind="stable")
    order = np.array([*first, *(k for k in order if k not in first)], dtype=order.dtype)
    said = _describe(labels, firing[..., order[:DESCRIBED]])
    asked = {"kind": labels["kind"]} if run.task.answers == "one" and "kind" in labels else {}
    best = {role: _specialist(label, firing) for role, label in (asked | roles).items()}
    one = run.trace(sequence, step=step, member=member)
    tokens = tuple(run.task.vocabulary[k] for k in one.tokens)
    lines, middle, flat = _boundaries(run, seen, block, step, member, order)
    rate = firing.mean(axis=(0, 1))[order]
    alive = np.flatnonzero(rate > 0) if (rate > 0).any() else np.arange(1)
    rows = np.arange(len(first)) if first else alive[:MOST_ROWS]
    axes: dict[str, dict[str, Any]] = {kind: {"neuron": order[rows], kind: own} for kind, own in kept.items()}
    own = one["hidden"][block].astype(np.float64)[:, order]
    read = min(a.read_position, len(tokens) - 1) if a.read_position is not None else len(tokens) - 1
    told: dict[str, Any] = {"neuron": order, "quantity": labels}
    return BlockNeurons(
        **_clock.at_step(run, step, member),
        order=tuple(order.tolist()),
        mean={kind: Labelled(values.T[order][rows], axes[kind]) for kind, values in mean.items()},
        fires={kind: Labelled(values.T[order][rows], axes[kind], "share") for kind, values in rates.items()},
        bits=Labelled(bits_[order], told, "bits"),
        baseline=Labelled(base_[order], told, "bits"),
        rate=Labelled(rate, {"neuron": order}, "share"),
        silent=int((rate == 0).sum()),
        described=_sides(said, "neuron", order[:DESCRIBED].tolist()),
        descriptions=tuple(text for text, _, _ in said),
        hidden=Labelled(own[:, alive], {"position": placed(tokens), "neuron": order[alive]}),
        read=read,
        at_read=Labelled(own[read], {"neuron": order}),
        lines=lines,
        middle=middle,
        plane=flat,
        specialists=_sides([said for _, said in best.values()], "role", list(best)) if best else None,
        special=tuple(neuron for neuron, _ in best.values()),
        specialities=tuple(said[0] for _, said in best.values()),
        tokens=tokens,
        block=block,
        blocks=a.blocks,
        samples=firing.shape[0] * firing.shape[1],
        activation=a.activation,
    )


def sample(run: Run) -> Examples:
    """The validation windows at whose places it is counted who fires."""
    context = run.architecture.context
    return run.task.examples(context, "validation", max(PLACES // context, 1))


def information(label: Array, on: Array, many: int) -> Array:
    """(neuron,): bits that firing (sample, neuron) tells about a label (sample,) of so many, and the reverse."""
    total = max(len(label), 1)
    counts = np.bincount(label, minlength=many).astype(np.float64)
    joint = _sums(label, on.astype(np.float64), many)  # (label, neuron)
    both = np.stack([joint, counts[:, None] - joint]) / total  # (fires or not, label, neuron)
    alone = both.sum(axis=1, keepdims=True) * (counts / total)[None, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(both > 0, both * np.log2(both / alone), 0.0)
    return np.maximum(terms.sum(axis=(0, 1)), 0.0)


def _sides(said: list[tuple[str, float, float]], axis: str, places: Names[int | str]) -> Labelled:
    """How often each fires where its description holds, and elsewhere."""
    rates = np.array([[yes, no] for _, yes, no in said]).reshape(-1, 2)
    return Labelled(rates, {axis: places, "statistic": SIDES}, "share")


def _labels(run: Run, windows: Array, kind: Array) -> dict[str, Label]:
    """Token, position and kind of question of each place."""
    words, context = tuple(run.task.vocabulary), windows.shape[1]
    asked = np.unique(windows)  # of a large vocabulary, few tokens occur
    tests = [(shown(words[k]), [int(k)]) for k in asked]
    for name, ids in run.task.groups.items():
        if len(ids) > 1 and len(words) - len(ids) > 1:  # all but one token is the same question as that token
            tests.append((f"{name} tokens", [int(k) for k in ids]))
    found = {"token": Label(words, windows, tests)}
    tests = [(f"position {k}", [k]) for k in range(context)]
    tests += [(f"positions {k} and later", list(range(k, context))) for k in range(2, context - 1)]
    found["position"] = Label(numbers(context), np.broadcast_to(np.arange(context), windows.shape), tests)
    one = run.task.answers == "one"  # what is asked then counts at every position of the question
    at = np.broadcast_to(kind[:, :1], windows.shape) if one else kind
    if len(there := np.unique(at[at >= 0])) > 1:
        names = run.task.kinds
        tests = [(_asked(run, names[k]), [int(k)]) for k in there]
        tests += _families(run, windows, kind[:, 0]) if one else []
        found["kind"] = Label(tuple(names), at, tests)
    return found


def _asked(run: Run, kind: str) -> str:
    """What is at places of a kind, as it is said after `fires on`."""
    if run.task.answers == "one":
        return f"{kind} questions"
    if isinstance(run.task, Rule):
        return f"answers {kind}"
    return f"places where {kind}" if " may " in kind else kind


def _families(run: Run, windows: Array, kind: Array) -> list[tuple[str, list[int]]]:
    """Kinds of question whose answer always stands at the same place, and those where it must be found."""
    loose = moving(run, windows, kind)
    fixed = [int(k) for k in np.unique(kind[kind >= 0]) if k not in loose]
    if min(len(loose), len(fixed)) < 2:  # one kind alone is a question of its own
        return []
    names = [[run.task.kinds[k] for k in family] for family in (loose, fixed)]
    said = [f"{', '.join(own[:-1])} or {own[-1]} questions" for own in names]
    return list(zip(said, (loose, fixed), strict=True))


def _roles(run: Run, windows: Array) -> dict[str, Label]:
    """Of the numbers of a question: is it the largest, the smallest, the answer? Labels of places that are numbers."""
    found = arguments(run, windows)
    if not found:
        return {}
    number = np.any([at for name, at in found.items() if name.startswith("number")], axis=0)
    roles = {name: found[name] for name in ("largest", "smallest")} | {"answer": holds_answer(run, windows)}
    tests = {name: f"the {name} of the numbers" for name in roles} | {"answer": "the answer among the numbers"}
    return {
        name: Label((f"not {name}", name), np.where(number, at, -1).astype(np.int64), [(tests[name], [1])])
        for name, at in roles.items()
    }


def _specialist(label: Label, firing: Array) -> tuple[int, tuple[str, float, float]]:
    """The neuron whose firing tells most about a label, and what it fires on."""
    some = label.at >= 0
    best = int(np.argmax(information(label.at[some], firing[some], len(label.names))))
    return best, _describe({"": label}, firing[..., [best]])[0]


def _by(label: Array, values: Array, many: int) -> Array:
    """(label, neuron): the mean over the places of each label."""
    counts = np.bincount(label, minlength=many)
    return _sums(label, values, many) / np.where(counts > 0, counts, np.nan)[:, None]


def _sums(label: Array, values: Array, many: int) -> Array:
    """(label, neuron): the sum over the places of each label."""
    order, found = np.argsort(label, kind="stable"), np.zeros((many, values.shape[1]))
    there, begin = np.unique(label[order], return_index=True)
    found[there] = np.add.reduceat(values[order], begin, axis=0)
    return found


def _describe(labels: dict[str, Label], on: Array) -> list[tuple[str, float, float]]:
    """For each neuron of `on` (window, position, neuron), the yes-or-no question that its firing answers best.

    In words, with the shares of places at which it fires on yes and on no.
    """
    many = on.shape[-1]
    best: list[tuple[float, str, float, float]] = [(-1.0, "", 0.0, 0.0)] * many
    for _, at, tests in labels.values():
        some = at >= 0
        label, fires, total = at[some], on[some].astype(np.float64), int(some.sum())
        yes = np.stack([np.isin(label, ids) for _, ids in tests], axis=1).astype(np.float64)  # (place, test)
        inside = yes.sum(axis=0)[:, None]
        joint, whole = yes.T @ fires, fires.sum(axis=0)  # (test, neuron), (neuron,)
        useful = (inside > 0) & (inside < total)
        there, elsewhere = joint / np.maximum(inside, 1), (whole - joint) / np.maximum(total - inside, 1)
        share = inside / max(total, 1)
        bits = _entropy(whole / max(total, 1)) - share * _entropy(there) - (1 - share) * _entropy(elsewhere)
        bits = np.where(useful, bits + YES * (there > elsewhere), -1.0)
        for k in range(many):
            top = int(np.argmax(bits[:, k]))
            if bits[top, k] > best[k][0]:
                best[k] = (float(bits[top, k]), tests[top][0], float(there[top, k]), float(elsewhere[top, k]))
    found = []
    for k, (_, name, yes_rate, no_rate) in enumerate(best):
        if not on[..., k].any() or on[..., k].all():
            found.append(("never fires", 0.0, 0.0) if not on[..., k].any() else ("always fires", 1.0, 1.0))
        else:
            verb = "fires on" if yes_rate >= no_rate else "is quiet on"
            found.append((f"{verb} {name} ({percent(yes_rate)}, else {percent(no_rate)})", yes_rate, no_rate))
    return found


def _entropy(p: Array) -> Array:
    """Bits of a yes or no with this chance."""
    safe = np.clip(p, 1e-300, 1 - 1e-16)
    return -(safe * np.log2(safe) + (1 - safe) * np.log2(1 - safe))


def _boundaries(
    run: Run, seen: Trace, block: int, step: int, member: int, order: Array
) -> tuple[Labelled | None, Labelled | None, Plane | None]:
    """Where width is 2 and nothing is normalised, each neuron's border is a line in the plane of `middle`."""
    a = run.architecture
    if a.width != 2 or a.norm != "none":
        return None, None, None
    try:
        model = _decide.model_anywhere(run, step, member, ("normed_2", "hidden_in"), block)
    except CallError:  # an edit moves the borders from position to position
        return None, None, None
    matrix, bias = _decide.neuron_inputs(model, block)
    parts = np.column_stack([matrix.T, bias])[order]
    points = seen["middle"][:, block].reshape(-1, 2).astype(np.float64)
    points = points[np.random.default_rng(0).permutation(len(points))[:POINTS]]
    return (
        Labelled(parts, {"neuron": order, "part": (*DIRECTIONS, "bias")}),
        Labelled(points, {"window": numbers(len(points)), "direction": DIRECTIONS}),
        plane(points),
    )


@result
class Reach(Result):
    """How far the values of a film go."""

    mean: float  # the largest mean hidden value, without its sign; NaN where there are no numbers
    bits: float


def reel(
    run: Run,
    *,
    block: Annotated[int | None, Option("the block looked at; none: the last", least=0)] = None,
    member: Member = 0,
    frames: Frames = 200,
    pace: Pace = "even",
    steps: Shown = None,
) -> Reel:
    """The neurons of a block that are most selective in the end, over life."""
    number = run.architecture.blocks - 1 if block is None else block
    end = neurons(run, block=number, member=member).blocks[number]
    windows, first = sample(run).windows[:, : run.architecture.context], end.order[:FILMED]

    def at(step: int) -> BlockNeurons:
        return _of_block(run, run.trace(windows, step=step, member=member), number, None, step, member, first)

    every = frames_of(run, frames, pace, steps, member)
    some = [at(step) for step in glance(every, GLANCE)]
    means = np.abs(np.concatenate([table.values.ravel() for each in some for table in each.mean.values()]))
    bits = np.concatenate([each.bits.values[: len(first)].ravel() for each in some])
    reach = Reach(mean=float(np.fmax.reduce(means[means < np.inf], initial=np.nan)), bits=float(np.fmax.reduce(bits)))
    title = f"By step {thousands(end.step or 0)}: {end.title[0].lower()}{end.title[1:]}"
    title = title if np.isfinite(end.hidden.values).all() else end.title
    return Reel(title, every, at, strip(run, member), {"last": some[-1], "reach": reach})
