"""Trainings that went wrong: their weights overflow what is computed from them, and NumPy need not say so each time.

What is shown of them says it itself: what is not a number is named as such.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from glassformer.run import Run


def lost(subject: Any) -> bool:
    """Whether this is a run of which some member diverged."""
    return isinstance(subject, Run) and bool(subject.status == "diverged" or subject.about.get("diverged"))


@contextmanager
def quietly(subject: Any) -> Iterator[None]:
    """Nothing is said about numbers that are none while one of these is looked at; of all others everything is."""
    if not lost(subject):
        yield
        return
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
