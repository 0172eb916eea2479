"""The score of every token at every position with every other, and the four terms it is made of."""

from dataclasses import dataclass

import numpy as np

from glassformer import reference
from glassformer.analyses import _applies, _clock
from glassformer.analyses._attend import checked, must_ask, product
from glassformer.analyses._pairs import in_file, pairs, shown
from glassformer.analyses._result import Array, Labelled, Result, Words, percent, thousands, result
from glassformer.analyses.attend.attention import named
from glassformer.architecture import nest, sinusoids
from glassformer.errors import CallError, unknown
from glassformer.run import Run

ORDER = 50
ANSWERS = ("4.S9", "4.r11", "4.r11_1")
COST = "c"
APPLIES = (_applies.asking,)

MOST_PAIRS = 200
MOST_DRAWN, MOST_CELLS = 1000, 3000  # pairs in one map; pairs whose scores are computed
TERMS = ("token·token", "token·place", "place·token", "place·place")


@result
class ScoreAtlas(Result):
    """Scores of all pairs with all pairs; without a norm before the matrices, the exact four terms."""

    scores: dict[str, Labelled]  # "scores": (query, key), NaN where masked; empty above 200 pairs
    terms: dict[str, Labelled]  # token·token, token·place, place·token, place·place: query's part × key's part
    shares: Labelled  # (term,): share of what tells one key from another; they sum to 1. Without terms: none
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


def pair_scores(
    run: Run, *, rows: str | None = None, head: int | None = None, step: int = -1, member: int = 0
) -> ScoreAtlas:
    """Every pair with every pair in block 0. `rows`: keep the queries of one token."""
    must_ask(run)
    head = checked(run, 0, head, member=member)
    every, a = pairs(run, step=step, member=member), run.architecture
    words, context = every.tokens, every.context
    if rows is not None and rows not in words:
        raise unknown(rows, "the vocabulary", words)
    why = (
        "a norm stands between the embedding and the queries"
        if a.norm != "none" and a.norm_place == "pre"
        else ("this model adds no position to the token" if a.positions in ("none", "rotary") else "")
    )
    if len(words) * context > MOST_CELLS or (why and rows is None and len(words) * context > MOST_DRAWN):
        end = f", and there are no exact terms, for {why}" if why else ""
        raise CallError(f"{len(words) * context} pairs are too many for a map of each with each{end}")
    q, k = (every.at(point, head).astype(np.float64) for point in ("query", "key"))
    scores = np.einsum("tpf,usf->tpus", q, k) * every.scale  # (token, position, token, position)
    allowed = np.tri(context, dtype=bool) if a.causal else np.ones((context, context), bool)
    mask = np.broadcast_to(allowed[None, :, None, :], scores.shape)
    met = mask & ~_beside_itself(len(words), context)
    terms, shares = {}, np.zeros(0)
    if not why:
        parts = _parts(run, head, every.step or 0, member, list(every.ids))
        whole = [
            parts["query", x] @ parts["key", y].T * every.scale for x in ("token", "place") for y in ("token", "place")
        ]
        axes = {"token": words, "place": tuple(f"position {place}" for place in range(context))}
        terms = {
            name: Labelled(
                value, {"query_part": axes[name.split("·")[0]], "key_part": axes[name.split("·")[1]]}, "score"
            )
            for name, value in zip(TERMS, whole, strict=True)
        }
        shares = _shares(spread(whole, scores.shape), scores, met)
    kept = scores if rows is None else scores[[words.index(rows)]]
    keep_mask = mask if rows is None else mask[:1]
    names = tuple(in_file(token, place) for token in words for place in range(context))
    own = names if rows is None else tuple(in_file(rows, place) for place in range(context))
    flat = np.where(keep_mask, kept, np.nan).reshape(len(own), len(names))
    row = {token: k for k, token in enumerate(every.ids)}
    kinds = {name: [row[t] for t in tokens if t in row] for name, tokens in run.task.groups.items()}
    kinds = {name: rows_of for name, rows_of in kinds.items() if rows_of}
    means = np.array([[_mean(scores[i][:, :, j], met[i][:, :, j]) for j in kinds.values()] for i in kinds.values()])
    return ScoreAtlas(
        step=every.step,
        clock=_clock.text(run, every.step or 0, member),
        scores={"scores": Labelled(flat, {"query": own, "key": names}, "score")}
        if len(names) <= MOST_PAIRS or rows is not None or not terms
        else {},
        terms=terms,
        shares=Labelled(shares, {"term": TERMS if len(shares) else ()}, "share"),
        by_group=Labelled(means, {"query_group": tuple(kinds), "key_group": tuple(kinds)}, "score"),
        tokens=words,
        context=context,
        rows=rows or "",
        causal=a.causal,
        head=head,
        heads=a.heads,
        blocks=a.blocks,
        why_no_terms=why,
        biased="attention" in a.biases,
        product=product(run),
    )


