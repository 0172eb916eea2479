"""How wrong is a prediction? Squared error and surprise over what was predicted, with a table."""

from math import log

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses._primer import short
from glassformer.analyses.primer.error_curve import ErrorCurve
from glassformer.figures import _draw, _table

MOST = 4.0  # nats drawn; the surprise has no end


CAPTION = (
    "Solid: the squared difference between what was wanted and the prediction. Dashed: the surprise, minus the "
    "natural logarithm of the probability that the prediction gives to what is true; this is what language models "
    "are trained on. Both are 0 for a perfect prediction. The squared error of a probability never exceeds 1; the "
    "surprise grows without bound "
    f"as what is true is held impossible (at a probability of 0.01 it is {log(100):.2f}). The dots are the "
    "prediction looked at, in the chart and in the table. A row without a surprise is no probability."
)


def draw(seen: ErrorCurve, look: _draw.Look) -> Figure:
    """Both measures of error as curves, the prediction marked, and a table of wanted, got and loss."""
    sheet = look.sheet(seen, CAPTION, "Two curves of error against the prediction, and a table", height=4.8)
    t, line = sheet.theme, sheet.size.line
    chart = sheet.panels(1, 1, left=5.5, right=1, bottom=3.8, top=1.5, within=(0, 0, 0.62, 1))[0, 0]
    aside = sheet.panels(1, 1, left=2, right=1, bottom=1, top=1.5, within=(0.62, 0, 1, 1))[0, 0]
    along = np.array(seen.curves["squared"].axes["argument"].values)
    for name, style, colour, here, said in (
        ("squared", "-", t.train, seen.squared, "squared error"),
        ("surprise", "--", t.validation, seen.surprise, "surprise, −ln p (nats)"),
    ):
        chart.plot(along, seen.curves[name].values, color=colour, linestyle=style, label=said)
        if np.isfinite(here):
            chart.plot([seen.got], [here], marker="o", color=colour, markersize=0.8 * sheet.size.text, clip_on=False)
            chart.annotate(short(here), (seen.got, here), xytext=(0.7 * sheet.size.text, 0.5 * sheet.size.text),
                           textcoords="offset points")  # fmt: skip
    chart.axvline(seen.got, color=t.quiet, linewidth=0.5 * line, zorder=0)
    chart.axvline(seen.wanted, color=t.ink, linestyle="--", linewidth=0.7 * line, zorder=0)
    chart.set(ylim=(0, max(MOST, 1.1 * seen.squared)), xlim=(along[0] - 0.02, along[-1] + 0.02))
    chart.set(xlabel=f"prediction (wanted: {short(seen.wanted)})", ylabel="loss")
    chart.legend(loc="upper center")
    rows = [
        (
            "●" if at == seen.got else "",
            short(seen.wanted),
            short(at),
            short(a),
            short(b) if np.isfinite(b) else "–",
        )
        for at, a, b in zip(
            np.array(seen.rows["squared"].axes["argument"].values),
            seen.rows["squared"].values,
            seen.rows["surprise"].values,
            strict=True,
        )
    ]
    colours = [t.ink if row[0] else t.quiet for row in rows]
    head = ("", "wanted", "got", "squared error", "−ln p")
    _table.table(aside, sheet.em, head, rows, theme=t, align="lrrrr", colours=colours)
    return sheet.done()
