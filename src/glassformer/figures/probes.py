"""What can be read where: a linear reader's accuracy above chance, by point and step."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._result import percent, thousands
from glassformer.analyses.probes import probes, say
from glassformer.figures import _draw
from glassformer.run import Run

SECTION = "know"
ORDER = 70
ANSWERS = ("1.P3", "1.Q44")
COST = "c"


@_draw.drawing
def plot_probes(
    run: Run,
    *,
    steps: list[int] | tuple[int, ...] | None = None,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """One table per thing to be read: rows are points in the order of the computation, columns are kept steps."""
    seen = probes(run, steps=steps, step=step, member=member)
    sheet = _draw.Sheet(ax, theme, size, say(seen), seen.clock, height=7.6, least=60)
    targets, points = seen.above.axes["target"], seen.above.axes["point"]
    columns = 2 if len(targets) == 4 else min(len(targets), 3)
    rows = -(-len(targets) // columns)
    wide = max(_draw.text_width(point, sheet.size.text) for point in points) / sheet.em + 1.5
    when = [thousands(int(each)) for each in seen.above.axes["step"]]
    cell = (sheet.room[0] - wide - 8.2 - 2.2 * (columns - 1)) * sheet.em / columns / max(len(when), 1)
    longest = max((_draw.text_width(each, sheet.size.text) for each in when), default=0.0)
    bottom = 4 if longest < 0.85 * cell else 2.8 + longest / sheet.em  # names of steps that lie on their side
    panels = sheet.panels(rows, columns, left=wide + 1.2, right=7, bottom=bottom + 1.2, top=2.2, gap=(2.2, 3.4))
    digits = 2 if _draw.text_width("−0.00", sheet.size.text) < 0.95 * cell else 1
    written = _draw.text_width("−0.0", sheet.size.text) < 0.98 * cell  # in every panel or in none
    names = [point.replace(" ", "\N{NO-BREAK SPACE}") for point in points]  # not tokens: no sign for the space
    for k, target in enumerate(targets):
        panel = panels.flat[k]
        _draw.heat(
            panel, seen.gained.values[k], kind="signed", theme=sheet.theme, limit=(-1, 1),
            rows=names if k % columns == 0 else (), columns=when if k + columns >= len(targets) else (),
            column_name="step" if k + columns >= len(targets) else "", numbers=written, digits=digits,
        )  # fmt: skip
        chance = percent(float(seen.chance.values[k]))
        room = panel.get_window_extent().width / panel.figure.dpi
        whole = f"{target} (chance {chance})"
        fits = _draw.text_width(whole, 1.1 * sheet.size.text) <= room
        panel.set_title(whole if fits else f"{target} ({chance})")
    for panel in panels.flat[len(targets) :]:
        panel.remove()
    bar = _draw.bar(sheet, "signed", (-1, 1), "0: chance, 1: always right", beside=panels[0, -1])
    least = float(np.nanmin(seen.gained.values, initial=0))
    bar.set_ylim(max(-1.0, np.floor(10 * least) / 10), 1)  # of the colours, what is used
    one = run.task.answers != "next"
    sheet.note("all read at the position that answers" if one else
               "answer and distance: read where the rule asks; all else: at every position")  # fmt: skip
    return sheet.done(seen)
