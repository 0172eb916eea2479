"""Edits at work in a model: whether it has a place for them, and the functions they are in a forward pass.

The functions take NumPy and JAX arrays, so both passes give the same numbers.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from glassformer import given, glossary, reference
from glassformer.architecture import Architecture, nest
from glassformer.edits import Edit, Given, read
from glassformer.errors import CallError, MissingError, unknown
from glassformer.reference import Array

if TYPE_CHECKING:
    from glassformer.run import Run

Change = Callable[[Any, int | None], Any]  # (value, block) → what goes on in its place


def compiled(run: "Run", tokens: Array, step: int = -1, member: int = 0, more: Given = None) -> dict[str, Change]:
    """What the edits of a run, and then some more, do to a pass over these tokens: point → function, for `forward`.

    The tokens are one sequence, or any number of them on leading axes. A position beyond them is refused in `more`; the
    edits of an edited run wait until an input is so long. `more` may be such functions itself.
    """
    functions = is_functions(more)
    changes = [(edit.point, _change(edit, run, tokens, step, member, waits=True)) for edit in run.edits]
    for edit in () if functions else read(more):
        check(edit, run)
        changes.append((edit.point, _change(edit, run, tokens, step, member, waits=False)))
    if functions and isinstance(more, Mapping):
        changes += [_named(name, function, run) for name, function in more.items()]
    found: dict[str, Change] = {}
    for point, change in changes:
        found[point] = _after(found[point], change) if point in found else change
    return found


def is_functions(given: Given) -> bool:
    """Whether edits are given as point → function, rather than as data."""
    return isinstance(given, Mapping) and "verb" not in given


def check(edit: Edit, run: "Run") -> None:
    """Refuse an edit that this model has no place for, or that takes from where nothing fitting is."""
    there = sizes(run.architecture)
    if edit.point not in there:
        raise MissingError(f"{edit}: this model has no {edit.point}; it has: {', '.join(there)}")
    for axis, places in edit.at:
        _within(edit, axis, places[-1], there[edit.point][axis], "this model")
    if edit.verb == "patch":
        source, _ = _from(edit, run)
        source.place(edit.member or 0)
        source.unedited.weights(-1 if edit.step is None else edit.step)


def while_writing(run: "Run", step: int, member: int, more: Given) -> Callable[[Array], dict[str, Change]] | None:
    """The edits of a run, and then some more, for each window of a text that grows; None: there are none."""
    functions = is_functions(more)
    seen = run if functions else run.edited(more)
    for edit in seen.edits:
        if edit.text is not None:
            raise CallError(f"{edit}: a text that grows has not the length of another; patch from a step or a run")
    if functions and isinstance(more, Mapping):
        if "probabilities" in [_named(name, function, run)[0] for name, function in more.items()]:
            raise CallError("edits of probabilities: the next token is chosen by the logits; edit those")
    else:
        more = None
    return (lambda window: compiled(seen, window, step, member, more)) if seen.edits or more else None


@lru_cache(maxsize=32)
def sizes(architecture: Architecture) -> dict[str, dict[str, int]]:
    """Every point that a model of these settings has, with the size of each axis; positions fill the context."""
    nothing = nest({name: np.zeros(shape, np.float32) for name, shape in architecture.shapes().items()})
    _, seen = reference.forward(nothing, np.zeros(1, np.int64), architecture)  # the pass itself knows best
    found: dict[str, dict[str, int]] = {}
    for name in glossary.POINTS:
        if name in seen:
            shape = zip(glossary.axes(name), seen[name].shape, strict=True)
            found[name] = {axis: architecture.context if _is_place(axis) else size for axis, size in shape}
    return found


def _named(name: str, function: Any, run: "Run") -> tuple[str, Change]:
    """A function given for a point, by our name or TransformerLens's, as one that cannot but return what fits there."""
    there = sizes(run.architecture)
    found = glossary.point(name, run.architecture) if isinstance(name, str) else None
    if found is None or found[0] not in there:
        raise unknown(str(name), "the trace", there)
    point, only = found
    call = _callable(name, function)

    def change(value: Any, block: int | None) -> Any:
        if only is not None and block != only:
            return value
        mine = value.copy() if isinstance(value, np.ndarray) else value  # which the function may write into
        return _fitting(name, call(mine, block), value)

    return point, change


