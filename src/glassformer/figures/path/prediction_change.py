"""How fast it changes its mind: the divergence of its predictions from those before, per step."""

import numpy as np
from matplotlib.figure import Figure

from glassformer.analyses.path.prediction_change import PredictionChange
from glassformer.figures import _draw, _uncertain
from glassformer.words import thousands

ROWS = 3  # of names of rungs above the panel


def draw(seen: PredictionChange, look: _draw.Look) -> Figure:
    """Divergence between the predictions at successive steps, per step, with the rungs of the ladder ticked."""
    sheet = look.sheet(seen, _caption(seen), "A chart of divergence over training steps", height=4.8, least=0)
    wide = sheet.room[0] > _uncertain.NARROW
    ticked = seen.ladder and wide
    panel = sheet.panels(1, 1, left=6.8, right=2.8, bottom=5.2, top=1 + 1.3 * ROWS if ticked else 1.6)[0, 0]
    _uncertain.life(panel, seen, sheet)
    _uncertain.change(panel, seen, sheet, wide)
    first = _first(seen)
    if first:
        height = float(seen.change["divergence"].values[0, 0])
        panel.plot([0, first], [height, height], color=sheet.theme.ink, linewidth=sheet.size.line, alpha=0.5)
    if ticked:
        _uncertain.crossings(panel, seen, sheet, ROWS)
    told = ["dotted: the loss passes a rung of the ladder"] if ticked else []
    told += [f"line: mean, band: {band}"] if (band := _uncertain.band(seen)) else []
    if told:
        sheet.note("; ".join(told))
    return sheet.done()


def _caption(seen: PredictionChange) -> str:
    inputs = (
        f"The inputs stay the same, so that all change comes through the weights; {_uncertain.means(seen)}"
        if seen.subject == "run"
        else "The input changes as well, since the model reads its own answers: the thick curve mixes both, the thin "
        "one is measured on the same window before and after each change of the weights."
        if "same_window" in seen.change
        else "The input changes as well, since the model reads its own draws."
    )
    return (
        "Divergence D(p‖q) = Σ p ln(p/q) of the predictions p at a step from those q at the one looked at before, "
        f"divided by the steps between them ({_apart(seen)}), in nats, on a logarithmic axis. "
        f"{'Pale: up to the first look only the mean is known. ' if _first(seen) else ''}{inputs} "
        f"{'Dotted: the step at which the loss reached a rung, where a name has room. ' if seen.ladder else ''}"
        "Rates found over different gaps are not to be compared: noise counts less over a long one. Converged means "
        "flat and low; a high plateau would mean that it keeps changing its mind."
    )


def _first(seen: PredictionChange) -> int:
    """The first look after the start of a run, up to which only the mean is known; 0 if that is one step."""
    steps = np.array(seen.change["divergence"].axes["step"].values, dtype=int)
    return int(steps[0]) if len(steps) and seen.subject == "run" and steps[0] > 1 else 0


def _apart(seen: PredictionChange) -> str:
    """How many steps lie between one look and the next."""
    gaps = np.diff(np.array(seen.change["divergence"].axes["step"].values, dtype=int))
    if not len(gaps):
        return "1"
    mean = thousands(round(float(gaps.mean())))
    return mean if np.ptp(gaps) == 0 else f"about {mean}"
