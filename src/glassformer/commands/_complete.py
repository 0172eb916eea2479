"""What the shell offers when Tab is pressed. It is waited for, so no run is opened and nothing large imported."""

import os
from collections.abc import Callable, Iterable
from importlib import resources

MOST = 200  # names that are offered


def runs(incomplete: str) -> list[str]:
    """The runs in runs/."""
    return _fitting(incomplete, _names("runs", "run.json"))


def experiments(incomplete: str) -> list[str]:
    """The ready-made experiments, and TOML files that lie here."""
    ready = resources.files("glassformer") / "experiments"
    made = [each.name.removesuffix(".toml") for each in ready.iterdir() if each.name.endswith(".toml")]
    return _fitting(incomplete, [*made, *_files(".toml"), *_files(".py")])


def pieces(kind: str) -> Callable[[str], list[str]]:
    """Runs, and the pieces of a folder of the package: for `[RUN] [NAME ...]`."""

    def offered(incomplete: str) -> list[str]:
        return _fitting(incomplete, [*_names("runs", "run.json"), *_pieces(kind)])

    return offered


def analyses(incomplete: str) -> list[str]:
    """The analyses."""
    return _fitting(incomplete, _pieces("analyses"))


def lessons(incomplete: str) -> list[str]:
    """The lessons of the course."""
    return _fitting(incomplete, _pieces("lessons"))


def studies(incomplete: str) -> list[str]:
    """The studies."""
    return _fitting(incomplete, _pieces("studies"))


def claims(incomplete: str) -> list[str]:
    """The sources and their claims."""
    from glassformer import catalogue

    known = list(catalogue.pieces("claims"))
    return _fitting(incomplete, [*dict.fromkeys(id.partition("-")[0] for id in known), *known])


def _pieces(kind: str) -> list[str]:
    from importlib import import_module

    from glassformer import _discover

    return _discover.names(import_module(f"glassformer.{kind}"))


def _names(root: str, holds: str) -> list[str]:
    try:
        with os.scandir(root) as inside:
            return [each.name for each in inside if os.path.isfile(os.path.join(each.path, holds))]
    except OSError:
        return []


def _files(ending: str) -> list[str]:
    try:
        return [name for name in os.listdir(".") if name.endswith(ending)]
    except OSError:
        return []


def _fitting(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete) and name.isprintable())[:MOST]
