"""The reference of the public names, found by looking: Sphinx's autodoc fills in signatures, types and docstrings."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import glassformer as gf
from glassformer import catalogue
from glassformer.catalogue import Choice, Entry
from making.signatures import as_rst


def pages() -> dict[str, str]:
    """File name → reStructuredText, the index first."""
    parts = {"glassformer": "Train, open, run, trace", **{name: f"{name.capitalize()}" for name in folders()}}
    found = {f"{name}.rst": page(name, title) for name, title in parts.items()}
    found |= {f"{name}.rst": section(name) for name in catalogue.sections()}
    listed = [*parts, *catalogue.sections()]
    return {"index.rst": index(listed), **found}


def index(listed: list[str]) -> str:
    """What one imports, and where to read on."""
    inside = "\n".join(f"   {name}" for name in listed)
    return f"{heading('Reference of the Python names')}\n{as_rst(gf.__doc__ or '')}\n\n.. toctree::\n\n{inside}\n"


def folders() -> list[str]:
    """The public parts of the package that are no functions of runs: those are told section by section."""
    shown = {"analyses", "figures", "films"}
    return [name for name in dir(gf) if inspect.ismodule(getattr(gf, name)) and name not in shown] + ["edits"]


def page(name: str, title: str) -> str:
    """The public names of one module, those it makes itself."""
    if name == "glassformer":
        names = [each for each in dir(gf) if not inspect.ismodule(getattr(gf, each)) and each[0] != "_"]
        inside = "\n".join(documented(f"glassformer.{each}", getattr(gf, each)) for each in ordered(names))
        return f"{heading(title)}\n.. currentmodule:: glassformer\n\n{inside}"
    module = import_module(f"glassformer.{name}")
    said = as_rst(inspect.getdoc(module) or "")
    inside = "\n".join(documented(f"glassformer.{name}.{each}", getattr(module, each)) for each in public(module))
    return f"{heading(title)}\n{said}\n\n{inside}{listing(name)}"


def ordered(names: list[str]) -> list[str]:
    """Functions first, then classes."""
    return sorted(names, key=lambda each: (inspect.isclass(getattr(gf, each)), each))


def public(module: object) -> list[str]:
    """The names a module offers: those it lists, else the functions and classes it defines."""
    own = getattr(module, "__name__", "")
    names = getattr(module, "__all__", None) or [each for each in dir(module) if not each.startswith("_")]
    things = {each: getattr(module, each) for each in names}
    inside = own if hasattr(module, "__path__") else None
    return [
        name
        for name, thing in things.items()
        if (inspect.isfunction(thing) or inspect.isclass(thing))
        and (thing.__module__ == own or (inside and thing.__module__.startswith(f"{inside}.")))
    ]


def listing(name: str) -> str:
    """The pieces of a folder whose file name is their registration."""
    if name not in catalogue.kinds():
        return ""
    rows = [f"``{each}``\n    {as_rst(title)}" for each, title in catalogue.pieces(name).items()]
    return f"\n{heading(f'The {name}', '-')}\n" + "\n".join(rows) + "\n"


def section(name: str) -> str:
    """Analyses, figures and films of one section of the story."""
    told = catalogue.sections()[name]
    films = {each.name for each in catalogue.entries("films")}
    figures = {each.name for each in catalogue.entries("figures")}
    pieces = [each for each in catalogue.entries("analyses") if each.section == name]
    inside = "\n".join(piece(each, each.name in figures, each.name in films) for each in pieces)
    return f"{heading(told.title)}\n{as_rst(told.lead)}\n\n{inside}"


def piece(each: Entry, drawn: bool, filmed: bool) -> str:
    """One analysis, the figure and the film of it, and what can be asked of them."""
    lines = [heading(each.name, "-"), as_rst(each.title), ""]
    lines.append(f".. autofunction:: glassformer.analyses.{each.name}\n")
    if drawn:
        lines.append(f".. autofunction:: glassformer.figures.plot_{each.name}\n")
    if filmed:
        lines.append(f".. autofunction:: glassformer.films.film_{each.name}\n")
    asked = catalogue.entry("figures" if drawn else "analyses", each.name).options
    if asked:
        lines += ["Options:", "", *table(("option", "type", "default", "meaning"), map(option, asked))]
    lines += result(each)
    return "\n".join(lines)


def option(each: Choice) -> tuple[str, ...]:
    words = f"{each.help}; one of {', '.join(map(str, each.choices))}" if each.choices else each.help
    return f"`{each.name}`", each.type, f"`{each.default}`", words


def result(each: Entry) -> list[str]:
    """The class of what an analysis gives, with what the file says of each field."""
    asked = inspect.unwrap(getattr(gf.analyses, each.name))
    kind = get_type_hints(asked).get("return")
    if not inspect.isclass(kind):
        return []
    rows = list(fields(kind))
    lines = [f"It gives a ``{kind.__name__}``: {as_rst(inspect.getdoc(kind) or '')}", ""]
    return lines + (table(("field", "type", "what it holds"), rows) if rows else [])


def fields(kind: type) -> Iterator[tuple[str, ...]]:
    """The fields a class adds, with the comment behind each."""
    file = inspect.getsourcefile(kind)
    source = Path(str(file)).read_text("utf-8")
    lines = source.split("\n")
    found = next((n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == kind.__name__), None)
    for each in found.body if found else ():
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            _, _, comment = lines[(each.end_lineno or each.lineno) - 1][each.end_col_offset or 0 :].partition("# ")
            yield f"`{each.target.id}`", f"`{ast.unparse(each.annotation)}`", comment


def documented(name: str, thing: object) -> str:
    """What autodoc is to say of one name."""
    return f".. auto{'class' if inspect.isclass(thing) else 'function'}:: {name}\n"


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]] | list[tuple[str, ...]]) -> list[str]:
    """A table of short texts."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [head, *rows]:
        lines += [f"   {'*' if k == 0 else ' '} - {as_rst(cell) or ' '}" for k, cell in enumerate(row)]
    return [*lines, ""]


def heading(title: str, under: str = "=") -> str:
    return f"{title}\n{under * len(title)}\n"
