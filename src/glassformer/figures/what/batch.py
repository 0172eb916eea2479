"""What one step sees: inputs above targets, where the windows lie in the corpus, and what each prediction weighs."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses._result import thousands
from glassformer.analyses.what.batch import Batch
from glassformer.figures import _draw

APART = 2.75  # from window to window, in cells


def draw(seen: Batch, look: _draw.Look) -> Figure:
    """Windows drawn as training draws them, each above the targets it is asked for."""
    shows = "Pairs of rows, inputs above targets, and marks of where each window begins"
    sheet = look.sheet(seen, _caption(seen), shows, height=6.4)
    share, low = 0.68, min(0.3, 7.6 / sheet.room[1])
    panel = sheet.panels(1, 1, left=6.5, right=1, bottom=0.4, top=0.8, within=(0, low, share, 1))[0, 0]
    many, line = len(seen.tokens), sheet.size.line
    fits = _fits(panel, seen, sheet)
    panel.set(xlim=(-0.5, fits - 0.5), ylim=((many - 1) * APART + 1.6, -0.6))
    ticks, names = [], []
    for k, (words, asked) in enumerate(zip(seen.tokens, seen.asked, strict=True)):
        y = k * APART
        for x, (word, target) in enumerate(zip(words[:fits], asked[:fits], strict=True)):
            _draw.cell(panel, x, y, word, None, theme=sheet.theme, size=sheet.size.text, line=line)
            if target:
                face = (sheet.theme.train, 0.16)
                panel.add_patch(
                    Rectangle(
                        (x - 0.46, y + 0.56),
                        0.92,
                        0.88,
                        facecolor=face,
                        edgecolor=sheet.theme.train,
                        linewidth=0.5 * line,
                    )
                )
                panel.text(x, y + 1, shown(target), ha="center", va="center", parse_math=False)
            else:
                panel.text(x, y + 1, "·", ha="center", va="center", color=sheet.theme.quiet)
        ticks += [y, y + 1]
        names += [f"window {k}", "target"]
    _draw.bare(panel)
    panel.set_yticks(ticks, names)
    panel.tick_params(length=0)
    corpus = sheet.panels(1, 1, left=3, right=3, bottom=3.0, top=0.8, within=(share, 0, 1, 1))[0, 0]
    corpus.set(ylim=((many - 1) * APART + 1.6 + APART, -0.6), xlim=(0, seen.corpus))
    for k, begin in enumerate(seen.begins.values):
        y = k * APART + 0.5
        corpus.plot([0, seen.corpus], [y, y], color=sheet.theme.faint, zorder=0)
        corpus.plot(
            [begin], [y], marker="|", color=sheet.theme.ink, markersize=sheet.size.text * 1.4, markeredgewidth=2 * line
        )
        left = begin > 0.6 * seen.corpus
        corpus.text(
            begin,
            y - 0.55,
            f"{'' if left else ' '}{_place(seen, int(begin))}{' ' if left else ''}",
            ha="right" if left else "left",
            va="center",
        )
    box, other = panel.get_position(), corpus.get_position()
    corpus.set_position((other.x0, box.y0, other.width, box.height)) if not isinstance(sheet.host, Axes) else None
    corpus.set_ylim((many - 1) * APART + 1.6, -0.6)
    _draw.bare(corpus)
    part = f"\n{many} of the {seen.batch} windows shown" if seen.batch > many else ""
    whole = f"{thousands(seen.corpus)} tokens" if seen.read_position < 0 else f"{thousands(seen.pieces)} questions"
    corpus.set_xlabel(f"place in the {whole}{part}")
    weight = sheet.panels(1, 1, left=6.5, right=1, bottom=3.6, top=1.8, within=(0, 0, share, low))[0, 0]
    shares = seen.weights.values
    weight.bar(range(seen.context), shares, width=0.8, color=sheet.theme.train)
    weight.set(xlim=(-0.5, seen.context - 0.5), ylim=(0, 1.1 * float(shares.max())))
    weight.set_yticks([0, float(shares.max())], ["0", f"1/{round(1 / shares.max())}"])
    _draw.places(weight, seen.weights.axes["position"], "x", name="position")
    weight.set_title("share of the step's loss that one prediction carries")
    if fits < seen.context:
        sheet.note(f"of each window the first {fits} of {seen.context} tokens are written")
    return sheet.done()


def _caption(seen: Batch) -> str:
    drawn = (
        "a sequence chosen evenly, then a beginning evenly within it"
        if seen.order == "random"
        else "the beginning of a shuffled pass over all of them"
    )
    where = (
        f"where each window begins in the {thousands(seen.corpus)} tokens"
        if seen.read_position < 0
        else f"which of the {thousands(seen.pieces)} questions each window is"
    )
    return (
        f"{len(seen.tokens)} windows drawn the way training draws its {seen.batch} per step ({drawn}), with random "
        "numbers of their own: no particular step's batch. In each pair the upper row is what the model is given, the "
        f"lower row what is asked of it at that position; plain cells with a dot are not asked. Right: {where} of "
        "the training part. Below: the share of a step's loss that one prediction at a position carries."
    )


def _fits(ax: Axes, seen: Batch, sheet: _draw.Sheet) -> int:
    """How many tokens can be written side by side."""
    widest = max(_draw.text_width(shown(word), 72) for words in (*seen.tokens, *seen.asked) for word in words) + 0.5
    return min(seen.context, max(4, int(ax.get_window_extent().width / ax.figure.dpi / sheet.em / widest)))


def _place(seen: Batch, begin: int) -> str:
    """Where a window begins, or which question it is: they are all of one length."""
    if seen.read_position < 0:
        return f"token {thousands(begin)}"
    return f"question {thousands(begin * seen.pieces // seen.corpus)}"
