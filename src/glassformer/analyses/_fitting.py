"""How many windows are looked at side by side: as many as memory holds, for attention takes their length squared."""

from glassformer.run import Run

HELD = 1 << 28  # numbers of a trace: one gigabyte


def fitting(run: Run, most: int) -> int:
    """At most so many windows of the whole context, and one at the least."""
    return max(1, min(most, HELD // run.architecture.traced(run.architecture.context)))
