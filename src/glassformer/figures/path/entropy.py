"""How unsure it is, and how rightly: entropy of the predictions and loss at a temperature, by step."""

from matplotlib.figure import Figure

from glassformer.analyses._uncertain_words import say_entropy
from glassformer.analyses.path.uncertainty import Subject, uncertainty
from glassformer.figures import _draw, _uncertain


@_draw.drawing
def plot_entropy(
    run: Subject,
    *,
    temperature: float = 1.0,
    step: int = -1,
    member: int = 0,
    log_steps: bool = False,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Output entropy between ln V and that of the truth, above the loss at the same temperature; with their spread."""
    seen = uncertainty(run, temperature=temperature, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say_entropy(seen), seen.clock, height=7)
    names = 14.0 if sheet.room[0] > _uncertain.NARROW else 8.5
    top, bottom = sheet.panels(2, 1, left=5.5, right=names + 2.2, bottom=5.2, top=1.5, gap=(0, 2))[:, 0]
    for panel, draw in ((top, _uncertain.entropy), (bottom, _uncertain.loss)):
        _uncertain.life(panel, seen, sheet, "" if panel is top else "step", log_steps)
        draw(panel, seen, sheet, names)
    if seen.inputs > 1:
        sheet.note("bands: 8 windows in 10")
    shown = seen.only("by_step.entropy", "by_step.entropy_at", "by_step.loss_at")
    return sheet.done(shown, temperature=temperature, log_steps=log_steps, member=member)
