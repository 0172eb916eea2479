"""Every pair with every pair: the scores of all queries with all keys, and the four terms they are made of."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._attend import not_asking
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import percent
from glassformer.analyses.attend.pair_scores import TERMS, ScoreAtlas, say, pair_scores
from glassformer.figures import _attend, _draw
from glassformer.run import Run


@_draw.drawing
def plot_pair_scores(
    run: Run,
    *,
    rows: str | None = None,
    head: int | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """The scores of all queries with all keys in blocks by token; `rows="+"` keeps the queries of one token."""
    seen = pair_scores(run, rows=rows, head=head, step=step, member=member)
    whole = seen.scores.get("scores")
    strip = bool(seen.rows)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=8, least=60)
    drawn = [whole.values] if whole is not None else [term.values for term in seen.terms.values()]
    limit = _attend.span(*drawn)
    right, long = 7.5, _attend.longest(seen.tokens)
    deep = 4.0 if long < 2 else 3.0 + long  # room for names that stand upright
    if whole is not None:
        part = (
            (0, 0, 1, 1)
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
            whole.values,
            kind="signed",
            theme=sheet.theme,
            limit=limit,
            numbers=False,
            rows=whole.axes["query"].labels if strip else (),
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
            _attend.score_bar(sheet, limit, *drawn, beside=panel)
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
    return sheet.done(seen, rows=rows, head=seen.head)


def _terms(
    sheet: _draw.Sheet,
    seen: ScoreAtlas,
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
        own = {"token": seen.tokens, "place": tuple(map(str, range(seen.context)))}
        _draw.heat(panel, term.values, kind="signed", theme=sheet.theme, limit=limit, numbers=False)
        wide = long if meets == "token" else 1.6
        each = min(max(wide, 1.2) + 0.5, 1.5) if wide > 2.4 else max(wide, 1.2) + 0.4
        _draw.places(panel, own[asks], "y", most=_attend.fitting(panel, "y", sheet.size.text, 1.15))
        _draw.places(panel, own[meets], "x", most=_attend.fitting(panel, "x", sheet.size.text, each))
        if slide and not row:
            panel.set_yticks([] if panel in panels[:, 1] and asks == "token" else panel.get_yticks())
            panel.set_title(_named(name, float(share)))
            continue
        panel.set_ylabel(f"query's {'position' if asks == 'place' else 'token'}")
        panel.set_xlabel(f"key's {'position' if meets == 'place' else 'token'}")
        _draw.heading(panel, _named(name, float(share)))
    if not row:
        whole = seen.scores.get("scores")
        values = [whole.values] if whole is not None else [term.values for term in seen.terms.values()]
        _attend.score_bar(sheet, limit, *values, beside=list(panels[:, -1]))


def _named(term: str, share: float) -> str:
    """`token·position 95 %`, the query's part first; shares that round to nothing have no sign."""
    term = term.replace("place", "position")
    if not np.isfinite(share):
        return term
    return f"{term} {'0 %' if abs(share) < 0.005 else percent(share)}".replace("-", "\u2212")
