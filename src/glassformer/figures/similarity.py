"""Which tokens are alike: cosines sorted by group, lengths, and the groups over the whole life."""

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.analyses._pairs import shown
from glassformer.analyses.similarity import KINDS, say, similarity
from glassformer.figures import _draw
from glassformer.run import Run

SECTION = "know"
ORDER = 20
ANSWERS = ("1.P3", "1.Q36", "1.Q45")
COST = "a"
MOST_NUMBERS = 20  # tokens


@_draw.drawing
def plot_similarity(
    run: Run, *, step: int = -1, member: int = 0, ax: _draw.Host = None, theme: str = "light", size: str = "screen"
) -> Figure:
    """Cosine of every two token vectors; beside it the length of each and the means by group over life."""
    seen = similarity(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=6.8)
    t, words = sheet.theme, seen.cosine.axes["token"]
    longest = max(_draw.text_width(shown(word), sheet.size.text) for word in words) / sheet.em
    table = sheet.panels(
        1,
        1,
        left=max(5, longest + 1.2),
        right=6.5,
        bottom=max(3.2, longest + 1.2),
        top=1.6,
        within=(0, 0, 0.6, 1),
        square=True,
    )[0, 0]
    _draw.heat(
        table, seen.cosine.values, kind="signed", theme=t, limit=(-1, 1), rows=words, columns=words,
        numbers=None if len(words) <= MOST_NUMBERS else False, digits=1,
    )  # fmt: skip
    begin = 0
    for own in seen.groups.values():
        table.add_patch(Rectangle((begin - 0.5, begin - 0.5), len(own), len(own), fill=False, edgecolor=t.ink,
                                  linewidth=0.8 * sheet.size.line, clip_on=False, zorder=4))  # fmt: skip
        begin += len(own)
    _draw.bar(sheet, "signed", (-1, 1), "cosine", beside=table)
    lengths, life = sheet.panels(
        2,
        1,
        heights=(1, 1.3),
        left=5,
        right=7.5,
        bottom=3.8,
        top=2.2,
        gap=(0, max(5.2, longest + 4)),
        within=(0.6, 0, 1, 1),
    )[:, 0]
    lengths.bar(range(len(words)), seen.length.values, color=t.quiet, width=0.7)
    lengths.set_xlim(-0.6, len(words) - 0.4)
    _draw.places(lengths, words, "x")
    lengths.set_title("length of each token's vector")
    steps = [int(each) for each in seen.over_life.axes["step"]]
    life.axhline(0, color=t.faint, linewidth=0.5 * sheet.size.line, zorder=0)
    for k, (style, colour) in enumerate((("-", t.ink), ("--", t.quiet))):
        curve = seen.over_life.values[:, k]
        life.plot(steps, curve, linestyle=style, color=colour)
        life.annotate(KINDS[k], (steps[-1], curve[-1]), xytext=(5, 0), textcoords="offset points", va="center",
                      color=colour, annotation_clip=False)  # fmt: skip
    if step != -1 and seen.step is not None:
        life.axvline(seen.step, color=t.quiet, linewidth=0.5 * sheet.size.line, zorder=0)
    life.set_xlim(steps[0], max(steps[-1], steps[0] + 1))
    _draw.steps_axis(life)
    life.locator_params(axis="x", nbins=3)
    life.set_title("mean cosine of two tokens of")
    return sheet.done(seen, names=[shown(word) for word in words])
