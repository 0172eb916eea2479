"""The score of every token at every position with every other, and the four terms it is made of."""

from typing import Annotated

import numpy as np

from glassformer import reference
from glassformer.analyses import _applies
from glassformer.analyses._attend import OneHead, about_head, checked, product
from glassformer.analyses._judged import mean
from glassformer.analyses._options import Head, Member, Option, Step
from glassformer.analyses._pairs import frequent, pairs
from glassformer.analyses._result import Array, Labelled, fate, numbers, percent, result
from glassformer.architecture import nest, sinusoids
from glassformer.errors import CallError, unknown
from glassformer.run import Run

ORDER = 50
ANSWERS = ("4.S9", "4.r11", "4.r11_1")
COST = "c"
BEFORE_SCORES = ("token_embedding", "position_embedding", "embedded", "normed_1", "query", "key")
APPLIES = (_applies.asking,)
MOST_PAIRS = 200
MOST_DRAWN, MOST_CELLS = 1000, 3000  # pairs in one map; pairs whose scores are computed
TERMS = {  # the query's part and the key's part → what a score then depends on
    "token·token": "the two tokens",
    "token·place": "the query's token and the key's position",
    "place·token": "the query's position and the key's token",
    "place·place": "the two positions",
}


@result
class PairScores(OneHead):
    """Scores of all pairs with all pairs; without a norm before the matrices, the exact four terms."""

    scores: Labelled | None  # (query_token, query_position, key_token, key_position), NaN: masked; None: too many
    terms: dict[str, Labelled]  # by TERMS: (query_token or query_position, key_token or key_position)
    shares: Labelled  # (part,): share of what tells one key from another; they sum to 1. Without terms: none
    by_group: Labelled  # (query_group, key_group): mean score of pairs that can meet
    tokens: tuple[str, ...]
    context: int
    rows: str  # the one token whose rows are kept; "" for all
    causal: bool
    head: int
    heads: int
    blocks: int
    why_no_terms: str
    biased: bool
    product: str  # how a score comes about

    @property
    def groups(self) -> tuple[str, ...]:
        """The token groups, in the order of `by_group`."""
        return self.by_group.axes["query_group"].labels

    @property
    def title(self) -> str:
        """What the score depends on."""
        shares, means = self.shares.values, self.by_group.values
        if not np.isfinite(means).any():
            return fate("the scores are not numbers", self.step)
        if len(shares) and np.isfinite(shares).all():
            first, second, *_ = sorted(zip(shares.tolist(), TERMS.values(), strict=True), reverse=True)
            return (
                f"What tells one key from another is mostly {first[1]} ({percent(first[0])}), then {second[1]} "
                f"({percent(second[0])}){self.who}"
            )
        i, j = np.unravel_index(int(np.nanargmax(means)), means.shape)
        asks, meets = (self.by_group.axes[axis].labels for axis in ("query_group", "key_group"))
        high = f"{means[i, j]:.2f}".replace("-", "\u2212")
        said = f"{asks[i]} queries score {meets[j]} keys highest: {high} on average{self.who}"
        return said[0].upper() + said[1:]


def applies(run: Run) -> str | None:
    """That a map of each pair with each is not too large."""
    return _too_many(run, whole=True)


def _too_many(run: Run, whole: bool) -> str | None:
    many, why = len(frequent(run)) * run.architecture.context, _no_terms(run)
    end = f", and there are no exact terms, for {why}" if why else ""
    too_many = many > MOST_CELLS or (why and whole and many > MOST_DRAWN)
    return f"{many} pairs are too many for a map of each with each{end}" if too_many else None


def _no_terms(run: Run) -> str:
    """Why a score is not the sum of four terms; empty: it is."""
    a = run.architecture
    if any(edit.point in BEFORE_SCORES for edit in run.edits):
        return "an edit acts between the embedding and the scores"
    if a.norm != "none" and a.norm_place == "pre":
        return "a norm stands between the embedding and the queries"
    return "this model adds no position to the token" if a.positions in ("none", "rotary") else ""


