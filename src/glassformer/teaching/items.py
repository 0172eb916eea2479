"""What a lesson consists of, as plain values: text, pictures, questions, and where the page should look.

A lesson makes them one by one; a teller shows them in a terminal, gathers them for a page, or displays them in a
notebook.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from glassformer.run import Run


@dataclass(frozen=True)
class Said:
    """A text in Markdown, its numbers put in when it was made."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A figure under a name."""

    figure: "Figure" = field(repr=False)
    name: str
    caption: str

    @property
    def alt(self) -> str:
        """What it shows, in words."""
        drawn = getattr(self.figure, "glassformer", None)
        return str(drawn.words.alt) if drawn is not None else self.caption


@dataclass(frozen=True)
class Look:
    """Where the page should stand from here on, and what to look at there."""

    run: "Run" = field(repr=False)
    link: str  # as report.link writes it
    text: str

    @property
    def fields(self) -> dict[str, str]:
        """What the link says."""
        from glassformer.report.link import fields

        return fields(self.link)


@dataclass(frozen=True)
class Number:
    """A question whose answer is a number."""

    text: str
    answer: float
    tolerance: float
    because: str
    mistakes: tuple[tuple[float, str], ...] = ()  # a wrong answer, and the reason for which one comes to it
    unit: str = ""

    @property
    def shown(self) -> str:
        """The answer, as a person writes it."""
        digits = places(self.tolerance)
        near = round(self.answer, digits) if self.tolerance else self.answer
        whole = float(near).is_integer()
        number = f"{near:,.{0 if whole else digits}f}" if whole or digits else f"{near:,.6g}"
        return f"{number.replace('-', '−')} {self.unit}".rstrip()

    def reply(self, given: float) -> tuple[bool, str]:
        """Whether an answer is right, and what to say to it."""
        if abs(given - self.answer) <= self.tolerance * (1 + 1e-9):
            return True, self.because
        for value, reason in self.mistakes:
            if abs(given - value) <= max(self.tolerance, 1e-9):
                return False, reason
        return False, "Too large." if given > self.answer else "Too small."


@dataclass(frozen=True)
class Choice:
    """A question with several answers, one of them right; every wrong one has its reason."""

    text: str
    options: tuple[str, ...]
    answer: int
    because: str
    reasons: tuple[str, ...]  # one for each option; of the right one it is `because`

    @property
    def shown(self) -> str:
        """The right option."""
        return self.options[self.answer]

    def reply(self, given: int) -> tuple[bool, str]:
        """Whether an option is right, and what to say to it."""
        return given == self.answer, self.reasons[given]


@dataclass(frozen=True)
class Point:
    """A question that is answered by pointing at a cell of a table."""

    text: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]  # what stands in each cell; may be empty texts
    answer: tuple[int, int]
    because: str
    reasons: tuple[tuple[str, ...], ...]  # what to say to each cell

    @property
    def shown(self) -> str:
        """The right cell, by its row and its column."""
        row, column = self.answer
        return f"{self.rows[row]} → {self.columns[column]}"

    def reply(self, given: tuple[int, int]) -> tuple[bool, str]:
        """Whether a cell is the right one, and what to say to it."""
        return given == self.answer, self.reasons[given[0]][given[1]]


@dataclass(frozen=True)
class Discuss:
    """An open question: what to look for in an answer, and the experiment that would decide."""

    text: str
    look_for: str
    experiment: str


Item = Said | Picture | Look | Number | Choice | Point | Discuss
QUESTIONS = (Number, Choice, Point, Discuss)


@dataclass
class Beat:
    """One step of a lesson: a heading, the code that computed, and what it made."""

    title: str
    code: str = ""
    items: list[Item] = field(default_factory=list)


def places(tolerance: float) -> int:
    """How many digits behind the point an answer with this tolerance needs."""
    return 0 if tolerance <= 0 else next((k for k in range(12) if 10.0**-k <= tolerance * 2 * (1 + 1e-9)), 12)


def plain(item: Item) -> dict[str, Any]:
    """A question as JSON values, as the page and a worksheet want it."""
    kind = type(item).__name__.lower()
    if isinstance(item, Said | Picture | Look):
        raise TypeError(f"{kind} is no question")
    shown = {} if isinstance(item, Discuss) else {"shown": item.shown}
    return {"kind": kind, **vars(item), **shown}
