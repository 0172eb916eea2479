"""Many figures, drawn in two processes: each takes the next one when it is free."""

import json
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock, Thread

from glassformer import storage
from glassformer.gallery.making import Made, Wish, make
from glassformer.gallery.pieces import SECONDS, Piece, Subject, opened, piece

Progress = Callable[[int, int, str], None]  # drawn, in all, which


def draw(
    subject: Subject,
    pieces: Sequence[Piece],
    wish: Wish,
    out: Path,
    progress: Progress | None = None,
    processes: int = 2,
) -> list[Made]:
    """Draw these figures, in order; two processes share the work."""
    storage.make_folder(out)
    left = deque(sorted(pieces, key=lambda each: -SECONDS.get(each.cost, 1)))  # the long ones first
    many, found, lock = len(left), dict[str, list[Made]](), Lock()

    def take() -> Piece | None:
        with lock:
            return left.popleft() if left else None

    def keep(each: Piece, made: list[Made]) -> None:
        with lock:
            found[each.name] = made
            if progress:
                progress(len(found), many, each.name)

    helper = None
    if subject is not None and processes > 1 and sum(SECONDS.get(each.cost, 1) for each in pieces) > 3:
        helper = Thread(target=_help, args=(subject.path, wish, out, take, keep), daemon=True)
        helper.start()
    while each := take():
        keep(each, make(each, subject, wish, out))
    if helper:
        helper.join()
    lost = [each for each in pieces if each.name not in found]  # the other process died with them
    for each in lost:
        keep(each, make(each, subject, wish, out))
    return [made for each in pieces for made in found[each.name]]


def _help(
    path: Path,
    wish: Wish,
    out: Path,
    take: Callable[[], Piece | None],
    keep: Callable[[Piece, list[Made]], None],
) -> None:
    """Feed a second process, one figure at a time."""
    order = "from glassformer import gallery; gallery.work()"
    other = subprocess.Popen(
        [sys.executable, "-c", order], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert other.stdin is not None
    assert other.stdout is not None
    try:
        with other.stdin as orders, other.stdout as answers:
            print(json.dumps([str(path.resolve()), asdict(wish), str(out.resolve())]), file=orders, flush=True)
            if not answers.readline():  # it says when it is ready, so that nothing waits for its imports
                return
            while each := take():
                print(each.name, file=orders, flush=True)
                if not (answer := answers.readline()):
                    return
                keep(each, [Made(**made) for made in json.loads(answer)])
    except (BrokenPipeError, OSError):
        return
    finally:
        other.wait()


def work() -> None:
    """What the second process does: draw the figures it is told to."""
    from glassformer.figures import _draw  # noqa: F401

    path, given, out = json.loads(sys.stdin.readline())
    subject = opened(path)
    wish = Wish(**{**given, "sequences": tuple(given["sequences"]), "formats": tuple(given["formats"])})
    print("ready", flush=True)
    for line in sys.stdin:
        made = make(piece(line.strip()), subject, wish, Path(out))
        print(json.dumps([asdict(each) for each in made]), flush=True)
