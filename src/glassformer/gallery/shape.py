"""How wide and how high a picture is, from the head of its file: a page that knows it does not jump while it loads."""

import re
from pathlib import Path

from glassformer.errors import DamagedError
from glassformer.storage import Folder

HEAD = 2_000  # bytes; both kinds say it at their beginning
PNG = b"\x89PNG\r\n\x1a\n"
VIEW = re.compile(rb'<svg[^>]*? viewBox="0 0 ([0-9.]+) ([0-9.]+)"')


def shape(path: Path) -> str:
    """The attributes of an image; empty where the file does not tell."""
    try:
        with Folder(path.parent).open(path.name) as file:
            head = file.read(HEAD)
    except (OSError, DamagedError):
        return ""
    if head.startswith(PNG):
        wide, high = (int.from_bytes(head[at : at + 4], "big") for at in (16, 20))
    elif found := VIEW.search(head):
        wide, high = (round(float(side)) for side in found.groups())
    else:
        return ""
    return f' width="{wide}" height="{high}"'
