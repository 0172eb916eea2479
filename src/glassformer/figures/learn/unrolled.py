"""Writing, token by token: what is in view, what is likely, what was drawn and how surprising that was."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses.learn.unrolled import Unrolled
from glassformer.figures import _draw

MUCH = 3  # nats of surprise that are written in bold
CAPTION = (
    "Each row is one step of writing: the tokens so far ({}where a row has no room for all, the oldest are left out), "
    "the three likeliest next tokens with their probabilities, and the token that was drawn at temperature 1 (framed{};"
    " appended to the next row) with its surprise, −ln p, in nats{}. Exact numbers, one fixed draw of random numbers."
)
GONE = (
    "those in pale cells have fallen out of the window and are no longer seen; the heavy line is the edge of the "
    "window; "
)


def _caption(seen: Unrolled) -> str:
    bold = f" (bold above {MUCH})" if (seen.surprise.values > MUCH).any() else ""
    knows = " A model that knows the rule is not surprised where the rule leaves no choice."
    if not seen.truth_known:
        knows = ""
    elif not seen.held_out:
        knows = " A model that knows the text is not surprised where only one token can follow."
    other = any(word not in some for word, some in zip(seen.tokens[seen.prompt :], seen.likeliest, strict=True))
    gone = GONE if len(seen.tokens) - 1 > seen.context else ""
    return CAPTION.format(gone, ", or under “other”" if other else "", bold) + knows


def draw(seen: Unrolled, look: _draw.Look) -> Figure:
    """Twelve rows: the context so far, the three likeliest tokens, the one that was drawn, and its surprise."""
    sheet = look.sheet(seen, _caption(seen), "Twelve rows of a sequence being written, with bars", height=6.4)
    t, line, text = sheet.theme, sheet.size.line, sheet.size.text
    rows, top = seen.top.values.shape
    wide = (
        max(_draw.text_width(shown(word), 72) for some in seen.likeliest for word in some) + 3.5
    )  # of one likely token
    whole = sheet.room[0] - 4.5
    other = any(word not in some for word, some in zip(seen.tokens[seen.prompt :], seen.likeliest, strict=True))
    last = top + (1.68 if other else 0.8)  # where the surprise stands
    share = min(0.5, max(0.43, wide * last / whole))
    panel, bars = sheet.panels(
        1, 2, widths=[1 - share, share], left=1.5, right=1.5, bottom=2.2, top=3.4, gap=(1.5, 0)
    )[0]  # fmt: skip
    widest = max(_draw.text_width(shown(word), 72) for word in seen.tokens)
    air = 2.4 if {"right", "wrong"} & set(seen.verdict) else 1.3  # ems of air, and of a check
    fit = max(3, int((1 - share) * whole / (widest + air)))
    long = min(len(seen.tokens), fit)
    panel.set_xlim(-0.5, long - 0.5)
    bars.set_xlim(0, last + 0.02)
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
            bars.text(k + 0.1, row, f"{shown(each)} {_draw.number(float(p))}", va="center", ha="left", zorder=4)
        sign = "" if drawn else f"{shown(word)}  {_draw.number(float(chance))}"
        bars.text(
            last,
            row,
            _draw.number(float(surprise)),
            va="center",
            ha="right",
            fontweight="bold" if surprise > MUCH else "normal",
        )
        bars.text(top + 0.1, row, sign, va="center", ha="left")
    up = {"va": "bottom", "color": t.quiet}
    panel.text(-0.5, -0.62, "tokens so far, and the one drawn (framed)", **up)
    bars.text(0.05, -0.62, "three likeliest", **up)
    if other:
        bars.text(top + 0.1, -0.62, "other", **up)
    bars.text(last, -0.62, "surprise", ha="right", **up)
    known = [v for v in ("right", "wrong", "unconstrained") if v in seen.verdict] if seen.truth_known else []
    edge_drawn = bool(panel.lines)
    window = Line2D([], [], color=t.ink, linewidth=1.8 * line, label="edge of the window")
    if entries := [*known, *([window] if edge_drawn else [])]:
        sheet.legend(entries, columns=4)
    return sheet.done()
