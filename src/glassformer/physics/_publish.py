"""Everything a physics model leaves behind: figures, arrays, and the views on one page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from glassformer import catalogue, storage
from glassformer.errors import CallError, check_name
from glassformer.gallery.making import MOST_PAGES, Wish, stem
from glassformer.physics import _arrays, _page
from glassformer.physics._college import college
from glassformer.physics._facts import Facts, ends
from glassformer.physics._memory import memory_physicist
from glassformer.physics._memory_college import memory_college
from glassformer.physics._memory_school import memory_school
from glassformer.physics._physicist import physicist
from glassformer.physics._school import school
from glassformer.physics._tell import View
from glassformer.physics.models.boltzmann_memory import BoltzmannMemory, Memory, boltzmann_memory
from glassformer.physics.models.one_layer import Life, OneLayer, one_layer
from glassformer.physics.models.short_cut import short_cut

VIEWS: dict[int, Callable[[Facts], View]] = {1: school, 2: college, 3: physicist}
OF_MEMORY: dict[int, Callable[[Memory], View]] = {1: memory_school, 2: memory_college, 3: memory_physicist}
OF_EVERY = ("entropy", "sharpening", "phase", "temperature", "prediction_change")
OF_LIFE = (*OF_EVERY, "attention_profile")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Drawing:
    """One figure to draw: its file name, the figure's name, of what, and how."""

    file: str
    figure: str
    subject: Life | Memory
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """What was written, and the key numbers."""

    files: tuple[Path, ...]
    numbers: dict[str, Any]
    page: Path | None = None


def publish_layer(
    settings: OneLayer,
    memory: BoltzmannMemory,
    folder: Path,
    view: int | None,
    wish: Wish,
    progress: Progress,
) -> Published:
    """Live, draw, save and tell the one-layer model, with the memory model in its third view."""
    chosen = _views(view)
    facts = Facts(one_layer(settings), short_cut(settings), boltzmann_memory(memory))
    wanted = [
        Drawing(name, name, facts.life) for name in OF_LIFE if name != "attention_profile" or settings.context > 1
    ]
    wanted += [Drawing(f"thermodynamics_{k}", "thermodynamics", facts.life, {"view": k}) for k in VIEWS]
    wanted.append(Drawing("memory", "thermodynamics", facts.memory, {"view": 3}))
    far = facts.life.farthest_from_one
    if facts.life.nearest_one != far:
        hot = {"temperature": float(facts.life.temperatures[far])}
        wanted += [Drawing(f"{name}_published", name, facts.life, hot) for name in ("entropy", "phase")]
    views = [(number, VIEWS[number](facts)) for number in chosen]
    numbers = {"model": "one_layer", **facts.table(), "memory": memory_numbers(facts.memory)}
    title = "One layer learns one answer" if facts.learned else "One layer and one answer"
    made = _written(title, facts.life, views, wanted, numbers, folder, wish, progress)
    beside = _arrays.save(facts.memory, folder / "memory")
    return replace(made, files=(*made.files, *beside))


def publish_memory(
    settings: BoltzmannMemory,
    folder: Path,
    view: int | None,
    wish: Wish,
    progress: Progress,
) -> Published:
    """Live, draw, save and tell the memory model."""
    chosen = _views(view)
    seen = boltzmann_memory(settings)
    wanted = [Drawing(name, name, seen) for name in OF_EVERY]
    wanted += [Drawing(f"thermodynamics_{k}", "thermodynamics", seen, {"view": k}) for k in (1, 2)]
    wanted.append(Drawing("memory", "thermodynamics", seen, {"view": 3}))
    views = [(number, OF_MEMORY[number](seen)) for number in chosen]
    numbers = {"model": "boltzmann_memory", **memory_numbers(seen)}
    return _written("The Boltzmann memory", seen, views, wanted, numbers, folder, wish, progress)


def publish_figures(
    settings: OneLayer | BoltzmannMemory,
    names: Sequence[str],
    folder: Path,
    wish: Wish,
    progress: Progress,
) -> Published:
    """Live, and draw the figures named, as wished; no page and no arrays."""
    layer = isinstance(settings, OneLayer)
    model = "one_layer" if layer else "boltzmann_memory"
    there = (*(OF_LIFE if layer else OF_EVERY), "thermodynamics")
    options = {}
    for name in names:
        check_name(name, f"the figures of {model}", there)
        options[name] = catalogue.chosen(catalogue.entry("figures", name), wish.options)  # refused before it is drawn
    seen = one_layer(settings) if isinstance(settings, OneLayer) else boltzmann_memory(settings)
    storage.make_folder(folder)
    files: list[Path] = []
    for done, name in enumerate(names, 1):
        _drawn(Drawing(name, name, seen, options[name]), wish, folder, files)
        progress(done, len(names))
    return Published(tuple(files), {"model": model})


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


def _views(view: int | None) -> tuple[int, ...]:
    """The view asked for, or all of them."""
    if view is not None and view not in VIEWS:
        raise CallError(f"view = {view} is not there; it is 1 (school), 2 (college) or 3 (physicist)")
    return tuple(VIEWS) if view is None else (view,)


def _written(
    title: str,
    seen: Life | Memory,
    views: list[tuple[int, View]],
    wanted: list[Drawing],
    numbers: dict[str, Any],
    folder: Path,
    wish: Wish,
    progress: Progress,
) -> Published:
    storage.make_folder(folder)
    files, pictures = _arrays.save(seen, folder), {}
    for done, each in enumerate(wanted, 1):
        pictures[each.file] = _drawn(each, wish, folder, files)
        progress(done, len(wanted))
    page = folder / "index.html"
    storage.replace(page, _page.page(title, seen.settings, views, pictures, wish.theme).encode())
    return Published((*files, page), numbers, page)


def _drawn(each: Drawing, wish: Wish, folder: Path, files: list[Path]) -> list[_page.Picture]:
    """Draw one figure on all its pages, write them and their numbers, and keep what the page shows of it."""
    from glassformer import figures
    from glassformer.figures import _draw

    found: list[_page.Picture] = []
    page = pages = 0
    while page <= min(pages, MOST_PAGES - 1):
        look = {"size": wish.size, "theme": wish.theme} | ({"page": page} if page else {}) | dict(each.options)
        figure = getattr(figures, f"plot_{each.figure}")(each.subject, **look)
        name = stem(each.file, "", figure, wish)
        made = [_draw.save(figure, folder / f"{name}.{kind}") for kind in wish.formats]
        files += [*made, _draw.save_numbers(figure, folder / f"{name}.json", {"figure": each.figure})]
        drawn = _draw.of(figure)
        link = next((path.name for path in made if path.suffix != ".csv"), "")
        found.append(_page.Picture(_draw.data(figure, "svg"), link, drawn.words.alt, drawn.words.caption))
        pages = 0 if wish.size == "screen" or "page" in each.options else drawn.pages - 1
        page += 1
    return found
