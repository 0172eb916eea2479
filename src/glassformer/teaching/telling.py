"""The words of a lesson: what its script calls to say, show and ask.

They go to the teller of the moment: a terminal, a page that is being made, a notebook. A script that is run by itself
is told plainly, without a pause.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from glassformer.errors import Error
from glassformer.teaching import arithmetic
from glassformer.teaching.items import Choice, Discuss, Item, Look, Number, Picture, Point, Said

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from glassformer.run import Run

SEED = 18


class Teller(Protocol):
    """Whoever shows a lesson."""

    seed: int
    progress: bool  # whether trainings show how far they are

    def tell(self, item: Item) -> None:
        """Show one item."""


class ExpectationError(Error):
    """What a lesson says would happen did not."""


_tellers: list[Teller] = []


@contextmanager
def told_by(teller: Teller) -> Iterator[Teller]:
    """Until the end of the block, lessons are told by this one."""
    _tellers.append(teller)
    try:
        yield teller
    finally:
        _tellers.remove(teller)


def teller() -> Teller:
    """Who tells at the moment."""
    if not _tellers:
        from glassformer import notebook
        from glassformer.teaching.tellers import InNotebook, Plain

        _tellers.append(InNotebook() if notebook.kernel() is not None else Plain())
    return _tellers[-1]


def _tell(item: Item) -> None:
    """Hand an item to the teller, its negative numbers with a true minus sign."""
    words = {
        each.name: getattr(item, each.name) for each in fields(item) if each.name not in ("link", "name", "figure")
    }
    teller().tell(replace(item, **{name: _signed(each) for name, each in words.items()}))


def _signed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_signed(each) for each in value)
    return arithmetic.with_signs(value) if isinstance(value, str) else value


def say(text: str) -> None:
    """Say something in Markdown."""
    _tell(Said(text))


def show(figure: "Figure", name: str, caption: str = "") -> None:
    """Show a figure; `name` is that of its file, the caption says what to look at."""
    _tell(Picture(figure, name, caption))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Show a table; numbers are to be written as they shall be read."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([str(cell).replace("|", "\\|") for cell in line] for line in lines)
    say("\n".join(f"| {' | '.join(line)} |" for line in cells))


def work(expression: str, value: float, digits: int = 4, name: str = "") -> None:
    """Show arithmetic with its operands, `0.8 × 0.6 + 0.1 = 0.58`: what stands there is true to the last digit.

    The expression is computed anew from what is printed, and must come to `value`; see `arithmetic.equation`.
    """
    begin = f"{name} = " if name else ""
    _tell(Said(f"`{begin}{arithmetic.equation(expression, value, digits)}`"))


def lab(
    run: "Run", text: str, *, step: int | None = None, edits: Any = None, panels: Sequence[str] = (), **more: Any
) -> None:
    """Let the page stand somewhere: a run, a kept step, an input, edits, panels; `text` says what to look at there.

    Further fields are those of the page's link: input, mode, position, block, head, neuron, cell, temperature, train …
    """
    from glassformer.edits import written
    from glassformer.report import link

    if step is not None:
        run.weights(step)  # refuses a step that is not kept
    more.setdefault("run", run.name)
    run.tokens(more.get("input"))  # refuses what this model cannot look at
    made = link.link(step=step, edits=written(run.edited(edits).edits), panels=link.panels(panels), **more)
    _tell(Look(run, made, text))


def number(
    text: str, answer: float, because: str, *, tolerance: float = 0.0, mistakes: Mapping[float, str] | None = None,
    unit: str = "",
) -> None:  # fmt: skip
    """Ask for a number. `mistakes` are wrong answers that people come to, each with its reason."""
    wrong = tuple((float(value), reason) for value, reason in (mistakes or {}).items())
    asked = Number(text, float(answer), float(tolerance), because, wrong, unit)
    for value, _ in wrong:
        if abs(value - asked.answer) <= tolerance:
            raise ValueError(f"{value} is called a mistake, but it is the answer of {text!r}")
    _tell(asked)


def choice(text: str, answer: str, because: str, wrong: Mapping[str, str]) -> None:
    """Ask which of several answers is right; `wrong` gives the others, each with the reason why it is not.

    The order is drawn by the lesson's seed.
    """
    options = [answer, *wrong]
    order = chance(text).permutation(len(options)).tolist()
    reasons = {answer: because, **wrong}
    mixed = tuple(options[k] for k in order)
    _tell(Choice(text, mixed, mixed.index(answer), because, tuple(reasons[each] for each in mixed)))


def point(
    text: str, rows: Sequence[str], columns: Sequence[str], answer: tuple[int, int], because: str, *, otherwise: str,
    cells: Any = None, reasons: Mapping[tuple[int, int], str] | None = None,
) -> None:  # fmt: skip
    """Ask to point at a cell of a table. `reasons` are for cells that deserve one of their own, else `otherwise`."""
    special: dict[tuple[int, int], str] = {**(reasons or {}), (int(answer[0]), int(answer[1])): because}
    inside = tuple(
        tuple("" if cells is None else str(cells[r][c]) for c in range(len(columns))) for r in range(len(rows))
    )
    said = tuple(tuple(special.get((r, c), otherwise) for c in range(len(columns))) for r in range(len(rows)))
    row, column = (int(k) for k in answer)
    _tell(Point(text, tuple(rows), tuple(columns), inside, (row, column), because, said))


def discuss(text: str, look_for: str, experiment: str) -> None:
    """Ask an open question: what a good answer mentions, and the experiment that would decide."""
    _tell(Discuss(text, look_for, experiment))


def expect(happened: Any, sentence: str) -> None:
    """Hold the lesson to what it says; what did not happen ends it with a sentence."""
    if not bool(happened):
        raise ExpectationError(
            f"with seed {seed()} this did not happen: {sentence}; the lesson would tell what is not so. Another seed "
            "may do: --seed"
        )


def train(experiment: str, **options: Any) -> "Run":
    """Train as `gf.train` does, with the lesson's seed unless another is given; a run that is there is opened."""
    from glassformer import session

    return session.train(experiment, **{"seed": seed(), "progress": teller().progress, **options})


def seed() -> int:
    """The seed of the lesson: of its trainings, and of what its questions draw."""
    return teller().seed


def chance(what: str) -> "np.random.Generator":
    """A generator for one question: the same for the same seed and words, whatever was drawn before."""
    from hashlib import sha256

    import numpy as np

    return np.random.default_rng([seed(), *sha256(what.encode()).digest()[:8]])
