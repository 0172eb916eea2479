"""Commands in processes that cost little: one process loads everything and forks a child for each command.

A child may hang, take all memory or die of a signal. It has a time-out and a ceiling of memory, and what it took is
measured. `python tests/forking.py` is that process; `Server` starts it and talks to it. Only Linux has what this needs:
forks of a process with threads, limits that are heeded, and /proc.
"""

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple, Self

CEILING = 3 << 30  # bytes of address space that a child may take beyond what its parent has
SECONDS = 10.0  # that a command may take
HANGS = -99  # in place of the exit code
FIXTURES = Path(__file__).parent / "fixtures" / "v0.2.0"
WARMED = (
    ("check", FIXTURES / "runs/rule"), ("ask", FIXTURES / "runs/text"), ("list", "figures", FIXTURES / "runs/rule"),
    ("figures", FIXTURES / "runs/rule", "loss", "--format", "svg", "--out", "out"), ("claims", "S0-04"),
    ("report", FIXTURES / "runs/rule", "--steps", "2", "--out", "report.html"),
)  # fmt: skip
LOADED = ("jax", "optax", "PIL.GifImagePlugin")


AVAILABLE = sys.platform == "linux"


class Outcome(NamedTuple):
    """How a command ended."""

    code: int  # negative: the signal that ended it
    out: str
    err: str
    seconds: float  # of processor time, in the child and its own children
    wall: float
    peak: float  # MB

    @property
    def said(self) -> str:
        """All it printed."""
        return self.out + self.err


class Server:
    """The process that forks; `with Server() as server: server.call("check", "run", folder=...)`."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "GLASSFORMER_TRACEBACK": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def call(self, *words: str, folder: Path, seconds: float) -> Outcome:
        """The command of these words, typed in this folder."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([str(folder), words, seconds]), file=self._process.stdin, flush=True)
        return Outcome(*json.loads(self._process.stdout.readline()))


def serve() -> None:
    """Answer each line of the input with the outcome of a child."""
    _warm_up()
    for line in sys.stdin:
        folder, words, seconds = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.monotonic()
            child = os.fork() or _command(folder, words, out.fileno(), err.fileno())
            code, used = _wait(child, seconds)
            wall = time.monotonic() - began
            texts = [(file.seek(0), file.read(1 << 24).decode(errors="replace"))[1] for file in (out, err)]
        print(json.dumps([code, *texts, used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1000]), flush=True)


def _warm_up() -> None:
    """Load what commands need; JAX may be loaded but not used, as its threads do not survive a fork."""
    from command import call

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for words in WARMED:
            call(*words)
        for name in LOADED:
            __import__(name)
        os.chdir("/")
    gc.collect()
    gc.freeze()


def _command(folder: str, words: list[str], out: int, err: int) -> Any:
    """What the child does; it never returns."""
    import resource

    code: Any = 99
    try:
        os.setsid()  # so that its own children end with it
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0), os.dup2(out, 1), os.dup2(err, 2)
        most = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize() + CEILING
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(folder)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        sys.argv = ["glassformer", *words]
        if words[0] == "-c":
            code = _python(words[1])
        else:
            from glassformer.cli import main

            main()
            code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush(), sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def _python(source: str) -> int:
    """A program instead of a command."""
    from glassformer.errors import Error

    try:
        exec(source, {})  # noqa: S102
    except Error as problem:
        print(f"glassformer: {problem}", file=sys.stderr)
        return problem.exit_code
    return 0


def _wait(child: int, seconds: float) -> tuple[int, Any]:
    """The exit code of a child, and what it used; one that works for too long, or waits for ever, is killed.

    On a busy machine a child may have to wait for its turn; that is no fault of its own.
    """
    began, looked, before = time.monotonic(), 0.0, -1.0
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used
        passed = time.monotonic() - began
        if passed > seconds and passed > looked + 1:
            looked, now = passed, _processor_time(child)
            if now >= seconds or now == before or passed > 10 * seconds:
                break
            before = now
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    _, _, used = os.wait4(child, 0)
    return HANGS, used


def _processor_time(process: int) -> float:
    """Seconds that a process has worked."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    serve()
