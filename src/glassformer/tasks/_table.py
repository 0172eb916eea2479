"""Tables as people write them: with or without names of columns, cells apart by one of several signs."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from glassformer.errors import CallError

NAMES = ("question", "answer", "group")
WORDS = {  # as people head the two columns, here and elsewhere
    "question": "question questions prompt input problem task frage fragen aufgabe aufgaben eingabe pregunta preguntas "
    "domanda domande pergunta vraag fråga spørgsmål pytanie вопрос 问题 質問",
    "answer": "answer answers response output target result solution antwort antworten ergebnis lösung ausgabe réponse "
    "reponse respuesta respuestas risposta risposte resposta antwoord svar odpowiedź ответ 答案 回答",
    "group": "group groups category kind gruppe kategorie groupe catégorie grupo categoría gruppo categoria groep",
}
MEANT = {word: name for name, words in WORDS.items() for word in words.split()}
SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|"}
SEEN = 50  # lines from which it is told what sets the cells apart
NUMBER = re.compile(r"[-+−]?\d+([.,]\d+)?")
MOST_NAMED = 8  # cells of a line that a sentence quotes


class Row(NamedTuple):
    """One line."""

    question: str
    answer: str
    group: str


@dataclass(frozen=True)
class Table:
    """The lines, and in words how they were read."""

    rows: list[Row]
    how: str


def read(text: str, file: str, grouped: bool) -> Table:
    """The lines of a table; what is wrong is one sentence with the file and the line."""
    sign = _sign(text)
    lines = list(_lines(text, sign, file))
    if not lines:
        raise CallError(f"{file} is empty; it needs a question and an answer on each line")
    columns, named = _columns([cells for _, cells in lines], file, grouped)
    wide = len(lines[0][1])
    rows = []
    for number, cells in lines[named:]:
        while len(cells) > wide and not cells[-1]:
            cells.pop()
        if len(cells) != wide:
            raise CallError(
                f"{file}, line {number}: {len(cells)} cells, where the first line has {wide} (apart by {SIGNS[sign]}); "
                "a cell that holds the sign itself needs quotes"
            )
        question, answer = cells[columns["question"]], cells[columns["answer"]]
        if not question or not answer:
            raise CallError(f"{file}, line {number}: a question and an answer are needed, one is empty")
        rows.append(Row(question, answer, cells[columns["group"]] if "group" in columns else ""))
    there = [name for name in NAMES if name in columns]
    places = ", ".join(f"{name} is column {columns[name] + 1}" for name in there)
    said = "named by the first line" if named else f"without names (the first question is {rows[0].question[:40]!r})"
    return Table(rows, f"cells apart by {SIGNS[sign]}, {said}: {places}")


def _sign(text: str) -> str:
    """What sets the cells apart: the sign that names both columns, or else that cuts most lines like the first."""

    def score(sign: str) -> tuple[int, float, int]:
        try:
            rows = [cells for _, cells in islice(_lines(text, sign, ""), SEEN)]
        except CallError:  # the sign that is taken in the end is asked again, and its fault said
            rows = []
        if not rows or len(rows[0]) < 2:
            return 0, 0.0, 0
        alike = sum(len(cells) == len(rows[0]) for cells in rows) / len(rows)
        return len({MEANT.get(cell.casefold()) for cell in rows[0]} & set(NAMES[:2])), alike, -len(rows[0])

    return max(SIGNS, key=score)


def _lines(text: str, sign: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Each line that is not blank: its number in the file, and its cells without the space around them."""
    reader = csv.reader(io.StringIO(text), delimiter=sign, strict=True, skipinitialspace=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            said = "a quotation mark is opened and never closed" if "end of data" in str(problem) else str(problem)
            raise CallError(f"{file}, line {number}: {said}") from None
        if any(cell.strip() for cell in cells):
            yield number, [cell.strip() for cell in cells]


def _columns(lines: list[list[str]], file: str, grouped: bool) -> tuple[dict[str, int], bool]:
    """Which column is what, and whether the first line says so."""
    first = lines[0]
    words = [cell.casefold() for cell in first]
    meant = [MEANT.get(word, word) for word in words]
    if [words.count(name) for name in NAMES[:2]] != [1, 1] == [meant.count(name) for name in NAMES[:2]]:
        words = meant  # one such word alone may as well be a question or an answer
    shown = ", ".join(repr(cell[:40]) for cell in first[:MOST_NAMED]) + (", …" if len(first) > MOST_NAMED else "")
    known = [name for name in NAMES if name in words]
    needed = NAMES if grouped else NAMES[:2]
    if not known and len(needed) <= len(first) <= len(NAMES):
        return dict(zip(NAMES, range(len(first)), strict=False)), _stands_out(lines)
    for name in needed:
        if words.count(name) != 1:
            raise CallError(
                f"{file} has {'no' if name not in words else 'more than one'} column {name!r}; its first line is "
                f"{shown}, and must name {' and '.join(needed)}, or there are only these columns in this order"
            )
    return {name: words.index(name) for name in known}, True


def _stands_out(lines: list[list[str]]) -> bool:
    """Whether the first line has a word for an answer and all others a number: then it names the columns."""
    numbers = [len(cells) > 1 and NUMBER.fullmatch(cells[1]) is not None for cells in lines]
    return len(numbers) > 1 and not numbers[0] and all(numbers[1:])