def _beside_itself(tokens: int, context: int) -> Array:
    """(token, position, token, position): a key at the query's own position that is not the query's own token."""
    found: Array = ~np.eye(tokens, dtype=bool)[:, None, :, None] & np.eye(context, dtype=bool)[None, :, None, :]
    return found


def _mean(scores: Array, met: Array) -> float:
    """The mean over pairs that can meet; NaN where none can."""
    return float(scores[met].mean()) if met.any() else float("nan")


def _parts(run: Run, head: int, step: int, member: int, ids: list[int]) -> dict[tuple[str, str], Array]:
    """Queries and keys of the tokens alone and of the positions alone; biases go with the positions."""
    a, params = run.architecture, nest(run.weights(step, member))
    table = params["position"] if a.positions == "learned" else sinusoids(a.context, a.width)
    columns = slice(head * a.per_head, (head + 1) * a.per_head)
    found = {}
    for point in ("query", "key"):
        w = params["blocks"][0]
        found[point, "token"] = params["token"][ids].astype(np.float64) @ w[point][:, columns]
        found[point, "place"] = reference.linear(table.astype(np.float64), w, point)[:, columns]
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


def say(seen: ScoreAtlas) -> Words:
    """What the score depends on."""
    count = len(seen.tokens) * seen.context
    caption = (
        f"Scores of {'the queries of ' + shown(seen.rows) if seen.rows else 'all queries'} with all "
        f"{thousands(count)} keys"
        + (f" in head {seen.head} of {seen.heads}" if seen.heads > 1 else "")
        + f", {seen.product}: blocks by token, and within a block query positions from top to bottom, key positions "
        "from left to right. "
        + ("Masked cells, where the key lies in the future, are cross-hatched. " if seen.causal else "")
    )
    if seen.terms:
        caption += (
            "Queries and keys are sums of a token's part and a position's part, so a score is the sum of four "
            "terms, drawn beside on the same scale, the query's part named first"
            + (" (biases are counted with the positions)" if seen.biased else "")
            + ". The percentages share out what the softmax sees, the differences between the keys of one query: "
            "covariance of the term with the score over the variance of the score, over keys that it can meet (at its "
            "own position only its own token); they sum to 100 %, and a negative one works against the rest. "
        )
    else:
        caption += f"The four terms are not drawn: {seen.why_no_terms}. "
    if not seen.scores:
        caption += (
            f"The whole atlas ({thousands(count)} × {thousands(count)}) is left out; rows= draws one token's part. "
        )
    caption += "Exact. If what is said did not matter, token·token would be one colour."
    shares, groups = seen.shares.values, seen.by_group
    who = f" ({named(0, seen.head, seen.blocks)})" if seen.blocks * seen.heads > 1 else ""
    if not np.isfinite(groups.values).any():
        title = f"At step {seen.step} the scores are not numbers: the training has diverged"
    elif len(shares) and np.isfinite(shares).all():
        best = int(np.argmax(shares))
        said = {
            "token·token": "the two tokens",
            "token·place": "the query's token and the key's position",
            "place·token": "the query's position and the key's token",
            "place·place": "the two positions",
        }
        rest = sorted(((float(s), t) for s, t in zip(shares, TERMS, strict=True) if t != TERMS[best]), reverse=True)
        title = (
            f"What tells one key from another is mostly {said[TERMS[best]]} ({percent(float(shares[best]))}), then "
            f"{said[rest[0][1]]} ({percent(rest[0][0])}){who}"
        )
    else:
        i, j = np.unravel_index(int(np.nanargmax(groups.values)), groups.values.shape)
        high = f"{groups.values[i, j]:.2f}".replace("-", "\u2212")
        title = (
            f"{groups.axes['query_group'].labels[i]} queries score {groups.axes['key_group'].labels[j]} keys highest: {high} on "
            f"average{who}"
        )
        title = title[0].upper() + title[1:]
    return Words(title, caption, f"Heat maps of scores, {count} pairs by {count} pairs. {title}.")
