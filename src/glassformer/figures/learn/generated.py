"""What it writes when nobody corrects it: sequences before and after training, a verdict on every token."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import percent, thousands
from glassformer.analyses._verdicts import CODES, verdict
from glassformer.analyses.learn.generated import NOTHING, Generated
from glassformer.figures import _draw, _style, _table

MOST_NATS = 8.0  # surprise of the darkest cells


def draw(seen: Generated, look: _draw.Look) -> Figure:
    """Blocks of sequences at the first and the chosen step, sampled and arg-max, same random numbers."""
    many = len(seen.steps)
    how = "marked right, wrong or free" if seen.truth_known else "shaded by its surprise"
    shows = f"Rows of tokens, each cell {how}"
    sheet = look.sheet(seen, _caption(seen), shows, height=7 if seen.questions else 1.5 + 2.5 * many)
    told = {int(code) for code in seen.verdicts.values.ravel()} if seen.questions else set[int]()
    if seen.questions:
        _questions(seen, sheet)
    elif not seen.truth_known:
        panels = sheet.panels(many, 2, left=1.5, right=1.5, bottom=1.2, top=2.4, gap=(2, 2.6))
        for row in range(many):
            for column in range(2):
                _lines(panels[row, column], seen, row, column, sheet)
    else:
        said = {seen.vocabulary[int(token)] for token in np.unique(seen.tokens.values)}
        widest = max(_draw.text_width(shown(word), sheet.size.text) for word in said) / sheet.em
        columns = int((sheet.room[0] - 5) / (widest + 1.45))
        first = min(seen.tokens.values.shape[-1], max(4, round(columns * 0.68)))
        second = min(seen.tokens.values.shape[-1], max(3, columns - first))
        panels = sheet.panels(many, 2, widths=[first, second], left=1.5, right=1.5, bottom=2.6, top=2.4, gap=(2, 2.6))
        for row in range(many):
            for column, length in enumerate((first, second)):
                _block(panels[row, column], seen, row, column, length, sheet)
                told |= {int(code) for code in seen.verdicts.values[row, column, :, :length].ravel()}
    if not seen.truth_known:
        return sheet.done()
    known = [each for each in ("right", "wrong", "unconstrained", "not_in_view") if CODES[each] in told]
    sheet.legend(known, columns=4)
    if not seen.questions:
        kept, long = seen.tokens.values.shape[2:]
        part = "" if first == long else f"the first {first} or {second} tokens of "
        sheet.note(f"counted over {seen.written} texts of {long} tokens; drawn: {part}{'six' if kept == 6 else kept}")
    return sheet.done()


def _caption(seen: Generated) -> str:
    if not seen.truth_known:
        return (
            "Texts that the model wrote by itself, each from a given beginning (plain cells); starts and random "
            "numbers are the same at every step, so what differs is the model. Sampled: at temperature 1. Arg-max: the "
            "likeliest token each time, which soon repeats itself. A cell is the darker, the more the token surprised "
            "the model that wrote it: minus the logarithm of its probability. A sampled text that costs about as much "
            "per token as the model's entropy is what it takes for ordinary; whether a reader does is not measured "
            "here."
        )
    codes = set(map(int, seen.verdicts.values.ravel()))
    hidden = CODES["not_in_view"] in codes
    free = ", grey: the rule leaves the token free" if CODES["unconstrained"] in codes else ""
    by = "the rule seen from the sequence's start"
    by = by if seen.held_out else "whether up to six tokens before and the one written occur so in the text"
    return (
        f"{len(seen.questions)} questions, the same at every step, with the answer drawn at temperature 1 (sampled) "
        "and the likeliest one (arg-max). "
        if seen.questions
        else "Sequences that the model wrote by itself, each from a given beginning (plain cells); starts and random "
        "numbers are the same at every step, so what differs is the model. Sampled: at temperature 1. Arg-max: the "
        f"likeliest token each time. Errors printed are over {seen.written} such sequences, by {by}. "
        + ("Hatched cells (∅): the rule speaks there, but what the model had in view does not settle the answer, so "
           "they may be right or wrong by luck; they are counted as what they are. " if hidden else "")
    ) + f"✓ right, ✗ wrong{free}. A model that only knows frequencies keeps its crosses."  # fmt: skip


def _block(ax: Axes, seen: Generated, row: int, choice: int, length: int, sheet: _draw.Sheet) -> None:
    ids, codes = seen.tokens.values[row, choice, :, :length], seen.verdicts.values[row, choice, :, :length]
    words = [[seen.vocabulary[int(token)] for token in line] for line in ids]
    _draw.cells(ax, words, [list(map(verdict, line)) for line in codes], theme=sheet.theme)
    name = seen.tokens.axes["choice"].labels[choice]
    wrong, all_ = seen.counts.values[row, choice]
    none = "no numbers" if NOTHING in words[0] else "nothing constrained"
    error = f"{percent(wrong / all_)} wrong ({int(wrong)} of {int(all_)})" if all_ else none
    ax.set_title(f"step {thousands(seen.steps[row])} · {name} · {error}" if choice == 0 else f"{name} · {error}")


def _lines(ax: Axes, seen: Generated, row: int, choice: int, sheet: _draw.Sheet) -> None:
    """Each text on a line of its own, token after token as far as there is room, shaded by what each cost."""
    width, height = _table.page(ax, sheet.em)
    palette, many = _style.colormap("share", sheet.theme.name), len(seen.tokens.axes["window"])
    line = min(2.4, height / many)
    for k in range(many):
        x = 0.0
        for token, cost in zip(seen.tokens.values[row, choice, k], seen.surprise.values[row, choice, k], strict=True):
            word = shown(seen.vocabulary[int(token)])
            wide = max(_draw.text_width(word, 72) + 0.6, 1.1)
            if x + wide > width:
                break
            face = palette(0.45 * min(cost / MOST_NATS, 1)) if np.isfinite(cost) else sheet.theme.paper
            ax.add_patch(Rectangle((x, k * line + 0.12), wide, line - 0.24, facecolor=face,
                                   edgecolor=sheet.theme.faint, linewidth=0.4 * sheet.size.line))  # fmt: skip
            ax.text(x + wide / 2, (k + 0.5) * line, word, ha="center", va="center", parse_math=False)
            x += wide + 0.12
    mean = float(seen.cost.values[row, choice])
    name = seen.tokens.axes["choice"].labels[choice]
    ax.set_title(f"step {thousands(seen.steps[row])} · {name} · {_draw.number(mean)} nats per token")


def _questions(seen: Generated, sheet: _draw.Sheet) -> None:
    """Three columns of ten questions; a cell for each step and choice."""
    t, size = sheet.theme, sheet.size
    across = 3 if sheet.room[0] > 80 else 2
    panels = sheet.panels(1, across, left=0.8, right=0.8, bottom=2.8, top=4.6, gap=(1.2, 0))[0]
    heads = [(row, choice) for row in range(len(seen.steps)) for choice in range(len(seen.tokens.axes["choice"]))]
    each = -(-len(seen.questions) // 3)
    for place, ax in enumerate(panels):
        _draw.bare(ax)
        wide = ax.get_window_extent().width / ax.figure.dpi / sheet.em
        cell = (wide - 7.5) / max(len(heads), 1)
        ax.set(xlim=(-7.5 / cell - 0.5, len(heads) - 0.5), ylim=(each - 0.4, -0.6))
        for k, (row, choice) in enumerate(heads):
            name = seen.tokens.axes["choice"].labels[choice]
            ax.annotate(name if cell > 4.2 else name[:3], (k, -0.5), ha="center", va="bottom", color=t.quiet)
            if choice == 0:
                ax.annotate(
                    f"step {thousands(seen.steps[row])}",
                    (k + 0.5 * (len(seen.tokens.axes["choice"]) - 1), -0.5),
                    ha="center",
                    va="bottom",
                    xytext=(0, 1.5 * size.text),
                    textcoords="offset points",
                )
        for line, question in enumerate(seen.questions[place * each : (place + 1) * each]):
            ax.text(-0.6, line, question, ha="right", va="center", parse_math=False)
            for k, (row, choice) in enumerate(heads):
                token = int(seen.tokens.values[row, choice, place * each + line, 0])
                said = verdict(seen.verdicts.values[row, choice, place * each + line, 0])
                word = f"{seen.vocabulary[token]}\u202f{_style.GLYPH.get(said, '')}"
                _draw.cell(ax, k, line, word, said, theme=t, size=size.text, line=size.line, glyph=False)
    wrong = (
        f"{percent(float(seen.error.values[r, c]))} {seen.tokens.axes['choice'].labels[c]}, "
        f"step {thousands(seen.steps[r])}"
        for r, c in heads
    )
    sheet.note(
        "wrong of all 30: " + " · ".join(wrong)
        if across == 3
        else f"{across * each} of the {len(seen.questions)} questions"
    )
