"""The command line as a person meets it: what was typed, the exit code, and what came out on both sides."""

import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from glassformer.cli import main

HERE = Path(__file__).parent
TRAINS_LONG = {"XLA_FLAGS": "--xla_backend_optimization_level=1"}  # for what runs longer than it compiles
COMMAND = (sys.executable, "-c", "from glassformer.cli import main; main()")
QUICK = ("--set", "train.judged=50")  # few windows behind each logged number


class Answer(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on the output."""
        return json.loads(self.out)


def call(*words: object) -> Answer:
    """A command in this process, which spares it the loading of JAX."""
    out, err = StringIO(), StringIO()
    code: Any = 0
    heard, dropped = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}, sys.unraisablehook
    with mock.patch.object(sys, "argv", ["glassformer", *map(str, words)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
        finally:
            for number, handler in heard.items():
                signal.signal(number, handler)
            sys.unraisablehook = dropped
    return Answer(0 if code is None else code, out.getvalue(), err.getvalue())


def start(*words: object, folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        cwd=folder,
        env={**os.environ, **TRAINS_LONG, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def contents(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """The sha256 of every file of a run but its times, and run.json; pytest takes minutes to compare the bytes."""
    files = [each for each in path.rglob("*") if each.is_file() and each.name not in ("run.json", "times.jsonl")]
    found = {each.relative_to(path).as_posix(): sha256(each.read_bytes()).hexdigest() for each in files}
    about = json.loads((path / "run.json").read_bytes())
    return found, {name: value for name, value in about.items() if name not in ("times", "hardware")}
