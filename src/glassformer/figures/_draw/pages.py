"""What of many things one page of a figure shows."""

from collections.abc import Sequence
from typing import TypeVar

from glassformer.errors import CallError

T = TypeVar("T")


def paged(every: Sequence[T], most: int, page: int) -> tuple[list[T], int]:
    """The things on this page (counted from 0) when one has room for `most`, and how many pages there are."""
    pages = max(1, -(-len(every) // most))
    if not 0 <= page < pages:
        raise CallError(f"page = {page} is not between 0 and {pages - 1}" if pages > 1 else f"page = {page} is not 0")
    return list(every[page * most :][:most]), pages
