"""One input across the landscape: its values and its arrows on the maps of the tokens that count."""

from glassformer.analyses import _applies, _land
from glassformer.analyses._land import Land, laid, most_telling
from glassformer.analyses._options import Features, Member, Sequence, Step
from glassformer.analyses._result import Labelled, capital, result
from glassformer.run import Run

ORDER = 50
ANSWERS = ("4.16", "4.17", "4.18", "4.r18")
COST = "c"
APPLIES = (_applies.attention, _applies.plane, _land.few_answers)
WIDE = 1.47  # width of the frame over its height


@result
class LandscapeInput(Land):
    """Where one input begins and ends, what its positions offer, and the map of each token."""

    probabilities: Labelled  # (token, vertical, horizontal)
    shown_tokens: tuple[int, ...]  # ids on the token axis

    @property
    def title(self) -> str:
        """Where the input's points end."""
        return self.broken or capital(self.ends) + (" (maps: a slice)" if self.is_slice else "")


def landscape_input(
    run: Run, *, sequence: Sequence = None, step: Step = -1, member: Member = 0, plane: Features = None
) -> LandscapeInput:
    """The probability of each token over the plane, and one input before and after the last attention on it."""
    found = laid(
        run, sequence=sequence, step=step, member=member, features=plane, shape=WIDE, grid=_land.GRID, borders="none"
    )
    kept, words = most_telling(found.chances), found.fields["words"]
    axes = {"token": [words[k] for k in kept]} | found.places
    return LandscapeInput(
        **found.fields,
        probabilities=Labelled(_land.coarse(found.chances[list(kept)]), axes, "probability"),
        shown_tokens=kept,
    )
