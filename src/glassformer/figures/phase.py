"""Sure and right are two things: the path on the plane of entropy and loss, past the rungs of the ladder."""

from matplotlib.figure import Figure

from glassformer.analyses._result import thousands
from glassformer.analyses._uncertain_words import say_phase
from glassformer.analyses.uncertainty import Subject, uncertainty
from glassformer.figures import _draw, _uncertain

SECTION = "path"
ORDER = 130
ANSWERS = ("0.5",)
COST = "b"


@_draw.drawing
def plot_phase(
    run: Subject,
    *,
    temperature: float = 1.0,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Entropy against loss, one dot per step, the line on which they are equal, and their difference by step."""
    seen = uncertainty(run, temperature=temperature, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say_phase(seen), seen.clock, height=11 if size == "print_narrow" else 6.4)
    narrow = sheet.room[0] < _uncertain.NARROW
    left = (0, 0.36, 1, 1) if narrow else (0, 0, 0.58, 1)
    right = (0, 0, 1, 0.36) if narrow else (0.58, 0, 1, 1)
    path = sheet.panels(1, 1, left=5, right=8, bottom=3.8, top=1.6, within=left)[0, 0]
    gap = sheet.panels(1, 1, left=6, right=2.8, bottom=3.8, top=2.4, within=right)[0, 0]
    _uncertain.phase(path, seen, sheet)
    last = max(len(seen.looked_at) - 1, 1)
    bar = _draw.bar(sheet, "time", (0, last), "step", beside=path)
    ticks = sorted({round(last * share / 4) for share in range(5)} & set(range(len(seen.looked_at))))
    bar.set_yticks(ticks, [thousands(int(seen.looked_at[k])) for k in ticks])
    _uncertain.life(gap, seen, sheet)
    _uncertain.gap(gap, seen, sheet)
    gap.set_title("how far above the dashed line")
    shown = seen.only("by_step.entropy_at", "by_step.loss_at", "by_step.gap")
    return sheet.done(shown, temperature=temperature, member=member)
