"""How a text goes on, what the model expected at each place, and what it writes by itself."""

from dataclasses import replace
from itertools import accumulate

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import percent
from glassformer.analyses.learn.continuation import LINES, Continuation
from glassformer.figures import _draw, _style

NAMES = {"text": "really follows", "expected": "likeliest there", "greedy": "greedy", "sampled": "sampled"}
BLOCK = len(LINES) + 0.9  # rows of a block and the space under it
ROW = 1.55  # ems
READ = 2  # lines of each text as it reads
BESIDE = 20  # ems for the names of the rows and the colour bar


def draw(seen: Continuation, look: _draw.Look) -> Figure:
    """Rows of tokens after a prompt: the text shaded by its probability, the likeliest, and two free continuations."""
    widths, style = _widths(seen), _style.size(_style.size(look.size).wider or look.size)
    page = style.width * 72 / style.text  # ems
    height = ROW * BLOCK * len(_blocks(widths, page - BESIDE)) + 12 + _foot(seen)
    inches = _style.inches(style.name, height)
    sheet = replace(look, size=style.name).sheet(seen, _caption(seen), alt=_alt(seen), height=inches, least=0)
    wide = max(sheet.room[0] - BESIDE, max(widths))
    fitting = max(1, round((sheet.room[1] - 7.6 - _foot(seen)) / (ROW * BLOCK)))  # a slide has its own height
    blocks = _blocks(widths, wide)[:fitting]
    panel = sheet.panels(1, 1, left=9.5, right=9, bottom=3.2 + _foot(seen), top=4.4)[0, 0]
    _draw.bare(panel)
    panel.set(xlim=(0, wide), ylim=(BLOCK * len(blocks) - 0.9, -0.1))
    for row, (begin, end) in enumerate(blocks):
        _block(panel, seen, sheet, row * BLOCK, begin, end, widths)
    said = _short(f"after  {''.join(map(_line, seen.prompt))}", 0.92 * sheet.room[0] * sheet.em, sheet.size.text)
    panel.annotate(
        said, (0, 1), xycoords="axes fraction", xytext=(-8.7 * sheet.size.text, 1.2 * sheet.size.text),
        textcoords="offset points", ha="left", va="bottom", parse_math=False,
    )  # fmt: skip
    _reading(panel, seen, sheet, wide)
    _draw.bar(sheet, "probability", (0, 1), "probability", beside=panel)
    if blocks[-1][1] < len(widths):
        sheet.note(f"the first {blocks[-1][1]} of {len(widths)} tokens")
    right = sheet.theme.right
    sheet.legend([Patch(facecolor=(right, 0.22), edgecolor=right, label="✓ same as the text")])
    return sheet.done()


def _caption(seen: Continuation) -> str:
    where = "that training never saw" if seen.held_out else "that training has seen, as all of it"
    return (
        f"A passage of the text {where}. First row: what really follows the prompt, each token shaded by the "
        "probability the model gives it when it has read the true text up to there. Second row: the likeliest token "
        "at the same place, from the same true text. Third and fourth row: what the model writes by itself after the "
        "prompt, taking the likeliest token each time, or drawing one (temperature "
        f"{seen.temperature:g}, one fixed draw); below, how the beginnings of these two read, with white space where "
        "the training text usually has it and / for a new line. A check marks a token that is the same as in the text; "
        "in the model's own texts up to where they leave it, for what agrees further on is chance. Exact numbers for "
        "this one passage. A different text is not a wrong one."
    )


def _foot(seen: Continuation) -> float:
    """Ems for the texts as they read."""
    return 1.0 + len(seen.reading) * (1.25 * READ + 0.4) if seen.reading else 0.0


