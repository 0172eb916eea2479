"""What each head does, measured: where its attention goes beyond what looking everywhere alike would give."""

import numpy as np

from glassformer.analyses import _applies, _clock, _judged
from glassformer.analyses._fitting import fitting
from glassformer.analyses._options import Member, Step
from glassformer.analyses._pairs import groups
from glassformer.analyses._question import arguments, holds_answer
from glassformer.analyses._result import Array, Labelled, Result, fate, listed, numbers, percent, result
from glassformer.analyses._sought import copied
from glassformer.run import Run

ORDER = 100
ANSWERS = ("1.P3", "2.§5.1", "3.§3.3")
COST = "c"
APPLIES = (_applies.attention,)
WINDOWS = 128
LIFE, FEWER = 40, 12  # kept steps looked at; of a large model
REPEATED = 16  # random sequences, each written twice, on which induction is measured
INDUCTION = 0.4  # share of the attention on what followed the earlier copy, from where a head is an induction head
SAID = {"self": "diagonal", "previous": "previous token", "punctuation tokens": "punctuation stripes"}
ANSWER, NEEDED = "answer", "needed token"  # what a rule copies; what a rule computes its answer from
NO_ROLE = "no clear role"
WHERE = {
    "self": "itself",
    "previous": "the position before",
    ANSWER: "the answer",
    NEEDED: "the token the rule needs",
    "first": "the first position",
    "after a copy": "what came after an earlier copy",
}
HAS = 20.0  # percentage points beyond looking everywhere alike from which a head has a role


@result
class HeadRoles(Result):
    """For each head and role: its share of the attention, that of looking everywhere alike, and the difference."""

    excess: Labelled  # (block, head, role)
    share: Labelled  # (block, head, role)
    uniform: Labelled  # (role,)
    entropy: Labelled  # (block, head), nats; mean over queries
    distance: Labelled  # (block, head), positions; mean over queries
    induction: Labelled  # (block, head): share on what followed the earlier copy, in random sequences written twice
    life: Labelled  # (step, block, head, role): the excess over life
    uniform_entropy: float
    uniform_distance: float
    windows: int
    marked: int  # the step asked for; -1: none
    steps: tuple[int, ...]

    @property
    def title(self) -> str:
        """The clearest role of all."""
        excess = self.excess.values
        if not np.isfinite(excess).all():
            return fate("the attention is not a number", self.step)
        block, head, role = np.unravel_index(int(np.argmax(excess)), excess.shape)
        many, name = excess.shape[0] * excess.shape[1] > 1, self.excess.axes["role"].labels[role]
        where = WHERE.get(name, f"the position {name}" if "back" in name else name)
        if np.abs(excess).max() < 2:
            return (
                f"{'No head has a role at this step' if many else 'The head has no role at this step'}: no share "
                f"departs from looking everywhere alike by more than {np.abs(excess).max():.1f} percentage points"
            )
        return (
            f"{f'Block {block}, head {head} stands out most: it' if many else 'The head'} puts "
            f"{percent(float(self.share.values[block, head, role]))} on {where}, where looking everywhere alike would "
            f"put {percent(float(self.uniform.values[role]))}"
        )

    def roles(self, block: int, head: int) -> list[str]:
        """The roles a head has, clearest first: those at least `HAS` points beyond looking everywhere alike."""
        row, names = self.excess.values[block, head], self.excess.axes["role"].labels
        return [names[k] for k in np.argsort(-np.nan_to_num(row), kind="stable") if np.round(row[k]) >= HAS]

    def described(self, block: int, head: int, most: int | None = None) -> str:
        """What a head does, in words, from the numbers alone; the clearest `most`."""
        said = [
            f"{SAID.get(role, role)} ({percent(float(self.share.values[block, head, k]))})"
            for role in self.roles(block, head)
            if (k := self.share.axes["role"].labels.index(role)) >= 0 and role != "after a copy"
        ]
        if self.induction.values[block, head] >= INDUCTION:
            said.insert(0, f"induction (score {self.induction.values[block, head]:.2f})")
        return listed(said[:most]) if said else NO_ROLE


