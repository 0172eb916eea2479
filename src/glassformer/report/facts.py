"""What is true of a model at each of its steps: what the sentence on top of the page is made of.

The same counts as the figures': losses and errors as the logged lines have them, rungs as the summary decides, places
of attention by the roles of `head_roles`. frontend/src/learn/facts.ts is the twin for models trained in the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from glassformer import reference, summary
from glassformer.analyses import _clock
from glassformer.analyses._fitting import fitting
from glassformer.analyses._question import arguments, holds_answer
from glassformer.analyses._result import Array
from glassformer.analyses._sought import copied
from glassformer.analyses.attend.head_roles import ANSWER, HAS, NEEDED
from glassformer.architecture import nest
from glassformer.counted import counted, interleave
from glassformer.plan import LEAST
from glassformer.run import Run
from glassformer.tasks import Examples, Rung, choose

WINDOWS = 1_000  # from which those looked at are chosen
WORK, FEWEST = 6e9, 8  # products of all passes together, and windows at the least
HALF = 0.5  # share of the attention from which a head is said to look at something
QUERIES = 512  # whose attention is looked at, at every place of a window as often as all that matter
FEW = 5  # questions of a kind from which it can be said to go wrong most
SURE = 1e-3  # nats: the exact predictor pays less where only one answer is right
ONLY = "only one word can follow"  # of a text learnt by heart: the places whose errors are counted


def facts(run: Run, steps: Sequence[int], member: int = 0) -> list[dict[str, Any]]:
    """One table for each of these kept steps; what is not a number, or not known, is None."""
    seen = looked_at(run, len(steps))
    return [seen.at(step, nest(run.unedited.weights(step, run.place(member)))) for step in map(int, steps)]


@lru_cache(maxsize=2)
def looked_at(run: Run, steps: int = 1) -> "Seen":
    """Validation windows as hard as all: 128 of them, fewer where a model is so large that this would take long."""
    a = run.architecture
    found = run.task.examples(a.context, "validation", min(WINDOWS, run.experiment.train.windows))
    most = int(np.clip(WORK / (run.parameters * a.context * max(steps, 1)), FEWEST, LEAST))
    some = interleave(found, counted(a, run.task.skip).came, fitting(run, most))  # the order that the page has
    return seen(run, replace(found, **{each.name: getattr(found, each.name)[some] for each in fields(found)}))


@dataclass(frozen=True)
class Seen:
    """Some windows, with all that can be asked of a model on them."""

    run: Run
    examples: Examples
    floor: float  # what the exact predictor pays on them
    kinds: dict[str, Array]  # kind → (window, place): the predictions that can go wrong
    asked: Array  # (query, [window, position]): where attention matters
    roles: dict[str, Array]  # role → (query, key)
    sought: str | None  # the role of what must be looked up

    def at(self, step: int, params: Mapping[str, Any]) -> dict[str, Any]:
        """What is true with these parameters."""
        run, windows = self.run, self.examples.windows
        read, came = counted(run.architecture, run.task.skip)
        with np.errstate(all="ignore"):  # a diverged model is looked at like any other
            logits, trace = reference.forward(params, windows[:, :-1], run.architecture)
            losses = reference.log_softmax(logits[:, read].astype(np.float64))
        targets = windows[:, 1:][:, came]
        loss = float(-np.take_along_axis(losses, targets[..., None], axis=-1).mean())
        if not np.isfinite(loss):
            empty = ("loss", "excess", "rung", "error", "looks", "wrong")
            return {"step": step, **dict.fromkeys(empty)}
        wrong = self._wrong(losses.argmax(axis=-1), targets, came)
        return {
            "step": step,
            "loss": loss,
            "excess": loss - self.floor,
            "rung": self._rung(loss),
            "error": _error(wrong, self._judged[:, came]),
            "looks": self._looks(trace["attention"]) if len(self.asked) else None,
            "wrong": self._worst(wrong, came),
        }

    @cached_property
    def _judged(self) -> Array:
        """(window, place): the predictions whose errors are counted."""
        rule = self.run.task.measure == "rule_error"
        return self.examples.answerable if rule else np.ones_like(self.examples.answerable)

    def _wrong(self, guess: Array, targets: Array, came: slice) -> Array:
        """(window, place): whether the likeliest token is wrong."""
        if self.run.task.measure != "rule_error":
            return np.asarray(guess != targets)
        allowed = self.examples.allowed[:, came]
        return ~np.take_along_axis(allowed, guess[..., None], axis=-1)[..., 0]

    def _rung(self, loss: float) -> int:
        """The place in the ladder of the lowest rung that is reached; -1: none is."""
        ladder = self._ladder
        excess = loss - self.floor if self.run.task.exact else np.inf
        found = summary.rung([each for each in ladder if each.reachable], loss, excess)
        return -1 if found is None else next(k for k, each in enumerate(ladder) if each is found)

    @cached_property
    def _ladder(self) -> list[Rung]:
        return _clock.ladder(self.run)

    def _worst(self, wrong: Array, came: slice) -> dict[str, Any] | None:
        """The kind of question of which the largest share is wrong; None where nothing is."""
        told = [(name, wrong[chosen[:, came]]) for name, chosen in self.kinds.items()]
        shares = [(float(some.mean()), name) for name, some in told if len(some) >= FEW and some.any()]
        if not shares:
            return None
        share, name = max(shares, key=lambda each: each[0])  # of equal ones the first
        return {"kind": name, "share": share}

    def _looks(self, attention: Array) -> dict[str, Any] | None:
        """What the head looks at that matters most; `attention` is (window, block, head, query, key)."""
        rows = attention[self.asked[:, 0], :, :, self.asked[:, 1]].astype(np.float64)  # (query, block, head, key)
        if not np.isfinite(rows).all():
            return None
        share = np.stack([_mean(rows, keys) for keys in self.roles.values()], axis=-1)  # (block, head, role)
        more = share - self._even
        names = list(self.roles)
        score = share[..., names.index(self.sought)] if self.sought else more.max(axis=-1)
        block, head = np.unravel_index(int(np.argmax(score)), score.shape)
        own, beyond = share[block, head], more[block, head]
        answer = None if self.sought is None else float(own[names.index(self.sought)])
        found = [k for k in range(len(names)) if own[k] >= HALF and 100 * beyond[k] >= HAS]
        at, part = "", 0.0
        if answer is not None and answer >= HALF:
            at, part = str(self.sought), answer
        elif found:
            best = max(found, key=lambda k: beyond[k])
            at, part = names[best], float(own[best])
        return {"at": at, "share": part, "answer": answer, "block": int(block), "head": int(head)}

    @cached_property
    def _even(self) -> Array:
        """(role,): the share of each if all positions in view counted the same."""
        a = self.run.architecture
        view = np.tri(a.context) if a.causal else np.ones((a.context, a.context))
        even = (view / view.sum(axis=1, keepdims=True))[self.asked[:, 1], None, None]
        return np.array([float(_mean(even, keys)[0, 0]) for keys in self.roles.values()])


def seen(run: Run, examples: Examples) -> Seen:
    """Windows, and what is asked on them."""
    came = counted(run.architecture, run.task.skip).came
    asked, roles, sought = _attention(run, examples)
    return Seen(run, examples, float(-examples.truth[:, came].mean()), _kinds(run, examples), asked, roles, sought)


def _kinds(run: Run, e: Examples) -> dict[str, Array]:
    """Kind → the predictions of it that are right or wrong: those in view, or those that only one answer fits."""
    judged = e.answerable if run.task.measure == "rule_error" else e.truth > -SURE
    if run.task.exact and run.task.measure == "accuracy" and run.task.answers == "next":
        return {ONLY: judged}
    return {_named(run, name, e): judged & (e.kind == k) for k, name in enumerate(run.task.kinds)}


def _named(run: Run, name: str, e: Examples) -> str:
    """`3 back` in place of `3 or more back` where no answer lies farther."""
    if run.task.measure != "rule_error" or " or more back" not in name:
        return name
    source = _sources(run, e)
    back = (np.arange(source.shape[1]) - source)[e.answerable & (source >= 0)]
    far = np.unique(back[back >= int(name.partition(" ")[0])])
    return f"{int(far[0])} back" if len(far) == 1 else name


def _sources(run: Run, e: Examples) -> Array:
    """(window, place): where the answer can be read off."""
    if run.task.answers == "one":
        return np.array([[int(run.task.source_position(row)[-1])] for row in e.windows[:, :-1]])
    return np.array([run.task.source_position(row) for row in e.windows[:, :-1]])


def _attention(run: Run, e: Examples) -> tuple[Array, dict[str, Array], str | None]:
    """The queries that matter, the keys of each role for them, and the role of what must be looked up."""
    a = run.architecture
    windows, context = e.windows[:, :-1], a.context
    if a.attention != "on":
        return np.zeros((0, 2), int), {}, None
    places = np.arange(context)
    if run.task.answers == "one":
        assert a.read_position is not None
        asked = np.column_stack([np.arange(len(windows)), np.full(len(windows), a.read_position)])
        looked_up = holds_answer(run, windows) & (_sources(run, e) >= 0)
        sought = ANSWER if looked_up.any(axis=1).all() else None
        special = {ANSWER: looked_up} | arguments(run, windows)
        roles = {name: keys[asked[:, 0]] for name, keys in special.items() if name != ANSWER or sought}
    else:
        source = _sources(run, e)
        far = (source >= 0) & (source != places)
        sought = (ANSWER if copied(run) else NEEDED) if far.any() else None
        where = far if sought else e.constrained if e.constrained.any() else np.ones_like(e.constrained)
        asked = np.argwhere(where)
        asked = asked[choose(len(asked), QUERIES, asked[:, 1])]
        roles = {sought: source[asked[:, 0], asked[:, 1], None] == places} if sought else {}
    query = asked[:, 1, None]
    roles |= {
        "self": query == places,
        "previous": query == places + 1,
        "2 back": query == places + 2,
        "3 back": query == places + 3,
        "first": (places == 0) & (query > 0),
    }
    for name, tokens in run.task.groups.items() if len(run.task.groups) > 1 else ():
        roles[f"{name} tokens"] = np.isin(windows[asked[:, 0]], list(tokens)) & (query != places)
    view = (places <= query) | (not a.causal)
    roles = {name: keys & view for name, keys in roles.items()}
    often = {name: keys.any(axis=-1).mean() for name, keys in roles.items()}
    return asked, {name: keys for name, keys in roles.items() if often[name] >= HALF}, sought


def _mean(rows: Array, keys: Array) -> Array:
    """(block, head): attention on the keys of a role, over the queries that have such a key."""
    there = keys.any(axis=-1)
    return np.einsum("qbhk,qk->bh", rows[there], keys[there].astype(np.float64)) / there.sum()


def _error(wrong: Array, judged: Array) -> float | None:
    """The share of the judged predictions that is wrong; None where none is judged."""
    return float(wrong[judged].mean()) if judged.any() else None
