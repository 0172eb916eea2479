"""What happened when, for the marks on the clock: rungs, births, bends, plateaus, the best step, the end of a loss."""

from typing import Any, NamedTuple

import numpy as np

from glassformer.analyses import _clock
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
        rungs, parts = seen.rungs.axes["rung"], seen.born.axes["part"]
        found += [_at(step, "rung", f"reaches: {name}") for step, name in zip(seen.rungs.values, rungs.labels, strict=True)
                  if np.isfinite(step)]  # fmt: skip
        found += [_at(step, "birth", f"needed from here on: {name}")
                  for step, name in zip(seen.born.values, parts.labels, strict=True) if np.isfinite(step)]  # fmt: skip
        found += [_at(begin, "bend", "the loss bends") for begin, _ in seen.phases.values[1:] if np.isfinite(begin)]
        found += [_at(begin, "plateau", f"the loss hardly falls until step {end:,.0f}")
                  for begin, end in seen.plateaus.values]  # fmt: skip
    return sorted(found)


def weighty(found: list[Event]) -> list[int]:
    """Their steps, the most telling first, for who has no room for all."""
    order = ("diverged", "best", "rung", "birth", "bend", "plateau")
    return [event.step for event in sorted(found, key=lambda event: order.index(event.kind))]


def _at(step: float, kind: str, text: str) -> Event:
    return Event(int(step), kind, text)


def _best(run: Run, member: int) -> list[Event]:
    try:
        return [Event(run.best_step(member), "best", "the lowest validation loss kept")]
    except MissingError:  # nothing is logged, or nothing that is a number
        return []


def _diverged(run: Run, member: int) -> list[Event]:
    """The first logged step at which the loss is no number."""
    losses = _clock.metric(run, "validation_loss", member)
    lost = np.flatnonzero(~np.isfinite(losses)) if losses is not None else []
    return [_at(run.metrics["step"][lost[0]], "diverged", "the loss is not a number")] if len(lost) else []
