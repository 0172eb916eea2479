"""Who shows a lesson: plain lines, a paced terminal, a notebook, or a record of everything for a page."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from glassformer.teaching.items import QUESTIONS, Beat, Choice, Discuss, Item, Look, Number, Picture, Point, Said
from glassformer.teaching.telling import SEED
from glassformer.words import pasted, shown

FOLDER = Path("lessons")


class Record:
    """Everything a lesson tells, kept: what a page, a worksheet and the tests are made of."""

    def __init__(self, seed: int = SEED, progress: bool = False) -> None:
        self.seed, self.progress = seed, progress
        self.beats: list[Beat] = []

    def beat(self, title: str) -> None:
        """A new step begins."""
        self.beats.append(Beat(title))

    def code(self, source: str) -> None:
        """What computes; several cells of a beat are one."""
        beat = self.beats[-1]
        beat.code = f"{beat.code}\n\n{source}".strip()

    def tell(self, item: Item) -> None:
        """Keep one item."""
        self.beats[-1].items.append(item)

    @property
    def items(self) -> list[Item]:
        """Everything told, in order."""
        return [item for beat in self.beats for item in beat.items]

    @property
    def questions(self) -> list[Item]:
        """Everything asked, in order."""
        return [item for item in self.items if isinstance(item, QUESTIONS)]


class Plain:
    """Plain lines, without a pause; pictures are saved and named. A question is followed by its answer."""

    def __init__(self, seed: int = SEED, folder: Path = FOLDER, *, progress: bool = True, code: bool = True) -> None:
        self.seed, self.folder, self.progress, self.with_code = seed, folder, progress, code
        self.pictures = 0

    def write(self, text: str) -> None:
        """A text in Markdown, as it is."""
        print(shown(text), end="\n\n", flush=True)

    def beat(self, title: str) -> None:
        """A heading."""
        self.write(f"## {title}")

    def code(self, source: str) -> None:
        """What computes, for those who want to read it."""
        if self.with_code:
            self.write(f"```python\n{source}\n```")

    def tell(self, item: Item) -> None:
        """Show one item."""
        if isinstance(item, Said):
            self.write(item.text)
        elif isinstance(item, Picture):
            path = self.saved(item)
            self.write(f"{item.caption or item.alt}\n\nPicture: {path}")
        elif isinstance(item, Look):
            self.write(f"**In the page:** {item.text}\n\n`{command(item)}`")
        else:
            self.ask(item)

    def saved(self, item: Picture) -> Path:
        """The picture as a file, under its number and name."""
        from glassformer.figures import _draw
        from glassformer.storage import make_folder

        self.pictures += 1
        make_folder(self.folder)
        return _draw.save(item.figure, self.folder / f"{self.pictures:02}-{item.name}.png")

    def ask(self, item: Item) -> None:
        """The question, and at once its answer."""
        self.write(f"**Question.** {question(item)}")
        self.write(answer(item))


class Paced(Plain):
    """A terminal: Markdown in colours, Enter between the beats, answers typed in."""

    ENTER = "Enter goes on · q ends "

    def __init__(self, *given: Any, read: Callable[[str], str] = input, **options: Any) -> None:
        super().__init__(*given, **options)
        from rich.console import Console

        from glassformer import streams

        self.console, self.read, self.begun = Console(file=streams.real(sys.stdout)), read, False

    def write(self, text: str) -> None:
        """A text in Markdown, with headings and tables as a terminal can draw them."""
        from rich.markdown import Markdown

        self.console.print(Markdown(shown(text), code_theme="ansi_light"))
        self.console.print()

    def beat(self, title: str) -> None:
        """A heading, once the reader has had enough of what came before."""
        if self.begun:
            self.pause()
        self.begun = True
        super().beat(title)

    def pause(self) -> None:
        """Wait for Enter."""
        if self._typed(self.ENTER) == "q":
            raise EndedError

    def ask(self, item: Item) -> None:
        """Ask until the answer is right, or Enter asks for it."""
        self.write(f"**Question.** {question(item)}")
        if isinstance(item, Discuss):
            self._typed("Think, or talk about it; Enter shows what to look for ")
            return self.write(answer(item))
        how = ", row and column" if isinstance(item, Point) and len(item.rows) > 1 else ""
        while typed := self._typed(f"Your answer{how} (Enter shows it) "):
            try:
                right, reply = item.reply(_understood(item, typed))  # type: ignore[union-attr]
            except ValueError as problem:
                self.write(str(problem))
                continue
            self.write(f"{'**Right.**' if right else '**Not quite.**'} {reply}")
            if right:
                return None
        return self.write(answer(item))

    def _typed(self, prompt: str) -> str:
        try:
            return self.read(prompt).strip()
        except EOFError:
            raise EndedError from None
        finally:
            self.console.print()


class EndedError(Exception):
    """The reader has had enough for today."""


class InNotebook:
    """A notebook: Markdown and figures under the cell; an answer is folded until it is wanted."""

    seed, progress = SEED, True

    def tell(self, item: Item) -> None:
        """Show one item."""
        from IPython.display import HTML, Markdown, display  # it is there: a kernel runs

        from glassformer import notebook

        if isinstance(item, Said):
            display(Markdown(item.text))
        elif isinstance(item, Picture):
            display(item.figure)
            display(Markdown(item.caption))
        elif isinstance(item, Look):
            display(Markdown(f"**In the page:** {item.text} (`{command(item)}`)"))
        else:
            display(Markdown(f"**Question.** {question(item)}"))
            display(HTML(notebook.details("the answer", notebook.text(answer(item)))))


def question(item: Item) -> str:
    """A question as Markdown, with all that can be chosen from."""
    if isinstance(item, Number):
        return f"{item.text} (a number{f', in {item.unit}' if item.unit else ''})"
    if isinstance(item, Choice):
        return "\n".join([item.text, "", *(f"{k}. {each}" for k, each in enumerate(item.options, 1))])
    if isinstance(item, Point):
        head = ["", *(f"{c}: {each}" for c, each in enumerate(item.columns, 1))]
        rows = [[f"{r}: {name}", *cells] for r, (name, cells) in enumerate(zip(item.rows, item.cells, strict=True), 1)]
        lines = [head, ["---"] * len(head), *rows]
        return "\n".join([item.text, "", *(f"| {' | '.join(_cell(each) for each in line)} |" for line in lines)])
    if isinstance(item, Discuss):
        return f"{item.text} *(to discuss)*"
    raise TypeError(f"{type(item).__name__} is no question")


def answer(item: Item) -> str:
    """The answer as Markdown, and its reason."""
    if isinstance(item, Discuss):
        return f"**Look for:** {item.look_for}\n\n**The experiment that would decide:** {item.experiment}"
    if isinstance(item, Number | Choice | Point):
        return f"**Answer: {_kept(item.shown)}.** {item.because}"
    raise TypeError(f"{type(item).__name__} is no question")


def command(item: Look) -> str:
    """What opens the page where a lesson wants it."""
    said = item.fields
    words = ["glassformer", "report", item.run.name]
    for name, option in (("step", "--step"), ("input", "--input"), ("edits", "--edit"), ("mode", "--mode")):
        for each in said[name].split("; ") if name == "edits" and name in said else [said.get(name, "")]:
            words += [option, each] if each else []
    return pasted(words)


def _understood(item: Item, typed: str) -> Any:
    """What was typed, as an answer of this kind."""
    if isinstance(item, Number):
        plain = (typed.removesuffix(item.unit) if item.unit else typed).replace("−", "-").replace(",", "")
        try:
            return float(plain)
        except ValueError:
            raise ValueError("That is not a number; write it as 12 or 0.35, or press Enter for the answer.") from None
    if isinstance(item, Choice):
        if typed.isdecimal() and 1 <= int(typed) <= len(item.options):
            return int(typed) - 1
        raise ValueError(f"Type the number of an answer, 1 to {len(item.options)}.")
    assert isinstance(item, Point)
    words = typed.replace(",", " ").split()
    sizes = (len(item.rows), len(item.columns))
    if sizes[0] == 1 and len(words) == 1:
        words = ["1", *words]  # where there is one row, its column is enough
    fine = len(words) == 2 and all(
        word.isdecimal() and 1 <= int(word) <= n for word, n in zip(words, sizes, strict=True)
    )
    if not fine:
        raise ValueError(f"Type the numbers of a row (1 to {sizes[0]}) and a column (1 to {sizes[1]}), such as 2 3.")
    return int(words[0]) - 1, int(words[1]) - 1


def _cell(text: str) -> str:
    return _kept(text).replace("|", "\\|")


def _kept(text: str) -> str:
    """A token such as <END> marked as code: Markdown takes it for HTML otherwise, and shows nothing."""
    return text if "`" in text else re.sub(r"<\w+>", r"`\g<0>`", text)
