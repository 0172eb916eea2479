"""When the answer appears: the most probable token if the stream were read out at each point."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._pairs import shown
from glassformer.analyses.decide.logit_lens import LogitLens
from glassformer.figures import _draw, _style


def draw(seen: LogitLens, look: _draw.Look) -> Figure:
    """Rows are points from the embedding to the end, columns positions (or answers, if there is one position)."""
    rows = len(seen.points)
    text = " ".join(map(shown, seen.tokens))
    shows = f"A table of what is read out at each point on {text}"
    sheet = look.sheet(seen, _caption(seen, text), shows, height=3.0 + 0.55 * rows, least=0)
    t = sheet.theme
    panel = sheet.panels(1, 1, left=11.5, right=7.5, bottom=5, top=3.4)[0, 0]
    if _alone(seen):
        _one(panel, seen, t)
        _draw.bar(sheet, "probability", (0, 1), "probability", beside=panel)
        sheet.legend([("right answer", "s", t.right)] if seen.judged else [])
        if (drawn := len(seen.chances.axes["token"])) < seen.answers:
            sheet.note(f"columns: the {drawn} tokens with the highest probability in any row")
    else:
        most = _every(panel, seen, t)
        _draw.bar(sheet, "probability", (0, most), f"P({'next' if seen.follows else 'right'} token)", beside=panel)
        free = {verdict for row in seen.verdicts for verdict in row}
        sheet.legend([] if seen.follows else [each for each in ("unconstrained", "not_in_view") if each in free])
    _draw.name_rows(panel, seen.points)
    return sheet.done()


def _alone(seen: LogitLens) -> bool:
    """Whether one position alone answers."""
    return sum(map(bool, seen.said[-1])) == 1


def _cells(seen: LogitLens) -> str:
    """What the cells say."""
    if _alone(seen):
        framed = "; framed: the right answer" if seen.judged else ""
        return f"Columns are the tokens that get likely at some point, cells their probabilities{framed}. "
    which = "the one that comes next in the input" if seen.follows else "the right one"
    several = "" if seen.follows or all(len(seen.wanted[k]) == 1 for k in seen.judged) else " (of all right ones)"
    above = ", which stands above" + (", where there is only one" if several else "")
    values = (seen.on_coming if seen.follows else seen.right).values
    grey = f"; grey: {'nothing comes' if seen.follows else 'nothing is asked'}" if np.isnan(values[-1]).any() else ""
    return f"Cells name the likeliest token; colours are the probability of {which}{several}{above}{grey}. "


def _caption(seen: LogitLens, text: str) -> str:
    return (
        f"The input {text}, read out at each point of the stream (rows) as if all that follows were skipped; so “after "
        "attention” is without the feed-forward, while the regions of `residual` and `landscape` include it. "
        f"{_cells(seen)}"
        f"{'The final norm is applied at each point. ' if seen.normed else ''}The last row is the model's own answer. "
        "The rows above ask what the model was not trained for: a wrong token there does not mean that the information "
        "is missing."
    )


def _one(ax: Axes, seen: LogitLens, theme: _style.Theme) -> None:
    """One position is asked: the tokens that get likely, at each point."""
    words = seen.chances.axes["token"].labels
    _draw.heat(ax, seen.chances.values, kind="probability", theme=theme, columns=words,
               column_name=f"said by {shown(seen.tokens[seen.place])} at position {seen.place}")  # fmt: skip
    right = [(row, words.index(w)) for w in seen.wanted[seen.place] if w in words for row in range(len(seen.points))]
    _draw.outline(ax, right, theme.right)
    ax.set_title("probability if read out here")


def _every(ax: Axes, seen: LogitLens, theme: _style.Theme) -> float:
    """What each position would say at each point, above it what it should or what comes; where the colours end."""
    values, palette = (
        (seen.on_coming if seen.follows else seen.right).values,
        _style.colormap("probability", theme.name),
    )
    top = float(np.nanmax(values, initial=0))
    most = 1.0 if not seen.follows or not 0 < top < 0.5 else top  # of a text all would be dark
    ax.set_facecolor(theme.unconstrained)
    _draw.heat(ax, values, kind="probability", theme=theme, columns=seen.right.axes["position"], numbers=False,
               column_name="position of the input", limit=(0, most))  # fmt: skip
    for row, (says, verdicts) in enumerate(zip(seen.said, seen.verdicts, strict=True)):
        for column, (said, verdict) in enumerate(zip(says, verdicts, strict=True)):
            value = values[row, column]
            ink = theme.ink if np.isnan(value) else _style.on(palette(float(value) / most))
            sign = f" {_style.GLYPH[verdict]}" if _style.GLYPH.get(verdict) else ""
            ax.text(column, row, f"{shown(said)}{sign}" if said else "", ha="center", va="center", color=ink,
                    parse_math=False)  # fmt: skip
    told = {k: seen.wanted[k][0] for k in seen.judged if len(seen.wanted[k]) == 1}
    if seen.follows:
        told = {k: word for k, word in enumerate(seen.coming) if word}
    for k, word in told.items():
        ax.text(k, -0.58, shown(word), ha="center", va="bottom", parse_math=False)
    if told:
        ax.text(-0.65, -0.58, "comes next" if seen.follows else "right answer", ha="right", va="bottom")
    ax.set_title("said if read out here", pad=2.3 * float(matplotlib.rcParams["font.size"]) if told else None)
    return most
