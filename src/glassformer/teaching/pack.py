"""The teacher's pack: every lesson as a page, a worksheet with its key, and a plan for 45 minutes, in one zip."""

import io
import sys
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from glassformer import storage, terminal
from glassformer.errors import CallError, MissingError
from glassformer.teaching import as_html, page, paper
from glassformer.teaching.items import Discuss
from glassformer.teaching.running import run
from glassformer.teaching.script import Script
from glassformer.teaching.tellers import Record, answer, question
from glassformer.teaching.worksheet import key, worksheet
from glassformer.words import shown

WHEN = (1980, 1, 1, 0, 0, 0)  # the same lessons give the same bytes
LESSON = 45  # minutes


def write(scripts: Sequence[Script], seed: int, out: Path) -> Path:
    """Write the pack. A lesson whose data are not on this machine is left out, and that is said."""
    if out.suffix.lower() != ".zip":
        raise CallError(f"{out} does not end in .zip, as the name of a pack does; choose another with --pack")
    if out.is_dir():
        raise CallError(f"{out} is a folder; name a file in it with --pack")
    inside: list[Script] = []
    told = io.BytesIO()
    with zipfile.ZipFile(told, "w", zipfile.ZIP_DEFLATED) as pack, terminal.counting("lessons") as progress:
        for number, script in enumerate(scripts):
            progress(number, len(scripts))
            try:
                files = list(_files(script, seed))
            except MissingError as problem:
                print(f"notice: {script.name} is left out: {problem}", file=sys.stderr)
                continue
            inside.append(script)
            for name, text in files:
                _put(pack, name, text)
        progress(len(scripts), len(scripts))
        if not inside:
            raise MissingError("no lesson could be made, so there is no pack; the notices above say what is missing")
        _put(pack, "index.html", _index(inside, seed))
    storage.make_folder(out.parent)
    storage.replace(out, told.getvalue())
    return out


def _files(script: Script, seed: int) -> Iterator[tuple[str, str]]:
    """The files of one lesson."""
    stage = Record(seed)
    run(script, stage)
    yield f"lessons/{script.name}.html", page.of(script, stage).html
    yield f"worksheets/{script.name}.html", worksheet(script, stage.questions, seed)
    yield f"keys/{script.name}.html", key(script, stage.questions, seed)
    yield f"plans/{script.name}.html", plan(script, stage)


def plan(script: Script, stage: Record) -> str:
    """What to do in 45 minutes, what to expect, and how to see whether it was understood."""
    begin, rows = 0, []
    for minutes, what in script.plan:
        rows.append(f"<tr><th>{begin}–{begin + minutes}</th><td>{as_html.line(what)}</td></tr>")
        begin += minutes
    aims = "".join(f"<li>{as_html.line(each)}</li>" for each in script.aims)
    believed = "".join(
        f"<dt>{as_html.line(belief)}</dt><dd>{as_html.line(shows)}</dd>" for belief, shows in script.misconceptions
    )
    asked = [each for each in stage.questions if not isinstance(each, Discuss)]
    leave = (
        f"<h2>Exit question</h2>{as_html.text(question(asked[-1]))}{as_html.text(answer(asked[-1]))}" if asked else ""
    )
    before = (
        f"<p>Before it: {', '.join(f'<code>{each}</code>' for each in script.before)}.</p>" if script.before else ""
    )
    return paper.sheet(
        f"Plan: {script.title}",
        f'<h1>{escape(shown(script.title))}</h1><p class="about">A plan for {LESSON} minutes; alone, the lesson takes '
        f"about {script.minutes}</p><h2>Afterwards they can</h2><ul>{aims}</ul>{before}"
        f"<h2>Minute by minute</h2><table>{''.join(rows)}</table>"
        f"<h2>What to expect</h2><dl>{believed}</dl>{leave}",
    )


def _index(scripts: Sequence[Script], seed: int) -> str:
    rows = []
    for number, script in enumerate(scripts, 1):
        links = (("lessons", "lesson"), ("worksheets", "worksheet"), ("keys", "key"), ("plans", "plan"))
        inside = " · ".join(f'<a href="{folder}/{script.name}.html">{word}</a>' for folder, word in links)
        rows.append(
            f"<tr><th>{number}</th><td>{escape(script.title)}</td><td>{script.minutes} min</td><td>{inside}</td></tr>"
        )
    about = (
        f"{len(scripts)} lessons, seed {seed}. Every file opens in a browser without a network; worksheets, keys and "
        "plans are made to be printed. Keys are for the teacher: take their folder out before handing on the rest."
    )
    listed = f'<div class="wide" tabindex="0"><table>{"".join(rows)}</table></div>'
    title = "Lessons on tiny transformers"
    return paper.sheet(title, f'<h1>{title}</h1><p class="about">{about}</p>{listed}')


def _put(pack: zipfile.ZipFile, name: str, text: str) -> None:
    about = zipfile.ZipInfo(name, WHEN)
    about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    pack.writestr(about, text.encode())
