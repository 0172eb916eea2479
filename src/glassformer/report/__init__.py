"""A run as one HTML file: the built page, and in it everything that the page shows."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from glassformer import storage
from glassformer.errors import CallError, DamagedError

if TYPE_CHECKING:
    from glassformer.report.payload import Inside, Progress, Wish
    from glassformer.run import Run

FOLDER, ENDING = Path("reports"), ".html"
LONGEST = 120  # characters of a file's name that tell of its runs


class Made(NamedTuple):
    """A report, and what it holds."""

    html: str
    runs: "list[Inside]"
    link: str
    asked: tuple[str, ...]  # analyses; a run to which one does not apply is without it


def page_of(run: "Run", link: str = "") -> str:
    """The whole HTML of a run's page; `link`, as `#v1&step=5000`, says where it opens."""
    return made([run], link=link).html


def made(
    runs: "Sequence[Run]", wish: "Wish | None" = None, link: str = "", progress: "Progress | None" = None, *,
    title: str = "", more: Mapping[str, bytes] | None = None,
) -> Made:  # fmt: skip
    """The page with these runs in it; it opens with the first, unless the link says another.

    Runs go in as they were trained: edits are for the link, where they can be switched off. `more` are further blocks
    of data by name: a lesson is one.
    """
    from glassformer.report import filling
    from glassformer.report.blocks import block
    from glassformer.report.payload import Wish, payload

    page, words, wish = filling.template(), filling.further(), wish or Wish()
    words += [block(name, data) for name, data in (more or {}).items()]
    runs = [run.unedited for run in runs]
    taken = len(page.encode()) + sum(map(len, words))
    inside, blocks = payload(runs, wish, link, taken, progress or (lambda *_: None))
    title = title or " · ".join(run.name for run in runs)
    return Made(filling.filled(page, title, [*words, *blocks]), inside, link, wish.analyses)


def check(out: Path | None) -> None:
    """Refuse a place at which no report can be."""
    if out is not None and out.suffix.lower() not in (ENDING, ".htm"):
        raise CallError(f"{out} does not end in {ENDING}, and no browser would open it; choose another name with --out")
    if out is not None and out.is_dir():
        raise CallError(f"{out} is a folder; name a file in it with --out")


def put(report: Made, out: Path | None = None, usual: Path | None = None) -> Path:
    """Write a report, and say where: under the name asked for, or under the first of the usual ones that is free.

    They are reports/RUN.html, reports/RUN-2.html and so on, unless `usual` is another one without its ending. Nothing
    is written over. The same report may be there already: the same run and version give the same bytes.
    """
    data = report.html.encode("utf-8")
    if out is not None:
        if not _there(out, data):
            raise CallError(f"{out} is there already and is not this report; remove it, or choose another name")
        return out
    names = "+".join(each.run.name for each in report.runs)
    if len(names) > LONGEST and len(report.runs) > 1:
        names = f"{report.runs[0].run.name}+{len(report.runs) - 1}"
    usual = usual or FOLDER / names
    free = (usual.with_name(f"{usual.name}{'' if k == 1 else f'-{k}'}{ENDING}") for k in count(1))
    return next(path for path in free if _there(path, data))


def _there(path: Path, data: bytes) -> bool:
    """Whether these bytes are under a name now; another file that is there stays as it is."""
    storage.make_folder(path.parent)
    if storage.create(path, data):
        return True
    try:
        return storage.Folder(path.parent).read(path.name, len(data)) == data
    except (OSError, DamagedError):  # larger, or not a file at all
        return False
