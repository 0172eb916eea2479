"""What is written to a terminal is shown there, never obeyed.

Names, texts and tokens come from anywhere: from a text somebody trains on, or from a folder somebody sent. `cover` puts
`words.shown` between every writer of this process and its terminal. Who means to steer the terminal (bars, colours)
writes to `real`, and sends foreign words through `words.shown` itself; all of them are in terminal.py.
"""

import os
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from glassformer.words import shown

TRACEBACK = "GLASSFORMER_TRACEBACK"  # set: what nobody foresaw is shown as Python shows it
_output: Any = None  # where `answer` writes while everybody else has the error output: a stream, or a descriptor
LIBRARIES = r"(glassformer|jax|matplotlib|numpy)(\.|$)"  # whose warnings are about lines of code that no user wrote


class Shown:
    """A stream of text, with `words.shown` before it. It has no `buffer`, for bytes would pass by."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """All of it; the length is that of the text as given."""
        self.stream.write(shown(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """One after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.stream, name)


def cover() -> None:
    """Cover the output and the error output of this process; one that was closed before it began leads nowhere."""
    global _output
    _output = _output if isinstance(_output, int) else None
    _fill()
    if not (os.environ.get(TRACEBACK) or sys.warnoptions):
        warnings.filterwarnings("ignore", module=LIBRARIES)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, Shown):
            continue
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows a question mark, not a traceback
        setattr(sys, name, Shown(stream))


def _fill() -> None:
    """Give the three numbers of a process's input and outputs to nothing, where they are free.

    Else the next file that is opened would get one of them, and what a library says there would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free


def reserve() -> None:
    """Keep the output for `answer`; all else that is written there, in C or by other processes, too, goes to stderr."""
    global _output
    if isinstance(_output, int):
        return  # for good: what a process says at its very end is no answer either
    _output, sys.stdout = sys.stdout, sys.stderr
    with suppress(AttributeError, OSError):  # not a file, but what a program has put in its place
        if _output.fileno() == 1:
            _output.flush()
            _output = os.dup(1)
            os.dup2(2, 1)


def answer(text: str) -> None:
    """Write a line to the output, also where it is kept for that."""
    if not isinstance(_output, int):
        print(text, file=_output or sys.stdout, flush=True)
        return
    left = f"{shown(text)}\n".encode(getattr(sys.__stdout__, "encoding", "utf-8"), "replace")
    while left:
        left = left[os.write(_output, left) :]


def real(stream: Any) -> Any:
    """The stream itself, for what is meant to steer the terminal."""
    while isinstance(stream, Shown):
        stream = stream.stream
    return stream
