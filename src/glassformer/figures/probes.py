"""What can be read where: a linear reader's accuracy above chance, by point and step."""

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
    columns = 3 if len(targets) > 2 else len(targets)
    rows = -(-len(targets) // columns)
    wide = max(_draw.text_width(point, sheet.size.text) for point in points) / sheet.em + 1.5
    when = [thousands(int(each)) for each in seen.above.axes["step"]]
    cell = (sheet.room[0] - wide - 7.7 - 2.2 * (columns - 1)) * sheet.em / columns / max(len(when), 1)
    longest = max((_draw.text_width(each, sheet.size.text) for each in when), default=0.0)
    bottom = 4 if longest < 0.85 * cell else 2.8 + longest / sheet.em  # names of steps that lie on their side
    panels = sheet.panels(rows, columns, left=wide + 1.2, right=6.5, bottom=bottom, top=2.2, gap=(2.2, 3.4))
    written = _draw.text_width("−0.00", sheet.size.text) < 0.95 * cell  # in every panel or in none
    names = [point.replace(" ", "\N{NO-BREAK SPACE}") for point in points]  # not tokens: no sign for the space
    for k, target in enumerate(targets):
        panel = panels.flat[k]
        _draw.heat(
            panel, seen.above.values[k], kind="signed", theme=sheet.theme, limit=(-1, 1),
            rows=names if k % columns == 0 else (), columns=when if k + columns >= len(targets) else (),
            column_name="step" if k + columns >= len(targets) else "", numbers=written,
        )  # fmt: skip
        panel.set_title(f"{target} (chance {percent(float(seen.chance.values[k]))})")
    for panel in panels.flat[len(targets) :]:
        panel.remove()
    _draw.bar(sheet, "signed", (-1, 1), "accuracy less chance", beside=panels[0, -1])
    return sheet.done(seen)
