"""The training in a table: a dozen lines of its log."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.analyses._judged import exactly
from glassformer.analyses._result import power, thousands
from glassformer.analyses.learn.training_log import TrainingLog
from glassformer.figures import _draw, _table

LINE, MOST = 2.2, 5.0  # ems: of a row at the most, and between columns beyond the usual gap
POWERS, SMALL = (
    ("training loss", "held-out loss", "judged loss", "excess", "gradient", "update / weights", "rate"),
    5e-4,
)
SHORT = {
    "training loss": "train",
    "held-out loss": "held out",
    "judged loss": "judged",
    "update / weights": "update",
    "gradient": "grad.",
}


def draw(seen: TrainingLog, look: _draw.Look) -> Figure:
    """Step, epoch, losses, right answers, gradient, updates and rate at a dozen logged steps."""
    steps, names = np.array(seen.log.axes["step"].values), seen.log.axes["quantity"].labels
    shows = f"A table of the training at {len(steps)} steps"
    sheet = look.sheet(seen, _caption(seen), shows, height=1.2 + 0.24 * len(steps), least=0)
    panel = sheet.panels(1, 1, left=1.2, right=1.2, bottom=0.8, top=1.6)[0, 0]
    narrow = sheet.room[0] < 60
    shown = [k for k, name in enumerate(names) if not narrow or name not in ("excess", "rate", "update / weights")]
    header = ["step", *(SHORT.get(names[k], names[k]) if narrow else names[k] for k in shown)]
    columns = [_column(names[k], seen.log.values[:, k]) for k in shown]
    rows = [[thousands(int(at)), *cells] for at, *cells in zip(steps, *columns, strict=True)]
    nearest = -1 if seen.step is None else int(np.argmin(np.abs(steps - seen.step)))
    colours = [sheet.theme.query if k == nearest else sheet.theme.ink for k in range(len(rows))]
    _table.table(panel, sheet.em, header, rows, theme=sheet.theme, align="r" * len(header), colours=colours,
                 widths=_spread(panel, sheet.em, [header, *rows]), line=LINE)  # fmt: skip
    return sheet.done()


def _caption(seen: TrainingLog) -> str:
    return (
        f"{len(seen.log.values)} of {seen.lines} logged lines, "
        f"{'those nearest to the ends of the passes' if seen.each else 'closer together where the loss fell'}. "
        "Losses in nats per "
        f"token on a fixed sample; excess is the {seen.whose} loss above {seen.least} on the same windows; right is "
        f"the share of {seen.right} whose arg-max answer is right; gradient is the length of the whole gradient of "
        "that step's batch (noisy), update / weights the length of that update as a share of the weights"
        f"{_epoch(seen)}. All else is as logged while training."
    )


def _epoch(seen: TrainingLog) -> str:
    if not np.isfinite(seen.passes):
        return ""
    if not seen.drawn:
        return "; an epoch is one pass over the training examples"
    return (
        "; windows are drawn at random, and an epoch is as many tokens as the training part has; perplexity is e to "
        f"the power of the {seen.whose} loss"
    )


def _spread(panel: Axes, em: float, rows: list[list[str]]) -> list[float]:
    """Columns that fill the page, each as much wider than its words as the others."""
    natural = [max(_draw.text_width(row[k], 72) for row in rows) for k in range(len(rows[0]))]
    room = _table.ems(panel, em)[0] - sum(natural) - 2.0 * (len(natural) - 1)
    return [width + (min(max(room, 0) / (len(natural) - 1), MOST) if k else 0) for k, width in enumerate(natural)]


def _column(name: str, values: np.ndarray) -> list[str]:
    """The texts of a column, all in one notation: powers of ten where plain numbers would have many zeros."""
    known = values[np.isfinite(values) & (values != 0)]
    powers = name in POWERS and len(known) > 0 and np.abs(known).min() < SMALL
    return [_cell(name, float(value), powers) for value in values]


def _cell(name: str, value: float, powers: bool) -> str:
    if not np.isfinite(value):
        return "–"
    if name == "right":
        return exactly(value)
    if name == "epoch":
        return f"{value:.1f}"
    if value == 0:
        return "0"
    return power(value, 2) if powers else _draw.number(value, 3 if abs(value) < 10 else 1)
