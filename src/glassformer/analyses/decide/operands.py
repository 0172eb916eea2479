"""What a number is made of: the operation, the numbers that go in, and what each of them adds."""

import re
from typing import Annotated

import numpy as np

from glassformer.analyses import _clock, _decide
from glassformer.analyses._operands import Index, Operation, Pass, Term, written
from glassformer.analyses._options import Member, Option, Sequence, Step
from glassformer.analyses._pairs import shown
from glassformer.analyses._result import Array, Axis, Labelled, Result, listed, numbers, result
from glassformer.edits import Edit
from glassformer.errors import CallError, check_name
from glassformer.glossary import axes
from glassformer.run import Run
from glassformer.trace import Trace

ORDER = 7
COST = "a"
FORM = re.compile(r"(\w+)(?:\[([^\[\]]*)\])?")
EXAMPLE = "scores[block=0, head=0, query_position=5, key_position=3]"
Value = Annotated[str, Option(f"a value of a named point, written {EXAMPLE}; what is left out is chosen")]
SPARE = 8  # roundings beside those of the terms


@result
class Operands(Result):
    """One value of one named point, one step back. What is multiplied stands in one term; terms of a sum add up."""

    point: str
    index: Index  # in the order of the glossary's axes
    where: str  # the same in words, with the tokens that stand there
    value: float
    operation: Operation
    formula: str
    terms: tuple[Term, ...]
    parts: Labelled  # (part,): the number of each term, its factors multiplied
    recombined: float  # the operation once more, in double precision, on the terms alone
    rounding: float  # how far the two may be apart by rounding

    @property
    def title(self) -> str:
        """The value, how it is made, and the term that weighs most."""
        number = f"{self.value:.4g}" if np.isfinite(self.value) else "not a number"
        said = f"{self.written} is {number}: {self.formula}"
        adding = [(abs(term.contribution), term) for term in self.terms if term.contribution is not None]
        if len(adding) < 2 or not np.isfinite(self.value):
            return said
        most = max(adding, key=lambda each: each[0])[1]
        return f"{said}; the largest term is {most.written} = {most.contribution:.4g}"

    @property
    def written(self) -> str:
        """The value as the option names it."""
        return written(self.point, self.index)

    @property
    def agrees(self) -> bool:
        """Whether the operands give the value; beyond the range of its numbers, whether it is none either."""
        if np.isfinite(self.rounding):
            return abs(self.value - self.recombined) <= self.rounding
        return not np.isfinite(self.value)


def operands(
    run: Run, *, value: Value = "probabilities", sequence: Sequence = None, step: Step = -1, member: Member = 0
) -> Operands:
    """The operands of a value, written `scores[block=0, head=0, query_position=5, key_position=3]`.

    What is left out is the position that answers, as seen from the last block and by its first head; of the tokens the
    likeliest, and of features and neurons the first. The name alone will do.
    """
    seen = run.trace(sequence, step=step, member=member)
    if seen.tokens.ndim != 1:
        raise CallError("a value is taken apart for one input at a time; give one sequence")
    point, index = _found(run, seen, value)
    if edit := _edit_there(run, point, index):
        raise CallError(f"{edit} acts on this value, so it is not what its operands make; ask for another value")
    made = Pass(run.architecture, run.unedited.weights(seen.step, member), seen, seen.tokens).step(point, index)
    again, size = made.again()
    kind = np.finfo(seen[point].dtype)
    rounding = (len(made.terms) + SPARE) * float(kind.eps) * size + float(kind.tiny)
    return Operands(
        **_clock.at_step(run, seen.step, member),
        point=point,
        index=index,
        where=_where(run.task.vocabulary, seen.tokens, point, index),
        value=float(seen[point][index]),
        operation=made.operation,
        formula=made.formula,
        terms=made.terms,
        parts=Labelled(
            np.array([term.number for term in made.terms], dtype=np.float64),
            {"part": Axis(numbers(len(made.terms)), tuple(term.written for term in made.terms))},
        ),
        recombined=again,
        rounding=rounding if size <= float(kind.max) else float("inf"),
    )


def _edit_there(run: Run, point: str, index: Index) -> Edit | None:
    """The edit that acts on a value itself."""
    places = dict(zip(axes(point), index, strict=True))
    here = (edit for edit in run.edits if edit.point == point)
    return next((edit for edit in here if all(places[axis] in at for axis, at in edit.at)), None)


def _found(run: Run, seen: Trace, value: str) -> tuple[str, Index]:
    """Point and index of a value as it is written."""
    form = FORM.fullmatch(value.strip())
    parts = [part.strip() for part in (form[2] or "").split(",") if part.strip()] if form else []
    pairs = [re.fullmatch(r"(\w+) *= *(\d{1,9})", part) for part in parts]
    if form is None or not all(pairs):
        raise CallError(f"{value!r} cannot be read as a value; write it as {EXAMPLE!r}")
    point, given = form[1], {pair[1]: int(pair[2]) for pair in pairs if pair}
    shape = seen[point].shape
    if len(given) < len(pairs):
        raise CallError(f"{value!r} names an axis twice; write each once")
    for axis in given:
        check_name(axis, f"the axes of {point}", axes(point))
    place = _decide.place(_decide.asked(run, seen.tokens), None)
    left_out = dict.fromkeys(("position", "query_position", "key_position"), place)
    left_out["block"] = run.architecture.blocks - 1
    at = {axis: given.get(axis, left_out.get(axis, 0)) for axis in axes(point)}
    if "token" in at and "token" not in given:
        at["token"] = int(np.argmax(seen[point][min(at["position"], shape[0] - 1)]))
    for (axis, k), size in zip(at.items(), shape, strict=True):
        if k >= size:
            raise CallError(f"{axis} = {k} is not between 0 and {size - 1}")
    return point, tuple(at.values())


def _where(words: tuple[str, ...], tokens: Array, point: str, index: Index) -> str:
    """`scores at block 0, head 0, query_position 4 (+) and key_position 3 (6)`."""
    named = [f"{axis} {k}" for axis, k in zip(axes(point), index, strict=True)]
    for n, (axis, k) in enumerate(zip(axes(point), index, strict=True)):
        if axis == "token" or axis.endswith("position"):
            named[n] += f" ({shown(words[k if axis == 'token' else tokens[k]])})"
    return f"{point} at {listed(named)}"
