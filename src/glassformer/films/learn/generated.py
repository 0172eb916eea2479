"""The same sequences, the same random numbers, written by an ever better model."""

from glassformer.analyses._pairs import shown
from glassformer.analyses._reel import Reel
from glassformer.analyses._verdicts import CODES
from glassformer.analyses.learn.generated import Generated
from glassformer.figures import _draw
from glassformer.films._film import Cells, Stage, Update


def caption(reel: Reel) -> str:  # noqa: ARG001
    """How to read the cells."""
    return (
        "Six sequences written by the model from the same first tokens and with the same random numbers at every step, "
        "at temperature 1; cells are coloured by verdict as in the figure of the same name. What changes from frame to "
        "frame is the model."
    )


def scene(stage: Stage, reel: Reel) -> Update:
    """Six sequences of up to 24 tokens, written anew at every step; each cell shows its verdict."""
    last: Generated = reel.still["last"]
    ax = stage.panels(1, 1, left=1.5, right=1.5, bottom=2.8, top=2.4)[0, 0]
    _draw.bare(ax)
    rows, columns = last.tokens.values.shape[2:]
    cells = Cells(stage, ax, rows, columns, [shown(word) for word in last.vocabulary])
    said = stage.text(ax, 0, 1.02, transform=ax.transAxes, va="bottom")
    stage.legend(["right", "wrong", "unconstrained", "not_in_view"], y=(stage.foot + 0.2) * stage.em / stage.inches[1])

    def update(seen: Generated) -> None:
        codes, ids = seen.verdicts.values[0, 0], seen.tokens.values[0, 0]
        cells.show(codes, ids)
        right, wrong, hidden = (int((codes == CODES[verdict]).sum()) for verdict in ("right", "wrong", "not_in_view"))
        told = f"{wrong} of {right + wrong} answers are wrong" if right + wrong else "there is no answer to check"
        out = f"; {hidden} more lie out of view and are not counted" if hidden else ""
        said.set_text(f"in these six sequences, {told}{out}")

    return update
