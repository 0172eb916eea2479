"""What is answered when it is wrong, changing while the model learns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glassformer.analyses import _judged
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Labelled, Result, thousands, result
from glassformer.analyses.learn.confusion import MOST_TOKENS, Confusion, confusion, say
from glassformer.figures import _draw
from glassformer.films import _film
from glassformer.films._film import Film, Pace, Stage, Update
from glassformer.run import Run

ANSWERS = ("1.P5",)


@result
class Table(Result):
    """The confusion of one step, over the same tokens in every frame."""

    share: Labelled  # (true, predicted)
    answered_as: Labelled | None  # (asked, answered_as)


@_film.film
def film_confusion(
    run: Run,
    *,
    member: int = 0,
    frames: int = 200,
    pace: Pace = "change",
    steps: Sequence[int] | None = None,
    theme: str = "light",
) -> Film:
    """True token down, likeliest token across, row by row; beside it which operation the answers fit, if there are."""
    first, last = int(run.steps[0]), int(run.steps[-1])
    several = sorted({first, int(run.steps[len(run.steps) // 4]), int(run.steps[len(run.steps) // 2]), last})
    whole = confusion(run, steps=several, member=member)
    words = whole.share.axes["predicted"].labels
    counted = zip(whole.share.axes["true"].labels, whole.count.values.sum(axis=(0, 2)), strict=True)
    asked = tuple(word for word, row in counted if row > 0)
    every = run.task.vocabulary[: run.architecture.answers]
    guessed = tuple(every) if len(every) <= MOST_TOKENS else words
    hits = [_right(confusion(run, steps=[step], member=member)) for step in (first, last)]

    def scene(stage: Stage) -> Update:
        both = whole.answered_as is not None
        longest = max(_draw.text_width(shown(word), stage.size.text) for word in guessed) / stage.em
        foot = 4.0 if longest < 2.5 else 3.2 + longest
        ax = stage.panels(1, 1, left=3.4 + longest, right=1.5 if both else 8, bottom=foot, top=2.2,
                          within=(0, 0, 0.56 if both else 0.86, 1))[0, 0]  # fmt: skip
        picture = _map(stage, ax, asked, guessed, "the token that came", "likeliest token of the model")
        same = ((k, guessed.index(word)) for k, word in enumerate(asked) if word in guessed)
        _draw.outline(ax, same, stage.theme.right, 0.6)
        for frame in ax.patches:
            frame.set_clip_on(False)
            stage.moving(frame)
        never = len(guessed) - len(asked)
        if never and guessed is not words:
            ax.set_title(f"{never} of {len(guessed)} tokens are never the answer and have no row")
        beside, second = ax, None
        if both and whole.answered_as is not None:
            kinds, fits = whole.answered_as.axes["asked"].labels, whole.answered_as.axes["answered_as"].labels
            beside = stage.panels(1, 1, left=7, right=8, bottom=foot, top=2.2, within=(0.56, 0, 1, 1))[0, 0]
            second = _map(stage, beside, kinds, fits, "operation asked", "operation that the answer fits")
        _draw.bar(stage, "probability", (0, 1), "share of the row", beside=beside)

        def update(step: int) -> Result:
            seen = confusion(run, steps=[step], member=member)
            table = _placed(seen, asked, guessed)
            picture.show(table)
            if second is not None and seen.answered_as is not None:
                second.show(seen.answered_as.values[0])
            return _result(seen, table, asked, guessed)

        return update

    rule = "answerable places" if whole.rule else "held-out answers"
    title = (
        f"Of {thousands(whole.counted)} {rule}, {_judged.exactly(hits[0])} lie on the diagonal at step "
        f"{thousands(first)} and {_judged.exactly(hits[1])} at step {thousands(last)}"
    )
    return Film(
        run, scene, title=say(whole).title if whole.lost else title, caption=say(whole).caption, steps=steps,
        frames=frames, pace=pace, theme=theme, member=member,
    )  # fmt: skip


def _map(
    stage: Stage, ax: _draw.Axes, rows: Sequence[str], columns: Sequence[str], down: str, across: str
) -> _film.Picture:
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    _draw.bare(ax)
    _draw.places(ax, rows, "y", name=down)
    _draw.places(ax, columns, "x", name=across)
    return stage.picture(ax, kind="probability")


def _placed(seen: Confusion, asked: Sequence[str], guessed: Sequence[str]) -> Array:
    """The shares of one step, in the rows and columns of the film."""
    table = np.zeros((len(asked), len(guessed)))
    rows, columns = seen.share.axes["true"].labels, seen.share.axes["predicted"].labels
    for row, true in enumerate(asked):
        for column, guess in enumerate(guessed):
            if true in rows and guess in columns:
                table[row, column] = seen.share.values[0, rows.index(true), columns.index(guess)]
    return table


def _result(seen: Confusion, table: Array, asked: tuple[str, ...], guessed: tuple[str, ...]) -> Table:
    fits = seen.answered_as
    return Table(
        step=seen.step,
        share=Labelled(table, {"true": asked, "predicted": guessed}, "share"),
        answered_as=None
        if fits is None
        else Labelled(fits.values[0], {axis: fits.axes[axis].labels for axis in ("asked", "answered_as")}, "share"),
    )


def _right(seen: Confusion) -> float:
    """Share of the answers on the diagonal, tokens that are not shown included."""
    return seen.matched if seen.counted else 0.0
