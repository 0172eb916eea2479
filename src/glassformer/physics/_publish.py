"""Everything a physics model leaves behind: figures, arrays, and the views on one page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from glassformer import storage
from glassformer.errors import CallError
from glassformer.physics import _arrays, _page
from glassformer.physics._college import college
from glassformer.physics._facts import Facts, ends
from glassformer.physics._physicist import memory_view, physicist
from glassformer.physics._school import school
from glassformer.physics._tell import View
from glassformer.physics.models.boltzmann_memory import BoltzmannMemory, Memory, boltzmann_memory
from glassformer.physics.models.one_layer import Life, OneLayer, one_layer
from glassformer.physics.models.short_cut import short_cut

VIEWS: dict[int, Callable[[Facts], View]] = {1: school, 2: college, 3: physicist}
OF_LIFE = ("entropy", "sharpening", "phase", "temperature", "prediction_change", "attention_profile")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Drawing:
    """One figure to draw: its file name, the figure's name, of what, and how."""

    file: str
    figure: str
    subject: Life | Memory
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Published:
    """What was written, and the key numbers."""

    files: tuple[Path, ...]
    numbers: dict[str, Any]
    page: Path


def publish_layer(
    settings: OneLayer, memory: BoltzmannMemory, folder: Path, view: int | None = None, progress: Progress | None = None
) -> Published:
    """Live, draw, save and tell the one-layer model, with the memory model in its third view."""
    if view is not None and view not in VIEWS:
        raise CallError(f"view = {view} is not there; it is 1 (school), 2 (college) or 3 (physicist)")
    facts = Facts(one_layer(settings), short_cut(settings), boltzmann_memory(memory))
    wanted = [
        Drawing(name, name, facts.life, {}) for name in OF_LIFE if name != "attention_profile" or settings.context > 1
    ]
    wanted += [Drawing(f"thermodynamics_{k}", "thermodynamics", facts.life, {"view": k}) for k in VIEWS]
    wanted.append(Drawing("memory", "thermodynamics", facts.memory, {"view": 3}))
    views = [(number, tell(facts)) for number, tell in VIEWS.items() if view in (None, number)]
    numbers = {"model": "one_layer", **facts.table(), "memory": memory_numbers(facts.memory)}
    beside = _arrays.save(facts.memory, folder / "memory")
    title = "One layer learns one answer" if facts.learned else "One layer and one answer"
    made = _written(title, facts.life, views, wanted, numbers, folder, progress)
    return replace(made, files=(*made.files, *beside))


def publish_memory(
    settings: BoltzmannMemory, folder: Path, view: int | None = None, progress: Progress | None = None
) -> Published:
    """Live, draw, save and tell the memory model, which has a physicist's view only."""
    if view not in (None, 3):
        raise CallError(f"view = {view} is not there for boltzmann_memory; it has view 3 (physicist) only")
    seen = boltzmann_memory(settings)
    wanted = [Drawing("memory", "thermodynamics", seen, {"view": 3})]
    wanted += [
        Drawing(name, name, seen, {}) for name in ("entropy", "temperature", "phase", "prediction_change", "sharpening")
    ]
    numbers = {"model": "boltzmann_memory", **memory_numbers(seen)}
    return _written("The Boltzmann memory", seen, [(3, memory_view(seen))], wanted, numbers, folder, progress)


def memory_numbers(m: Memory) -> dict[str, Any]:
    """The memory model's key numbers."""
    k = m.nearest_one
    return {
        "temperature_nearest_one": m.temperatures[k],
        "entropy": ends(m.entropy[k]),
        "loss": ends(m.loss[k]),
        "mean_entropy": {"coldest": m.mean_entropy[0], "nearest_one": m.mean_entropy[k], "hottest": m.mean_entropy[-1]},
        "tape": m.tape[k].tolist(),
    }


def _written(
    title: str,
    seen: Life | Memory,
    views: list[tuple[int, View]],
    wanted: list[Drawing],
    numbers: dict[str, Any],
    folder: Path,
    progress: Progress | None,
) -> Published:
    storage.make_folder(folder)
    files, pictures = _arrays.save(seen, folder), {}
    for done, each in enumerate(wanted, 1):
        pictures[each.file] = _drawn(each, folder, files)
        if progress:
            progress(done, len(wanted))
    page = folder / "index.html"
    storage.replace(page, _page.page(title, seen.settings, views, pictures).encode())
    return Published((*files, page), numbers, page)


def _drawn(each: Drawing, folder: Path, files: list[Path]) -> _page.Picture:
    """Draw one figure, write its picture and its numbers, and keep what the page shows of it."""
    from glassformer import figures
    from glassformer.figures import _draw

    figure = getattr(figures, f"plot_{each.figure}")(each.subject, **each.options)
    picture, table = (_draw.save(figure, folder / f"{each.file}.{kind}") for kind in ("svg", "csv"))
    files += [picture, table, _draw.save_numbers(figure, folder / f"{each.file}.json", {"figure": each.figure})]
    words = _draw.of(figure).words
    return _page.Picture(picture.read_bytes(), picture.name, words.alt, words.caption)
