"""One input across the landscape: its values and its arrows on the maps of the tokens that count."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._verdicts import judged, read
from glassformer.analyses.decide.landscape_input import WIDE, LandscapeInput
from glassformer.figures import _draw, _regions, _style

FEWEST, MOST = 3, {"slide": 3}  # columns on one page; else 6
ROWS = ("values, as pushes from +", "attention's moves")
SAID = {"right": "right answer", "wrong": "said, but wrong"}


def draw(seen: LandscapeInput, look: _draw.Look) -> Figure:
    """Columns are tokens; rows: what each position offers, and where attention moves each position."""
    size = _style.widened(look.size)
    framed, most = _framed(seen), MOST.get(size, 6)
    tokens = _columns(seen, framed, most)
    picked, pages = _draw.paged(tokens, most, look.page)
    picked, many = sorted(picked), len(picked)
    s = _style.size(size)
    each = min(40.0, (s.width * 72 / s.text - 10 - 0.5 * many) / many) / WIDE
    height = _style.inches(size, 9.5 + len(ROWS) * (each + 0.8))
    alt = f"A grid of probability maps with the path of one input. {seen.title}."
    sheet = look.sheet(seen, _caption(seen), alt, height=height)
    panels = sheet.panels(2, many, left=3.2, right=6.5, bottom=2.6, top=2.4, gap=(0.5, 0.8), square=WIDE)
    t = sheet.theme
    for column, token in enumerate(picked):
        for row, panel in enumerate(panels[:, column]):
            values = seen.probabilities.values[seen.shown_tokens.index(token)]
            _regions.field(panel, values, seen.frame, kind="probability", theme=t)
            if row == 0:
                _values(panel, seen)
            else:
                _arrows(panel, seen, token)
            if token in framed:
                for side in panel.spines.values():
                    side.set(visible=True, color=t[framed[token]], linewidth=2 * sheet.size.line)
        said = f": {SAID[framed[token]]}" if token in framed else ""
        panels[0, column].set_title(f"P({shown(seen.words[token])}){said}", parse_math=False, loc="center")
    for row, name in enumerate(ROWS):
        panels[row, 0].set_ylabel(name)
    _draw.bar(sheet, "probability", (0, 1), "probability", beside=[panels[0, -1], panels[-1, -1]])
    note = f"across {seen.plane.labels[0]}, up {seen.plane.labels[1]}"
    note += " · tips: the true probability" if seen.is_slice else ""
    sheet.note(f"page {look.page + 1} of {pages} · {note}" if pages > 1 else note)
    met = {*seen.verdicts, *(framed[token] for token in picked if token in framed)}
    before = Line2D([], [], color=t.quiet, marker=">", label="before → after attention")
    sheet.legend([verdict for verdict in ("right", "wrong") if verdict in met] + [("value", "^", t.quiet), before])
    return sheet.done(pages=pages)


def _caption(seen: LandscapeInput) -> str:
    """How to read the two rows."""
    return (
        f"The input {' '.join(map(shown, seen.tokens))} on maps of the probability of single tokens: framed, the right "
        "answers and what is said in their place, then the tokens that win most of what is drawn. First row: what each "
        "position would add if it alone were looked at, as a push from the origin (+). Second row: arrows from "
        "before to after attention; the positions whose answer is the column's token are named, and each tip is filled "
        f"with the token's true probability. {_regions.on_slice(seen)} If attention did not carry the answer, the "
        "named arrows would not end at a bright tip."
    )


def _values(ax: Axes, seen: LandscapeInput) -> None:
    """The values as pushes from the origin, named where there is one head."""
    light, dark = _style.theme("dark").ink, _style.theme("light").ink
    zero, heads = np.asarray(seen.plane.zero), seen.points["value"].values
    for xy in heads:
        for tip in xy:
            ax.plot(*np.stack([zero, tip]).T, color=light, linewidth=0.5, alpha=0.6, scalex=False, scaley=False)
        _draw.dots(ax, xy, colour=light, marker=_style.MARKER["value"], scale=1.0, edgecolors=dark, linewidths=0.7)
    for colour, wide in ((dark, 3.0), (light, 1.2)):
        ax.plot(
            *zero, marker="+", color=colour, markersize=10, markeredgewidth=wide, scalex=False, scaley=False, zorder=4
        )
    if len(heads) == 1:
        first = _regions.important(seen.verdicts)
        _draw.labels(ax, heads[0], drawn(seen.points["end"].axes["position"]), colours=light, first=first)
    _dark_edges(ax, dark)


def _arrows(ax: Axes, seen: LandscapeInput, token: int) -> None:
    """All arrows; those whose answer is the token, or that end at it wrongly, in the colour of their verdict."""
    dark, light = _style.theme("light").ink, _style.theme("dark")
    begin, end, names = seen.points["begin"].values, seen.points["end"].values, _names(seen)
    guess = seen.at_end.values.argmax(-1)
    told = [k for k, verdict in enumerate(seen.verdicts)
            if token in seen.right[k] or (verdict == "wrong" and guess[k] == token)][::-1]  # fmt: skip
    answered = read(seen.verdicts)
    for these, width in (([k for k in answered if k not in told], 0.5), (told, 1.1)):
        colours = [_regions.colour(seen.verdicts[k], light) if these is told else light.ink for k in these]
        _draw.arrows(ax, begin[these], end[these], colours=colours, width=width)
    tips = [*told, *(k for k in answered if k not in told)]
    chances = _style.colormap("probability")(np.nan_to_num(seen.at_end.values[tips, token]))
    _draw.dots(ax, end[tips], colour=dark, scale=1.2, zorder=4)
    _draw.dots(ax, end[tips], colour=chances, scale=0.9, edgecolors=light.ink, linewidths=1.0, zorder=4)
    # the last position with an answer is that of the title: it is named first
    _draw.labels(ax, end[told], [names[k] for k in told], colours=light.ink, tied=True,
                 keep_clear=_regions.along(begin[answered], end[answered]))  # fmt: skip
    _dark_edges(ax, dark)


def _names(seen: LandscapeInput) -> list[str]:
    places = drawn(seen.points["end"].axes["position"])
    return [_regions.signed(name, verdict) for name, verdict in zip(places, seen.verdicts, strict=True)]


def _dark_edges(ax: Axes, dark: str) -> None:
    """Make labels and arrows, which are light, readable on the bright end of the map too."""
    for text in ax.texts:
        text.set_path_effects([withStroke(linewidth=0.28 * text.get_fontsize(), foreground=dark)])
        if arrow := getattr(text, "arrow_patch", None):
            arrow.set_path_effects([withStroke(linewidth=arrow.get_linewidth() + 1.5, foreground=dark)])


def _framed(seen: LandscapeInput) -> dict[int, str]:
    """Token → right, where it answers some position, or wrong, where it wins at one all the same."""
    guess = seen.at_end.values.argmax(-1)
    asked = judged(seen.verdicts)[::-1]
    right = [int(guess[k]) if seen.verdicts[k] == "right" else seen.right[k][0] for k in asked]
    order = [token for k, answer in zip(asked, right, strict=True) for token in (answer, int(guess[k]))]
    found = {token: "right" if token in right else "wrong" for token in order}  # the last position, the title's, first
    return {token: sign for token, sign in found.items() if token in seen.shown_tokens}


def _columns(seen: LandscapeInput, framed: dict[int, str], most: int) -> list[int]:
    """The tokens that are right or said at some position to check, then the largest regions, until pages are full."""
    area, likely = seen.area.values, seen.at_end.values[read(seen.verdicts)].mean(0)
    rest = sorted(seen.shown_tokens, key=lambda token: (-area[token], -np.nan_to_num(likely[token])))
    full = max(FEWEST, len(framed) if len(framed) <= most else -(-len(framed) // most) * most)
    return [*framed, *(token for token in rest if token not in framed)][:full]
