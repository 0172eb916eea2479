"""One input across the landscape: its values, its arrows and its ends on the map of every token."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses.landscape import Landscape, landscape, say_grid
from glassformer.figures import _draw, _regions, _style
from glassformer.run import Run

SECTION = "decide"
ORDER = 50
ANSWERS = ("4.16", "4.17", "4.18", "4.r18")
COST = "c"
MOST = {"slide": 3}  # columns on one page; else 12
ROWS = ("values", "arrows", "ends")
WIDE = {"slide": 1.47}  # width of a panel over its height


def applies(run: Run) -> str | None:
    """Why there is nothing to draw."""
    if run.architecture.attention == "off":
        return "this model has no attention, so no value and no arrow"
    return "a model with one feature has a line and no regions; see landscape" if run.architecture.width == 1 else None


@_draw.drawing
def plot_decision_grid(
    run: Run,
    *,
    sequence: str | None = None,
    step: int = -1,
    member: int = 0,
    plane: tuple[int, int] | None = None,
    page: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Columns are tokens; rows: what each position offers, how attention moves each position, where it ends."""
    size = _style.widened(size)
    shape, most = WIDE.get(size, 1.0), MOST.get(size, 12)
    seen = landscape(run, sequence=sequence, points="middle", step=step, member=member, plane=plane, shape=shape)
    framed = _framed(seen)
    few = size == "slide"  # room for two rows: the verdicts stand at the heads of the arrows
    tokens = _columns(seen, 12 if few else most, everything=run.architecture.width <= 3)
    if few:  # the framed ones first, then the largest regions
        area = np.bincount(seen.regions.values.ravel(), minlength=len(seen.words))
        tokens = sorted(tokens, key=lambda token: (token not in framed, -area[token]))
    picked, pages = _draw.paged(tokens, most, page)
    rows, many = ROWS[:2] if few else ROWS, len(picked)
    s = _style.size(size)
    each = min(24.0, (s.width * 72 / s.text - 10 - 0.5 * many) / many)
    height = _style.inches(size, 10.5 + len(rows) * (each + 0.8))
    sheet = _draw.Sheet(ax, theme, size, say_grid(seen), seen.clock, height=height)
    panels = sheet.panels(len(rows), many, left=3.2, right=6.5, bottom=2.6, top=2.4, gap=(0.5, 0.8), square=shape)
    t, light, dark = sheet.theme, _style.theme("dark").ink, _style.theme("light").ink
    names = drawn(seen.points["end"].axes["position"])
    begin, end, fade = seen.points["begin"].values, seen.points["end"].values, np.maximum(0.3, seen.near["end"].values)
    for column, token in enumerate(picked):
        mine = [k for k in range(len(names)) if token in seen.right[k]]
        wins = [k for k in range(len(names)) if seen.verdicts[k] == "wrong" and seen.at_end.values[k].argmax() == token]
        for row in range(len(rows)):
            panel = panels[row, column]
            _regions.field(
                panel,
                seen.probabilities.values[seen.shown_tokens.index(token)],
                seen.frame,
                kind="probability",
                theme=t,
            )
            if row == 0:
                _values(panel, seen, names, light, dark, many)
            elif row == 1:
                told = set(mine + wins)
                for group in (False, True):
                    these = [k for k in range(len(names)) if (k in told) == group and seen.verdicts[k] != ""]
                    colours = [
                        _regions.colour(seen.verdicts[k], _style.theme("dark")) if group else light for k in these
                    ]
                    _draw.arrows(panel, begin[these], end[these], colours=colours, width=1.1 if group else 0.5)
            if row == len(rows) - 1:
                _draw.dots(panel, end, colour=light, scale=0.5, edgecolors=dark, alpha=fade)
                texts = [_regions.signed(names[k], seen.verdicts[k]) for k in mine + wins]
                if texts:
                    _draw.labels(panel, end[mine + wins], texts, colours=light)
            _regions.halo(panel, t, dark)
            if token in framed:
                colour = t[framed[token]]
                for side in panel.spines.values():
                    side.set(visible=True, color=colour, linewidth=2 * sheet.size.line)
            if column == 0:
                panel.set_ylabel(ROWS[row])
        sign = _style.GLYPH[framed[token]] if token in framed else ""
        panels[0, column].set_title(f"{shown(seen.words[token])} {sign}", parse_math=False, loc="center")
    _draw.bar(sheet, "probability", (0, 1), "probability", beside=[panels[0, -1], panels[-1, -1]])
    left = len(seen.words) - len(tokens)
    axes = f"across {seen.plane.labels[0]}, up {seen.plane.labels[1]}"
    axes = f"page {page + 1} of {pages} · {axes}" if pages > 1 else axes
    sheet.note(axes + (f" · {left} other tokens are not shown" if left else ""))
    sheet.legend(["right", "wrong"])
    return sheet.done(seen, sequence=" ".join(seen.tokens), page=page, pages=pages)


def _values(ax: Axes, seen: Landscape, names: list[str], light: str, dark: str, many: int) -> None:
    for xy in seen.points["value"].values:
        _draw.dots(ax, xy, colour=light, marker=_style.MARKER["value"], scale=0.7, edgecolors=dark)
    wanted = sorted({k for k, verdict in enumerate(seen.verdicts) if verdict in ("right", "wrong")})
    if many <= 6:
        _draw.labels(ax, seen.points["value"].values[0], names, colours=light, first=wanted)


def _framed(seen: Landscape) -> dict[int, str]:
    """Token → right, where it answers some position, or wrong, where it wins at one all the same."""
    found: dict[int, str] = {}
    for k, verdict in enumerate(seen.verdicts):
        if verdict in ("right", "wrong"):
            guess = int(seen.at_end.values[k].argmax())
            for token in [guess] if verdict == "right" else seen.right[k][:1]:
                found[token] = "right"
            if verdict == "wrong":
                found.setdefault(guess, "wrong")
    return found


def _columns(seen: Landscape, most: int, *, everything: bool) -> list[int]:
    """Tokens that win anywhere on the plane; if those are too many, the ones that count in this input, then others."""
    everywhere = [int(k) for k in np.unique(seen.regions.values)]
    if everything and len(everywhere) <= most:
        return sorted({*everywhere, *_framed(seen)} & set(seen.shown_tokens))
    read = [k for k, verdict in enumerate(seen.verdicts) if verdict]
    wanted = list(_framed(seen))
    wanted += [int(seen.at_end.values[k].argmax()) for k in read]
    picked = [token for token in dict.fromkeys(wanted) if token in seen.shown_tokens][: min(most, 8)]
    if everything:
        sizes = np.bincount(seen.regions.values.ravel(), minlength=len(seen.words))
        picked += [k for k in sorted(everywhere, key=lambda k: -sizes[k]) if k not in picked][: most - len(picked)]
    if len(picked) < 3:
        likely = np.argsort(-seen.at_end.values[read].mean(0), kind="stable")
        picked += [int(k) for k in likely if k not in picked and k in seen.shown_tokens][: 4 - len(picked)]
    return sorted(picked)
