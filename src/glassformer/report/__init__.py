"""A run as one HTML file: the built page, and in it everything that the page shows."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from glassformer.report.payload import Inside, Progress, Wish
    from glassformer.run import Run


class Made(NamedTuple):
    """A report, and what it holds."""

    html: str
    runs: "list[Inside]"
    link: str


def page_of(run: "Run", link: str = "") -> str:
    """The whole HTML of a run's page; `link`, as `#v1&step=5000`, says where it opens."""
    return made([run], link=link).html


def made(
    runs: "Sequence[Run]", wish: "Wish | None" = None, link: str = "", progress: "Progress | None" = None
) -> Made:  # fmt: skip
    """The page with these runs in it; the first is shown when it opens, unless the link says another."""
    from glassformer.report import filling
    from glassformer.report.payload import Wish, payload

    page = filling.template()
    title = " · ".join(run.name for run in runs)
    inside, blocks = payload(runs, wish or Wish(), link, len(page.encode()), progress or (lambda done, many: None))
    return Made(filling.filled(page, title, blocks), inside, link)


def write(path: Path, html: str) -> bool:
    """Put a report under a name that is free, in one instant; False, and nothing done, where the name is taken."""
    from glassformer import storage

    storage.make_folder(path.parent)
    return storage.create(path, html.encode("utf-8"))
