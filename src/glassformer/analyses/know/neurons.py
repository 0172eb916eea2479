"""What each neuron of the feed-forward part answers to, measured: bits between its firing and token, position, kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from glassformer.analyses import _applies, _clock
from glassformer.analyses._pairs import placed, shown
from glassformer.analyses._plane import Plane, plane
from glassformer.analyses._question import arguments, holds_answer, moving
from glassformer.analyses._result import Array, Labelled, Result, Words, numbers, percent, result
from glassformer.errors import CallError
from glassformer.run import Run
from glassformer.tasks import Examples
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
GRID = 64  # neurons beyond which the hidden values of one place are laid out as a grid


class Label(NamedTuple):
    """Something that each place is, and the yes-or-no questions that can be asked about it."""

    names: tuple[str, ...]
    at: Array  # (window, position): index into the names, -1 for none
    tests: list[tuple[str, list[int]]]  # in words, and the labels for which the answer is yes


@result
class Neurons(Result):
    """One block's neurons, the most selective first (by bits above the shuffled baseline)."""

    mean: dict[str, Labelled]  # token, position, kind, role: (neuron, label) mean hidden value, first 32 that fire
    fires: dict[str, Labelled]  # the same for the share of places at which it fires
    bits: Labelled  # (neuron, label kind): mutual information between firing and the label
    baseline: Labelled  # (neuron, label kind): the same after shuffling the labels, mean of 4
    rate: Labelled  # (neuron,): share of all places at which it fires
    described: Labelled  # (neuron, side): firing rate where the best description holds, and elsewhere; top 10
    hidden: Labelled  # (position, neuron): the hidden values of one input, of the neurons that fire anywhere
    grid: Labelled | None  # (row, column): where there are many, all hidden values at one position, row by row
    lines: Labelled | None  # (neuron, part): weight across, weight up, bias; fires where the sum is above 0
    middle: Labelled | None  # (sample, axis): what the neurons read, for width 2
    plane: Plane | None
    descriptions: tuple[str, ...]  # of the top 10, in words
    specialists: Labelled | None  # (neuron, side): as `described`, of the one that tells most about kind and each role
    specialities: tuple[str, ...]  # in words; of tasks with one answer
    tokens: tuple[str, ...]
    block: int
    blocks: int
    samples: int
    activation: str
    read: int  # the position whose hidden values are drawn as a grid

    @property
    def order(self) -> tuple[str, ...]:
        """The neurons' numbers, the most selective first."""
        return self.bits.axes["neuron"].labels


