"""A lesson, run from start to end before a teller."""

from typing import Any

from glassformer.teaching.items import Said
from glassformer.teaching.script import Script, shown_code
from glassformer.teaching.tellers import Plain, Record
from glassformer.teaching.telling import told_by


def run(script: Script, stage: Record | Plain) -> dict[str, Any]:
    """Run a lesson, cell by cell, and give the names it has defined."""
    inside: dict[str, Any] = {"__name__": f"glassformer.lessons.{script.name}", "__file__": str(script.path)}
    with told_by(stage):
        for number, cell in enumerate(script.cells):
            if cell.kind == "text":
                _read(cell.source, cell.title, stage, first=number == 1, name=script.title)
                continue
            if cell.kind == "code" and (computing := shown_code(cell.source)):
                stage.code(computing)
            placed = "\n" * (cell.line - 1) + cell.source  # so that a problem names the file's own line
            exec(compile(placed, str(script.path), "exec"), inside)  # noqa: S102  a file of this package, as an import
    return inside


def _read(source: str, title: str | None, stage: Record | Plain, first: bool, name: str) -> None:
    if title or first:
        stage.beat(title or name)
    rest = source.partition("\n")[2].strip() if title else source
    if rest:
        stage.tell(Said(rest))
