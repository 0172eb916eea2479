"""From the last point to the answer: attention, final, logits, probabilities; the read-out's vectors and biases."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import percent
from glassformer.analyses._verdicts import judged, read
from glassformer.analyses.decide.readout import Readout
from glassformer.figures import _draw, _regions, _style


def draw(seen: Readout, look: _draw.Look) -> Figure:
    """`final` · read-out + bias = logits → probabilities, with the right tokens framed; below, the read-out itself."""
    text = " ".join(map(shown, seen.tokens))
    alt = f"Attention, final, logits and probabilities on {text}. {seen.title}."
    sheet = look.sheet(seen, _caption(seen, text), alt, height=8.2, least=60)
    t, names, words = sheet.theme, seen.final.axes["position"], seen.words
    longest = _draw.widest(words)
    turned = 0.0 if longest < 1.6 or len(words) * longest < 18 else longest
    split = 0.5
    wide = min(1.0, 0.35 + 0.05 * seen.final.values.shape[1])
    beside = max(3.6, 0.8 + _draw.widest(names))
    upper: dict[str, Any] = {"left": beside, "bottom": 3.6 + max(turned, _draw.widest(names) - 2.5), "top": 2.2}
    begin, end = 0.38 if seen.heads else 0.24, 0.69 if seen.heads else 0.62
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
        top[0].set_title("mean attention, 0 to 1" if seen.heads > 1 else "attention, 0 to 1")
    if len(top[0].get_yticks()) < len(names) and asked:  # no room for all: those with an answer to check
        top[0].set_yticks(asked, [drawn(names)[k] for k in asked])
    final, told = top[-1], asked or [seen.place]
    reach = _draw.limits("signed", seen.final.values[told])
    digits = 1 if _draw.numbers_fit(final, seen.final.values, 1) else 0
    _draw.heat(final, seen.final.values, kind="signed", theme=t, rows=() if seen.heads else names, limit=reach,
               digits=digits)  # fmt: skip
    _regions.features(final, seen.final.values.shape[1])
    final.set_title(f"final (to ± {reach[1]:.2g})")
    answer = "answer" if max(seen.coming) < 0 else "next token"
    limit = _draw.limits("signed", seen.logits.values[told])
    _draw.heat(logits, seen.logits.values, kind="signed", theme=t, limit=limit, columns=words, column_name=answer,
               numbers=False)  # fmt: skip
    logits.set_title("logits")
    beyond = bool((np.abs(np.nan_to_num(seen.logits.values)) > limit[1]).any())
    _draw.bar(sheet, "signed", limit, "logit", beside=logits, beyond=beyond)
    most = _top(seen)
    _draw.heat(chances, seen.probabilities.values, kind="probability", theme=t, columns=words, column_name=answer,
               numbers=False, limit=(0, most))  # fmt: skip
    chances.set_title("probabilities")
    _draw.bar(sheet, "probability", (0, most), "probability", beside=chances)
    frames = [
        (k, seen.ids.index(r))
        for k, right in enumerate(seen.right)
        if len(right) <= len(words) // 2
        for r in right
        if r in seen.ids
    ]
    for panel in (logits, chances):
        _draw.outline(panel, frames, t.right, width=1.0)
    after = np.array([(seen.ids.index(token), k) for k, token in enumerate(seen.coming) if token in seen.ids]).reshape(
        -1, 2
    )
    mark = {"markerfacecolor": _style.theme("dark").ink, "markeredgecolor": t.quiet}
    for x, y in after:
        chances.plot([x], [y], marker="o", markersize=0.4 * sheet.size.text, zorder=5, **mark)
    low_left = sheet.panels(1, 1, left=5, right=1, bottom=4.6, top=2.2, within=(0, 0, 0.42, split))[0, 0]
    low_right = sheet.panels(1, 1, left=5, right=1.5, bottom=6.4 + turned, top=2.2, within=(0.42, 0, 1, split))[0, 0]
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
    for text in low_left.texts:
        _regions.halo_one(text, t)
    _draw.heading(low_left, f"read-out vectors{f' × {scale:.2g}' if scale > 1.001 else ''}; dots are final")
    (_biases if seen.bias.values.any() else _likeliest)(low_right, seen, sheet, turned)
    met = [verdict for verdict in ("right", "wrong") if verdict in seen.verdicts or (verdict == "right" and frames)]
    following = [Line2D([], [], linestyle="", marker="o", label="comes next", **mark)] if len(after) else []
    sheet.legend([*met, *following])
    return sheet.done()


def _top(seen: Readout) -> float:
    """Where the colours of the probabilities end: at 1, or earlier where none gets half and all would be dark."""
    most = float(np.nanmax(seen.probabilities.values, initial=0))
    return 1.0 if not 0 < most < 0.5 else float(np.ceil(10 * most) / 10)


def _likeliest(ax: Axes, seen: Readout, sheet: _draw.Sheet, _: float) -> None:
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
    ax.set_ylabel("probability")
    ax.set_title("likeliest token (bar), and what comes (dot); no bias")


def _biases(low_right: Axes, seen: Readout, sheet: _draw.Sheet, turned: float) -> None:
    """The bias of each token, by group."""
    t, words = sheet.theme, seen.words
    groups = list(dict.fromkeys(seen.groups))
    order = sorted(range(len(words)), key=lambda k: (groups.index(seen.groups[k]), k))
    shades = dict(zip(groups, np.linspace(1.0, 0.35, len(groups)), strict=True))
    for at, k in enumerate(order):
        low_right.bar(at, seen.bias.values[k], color=t.quiet, alpha=float(shades[seen.groups[k]]), width=0.8)
    low_right.axhline(0, color=t.ink, linewidth=0.5 * sheet.size.line)
    _draw.places(low_right, [words[k] for k in order], "x")
    low_right.set_ylabel("bias (logit)")
    low_right.set_title("read-out bias by group of tokens")
    edge = 0
    for name in groups:
        many = seen.groups.count(name)
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
    """How to read the maps, the arrows and the bars."""
    return (
        f"The input {text}. Top: attention of the last block{' (mean over its heads)' if seen.heads > 1 else ''}, "
        "`final` (position × feature), the logits and the probabilities of each token. Colours of `final` and of the "
        "logits reach as far as where there is an answer to check; beyond, they stay the same. Frames: the right "
        "tokens; dots: the token that in fact comes next. Bottom: the read-out vector of each token as an arrow (a "
        "point far along it gives the token a high logit), the input's `final` as dots, and the bias of each token by "
        "group, or without one the likeliest token after each position. The plane holds "
        f"{percent(seen.plane.kept)} of the vectors' variance. Exact numbers. If the bias alone decided, all rows of "
        "the probabilities would be alike."
    )
