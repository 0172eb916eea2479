"""From the last point to the answer: attention, final, logits, probabilities; the read-out's vectors and biases."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import capital, percent
from glassformer.analyses._verdicts import judged, read
from glassformer.analyses.decide.readout import Readout
from glassformer.figures import _draw, _regions, _style


def draw(seen: Readout, look: _draw.Look) -> Figure:
    """`final` · read-out + bias = logits → probabilities, with the right tokens framed; below, the read-out itself."""
    text = " ".join(map(shown, seen.tokens))
    sheet = look.sheet(seen, _caption(seen, text), f"Attention, final, logits and probabilities on {text}", height=8.2)
    t, names, words = sheet.theme, seen.final.axes["position"], seen.words
    begin, end = 0.38 if seen.heads else 0.24, 0.69 if seen.heads else 0.62
    kept = _columns(seen, (end - begin) * sheet.room[0] - 7)
    columns, ids = [words[k] for k in kept], [seen.ids[k] for k in kept]
    turned, split = _upright(columns), 0.5
    wide = min(1.0, 0.35 + 0.05 * seen.final.values.shape[1])
    beside = max(3.6, 0.8 + _draw.widest(names))
    upper: dict[str, Any] = {"left": beside, "bottom": 3.6 + max(turned, _draw.widest(names) - 2.5), "top": 2.2}
    parts = [1.0, wide] if seen.heads else [wide]
    top = list(
        sheet.panels(1, len(parts), widths=parts, right=1, gap=(1.5, 0), within=(0, split, begin, 1), **upper)[0]
    )
    logits = sheet.panels(1, 1, right=6.5, within=(begin, split, end, 1), **upper | {"left": 0.5})[0, 0]
    chances = sheet.panels(1, 1, right=6.5, within=(end, split, 1, 1), **upper | {"left": 0.5})[0, 0]
    asked = judged(seen.verdicts)
    if seen.heads:
        future = ~np.tri(len(names), dtype=bool) if seen.causal else None
        _draw.heat(top[0], seen.attention.values, kind="share", theme=t, rows=names, columns=names, masked=future,
                   numbers=False)  # fmt: skip
        _fitting(top[0], "mean attention, 0 to 1" if seen.heads > 1 else "attention, 0 to 1", "attention")
    if len(top[0].get_yticks()) < len(names) and asked:  # no room for all: those with an answer to check
        top[0].set_yticks(asked, [drawn(names)[k] for k in asked])
    final, told = top[-1], asked or [seen.place]
    reach = _draw.limits("signed", seen.final.values[told])
    digits = 1 if _draw.numbers_fit(final, seen.final.values, 1) else 0
    _draw.heat(final, seen.final.values, kind="signed", theme=t, rows=() if seen.heads else names, limit=reach,
               digits=digits)  # fmt: skip
    _regions.features(final, seen.final.values.shape[1])
    _fitting(final, f"final (to ± {reach[1]:.2g})", "final")
    answer = "answer" if max(seen.coming) < 0 else "next token"
    limit = _draw.limits("signed", seen.logits.values[told])
    _draw.heat(logits, seen.logits.values[:, kept], kind="signed", theme=t, limit=limit, columns=columns,
               column_name=answer, numbers=False)  # fmt: skip
    logits.set_title("logits")
    beyond = bool((np.abs(np.nan_to_num(seen.logits.values[:, kept])) > limit[1]).any())
    _draw.bar(sheet, "signed", limit, "logit", beside=logits, beyond=beyond)
    most = _top(seen)
    _draw.heat(chances, seen.probabilities.values[:, kept], kind="probability", theme=t, columns=columns,
               column_name=answer, numbers=False, limit=(0, most))  # fmt: skip
    chances.set_title("probabilities")
    _draw.bar(sheet, "probability", (0, most), "probability", beside=chances)
    frames = [(k, ids.index(r)) for k, right in enumerate(_framed(seen)) for r in right if r in ids]
    for panel in (logits, chances):
        _draw.outline(panel, frames, t.right, width=1.0)
    after = np.array([(ids.index(token), k) for k, token in enumerate(seen.coming) if token in ids]).reshape(-1, 2)
    mark = {"markerfacecolor": _style.theme("dark").ink, "markeredgecolor": t.quiet}
    for x, y in after:
        chances.plot([x], [y], marker="o", markersize=0.4 * sheet.size.text, zorder=5, **mark)
    low_left = sheet.panels(1, 1, left=5, right=1, bottom=4.6, top=2.2, within=(0, 0, 0.42, split))[0, 0]
    biased = _columns(seen, 0.58 * sheet.room[0] - 6.5) if seen.bias.values.any() else []
    turned = _upright([words[k] for k in biased])
    groups = not (turned and sheet.size.name == "slide")  # there it has no room for their names
    bottom = (6.4 if groups else 4.2) + turned
    low_right = sheet.panels(1, 1, left=5, right=1.5, bottom=bottom, top=2.2, within=(0.42, 0, 1, split))[0, 0]
    tips, ends = seen.tips.values, seen.ends.values
    zero = np.broadcast_to(seen.plane.zero, tips.shape)
    scale = 1.0
    if np.isfinite(tips).all() and np.isfinite(ends).all():
        longest, farthest = np.abs(tips - zero).max(), np.abs(ends - seen.plane.zero).max()
        scale = max(1.0, float(0.8 * farthest / longest)) if longest > 0 else 1.0
    shown_tips = zero + scale * (tips - zero)
    _draw.plane_axes(low_left, seen.plane, np.concatenate([shown_tips, ends]), theme=t, margin=0.12)
    _draw.arrows(low_left, zero, shown_tips, colours=t.quiet, width=0.5)
    _draw.dots(low_left, ends, colour=[_regions.colour(v, t) for v in seen.verdicts], scale=0.8, zorder=4)
    clear = np.concatenate([shown_tips, ends[read(seen.verdicts)], _regions.along(zero, shown_tips)])
    texts = [*(drawn(names)[k] for k in asked), *(shown(word) for word in words)]  # first the points of the title
    inks = [*(_regions.colour(seen.verdicts[k], t) for k in asked), *([t.ink] * len(words))]
    _draw.labels(low_left, np.concatenate([ends[asked], shown_tips]), texts, colours=inks, keep_clear=clear, tied=True)
    _regions.halo(low_left.texts, t)
    _draw.heading(low_left, f"read-out vectors{f' × {scale:.2g}' if scale > 1.001 else ''}; dots are final")
    if biased:
        _biases(low_right, seen, sheet, biased, turned if groups else None)
    else:
        _likeliest(low_right, seen, sheet)
    met = [verdict for verdict in ("right", "wrong") if verdict in seen.verdicts or (verdict == "right" and frames)]
    following = [Line2D([], [], linestyle="", marker="o", label="comes next", **mark)] if len(after) else []
    sheet.legend([*met, *following])
    if len(kept) < len(words):
        what = f"{'the right ones, ' if frames else ''}those that come next and the likeliest"
        parts_of = f"{len(kept)}" + (f" (biases: {len(biased)})" if 0 < len(biased) < len(words) else "")
        sheet.note(f"maps: {parts_of} of {seen.answers} tokens, {what}")
    return sheet.done()


def _framed(seen: Readout) -> list[tuple[int, ...]]:
    """The right tokens of each position, unless they are most of all."""
    return [right if len(right) <= len(seen.words) // 2 else () for right in seen.right]


def _upright(names: list[str]) -> float:
    """How many ems the names of tokens stand high: 0 where they have room side by side."""
    longest = _draw.widest(names)
    return 0.0 if longest < 1.6 or len(names) * longest < 18 else longest


def _fitting(ax: Axes, title: str, short: str) -> None:
    """A title, or where it would run into the next a shorter one."""
    wide = ax.get_window_extent().width / ax.figure.dpi
    ax.set_title(title if _draw.text_width(title, float(matplotlib.rcParams["axes.titlesize"])) < 1.1 * wide else short)


def _columns(seen: Readout, room: float) -> list[int]:
    """The tokens with a place of their own in so many ems: all, or as many as can be named.

    Those that matter on this input come first.
    """
    fit = max(int(room / 1.13), 4)
    if len(seen.words) <= fit:
        return list(range(len(seen.words)))
    told = [token for right in _framed(seen) for token in right] + [token for token in seen.coming if token >= 0]
    likely = np.argsort(-np.nan_to_num(seen.probabilities.values).max(0), kind="stable").tolist()
    order = [*(seen.ids.index(token) for token in told if token in seen.ids), *likely]
    return sorted(list(dict.fromkeys(order))[:fit])


def _top(seen: Readout) -> float:
    """Where the colours of the probabilities end: at 1, or earlier where none gets half and all would be dark."""
    most = float(np.nanmax(seen.probabilities.values, initial=0))
    return 1.0 if not 0 < most < 0.5 else float(np.ceil(10 * most) / 10)


def _likeliest(ax: Axes, seen: Readout, sheet: _draw.Sheet) -> None:
    """No bias: the likeliest token after each position, and the probability of the one that comes."""
    t, places, chances = sheet.theme, read(seen.verdicts), seen.probabilities.values
    best = chances[places].argmax(-1)
    ax.bar(range(len(places)), chances[places, best], color=t.unconstrained, width=0.7)
    for at, (place, token) in enumerate(zip(places, best, strict=True)):
        word = shown(seen.words[token])
        ax.annotate(word, (at, chances[place, token]), xytext=(0, 2), textcoords="offset points", ha="center",
                    va="bottom", parse_math=False)  # fmt: skip
        if (coming := seen.coming[place]) in seen.ids:
            ax.plot(
                at, chances[place, seen.ids.index(coming)], marker="o", color=t.ink, markersize=0.5 * sheet.size.text
            )
    ax.set_ylim(0, 1.15 * max(float(np.nanmax(chances[places], initial=0)), 1e-3))
    _draw.places(ax, [drawn(seen.final.axes["position"])[k] for k in places], "x", name="position of the input")
    ax.set(ylabel="probability", title="likeliest token (bar), and what comes (dot); no bias")


def _biases(low_right: Axes, seen: Readout, sheet: _draw.Sheet, kept: list[int], turned: float | None) -> None:
    """The bias of some tokens, by group; the groups are named below the names of so many ems, unless it is None."""
    t, words = sheet.theme, seen.words
    groups = list(dict.fromkeys(seen.groups))
    order = sorted(kept, key=lambda k: (groups.index(seen.groups[k]), k))
    shades = dict(zip(groups, np.linspace(1.0, 0.35, len(groups)), strict=True))
    for at, k in enumerate(order):
        low_right.bar(at, seen.bias.values[k], color=t.quiet, alpha=float(shades[seen.groups[k]]), width=0.8)
    low_right.axhline(0, color=t.ink, linewidth=0.5 * sheet.size.line)
    _draw.places(low_right, [words[k] for k in order], "x")
    low_right.set(ylabel="bias (logit)", title="read-out bias by group of tokens")
    if turned is None:
        return
    edge = 0
    for name in groups:
        many = sum(seen.groups[k] == name for k in kept)
        if not many:
            continue
        low_right.annotate(
            name,
            (edge + (many - 1) / 2, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -(2.3 + turned) * sheet.size.text),
            textcoords="offset points",
            ha="center",
            va="top",
            color=t.quiet,
        )
        edge += many


def _caption(seen: Readout, text: str) -> str:
    asked, biased = judged(seen.verdicts), bool(seen.bias.values.any())
    attention = f"attention of the last block{' (mean over its heads)' if seen.heads > 1 else ''}, "
    reach = "where there is an answer to check" if asked else f"they do at position {seen.place}"
    marks = ["frames: the right tokens"] * any(map(any, _framed(seen)))
    marks += ["dots: the token that in fact comes next"] * (max(seen.coming) >= 0)
    some = f"{len(seen.words)} likeliest tokens" if len(seen.words) < seen.answers else "tokens"
    return (
        f"The input {text}. Top: {attention if seen.heads else ''}`final` (position × feature), the logits and the "
        f"probabilities of the {some}. Colours of `final` and of the logits reach as far as {reach}; beyond, they stay "
        f"the same. {capital('; '.join(marks))}{'. ' if marks else ''}Bottom: the read-out vectors of the {some} as "
        "arrows (a point far along one gives the token a high logit), the input's `final` as dots, and "
        + ("the bias of each token by group. " if biased else "the likeliest token after each position. ")
        + f"The plane holds {percent(seen.plane.kept)} of the vectors' variance. Exact numbers. "
        + ("If the bias alone decided, all rows of the probabilities would be alike." if biased
           else "If what was read did not matter, all rows of the probabilities would be alike.")
    )  # fmt: skip
