"""What can be read where: a linear reader's accuracy above chance, by point and step."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._result import listed, percent, thousands
from glassformer.analyses.know.probes import NEXT, Probes
from glassformer.figures import _draw, _style

SHORT = 0.995  # of the places whose class was learned, under which that is said


def draw(seen: Probes, look: _draw.Look) -> Figure:
    """One table per thing to be read: rows are points in the order of the computation, columns are kept steps."""
    sheet = look.sheet(seen, _caption(seen), "Tables of probe accuracy above chance by point and step", height=7.6)
    targets, points = seen.above.axes["quantity"].labels, seen.above.axes["point"].labels
    columns = 2 if len(targets) == 4 else min(len(targets), 3)
    rows = -(-len(targets) // columns)
    wide = max(_draw.text_width(point, sheet.size.text) for point in points) / sheet.em + 1.5
    when = [thousands(int(each)) for each in np.array(seen.above.axes["step"].values)]
    cell = (sheet.room[0] - wide - 8.2 - 2.2 * (columns - 1)) * sheet.em / columns / max(len(when), 1)
    longest = max((_draw.text_width(each, sheet.size.text) for each in when), default=0.0)
    bottom = 4 if longest < 0.85 * cell else 2.8 + longest / sheet.em  # names of steps that lie on their side
    panels = sheet.panels(rows, columns, left=wide + 1.2, right=7, bottom=bottom + 1.2, top=2.2, gap=(2.2, 3.4))
    written = _draw.text_width("100", sheet.size.text) < 0.98 * cell  # in every panel or in none
    names = [point.replace(" ", "\N{NO-BREAK SPACE}") for point in points]  # not tokens: no sign for the space
    asks = "where only one can follow" if NEXT in targets else "where the rule asks"
    for k, target in enumerate(targets):
        panel = panels.flat[k]
        _draw.heat(
            panel, seen.gained.values[k], kind="signed", theme=sheet.theme, limit=(-1, 1),
            rows=names if k % columns == 0 else (), columns=when if k + columns >= len(targets) else (),
            column_name="step" if k + columns >= len(targets) else "", numbers=False,
        )  # fmt: skip
        panel.tick_params(axis="y", pad=0.4 * sheet.size.text)
        if written:
            _percents(panel, seen, k, sheet.theme)
        chance = percent(float(seen.chance.values[k]))
        room = panel.get_window_extent().width / panel.figure.dpi
        where = "" if seen.one else f" {asks}" if seen.asked[k] else " everywhere"
        names_of = (f"{target}{where} (chance {chance})", f"{target}{where} ({chance})", f"{target} ({chance})")
        fitting = [each for each in names_of if _draw.text_width(each, 1.1 * sheet.size.text) <= room]
        panel.set_title((fitting or names_of[-1:])[0])
    _draw.remove_spare(panels, len(targets))
    bar = _draw.bar(sheet, "signed", (-1, 1), "colour: 0 chance, 1 always right", beside=panels[0, -1])
    least = float(np.nanmin(seen.gained.values, initial=0))
    bar.set_ylim(max(-1.0, np.floor(10 * least) / 10), 1)  # of the colours, what is used
    asked = [target for target, only in zip(targets, seen.asked, strict=True) if only]
    where = "all read at the position that answers" if seen.one else (
        f"{listed(asked)}: read {asks}; all else: at every position" if asked else "read at every position"
    )  # fmt: skip
    sheet.note(f"numbers: percent right · {where}")
    return sheet.done()


def _caption(seen: Probes) -> str:
    counts = zip(seen.count.axes["quantity"].labels, seen.count.values, strict=True)
    short = [(name, share) for name, share in zip(seen.known.axes["quantity"].labels, seen.known.values, strict=True)
             if share < SHORT]  # fmt: skip
    most = listed([f"{percent(float(share))} ({name})" for name, share in short])
    limit = f"No reader can get more than {most}: the rest did not occur where it learned. " if short else ""
    return (
        "Each panel is one thing to be read off, each row a point of the model in the order of the computation, each "
        "column a kept step. A linear reader (class means, one shared covariance) learned from "
        f"{seen.learned_from} training windows and is judged on {'held-out' if seen.held_out else 'the same'} ones: "
        "numbers are its percent right, colours how much of what chance leaves it gets (0: chance, always naming the "
        "most frequent class; 1: always right). "
        f"Judged at {', '.join(f'{int(n)} places ({name})' for name, n in counts)}. "
        f"{limit}What a reader finds is there, but "
        "need not be used by the model; what it misses may be there in a form that no line can cut."
    )


def _percents(ax: Axes, seen: Probes, target: int, theme: _style.Theme) -> None:
    """The accuracy itself in each cell, whose colour tells how far that is above chance."""
    palette = _style.colormap("signed", theme.name)
    for (row, column), gained in np.ndenumerate(seen.gained.values[target]):
        if np.isfinite(gained):
            ax.text(column, row, f"{100 * seen.accuracy.values[target, row, column]:.0f}", ha="center", va="center",
                    color=_style.on(palette((float(gained) + 1) / 2)))  # fmt: skip
