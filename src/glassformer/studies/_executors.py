"""Where the cells of a study are trained: in this process, in processes of this machine, or on a Dask cluster.

Each is an executor in the sense of `concurrent.futures`; a study takes any other as well.
"""

import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from typing import Any

from glassformer import own, stopping
from glassformer.errors import CallError, Error, MissingError
from glassformer.studies import _work

TRIES = 2  # of a cell whose process ended under it
PARTING = 30  # seconds a process may take to end when nobody needs it any more
WAIT = 15  # seconds for a scheduler to answer


class Here(Executor):
    """This very process, one cell after the other."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Do it now."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as problem:
            future.set_exception(problem)
        return future


class Processes(Executor):
    """Processes of this machine that share its cores; one that dies takes nobody else's work with it.

    JAX must not be forked, so they are spawned; each keeps to its share of the cores.
    """

    def __init__(self, workers: int, tell: _work.Progress) -> None:
        import multiprocessing

        self.context = multiprocessing.get_context("spawn")
        self.tell, self.cores = tell, max(1, cores() // workers)
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.children: dict[int, Any] = {}
        self.closing = False
        self.slots = [threading.Thread(target=self._slot, args=(k,), daemon=True) for k in range(workers)]
        for slot in self.slots:
            slot.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """To the next process that is free."""
        future: Future[Any] = Future()
        self.waiting.put((future, (fn, args, kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the processes finish what is waiting, or, with `cancel_futures`, stop them at once."""
        if cancel_futures:
            self.closing = True
            for child in list(self.children.values()):
                child.kill()
        for _ in self.slots:
            self.waiting.put(None)
        if wait:
            for slot in self.slots:
                slot.join()

    def _slot(self, number: int) -> None:
        """One process, and a new one where it died."""
        pipe = None
        while (item := self.waiting.get()) is not None:
            future, job = item
            if self.closing or not future.set_running_or_notify_cancel():
                continue
            for left in reversed(range(TRIES)):
                try:
                    pipe = pipe or self._start(number)
                    self._answer(pipe, job, future)
                except (EOFError, OSError):
                    pipe = None
                    if left == 0 or self.closing:
                        future.set_exception(Error("its process ended without an answer (out of memory?)"))
                        break
                else:
                    break
        if pipe is not None:
            pipe.close()  # the process sees this and ends
        if number in self.children:
            self.children[number].join(PARTING)

    def _start(self, number: int) -> Any:
        ours, theirs = self.context.Pipe()
        child = self.context.Process(target=serve, args=(theirs, self.cores, number, own.files()), daemon=True)
        with stopping.unheard():
            child.start()
        theirs.close()
        self.children[number] = child
        if self.closing:  # since a moment ago
            child.kill()
        return ours

    def _answer(self, pipe: Any, job: Any, future: "Future[Any]") -> None:
        pipe.send(job)
        while True:
            kind, value = pipe.recv()
            if kind == "progress":
                self.tell(value)
            elif kind == "done":
                return future.set_result(value)
            else:
                return future.set_exception(Error(value))


def serve(pipe: Any, share: int, number: int, files: Any = ()) -> None:
    """What a process of this machine does: one order after the other, until nobody asks any more."""
    import multiprocessing

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asked
    asked = multiprocessing.parent_process()
    assert asked is not None
    threading.Thread(target=_end_with, args=(asked,), daemon=True).start()
    _keep_to(share, number)
    with suppress(Error):  # each cell says what it lacks
        own.load_all(files)
    _work.tell = lambda message: pipe.send(("progress", message))
    with suppress(EOFError, OSError):
        while True:
            fn, args, kwargs = pipe.recv()
            try:
                answer = ("done", fn(*args, **kwargs))
            except BaseException as problem:  # a task of one's own may raise anything
                answer = ("failed", sentence(problem))
            pipe.send(answer)


def _end_with(asked: Any) -> None:
    """End at once when the process that asked is gone: there is nobody left to answer to."""
    asked.join()
    os._exit(1)


def _keep_to(share: int, number: int) -> None:
    """So many cores for JAX, and on systems that allow it always the same ones."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # the compiler's remarks on its own pace are not for readers
    import jax

    if hasattr(os, "sched_setaffinity"):
        mine = sorted(os.sched_getaffinity(0))[share * number : share * (number + 1)]
        if mine:
            os.sched_setaffinity(0, mine)
    jax.config.update("jax_num_cpu_devices", share)  # type: ignore[no-untyped-call]
    jax.devices()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sentence(problem: BaseException) -> str:
    """What went wrong, in a sentence."""
    told = problem if isinstance(problem, Error) else own.failure(problem)
    return str(told) if told else f"{type(problem).__name__}: {problem}"


@contextmanager
def dask(address: str, topic: str, tell: _work.Progress, notice: Callable[[str], None]) -> Iterator[Executor]:
    """The workers of a Dask cluster; one that dies has its cells trained again by another."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingError("--scheduler needs Dask; `pip install 'glassformer[cluster]'` brings it") from None
    try:
        client: Any = Client(address, timeout=WAIT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as problem:
        raise CallError(
            f"no Dask scheduler answers at {address} ({problem}); `dask scheduler` starts one and prints its address"
        ) from None
    try:
        if not client.scheduler_info()["workers"]:
            notice(f"the scheduler has no workers yet; `dask worker {address}` starts one")
        client.subscribe_topic(topic, lambda event: tell(event[1]))
        yield client.get_executor(pure=False)
    finally:
        with suppress(Exception):  # a scheduler that is gone cannot be told
            client.close(timeout=5)
