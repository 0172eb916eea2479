"""What happened when, for the marks on the clock: rungs, births, bends, plateaus, the best step, the end of a loss."""

from typing import Any, NamedTuple

import numpy as np

from glassformer.analyses import _clock
from glassformer.analyses._result import Labelled
from glassformer.analyses.path.timeline import applies, timeline
from glassformer.errors import MissingError
from glassformer.run import Run


class Event(NamedTuple):
    """One mark."""

    step: int
    kind: str  # rung, birth, bend, plateau, best or diverged
    text: str

    def plain(self) -> dict[str, Any]:
        """As the page reads it."""
        return self._asdict()


def events(run: Run, member: int = 0) -> list[Event]:
    """The events in the life of a member, in order; those of the log need a log."""
    found = [*_diverged(run, member), *_best(run, member)]
    if applies(run) is None:
        seen = timeline(run, member=member)
        found += _named("rung", "reaches", seen.rungs, "rung")
        found += _named("birth", "needed from here on", seen.born, "part")
        found += [_at(begin, "bend", "the loss bends") for begin, _ in seen.phases.values[1:] if np.isfinite(begin)]
        found += [
            _at(begin, "plateau", f"the loss hardly falls until step {end:,.0f}") for begin, end in seen.plateaus.values
        ]
    return sorted(found)


def weighty(found: list[Event]) -> list[int]:
    """Their steps, the most telling first, for who has no room for all."""
    order = ("diverged", "best", "rung", "birth", "bend", "plateau")
    return [event.step for event in sorted(found, key=lambda event: order.index(event.kind))]


def _named(kind: str, says: str, steps: Labelled, axis: str) -> list[Event]:
    """An event for each place of an axis at which something happened."""
    names = steps.axes[axis].labels
    return [_at(step, kind, f"{says}: {name}") for step, name in zip(steps.values, names, strict=True)
            if np.isfinite(step)]  # fmt: skip


def _at(step: float, kind: str, text: str) -> Event:
    return Event(int(step), kind, text)


def _best(run: Run, member: int) -> list[Event]:
    try:
        return [Event(run.best_step(member), "best", "the lowest loss kept")]
    except MissingError:  # nothing is logged, or nothing that is a number
        return []


def _diverged(run: Run, member: int) -> list[Event]:
    """The first logged step at which the loss is no number."""
    losses = _clock.metric(run, "validation_loss", member)
    if losses is None or np.isfinite(losses).all():
        return []
    return [_at(run.metrics["step"][np.argmin(np.isfinite(losses))], "diverged", "the loss is not a number")]
