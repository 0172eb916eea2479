"""Which token wins where on the plane: entropy, winning regions, the embeddings and one input on them."""

import numpy as np

from glassformer.analyses import _applies, _decide, _judged, _land
from glassformer.analyses._land import Land, Regions, around, laid
from glassformer.analyses._options import Features, Member, Sequence, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Labelled, capital, numbers, percent, result
from glassformer.run import Run

ORDER = 40
ANSWERS = ("4.r07",)
COST = "c"
APPLIES = (_applies.parts, _applies.plane, _land.few_answers)
CLOSER = 0.8  # of the whole frame's width, beyond which a closer one shows no more
FINE = 200  # places along a side of the map of entropy
UNCLEAR = 0.1  # share of what is drawn that the title must tell of


@result
class LandscapeWinners(Land):
    """Who wins on the whole plane, and closer to where points begin and end."""

    entropy: Labelled  # (vertical, horizontal)
    edges: Labelled  # (neuron, quantity): a ReLU switches where horizontal · a + vertical · b + c = 0
    starts: Regions | None  # around all pairs, or after several blocks the ends of many; None: the whole is as close
    moves: Regions | None  # around this input
    pair_groups: tuple[str, ...]  # of each pair's token
    blocks: int

    @property
    def title(self) -> str:
        """Which tokens win where."""
        wins = [int(k) for k in np.flatnonzero(self.area.values)]
        winning = f"{self.some(wins)} {'wins' if len(wins) in (1, len(self.words)) else 'win'} somewhere"
        unclear = f", but none with half of the probability on {percent(self.undecided)} of it"
        moved = self._moved()
        return self.broken or (
            f"{capital(winning)} on this {self.flat}{unclear if self.undecided >= UNCLEAR else ''}"
            f"{f'; attention moves {moved}' if moved else ''}"
        )

    def _moved(self) -> str:
        """Where the last position with an answer begins and ends, if attention changes what it says."""
        if not self.judged or self.is_slice:
            return ""
        place = self.judged[-1]
        before, guess = int(self.under.values[0, place]), int(self.at_end.values[place].argmax())
        return (
            f"{self.name(place)} from {shown(self.words[before])} to {shown(self.words[guess])}"
            if before != guess
            else ""
        )


def landscape_winners(
    run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0, plane: Features = None
) -> LandscapeWinners:
    """The most probable token at each point of the plane, and how undecided the model is there."""
    found = laid(run, sequence=sequence, step=step, member=member, features=plane, shape=None)
    group, blocks = _decide.group_of(run.task), run.architecture.blocks
    # finer than the maps where that is quick: along a sharp border a coarse grid would show a row of dots
    places, chances = found.places, found.chances
    if found.ground.quick:
        places, chances = found.ground.map(found.fields["frame"], FINE)
    entropy = -(chances * np.log(np.maximum(chances, 1e-300))).sum(0)
    return LandscapeWinners(
        **found.fields,
        held_out=_judged.held_out(run),
        entropy=Labelled(np.round(entropy, 4), places, "nats"),
        edges=_edges(found.ground),
        starts=closer(found, ("embedded",) if blocks == 1 else ("held_out",)),
        moves=closer(found, ("begin", "end")),
        pair_groups=tuple(group[k] for k in found.every.ids for _ in range(found.every.context)),
        blocks=blocks,
    )


def closer(found: _land.Laid, names: tuple[str, ...]) -> Regions | None:
    """The same plane in a frame of the same shape around some of its points, if that is much closer.

    Large models, which cannot be asked quickly, keep the whole frame.
    """
    x0, x1, y0, y1 = found.fields["frame"]
    points = [found.fields["points"][name].values for name in names]
    box = around(points, 2 * _land.MARGIN, (x1 - x0) / (y1 - y0))
    if not found.ground.quick or box[1] - box[0] > CLOSER * (x1 - x0):
        return None
    return found.ground.regions(box)


def _edges(ground: _land.Ground) -> Labelled:
    """Where neurons switch; none where they do so along curves, or where the slice is bent."""
    a, flat = ground.run.architecture, ground.plane
    lines = np.zeros((0, 3))
    if a.feed_forward and a.activation == "relu" and a.norm == "none" and flat.lossless:
        matrix, bias = _decide.neuron_inputs(ground.model, a.blocks - 1)
        lines = np.column_stack([*(flat.basis.T @ matrix), flat.origin @ matrix + bias])
    return Labelled(lines, {"neuron": numbers(len(lines)), "quantity": ("horizontal", "vertical", "constant")})
