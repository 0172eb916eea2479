"""How many tokens it wavers between: the perplexity of a text by step, beside that of tables of counts."""

from matplotlib.figure import Figure

from glassformer.analyses.learn.perplexity import Perplexity
from glassformer.figures import _draw
from glassformer.figures.learn.loss import losses

CAPTION = (
    "Perplexity, e to the power of the loss: among so many equally likely tokens a guess would be as hard. Raw (thin) "
    "and as a running median over five logged lines (thick), on training (solid) and {} windows (dashed); dots are the "
    "logged lines where they are few. Dashed horizontal lines are what counting can do: tables of the training part "
    "that look back so many tokens, scored on the whole validation part; a tick marks the first logged step by which "
    "the {} curve stands on one. The least that a text allows nobody knows. The axis of perplexity is logarithmic: "
    "equal distances are equal differences of loss."
)


def draw(seen: Perplexity, look: _draw.Look) -> Figure:
    """Perplexity in training and held out, and lines for tables of counts."""
    shows = "Curves of perplexity over training steps with horizontal lines"
    sheet = look.sheet(seen, CAPTION.format(seen.whose, seen.whose), shows, height=5.5, least=45)
    panel = sheet.panels(1, 1, left=6.5, right=18, bottom=3.8, top=2.4)[0, 0]
    losses(panel, seen, sheet, 15)
    _draw.steps_axis(panel, scale=seen.scale)
    sheet.mark_step(panel, seen.step)
    return sheet.done()
