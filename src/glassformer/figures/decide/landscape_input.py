"""One input across the landscape: its values, its arrows and where they end, on the map of every token."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from glassformer.analyses._pairs import drawn, shown
from glassformer.analyses._result import Array
from glassformer.analyses._verdicts import judged, read
from glassformer.analyses.decide.landscape_input import WIDE, LandscapeInput
from glassformer.figures import _draw, _regions, _style

ACROSS, BANDS = {"slide": 4}, {"slide": 1}  # tokens side by side, else 6; times that on one page, else 2
ROWS = ("values, from +", "attention's moves", "where they end")
SAID = {"right": "right answer", "wrong": "said, but wrong"}
GAP, ABOVE, BELOW = 0.8, 2.4, 2.6  # ems between two rows, above the first and below the last


def draw(seen: LandscapeInput, look: _draw.Look) -> Figure:
    """Columns are tokens; rows: what each position offers, where attention moves each, and where that ends."""
    size = _style.widened(look.size)
    framed, across = _framed(seen), ACROSS.get(size, 6)
    picked, pages = _draw.paged(_columns(seen, framed), across * BANDS.get(size, 2), look.page)
    picked = sorted(picked)
    bands = [picked[k : k + across] for k in range(0, len(picked), across)]
    s = _style.size(size)
    each = min(40.0, (s.width * 72 / s.text - 10 - 0.5 * across) / across) / WIDE
    tall = ABOVE + len(ROWS) * (each + GAP) - GAP  # ems of a band
    shows, height = "A grid of probability maps with the path of one input", 4.6 + BELOW + len(bands) * tall
    sheet = look.sheet(seen, _caption(seen, pages), shows, height=_style.inches(size, height))
    room = sheet.room[1]
    high = (room - BELOW) / len(bands)
    for k, band in enumerate(bands):
        part = (0, 1 - (k + 1) * high / room, 1, 1 - k * high / room)
        panels = sheet.panels(len(ROWS), across, left=3.2, right=6.5, bottom=0, top=ABOVE, gap=(0.5, GAP), square=WIDE,
                              within=part)  # fmt: skip
        _band(sheet, seen, panels, band, framed)
        if k == 0:
            _draw.bar(sheet, "probability", (0, 1), "probability", beside=[panels[0, -1], panels[-1, -1]])
    note = f"across {seen.plane.labels[0]}, up {seen.plane.labels[1]}"
    note += "" if size == "slide" else " · filled with the true probability"  # there it would run into the legend
    sheet.note(f"page {look.page + 1} of {pages} · {note}" if pages > 1 else note)
    met = {*seen.verdicts, *(framed[token] for token in picked if token in framed)}
    t = sheet.theme
    before = Line2D([], [], color=t.quiet, marker=">", label="before → after attention")
    sheet.legend([verdict for verdict in ("right", "wrong") if verdict in met] + [("value", "^", t.quiet), before])
    return sheet.done(pages=pages)


def _band(sheet: _draw.Sheet, seen: LandscapeInput, panels: Array, tokens: list[int], framed: dict[int, str]) -> None:
    """The maps of some tokens side by side, each three times."""
    for column, stack in enumerate(panels.T):
        if column >= len(tokens):
            for panel in stack:
                panel.set_visible(False)  # the colour bar may stand beside it
            continue
        token = tokens[column]
        values = seen.probabilities.values[seen.shown_tokens.index(token)]
        for panel, marks in zip(stack, (_values, _arrows, _ends), strict=True):
            _regions.field(panel, values, seen.frame, kind="probability", theme=sheet.theme)
            marks(panel, seen, token)
            if token in framed:
                for side in panel.spines.values():
                    side.set(visible=True, color=sheet.theme[framed[token]], linewidth=2 * sheet.size.line)
        said = f": {SAID[framed[token]]}" if token in framed else ""
        stack[0].set_title(f"P({shown(seen.words[token])}){said}", parse_math=False, loc="center")
    for panel, name in zip(panels[:, 0], ROWS, strict=True):
        panel.set_ylabel(name)


def _caption(seen: LandscapeInput, pages: int) -> str:
    parts = ["framed, what is said and, where that is wrong, a right answer"] if seen.judged else []
    parts += ["on further pages the tokens that win less"] if pages > 1 else []
    judged_whose = "for which the column's token is right or that wrongly say it"
    whose = judged_whose if seen.judged else "that end at the column's token"
    return (
        f"The input {' '.join(map(shown, seen.tokens))} on maps of the probability of single "
        f"tokens{': ' if seen.judged else '; ' if parts else ''}{'; '.join(parts)}. First row: what each position "
        "would add if it alone were looked at, as a push from the origin (+). Second row: arrows from before to after "
        f"attention; named are the positions {whose}, and each tip is filled with the token's true probability. Third "
        f"row: the tips alone, with all names there is room for. {_regions.on_slice(seen)} If attention did not carry "
        "the answer, the named arrows would not end at a bright tip."
    )


def _values(ax: Axes, seen: LandscapeInput, _: int) -> None:
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
    told, answered = _told(seen, token), read(seen.verdicts)
    for these, width in (([k for k in answered if k not in told], 0.5), (told, 1.1)):
        colours = [_regions.colour(seen.verdicts[k], light) if these is told else light.ink for k in these]
        _draw.arrows(ax, begin[these], end[these], colours=colours, width=width)
    _tips(ax, seen, token)
    # the last position with an answer is that of the title: it is named first
    _draw.labels(ax, end[told], [names[k] for k in told], colours=light.ink, tied=True,
                 keep_clear=_regions.along(begin[answered], end[answered]))  # fmt: skip
    _dark_edges(ax, dark)


def _told(seen: LandscapeInput, token: int) -> list[int]:
    """The positions whose answer is the token, or that end at it wrongly; the last, that of the title, first.

    Where no answer can be checked, all that end at the token.
    """
    guess, free = seen.at_end.values.argmax(-1), not seen.judged
    return [k for k, verdict in enumerate(seen.verdicts)
            if token in seen.right[k] or ((verdict == "wrong" or free) and guess[k] == token)][::-1]  # fmt: skip


def _tips(ax: Axes, seen: LandscapeInput, token: int) -> None:
    """Where the positions that are read end, filled with what the model gives the token there."""
    dark, light, answered = _style.theme("light").ink, _style.theme("dark").ink, read(seen.verdicts)
    end = seen.points["end"].values[answered]
    chances = _style.colormap("probability")(np.nan_to_num(seen.at_end.values[answered, token]))
    _draw.dots(ax, end, colour=dark, scale=1.2, zorder=4)
    _draw.dots(ax, end, colour=chances, scale=0.9, edgecolors=light, linewidths=1.0, zorder=4)


def _ends(ax: Axes, seen: LandscapeInput, token: int) -> None:
    """The tips alone: what the read-out is given."""
    answered, names = read(seen.verdicts), _names(seen)
    _tips(ax, seen, token)
    told = [answered.index(k) for k in _told(seen, token) if k in answered]
    _draw.labels(ax, seen.points["end"].values[answered], [names[k] for k in answered],
                 colours=_style.theme("dark").ink, first=told)  # fmt: skip
    _dark_edges(ax, _style.theme("light").ink)


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


def _columns(seen: LandscapeInput, framed: dict[int, str]) -> list[int]:
    """The tokens that are right or said at some position to check, then the largest regions, then the likeliest."""
    area, likely = seen.area.values, seen.at_end.values[read(seen.verdicts)].mean(0)
    rest = sorted(seen.shown_tokens, key=lambda token: (-area[token], -np.nan_to_num(likely[token])))
    return [*framed, *(token for token in rest if token not in framed)]
