"""Which predictions of a window count, in training as in judging."""

from typing import NamedTuple

from glassformer.architecture import Architecture


class Counted(NamedTuple):
    """Slices along a window: where the predictions that count are made, and what came there."""

    read: slice  # of positions
    came: slice  # of the tokens that follow them, and of whatever has one place for every prediction


def counted(architecture: Architecture, skip: int) -> Counted:
    """All after those that the task skips; or one, made at the position that is read, of the window's last token."""
    place = architecture.read_position
    if place is None:
        return Counted(slice(skip, None), slice(skip, None))
    return Counted(slice(place, place + 1), slice(-1, None))
