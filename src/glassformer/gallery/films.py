"""The films of a run on the page of its gallery: what moves, the command that makes it, and those already made."""

import html
import os
from collections.abc import Iterator
from pathlib import Path

from glassformer import catalogue
from glassformer.catalogue import Entry
from glassformer.gallery.shape import shape
from glassformer.run import Run
from glassformer.words import UNSHOWN, pasted

ODD = ("utf-8", "surrogateescape")  # names of files need not be text
FOLDER = Path("films")  # where `glassformer film` writes, in a folder for each run


def films(run: Run, section: str, out: Path) -> Iterator[str]:
    """Every film of a section that can be made of a run; where it lies beside the gallery, its poster leads to it."""
    here = [each for each in catalogue.entries("films") if each.section == section and not catalogue.why_not(each, run)]
    if here:
        yield '<h3>Films</h3>\n<dl class="absent">'
        for each in here:
            command = html.escape(pasted(["glassformer", "film", run.name, each.name]))
            told = f"{html.escape(each.title.rstrip('.'))}. <code>{command}</code>"
            yield f"<dt>{html.escape(each.name)}</dt><dd>{told}{_made(each, run, out)}</dd>"
        yield "</dl>"


def _made(each: Entry, run: Run, out: Path) -> str:
    """The poster of a film and links to its files, if it has been made."""
    for folder in (out, FOLDER / run.name):
        files = [path for kind in ("mp4", "gif") if (path := folder / f"{each.name}_film.{kind}").exists()]
        if files:
            links = [way(path, out) for path in files]
            told = " ".join(f'<a href="{link}">{path.suffix[1:]}</a>' for link, path in zip(links, files, strict=True))
            poster = folder / f"{each.name}_film.png"
            if not poster.exists():
                return f" Made: {told}"
            alt = f"The last frame of the film {each.name}"
            image = f'<img alt="{html.escape(alt)}"{shape(poster)} loading="lazy" src="{way(poster, out)}">'
            return f' Made: {told}\n<a class="sheet film" href="{links[0]}">{image}</a>'
    return ""


def way(path: Path, out: Path) -> str:
    """The address of a file in a page of the folder `out`."""
    return link(Path(os.path.relpath(path, out)).as_posix())


def link(name: str) -> str:
    """The name of a file beside a page as an address in it."""
    name = name.replace("%", "%25").replace("#", "%23").replace("?", "%3F")
    return html.escape(UNSHOWN.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode(*ODD)), name))
