"""What is answered when it is wrong, changing while the model learns."""

from glassformer.analyses._pairs import shown
from glassformer.analyses._reel import Reel
from glassformer.analyses._result import Axis
from glassformer.analyses.learn.confusion import Confusion, Table
from glassformer.figures import _draw
from glassformer.figures.learn.confusion import caption as how
from glassformer.films._film import Picture, Stage, Update


def caption(reel: Reel) -> str:
    """How to read the matrices."""
    return how(reel.still["whole"])


def scene(stage: Stage, reel: Reel) -> Update:
    """True token down, likeliest token across, row by row; beside it which operation the answers fit, if there are."""
    whole: Confusion = reel.still["whole"]
    last: Table = reel.still["last"]
    asked, guessed, fits = last.share.axes["token"], last.share.axes["answer"], last.answered_as
    longest = max(_draw.text_width(shown(word), stage.size.text) for word in guessed.labels) / stage.em
    foot = 4.0 if longest < 2.5 else 3.2 + longest
    ax = stage.panels(1, 1, left=3.4 + longest, right=8 if fits is None else 1.5, bottom=foot, top=2.2,
                      within=(0, 0, 0.86 if fits is None else 0.56, 1))[0, 0]  # fmt: skip
    picture = _map(stage, ax, asked, guessed, "the token that came", "likeliest token of the model")
    same = ((k, guessed.values.index(word)) for k, word in enumerate(asked.values) if word in guessed.values)
    _draw.outline(ax, same, stage.theme.right, 0.6)
    for frame in ax.patches:
        frame.set_clip_on(False)
        stage.moving(frame)
    never = len(guessed) - len(asked)
    if never and len(guessed) == whole.unused + whole.left_out + len(whole.share.axes["answer"]):  # all there are
        ax.set_title(f"{never} of {len(guessed)} tokens are never the answer and have no row")
    beside, second = ax, None
    if fits is not None:
        beside = stage.panels(1, 1, left=7, right=8, bottom=foot, top=2.2, within=(0.56, 0, 1, 1))[0, 0]
        second = _map(stage, beside, fits.axes["kind"], fits.axes["other_kind"], "operation asked",
                      "operation that the answer fits")  # fmt: skip
    _draw.bar(stage, "probability", (0, 1), "share of the row", beside=beside)

    def update(seen: Table) -> None:
        picture.show(seen.share.values)
        if second is not None and seen.answered_as is not None:
            second.show(seen.answered_as.values)

    return update


def _map(stage: Stage, ax: _draw.Axes, rows: Axis, columns: Axis, down: str, across: str) -> Picture:
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    _draw.bare(ax)
    _draw.places(ax, rows, "y", name=down)
    _draw.places(ax, columns, "x", name=across)
    return stage.picture(ax, kind="probability")
