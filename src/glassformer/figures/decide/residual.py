"""How attention moves each position: stream before, addition, stream after, and the arrows over the winning regions."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array, percent
from glassformer.analyses.decide.residual import Residual
from glassformer.figures import _draw, _regions, _style


def draw(seen: Residual, look: _draw.Look) -> Figure:
    """Embedded + attended = middle, and where that takes each position; in the style `values`: value, mix and sum."""
    narrow = look.size == "print_narrow"
    tall = 4.9 if seen.style == "values" else _style.inches(look.size, 98) if narrow else 7.4
    text = " ".join(map(shown, seen.tokens))
    shows = f"Heat maps and arrows of the residual stream on {text}"
    sheet = look.sheet(seen, _caption(seen, text), shows, height=tall, least=0)
    if seen.style == "values":
        _values(sheet, seen)
    else:
        _stream(sheet, seen)
    return sheet.done()


def _caption(seen: Residual, text: str) -> str:
    source = "`embedded`" if seen.block == 0 else f"what enters block {seen.block}"
    return (
        f"The input {text}. Heat maps and small planes: {source}, what attention adds (`attended`) and the sum "
        "(`middle`). Large plane: arrows from the first to the last over the likeliest token at each point, the "
        "feed-forward included (`logit_lens` reads the same points without it); hatched where no token has half of "
        f"the probability. {_thin(seen)}"
        + ("" if seen.has_residual else "This model has no residual: attention replaces the stream. ")
        + (
            "The plane is exact. " if seen.plane.lossless
            else f"The plane holds {percent(seen.plane.kept)} of the variance and the regions are those of a slice, "
            "bent to pass through this input's points: where an arrow begins or ends it shows what is said there. "
        )
        + f"If attention did not decide the answer, the {'heavy ' if seen.judged else ''}arrows would end in the "
        "region where they begin."
    )  # fmt: skip


def _thin(seen: Residual) -> str:
    """What the thin grey arrows are, where there are some beside others."""
    free = any(verdict in seen.verdicts for verdict in ("unconstrained", "not_in_view"))
    return "Thin grey arrows: the rule asks nothing that can be answered there. " if free and seen.judged else ""


def _stream(sheet: _draw.Sheet, seen: Residual) -> None:
    """Heat maps, planes (a slide has no room for them) and arrows."""
    t, slide = sheet.theme, sheet.size.name == "slide"
    titles = (
        "embedded" if seen.block == 0 else f"enters block {seen.block}",
        "+ attended" if seen.has_residual else "attended",
        "= middle",
    )
    points = [seen.points[name].values for name in ("begin", "attended", "end")]
    split = 0.0 if slide else 0.42
    first, second, third = (
        ((0, 0.7, 1, 1), (0, 0.47, 1, 0.7), (0, 0, 1, 0.47))  # one column: below each other
        if sheet.size.name == "print_narrow"
        else ((0, split, 0.52, 1), (0, 0, 0.52, split), (0.52, 0, 1, 1))
    )
    limit = _heats(sheet, seen, titles, first)
    if not slide:
        small = sheet.panels(1, 3, left=6.2, right=1, bottom=5.6, top=2.2, gap=(4.6, 3), within=second)[0]
        _planes(small, seen, points, titles, t)
    edge = 5.2 if sheet.size.name == "print_narrow" else 4
    big = sheet.panels(1, 1, left=edge, right=1, bottom=5.8, top=2.2, within=third, square=True)[0, 0]
    _regions.moves(big, seen, t)
    if seen.feed_forward:
        ways = seen.points["end"].values, seen.points["out"].values
        _draw.arrows(big, *ways, colours=t.feed_forward, width=0.6)
    _regions.ticks(big, seen.plane)
    cut = "" if seen.plane.lossless else " on a slice"
    _draw.heading(big, f"arrows over the token that wins there{cut}, after the feed-forward")
    sheet.legend(
        [
            *_verdicts(seen, t),
            *([("unconstrained", ">", t.quiet)] if "unconstrained" in seen.verdicts and seen.judged else []),
            *([_regions.undecided(t)] if seen.undecided >= 0.005 else []),
            *([("feed-forward", "D", t.feed_forward)] if seen.feed_forward else []),
        ]
    )
    scale = f"heat maps: ± {_draw.number(limit[1])}"
    above = 2 * sheet.em / sheet.inches[1] if sheet.size.name == "print_narrow" else 0.0
    sheet.note(scale, y=above)


def _verdicts(seen: Residual, t: _style.Theme) -> list[tuple[str, str, str]]:
    """Those that occur, for the legend."""
    return [(f"{_style.GLYPH[each]} {each}", ">", t[each]) for each in ("right", "wrong") if each in seen.verdicts]


def _heats(
    sheet: _draw.Sheet, seen: Residual, titles: Sequence[str], within: tuple[float, float, float, float]
) -> tuple[float, float]:
    """What was there, what is added, and the sum; the limits of their colours."""
    arrays, names = [seen.before.values, seen.attended.values, seen.middle.values], seen.before.axes["position"]
    limit = _draw.limits("signed", *arrays)
    bottom = 3.6 if within[1] else 6.4
    beside = max(3.6, 0.8 + _draw.widest(names))
    top = sheet.panels(1, 3, left=beside, right=2, bottom=bottom, top=2.2, gap=(beside, 3), within=within)[0]
    digits = 2 if all(_draw.numbers_fit(top[0], values, 2) for values in arrays) else 1
    fits = all(_draw.numbers_fit(top[0], values, digits) for values in arrays)  # in all three or in none
    for panel, values, title in zip(top, arrays, titles, strict=True):
        _draw.heat(
            panel, values, kind="signed", theme=sheet.theme, limit=limit, rows=names, numbers=fits, digits=digits
        )
        _regions.features(panel, values.shape[1])
        panel.set_title(title)
    return limit


def _planes(
    panels: Sequence[Axes], seen: Residual, points: list[Array], titles: Sequence[str], t: _style.Theme
) -> None:
    told = _regions.important(seen.verdicts)
    for panel, xy, title in zip(panels, points, titles, strict=True):
        _draw.plane_axes(panel, seen.plane, np.concatenate(points), theme=t, margin=0.12, names=panel is panels[0])
        room = panel.get_window_extent().width / panel.figure.dpi
        name = seen.plane.labels[0]
        fits = _draw.text_width(name, float(panel.xaxis.label.get_fontsize())) < 1.3 * room
        panel.set_xlabel(name if fits or panel is panels[1] else "")  # else the middle one has it for all
        _draw.dots(panel, xy, colour=t.ink, scale=0.7)
        _draw.labels(panel, xy, drawn(seen.before.axes["position"]), colours=t.ink, first=told, tied=True)
        panel.set_title(title.strip("+= "))


def _values(sheet: _draw.Sheet, seen: Residual) -> None:
    """What each position offers, what each takes away, and where that puts it."""
    t, names = sheet.theme, drawn(seen.before.axes["position"])
    told = _regions.important(seen.verdicts)
    panels = sheet.panels(1, 3, left=5.5, right=1.2, bottom=5.8, top=2.4, gap=(4, 3), square=True)[0]
    value, mixed = seen.points["value"].values, seen.points["attended"].values
    inside = np.concatenate([value.reshape(-1, 2), mixed])
    corners = np.array([seen.frame[::2], seen.frame[1::2]])  # two features: all three panels are one plane at one scale
    for panel in panels[:2]:
        _draw.plane_axes(panel, seen.plane, corners if seen.plane.lossless else inside, theme=t,
                         margin=0 if seen.plane.lossless else 0.15)  # fmt: skip
    panels[1].set_ylabel("")
    for each in value:
        _draw.dots(panels[0], each, colour=t.value, marker=_style.MARKER["value"])
        _draw.labels(panels[0], each, names, colours=t.value)
    _draw.dots(panels[1], mixed, colour=t.ink)
    _draw.labels(panels[1], mixed, names, colours=t.ink, first=told)
    _regions.moves(panels[2], seen, t)
    _regions.ticks(panels[2], seen.plane, y=False)
    for panel, title in zip(
        panels, ("value: what each offers", "attended: what each takes", "middle: where that puts it"), strict=True
    ):
        panel.set_title(title)
    sheet.legend(["value", *_verdicts(seen, t)])
