"""A lesson as a Jupyter notebook: its cells as they are written, not yet run."""

import ast
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from glassformer import storage
from glassformer.errors import CallError
from glassformer.teaching.script import Cell, Script
from glassformer.teaching.tellers import FOLDER
from glassformer.teaching.telling import SEED

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def write(script: Script, seed: int, out: Path | None) -> Path:
    """Write the notebook; jupytext would make the same cells of the lesson's own file."""
    path = out or FOLDER / f"{script.name}.ipynb"
    if path.suffix.lower() != ".ipynb":
        raise CallError(f"{path} does not end in .ipynb, as the name of a notebook does; choose another with --out")
    storage.make_folder(path.parent)
    storage.replace(path, (json.dumps(notebook(script, seed), ensure_ascii=False, indent=1) + "\n").encode())
    return path


def notebook(script: Script, seed: int = SEED) -> dict[str, Any]:
    """The notebook as JSON values, in Jupyter's format 4.5."""
    head, *cells = script.cells
    made = [_cell("markdown", _begin(script)), _cell("code", _imports(head, seed)), *map(_of, cells)]
    for number, cell in enumerate(made):
        cell["id"] = sha256(f"{script.name} {number}".encode()).hexdigest()[:12]
    about = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def _of(cell: Cell) -> dict[str, Any]:
    return _cell("markdown" if cell.kind == "text" else "code", cell.source)


def _cell(kind: str, source: str) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    return {"cell_type": kind, "id": "", "metadata": {}, "source": lines} | (
        {"execution_count": None, "outputs": []} if kind == "code" else {}
    )


def _begin(script: Script) -> str:
    aims = "\n".join(f"- {each}" for each in script.aims)
    before = f"\n\nBefore it: {', '.join(f'`{each}`' for each in script.before)}." if script.before else ""
    return f"# {script.title}\n\nAbout {script.minutes} minutes. Afterwards you can\n\n{aims}{before}"


def _imports(head: Cell, seed: int) -> str:
    """What the lesson imports; what it is about stands in the text above."""
    lines = head.source.splitlines()
    found = [node for node in ast.parse(head.source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    kept = ["\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in found]
    chosen = (
        ["from glassformer.teaching.tellers import InNotebook", f"InNotebook.seed = {seed}"] if seed != SEED else []
    )
    return "\n".join([*kept, *chosen])
