"""What there is to choose from: every folder of pieces, each piece with its title, nothing imported."""

import ast
from importlib import resources
from pathlib import Path

KINDS = ("experiments", "tasks", "figures", "films", "studies", "lessons")


def kinds() -> list[str]:
    """The kinds of pieces this installation has."""
    return [kind for kind in KINDS if _folder(kind).is_dir()]


def pieces(kind: str) -> dict[str, str]:
    """Name → title. A title is the first sentence of the file; an experiment has that of its task."""
    if kind == "experiments":
        import tomllib

        titles = pieces("tasks")
        found = sorted(_folder(kind).glob("*.toml"))
        return {path.stem: titles[tomllib.loads(path.read_text("utf-8"))["task"]] for path in found}
    found = sorted(path for path in _folder(kind).glob("*.py") if not path.name.startswith("_"))
    return {path.stem: _title(path) for path in found}


def _title(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.strip().split("\n")[0]


def _folder(kind: str) -> Path:
    return Path(str(resources.files("glassformer"))) / kind
