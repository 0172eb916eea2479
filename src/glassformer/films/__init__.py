"""One file per film: `films.film_loss(run)` shows the reel of analyses/learn/loss.py with films/learn/loss.py.

A film's file holds `scene(stage, reel)` and `caption(reel)`; the reel is all they know.
"""

from functools import cache
from inspect import signature
from types import ModuleType
from typing import TYPE_CHECKING, Any

from glassformer import _discover

if TYPE_CHECKING:
    from collections.abc import Callable

    from glassformer.films._film import Film


@cache
def _public(folder: ModuleType, name: str) -> "Callable[..., Film]":
    """The public function of a film: the reel of its analysis, then its scene."""
    from glassformer import analyses, own
    from glassformer.analyses._applies import take_subject
    from glassformer.analyses._lost import quietly
    from glassformer.films._film import FPS, Film
    from glassformer.run import Run

    file = _discover.file(folder, name)
    analysis = _discover.file(analyses, name)
    reel = analysis.reel
    rate = getattr(file, "FPS", FPS)  # a film may have a pace of its own

    def film(*given: Any, theme: str = "light", fps: int | None = None, **options: Any) -> "Film":
        (subject,) = take_subject(analysis, given, options, film=True)
        options = analyses.meant(reel, (subject,), options)
        recipe = None  # what is no run cannot be opened in a second process
        if isinstance(subject, Run):
            recipe = {"film": name, "run": str(subject.path.resolve()), "theme": theme, "options": options,
                      "edits": [str(edit) for edit in subject.edits]}  # fmt: skip
            recipe = recipe if own.portable(type(subject.task)) else None
        with quietly(subject):
            made = reel(subject, **options)
            words = file.caption(made)
        return Film(made, file.scene, words, theme=theme, fps=rate if fps is None else fps, recipe=recipe,
                    subject=subject)  # fmt: skip

    more = {"theme": "light", "fps": None}
    _discover.sign(film, f"film_{name}", file.scene.__doc__, signature(reel), more, "Film")
    return film


__getattr__, __dir__ = _discover.public(__name__, "film_", _public)
