"""How fast it changes its mind: the divergence of its predictions from those before, per step."""

from matplotlib.figure import Figure

from glassformer.analyses._uncertain_words import say_change_rate
from glassformer.analyses.path.uncertainty import Subject, uncertainty
from glassformer.figures import _draw, _uncertain


@_draw.drawing
def plot_prediction_change(
    run: Subject,
    *,
    step: int = -1,
    member: int = 0,
    log_steps: bool = False,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Divergence between the predictions at successive steps, per step, with the rungs of the ladder ticked."""
    seen = uncertainty(run, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say_change_rate(seen), seen.clock, height=4.8)
    wide = sheet.room[0] > _uncertain.NARROW
    ticked = seen.reachable and wide
    rows = 3
    panel = sheet.panels(1, 1, left=6.8, right=2.8, bottom=5.2, top=1 + 1.3 * rows if ticked else 1.6)[0, 0]
    _uncertain.life(panel, seen, sheet, log=log_steps)
    _uncertain.change(panel, seen, sheet, wide)
    if ticked:
        _uncertain.crossings(panel, seen, sheet, rows)
    told = ["dotted: the loss passes a rung of the ladder"] if ticked else []
    told += ["line: mean, band: 8 windows in 10"] if seen.inputs > 1 else []
    if told:
        sheet.note("; ".join(told))
    return sheet.done(seen.only(*(f"change.{name}" for name in seen.change)), log_steps=log_steps, member=member)