def pair_scores(
    run: Run, *, rows: Annotated[str | None, Option("keep the queries of this token only")] = None, head: Head = None,
    step: Step = -1, member: Member = 0,
) -> PairScores:  # fmt: skip
    """Every pair with every pair in block 0."""
    if edit := next((edit for edit in run.edits if edit.point == "scores"), None):
        raise CallError(f"{edit} decides scores, which are computed here from queries and keys alone")
    head = checked(run, 0, head, member=member)
    every, a = pairs(run, step=step, member=member), run.architecture
    words, context = every.tokens, every.context
    if rows is not None and rows not in words:
        raise unknown(rows, "the vocabulary", words)
    if refused := _too_many(run, rows is None):
        raise CallError(refused)
    why, many = _no_terms(run), len(words) * context
    q, k = (every.at(point, head).astype(np.float64) for point in ("query", "key"))
    scores = np.einsum("tpf,usf->tpus", q, k) * every.scale  # (token, position, token, position)
    allowed = np.tri(context, dtype=bool) if a.causal else np.ones((context, context), bool)
    mask = np.broadcast_to(allowed[None, :, None, :], scores.shape)
    met = mask & ~_beside_itself(len(words), context)
    axes = {f"{who}_{what}": places for who in ("query", "key") for what, places in
            (("token", words), ("position", numbers(context)))}  # fmt: skip
    terms, shares = {}, np.zeros(0)
    if not why:
        parts = _parts(run, head, every.step or 0, member, list(every.ids))
        for name in TERMS:
            asks, meets = name.replace("place", "position").split("·")
            term = parts["query", asks] @ parts["key", meets].T * every.scale
            terms[name] = Labelled(term, {each: axes[each] for each in (f"query_{asks}", f"key_{meets}")}, "score")
        shares = _shares(spread([term.values for term in terms.values()], scores.shape), scores, met)
    whole = None
    if many <= MOST_PAIRS or rows is not None or not terms:
        own = slice(None) if rows is None else slice(words.index(rows), words.index(rows) + 1)
        with np.errstate(over="ignore"):
            kept = np.where(mask, scores, np.nan)[own].astype(np.float32)
        whole = Labelled(kept, axes | {"query_token": words[own]}, "score")
    row = {token: k for k, token in enumerate(every.ids)}
    kinds = {name: [row[t] for t in tokens if t in row] for name, tokens in run.task.groups.items()}
    kinds = {name: rows_of for name, rows_of in kinds.items() if rows_of}
    means = np.array([[mean(scores[i][:, :, j], met[i][:, :, j]) for j in kinds.values()] for i in kinds.values()])
    return PairScores(
        **about_head(run, head, every.step, member),
        scores=whole,
        terms=terms,
        shares=Labelled(shares, {"part": tuple(TERMS) if len(shares) else ()}, "share"),
        by_group=Labelled(means, {"query_group": tuple(kinds), "key_group": tuple(kinds)}, "score"),
        tokens=words,
        context=context,
        rows=rows or "",
        causal=a.causal,
        why_no_terms=why,
        biased="attention" in a.biases,
        product=product(run),
    )


def _beside_itself(tokens: int, context: int) -> Array:
    """(token, position, token, position): a key at the query's own position that is not the query's own token."""
    return ~np.eye(tokens, dtype=bool)[:, None, :, None] & np.eye(context, dtype=bool)[None, :, None, :]


def _parts(run: Run, head: int, step: int, member: int, ids: list[int]) -> dict[tuple[str, str], Array]:
    """Queries and keys of the tokens alone and of the positions alone; biases go with the positions."""
    a, params = run.architecture, nest(run.unedited.weights(step, member))
    table = params["position"] if a.positions == "learned" else sinusoids(a.context, a.width)
    columns = slice(head * a.per_head, (head + 1) * a.per_head)
    found = {}
    for point in ("query", "key"):
        w = params["blocks"][0]
        found[point, "token"] = params["token"][ids].astype(np.float64) @ w[point][:, columns]
        found[point, "position"] = reference.linear(table.astype(np.float64), w, point)[:, columns]
    return found


def spread(terms: list[Array], shape: tuple[int, ...]) -> list[Array]:
    """The four terms, each over all of (token, position, token, position): their sum is the score."""
    tt, tp, pt, pp = terms
    shaped = (tt[:, None, :, None], tp[:, None, None, :], pt[None, :, :, None], pp[None, :, None, :])
    return [np.broadcast_to(each, shape) for each in shaped]


def _shares(terms: list[Array], scores: Array, mask: Array) -> Array:
    """How much of the spread of the scores among the keys of a query each term accounts for."""

    def centred(x: Array) -> Array:
        flat, seen = x.reshape(*x.shape[:2], -1), mask.reshape(*mask.shape[:2], -1)
        mean = np.where(seen, flat, 0).sum(-1, keepdims=True) / seen.sum(-1, keepdims=True)
        return np.where(seen, flat - mean, 0)

    total = centred(scores)
    power = float((total**2).sum())
    if not power > 0:
        return np.full(len(terms), np.nan)
    return np.array([float((centred(term) * total).sum()) / power for term in terms])
