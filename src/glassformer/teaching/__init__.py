"""Lessons, told: one script, as a terminal, a page or a notebook shows it.

A lesson imports from here what it says, shows and asks with.
"""

from glassformer.teaching.arithmetic import factor, products, written
from glassformer.teaching.telling import (
    chance,
    choice,
    discuss,
    expect,
    lab,
    number,
    point,
    say,
    seed,
    show,
    table,
    train,
    work,
)

__all__ = [
    "chance",
    "choice",
    "discuss",
    "expect",
    "factor",
    "lab",
    "number",
    "point",
    "products",
    "say",
    "seed",
    "show",
    "table",
    "train",
    "work",
    "written",
]