def _reading(ax: Axes, seen: Continuation, sheet: _draw.Sheet, wide: float) -> None:
    """The model's own texts as running texts under the rows, as much of them as has room."""
    down = 1.0
    for line, text in seen.reading.items():
        flat = " ".join(text.strip().replace("\n\n", " // ").replace("\n", " / ").split())
        lines = _draw.wrap("".join(map(_line, flat)), sheet.size.text, wide * sheet.em)
        lines = [*lines[: READ - 1], f"{lines[READ - 1]} …"] if len(lines) > READ else lines
        for x, said, ink, side in ((-0.7, f"{NAMES[line]} reads", sheet.theme.quiet, "right"),
                                   (0.06, "\n".join(lines), sheet.theme.ink, "left")):  # fmt: skip
            ax.annotate(said, (x, 0), xycoords=("data", "axes fraction"), xytext=(0, -down * sheet.size.text),
                        textcoords="offset points", ha=side, va="top", linespacing=1.2, color=ink, parse_math=False,
                        annotation_clip=False)  # fmt: skip
        down += 1.25 * READ + 0.4


def _alt(seen: Continuation) -> str:
    if not seen.known:
        return f"A passage of the text, without predictions. {seen.title}."
    worst = int(np.argmax(seen.loss.values))
    return (
        f"Rows of tokens after a prompt: the text, the model's guesses, two texts of its own. {seen.title}. The "
        f"greatest surprise is “{shown(seen.words['text'][worst])}”, which had a probability of "
        f"{'less than 0.1 %' if seen.chance.values[worst] < 1e-3 else percent(float(seen.chance.values[worst]))}."
    )


def _widths(seen: Continuation) -> list[float]:
    """Ems that each place needs, whichever line has the longest token there; agreement needs room for its sign."""
    lines = [(seen.words[line], seen.agrees[line] if line != "text" else ()) for line in LINES]
    found = []
    for place in range(len(seen.chance.values)):
        need = [_draw.text_width(shown(w[place]), 72) + (1.1 if s and s[place] else 0) for w, s in lines]
        found.append(max(need) + 0.7)
    return found


def _blocks(widths: list[float], wide: float) -> list[tuple[int, int]]:
    """Places that fit on one row after the other."""
    blocks, begin, used = [], 0, 0.0
    for place, width in enumerate(widths):
        if used + width > wide and place > begin:
            blocks.append((begin, place))
            begin, used = place, 0.0
        used += width
    return [*blocks, (begin, len(widths))]


def _block(
    ax: Axes, seen: Continuation, sheet: _draw.Sheet, top: float, begin: int, end: int, widths: list[float]
) -> None:
    t = sheet.theme
    starts = list(accumulate(widths[begin:end], initial=0.0))
    palette = _style.colormap("probability", t.name)
    for row, line in enumerate(LINES):
        y = top + row
        ax.text(-0.7, y + 0.45, NAMES[line], ha="right", va="center", color=t.ink if row == 0 else t.quiet)
        words, same = seen.words[line], seen.agrees[line]
        for place in range(begin, end):
            x, width = starts[place - begin], widths[place]
            chance = float(seen.chance.values[place])
            known = row == 0 and seen.known
            agrees = row > 0 and same[place]
            face = palette(chance) if known else (t.right, 0.22) if agrees else t.paper
            edge = t.right if agrees else t.faint
            gid = f"chance {chance!r}" if row == 0 else None
            ax.add_patch(
                Rectangle((x + 0.06, y + 0.05), width - 0.12, 0.86, facecolor=face, edgecolor=edge,
                          linewidth=(0.7 if agrees else 0.4) * sheet.size.line, gid=gid)
            )  # fmt: skip
            word = shown(words[place]) if row == 0 or seen.known else "–"
            ink = _style.on(palette(chance)) if known else t.ink
            ax.text(x + width / 2 - (0.5 if agrees else 0), y + 0.46, word, ha="center", va="center", color=ink,
                    parse_math=False)  # fmt: skip
            if agrees:
                ax.text(x + width - 0.3, y + 0.46, _style.GLYPH["right"], ha="right", va="center", color=t.right)


def _line(letter: str) -> str:
    """A letter of the prompt as it is shown in a running text: spaces are spaces, line ends are signs."""
    return letter if letter == " " else shown(letter)


def _short(text: str, inches: float, points: float) -> str:
    """The end of a text that is too long for one line."""
    if _draw.text_width(text, points) <= inches:
        return text
    while _draw.text_width(f"after  … {text}", points) > inches:
        text = text[1:]
    return f"after  … {text}"
