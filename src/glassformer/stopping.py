"""Ctrl-C, and likewise SIGTERM, from the first instant of a command to its last: one sentence, no traceback.

While a command is loaded nothing has been done yet, so it ends at once (cli.py). Then Ctrl-C raises KeyboardInterrupt,
which app.py turns into the command's own sentence; a second one ends at once. Trainings and studies have an answer of
their own in between.
"""

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SHOW_CURSOR = b"\x1b[?25h"  # a bar may have hidden it
SOON = 0.02  # seconds
_asked: bool | None = None  # None: no command is at work
_hooks: list[Callable[[Any], object]] = []  # who is told of exceptions that nobody can catch


def working() -> None:
    """From now on the first Ctrl-C raises KeyboardInterrupt, and the second ends the process at once."""
    global _asked
    _asked = False
    _answer(interrupt)
    if sys.unraisablehook is not _dropped:
        _hooks.append(sys.unraisablehook)
        sys.unraisablehook = _dropped


def ending(code: int) -> None:
    """All is said: from now on Ctrl-C only cuts the tidying up short."""
    global _asked
    _asked = None
    _answer(lambda *_: _end(code))


def remember() -> None:
    """Somebody has asked to stop, and is answered elsewhere first: whatever would come after that heeds it."""
    global _asked
    _asked = True


def heed() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was asked for and has not been answered yet."""
    if _asked and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def by_hand() -> bool:
    """Whether a KeyboardInterrupt would be somebody's own: a command is at work, and nobody has pressed Ctrl-C."""
    return _asked is False


@contextmanager
def unheard() -> Iterator[None]:
    """Processes started in here never hear Ctrl-C, not even while they are loaded: it is for the one that asked."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by what is started
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _answer(how: object) -> None:
    if threading.current_thread() is not threading.main_thread():
        return  # called from a program that listens itself
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and background jobs wish it
            signal.signal(number, how)  # type: ignore[arg-type]


def _dropped(about: "sys.UnraisableHookArgs") -> None:
    """Python drops what is raised while it is tidying up, and would only print it: there, Ctrl-C is asked for again."""
    global _asked
    if about.exc_type is not KeyboardInterrupt:
        _hooks[-1](about)
        return
    _asked = False
    again = threading.Timer(SOON, _ask_again)  # not from in here, where it would be dropped, too
    again.daemon = True
    again.start()


def _ask_again() -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)  # wakes it, too, if it waits for something
    else:
        _thread.interrupt_main()


def interrupt(*_: object) -> None:
    global _asked
    if _asked:
        _end(1, "stopped at once")
    _asked = True
    raise KeyboardInterrupt


def _end(code: int, sentence: str = "") -> None:
    """Without tidying up; whatever was being written has no name yet."""
    try:
        if sentence:
            shown = SHOW_CURSOR if os.isatty(2) else b""
            os.write(2, shown + f"\nglassformer: {sentence}\n".encode())
    finally:
        os._exit(code)