def neurons(
    run: Run,
    *,
    sequence: str | None = None,
    block: int = -1,
    step: int = -1,
    member: int = 0,
    first: tuple[int, ...] = (),
) -> Neurons:
    """Means, selectivity and descriptions of the neurons of one block (-1: the last) over validation windows.

    `first`: neurons to put first, whatever they answer to, with their means; a film keeps its rows that way.
    """
    a = run.architecture
    if not a.feed_forward:
        raise CallError("this model has no feed-forward part")
    if not -a.blocks <= block < a.blocks:
        raise CallError(f"block = {block} is not between 0 and {a.blocks - 1}")
    step, block = _clock.resolve(run, step), block % a.blocks
    examples = sample(run)
    windows = examples.windows[:, : a.context]
    seen = run.trace(windows, step=step, member=member)
    hidden = seen["hidden"][:, block].astype(np.float64)  # (window, position, neuron)
    roles = _roles(run, windows)
    labels = _labels(run, windows, examples.kind)
    firing = hidden > 0
    mean, rates, bits, base = {}, {}, [], []
    rng = np.random.default_rng(0)
    kept: dict[str, tuple[str, ...]] = {}
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
    names = tuple(str(k) for k in order)
    top = order[:DESCRIBED]
    said = _describe(labels, firing[..., top])
    asked = {"kind": labels["kind"]} if run.task.answers == "one" and "kind" in labels else {}
    best = [_specialist(label, firing) for label in (asked | roles).values()]
    one = run.trace(sequence, step=step, member=member)
    tokens = tuple(run.task.vocabulary[k] for k in one.tokens)
    lines, middle, flat = _boundaries(run, seen, block, step, member, order)
    rate = firing.mean(axis=(0, 1))[order]
    alive = np.flatnonzero(rate > 0) if (rate > 0).any() else np.arange(1)
    rows = np.arange(len(first)) if first else alive[:MOST_ROWS]
    axes = {kind: {"neuron": tuple(names[k] for k in rows), "label": own} for kind, own in kept.items()}
    own = one["hidden"][block].astype(np.float64)[:, order]
    read = min(a.read_position, len(tokens) - 1) if a.read_position is not None else len(tokens) - 1
    return Neurons(
        step=step,
        clock=_clock.text(run, step, member),
        mean={kind: Labelled(values.T[order][rows], axes[kind]) for kind, values in mean.items()},
        fires={kind: Labelled(values.T[order][rows], axes[kind], "share") for kind, values in rates.items()},
        bits=Labelled(bits_[order], {"neuron": names, "label_kind": tuple(labels)}, "bits"),
        baseline=Labelled(base_[order], {"neuron": names, "label_kind": tuple(labels)}, "bits"),
        rate=Labelled(rate, {"neuron": names}, "share"),
        described=_sides(said, names[:DESCRIBED]),
        hidden=Labelled(own[:, alive], {"position": placed(tokens), "neuron": tuple(names[k] for k in alive)}),
        grid=_grid(own[read]) if len(order) > GRID else None,
        lines=lines,
        middle=middle,
        plane=flat,
        descriptions=tuple(text for text, _, _ in said),
        specialists=_sides([said for _, said in best], [name for name, _ in best]) if best else None,
        specialities=tuple(said[0] for _, said in best),
        tokens=tokens,
        block=block,
        blocks=a.blocks,
        samples=firing.shape[0] * firing.shape[1],
        activation=a.activation,
        read=read,
    )  # fmt: skip


