"""How unsure it is, and how rightly: entropy of the predictions and loss at a temperature, by step."""

from matplotlib.figure import Figure

from glassformer.analyses.path.entropy import Entropy
from glassformer.figures import _draw, _life, _uncertain
from glassformer.words import thousands


def draw(seen: Entropy, look: _draw.Look) -> Figure:
    """Output entropy between ln V and that of the truth, above the loss at the same temperature; with their spread."""
    sheet = look.sheet(seen, _caption(seen), "Two charts over training steps, entropy and loss", height=7, least=0)
    names = 14.0 if sheet.room[0] > _uncertain.NARROW else 8.5
    top, bottom = sheet.panels(2, 1, left=5.5, right=names + 2.2, bottom=5.2, top=1.5, gap=(0, 2))[:, 0]
    for panel, drawing in ((top, _uncertain.entropy), (bottom, _uncertain.loss)):
        _uncertain.life(panel, seen, sheet, "" if panel is top else "step")
        drawing(panel, seen, sheet, names)
        _life.plain_powers(panel.yaxis)
    if band := _uncertain.band(seen):
        sheet.note(f"bands: {band}")
    return sheet.done()


def _caption(seen: Entropy) -> str:
    at = f"T = {seen.temperature:.4g}"
    return (
        f"Top: entropy of the predicted distribution by training step, at {_uncertain.trained_at(seen)}"
        f"{'' if seen.as_trained else f', and at {at} (dash-dotted)'}, in nats; {_uncertain.means(seen)} The highest "
        f"possible value is ln {thousands(seen.tokens)} = {seen.highest:.3f}. {_uncertain.floor(seen)} Bottom: the "
        f"loss, −ln of the probability of the token that came, at {at}. Entropy says how sure the model is, loss how "
        "rightly. An entropy that falls while the loss does not would mean that it grows sure without reason."
    )
