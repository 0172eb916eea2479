"""What a temperature does to it: entropy, loss and specific heat against temperature."""

from functools import partial

from matplotlib.figure import Figure

from glassformer.analyses._uncertain_words import say_temperature
from glassformer.analyses.path.uncertainty import Subject, uncertainty
from glassformer.figures import _draw, _uncertain


@_draw.drawing
def plot_temperature(
    run: Subject,
    *,
    step: int = -1,
    member: int = 0,
    ax: _draw.Host = None,
    theme: str = "light",
    size: str = "screen",
) -> Figure:
    """Entropy averaged over the life and at some steps, the loss with its minimum, the specific heat with its peak."""
    seen = uncertainty(run, step=step, member=member)
    tall = size == "print_narrow"
    sheet = _draw.Sheet(ax, theme, size, say_temperature(seen), seen.clock, height=13 if tall else 5.4)
    narrow = sheet.room[0] < _uncertain.NARROW
    rows, columns = (3, 1) if narrow else (1, 3)
    entries = [*_uncertain.by_moments(seen, sheet), *_uncertain.spread(seen, sheet)]
    wide = sum(_draw.text_width(str(entry.get_label()), sheet.size.text) / sheet.em + 4 for entry in entries)
    lines = int(-(-wide // (sheet.room[0] - 2)))
    across = -(-len(entries) // lines)  # entries of the key side by side
    foot = 4.8 + 1.4 * lines
    panels = sheet.panels(rows, columns, left=5, right=1.8, bottom=foot, top=2.4, gap=(5, 5)).flat
    for panel, draw, title in (
        (panels[0], partial(_uncertain.mean_entropy, moments=True), "how unsure"),
        (panels[1], _uncertain.loss_over_temperature, "how wrong"),
        (panels[2], _uncertain.heat, "how strongly heat stirs it"),
    ):
        draw(panel, seen, sheet)
        panel.set_title(title)
    sheet.legend(_uncertain.by_rows(entries, across), columns=across)
    names = ("entropy", "loss", "heat")
    shown = seen.only(*(f"{kind}.{name}" for kind in ("by_temperature", "at_moments") for name in names),
                      "marks.least_loss", "marks.most_heat")  # fmt: skip
    return sheet.done(shown, member=member)