def sample(run: Run) -> Examples:
    """The validation windows at whose places it is counted who fires."""
    context = run.architecture.context
    return run.task.examples(context, "validation", max(PLACES // context, 1))


def information(label: Array, on: Array, many: int) -> Array:
    """(neuron,): bits that firing (sample, neuron) tells about a label (sample,) of so many, and the other way "
    "round."""
    total = max(len(label), 1)
    counts = np.bincount(label, minlength=many).astype(np.float64)
    joint = _sums(label, on.astype(np.float64), many)  # (label, neuron)
    both = np.stack([joint, counts[:, None] - joint]) / total  # (fires or not, label, neuron)
    alone = both.sum(axis=1, keepdims=True) * (counts / total)[None, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(both > 0, both * np.log2(both / alone), 0.0)
    found: Array = np.maximum(terms.sum(axis=(0, 1)), 0.0)
    return found


def _sides(said: list[tuple[str, float, float]], names: Sequence[str]) -> Labelled:
    """(neuron, side): how often each fires where its description holds, and elsewhere."""
    rates = np.array([[yes, no] for _, yes, no in said]).reshape(-1, 2)
    return Labelled(rates, {"neuron": tuple(names), "side": ("there", "elsewhere")}, "share")


def _grid(values: Array) -> Labelled:
    """Many values as a nearly square table, row by row; places that are over are NaN."""
    side = int(np.ceil(np.sqrt(len(values))))
    table = np.full(side * -(-len(values) // side), np.nan)
    table[: len(values)] = values
    return Labelled(table.reshape(-1, side), {"row": numbers(len(table) // side), "column": numbers(side)})


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
        names, spell = run.task.kinds, "{} questions" if one else "{}"
        tests = [(spell.format(names[k]), [int(k)]) for k in there]
        tests += _families(run, windows, kind[:, 0]) if one else []
        found["kind"] = Label(tuple(names), at, tests)
    return found


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


def _specialist(label: Label, firing: Array) -> tuple[str, tuple[str, float, float]]:
    """The neuron whose firing tells most about a label, and what it fires on."""
    some = label.at >= 0
    best = int(np.argmax(information(label.at[some], firing[some], len(label.names))))
    return str(best), _describe({"": label}, firing[..., [best]])[0]


def _by(label: Array, values: Array, many: int) -> Array:
    """(label, neuron): the mean over the places of each label."""
    counts = np.bincount(label, minlength=many)
    found: Array = _sums(label, values, many) / np.where(counts > 0, counts, np.nan)[:, None]
    return found


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
    found: Array = -(safe * np.log2(safe) + (1 - safe) * np.log2(1 - safe))
    return found


def _boundaries(
    run: Run, seen: Trace, block: int, step: int, member: int, order: Array
) -> tuple[Labelled | None, Labelled | None, Plane | None]:
    """Where width is 2 and nothing is normalised, each neuron's border is a line in the plane of `middle`."""
    a = run.architecture
    if a.width != 2 or a.norm != "none":
        return None, None, None
    weights = run.weights(step, member)
    expand = weights[f"blocks.{block}.expand"].astype(np.float64)  # (feature, neuron)
    bias = weights.get(f"blocks.{block}.expand_bias", np.zeros(expand.shape[1])).astype(np.float64)
    parts = np.column_stack([expand.T, bias])[order]
    points = seen["middle"][:, block].reshape(-1, 2).astype(np.float64)
    points = points[np.random.default_rng(0).permutation(len(points))[:POINTS]]
    labels = {"neuron": tuple(str(k) for k in order), "part": ("across", "up", "bias")}
    return (
        Labelled(parts, labels),
        Labelled(points, {"sample": numbers(len(points)), "axis": ("across", "up")}),
        plane(points),
    )


def say(seen: Neurons) -> Words:
    """How many neurons are silent, and what the most selective one answers to."""
    silent = int((seen.rate.values == 0).sum())
    many = len(seen.order)
    fires = "fires means: its hidden value is above 0" + (
        "" if seen.activation == "relu" else f" (with {seen.activation}, a convention)"
    )
    where = f"block {seen.block}"
    here = f" of {where}" if seen.blocks > 1 else ""
    lines = (
        "Lines: where each of the five most selective neurons starts to fire, in the plane of `middle`, with a tick to "
        "the firing side; dots are validation places. "
    )
    caption = (
        f"The {many} neurons of {where}, the most selective first: selectivity is the information, in bits, between "
        f"firing and the label of the place (token here, position, kind of question), less what shuffled labels "
        "give by "
        f"chance ({fires}). Measured at {seen.samples} places of validation windows. Heat maps: mean hidden value; "
        "bars: bits, with the shuffled baseline as a tick. Descriptions name the one yes-or-no question that firing "
        "answers best, with the share of places at which the neuron fires on yes and on no; they are measured, not "
        "guessed, and say nothing about causes. "
        + (
            "The first ones are those that tell most about the kind of question and, among the numbers of a question, "
            "about which is the largest, the smallest, the answer; there “else” means the other numbers. "
            if seen.specialities
            else ""
        )
        + (lines if seen.lines else "")
        + "A neuron without a meaning would stay at its baseline."
    )  # fmt: skip
    if not np.isfinite(seen.hidden.values).all():
        title = f"At step {seen.step} the hidden values are not numbers: the training has diverged"
    elif silent == many:
        title = f"None of the {many} neurons{here} ever fires"
    else:
        head = f"{silent} of {many} neurons{here} never fire{'s' if silent == 1 else ''}"
        head = head if silent else f"All {many} neurons{here} fire somewhere"
        title = f"{head}; the most selective, neuron {seen.order[0]}, {seen.descriptions[0]}"
    return Words(title, caption, f"Mean activations, selectivity and descriptions of the neurons. {title}.")
