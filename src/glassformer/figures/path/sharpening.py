"""How much it bets: the probability of the likeliest token and of the right one, by step."""

from matplotlib.figure import Figure

from glassformer.analyses._uncertain_words import say_sharpening
from glassformer.analyses.path.uncertainty import Subject, uncertainty
from glassformer.figures import _draw, _uncertain

HEADINGS = {"": "", "constrained": "where the rule restricts what may come", "free": "where it does not"}


@_draw.drawing
def plot_sharpening(
    run: Subject,
    *,
    step: int = -1,
    member: int = 0,
    log_steps: bool = False,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """p(max) and p(target), constrained and free places apart, with what the exact predictor gives."""
    seen = uncertainty(run, step=step, member=member)
    kinds = ("constrained", "free") if "p_max constrained" in seen.by_step else ("",)
    sheet = _draw.Sheet(ax, theme, size, say_sharpening(seen), seen.clock, height=8 if size == "print_narrow" else 5)
    narrow = sheet.room[0] < _uncertain.NARROW
    names = 9.5
    rows, columns = (len(kinds), 1) if narrow else (1, len(kinds))
    panels = sheet.panels(rows, columns, left=5.5, right=names + 2.2, bottom=5.2, top=2.6, gap=(names + 7, 5)).flat
    for panel, kind in zip(panels, kinds, strict=True):
        _uncertain.life(panel, seen, sheet, log=log_steps)
        _uncertain.sharpening(panel, seen, sheet, names, kind)
        panel.set_title(HEADINGS[kind])
    dotted = seen.subject == "run" and seen.known
    told = [f"dotted: {'exact predictor' if seen.exact else 'best count table'}"] if dotted else []
    told += ["band of what came: 8 windows in 10"] if seen.inputs > 1 else []
    if told:
        sheet.note("; ".join(told))
    shown = seen.only(
        *(name for kind in kinds for name in (f"by_step.p_max {kind}".strip(), f"by_step.p_target {kind}".strip()))
    )
    return sheet.done(shown, log_steps=log_steps, member=member)
