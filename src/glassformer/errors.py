"""What can go wrong, said in one sentence: what, where, and what to do."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from glassformer.words import shown

MOST_SHOWN = 200  # characters of a name that does not exist
MOST_NAMED = 100  # of those that exist, in one sentence


class Error(Exception):
    """A sentence for the person who called; `exit_code` is 2 when the call was wrong, 1 when the work failed."""

    exit_code = 1

    def __str__(self) -> str:
        return shown(super().__str__())  # Python prints it as it is, and it may hold a name from anywhere


class CallError(Error):
    """The call was wrong: a value that is not allowed, or two that do not go together."""

    exit_code = 2


class MissingError(Error):
    """Something was named that does not exist."""

    exit_code = 2


class AbsentError(MissingError):
    """A text of the world that is not on this machine."""


class LimitError(Error):
    """A number is beyond what Glassformer will try."""

    exit_code = 2


class DamagedError(Error):
    """A file on disk is not what was written there."""


class LockedError(Error):
    """Another process is writing here."""


class StorageError(Error):
    """The disk refused: what happened, what can be done about it, and how to go on then, which depends on who wrote."""

    def __init__(self, what: str, remedy: str = "", then: str = "{}, then run the same command again") -> None:
        self.what, self.remedy = what, remedy
        super().__init__(f"{what}; {then.format(remedy)}" if remedy else what)


class DivergedError(Error):
    """The loss is no longer a number."""


def unknown(name: str, where: str, known: Iterable[str]) -> MissingError:
    """Nothing has this name; the nearest one, and the list of those that exist."""
    known = sorted(known)
    name = name if len(name) <= MOST_SHOWN else f"{name[:MOST_SHOWN]}…"
    near = get_close_matches(name, known, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    more = f" and {len(known) - MOST_NAMED:,} others" if len(known) > MOST_NAMED else ""
    there = f"there are: {', '.join(known[:MOST_NAMED])}{more}" if known else "there are none"
    return MissingError(f"nothing called {name!r} in {where}{hint}; {there}")


def check_index(name: str, value: int, many: int) -> None:
    """Refuse a number that counts none of so many things, from 0 on."""
    if not 0 <= value < many:
        raise CallError(f"{name} = {value} is not between 0 and {many - 1}")


def check_name(name: object, where: str, known: Collection[str]) -> str:
    """The name, if it is one of those that exist; otherwise refused with the nearest one."""
    if name not in known:
        raise unknown(str(name), where, known)
    return str(name)
