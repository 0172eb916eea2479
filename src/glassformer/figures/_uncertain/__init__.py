"""The drawings of uncertainty, one for each diagnostic: `draw(ax, seen, sheet)` puts it into a panel.

`names` are the ems kept free at the right of a panel for direct labels; 0: a key inside it instead.
"""

from glassformer.figures._uncertain.fading import at_temperatures, memory, tape
from glassformer.figures._uncertain.heads import attention, attention_entropy
from glassformer.figures._uncertain.parts import NARROW, fitting, life
from glassformer.figures._uncertain.steps import change, crossings, entropy, gap, loss, sharpening
from glassformer.figures._uncertain.temperatures import (
    by_moments,
    by_rows,
    energies,
    heat,
    heat_map,
    loss_over_temperature,
    mean_entropy,
    spread,
)
from glassformer.figures._uncertain.walk import phase, plane, rung_points
from glassformer.figures._uncertain.words import band, floor, means, trained_at
