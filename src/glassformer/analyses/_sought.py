"""What a position must look up: the answer itself, or a token from which the rule computes it."""

from functools import lru_cache

from glassformer.run import Run

WINDOWS = 32  # looked at to tell whether answers are copied


@lru_cache(maxsize=16)
def copied(run: Run) -> bool:
    """Whether the token at the marked position is the answer itself, in all windows looked at."""
    if run.task.answers != "next":
        return True
    seen = run.task.examples(run.architecture.context, "validation", WINDOWS)
    for window, allowed in zip(seen.windows[:, :-1], seen.allowed, strict=True):
        for place, source in enumerate(run.task.source_position(window)[: len(allowed)]):
            if 0 <= source != place and not allowed[place, window[source]]:
                return False
    return True


def sought(copied: bool) -> str:
    """What a framed cell is, in every figure of attention."""
    return "the answer" if copied else "the token the rule needs"


def which(copied: bool) -> str:
    """The same, said of a position."""
    return "which holds the answer" if copied else "which the rule needs"
