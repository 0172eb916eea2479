"""What a temperature does to it: entropy, loss and specific heat against temperature."""

from functools import partial

from matplotlib.figure import Figure

from glassformer.analyses.path.temperature import Temperature
from glassformer.figures import _draw, _uncertain
from glassformer.words import capital, thousands


def draw(seen: Temperature, look: _draw.Look) -> Figure:
    """Entropy averaged over the life and at some steps, the loss with its minimum, the specific heat with its peak."""
    shows = "Charts of entropy, loss and specific heat against temperature"
    height = 13 if look.size == "print_narrow" else 5.4
    sheet = look.sheet(seen, _caption(seen), shows, height=height, least=0)
    narrow = sheet.room[0] < _uncertain.NARROW
    rows, columns = (3, 1) if narrow else (1, 3)
    entries = [*_uncertain.by_moments(seen, sheet), *_uncertain.spread(seen, sheet)]
    wide = sum(_draw.text_width(str(entry.get_label()), sheet.size.text) / sheet.em + 4 for entry in entries)
    lines = int(-(-wide // (sheet.room[0] - 2)))
    across = -(-len(entries) // lines)  # entries of the key side by side
    foot = 4.8 + 1.4 * lines
    panels = sheet.panels(rows, columns, left=5, right=1.8, bottom=foot, top=2.4, gap=(5, 5)).flat
    for panel, drawing, title in (
        (panels[0], partial(_uncertain.mean_entropy, moments=True), "how unsure"),
        (panels[1], _uncertain.loss_over_temperature, "how wrong"),
        (panels[2], _uncertain.heat, "how strongly heat stirs it"),
    ):
        drawing(panel, seen, sheet)
        panel.set_title(title)
    sheet.legend(_uncertain.by_rows(entries, across), columns=across)
    return sheet.done()


def _caption(seen: Temperature) -> str:
    cold = seen.temperatures
    if seen.own_lives:
        lives, loss = "Every temperature has its own training here, so no curve is that of one model.", ""
        peak, flat = ", its peak marked", ""
    else:
        lives = "The model is the same at every temperature; only its logits are divided by T."
        loss = (
            "; a minimum at T = 1 says that the stated probabilities are as sure as they should be, one below 1 that "
            "they are too cautious, one above 1 that they are too sure"
        )
        peak = ", its peak marked: there a small change of temperature changes most"
        flat = " A specific heat without a peak would mean that no scale of energy was learned."
    return (
        f"{lives} First: entropy against temperature T, averaged over the life (thick) and at some steps (early to "
        f"late in shade), with ln {thousands(seen.tokens)} = {seen.highest:.3f} as limit. Second: the loss, its "
        f"minimum marked{loss}. Third: the specific heat, the variance of the energy E = −logit divided by T²{peak}. "
        f"{capital(_uncertain.means(seen, seen.swept))} Computed at {len(cold)} temperatures from "
        f"{cold[0]:g} to {cold[-1]:g}, so the marks are exact to one of them.{flat}"
    )