def head_roles(run: Run, *, step: Step = -1, member: Member = 0, over_life: bool = True) -> HeadRoles:
    """Roles of every head at a step and over life, on up to 128 validation windows."""
    a = run.architecture
    many = _judged.enough(run, WINDOWS, 1.0)
    windows = run.task.examples(a.context, "validation", many).windows[:, : a.context]
    allowed = np.tri(a.context, dtype=bool) if a.causal else np.ones((a.context, a.context), bool)
    even = allowed / allowed.sum(axis=1, keepdims=True)
    roles = _roles(run, windows, allowed)
    names = tuple(roles)
    base = np.array([_mean(np.broadcast_to(even, (len(windows), *even.shape)), use) for use in roles.values()])
    at = _clock.resolve(run, step)
    life = _clock.looks(run, LIFE if run.parameters < _judged.LARGE else FEWER, member) if over_life else [at]

    def measured(kept: int) -> tuple[Array, Array]:
        found = run.trace(windows, step=kept, member=member)["attention"]  # (window, block, head, query, key)
        flat = np.moveaxis(found.astype(np.float64), 0, 2)  # (block, head, window, query, key)
        return flat, np.stack([_mean(flat, use) for use in roles.values()], axis=-1)

    weights, share = measured(at)
    heads = {"block": numbers(a.blocks), "head": numbers(a.heads)}
    far = np.abs(np.arange(a.context)[:, None] - np.arange(a.context))
    logs = np.where(weights > 0, weights, 1.0)
    return HeadRoles(
        **_clock.at_step(run, at, member),
        excess=Labelled(100 * (share - base), heads | {"role": names}, "percentage points"),
        share=Labelled(share, heads | {"role": names}, "share"),
        uniform=Labelled(base, {"role": names}, "share"),
        entropy=Labelled(-(weights * np.log(logs)).sum(-1).mean(axis=(2, 3)), heads, "nats"),
        distance=Labelled((weights * far).sum(-1).mean(axis=(2, 3)), heads, "positions"),
        induction=Labelled(_induction(run, at, member), heads, "share"),
        life=Labelled(
            100 * (np.stack([share if kept == at else measured(kept)[1] for kept in life]) - base),
            {"step": life} | heads | {"role": names},
            "percentage points",
        ),
        uniform_entropy=float(np.log(allowed.sum(axis=1)).mean()),
        uniform_distance=float((even * far).sum(-1).mean()),
        windows=len(windows),
        marked=-1 if step == -1 else at,
        steps=tuple(life),
    )


def _induction(run: Run, step: int, member: int) -> Array:
    """(block, head): on random tokens written twice, the attention that a token of the second copy gives to the one
    that followed it in the first; NaN where a window cannot hold two copies, or no next token is asked for.
    """
    a, half = run.architecture, run.architecture.context // 2
    if run.task.answers != "next" or not a.causal or half < 4:
        return np.full((a.blocks, a.heads), np.nan)
    rng = np.random.default_rng(0)
    used = np.unique(run.task.examples(a.context, "validation", WINDOWS).windows)
    once = used[rng.integers(0, len(used), (fitting(run, REPEATED), half))]
    seen = run.trace(np.concatenate([once, once], axis=1), step=step, member=member)["attention"]
    queries = np.arange(half, 2 * half - 1)  # (sequence, block, head, query, key)
    return seen[..., queries, queries - half + 1].astype(np.float64).mean(axis=(0, 3))


def _roles(run: Run, windows: Array, allowed: Array) -> dict[str, Array]:
    """Role → (window, query, key): the keys that count for it. Roles that no window offers are left out."""
    many, context = windows.shape
    back = np.arange(context)[:, None] - np.arange(context)[None, :]
    fixed = {
        "self": back == 0,
        "previous": back == 1,
        "2 back": back == 2,
        "3 back": back == 3,
        "first": (back == np.arange(context)[:, None]) & (back > 0),
    }
    found = {name: np.broadcast_to(use & allowed, (many, context, context)) for name, use in fixed.items()}
    kind = np.array(groups(run))[windows]  # (window, key)
    for name in run.task.groups if len(run.task.groups) > 1 else ():
        found[f"{name} tokens"] = (
            np.broadcast_to((kind == name)[:, None, :], (many, context, context)) & allowed & (back != 0)
        )
    if run.task.answers == "next":
        answer = np.zeros((many, context, context), dtype=bool)
        for w, row in enumerate(windows):
            for query, source in enumerate(run.task.source_position(row)[:context]):
                if source >= 0 and source != query:
                    answer[w, query, source] = True
        found[ANSWER if copied(run) else NEEDED] = answer & allowed
    elif (read := run.architecture.read_position) is not None:  # the one answer is read at one position
        answer = np.zeros((many, context, context), dtype=bool)
        answer[:, read] = holds_answer(run, windows)
        found[ANSWER] = answer & allowed
    for name, keys in arguments(run, windows).items():
        found[name] = keys[:, None, :] & (back != 0) & allowed
    same = windows[:, :, None] == windows[:, None, :]  # (window, query, key)
    after = np.zeros_like(same)
    after[:, :, 1:] = same[:, :, :-1]  # the key just after an earlier copy of the query's token
    found["after a copy"] = after & (back > 0) & allowed
    return {name: use for name, use in found.items() if use.any()}


def _mean(weights: Array, use: Array) -> Array:
    """Attention on the keys of a role, over the queries that have such a key and something else to look at: (...)."""
    asks = use.any(axis=-1)
    there: Array = (weights * use).sum(axis=-1)
    return there[..., asks].mean(axis=-1)
