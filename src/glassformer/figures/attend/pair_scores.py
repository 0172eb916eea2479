"""Every pair with every pair: the scores of all queries with all keys, and the four terms they are made of."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._pairs import paired, shown
from glassformer.analyses._result import Array, percent, thousands
from glassformer.analyses.attend.pair_scores import TERMS, PairScores
from glassformer.figures import _attend, _draw


def draw(seen: PairScores, look: _draw.Look) -> Figure:
    """The scores of all queries with all keys in blocks by token; `rows="+"` keeps the queries of one token."""
    count, strip = len(seen.tokens) * seen.context, bool(seen.rows)
    sheet = look.sheet(seen, _caption(seen, count), f"Heat maps of scores, {count} pairs by {count} pairs", height=8)
    whole = None if seen.scores is None else seen.scores.values.reshape(-1, count)
    limit = _attend.span(*_coloured(seen))
    right, long = 7.5, _attend.longest(seen.tokens)
    deep = 4.0 if long < 2 else 3.0 + long  # room for names that stand upright
    grouped = not seen.terms and not strip and len(seen.by_group.values) > 1 and sheet.size.name in ("screen", "slide")
    if grouped:
        _grouped(sheet, seen)
    if whole is not None:
        part = (
            (0, 0, 0.68 if grouped else 1, 1)
            if not seen.terms
            else (0, 0.55, 1, 1)
            if strip
            else (0, 0, 0.53 if sheet.size.fixed is None else 0.5, 1)
        )
        panel = sheet.panels(
            1,
            1,
            left=3.8 + max(long, 1.2),
            right=right if not seen.terms or strip else 1,
            bottom=deep + 1,
            top=2.6,
            within=part,
            square=not strip,
        )[0, 0]
        _draw.heat(
            panel,
            whole,
            kind="signed",
            theme=sheet.theme,
            limit=limit,
            numbers=False,
            rows=paired([seen.rows], seen.context) if strip else (),
        )
        if seen.causal:
            blocks = [
                (r * seen.context, c * seen.context)
                for r in range(1 if strip else len(seen.tokens))
                for c in range(len(seen.tokens))
            ]
            _attend.staircase(panel, blocks, seen.context, sheet.theme)
        _attend.atlas(panel, seen.tokens, seen.context, sheet.theme, one_row=strip)
        panel.set_xlabel(f"key: token, and within it positions 0 to {seen.context - 1}")
        panel.set_ylabel("query" if strip else f"query: token, and within it positions 0 to {seen.context - 1}")
        what = f"scores of {shown(seen.rows)} with every key" if strip else "scores of every query with every key"
        _draw.heading(panel, f"{what}: {seen.product}")
        if not seen.terms or strip:
            _attend.score_bar(sheet, limit, whole, beside=panel)
    if seen.terms:
        _terms(
            sheet,
            seen,
            limit,
            (0, 0, 1, 0.55)
            if strip
            else (0.53 if sheet.size.fixed is None else 0.5, 0, 1, 1)
            if whole is not None
            else (0, 0, 1, 1),
            right,
            strip,
        )
    if seen.causal and whole is not None:
        sheet.legend(["masked"])
    if seen.terms and not strip:
        sheet.note("token·position: the query's token (down) with the key's position (across)")
    return sheet.done()


def _caption(seen: PairScores, count: int) -> str:
    said = (
        f"Scores of {'the queries of ' + shown(seen.rows) if seen.rows else 'all queries'} with all "
        f"{thousands(count)} keys"
        + (f" in head {seen.head} of {seen.heads}" if seen.heads > 1 else "")
        + f", {seen.product}: blocks by token, and within a block query positions from top to bottom, key positions "
        "from left to right. "
        + ("Masked cells, where the key lies in the future, are cross-hatched. " if seen.causal else "")
    )
    if seen.terms:
        said += (
            "Queries and keys are sums of a token's part and a position's part, so a score is the sum of four "
            "terms, drawn beside on the same scale, the query's part named first"
            + (" (biases are counted with the positions)" if seen.biased else "")
            + ". The percentages share out what the softmax sees, the differences between the keys of one query: "
            "covariance of the term with the score over the variance of the score, over keys that it can meet (at its "
            "own position only its own token); they sum to 100 %, and a negative one works against the rest. "
        )
    else:
        said += f"The four terms are not drawn: {seen.why_no_terms}. "
        said += "Beside it, where there is room: the mean score of each group's queries with each group's keys. "
    if seen.scores is None:
        said += f"The whole map ({thousands(count)} × {thousands(count)}) is left out; rows= draws one token's part. "
    alike = "token·token would be one colour" if seen.terms else "all blocks would look alike"
    return f"{said}Exact. If what is said did not matter, {alike}."


def _grouped(sheet: _draw.Sheet, seen: PairScores) -> None:
    """The mean scores that the title is about, group by group, in a table of its own scale."""
    means, names = seen.by_group.values, [name.replace(" ", "\N{NO-BREAK SPACE}") for name in seen.groups]
    side = _attend.longest(names)
    panel = sheet.panels(1, 1, left=4.4 + side, right=2, bottom=4.2 + side, top=2.6, within=(0.68, 0.4, 1, 1))[0, 0]
    _draw.heat(panel, means, kind="signed", theme=sheet.theme, limit=_draw.limits("signed", means), rows=names,
               columns=names, row_name="query's group", column_name="key's group", numbers=True, digits=2)  # fmt: skip
    _draw.heading(panel, "mean score (colours of its own)")


def _coloured(seen: PairScores) -> list[Array]:
    """The scores that the colours are for: all of them, or where those are too many, the terms."""
    return [each.values for each in ([seen.scores] if seen.scores is not None else seen.terms.values())]


def _terms(
    sheet: _draw.Sheet,
    seen: PairScores,
    limit: tuple[float, float],
    part: tuple[float, float, float, float],
    right: float,
    row: bool,
) -> None:
    long = _attend.longest(seen.tokens)
    deep = 4.0 if long < 2 else 3.0 + long
    sizes = {"token": len(seen.tokens), "place": seen.context}
    slide = sheet.size.fixed is not None  # no room for the names of the axes: the titles say what they are
    beside, below = (1.2, deep - 2.2) if slide else (3.4, deep)
    many = [sizes["token"] + 3, sizes["place"] + 3]
    if row:
        panels = sheet.panels(1, 4, left=5, right=1.5, bottom=5.6, top=2.8, gap=(4 + long, 0), within=part)
    else:
        panels = sheet.panels(
            2,
            2,
            left=beside + max(long, 1.2),
            right=right,
            bottom=below + 1.4,
            top=2.6,
            gap=(beside + (1.2 if slide else max(long, 1.2)), below + 1.8),
            within=part,
            heights=many,
        )
    for panel, name, share in zip(panels.flat, TERMS, seen.shares.values, strict=True):
        term = seen.terms[name]
        asks, meets = name.split("·")
        own = dict(zip(("y", "x"), term.axes.values(), strict=True))
        _draw.heat(panel, term.values, kind="signed", theme=sheet.theme, limit=limit, numbers=False)
        wide = long if meets == "token" else 1.6
        each = min(max(wide, 1.2) + 0.5, 1.5) if wide > 2.4 else max(wide, 1.2) + 0.4
        _draw.places(panel, own["y"], "y", most=_attend.fitting(panel, "y", sheet.size.text, 1.15))
        _draw.places(panel, own["x"], "x", most=_attend.fitting(panel, "x", sheet.size.text, each))
        if slide and not row:
            panel.set_yticks([] if panel in panels[:, 1] and asks == "token" else panel.get_yticks())
            panel.set_title(_named(name, float(share)))
            continue
        panel.set_ylabel(f"query's {'position' if asks == 'place' else 'token'}")
        panel.set_xlabel(f"key's {'position' if meets == 'place' else 'token'}")
        _draw.heading(panel, _named(name, float(share)))
    if not row:
        _attend.score_bar(sheet, limit, *_coloured(seen), beside=list(panels[:, -1]))


def _named(term: str, share: float) -> str:
    """`token·position 95 %`, the query's part first; shares that round to nothing have no sign."""
    term = term.replace("place", "position")
    if not np.isfinite(share):
        return term
    return f"{term} {'0 %' if abs(share) < 0.005 else percent(share)}".replace("-", "\u2212")
