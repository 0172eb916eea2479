"""What a file holds of its runs, as blocks: everything small, then as many steps as the rest of the room allows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from glassformer import __version__, catalogue, given, tensors
from glassformer.catalogue import Entry
from glassformer.errors import CallError, LimitError
from glassformer.report import events, info, numbers, steps, training_data
from glassformer.report.blocks import GROWS, as_json, block
from glassformer.report.events import Event
from glassformer.run import Run

SIZE = 20.0  # MB of a file, unless asked otherwise
FACTS = 40  # bytes that the facts of one member at one step take, packed
LEAST = 2  # steps of a run without which there is nothing to scrub
WANTED = "a number of megabytes above 0"
Progress = Callable[[int, int], None]  # how much is done, of how much


@dataclass(frozen=True)
class Wish:
    """What a file is to hold."""

    size: float | None = None  # MB; none: 20, and no more steps than a slider has places
    steps: int | None = None  # at most so many of each run; none: as many as there is room for
    members: Sequence[int] | None = None  # of populations; none: all
    analyses: tuple[str, ...] = ()  # embedded as numbers
    options: dict[str, Any] = field(default_factory=dict)  # of those that take them
    where: dict[str, Any] = field(default_factory=dict)  # the same, of the first run: its step, what it looks at
    always: tuple[tuple[int, ...], ...] = ()  # of each run, in order: kept steps that must be inside
    least: int | None = (
        None  # steps of each run at the least, and all of `always`, even if the file grows beyond `size`
    )

    def __post_init__(self) -> None:
        if self.steps is not None:
            given.whole("steps", self.steps, 1)
        if self.size is not None and given.number("size", self.size, WANTED) <= 0:
            raise CallError(f"size = {self.size:g} is not {WANTED}")


@dataclass
class Inside:
    """One run on its way into a file."""

    run: Run
    members: list[int]
    events: list[Event]
    always: tuple[int, ...]
    about: dict[str, Any]  # what is known of it, but for what depends on the steps
    analyses: dict[str, str]  # name → block
    metrics: str
    data: str
    steps: list[int] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """Its name in links and blocks."""
        return str(self.about["id"])

    @property
    def fixed(self) -> int:
        """Bytes of the file that are taken whatever the steps."""
        return sum(map(len, [block("", as_json(self.about)), self.metrics, self.data, *self.analyses.values()]))

    @property
    def per_step(self) -> int:
        """Bytes of the file that a step takes at the most: float32 hardly shrinks."""
        return int(GROWS * len(self.members) * (4 * self.run.parameters + FACTS)) + 1

    def blocks(self, tell: Callable[[], None]) -> Iterator[str]:
        """All of it, in the order in which the page asks for it; `tell` counts the members."""
        about = self.about | info.over_steps(self.run, self.members, self.steps, tell)
        yield block(f"{self.identity}/info", as_json(about))
        yield self.metrics
        yield block(f"{self.identity}/weights", tensors.pack(info.weights(self.run, self.members, self.steps)))
        yield self.data
        yield from self.analyses.values()


def payload(
    runs: Sequence[Run], wish: Wish, link: str, taken: int, progress: Progress
) -> tuple[list[Inside], list[str]]:  # fmt: skip
    """The runs as they are in the file, and its blocks; `taken` are the bytes of the page around them."""
    pieces = [catalogue.entry("analyses", name) for name in wish.analyses]
    lives = sum(len(info.checked_members(run, wish.members)) for run in runs)
    many, done = len(runs) * (1 + len(pieces)) + lives, 0

    def tell() -> None:
        nonlocal done
        done += 1
        progress(done, many)

    progress(0, many)
    inside: list[Inside] = []
    for run in runs:
        inside.append(_begun(run, runs, wish, pieces, [each.identity for each in inside], tell))
    for each, room in zip(inside, _rooms(inside, wish, taken), strict=True):
        each.steps = steps.chosen(each.run, room, each.always, events.weighty(each.events))
    cards = [{name: each.about[name] for name in info.CARD} for each in inside]
    blocks = [block("index", as_json({"version": 1, "glassformer": __version__, "runs": cards, "link": link}))]
    for each in inside:
        blocks += each.blocks(tell)
    return inside, blocks


def _begun(
    run: Run, runs: Sequence[Run], wish: Wish, pieces: Sequence[Entry], taken: Sequence[str], tell: Callable[[], None]
) -> Inside:  # fmt: skip
    """All of a run that does not depend on which of its steps are embedded."""
    identity, members = info.identifier(run.name, taken), info.checked_members(run, wish.members)
    found = events.events(run, members[0])
    tell()
    analyses = {}
    for each in pieces:
        if catalogue.why_not(each, run) is None:
            options = ({"member": members[0]} if members[0] else {}) | (wish.where if run is runs[0] else {})
            others = [other for other in runs if other is not run]
            said = numbers.asked(each, run, others, options | wish.options)
            analyses[each.name] = block(f"{identity}/analysis/{each.name}", as_json(said))
        tell()
    data, untrainable = training_data.block(run)
    return Inside(
        run, members, found,
        always=next(iter(wish.always[len(taken) :]), ()),
        about=info.about(run, identity, members, found, list(analyses), untrainable),
        analyses=analyses,
        metrics=block(f"{identity}/metrics", as_json(info.metrics(run, members))),
        data="" if data is None else block(f"{identity}/data", data),
    )  # fmt: skip


def _rooms(inside: Sequence[Inside], wish: Wish, taken: int) -> list[int]:
    """How many steps of each run fit: who needs less than an even share leaves the rest to the others."""
    wanted = [min(len(each.run.steps), wish.steps or len(each.run.steps)) for each in inside]
    if wish.size is None and wish.steps is not None:
        return wanted
    if wish.size is None:
        wanted = [min(many, steps.usual(len(each.members))) for many, each in zip(wanted, inside, strict=True)]
    least = [min(LEAST, many) for many in wanted]
    if wish.least is not None:  # the first and the last step are inside, too
        least = [
            min(max(wish.least, len(each.always) + LEAST), many) for many, each in zip(wanted, inside, strict=True)
        ]
    fixed = taken + sum(each.fixed for each in inside)
    needed = (fixed + sum(few * each.per_step for few, each in zip(least, inside, strict=True))) / 1e6
    if wish.size is not None and wish.least is None and needed > wish.size:
        raise LimitError(f"size = {wish.size:g} MB is too little: the first and the last step need {needed:.1f} MB")
    left, rooms = (wish.size or SIZE) * 1e6 - fixed, list(wanted)
    order = sorted(range(len(inside)), key=lambda k: wanted[k] * inside[k].per_step)
    for place, k in enumerate(order):
        share = int(left / (len(order) - place) // inside[k].per_step)
        rooms[k] = min(wanted[k], max(least[k], share))
        left -= rooms[k] * inside[k].per_step
    return rooms
