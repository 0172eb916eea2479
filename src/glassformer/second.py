"""A second process that shares the work: it is told what to do as lines of JSON, and answers in lines of JSON.

`Second("glassformer.gallery.making:begin", setup)` starts it; there, `begin(setup)` is called once and gives a function
from an order to its answers. `ask(order)` sends an order and yields the answers as they come.

It hears no Ctrl-C, which is for the first process, and ends at once with it, however that ends.

As long as there are two, each multiplies matrices with one thread: with more, they stand in each other's way, and small
products take ten times as long.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any

from threadpoolctl import threadpool_limits

from glassformer import own, stopping, streams
from glassformer.errors import Error

WORK = "from glassformer import second; second.work()"


class GoneError(Error):
    """The second process has ended before its work was done."""


class Second:
    """The other process, as seen from the first one; used as a context, it has ended when that is left."""

    def __init__(self, begin: str, setup: Any) -> None:
        with stopping.unheard():
            self.process = subprocess.Popen(
                [sys.executable, "-c", WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        self._tell([begin, setup, own.files()])

    def __enter__(self) -> "Second":
        self._limits = threadpool_limits(1, "blas")
        return self

    def ready(self) -> None:
        """Wait until it has begun, so that no order waits for its imports."""
        self._hear()

    def ask(self, order: Any) -> Iterator[Any]:
        """Send an order; its answers, one by one."""
        self._tell(order)
        while (answer := self._hear()) is not None:
            yield answer[0]

    def stop(self) -> None:
        """End it at once; whoever waits for an answer learns that it has gone."""
        self.process.kill()

    def __exit__(self, *_: object) -> None:
        for end in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what was still to be told to one that has gone
                if end:
                    end.close()
        self.process.wait()
        self._limits.restore_original_limits()

    def _tell(self, value: Any) -> None:
        assert self.process.stdin is not None
        try:
            print(json.dumps(value), file=self.process.stdin, flush=True)
        except OSError:
            raise GoneError("the second process has gone") from None

    def _hear(self) -> Any:
        assert self.process.stdout is not None
        if not (line := self.process.stdout.readline()):
            raise GoneError("the second process has gone")
        return json.loads(line)


def work() -> None:
    """What the second process does until nobody tells it anything more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    streams.cover()
    streams.reserve()
    orders: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(orders,), daemon=True).start()
    with suppress(BrokenPipeError):  # nobody is left to answer to
        _work(orders)


def _listen(orders: "SimpleQueue[str]") -> None:
    """Orders as they come; when nobody is left to give any, whatever is being done is done for nobody."""
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)


def _work(orders: "SimpleQueue[str]") -> None:
    name, setup, files = json.loads(orders.get())
    try:
        own.load_all(files)
    except Error:  # a file that has changed meanwhile: the first process does all of it
        return
    module, _, function = name.partition(":")
    do: Callable[[Any], Iterator[Any]] = getattr(import_module(module), function)(setup)
    threadpool_limits(1, "blas")
    streams.answer("null")
    while True:
        for answer in do(json.loads(orders.get())):
            streams.answer(json.dumps([answer]))
        streams.answer("null")