def _callable(name: str, function: Any) -> Change:
    """`function(value, block)` of a function that takes the value, and the block if it asks for it.

    It does so by a second argument without a default, or by one that is called `block`; `lambda value, head=head: ...`
    is a function of the value.
    """
    takes = "a function that takes (value, block), or the value alone, and returns what goes on in its place"
    if not callable(function):
        raise CallError(f"edits[{name!r}] = {given.written(function)} is not {takes}")
    if isinstance(function, np.ufunc):
        places: list[Parameter] = [Parameter(f"x{k}", Parameter.POSITIONAL_ONLY) for k in range(function.nin)]
        if function.nin != 1:
            raise CallError(f"edits[{name!r}] = {given.written(function)} takes {function.nin} arrays; give {takes}")
    else:
        try:
            places = list(signature(function).parameters.values())
        except (TypeError, ValueError):  # written in C, and silent about what it takes
            return lambda value, _: function(value)
    if any(each.name == "block" and each.kind is Parameter.KEYWORD_ONLY for each in places):
        return lambda value, block: function(value, block=block)
    if any(each.kind is Parameter.VAR_POSITIONAL for each in places):
        return lambda value, block: function(value, block)
    ordered = [each for each in places if each.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    needed = [each for each in ordered if each.default is Parameter.empty]
    if not ordered or len(needed) > 2:
        many = len(needed) if ordered else "no"
        raise CallError(f"edits[{name!r}] = {given.written(function)} takes {many} arguments; give {takes}")
    if len(needed) == 2 or (len(ordered) > 1 and ordered[1].name == "block"):
        return lambda value, block: function(value, block)
    return lambda value, _: function(value)


def _fitting(name: str, found: Any, value: Any) -> Any:
    """What a function returned, if it is as many real numbers as stood there; nothing is stretched to fit."""
    if found is None:
        raise CallError(f"the edit of {name} returned nothing; return the value that goes on in its place")
    if isinstance(value, np.ndarray):
        try:
            found = np.asarray(found)
        except (TypeError, ValueError):  # rows of different lengths
            raise CallError(f"the edit of {name} returned {given.written(found)}, which is no array") from None
        if found.dtype.kind not in "fiu":
            raise CallError(f"the edit of {name} returned numbers of type {found.dtype}; wanted are real numbers")
    if found.shape != value.shape:
        raise CallError(f"the edit of {name} returned shape {found.shape}; wanted is {value.shape}, as it was given")
    return found.astype(value.dtype)


def _after(first: Change, then: Change) -> Change:
    return lambda value, block: then(first(value, block), block)


def _change(edit: Edit, run: "Run", tokens: Array, step: int, member: int, waits: bool) -> Change:
    """One edit as a function; whatever the tokens have before their last axis, values have before theirs."""
    length, inner, places = np.shape(tokens)[-1], [a for a in glossary.axes(edit.point) if a != "block"], dict(edit.at)
    blocks = places.pop("block", None)
    chosen = []
    for axis in inner:
        size = length if _is_place(axis) else sizes(run.architecture)[edit.point][axis]
        row = np.full(size, axis not in places)
        if axis in places:
            if _is_place(axis) and not waits:
                _within(edit, axis, places[axis][-1], length, "this input")
            row[[place for place in places[axis] if place < size]] = True
        chosen.append(row)
    here = reduce(np.logical_and, np.meshgrid(*chosen, indexing="ij", sparse=True))
    other = _other(edit, run, tokens, step, member, len(inner))

    def change(value: Any, block: int | None) -> Any:
        if blocks is not None and block not in blocks:
            return value
        xp = np if isinstance(value, np.ndarray) else value.__array_namespace__()
        return xp.where(here, other(value, block, xp), value)

    return change


def _other(edit: Edit, run: "Run", tokens: Array, step: int, member: int, axes: int) -> Callable[..., Any]:
    """What stands in the place of a value."""
    amount = edit.amount
    if edit.verb in ("zero", "set"):
        return lambda value, _block, xp: xp.full_like(value, amount or 0)
    if edit.verb == "add":
        return lambda value, _block, _xp: value + amount
    if edit.verb == "scale":
        return lambda value, _block, _xp: value * amount
    if edit.verb == "mean":
        length = np.shape(tokens)[-1]
        view = np.tri(length) if run.architecture.causal else np.ones((length, length))
        share = view / view.sum(-1, keepdims=True)  # positions are the last axis but one, at every point
        return lambda value, _block, xp: xp.asarray(share, dtype=value.dtype) @ value
    there = _there(edit, run, np.asarray(tokens), step, member)

    def patched(value: Any, block: int | None, xp: Any) -> Any:
        return xp.asarray(there if block is None else np.take(there, block, axis=-1 - axes), dtype=value.dtype)

    return patched


def _there(edit: Edit, run: "Run", tokens: Array, step: int, member: int) -> Array:
    """What a patch takes: the point's value on the other input, at the other step, in the other run."""
    source, own = _from(edit, run)
    step = edit.step if edit.step is not None else step if own else -1
    member = edit.member if edit.member is not None else member if own else 0
    length = tokens.shape[-1]
    given = tokens if edit.text is None else source.tokens(edit.text)
    if given.shape[-1] != length:
        raise CallError(f"{edit}: its text has {given.shape[-1]} tokens and this input {length}; a patch needs as many")
    source.tokens(given.reshape(-1, length))  # as long as it can see
    with np.errstate(over="ignore", invalid="ignore"):
        _, seen = reference.forward(nest(source.unedited.weights(step, member)), given, source.architecture)
    return seen[edit.point]


_opened: WeakKeyDictionary["Run", dict[str, "Run"]] = WeakKeyDictionary()  # the sources of a run, as long as it is open


def _from(edit: Edit, run: "Run") -> tuple["Run", bool]:
    """The run a patch takes from, and whether it is the same."""
    if edit.run is None:
        return run.unedited, True
    known = _opened.setdefault(run.unedited, {})
    if edit.run not in known:
        from glassformer.run import find

        known[edit.run] = find(edit.run)
    source = known[edit.run]
    if source.task.vocabulary != run.task.vocabulary:
        raise CallError(f"{edit}: the tokens of {source.name} are not those of {run.name}; a patch needs the same")
    ours, theirs = (
        {axis: size for axis, size in sizes(each.architecture).get(edit.point, {}).items() if not _is_place(axis)}
        for each in (run, source)
    )
    if ours != theirs:
        raise CallError(f"{edit}: {edit.point} has {_told(theirs)} in {source.name} and {_told(ours)} in {run.name}")
    return source, False


def _told(axes: Mapping[str, int]) -> str:
    return ", ".join(f"{axis} {size}" for axis, size in axes.items()) or "no place"


def _is_place(axis: str) -> bool:
    return axis.endswith("position")


def _within(edit: Edit, axis: str, last: int, size: int, where: str) -> None:
    if last >= size:
        there = f"there are 0 to {size - 1}" if size > 1 else "there is only 0"
        raise CallError(f"{edit}: {where} has no {axis} {last}; {there}")
