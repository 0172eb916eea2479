"""Many figures, drawn in two processes: one begins at the front, the other at the end."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock, Thread

from glassformer import own, storage
from glassformer.catalogue import SECONDS, Entry, Subject
from glassformer.gallery.making import Made, Wish, make, one_by_one
from glassformer.second import GoneError, Second

Progress = Callable[[int, int, str], None]  # drawn, in all, which
PARTING = 10  # seconds that the second process may take to end when it is stopped


def draw(
    subject: Subject,
    pieces: Sequence[Entry],
    wish: Wish,
    out: Path,
    progress: Progress | None = None,
    processes: int = 2,
) -> list[Made]:
    """Draw these figures, in order; two processes share the work."""
    storage.make_folder(out)
    left = deque(pieces)  # taken from both ends, so that neighbours, which share analyses, are drawn by one process
    many, found, lock = len(left), dict[str, list[Made]](), Lock()

    def take(last: bool = False) -> Entry | None:
        with lock:
            return None if not left else left.pop() if last else left.popleft()

    def keep(each: Entry, made: list[Made]) -> None:
        with lock:
            found[each.name] = made
            if progress:
                progress(len(found), many, each.name)

    def help_out(path: Path) -> None:
        """Feed a second process, one figure at a time."""
        try:
            setup = [str(path.resolve()), asdict(wish), str(out.resolve())]
            with Second("glassformer.gallery.making:begin", setup) as other:
                others.append(other)
                other.ready()
                while each := take(last=True):
                    for made in other.ask(each.name):
                        keep(each, [Made(**one) for one in made])
        except GoneError:
            return  # what it had taken is drawn below

    helper, others = None, list[Second]()
    shared = subject is not None and processes > 1 and own.portable(type(subject.experiment.task))
    if subject is not None and shared and sum(SECONDS[each.cost] for each in pieces) > 3:
        helper = Thread(target=help_out, args=(subject.path,), daemon=True)
        helper.start()
    try:
        with one_by_one():
            while each := take():
                keep(each, make(each, subject, wish, out))
            if helper:
                helper.join()
            for each in [each for each in pieces if each.name not in found]:
                keep(each, make(each, subject, wish, out))
    except BaseException:  # Ctrl-C, or a full disk: nobody waits for the rest
        left.clear()
        for other in others:
            other.stop()
        if helper:
            helper.join(PARTING)
        raise
    return [made for each in pieces for made in found[each.name]]
