"""What every token of a passage costs, written out as a text: by the model, and by counting."""

from collections.abc import Sequence

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from glassformer.analyses import _passage
from glassformer.analyses._pairs import shown
from glassformer.analyses.learn.token_loss import TokenLoss, say, token_loss
from glassformer.figures import _draw, _style
from glassformer.run import Run

BESIDE = 14  # ems for margins and the colour bar
LINE = 1.75  # ems from one line of the text to the next
Box = tuple[float, int, float]  # left edge in ems, line, width in ems


@_draw.drawing
def plot_token_loss(
    run: Run,
    *,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """The passage twice, each token shaded by its loss: left by the model, right by the best other predictor."""
    seen = token_loss(run, step=step, member=member)
    style = _style.size(_style.size(size).wider or size)
    lines = _flow(seen, (style.width * 72 / style.text - BESIDE) / 2)[-1][1] + 1
    height = _style.inches(style.name, LINE * lines + 11.5)
    sheet = _draw.Sheet(ax, theme, style.name, say(seen), seen.clock, height=height)
    wide = max((sheet.room[0] - BESIDE) / 2, 6.0)  # ems of each panel
    boxes = _flow(seen, wide)
    panels = sheet.panels(1, 2, left=1.5, right=8, bottom=2.4, top=3, gap=(3, 0))[0]
    most = max(1, int((sheet.room[1] - 5.4) / LINE))  # lines that there is room for: a slide has its own height
    for panel, guess in zip(panels, seen.loss.axes["guess"].labels, strict=True):
        _text(panel, seen, guess, boxes, wide, min(boxes[-1][1] + 1, most), sheet)
    if boxes[-1][1] >= most:
        sheet.note(f"the first {sum(line < most for _, line, _ in boxes)} of {len(boxes)} tokens are written out")
    _draw.bar(sheet, "entropy", (0.0, seen.most), "loss (nats)", beside=panels[1])
    return sheet.done(seen, member=member)


def drawn_numbers(figure: Figure) -> list[tuple[list[float], list[float]]]:
    """The losses behind the shades, as drawn and as found."""
    result = _draw.of(figure).result
    assert isinstance(result, TokenLoss)
    drawn = [each.get_array() for axes in figure.axes for each in axes.collections if each.get_gid() == "losses"]
    return [
        (values.tolist(), row[: len(values)].tolist()) for values, row in zip(drawn, result.loss.values, strict=True)
    ]


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
    ax: _draw.Axes, seen: TokenLoss, guess: str, boxes: list[Box], wide: float, lines: int, sheet: _draw.Sheet
) -> None:
    row = seen.loss.axes["guess"].labels.index(guess)
    _draw.bare(ax)
    ax.set_xlim(0, wide)
    ax.set_ylim(lines, 0)
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
    name = "the model" if guess == "model" else f"the {guess}"
    _draw.heading(ax, f"{name}: {_draw.number(float(mean))} nats per token")
