"""A lesson's questions as a sheet to print, and the key that answers them."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from glassformer import storage
from glassformer.errors import CallError
from glassformer.teaching import as_html, paper
from glassformer.teaching.items import Choice, Discuss, Item, Number, Point
from glassformer.teaching.running import run
from glassformer.teaching.script import Script
from glassformer.teaching.tellers import FOLDER, Record
from glassformer.words import shown

ROOM = '<div class="room"></div>'


def write(script: Script, seed: int, out: Path | None) -> Path:
    """Write the worksheet, and beside it the key; the same seed gives the same questions."""
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise CallError(f"{out} does not end in .html, and no browser would open it; choose another name with --out")
    path = out or FOLDER / f"{script.name}-worksheet.html"
    stage = Record(seed, progress=True)
    run(script, stage)
    storage.make_folder(path.parent)
    storage.replace(path, worksheet(script, stage.questions, seed).encode())
    storage.replace(key_beside(path), key(script, stage.questions, seed).encode())
    return path


def key_beside(path: Path) -> Path:
    """Where the key of a worksheet lies."""
    return path.with_name(f"{path.stem.removesuffix('-worksheet')}-key{path.suffix}")


def worksheet(script: Script, questions: Sequence[Item], seed: int) -> str:
    """The questions, with room for answers."""
    asked = "\n".join(f"<li>{_asked(each)}</li>" for each in questions)
    names = '<p class="names"><span>Name</span><span>Date</span></p>'
    return paper.sheet(
        f"Worksheet: {script.title}",
        f"<h1>{_text(script.title)}</h1>\n{_about('Worksheet', script, seed)}\n{names}\n"
        f'<ol class="questions">\n{asked}\n</ol>',
    )


def key(script: Script, questions: Sequence[Item], seed: int) -> str:
    """The same questions with their answers, why they are right, and what wrong ones come from."""
    told = "\n".join(f"<li>{_answered(each)}</li>" for each in questions)
    return paper.sheet(
        f"Key: {script.title}",
        f'<h1>{_text(script.title)}</h1>\n{_about("Answer key", script, seed)}\n<ol class="questions">\n{told}\n</ol>',
    )


def _about(what: str, script: Script, seed: int) -> str:
    return f'<p class="about">{what} of the lesson <code>{script.name}</code>, seed {seed}</p>'


def _asked(item: Item) -> str:
    if isinstance(item, Number):
        return f"{as_html.text(item.text)}{ROOM}" + (f"<p>{_text(item.unit)}</p>" if item.unit else "")
    if isinstance(item, Choice):
        options = "".join(f"<li>{as_html.line(each)}</li>" for each in item.options)
        return f'{as_html.text(item.text)}<ul class="box">{options}</ul>'
    if isinstance(item, Point):
        return as_html.text(item.text) + _grid(item, marked=False)
    assert isinstance(item, Discuss)
    return as_html.text(item.text) + 4 * ROOM


def _answered(item: Item) -> str:
    if isinstance(item, Discuss):
        told = f"<p><b>Look for:</b> {as_html.line(item.look_for)}</p>"
        told += f"<p><b>The experiment that would decide:</b> {as_html.line(item.experiment)}</p>"
        return f'{as_html.text(item.text)}<div class="answer">{told}</div>'
    assert isinstance(item, Number | Choice | Point)
    told = f"<p><b>{as_html.line(item.shown)}</b></p><p>{as_html.line(item.because)}</p>"
    wrong: Sequence[tuple[str, str]] = ()
    if isinstance(item, Number):
        wrong = [(f"{value:,g}", reason) for value, reason in item.mistakes]
    elif isinstance(item, Choice):
        pairs = zip(item.options, item.reasons, strict=True)
        wrong = [pair for k, pair in enumerate(pairs) if k != item.answer]
    else:
        told = _grid(item, marked=True) + told
    told += "".join(f"<dt>If they say: {as_html.line(each)}</dt><dd>{as_html.line(why)}</dd>" for each, why in wrong)
    told = told.replace("<dt>", "<dl><dt>", 1) + ("</dl>" if wrong else "")
    return f'{as_html.text(item.text)}<div class="answer">{told}</div>'


def _grid(item: Point, marked: bool) -> str:
    head = "".join(f'<th scope="col">{_text(each)}</th>' for each in item.columns)
    rows = []
    for r, (name, cells) in enumerate(zip(item.rows, item.cells, strict=True)):
        right = [' class="right"' if marked and (r, c) == item.answer else "" for c in range(len(cells))]
        inside = "".join(f"<td{mark}>{_text(cell)}</td>" for mark, cell in zip(right, cells, strict=True))
        rows.append(f'<tr><th scope="row">{_text(name)}</th>{inside}</tr>')
    return f'<div class="wide" tabindex="0"><table><tr><td></td>{head}</tr>{"".join(rows)}</table></div>'


def _text(text: str) -> str:
    return escape(shown(text))
