"""What a model computed on one input: every value under its name, every axis with its labels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glassformer import glossary, notebook
from glassformer.architecture import Architecture
from glassformer.errors import Error, MissingError, unknown
from glassformer.words import shown

if TYPE_CHECKING:
    import pandas
    import xarray

Array = NDArray[Any]

PLACES = ("position", "query_position", "key_position")
MOST_WORDS = 24  # tokens that a trace shows of its input


class Trace(Mapping[str, Array]):
    """Every value of one forward pass, by name: `trace["attention"]`, or `trace["blocks.0.attn.hook_pattern"]`.

    `list(trace)` are the names, in the order of the computation; docs/glossary.md says what each one is.
    `trace.axes(name)` gives the axes of a value with a label for each place, `to_pandas(name)` a labelled table of it,
    `to_xarray()` all of them. Points of a block carry the axis `block` in front; a name of TransformerLens means one
    block of it, in our layout: (head, position, feature), where TransformerLens has (position, head, feature).

    `tokens` are the ids that went in, `words` their texts, `step` the age of the model that saw them.
    """

    def __init__(
        self,
        values: Mapping[str, Array],
        tokens: Array,
        step: int,
        words: Sequence[str],
        architecture: Architecture,
    ) -> None:
        self.tokens, self.step = tokens, step
        self._values, self._words = dict(values), tuple(words)
        self._architecture = architecture

    @property
    def words(self) -> list[str]:
        """The tokens that went in, as texts; of a batch one list for each input."""
        return np.array(self._words, dtype=object)[self.tokens].tolist()

    def __getitem__(self, name: str) -> Array:
        point, block = self._place(name)
        value = self._values[point]
        return value if block is None else np.take(value, block, axis=self._block_axis(point))

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(self._place(name))
        except Error:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def axes(self, name: str) -> dict[str, tuple[str, ...]]:
        """Each axis of a value, in order, with the label of each place; positions are labelled by their tokens."""
        point, block = self._place(name)
        shape, axes = self._values[point].shape, glossary.axes(point)
        axes = ("batch",) * (len(shape) - len(axes)) + axes  # position_embedding has no batch, whatever went in
        found = {axis: self._labels(axis, size) for axis, size in zip(axes, shape, strict=True)}
        return found if block is None else {axis: labels for axis, labels in found.items() if axis != "block"}

    def to_pandas(self, name: str | None = None) -> "pandas.DataFrame":
        """One value as a table: a row for each place on all axes but the last, a column for each place on the last.

        Without a name all of them in long form: a row for each number, a column for each axis, and `value`. Places
        have their numbers; beside them stand the tokens of positions, as `AXIS_label`.
        """
        pandas = library("pandas")
        if name is None:
            long = [self._long(pandas, each) for each in self]
            table = pandas.concat(long, ignore_index=True)
            return table[[*table.columns.drop("value"), "value"]]
        *outer, last = self.axes(name)
        values = self[name]
        if not outer:
            return pandas.DataFrame([values], columns=self._index(pandas, name, [last]))
        flat = values.reshape(-1, values.shape[-1])
        return pandas.DataFrame(flat, self._index(pandas, name, outer), self._index(pandas, name, [last]))

    def to_xarray(self) -> "xarray.Dataset":
        """All values with labelled axes: places have their numbers, the tokens of positions stand in `AXIS_label`.

        The features of a head are `head_feature`, since an axis has one length here.
        """
        variables, coordinates = {}, dict[str, Any]()
        for name in self:
            axes = self.axes(name)
            named = {axis: "head_feature" if axis == "feature" and "head" in axes else axis for axis in axes}
            variables[name] = (tuple(named.values()), self[name])
            for axis, labels in axes.items():
                coordinates |= {named[axis]: list(labels) if axis == "token" else np.arange(len(labels))}
                if self._labelled(axis):
                    coordinates[f"{axis}_label"] = (axis, list(labels))
        if self.tokens.ndim == 2:
            coordinates["tokens"] = (("batch", "position"), self.tokens)
        return library("xarray").Dataset(variables, coordinates, {"step": self.step})

    def __repr__(self) -> str:
        said = self._said()
        wide = max(map(len, self._values), default=0)
        lines = [f"  {name:{wide}}  {_sizes(self.axes(name))}" for name in self]
        return "\n".join([f"<Trace at step {self.step} of {said}", *lines]) + ">"

    def _repr_html_(self) -> str:
        tables = []
        for name in self:
            axes = self.axes(name)
            tables.append(notebook.details(f"{name}: {_sizes(axes)}", notebook.array(self[name], self._told(axes))))
        return f"<p>At step {self.step}, on {notebook.text(self._said())}</p>{''.join(tables)}"

    def _said(self) -> str:
        if self.tokens.ndim == 2:
            return f"{len(self.tokens)} inputs of {self.tokens.shape[1]} tokens"
        first = shown(" ".join(self.words[:MOST_WORDS]))
        return f"{first} …" if len(self.words) > MOST_WORDS else first

    def _told(self, axes: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
        """The labels, with the number of the place where one label may stand at several."""
        return {
            axis: [f"{place} {label}" for place, label in enumerate(labels)] if self._labelled(axis) else list(labels)
            for axis, labels in axes.items()
        }

    def _place(self, name: str) -> tuple[str, int | None]:
        """The point and the block that a name means, if the trace has them."""
        found = glossary.point(name, self._architecture) if isinstance(name, str) else None
        if found is None or found[0] not in self._values:
            raise unknown(str(name), "the trace", self._values)
        return found

    def _block_axis(self, point: str) -> int:
        return self._values[point].ndim - len(glossary.axes(point))

    def _labelled(self, axis: str) -> bool:
        return axis in PLACES and self.tokens.ndim == 1

    def _labels(self, axis: str, size: int) -> tuple[str, ...]:
        if axis == "token":
            return self._words[:size]
        if self._labelled(axis):
            return tuple(self._words[token] for token in self.tokens)
        return tuple(str(place) for place in np.arange(size))

    def _columns(self, name: str, axes: Sequence[str]) -> dict[str, Array]:
        """For each axis a column of its places, for positions one of their tokens, over all places of these axes."""
        known = self.axes(name)
        grid = np.meshgrid(*(np.arange(len(known[axis])) for axis in axes), indexing="ij")
        columns: dict[str, Array] = {}
        for axis, places in zip(axes, grid, strict=True):
            words = np.array(known[axis], dtype=object)[places.ravel()]
            columns[axis] = words if axis == "token" else places.ravel()
            if self._labelled(axis):
                columns[f"{axis}_label"] = words
        return columns

    def _index(self, pandas: Any, name: str, axes: Sequence[str]) -> Any:
        columns = self._columns(name, axes)
        if len(columns) == 1:
            ((axis, places),) = columns.items()
            return pandas.Index(places, name=axis)
        return pandas.MultiIndex.from_arrays(list(columns.values()), names=list(columns))

    def _long(self, pandas: Any, name: str) -> Any:
        columns = self._columns(name, list(self.axes(name)))
        kinds = {key: "object" if each.dtype == object else "Int64" for key, each in columns.items()}
        typed = {key: pandas.array(each, dtype=kinds[key]) for key, each in columns.items()}
        return pandas.DataFrame({"point": name, **typed, "value": self[name].ravel()})


def library(name: str) -> Any:
    """A library that comes with the extra `analysis`."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingError(f"this needs {name}; `pip install 'glassformer[analysis]'` brings it") from None


def _sizes(axes: Mapping[str, Sequence[str]]) -> str:
    return " × ".join(f"{axis} {len(labels)}" for axis, labels in axes.items())
