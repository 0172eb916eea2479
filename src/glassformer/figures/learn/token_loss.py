"""What every token of a passage costs, written out as a text: by the model, and by counting."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from glassformer.analyses import _passage
from glassformer.analyses._pairs import shown
from glassformer.analyses.learn.token_loss import TokenLoss
from glassformer.figures import _draw, _style

BESIDE = 14  # ems for margins and the colour bar
LINE = 1.75  # ems from one line of the text to the next
Box = tuple[float, int, float]  # left edge in ems, line, width in ems


def draw(seen: TokenLoss, look: _draw.Look) -> Figure:
    """The passage twice, each token shaded by its loss: left by the model, right by the best other predictor."""
    style = _style.size(_style.size(look.size).wider or look.size)
    lines = _flow(seen, (style.width * 72 / style.text - BESIDE) / 2)[-1][1] + 1
    height = _style.inches(style.name, LINE * lines + 11.5)
    sheet = replace(look, size=style.name).sheet(seen, _caption(seen), alt=_alt(seen), height=height, least=0)
    wide = max((sheet.room[0] - BESIDE) / 2, 6.0)  # ems of each panel
    boxes = _flow(seen, wide)
    panels = sheet.panels(1, 2, left=1.5, right=8, bottom=2.4, top=3, gap=(3, 0))[0]
    most = max(1, int((sheet.room[1] - 5.4) / LINE))  # lines that there is room for: a slide has its own height
    for row, panel in enumerate(panels):
        _text(panel, seen, row, boxes, wide, min(boxes[-1][1] + 1, most), sheet)
    if boxes[-1][1] >= most:
        sheet.note(f"the first {sum(line < most for _, line, _ in boxes)} of {len(boxes)} tokens are written out")
    _draw.bar(sheet, "entropy", (0.0, seen.most), "loss (nats)", beside=panels[1])
    return sheet.done()


def _caption(seen: TokenLoss) -> str:
    where = "that training never saw" if seen.held_out else "of the training text itself"
    table = (
        "the best table of counts (what followed the last few tokens in training)"
        if seen.other == "count table"
        else "the exact predictor, which knows all that can be known"
    )
    return (
        f"A passage {where}, written out. Each token is shaded by what it costs, −ln p of the token that came, in "
        f"nats; left by the model, right by {table}. The map runs from 0 to ln V = {seen.most:.2f}, the price of a "
        "uniform guess; dearer tokens have the colour of its end. The model sees at least half a window before each "
        "token, where there is so much. Exact numbers for this one passage; another may differ."
    )


def _alt(seen: TokenLoss) -> str:
    model = seen.loss.values[0]
    if not np.isfinite(model).all():
        return f"A text shaded by its price, token by token. {seen.title}."
    dearest = shown(seen.tokens[int(np.argmax(model))])
    return f"A text shaded by its price, token by token, twice. {seen.title}. Dearest: “{dearest}”."


def _flow(seen: TokenLoss, wide: float) -> list[Box]:
    """Where each token of the text stands; a line ends where the text's does, or where a word has no more room."""
    boxes: list[Box] = []
    x, line = 0.0, 0
    for group in _words(seen.tokens):
        widths = [max(_draw.text_width(shown(token), 72) + 0.28, 0.75) for token in group]
        together = sum(widths) <= wide / 2  # longer ones may be cut
        if together and x + sum(widths) > wide:
            x, line = 0.0, line + 1
        for token, width in zip(group, widths, strict=True):
            if x + width > wide and x > 0:
                x, line = 0.0, line + 1
            boxes.append((x, line, width))
            x += width
            if _ends_line(token):
                x, line = 0.0, line + 1
    return boxes


def _words(tokens: Sequence[str]) -> list[list[str]]:
    """Tokens that should stay on one line: from a space to the next."""
    groups: list[list[str]] = []
    before = " "
    for token in tokens:
        if before[-1:].isspace() or token[:1].isspace() or _ends_line(before):
            groups.append([])
        groups[-1].append(token)
        before = token
    return groups


def _ends_line(token: str) -> bool:
    return any(end in token for end in _passage.LINE_ENDS)


def _text(
    ax: _draw.Axes, seen: TokenLoss, row: int, boxes: list[Box], wide: float, lines: int, sheet: _draw.Sheet
) -> None:
    _draw.bare(ax)
    ax.set(xlim=(0, wide), ylim=(lines, 0))
    fitting = [k for k, (_, line, _) in enumerate(boxes) if line < lines]
    losses = seen.loss.values[row, : len(fitting)]
    palette = _style.colormap("entropy", sheet.theme.name)
    corners = [
        [(x, y + 0.06), (x + width, y + 0.06), (x + width, y + 0.94), (x, y + 0.94)]
        for x, y, width in (boxes[k] for k in fitting)
    ]
    cells = PolyCollection(corners, cmap=palette, edgecolors=sheet.theme.paper, linewidths=0.3, gid="losses")
    cells.set_array(losses)
    cells.set_clim(0, seen.most)
    ax.add_collection(cells, autolim=False)
    for k in fitting:
        x, y, width = boxes[k]
        ink = _style.on(palette(losses[k] / seen.most)) if losses[k] == losses[k] else sheet.theme.ink
        ax.text(x + width / 2, y + 0.5, shown(seen.tokens[k]), ha="center", va="center", color=ink, parse_math=False)
    mean = seen.loss.values[row].mean()
    _draw.heading(ax, f"the {seen.loss.axes['quantity'].labels[row]}: {_draw.number(float(mean))} nats per token")
