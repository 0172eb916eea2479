"""Writing, token by token: what is in view, what is likely, what was drawn and how surprising that was."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses.learn.unrolled import Unrolled
from glassformer.figures import _draw

CAPTION = (
    "Each row is one step of writing: the tokens so far (those in pale cells have fallen out of the window and are no "
    "longer seen; the heavy line is the edge of the window; where a row has no room for all, the oldest are left out), "
    "the three likeliest next tokens with their probabilities, and the token that was drawn at temperature 1 (framed, "
    "or under “other”; appended to the next row) with its surprise, −ln p, in nats. Exact numbers, one fixed draw of "
    "random numbers. A model that knows the rule is not surprised where the rule leaves no choice."
)


def draw(seen: Unrolled, look: _draw.Look) -> Figure:
    """Twelve rows: the context so far, the three likeliest tokens, the one that was drawn, and its surprise."""
    alt = f"Twelve rows of a sequence being written, with bars. {seen.title}."
    sheet = look.sheet(seen, CAPTION, alt, height=6.4, least=60)
    t, line, text = sheet.theme, sheet.size.line, sheet.size.text
    rows, top = seen.top.values.shape
    panel, bars = sheet.panels(1, 2, widths=[1.3, 1], left=1.5, right=1.5, bottom=2.2, top=3.4, gap=(1.5, 0))[0]
    room = sheet.room[0] * 0.53
    widest = max(_draw.text_width(shown(word), text) for word in seen.tokens) / sheet.em
    fit = max(3, int(room / (widest + 1.3)))
    long = min(len(seen.tokens), fit)
    panel.set_xlim(-0.5, long - 0.5)
    bars.set_xlim(0, top + 1.7)
    for axes in (panel, bars):
        _draw.bare(axes)
        axes.set_ylim(rows - 0.5, -0.5)
    for row in range(rows):
        so_far = seen.prompt + row
        cut = max(0, so_far + 1 - long)  # oldest tokens that there is no room for
        for place in range(cut, so_far):
            gone = place < so_far - seen.context
            verdict = seen.verdict[place - seen.prompt] if place >= seen.prompt else None
            _draw.cell(
                panel,
                place - cut,
                row,
                seen.tokens[place],
                None if gone else verdict,
                theme=t,
                size=text,
                line=line,
                glyph=not gone,
            )
            if gone:
                panel.texts[-1].set_color(t.quiet)
                panel.texts[-1].set_alpha(0.55)
        if so_far - seen.context > cut:
            edge = so_far - seen.context - cut - 0.5
            panel.plot([edge, edge], [row - 0.5, row + 0.5], color=t.ink, linewidth=1.8 * line, zorder=6)
        chance, surprise, word = seen.chance.values[row], seen.surprise.values[row], seen.tokens[so_far]
        verdict = seen.verdict[row]
        _draw.cell(panel, so_far - cut, row, word, verdict, theme=t, size=text, line=line)
        panel.add_patch(
            Rectangle((so_far - cut - 0.46, row - 0.44), 0.92, 0.88, fill=False, edgecolor=t.ink, linewidth=1.4 * line,
                      zorder=5)
        )  # fmt: skip
        drawn = False
        for k in range(top):
            each, p = seen.likeliest[row][k], seen.top.values[row, k]
            mine = each == word and bool(p == p)
            drawn = drawn or mine
            bars.add_patch(
                Rectangle(
                    (k + 0.05, row - 0.4),
                    0.9,
                    0.8,
                    fill=False,
                    edgecolor=t.ink if mine else t.faint,
                    linewidth=(1.4 if mine else 0.5) * line,
                    zorder=3 if mine else 1,
                )
            )
            if p > 0:
                bars.add_patch(
                    Rectangle(
                        (k + 0.05, row - 0.4), 0.9 * float(p), 0.8, facecolor=t.unconstrained, linewidth=0, zorder=2
                    )
                )
            bars.text(k + 0.1, row, f"{shown(each)}  {_draw.number(float(p))}", va="center", ha="left", zorder=4)
        sign = "" if drawn else f"{shown(word)}  {_draw.number(float(chance))}"
        bars.text(
            top + 1.68,
            row,
            _draw.number(float(surprise)),
            va="center",
            ha="right",
            fontweight="bold" if surprise > 3 else "normal",
        )
        bars.text(top + 0.1, row, sign, va="center", ha="left")
    up = {"va": "bottom", "color": t.quiet}
    panel.text(-0.5, -0.62, "tokens so far, and the one drawn (framed)", **up)
    bars.text(0.05, -0.62, "three likeliest", **up)
    bars.text(top + 0.1, -0.62, "other", **up)
    bars.text(top + 1.68, -0.62, "surprise", ha="right", **up)
    known = [v for v in ("right", "wrong", "unconstrained") if v in seen.verdict]
    edge_drawn = bool(panel.lines)
    window = Line2D([], [], color=t.ink, linewidth=1.8 * line, label="edge of the window")
    sheet.legend([*known, *([window] if edge_drawn else [])], columns=4)
    return sheet.done()
