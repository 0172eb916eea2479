"""The same sequences, the same random numbers, written by an ever better model."""

from collections.abc import Iterable

from glassformer.analyses import _clock
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Result
from glassformer.analyses.learn.generated import NOTHING, VERDICTS, generated, say
from glassformer.figures import _draw
from glassformer.films._film import Cells, Film, Pace, Stage, Update, film
from glassformer.run import Run

ANSWERS = ("4.04",)
TOLD = ("right", "wrong", "not in view")


def applies(run: Run) -> str | None:
    """Why there is nothing to show."""
    return None if run.task.answers == "next" else "this task has one answer, so nothing is written token by token"


@film
def film_generated(
    run: Run,
    *,
    member: int = 0,
    seed: int = 0,
    frames: int = 200,
    pace: Pace = "even",
    steps: Iterable[int] | None = None,
    theme: str = "light",
) -> Film:
    """Six sequences of up to 24 tokens, written anew at every step; each cell shows its verdict."""
    tokens = 24 if max(map(len, run.task.vocabulary)) <= 2 else 12

    def scene(stage: Stage) -> Update:
        ax = stage.panels(1, 1, left=1.5, right=1.5, bottom=2.8, top=2.4)[0, 0]
        _draw.bare(ax)
        rows = 6
        cells = Cells(stage, ax, rows, tokens, [shown(word) for word in (*run.task.vocabulary, NOTHING)])
        said = stage.text(ax, 0, 1.02, transform=ax.transAxes, va="bottom")
        stage.legend(
            ["right", "wrong", "unconstrained", "not_in_view"], y=(stage.foot + 0.2) * stage.em / stage.inches[1]
        )

        def update(step: int) -> Result:
            seen = generated(
                run, steps=[step], member=member, seed=seed, tokens=tokens, sequences=rows, choices=("sampled",)
            )
            codes, ids = seen.verdicts.values[0, 0], seen.tokens.values[0, 0]
            cells.show(codes, ids)
            right, wrong, hidden = (int((codes == VERDICTS.index(name)).sum()) for name in TOLD)
            told = f"{wrong} of {right + wrong} answers are wrong" if right + wrong else "there is no answer to check"
            out = f"; {hidden} more lie out of view and are not counted" if hidden else ""
            said.set_text(f"in these six sequences, {told}{out}")
            return seen

        return update

    whole = say(
        generated(run, member=member, seed=seed, choices=("sampled",), steps=[int(run.steps[0]), _clock.resolve(run)])
    )
    return Film(
        run,
        scene,
        title=whole.title,
        alt=whole.alt,
        steps=steps,
        frames=frames,
        pace=pace,
        theme=theme,
        member=member,
        caption="Six sequences written by the model from the same first tokens and with the same random numbers at "
        "every step, at temperature 1; cells are coloured by verdict as in the figure of the same name. What changes "
        "from frame to frame is the model.",
    )
